/* The journal's reader: whole lines out of any bytes. It trusts nothing: a journal may be cut short, be
 * damaged, come from a newer sluice, or have been written by another program. */
#include "journal/journal.h"

#include "base/limits.h"
#include "journal/kinds.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <zlib.h>

const char *const journal_kind_names[] = {
	[JOURNAL_START] = "start",   [JOURNAL_METRIC] = "metric", [JOURNAL_SAMPLE] = "sample", [JOURNAL_NOTE] = "note",
	[JOURNAL_BEFORE] = "before", [JOURNAL_RAN] = "ran",       [JOURNAL_END] = "end",
};

_Static_assert(COUNT_OF(journal_kind_names) == JOURNAL_UNKNOWN, "a kind has no name");

typedef VEC(struct metric) journal_metrics;

static enum journal_kind journal_kind_find(const char *name)
{
	enum journal_kind kind = 0;
	while (kind < JOURNAL_UNKNOWN && strcmp(journal_kind_names[kind], name) != 0)
		kind++;
	return kind;
}

static int64_t journal_get_int(const json_t *map, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(map, key);
	return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

static int journal_get_small(const json_t *map, const char *key, int fallback)
{
	int64_t value = journal_get_int(map, key, fallback);
	return value >= -1 && value <= 0xffff ? (int)value : fallback;
}

static const char *journal_get_text(const json_t *map, const char *key)
{
	return json_string_value(json_object_get(map, key));
}

/* A number, or one of the words JSON has no number for. */
static bool journal_get_real(const json_t *value, double *ret)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

	if (json_is_number(value)) {
		*ret = json_number_value(value);
		return true;
	}
	for (size_t i = 0; json_is_string(value) && i < COUNT_OF(words); i++) {
		if (strcmp(json_string_value(value), words[i].word) == 0) {
			*ret = words[i].value;
			return true;
		}
	}
	return false;
}

static int journal_read_metrics(const json_t *map, journal_metrics *metrics, struct journal_record *record)
{
	json_t *values = json_object_get(map, "values"), *value;
	const char *name;

	if (!json_is_integer(json_object_get(map, "step")) || !json_is_object(values))
		return -EBADMSG;
	record->step = journal_get_int(map, "step", 0);
	record->step_name = journal_get_text(map, "step_name");
	if (!record->step_name)
		record->step_name = "step";
	record->source = journal_get_text(map, "source");
	record->earlier = json_is_true(json_object_get(map, "earlier"));
	record->has_epoch = journal_get_real(json_object_get(map, "epoch"), &record->epoch);
	record->epochs = journal_get_int(map, "epochs", 0);
	metrics->len = 0;
	json_object_foreach(values, name, value) {
		struct metric metric = {.name = name};
		if (metrics->len < LIMIT_METRIC_COLUMNS && journal_get_real(value, &metric.value))
			vec_push(metrics, metric);
	}
	record->metrics = metrics->at;
	record->metric_count = metrics->len;
	return 0;
}

static void journal_read_cost(const json_t *map, struct cost *cost)
{
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		double value;
		if (journal_get_real(json_object_get(map, cost_figures[f].stored), &value))
			cost_set(cost, f, value);
	}
	cost->source = journal_get_text(map, "energy_source");
}

static void journal_read_figures(const json_t *map, const struct sample_figure *figures, size_t count, double *ret)
{
	for (size_t i = 0; i < count; i++) {
		double value;
		if (journal_get_real(json_object_get(map, figures[i].key), &value) && value >= 0 && value <= COST_MOST)
			ret[i] = value;
	}
}

/* What the processes and GPUs did at that moment; NULL where the record does not say. */
static const struct sample *journal_read_sample(const json_t *map, int64_t time_ms, struct sample *ret)
{
	const json_t *host = json_object_get(map, "host"), *gpus = json_object_get(map, "gpus");
	if (!json_is_object(host))
		return NULL;
	sample_init(ret, time_ms, json_array_size(gpus));
	journal_read_figures(host, sample_host_figures, SAMPLE_HOST_COUNT, ret->host);
	for (size_t g = 0; g < ret->gpu_count; g++)
		journal_read_figures(json_array_get(gpus, g), sample_gpu_figures, SAMPLE_GPU_COUNT, ret->gpu[g]);
	return ret;
}

static void journal_read_warm(const json_t *map, struct journal_record *record)
{
	const json_t *warm = json_object_get(map, "warm");
	record->has_warm = json_is_boolean(warm);
	record->warm = json_is_true(warm);
}

/* What a record points to while its callback runs. */
struct journal_space {
	journal_metrics metrics;
	struct sample sample;
};

/* 0, or -EBADMSG when the record lacks what its kind cannot do without. */
static int journal_read_map(const json_t *map, struct journal_space *space, struct journal_record *record)
{
	const char *kind = journal_get_text(map, "kind");
	if (!kind)
		return -EBADMSG;
	*record = (struct journal_record){
		.kind = journal_kind_find(kind),
		.time_ms = journal_get_int(map, "time_ms", 0),
		.exit_code = -1,
	};
	switch (record->kind) {
	case JOURNAL_START:
		record->host = journal_get_text(map, "host");
		record->version = journal_get_text(map, "version");
		record->gpus = journal_get_text(map, "gpus");
		record->job = journal_get_text(map, "job");
		record->pid = journal_get_int(map, "pid", 0);
		record->pgid = journal_get_int(map, "pgid", 0);
		record->pid_start = (uint64_t)journal_get_int(map, "pid_start", 0);
		record->boot_id = journal_get_text(map, "boot_id");
		record->resume = json_is_true(json_object_get(map, "resume"));
		record->checkpoint = json_is_true(json_object_get(map, "checkpoint"));
		record->beat_ms = journal_get_int(map, "beat_ms", 0);
		journal_read_warm(map, record);
		return 0;
	case JOURNAL_METRIC: return journal_read_metrics(map, &space->metrics, record);
	case JOURNAL_SAMPLE:
		journal_read_cost(map, &record->cost);
		record->sample = journal_read_sample(map, record->time_ms, &space->sample);
		return 0;
	case JOURNAL_NOTE:
		record->text = journal_get_text(map, "text");
		record->stall = journal_get_text(map, "stall");
		record->renumbered = json_is_true(json_object_get(map, "renumbered"));
		journal_read_warm(map, record);
		return record->text ? 0 : -EBADMSG;
	case JOURNAL_BEFORE:
		record->path = journal_get_text(map, "path");
		record->size = journal_get_int(map, "size", 0);
		record->mtime_ns = journal_get_int(map, "mtime_ns", 0);
		record->inode = (uint64_t)journal_get_int(map, "inode", 0);
		record->sum = journal_get_int(map, "sum", -1);
		return record->path ? 0 : -EBADMSG;
	case JOURNAL_RAN: record->digest = journal_get_text(map, "digest"); return record->digest ? 0 : -EBADMSG;
	case JOURNAL_END:
		journal_read_cost(map, &record->cost);
		record->exit_code = journal_get_small(map, "exit_code", -1);
		record->signal = journal_get_small(map, "signal", 0);
		if (cause_parse(journal_get_text(map, "cause"), &record->cause) < 0)
			record->cause = CAUSE_UNKNOWN; /* the end itself is true: losing it would run the task again */
		record->message = journal_get_text(map, "message");
		record->tail = journal_get_text(map, "tail");
		return record->cause == CAUSE_NONE ? -EBADMSG : 0;
	case JOURNAL_UNKNOWN: break;
	}
	return 0;
}

/* Eight hex digits as the writer prints them, a space, and a text with that sum. */
static bool journal_sum_fits(const char *line, size_t len)
{
	char sum[JOURNAL_PREFIX_BYTES + 1];
	if (len < JOURNAL_PREFIX_BYTES)
		return false;
	snprintf(sum, sizeof(sum), JOURNAL_PREFIX_FORMAT,
		 crc32(0, (const unsigned char *)line + JOURNAL_PREFIX_BYTES, (unsigned)(len - JOURNAL_PREFIX_BYTES)));
	return memcmp(sum, line, JOURNAL_PREFIX_BYTES) == 0;
}

/* One line without its newline. 0, -EBADMSG when it is damaged, or the callback's negative value in
 * *stop. */
static int journal_read_line(const char *line, size_t len, struct journal_space *space, journal_record_f callback,
			     void *ctx, int *stop)
{
	struct journal_record record;
	json_error_t ignored;

	if (len > LIMIT_JOURNAL_RECORD_BYTES || !journal_sum_fits(line, len))
		return -EBADMSG;
	json_t *map = json_loadb(line + JOURNAL_PREFIX_BYTES, len - JOURNAL_PREFIX_BYTES, 0, &ignored);
	int rc = map ? journal_read_map(map, space, &record) : -EBADMSG;
	if (rc == 0)
		*stop = callback(ctx, &record);
	json_decref(map);
	return rc;
}

int64_t journal_read(const char *chunk, size_t len, journal_record_f record, void *ctx, unsigned *bad)
{
	struct journal_space space = {0};
	size_t used = 0;
	unsigned damaged = 0;
	int stop = 0;

	while (used < len && stop >= 0) {
		const char *line = chunk + used;
		const char *end = memchr(line, '\n', len - used);
		if (!end) {
			if (len - used > LIMIT_JOURNAL_RECORD_BYTES) {
				used = len;
				damaged++;
			}
			break;
		}
		used += (size_t)(end - line) + 1;
		if (end != line && journal_read_line(line, (size_t)(end - line), &space, record, ctx, &stop) < 0)
			damaged++;
	}
	free(space.metrics.at);
	if (bad)
		*bad += damaged;
	return stop < 0 ? stop : (int64_t)used;
}
