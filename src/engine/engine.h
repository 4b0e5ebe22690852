/* The engine: the life of experiments and tasks. It proposes tasks, hands them to a backend, reads
 * their journals, writes the store, and tells its listeners what changed. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/error.h"
#include "base/json.h"
#include "base/node.h"
#include "base/pieces.h"
#include "store/store.h"

#include <uv.h>

struct engine;

struct engine_config {
	uv_loop_t *loop;
	const char *state_dir;
	const char *program; /* absolute path of the sluice binary */
	const char *daemon_url; /* the daemon's own address, http://HOST:PORT; NULL: none listens */
	const struct backend_ops *const *backends; /* NULL-terminated; NULL: backend_table */
};

/* Opens the store, takes up everything that was going on, and starts to work on the loop. */
int engine_open(const struct engine_config *config, struct engine **ret, struct error *err) MUST_USE;
/* Stops working; what runs goes on running and is taken up by the next engine_open. */
void engine_close(struct engine *engine);
struct store *engine_store(struct engine *engine);
/* Why nothing can be recorded at the moment, in words; NULL: it can. Tries it, unless that was done a moment ago. The text
 * is the engine's, and valid until the loop goes on. */
const char *engine_trouble(struct engine *engine);
/* Attempts that were stopped and may still start or run, because the backend has not confirmed it: to be waited for before
 * engine_close. The second one writes the list [{"experiment","tasks","text"}, …] of GET /info. */
int64_t engine_open_stops(struct engine *engine);
void engine_write_stops(struct engine *engine, struct json *out);

/* The request of POST /check and POST /experiments (docs/internals/rest.md). Both return 0, -EINVAL
 * with problems filled, or another negative errno with err. */
int engine_check(struct engine *engine, const struct node *request, bool scan, struct json *out,
		 struct problems *problems, struct error *err) MUST_USE;
/* What reading a script finds; `file` is {path, text or base64}. Never refused. */
void engine_scan(const struct node *file, struct json *out);
/* idempotency_key and body_hash may be NULL. 1: the key was used before for the same body, *ret_experiment
 * is the one made then; -EEXIST: for another body. */
int engine_create(struct engine *engine, const struct node *request, const char *idempotency_key, const char *body_hash,
		  int64_t *ret_experiment, struct problems *problems, struct error *err) MUST_USE;

/* numbers NULL: every task. ret_count: how many tasks it touched. -ENOENT when there is no such
 * experiment or task. Stopping a task that has ended, or restarting one that still runs, changes nothing. */
int engine_stop(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, int64_t *ret_count,
		struct error *err) MUST_USE;
/* The same; scripts that run are told to save a checkpoint first, and have the time of `checkpoint: {before_limit}` to end.
 * -EINVAL where the experiment has no `checkpoint`. */
int engine_stop_saving(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err) MUST_USE;
/* How a task is run again. By default one that saved a checkpoint and has not finished goes on, any other begins anew.
 * RESUME: with its work and checkpoint folders as they are. FRESH: without; they are removed once it has started. */
enum engine_mode { ENGINE_MODE_DEFAULT, ENGINE_MODE_RESUME, ENGINE_MODE_FRESH };
int engine_restart(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, bool failed_only,
		   enum engine_mode mode, int64_t *ret_count, struct error *err) MUST_USE;
/* Another text for the submitted script, for attempts that begin from now on. The one before is kept and named in the
 * experiment's warnings. -EINVAL where a command was submitted instead of a script. */
int engine_replace_script(struct engine *engine, int64_t experiment, const char *text, size_t len,
			  struct error *err) MUST_USE;
/* A paused experiment goes on as it is; -EBUSY where it is not paused. */
int engine_resume(struct engine *engine, int64_t experiment, struct error *err) MUST_USE;
/* -EBUSY while something runs, unless stop is set: then it goes once everything has ended. */
int engine_remove(struct engine *engine, int64_t experiment, bool stop, struct error *err) MUST_USE;
int engine_set_parallel(struct engine *engine, int64_t experiment, int64_t parallel, struct error *err) MUST_USE;

/* A worker that waits for a proposal; the caller's memory. */
struct engine_asker {
	/* rc and number as engine_ask would have returned them. The asker is the caller's again. */
	void (*done)(struct engine_asker *asker, int rc, int64_t number, const struct error *err);
	int64_t experiment;
	struct engine_asker *next;
};
/* Workers of the user's own, for experiments with the backend `external`. Ask: a waiting task, or a new
 * proposal, is running from now on; -EAGAIN when the search waits for results first, -ENOENT when there is
 * nothing left (or no such experiment), -EINVAL for another backend. -EINPROGRESS: the search thinks about it, or
 * others wait already; asker->done is called from the loop, later and once, unless engine_unask comes first. */
int engine_ask(struct engine *engine, int64_t experiment, struct engine_asker *asker, int64_t *ret_number,
	       struct error *err) MUST_USE;
/* The asker does not wait any more. The proposal that it would have got goes to the next one that asks. */
void engine_unask(struct engine *engine, struct engine_asker *asker);
/* Tell: {"values":{"val_loss":0.3},"step":4,"more":false,"failed":"why"}: a row of metrics, and unless `more`
 * the end of the task. */
int engine_tell_task(struct engine *engine, int64_t experiment, int64_t number, const struct node *body,
		     struct error *err) MUST_USE;

/* A living search (all recorded, all replayed after a restart). Suggest: {"parameters":{…}} becomes a task.
 * Import: {"rows":[{"parameters":{…},"values":{"val_loss":0.3}},…]} become finished tasks, prior knowledge.
 * Change: {"search":{…},"parameters":{…},"constraints":[…]}: those keys replace the experiment's (members of
 * search and parameters one by one), and the search goes on from all its results. -EINVAL with problems. */
int engine_suggest(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_number,
		   struct problems *problems, struct error *err) MUST_USE;
int engine_import(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_count,
		  struct problems *problems, struct error *err) MUST_USE;
int engine_change(struct engine *engine, int64_t experiment, const struct node *body, struct problems *problems,
		  struct error *err) MUST_USE;

/* A thorough look at every backend and a check of the database, for `sluice doctor`: goes on in the background; its findings are in
 * engine_write_cluster once "examining" is false again. Harmless while one is going on. */
void engine_examine(struct engine *engine);
/* GET /cluster; the "backends", "default_backend", "strategies" and "limits" members of GET /info (the
 * map is open). */
void engine_write_cluster(struct engine *engine, struct json *out);
void engine_write_info(struct engine *engine, struct json *out);
/* GET /environments: what the last look found. A look that is some seconds old is repeated in the background. */
void engine_write_pythons(struct engine *engine, struct json *out);
/* GET …/search: the strategy, why it was chosen, and its inside while it works. -ENOENT. */
int engine_write_search(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;
/* GET …/analysis: best, progress, fronts, importance, slices, agreement of fidelities. -ENOENT. */
int engine_read_analysis(struct engine *engine, int64_t experiment, struct pieces *ret) MUST_USE;

/* GET …/{id} and GET …/tasks/{n}: what the store has, and what is in the folders. -ENOENT. */
int engine_write_experiment(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;
int engine_write_task(struct engine *engine, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* "files":[{"path","bytes"}] of the open map: what was submitted with an experiment. */
void engine_write_files(struct engine *engine, int64_t experiment, struct json *out);
/* One of these files, for reading: a descriptor, or a negative errno. */
int engine_open_file(struct engine *engine, int64_t experiment, const char *path) MUST_USE;
/* The output of an attempt, for reading: a descriptor; -ENOENT where nothing was written. */
int engine_open_log(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt, bool is_error) MUST_USE;
/* The batch script as it was submitted last. -ENOENT where the backend keeps none. */
int engine_read_script(struct engine *engine, int64_t experiment, struct buf *out) MUST_USE;

/* The folder of an experiment (number 0), a task (attempt 0) or an attempt. The caller frees it. */
char *engine_folder(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt);

/* Called with every event for GET /events: its name and its data as JSON text. */
typedef void (*engine_event_f)(void *ctx, const char *name, const char *data, size_t len);
void engine_listen(struct engine *engine, engine_event_f event, void *ctx);

#endif
