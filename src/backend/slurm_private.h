/* What the files of the Slurm backend share. */
#ifndef BACKEND_SLURM_PRIVATE_H
#define BACKEND_SLURM_PRIVATE_H

#include "backend/runner.h"
#include "backend/slurm.h"
#include "backend/slurm_command.h"
#include "backend/slurm_nodes.h"
#include "backend/slurm_text.h"
#include "backend/slurm_words.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/token.h"

/* One argument may be 128 KiB long, and 10,000 indices with their commas are 60 KB; a larger experiment makes
 * several batches. */
#define SLURM_BATCH_MAX 10000
/* Slurm's default: MaxArraySize 1001, indices below it. */
#define SLURM_ARRAY_DEFAULT 1001

enum slurm_controller { SLURM_CONTROLLER_UNKNOWN, SLURM_CONTROLLER_UP, SLURM_CONTROLLER_DOWN };
enum slurm_accounting { SLURM_ACCOUNTING_UNKNOWN, SLURM_ACCOUNTING_ON, SLURM_ACCOUNTING_OFF };

/* What is known about the cluster. It is refreshed in the background when a caller reads it. */
struct slurm_cluster {
	enum slurm_controller controller;
	bool configured; /* `scontrol show config` has been answered (or will never be) */
	char version[32], name[128];
	struct slurm_boot boot;
	int64_t max_array, max_array_tasks, message_timeout_s, min_job_age_s, kill_wait_s;
	bool qos_enforced; /* a QOS that the user may not use is refused */
	bool energy;
	char energy_plugin[64];
	struct slurm_partitions partitions;
	struct slurm_limits limits;
	char user[256];
	int64_t asked_mono_ms, configured_mono_ms; /* when; 0 never */
	char trouble[256]; /* why it could not be asked; "" */
	struct slurm_nodes nodes;
	int64_t nodes_mono_ms, nodes_ms; /* when they were asked for; 0 never */
	char nodes_trouble[256]; /* why they could not be; "" */
};

/* Identifies one of our attempts in the queue or the accounting. Sorted by token, then index. */
struct slurm_key {
	char token[TOKEN_ID_CHARS];
	uint32_t index;
};

struct slurm_keys {
	VEC(struct slurm_key) list; /* sorted */
};

/* An attempt that has ended but that the accounting does not know yet. */
struct slurm_ended {
	struct slurm_key key;
	int64_t since_mono_ms;
};
struct slurm_ended_set {
	VEC(struct slurm_ended) list; /* sorted by key */
};

/* A submission whose end is not known for certain: it may still appear in the queue. */
struct slurm_pending {
	char token[TOKEN_ID_CHARS];
	int64_t until_mono_ms; /* INT64_MAX while sbatch runs */
};

struct slurm_call;
struct slurm_placing;
struct slurm_examination;
struct slurm {
	struct backend backend;
	uv_loop_t *loop;
	char *state_dir, *program, *daemon_url;
	struct runner runner;
	struct slurm_placing *placing; /* the first one is being done */
	uid_t uid;
	struct slurm_call *calls; /* children that have not ended */
	struct slurm_examination *examinations;
	unsigned held; /* references from objects that live longer than one call */
	bool closing;
	void (*changed)(void *ctx);
	void *changed_ctx;

	struct slurm_cluster cluster;
	bool refreshing, asking_nodes;

	/* The rhythm of polling. */
	int64_t latency_ms; /* smoothed time of a squeue */
	unsigned failures; /* lookups that failed since one worked */
	unsigned quiet_polls; /* polls in a row that saw nothing change */
	uint64_t last_picture; /* a digest of the last poll */
	bool each_row; /* squeue shortens lists of indices here: ask for one row per element */

	enum slurm_accounting accounting;
	unsigned columns; /* of sacct; 0 until asked */
	int64_t accounting_failed_mono_ms; /* since when; 0: it works */
	struct slurm_ended_set ended;
	bool lagging; /* some of them wait for the accounting */

	/* Elements that we cancelled while they waited: they leave no trace in squeue or sacct. */
	struct slurm_keys cancelled;
	VEC(struct slurm_pending) pending;
	int64_t opened_mono_ms;

	/* How full the queue is: what squeue counted, and what was submitted since. */
	uint64_t queue_alive, submitted, submitted_then, submitting;
};

/* Runs one of Slurm's programs. answered is called once, always later, also when it could not be started (exit code -1
 * and the reason in err). Takes the words of args. After close it is still called: look at slurm->closing. */
typedef void (*slurm_answered_f)(void *ctx, const struct proc_result *result);
struct slurm_ask {
	const char *input, *cwd; /* NULL: none, "/" */
	int64_t timeout_ms; /* 0: SLURM_ASK_MS */
};
void slurm_run(struct slurm *slurm, struct slurm_args *take, const struct slurm_ask *how, slurm_answered_f answered,
	       void *ctx);
/* Calls back as if a command had failed with this message. For errors that are known before a command is run. */
void slurm_fail_later(struct slurm *slurm, const char *why, slurm_answered_f answered, void *ctx);
bool slurm_answered_well(const struct proc_result *result);
/* One line for people: what went wrong with a command. */
void slurm_explain_failed_call(const char *program, const struct proc_result *result, char *text, size_t size);

/* Keeps the backend's memory after close, until slurm_release. */
void slurm_hold(struct slurm *slurm);
void slurm_release(struct slurm *slurm);

/* One squeue for everything of this uid. rc 0 and the queue, or negative and why. The callee may take the queue
 * and leave an empty one. */
typedef void (*slurm_looked_f)(void *ctx, int rc, struct slurm_queue *queue, const char *why);
void slurm_look(struct slurm *slurm, slurm_looked_f looked, void *ctx);

/* Orders by token, then index; what is compared begins with a key. */
int slurm_compare_key(const void *a, const void *b);
/* The position of the first element that is not before (token, index), in a sorted array. Its elements have `size`
 * bytes and begin with a key. */
size_t slurm_find_key(const void *keys, size_t count, size_t size, const char *token, uint32_t index);

/* slurm_runner.c */
/* The path, as seen by the nodes, of the program that slurm_place_runner puts below dir. The first call reads the
 * program, which takes a few milliseconds. The caller frees it. */
char *slurm_runner_path(struct slurm *slurm, const char *dir);
/* Puts it there; why is NULL when it is there. Called once, always later; after close too: look at slurm->closing. */
typedef void (*slurm_placed_f)(void *ctx, const char *why);
void slurm_place_runner(struct slurm *slurm, const char *dir, slurm_placed_f placed, void *ctx);

/* slurm_poll.c */
void slurm_poll(struct backend *backend, const struct backend_watch *watch, size_t count, backend_observation_f observe,
		backend_polled_f done, void *ctx);
int64_t slurm_poll_interval_ms(struct backend *backend, bool expecting);

/* slurm_submit.c */
/* The resources as this cluster calls them; the copy points to `gres`. */
struct backend_resources slurm_named_resources(const struct slurm *slurm, const struct backend_resources *resources,
					       char gres[static SLURM_SHARE_CHARS]);
void slurm_submit(struct backend *backend, const struct backend_batch *batch, backend_submitted_f done, void *ctx);
void slurm_cancel(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
		  void *ctx);
void slurm_withdraw(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
		    void *ctx);
void slurm_set_parallel(struct backend *backend, const char *token, const char *job, uint32_t parallel,
			backend_done_f done, void *ctx);
int64_t slurm_doubt_ms(struct backend *backend);
/* Could a submission under this token still appear in the queue although it is not there now? */
bool slurm_may_appear(struct slurm *slurm, const char *token);

/* slurm_cluster.c */
void slurm_refresh(struct slurm *slurm);
/* Someone looks: asks again when the picture is old. */
void slurm_refresh_if_old(struct slurm *slurm);
void slurm_describe(struct backend *backend, struct json *out);
void slurm_write_nodes(struct backend *backend, const char *const *ours, size_t count, struct json *out);
char *slurm_why_wait(struct backend *backend, const struct backend_resources *resources, int64_t experiment);
uint32_t slurm_room(struct backend *backend, const struct backend_resources *resources);
bool slurm_has_energy(struct backend *backend);
void slurm_cluster_free(struct slurm_cluster *cluster);

/* slurm_check.c */
void slurm_check(struct backend *backend, const struct backend_resources *resources, const struct node *at,
		 struct problems *problems);
void slurm_most(struct backend *backend, const struct backend_resources *resources, int64_t *ret_memory_bytes,
		int64_t *ret_time_ms);

/* slurm_doctor.c */
/* Ends waiting examinations at once. slurm->closing must be set. */
void slurm_examine_close(struct slurm *slurm);

#endif
