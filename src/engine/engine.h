/* The engine runs experiments and tasks. It proposes tasks, submits them to a backend, reads their journals, writes the
 * store, and tells its listeners what changed. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/error.h"
#include "base/json.h"
#include "base/node.h"
#include "base/pieces.h"
#include "store/store.h"

#include <uv.h>

struct engine;
struct engine_preview;

struct engine_config {
	uv_loop_t *loop;
	const char *state_dir;
	const char *program; /* absolute path of the sluice binary */
	const char *daemon_url; /* the daemon's own address, http://HOST:PORT; NULL: none listens */
	const struct backend_ops *const *backends; /* NULL-terminated; NULL: backend_table */
};

/* Opens the store, continues everything that was in progress, and starts to work on the loop. */
int engine_open(const struct engine_config *config, struct engine **ret, struct error *err) MUST_USE;
/* Stops the engine. Running tasks keep running; the next engine_open continues with them. */
void engine_close(struct engine *engine);
struct store *engine_store(const struct engine *engine);
const char *engine_state_dir(const struct engine *engine);
/* Why nothing can be written to the store at the moment, in words; NULL: writing works. Tests it, unless it was tested
 * a moment ago. The engine owns the text; it is valid until the caller returns to the loop. */
const char *engine_trouble(struct engine *engine);
/* The number of attempts that were stopped but may still start or run, because the backend has not confirmed the stop.
 * Wait for them before engine_close. The second function writes the list [{"experiment","tasks","text"}, …] of GET
 * /info. */
int64_t engine_open_stops(struct engine *engine);
void engine_write_stops(struct engine *engine, struct json *out);

/* The request of POST /check and POST /experiments (docs/internals/rest.md). Both return 0, -EINVAL
 * with problems filled, or another negative errno with err. A check takes the request, also when it fails. Then call
 * engine_preview_look once, on any thread, because it reads files of this machine; the engine may be closed meanwhile. */
int engine_check(struct engine *engine, struct node *give_request, bool scan, struct engine_preview **ret,
		 struct problems *problems, struct error *err) MUST_USE;
void engine_preview_look(struct engine_preview *preview);
/* The answer, in JSON; the caller frees it. */
struct buf engine_preview_take(struct engine_preview *preview);
void engine_preview_free(struct engine_preview *preview);
/* Writes what can be learned from reading a script; `file` is {path, text or base64}. Never fails. */
void engine_scan(const struct node *file, struct json *out);
/* idempotency_key and body_hash may be NULL. Returns 1 if the key was used before with the same body: *ret_experiment
 * is the experiment made then. -EEXIST: the key was used with another body. */
int engine_create(struct engine *engine, const struct node *request, const char *idempotency_key, const char *body_hash,
		  int64_t *ret_experiment, struct problems *problems, struct error *err) MUST_USE;

/* numbers NULL: every task. ret_count: how many tasks changed. -ENOENT when there is no such experiment or task.
 * Stopping a task that has ended, or restarting one that still runs beside others, changes nothing. If all that are to
 * be restarted run, -EBUSY. */
int engine_stop(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, int64_t *ret_count,
		struct error *err) MUST_USE;
/* Tasks that are planned and were not proposed yet: a stop gives them up. */
int64_t engine_unproposed(struct engine *engine, int64_t experiment);
/* As engine_stop, but running scripts are asked to save a checkpoint first. They have the time in `checkpoint:
 * {before_limit}` to end. -EINVAL if the experiment has no `checkpoint`. */
int engine_stop_saving(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err) MUST_USE;
/* How a task is run again. DEFAULT: a task that saved a checkpoint and has not finished continues; any other starts
 * from the beginning. RESUME: it keeps its work and checkpoint folders. FRESH: it gets new ones; the old ones are
 * removed once it has started. */
enum engine_mode { ENGINE_MODE_DEFAULT, ENGINE_MODE_RESUME, ENGINE_MODE_FRESH };
int engine_restart(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count, bool failed_only,
		   enum engine_mode mode, int64_t *ret_count, struct error *err) MUST_USE;
/* Replaces the text of the submitted script, for attempts that start from now on. The old text is kept, and a warning
 * of the experiment names it. -EINVAL if a command was submitted instead of a script. */
int engine_replace_script(struct engine *engine, int64_t experiment, const char *text, size_t len,
			  struct error *err) MUST_USE;
/* Continues a paused experiment as it is, or a stopped one: what was stopped runs again, what has ended stays, and
 * the search goes on. -EBUSY if it is neither, or is still being stopped. */
int engine_resume(struct engine *engine, int64_t experiment, struct error *err) MUST_USE;
/* -EBUSY while something runs. With `stop`, the tasks are stopped and the experiment is removed once all have ended. */
int engine_remove(struct engine *engine, int64_t experiment, bool stop, struct error *err) MUST_USE;
/* Removes these tasks, which must have ended, with their metrics, logs and files. The search keeps what it has learnt from
 * them, and their place in its sequence. When this returns, the removal is stored; many tasks are removed in several
 * turns. -ENOENT; -EBUSY if one has not ended. */
int engine_remove_tasks(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
			int64_t *ret_count, struct error *err) MUST_USE;
/* 0 when a task has reported the metric, may still report it because the experiment names it, or nothing was reported
 * so far. -ENOENT with the names that there are. */
int engine_check_metric(struct engine *engine, int64_t experiment, const char *name, struct error *err) MUST_USE;
int engine_set_parallel(struct engine *engine, int64_t experiment, int64_t parallel, struct error *err) MUST_USE;

/* What people write about an experiment (numbers NULL) or about tasks. The body has any of "tags" (replaces them),
 * "add_tags", "remove_tags", "notes" (null: none), "star" and, for an experiment, "archived". -EINVAL, -ENOENT. */
int engine_mark(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		const struct node *body, struct error *err) MUST_USE;

/* The process of a worker on this machine. pid 0: it is not known, or is on another machine. */
struct engine_worker {
	int32_t pid;
	uint64_t start;
};
/* Reads {"pid":…,"start":…,"place":…}; NULL: there is none. */
void engine_worker_read(const struct node *node, struct engine_worker *ret);

/* A worker that waits for a proposal. The caller owns the memory. */
struct engine_asker {
	struct engine_worker worker;
	/* rc and number as engine_ask would have returned them. The caller may free the asker from now on. */
	void (*done)(struct engine_asker *asker, int rc, int64_t number, const struct error *err);
	int64_t experiment;
	struct engine_asker *next;
};
/* For the user's own workers, with the backend `external`. Gives a waiting task or a new proposal to the worker; that
 * task counts as running from now on. -EAGAIN: the search needs more results first. -ENOENT: nothing is left, or there
 * is no such experiment. -EINVAL: the experiment has another backend. -EINPROGRESS: the search is computing, or other
 * workers wait already; the loop calls asker->done later, once, unless engine_unask is called first. */
int engine_ask(struct engine *engine, int64_t experiment, struct engine_asker *asker, int64_t *ret_number,
	       struct error *err) MUST_USE;
/* The asker stops waiting. The proposal that it would have got goes to the next worker that asks. */
void engine_unask(struct engine *engine, struct engine_asker *asker);
/* The body is {"values":{"val_loss":0.3},"step":4,"more":false,"failed":"why"}. Adds a row of metrics and, unless
 * `more` is true, ends the task. */
int engine_tell_task(struct engine *engine, int64_t experiment, int64_t number, const struct node *body,
		     struct error *err) MUST_USE;

/* How many more tasks workers will ask for, in an experiment with `search: {open: true}`; negative: how many of those
 * they will not ask for after all. Ends a stop, as a restart does; with `more`, for a worker that has begun already, -EBUSY
 * after a stop. -EINVAL where the number of tasks is fixed. worker: who claims; NULL: it is not known. */
int engine_claim(struct engine *engine, int64_t experiment, int64_t tasks, bool more,
		 const struct engine_worker *worker, struct error *err) MUST_USE;

/* Changes to a search while it runs. All are recorded, and replayed after a restart. Suggest: {"parameters":{…}}
 * becomes a task. Import: {"rows":[{"parameters":{…},"values":{"val_loss":0.3}},…]} become finished tasks, as prior
 * knowledge. Change: {"search":{…},"parameters":{…},"constraints":[…]} replace those keys of the experiment (search and
 * parameters member by member); the search continues with all its results. -EINVAL with problems. */
int engine_suggest(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_number,
		   struct problems *problems, struct error *err) MUST_USE;
/* ret_already: rows that the experiment had before, which are left out; may be NULL. */
int engine_import(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_count,
		  int64_t *ret_already, struct problems *problems, struct error *err) MUST_USE;
int engine_change(struct engine *engine, int64_t experiment, const struct node *body, struct problems *problems,
		  struct error *err) MUST_USE;

/* Starts a thorough examination of every backend and of the database, for `sluice doctor`. It runs in the background.
 * engine_write_cluster shows its findings once "examining" is false again. Does nothing while one is running. */
void engine_examine(struct engine *engine);
/* GET /cluster; the "backends", "default_backend", "strategies" and "limits" members of GET /info (the
 * map is open). */
void engine_write_cluster(struct engine *engine, struct json *out);
void engine_write_info(struct engine *engine, struct json *out);
/* GET /cluster/use: what runs where, what is queued and why, nodes. */
int engine_write_use(struct engine *engine, struct json *out) MUST_USE;
/* Messages by webhook and mail: GET /notify, POST /notify (-EINVAL for a wrong address), POST /notify/test. */
int engine_write_notify(struct engine *engine, struct json *out) MUST_USE;
int engine_change_notify(struct engine *engine, const struct node *body, struct error *err) MUST_USE;
int engine_test_notify(struct engine *engine, struct error *err) MUST_USE;
/* GET /environments: the result of the last scan. If that is older than some seconds, a new scan starts in the
 * background. */
void engine_write_pythons(struct engine *engine, struct json *out);
/* GET …/search: the strategy, why it was chosen, and its internal state while it works. -ENOENT. */
int engine_write_search(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;
/* GET …/analysis: best, progress, fronts, importance, slices, agreement of fidelities. -ENOENT. */
int engine_read_analysis(struct engine *engine, int64_t experiment, struct pieces *ret) MUST_USE;

/* GET …/{id} and GET …/tasks/{n}: from the store and from the folders. -ENOENT. */
int engine_write_experiment(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;
/* What it should ask for next time: {"tasks", "items"}. */
int engine_write_advice(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;
int engine_write_task(struct engine *engine, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* Adds "files":[{"path","bytes"}] to the open map: the files that were submitted with an experiment. */
void engine_write_files(struct engine *engine, int64_t experiment, struct json *out);
/* Opens one of these files for reading. Returns a descriptor or a negative errno. */
int engine_open_file(struct engine *engine, int64_t experiment, const char *path) MUST_USE;
/* The same of a file that a task wrote to its work folder. */
int engine_open_task_file(struct engine *engine, int64_t experiment, int64_t number, const char *path) MUST_USE;
/* Opens the output of an attempt for reading. Returns a descriptor; -ENOENT if nothing was written. */
int engine_open_log(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt, bool is_error) MUST_USE;
/* When that part of it was written: see logtimes_read. Calls nothing where that is not known. */
void engine_read_log_times(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt, bool is_error,
			   int64_t from, int64_t to, void (*each)(void *ctx, int64_t bytes, int64_t time_ms),
			   void *ctx);
/* The batch script that was submitted last. -ENOENT if the backend keeps none. */
int engine_read_script(struct engine *engine, int64_t experiment, struct buf *out) MUST_USE;

/* The folder of an experiment (number 0), a task (attempt 0) or an attempt. The caller frees it. */
char *engine_folder(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt);

/* Called with every event for GET /events: its name and its data as JSON text. */
typedef void (*engine_event_f)(void *ctx, const char *name, const char *data, size_t len);
void engine_listen(struct engine *engine, engine_event_f event, void *ctx);

#endif
