/* Some columns of all tasks of an experiment, for charts with a point a task: see json.h. A row of JSON for each task,
 * some of them a turn. */
#include "store/json.h"
#include "store/query.h"
#include "store/rows.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of an objective that no task has reported yet: null in every row. */
#define COLUMN_NONE SIZE_MAX

struct columns {
	int64_t experiment, state, after, passed, one_of, most;
	bool picking; /* which tasks are in the sample, before any is written */
	bool sampled;
	VEC(int64_t) picked; /* by number */
	size_t at; /* in `picked` */
	size_t best_column;
	int64_t best; /* the task; 0: none yet */
	double best_value;
	struct query *query;
	struct filter *filter;
	VEC(size_t) wanted;
	VEC(char *) names; /* as they were asked for */
	struct json json;
};

static void columns_free(void *ctx)
{
	struct columns *columns = ctx;
	query_free(columns->query);
	filter_free(columns->filter);
	for (size_t i = 0; i < columns->names.len; i++)
		free(columns->names.at[i]);
	free(columns->names.at);
	free(columns->wanted.at);
	free(columns->picked.at);
	free(columns);
}

/* Is the task in a sample of one in so many? By a hash: every n-th task may have the same value of a choice that
 * alternates. What is in a sample is in one of twice as many, too. */
static bool columns_in_sample(int64_t number, int64_t one_of)
{
	uint64_t hash = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (hash >> 32) % (uint64_t)one_of == 0;
}

static void columns_note_best(struct columns *columns, int64_t number)
{
	struct filter_value value = query_value(columns->query, columns->best_column);
	if (value.kind != FILTER_NUMBER || isnan(value.number))
		return;
	double than = columns->best_value;
	if (columns->best && (query_maximises(columns->query) ? value.number <= than : value.number >= than))
		return;
	columns->best = number;
	columns->best_value = value.number;
}

/* Takes a task that passes; of too many half are let go. */
static void columns_pick(struct columns *columns, int64_t number)
{
	columns_note_best(columns, number);
	if (!columns_in_sample(number, columns->one_of))
		return;
	vec_push(&columns->picked, number);
	while ((int64_t)columns->picked.len > columns->most) {
		size_t kept = 0;
		columns->one_of *= 2;
		for (size_t i = 0; i < columns->picked.len; i++)
			if (columns_in_sample(columns->picked.at[i], columns->one_of))
				columns->picked.at[kept++] = columns->picked.at[i];
		columns->picked.len = kept;
	}
}

static void columns_begin_rows(struct columns *columns)
{
	/* The best task is what people look for in a chart. */
	if (columns->best && !columns_in_sample(columns->best, columns->one_of)) {
		vec_push(&columns->picked, columns->best);
		for (size_t i = columns->picked.len - 1; i && columns->picked.at[i - 1] > columns->best; i--) {
			columns->picked.at[i] = columns->picked.at[i - 1];
			columns->picked.at[i - 1] = columns->best;
		}
	}
	columns->picking = false;
	columns->after = 0;
}

static void columns_put_head(struct columns *columns)
{
	char id[24];
	struct json *out = &columns->json;
	snprintf(id, sizeof(id), "e%" PRId64, columns->experiment);
	json_map(out);
	json_key_string(out, "experiment", id);
	json_key(out, "columns");
	json_list(out);
	for (size_t i = 0; i < columns->names.len; i++)
		json_put_string(out, columns->names.at[i]);
	json_end(out);
	json_key_int(out, "one_of", columns->one_of);
	json_key(out, "rows");
	json_list(out);
}

static void columns_put_row(struct columns *columns, int64_t number)
{
	struct json *out = &columns->json;
	json_list(out);
	json_put_int(out, number);
	for (size_t i = 0; i < columns->wanted.len; i++)
		if (columns->wanted.at[i] == COLUMN_NONE)
			json_put_null(out);
		else
			query_put_cell(columns->query, columns->wanted.at[i], out);
	json_end(out);
}

static void columns_take(struct columns *columns, int64_t number)
{
	struct filter_row row = {query_row_value, query_has_word, columns->query};
	if (columns->sampled && !columns->picking) {
		/* A task that was removed since is passed over. */
		while (columns->at < columns->picked.len && columns->picked.at[columns->at] < number)
			columns->at++;
		if (columns->at < columns->picked.len && columns->picked.at[columns->at] == number)
			columns_put_row(columns, number);
	} else if (filter_holds(columns->filter, &row)) {
		columns->passed++;
		if (columns->picking)
			columns_pick(columns, number);
		else
			columns_put_row(columns, number);
	}
}

static int columns_make(void *ctx, struct buf *out)
{
	struct columns *columns = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS, number;
	int rc;
	columns->json.out = out;
	if (!columns->picking && !columns->json.depth)
		columns_put_head(columns);
	query_begin(columns->query, columns->experiment, columns->after, columns->state);
	while ((rc = query_next(columns->query, &number)) > 0) {
		columns->after = number;
		columns_take(columns, number);
		if (clock_mono_ms() >= until)
			break;
	}
	int failed = query_end(columns->query);
	if (rc != 0 || failed < 0)
		return failed < 0 ? failed : rc;
	if (columns->picking) {
		columns_begin_rows(columns);
		return 1;
	}
	json_end(&columns->json);
	json_key_int(&columns->json, "total", columns->passed);
	json_end(&columns->json);
	return 0;
}

/* A metric that no task has yet is a column without values: a chart of an objective may be asked for at any time. */
static int columns_find(const struct columns *columns, const char *name, size_t *ret, struct error *err)
{
	int rc = query_find_exact(columns->query, name, ret, err);
	if (rc == 0 || (strncmp(name, "m.", 2) != 0 && strncmp(name, "last.", 5) != 0))
		return rc;
	/* Time and energy as further objectives. */
	if (*name != 'm' || query_find_metric(columns->query, name + 2, ret, NULL) < 0)
		*ret = COLUMN_NONE;
	return 0;
}

static int columns_read_names(struct columns *columns, const char *names, struct error *err)
{
	while (names && *names) {
		size_t len, column;
		char *name = query_take_name(names, &len);
		vec_push(&columns->names, name);
		if (columns->names.len > LIMIT_COLUMNS)
			return errorf(err, -EINVAL, "?of= names more than %d columns", LIMIT_COLUMNS);
		int rc = columns_find(columns, name, &column, err);
		if (rc < 0)
			return rc;
		vec_push(&columns->wanted, column);
		names += len + (names[len] == ',');
	}
	return 0;
}

int store_json_columns(struct store *store, int64_t experiment, const struct store_columns *asked, struct pieces *ret,
		       struct error *err)
{
	struct columns *columns = mem_alloc(sizeof(*columns));
	int64_t last = 0;
	*columns = (struct columns){.experiment = experiment, .one_of = 1, .most = asked->most};
	columns->state = asked->state ? store_state_find(asked->state) : -1;
	columns->json = json_to(NULL);
	int rc = query_new(store, experiment, &columns->query);
	if (rc == 0)
		rc = columns_read_names(columns, asked->of, err);
	if (rc == 0)
		rc = query_parse(columns->query, asked->filter ? asked->filter : "", &columns->filter, err);
	if (rc == 0)
		rc = query_find_exact(columns->query, "best", &columns->best_column, err);
	if (rc == 0)
		rc = store_last_number(store, experiment, &last);
	if (rc < 0) {
		columns_free(columns);
		return rc;
	}
	columns->sampled = columns->picking = last > asked->most;
	*ret = (struct pieces){columns_make, columns_free, columns};
	return 0;
}
