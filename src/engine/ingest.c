/* Reads journals into the store. The data and the position up to which it was read are stored in one transaction, so
 * that a crash at any point loses nothing and repeats nothing. */
#include "engine/ingest.h"

#include "engine/accounted.h"
#include "engine/action.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/hold.h"
#include "engine/limit.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/progress.h"
#include "engine/prune.h"
#include "engine/ran.h"
#include "engine/rank.h"
#include "engine/series.h"
#include "engine/settle.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/stalled.h"
#include "engine/state.h"
#include "engine/steps.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "journal/journal.h"
#include "metrics/metrics.h"
#include "spool/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* START is shorter, and nothing long comes before it. */
#define INGEST_HEAD_BYTES 8192

struct ingest {
	struct engine *engine;
	struct engine_live *live;
};

/* When it began. The node's clock is believed between the submission and now. Where it is wrong the attempt began just
 * now, if we were looking; else only its submission is known. */
static int64_t ingest_begin_time(const struct engine_live *live, int64_t journal_ms)
{
	bool looked = live->facts.looked_ms && clock_mono_ms() - live->facts.looked_ms < SETTLE_LOOK_GAP_MS;
	int64_t now = clock_now_ms();
	if (journal_ms >= live->created_ms && journal_ms <= now)
		return journal_ms;
	return looked ? now : live->created_ms;
}

/* The experiment began with the first of its tasks that did: it may be over within the same turn. */
static void ingest_begin(struct engine_experiment *e, int64_t time_ms)
{
	if (!e->started_ms)
		e->started_ms = time_ms < e->created_ms ? e->created_ms : time_ms;
}

static void ingest_beats(struct engine_live *live, const struct journal_record *start)
{
	live->start_read = true;
	attempt_update(&live->facts, &(struct attempt_event){.kind = ATTEMPT_EVENT_BEATS, .beats = start->beat_ms > 0});
}

/* How its script was started, where the record says it. */
static int ingest_warm(struct ingest *in, const struct journal_record *r)
{
	return r->has_warm ? store_set_warm(in->engine->store, in->live->id, r->warm) : 0;
}

/* A first attempt has nothing to forget. */
static bool ingest_has_rows(const struct engine_live *live)
{
	return live->number > 1 || live->task.step >= 0 || live->task.last_step >= 0;
}

/* Forgets what earlier attempts measured, until a moment: 1 while there may be more, 0, or a negative errno. */
static int ingest_forget(struct engine *engine, struct engine_live *live, int64_t until)
{
	int more = 1;
	live->task.best = live->task.last = NAN;
	live->task.best_step = live->task.last_step = live->task.step = -1;
	live->task.from_zero = false;
	live->epochs = false;
	series_forget(live);
	int rc = store_clear_samples(engine->store, live->task.id);
	if (rc == 0)
		rc = store_set_progress(engine->store, &live->task);
	live->experiment->best_changed = true;
	while (rc == 0 && more > 0) {
		more = store_clear_metrics(engine->store, live->task.id);
		if (clock_mono_ms() >= until)
			break;
	}
	return rc < 0 ? rc : more;
}

static int ingest_start(struct ingest *in, const struct journal_record *r)
{
	struct engine_live *live = in->live;
	struct engine *engine = in->engine;
	live->started_ms = ingest_begin_time(live, r->time_ms);
	left_clear(live);
	ingest_begin(live->experiment, live->started_ms);
	int rc = store_start_attempt(engine->store, live->id, live->task.id, r->host, r->gpus, r->job,
				     live->started_ms);
	if (rc == 0)
		rc = ingest_warm(in, r);
	if (rc == 0 && !r->resume && ingest_has_rows(live))
		rc = ingest_forget(engine, live, INT64_MAX);
	engine_note(live, ATTEMPT_EVENT_START);
	ingest_beats(live, r);
	if (rc == 0)
		rc = engine_note_started(engine, live->experiment, r->host);
	if (rc == 0)
		rc = engine_set_state(engine, live->experiment, &live->task, STORE_RUNNING,
				      r->checkpoint ? "continues from its checkpoint" : NULL, NULL);
	if (rc == 0 && r->version && strcmp(r->version, SLUICE_VERSION) != 0)
		rc = store_add_history(engine->store, live->task.id, STORE_RUNNING,
				       "the runner on the node and the daemon are different versions of sluice",
				       r->time_ms);
	return rc;
}

/* NAN: not known. */
static double ingest_epoch(const struct journal_record *r)
{
	return r->has_epoch ? r->epoch : r->step_name && strcmp(r->step_name, "epoch") == 0 ? (double)r->step : NAN;
}

static void ingest_row_event(struct engine_live *live, const struct journal_record *r)
{
	struct json w = json_to(&live->rows);
	if (live->rows.len)
		buf_add_char(&live->rows, ',');
	json_map(&w);
	json_key_int(&w, "step", r->step);
	json_key_int(&w, "time_ms", r->time_ms);
	if (!isnan(ingest_epoch(r)))
		json_key_real(&w, "epoch", ingest_epoch(r));
	json_key(&w, "values");
	json_map(&w);
	for (size_t i = 0; i < r->metric_count; i++)
		json_key_real(&w, r->metrics[i].name, r->metrics[i].value);
	json_end(&w);
	json_end(&w);
}

static bool ingest_stop_met(const struct spec *spec, const struct journal_record *r)
{
	for (size_t i = 0; spec->stop.metric && i < r->metric_count; i++) {
		double value = r->metrics[i].value, limit = spec->stop.value;
		if (strcmp(r->metrics[i].name, spec->stop.metric) != 0)
			continue;
		return spec->stop.op[0] == '<' ? value < limit || (spec->stop.op[1] && value == limit)
					       : value > limit || (spec->stop.op[1] && value == limit);
	}
	return false;
}

/* A row whose metrics have the names under which they are shown. */
static int ingest_row(struct ingest *in, const struct journal_record *r, const int64_t *ids)
{
	struct engine_live *live = in->live;
	struct engine_experiment *e = live->experiment;
	int rc = progress_know_epochs(in->engine, live);
	if (rc == 0 && !e->spec->objective_count)
		rc = progress_choose(in->engine, e, r->metrics, r->metric_count);
	else if (rc == 0)
		rc = progress_choose_better(in->engine, e, r->metrics, r->metric_count);
	if (rc == 0)
		rc = engine_name_steps(in->engine, live, r);
	for (size_t i = 0; rc == 0 && i < r->metric_count; i++)
		rc = store_add_metric(in->engine->store, live->task.id,
				      &(struct store_point){.name = ids[i],
							    .step = r->step,
							    .time_ms = r->time_ms,
							    .value = r->metrics[i].value,
							    .epoch = ingest_epoch(r)});
	if (rc < 0)
		return rc;
	progress_take_row(live, r);
	ingest_row_event(live, r);
	live->unwritten = true;
	if (ingest_stop_met(e->spec, r) && !e->stopping) {
		log_info("e%" PRId64 "/%" PRId64 " meets the stopping condition", e->id, live->task.number);
		rc = engine_stop_met(in->engine, e, live->task.number);
	}
	return rc;
}

static int ingest_metrics(struct ingest *in, const struct journal_record *r)
{
	struct series_row shown = {0};
	struct journal_record named = *r;
	int rc = series_name_row(in->engine, in->live, r, &shown);
	progress_take_epochs(in->live, r);
	named.metrics = shown.metrics.at;
	named.metric_count = shown.metrics.len;
	if (rc == 0 && in->live->recount)
		in->live->unwritten = true;
	if (rc == 0 && named.metric_count)
		rc = ingest_row(in, &named, shown.ids.at);
	series_row_free(&shown);
	return rc;
}

int engine_take_end(struct engine_live *live, const char *json)
{
	struct node *end = NULL;
	if (node_parse_json(json, strlen(json), &end, NULL) < 0)
		return -EIO;
	struct attempt_end reported = {
		.exit_code = (int)node_get_int(end, "exit_code", -1),
		.signal = (int)node_get_int(end, "signal", 0),
		.time_ms = node_get_int(end, "time_ms", 0),
		.wall_ms = node_get_int(end, "wall_ms", -1),
		.message = (char *)node_get_string(end, "message"),
		.tail = (char *)node_get_string(end, "tail"),
	};
	if (cause_parse(node_get_string(end, "cause"), &reported.cause) < 0 || reported.cause == CAUSE_NONE)
		reported.cause = CAUSE_UNKNOWN;
	attempt_update(&live->facts,
		       &(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = clock_mono_ms(), .end = &reported});
	node_free(end);
	return 0;
}

/* The GPUs are the attempt's while it runs, whether the script uses them or not. `gpus` is what each of its nodes has. */
void engine_add_gpu_time(const struct engine_live *live, struct cost *cost)
{
	const struct backend_resources *asked = &live->experiment->spec->resources;
	double each = live->asked.gpu_share ? (double)live->asked.gpu_share / 1000 : (double)asked->gpus;
	double gpus = each * (double)(asked->nodes > 1 ? asked->nodes : 1);
	if (!cost_has(cost, FIGURE_GPU))
		cost_set(cost, FIGURE_GPU, cost_get(cost, FIGURE_WALL) * gpus);
}

static struct cost ingest_cost_of(const struct engine_live *live, const struct journal_record *r)
{
	struct cost cost = r->cost;
	engine_add_gpu_time(live, &cost);
	return cost;
}

static int ingest_sample(struct ingest *in, const struct journal_record *r)
{
	struct cost cost = ingest_cost_of(in->live, r);
	left_take_sample(in->live, r);
	int rc = store_set_cost(in->engine->store, in->live->id, in->live->task.id, &cost);
	return rc < 0 || !r->sample ? rc : store_add_sample(in->engine->store, in->live->task.id, r->sample);
}

static int64_t ingest_wall_ms(const struct journal_record *r)
{
	return cost_has(&r->cost, FIGURE_WALL) ? (int64_t)cost_get(&r->cost, FIGURE_WALL) : -1;
}

/* Settling may have to wait for the backend's word; the record itself will not be read again. */
static int ingest_end(struct ingest *in, const struct journal_record *r)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	json_map(&w);
	json_key_int(&w, "time_ms", r->time_ms);
	json_key_int(&w, "wall_ms", ingest_wall_ms(r));
	json_key_int(&w, "exit_code", r->exit_code);
	json_key_int(&w, "signal", r->signal);
	json_key_string(&w, "cause", cause_name(r->cause));
	json_key_string(&w, "message", r->message);
	json_key_string(&w, "tail", r->tail);
	json_end(&w);
	struct cost cost = ingest_cost_of(in->live, r);
	int rc = store_set_ended(in->engine->store, in->live->id, in->live->task.id, buf_text(&text), &cost);
	buf_free(&text);
	if (rc == 0)
		rc = engine_warn_unmeasured(in->engine, in->live, &cost);
	if (rc < 0)
		return rc;
	const struct attempt_end reported = {
		.cause = r->cause,
		.message = (char *)r->message,
		.tail = (char *)r->tail,
		.exit_code = r->exit_code,
		.signal = r->signal,
		.time_ms = r->time_ms,
		.wall_ms = ingest_wall_ms(r),
	};
	attempt_update(&in->live->facts,
		       &(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = clock_mono_ms(), .end = &reported});
	return 0;
}

static int ingest_note(struct ingest *in, const struct journal_record *r)
{
	int rc = r->stall ? engine_take_stall(in->engine, in->live, r) : 0;
	if (rc == 0)
		rc = ingest_warm(in, r);
	if (rc == 0 && r->renumbered)
		rc = store_set_renumbered(in->engine->store, in->live->task.id, r->text);
	return rc < 0 ? rc
		      : store_add_history(in->engine->store, in->live->task.id, STORE_RUNNING, r->text, r->time_ms);
}

static int ingest_record_cb(void *ctx, const struct journal_record *r)
{
	struct ingest *in = ctx;
	switch (r->kind) {
	case JOURNAL_START: return ingest_start(in, r);
	case JOURNAL_METRIC: return ingest_metrics(in, r);
	case JOURNAL_SAMPLE: return ingest_sample(in, r);
	case JOURNAL_NOTE: return ingest_note(in, r);
	case JOURNAL_RAN: return engine_take_ran(in->engine, in->live, r->digest);
	case JOURNAL_END: return ingest_end(in, r);
	case JOURNAL_BEFORE: /* for `sluice exec --collect` */
	case JOURNAL_UNKNOWN: break;
	}
	return 0;
}

/* Once for any number of records. */
static int ingest_after(struct engine *engine, struct engine_live *live)
{
	int rc = 0;
	if (live->unwritten) {
		live->unwritten = false;
		if (live->recount)
			rc = progress_recount(engine, live);
		if (rc == 0)
			rc = progress_mean(engine, live);
		if (rc == 0)
			rc = store_set_progress(engine->store, &live->task);
		if (rc == 0)
			rc = engine_judge(engine, live->experiment, live->task.id);
		live->experiment->best_changed |= live->experiment->spec->limit_count > 0;
		if (rc == 0)
			rc = engine_prune(engine, live);
	}
	engine_task_changed(engine, live->experiment->id, live->task.number);
	live->experiment->changed = true;
	return rc;
}

int engine_ingest_record(struct engine *engine, struct engine_live *live, const struct journal_record *record)
{
	struct ingest in = {.engine = engine, .live = live};
	int rc = ingest_record_cb(&in, record);
	return rc < 0 ? rc : ingest_after(engine, live);
}

/* A line that cannot be read may have been a row, or the END. */
static int ingest_note_damage(struct engine *engine, struct engine_live *live, unsigned bad)
{
	live->damaged = true;
	char *text = mem_printf("%u damaged line%s in the journal: metrics may be missing, or how it ended", bad,
				bad == 1 ? "" : "s");
	log_warning("e%" PRId64 "/%" PRId64 ": %s", live->experiment->id, live->task.number, text);
	int rc = store_add_history(engine->store, live->task.id, STORE_RUNNING, text, clock_now_ms());
	free(text);
	return rc;
}

/* Some bytes of the journal, from where it was read up to; ret_used: how many of them were whole lines. */
static int ingest_bytes(struct engine *engine, struct engine_live *live, const char *data, size_t len,
			int64_t *ret_used)
{
	struct ingest in = {.engine = engine, .live = live};
	unsigned bad = 0;
	int rc;
	int64_t used = journal_read(data, len, ingest_record_cb, &in, &bad);
	if (used < 0)
		return (int)used;
	*ret_used = used;
	if (!used)
		return 0;
	if (bad && (rc = ingest_note_damage(engine, live, bad)) < 0)
		return rc;
	live->offset += used;
	engine_note(live, ATTEMPT_EVENT_GROWTH);
	rc = store_set_journal_offset(engine->store, live->id, live->offset);
	return rc < 0 ? rc : ingest_after(engine, live);
}

static bool ingest_has_no_folder(const struct engine *engine, const struct engine_experiment *e)
{
	char *folder = spool_experiment_dir(engine->state_dir, e->id);
	bool away = access(folder, F_OK) < 0 && errno == ENOENT;
	free(folder);
	return away;
}

/* While the folder of its experiment is away, a journal that is not found says nothing. A folder that stays away was
 * removed by hand. */
static bool ingest_is_away(struct engine_live *live, bool away)
{
	if (!away)
		live->away_ms = 0;
	else if (!live->away_ms)
		live->away_ms = clock_mono_ms();
	return away && clock_mono_ms() - live->away_ms < INGEST_AWAY_MS;
}

/* What is new in the attempt's journal, at most one chunk: how many bytes, or a negative errno. */
static ssize_t ingest_read(const struct engine_live *live, char *chunk)
{
	char *path = spool_path(live->attempt_dir, SPOOL_JOURNAL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : pread(fd, chunk, LIMIT_JOURNAL_CHUNK_BYTES, live->offset);
	if (fd >= 0 && n < 0)
		n = -errno;
	if (fd >= 0)
		close(fd);
	if (n < 0 && n != -ENOENT && live->facts.journal != ATTEMPT_JOURNAL_UNKNOWN)
		log_warning("%s cannot be read: %s; waiting for it", path, strerror((int)-n));
	free(path);
	return n;
}

static int ingest_say(struct engine *engine, struct engine_live *live, const char *reason)
{
	free(live->reason);
	live->reason = mem_strdup(reason);
	engine_task_changed(engine, live->experiment->id, live->task.number);
	return store_set_task_reason(engine->store, live->task.id, reason, 0);
}

/* Tries again to find out where it writes. Until that is known its journal is unread, and nothing is decided about it. */
static int ingest_place(struct engine *engine, struct engine_live *live)
{
	struct error why = {0};
	if (engine_place(engine, live, &why) == 0)
		return ingest_say(engine, live, NULL);
	char *reason = mem_printf("%s; its state is not known until this file can be read", why.text);
	int rc = 0;
	if (!live->reason || strcmp(live->reason, reason) != 0) {
		char *text = mem_printf("e%" PRId64 "/%" PRId64 ": %s", live->experiment->id, live->task.number,
					reason);
		log_warning("%s", text);
		engine_notice(engine, "warning", text);
		free(text);
		rc = ingest_say(engine, live, reason);
	}
	free(reason);
	return rc;
}

static int ingest_old_start_cb(void *ctx, const struct journal_record *r)
{
	if (r->kind == JOURNAL_START)
		ingest_beats(ctx, r);
	return 0;
}

/* An earlier daemon read the START, which says whether silence means anything. It is the first record, or nearly so. */
static void ingest_old_start(struct engine_live *live)
{
	char head[INGEST_HEAD_BYTES], *path = spool_path(live->attempt_dir, SPOOL_JOURNAL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	free(path);
	if (n < 0)
		return; /* at the next turn */
	live->start_read = true;
	(void)journal_read(head, (size_t)n, ingest_old_start_cb, live, NULL);
}

/* Attempts whose journal was not found. */
struct ingest_missing {
	VEC(struct engine_live *) live;
};

/* No journal is an empty one (the attempt has not started, or that is not visible yet), unless its folder is away. That is
 * looked at once for each experiment, behind the journals: a folder that goes away while they are read is noticed. */
static void ingest_take_missing(struct engine *engine, struct ingest_missing *missing)
{
	const struct engine_experiment *looked = NULL;
	int64_t now = clock_mono_ms();
	bool away = false;
	for (size_t i = 0; i < missing->live.len; i++) {
		struct engine_live *live = missing->live.at[i];
		if (live->experiment != looked)
			away = ingest_has_no_folder(engine, live->experiment);
		looked = live->experiment;
		bool unknown = ingest_is_away(live, away);
		if (unknown && live->facts.journal != ATTEMPT_JOURNAL_UNKNOWN)
			log_warning("%s is away; waiting for it", live->attempt_dir);
		attempt_update(
			&live->facts,
			&(struct attempt_event){.kind = ATTEMPT_EVENT_JOURNAL,
						.at_ms = now,
						.journal = unknown ? ATTEMPT_JOURNAL_UNKNOWN : ATTEMPT_JOURNAL_READ});
	}
	free(missing->live.at);
}

static int ingest_first_start_cb(void *ctx, const struct journal_record *r)
{
	bool *starts_over = ctx;
	*starts_over |= r->kind == JOURNAL_START && !r->resume;
	return 0;
}

/* Before the START of an attempt that begins from scratch is taken, what was measured before is deleted, in parts. Many may
 * begin at once: they share the time of a turn, in which the first of them get so far. 1: there is more, and the journal
 * has to wait. */
static int ingest_make_way(struct engine *engine, struct engine_live *live, const char *data, size_t len,
			   int64_t *io_hold_ms)
{
	bool starts_over = false;
	if (live->offset || !ingest_has_rows(live))
		return 0;
	(void)journal_read(data, len < INGEST_HEAD_BYTES ? len : INGEST_HEAD_BYTES, ingest_first_start_cb, &starts_over,
			   NULL);
	if (!starts_over || *io_hold_ms <= 0)
		return starts_over;
	int64_t now = clock_mono_ms();
	int rc = ingest_forget(engine, live, now + *io_hold_ms);
	*io_hold_ms -= clock_mono_ms() - now;
	return rc;
}

/* Only bytes that were read are silence: a journal with more in it, or one that cannot be read, may hold an END. */
static int ingest_file(struct engine *engine, struct engine_live *live, char *chunk, int64_t *io_hold_ms,
		       struct ingest_missing *missing)
{
	ssize_t n = live->unsent ? -ENOENT : ingest_read(live, chunk);
	int64_t used = 0;
	if (n == -ENOENT) {
		vec_push(&missing->live, live);
		return 0;
	}
	int rc = n > 0 ? ingest_make_way(engine, live, chunk, (size_t)n, io_hold_ms) : 0;
	bool waits = rc > 0;
	if (n > 0 && rc == 0)
		rc = ingest_bytes(engine, live, chunk, (size_t)n, &used);
	bool more = waits || (n == LIMIT_JOURNAL_CHUNK_BYTES && used > 0);
	if (waits) {
		engine_task_changed(engine, live->experiment->id, live->task.number);
		rc = 0;
	}
	attempt_update(&live->facts,
		       &(struct attempt_event){.kind = ATTEMPT_EVENT_JOURNAL,
					       .at_ms = clock_mono_ms(),
					       .journal = n < 0 ? ATTEMPT_JOURNAL_UNKNOWN
						       : more   ? ATTEMPT_JOURNAL_MORE
								: ATTEMPT_JOURNAL_READ});
	if (rc == 0 && n >= 0 && !live->start_read && live->facts.phase == ATTEMPT_RUNNING)
		ingest_old_start(live);
	if (rc == 0 && more)
		engine_soon(engine);
	return rc;
}

static int ingest_live(struct engine *engine, struct engine_live *live, char *chunk, int64_t *io_hold_ms,
		       struct ingest_missing *missing)
{
	int rc = live->unplaced ? ingest_place(engine, live) : 0;
	return rc < 0 || live->unplaced ? rc : ingest_file(engine, live, chunk, io_hold_ms, missing);
}

int engine_ingest(struct engine *engine)
{
	char *chunk = engine->live.len ? mem_alloc(LIMIT_JOURNAL_CHUNK_BYTES) : NULL;
	struct ingest_missing missing = {0};
	int64_t hold_ms = LIMIT_HOLD_MS;
	int rc = 0;
	/* A stopping condition may stop tasks while we walk, but attempts are only added by prepare. */
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++)
		if (engine->live.at[i]->facts.phase < ATTEMPT_ENDED && engine_has_runner(engine->live.at[i]))
			rc = ingest_live(engine, engine->live.at[i], chunk, &hold_ms, &missing);
	ingest_take_missing(engine, &missing);
	free(chunk);
	return rc;
}
