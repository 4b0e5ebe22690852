/* A worker that was killed cannot tell what became of its task, nor give back what it had claimed. Where it runs on this
 * machine, its process shows that: the client sends its pid and start time. The end of a worker on another machine cannot
 * be told from its silence, and a training may report nothing for hours, so such a worker is not watched. */
#include "engine/worker.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/ingest.h"
#include "engine/live.h"
#include "engine/propose.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "journal/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define WORKER_PLACE_CHARS 200

/* Where pids and start times mean the same: the boot, and the namespaces of both. The client makes the same text. False
 * where the system does not say; one without namespaces of time has one time. */
static bool worker_place(char place[static WORKER_PLACE_CHARS])
{
	static const char *const spaces[] = {"/proc/self/ns/pid", "/proc/self/ns/time"};
	char found[COUNT_OF(spaces)][64] = {0};
	for (size_t i = 0; i < COUNT_OF(spaces); i++)
		if (readlink(spaces[i], found[i], sizeof(found[i]) - 1) < 0)
			found[i][0] = '\0';
	snprintf(place, WORKER_PLACE_CHARS, "%s %s %s", proc_boot_id(), found[0], found[1]);
	return *proc_boot_id() && *found[0];
}

void engine_worker_read(const struct node *node, struct engine_worker *ret)
{
	char place[WORKER_PLACE_CHARS];
	const char *its = node_get_string(node, "place");
	*ret = (struct engine_worker){0};
	if (!worker_place(place) || !its || strcmp(its, place) != 0)
		return;
	int64_t pid = node_get_int(node, "pid", 0), start = node_get_int(node, "start", 0);
	if (pid > 1 && pid <= INT32_MAX && start > 0)
		*ret = (struct engine_worker){.pid = (int32_t)pid, .start = (uint64_t)start};
}

/* Has it ended, as its parent has not seen yet? One whose first thread has exited is a zombie, too, while others work. */
static bool worker_is_zombie(const char *stat)
{
	const char *at = strrchr(stat, ')'); /* the name may hold anything: fields count from there */
	if (!at || at[1] != ' ' || (at[2] != 'Z' && at[2] != 'X'))
		return false;
	for (int field = 2; at && field < 20; field++)
		at = strchr(at + 1, ' ');
	uint64_t threads;
	return at && num_parse_unsigned(at + 1, strcspn(at + 1, " "), UINT64_MAX, &threads) == 0 && threads <= 1;
}

/* Only what is certain counts: what cannot be read may live. */
static bool worker_is_gone(const struct engine_worker *worker)
{
	char path[64];
	struct buf text = buf_make(4096);
	uint64_t start;
	if (kill(worker->pid, 0) < 0 && errno == ESRCH)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", worker->pid);
	bool zombie = fs_read(path, 4096, &text, NULL) == 0 && worker_is_zombie(buf_text(&text));
	buf_free(&text);
	return zombie || (proc_start_time(worker->pid, &start) == 0 && start != worker->start);
}

static bool worker_is(const struct engine_worker *a, const struct engine_worker *b)
{
	return a->pid == b->pid && a->start == b->start;
}

void engine_worker_claims(struct engine_experiment *e, const struct engine_worker *worker, int64_t tasks)
{
	if (!worker->pid)
		return;
	size_t i = 0;
	while (i < e->workers.len && !worker_is(&e->workers.at[i].worker, worker))
		i++;
	if (i == e->workers.len)
		vec_push(&e->workers, ((struct engine_claimant){.worker = *worker}));
	struct engine_claimant *its = &e->workers.at[i];
	its->claimed = its->claimed + tasks > 0 ? its->claimed + tasks : 0;
}

void engine_workers_drop_claims(struct engine_experiment *e)
{
	for (size_t i = 0; i < e->workers.len; i++)
		e->workers.at[i].claimed = 0;
}

/* Its tasks have failed: as they would have if it had told so. */
static int worker_end_tasks(struct engine *engine, const struct engine_experiment *e,
			    const struct engine_worker *worker)
{
	char text[120];
	int rc = 0;
	snprintf(text, sizeof(text), "its worker is gone: process %d ended without telling a result", worker->pid);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase >= ATTEMPT_ENDED || !worker_is(&live->worker, worker))
			continue;
		int64_t now = clock_now_ms(), wall = now - live->started_ms;
		struct cost cost = {0};
		cost_set(&cost, FIGURE_WALL, wall > 0 ? (double)wall : 0);
		log_info("e%" PRId64 "/%" PRId64 ": %s", e->id, live->task.number, text);
		rc = engine_ingest_record(engine, live,
					  &(struct journal_record){.kind = JOURNAL_END,
								   .time_ms = now,
								   .exit_code = 1,
								   .cause = CAUSE_EXIT,
								   .message = text,
								   .cost = cost});
	}
	return rc;
}

static int worker_give_back(struct engine *engine, struct engine_experiment *e, int64_t claimed)
{
	int64_t left = e->planned - e->last_number;
	if (!claimed || !e->spec->search->open || left <= 0)
		return 0;
	e->planned -= claimed < left ? claimed : left;
	e->changed = true;
	int rc = store_set_planned(engine->store, e->id, e->planned);
	return rc == 0 && e->planned == e->last_number ? engine_note_all(engine, e) : rc;
}

static int worker_look(struct engine *engine, struct engine_experiment *e)
{
	int rc = 0;
	for (size_t i = e->workers.len; rc == 0 && i-- > 0;) {
		struct engine_claimant gone = e->workers.at[i];
		if (!worker_is_gone(&gone.worker))
			continue;
		e->workers.at[i] = e->workers.at[--e->workers.len];
		rc = worker_end_tasks(engine, e, &gone.worker);
		if (rc == 0)
			rc = worker_give_back(engine, e, gone.claimed);
	}
	return rc;
}

int engine_look_at_workers(struct engine *engine)
{
	int64_t now = clock_mono_ms();
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (!e->workers.len || e->removing || now < e->workers_next_ms)
			continue;
		e->workers_next_ms = now + ENGINE_WORKERS_MS;
		rc = worker_look(engine, e);
	}
	return rc;
}
