/* The places where attempts run. One small interface for this machine (local) and a cluster (slurm): submit, poll,
 * cancel, describe. All calls are asynchronous: they call back on the loop and never block it.
 *
 * The identity of an attempt is (token, index): the token is a fresh 128-bit id that the engine has committed before
 * submit is called, the index picks the task within a batch (the element of a Slurm array). For every item there is a
 * descriptor BATCH_DIR/INDEX.json (docs/internals/node.md) that `sluice exec BATCH_DIR INDEX` reads; that runner links
 * BATCH_DIR/INDEX.claim before it starts the script, so that exactly one of several runners for one item runs the
 * script. Both files are removed once the end of the attempt is committed. */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include "base/cause.h"
#include "base/cost.h"
#include "base/error.h"
#include "base/json.h"
#include "base/node.h"

#include <uv.h>

/* What a task asks for; from `resources:` of the experiment file. 0 and NULL: not asked for. */
struct backend_resources {
	int64_t cpus; /* at least 1 */
	int64_t memory_bytes;
	int64_t gpus;
	int64_t gpu_share; /* thousandths of one GPU, with gpus 1; 0: whole GPUs */
	const char *gpu_gres; /* how a cluster calls that share: "shard:2"; set by the backend; not owned */
	bool share_auto; /* the engine chooses gpu_share */
	uint32_t ahead; /* tasks that may wait for a slot, so that each gets its next task at once: engine/ahead.h */
	char *gpu_type;
	int64_t time_ms;
	int64_t nodes;
	bool exclusive;
	char *partition, *account, *qos, *constraint;
	char **options; /* further options as an argument vector, NULL-terminated; NULL: none */
	char *template; /* text of the user's own batch script template; NULL: built in */
	int64_t signal_before_ms; /* checkpoint: signal this long before the time limit; 0 */
	int checkpoint_signal;
	const char *name; /* name of the experiment, only for comments: any text; not owned */
};

struct backend_config {
	uv_loop_t *loop;
	const char *state_dir;
	const char *program; /* absolute path of the sluice binary */
	const char *daemon_url; /* the daemon's own address, http://HOST:PORT; NULL: none listens */
};

struct backend_item {
	uint32_t index;
	const char *attempt_dir; /* has journal, stdout, stderr */
};

struct backend_batch {
	const char *token;
	int64_t experiment; /* for messages: e3 */
	const char *batch_dir;
	const char *experiment_dir; /* removed with the experiment; files that its jobs need may be kept there */
	const struct backend_resources *resources;
	const struct backend_item *items;
	size_t count;
	uint32_t parallel; /* at most this many at once; 0: no limit */
	const char *exclude; /* nodes not to be used, "cpu2,cpu3"; NULL: none */
	bool again; /* submitted before under this token, but not seen since */
};

enum backend_submission {
	BACKEND_SUBMITTED,
	BACKEND_REFUSED, /* definitely refused: nothing was or will be started; `why` says what to do */
	BACKEND_UNKNOWN, /* it may or may not have worked: look it up by token */
	BACKEND_LATER, /* nothing was started, for a temporary reason (a full disk): submit it again */
};

struct backend_submit_result {
	enum backend_submission outcome;
	const char *job; /* the backend's own id; NULL */
	enum cause cause; /* REFUSED: why */
	const char *why;
};
typedef void (*backend_submitted_f)(void *ctx, const char *token, const struct backend_submit_result *result);

/* One attempt that the engine asks about. */
struct backend_watch {
	const char *token, *job; /* job may be NULL: not confirmed yet */
	int64_t experiment;
	uint32_t index;
	const char *batch_dir, *attempt_dir;
	int64_t silent_ms; /* for how long its journal has not grown, as far as the caller looked; 0: it grows */
	int64_t submitted_ms;
	bool queue_only; /* its end is known: only ask the queue whether it still waits or runs, not accounting */
};

enum backend_state {
	BACKEND_QUEUED,
	BACKEND_RUNNING,
	BACKEND_ENDED, /* ended, as far as the backend knows; `cause` says how */
	BACKEND_ABSENT, /* a successful lookup did not find it */
};

/* What the backend sees of one attempt. Texts are valid during the call. */
struct backend_observation {
	const char *token, *job;
	uint32_t index;
	enum backend_state state;
	const char *reason; /* why it waits, or runs without progress, in words a user understands; NULL */
	const char *node;
	int64_t expected_start_ms; /* 0 unknown */
	/* ENDED */
	enum cause cause;
	bool unlaunched; /* CAUSE_CANCELLED: by its node, which could not start it, unless a runner began */
	const char *message, *remedy;
	int exit_code, signal; /* -1: not known; 0: none */
	int64_t ended_ms; /* when, by the backend's clock; 0: not known */
	struct cost cost; /* from accounting */
};
typedef void (*backend_observation_f)(void *ctx, const struct backend_observation *observed);
/* rc 0: the answer is complete; what was not observed is ABSENT. Negative: the backend could not be asked, so nothing
 * is known. */
typedef void (*backend_polled_f)(void *ctx, int rc, const char *why);
typedef void (*backend_done_f)(void *ctx, int rc, const char *why);

/* One thing that an examination found. */
struct backend_finding {
	const char *level; /* "ok", "warning", "error" */
	char *what;
	char *fix; /* NULL: nothing to do */
};
/* The list is valid during the call only. */
typedef void (*backend_findings_f)(void *ctx, const struct backend_finding *list, size_t count);

struct backend;

/* Properties of a backend. The engine only uses these, and does not infer them from other facts. */
enum backend_trait {
	BACKEND_PULLED = 1 << 0, /* starts and ends nothing: workers ask for tasks; a stop takes effect at once */
	BACKEND_HAS_QUEUE = 1 << 1, /* takes many tasks in one call and keeps to the limit `parallel` by itself */
	BACKEND_HAS_ACCOUNTING = 1 << 2, /* says why an attempt ended, up to a minute after the end */
	BACKEND_FILES_LAG = 1 << 3, /* what a node writes may be visible here only some seconds later */
	BACKEND_RESUBMIT_SAFE = 1 << 4, /* submitting a token twice is cheap and safe: the claim decides */
	BACKEND_HAS_KEEPERS = 1 << 5, /* all tasks run on one machine, where a process of ours may outlive them */
};

/* How the value of a key is written, and the type of its field in struct backend_resources. */
enum backend_key_kind {
	BACKEND_KEY_WORD, /* char *: one word, without blanks */
	BACKEND_KEY_TEXT, /* char * */
	BACKEND_KEY_WORDS, /* char **: a list */
	BACKEND_KEY_COUNT, /* int64_t, at least 1 */
	BACKEND_KEY_FLAG, /* bool */
};

/* A key of `resources:` that only one backend understands. */
struct backend_key {
	const char *name;
	enum backend_key_kind kind;
	size_t offset; /* of its field in struct backend_resources */
	const char *title, *help; /* for forms */
};

struct backend_ops {
	const char *name, *help;
	unsigned traits; /* enum backend_trait */
	int preference; /* `backend: auto` takes the highest that is available; 0: only by name */
	const struct backend_key *keys; /* ends with a NULL name; NULL: none */
	/* 0, or a negative errno when this backend is not available here (err says why). */
	int (*open)(const struct backend_config *config, struct backend **ret, struct error *err);
	void (*close)(struct backend *backend);
	/* Can this backend ever provide these resources? Adds problems at the node `resources` of the experiment
	 * file. */
	void (*check)(struct backend *backend, const struct backend_resources *resources, const struct node *at,
		      struct problems *problems);
	/* How many attempts of this size may be submitted now. The local backend says how many slots are
	 * free; Slurm how many jobs its limits allow. */
	uint32_t (*room)(struct backend *backend, const struct backend_resources *resources);
	/* The most memory on one node and the longest time limit that such a task could ask for. Left unchanged, or set
	 * to 0, if there is no limit or it is not known. The pointer is NULL if the backend never knows. */
	void (*most)(struct backend *backend, const struct backend_resources *resources, int64_t *ret_memory_bytes,
		     int64_t *ret_time_ms);
	/* How many attempts of this size fit at a time when nothing else runs; 0: not known yet. NULL: a queue or the
	 * user's own workers decide. */
	uint32_t (*slots)(struct backend *backend, const struct backend_resources *resources);
	/* Why no task of this size of the experiment can start now, in words a user understands; returns NULL if one
	 * could. The caller frees the text. The pointer is NULL if the backend does not know. */
	char *(*why_wait)(struct backend *backend, const struct backend_resources *resources, int64_t experiment);
	void (*submit)(struct backend *backend, const struct backend_batch *batch, backend_submitted_f done, void *ctx);
	/* One query for all attempts. Also called right after open, for everything that may be alive (adoption). */
	void (*poll)(struct backend *backend, const struct backend_watch *watch, size_t count,
		     backend_observation_f observe, backend_polled_f done, void *ctx);
	/* Ends attempts: SIGTERM, a grace period, SIGKILL; in as few calls as possible. Safe if they have already
	 * ended. */
	void (*cancel)(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
		       void *ctx);
	/* Removes attempts from the queue that have not started; those that have started continue. NULL: nothing waits
	 * in a queue for long. */
	void (*withdraw)(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
			 void *ctx);
	/* Changes the parallel limit of a live batch. NULL: it starts all that it has. */
	void (*set_parallel)(struct backend *backend, const char *token, const char *job, uint32_t parallel,
			     backend_done_f done, void *ctx);
	/* An attempt that two lookups did not find will not appear any more if they were this far apart. NULL: the
	 * engine's default. */
	int64_t (*doubt_ms)(struct backend *backend);
	/* Does its accounting know the energy of an ended attempt, some time after the end? NULL: no. */
	bool (*has_energy)(struct backend *backend);
	/* How long to wait until the next poll, in ms; `expecting`: something is about to change. */
	int64_t (*poll_interval_ms)(struct backend *backend, bool expecting);
	/* The batch script that would be submitted; text the caller frees. */
	char *(*preview)(struct backend *backend, const struct backend_resources *resources, uint64_t tasks,
			 uint32_t parallel, struct error *err);
	/* Its entry of GET /cluster: one JSON map, from what is known now (refreshed in the background). */
	void (*describe)(struct backend *backend, struct json *out);
	/* Its nodes, for GET /cluster/use: the members "asking", "time", "error", "nodes" and "groups" of the open map, from
	 * what is known now; asks again in the background when that is old. `ours`: names of nodes, sorted, that are to be
	 * groups of their own. NULL: it has none to describe. */
	void (*write_nodes)(struct backend *backend, const char *const *ours, size_t count, struct json *out);
	/* A thorough examination for `sluice doctor`, with a real job if that tells more; may take two minutes. NULL:
	 * `describe` already says everything. */
	void (*examine)(struct backend *backend, backend_findings_f done, void *ctx);
	/* Registers a function that the backend calls when something changed outside (an attempt ended). The engine
	 * then polls soon. */
	void (*on_change)(struct backend *backend, void (*changed)(void *ctx), void *ctx);
};

struct backend {
	const struct backend_ops *ops;
};

extern const struct backend_ops *const backend_table[]; /* NULL-terminated */

/* Does it have this trait? */
static inline bool backend_is(const struct backend_ops *ops, enum backend_trait trait)
{
	return (ops->traits & trait) != 0;
}

/* Does the experiment file give this key? */
bool backend_key_is_set(const struct backend_key *key, const struct backend_resources *resources);
/* Writes the list of a backend's keys: [{"name","kind","title","help"}, …]. */
void backend_write_keys(const struct backend_ops *ops, struct json *out);

#endif
