/* The columns of a task: see query.h. */
#include "store/query.h"

#include "base/json.h"
#include "base/node.h"
#include "base/num.h"
#include "store/json_task.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum row_column {
	ROW_ID,
	ROW_NUMBER,
	ROW_STATE,
	ROW_STARTED,
	ROW_PARAMETERS,
	ROW_BEST,
	ROW_BEST_STEP,
	ROW_LAST,
	ROW_LAST_STEP,
	ROW_EPOCH,
	ROW_ATTEMPT,
	ROW_CAUSE,
	ROW_KIND,
	ROW_NODE,
	ROW_JOB,
	ROW_CPU,
	ROW_GPU,
	ROW_MEMORY,
	ROW_ENERGY,
	ROW_REPEAT,
	ROW_TAGS,
	ROW_NOTES,
	ROW_STAR,
	ROW_BEYOND,
};
static const char sql_rows[] =
	"SELECT id, number, state, started_ms, parameters, best, best_step, last, last_step, "
	"step + from_zero, attempt, json_extract(cause, '$.text'), json_extract(cause, '$.kind'), node, job, "
	"cpu_ms / 1000.0, gpu_ms / 1000.0, json_extract(figures, '$.max_rss_bytes'), energy_j, repeat, "
	"(SELECT group_concat(value, char(10)) FROM json_each(tags)), notes, iif(star, 'yes', 'no'), beyond FROM task "
	"WHERE experiment = ?1 AND number > ?2 AND (?3 < 0 OR state = ?3) ORDER BY number";
static const char sql_head[] = "SELECT parameters, objective FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_names[] = "SELECT name, id FROM metric_name WHERE experiment = ?1 ORDER BY name";
static const char sql_last[] = "SELECT value FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step DESC LIMIT 1";
static const char sql_at_best[] = SQL_METRIC_AT_BEST;
static const char sql_ran[] = "SELECT " TASK_RAN " FROM task t WHERE t.id = ?1";
static const char sql_step[] = "SELECT best_step FROM task WHERE id = ?1";

enum kind {
	KIND_PARAMETER,
	KIND_METRIC, /* where the first objective was best; of a further objective its own best */
	KIND_LAST, /* of a metric */
	KIND_STATE,
	KIND_CAUSE,
	KIND_TIME,
	KIND_BEST,
	KIND_FINAL,
	KIND_NUMBER,
	KIND_TEXT,
	KIND_LIST,
	KIND_STAR,
};

/* What every task has. `started` is a time for sorting; `elapsed` the older name of `time`. */
static const struct {
	const char *name;
	enum kind kind;
	int column;
	enum filter_unit unit;
} known[] = {
	{"number", KIND_NUMBER, ROW_NUMBER, FILTER_PLAIN},   {"state", KIND_STATE, ROW_STATE, FILTER_PLAIN},
	{"cause", KIND_CAUSE, ROW_CAUSE, FILTER_PLAIN},      {"best", KIND_BEST, ROW_BEST, FILTER_PLAIN},
	{"at", KIND_NUMBER, ROW_BEST_STEP, FILTER_PLAIN},    {"last", KIND_FINAL, ROW_LAST, FILTER_PLAIN},
	{"epoch", KIND_NUMBER, ROW_EPOCH, FILTER_PLAIN},     {"time", KIND_TIME, ROW_STATE, FILTER_DURATION},
	{"elapsed", KIND_TIME, ROW_STATE, FILTER_DURATION},  {"started", KIND_NUMBER, ROW_STARTED, FILTER_PLAIN},
	{"energy", KIND_NUMBER, ROW_ENERGY, FILTER_ENERGY},  {"cpu_time", KIND_NUMBER, ROW_CPU, FILTER_DURATION},
	{"gpu_time", KIND_NUMBER, ROW_GPU, FILTER_DURATION}, {"memory", KIND_NUMBER, ROW_MEMORY, FILTER_BYTES},
	{"attempt", KIND_NUMBER, ROW_ATTEMPT, FILTER_PLAIN}, {"repeat", KIND_NUMBER, ROW_REPEAT, FILTER_PLAIN},
	{"node", KIND_TEXT, ROW_NODE, FILTER_PLAIN},         {"job", KIND_TEXT, ROW_JOB, FILTER_PLAIN},
	{"tags", KIND_LIST, ROW_TAGS, FILTER_PLAIN},         {"notes", KIND_TEXT, ROW_NOTES, FILTER_PLAIN},
	{"beyond", KIND_TEXT, ROW_BEYOND, FILTER_PLAIN},     {"star", KIND_STAR, ROW_STAR, FILTER_PLAIN},
};

struct column {
	char *name; /* as it is asked for */
	const char *of; /* the parameter's or metric's, within `name` */
	enum kind kind;
	int at; /* in the row */
	int64_t metric;
	const struct node *objective; /* a further one, which has a best value of its own; NULL */
};

struct query {
	struct store *store;
	int64_t experiment;
	sqlite3_stmt *row;
	VEC(struct column) columns;
	VEC(struct filter_column) names;
	struct node *objective; /* of the experiment */
	int64_t first; /* the metric of its first objective; 0: none reported it */
	struct node *parameters; /* of the row; NULL: not parsed yet */
	char text[NUM_REAL_CHARS];
	int failed;
};

static const char *query_state(size_t i)
{
	return i < STORE_STATE_COUNT ? store_state_name((enum store_state)i) : NULL;
}

static const char *query_star(size_t i)
{
	static const char *const words[] = {"yes", "no"};
	return i < COUNT_OF(words) ? words[i] : NULL;
}

static void query_add_column(struct query *query, const char *prefix, const char *name, struct column column,
			     enum filter_unit unit)
{
	column.name = mem_printf("%s%s", prefix, name);
	column.of = column.name + strlen(prefix);
	vec_push(&query->columns, column);
	vec_push(&query->names,
		 ((struct filter_column){column.name, unit,
					 column.kind == KIND_STATE          ? query_state
						 : column.kind == KIND_STAR ? query_star
									    : NULL}));
}

/* The first of several columns of one name is found: a parameter goes before the rest. */
static void query_add_known(struct query *query, const struct node *parameters)
{
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *name = node_get_string(parameters->items[i], "name");
		if (name)
			query_add_column(query, "", name, (struct column){.kind = KIND_PARAMETER}, FILTER_PLAIN);
	}
	for (size_t i = 0; i < COUNT_OF(known); i++)
		query_add_column(query, "", known[i].name,
				 (struct column){.kind = known[i].kind, .at = known[i].column}, known[i].unit);
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *name = node_get_string(parameters->items[i], "name");
		if (name)
			query_add_column(query, "p.", name, (struct column){.kind = KIND_PARAMETER}, FILTER_PLAIN);
	}
}

static const struct node *query_find_further(const struct query *query, const char *metric)
{
	for (size_t i = 1; query->objective && i < query->objective->count; i++) {
		const char *name = node_get_string(query->objective->items[i], "metric");
		if (name && !strcmp(name, metric))
			return query->objective->items[i];
	}
	return NULL;
}

static int query_add_metrics(struct query *query, int64_t experiment, const char *objective)
{
	sqlite3_stmt *row = store_bind(query->store, sql_names, "i", experiment);
	int rc;
	while ((rc = store_step(query->store, row)) > 0) {
		const char *name = row_text(row, 0);
		bool first = objective && !strcmp(name, objective);
		struct column best = {.kind = first ? KIND_BEST : KIND_METRIC, .metric = row_int(row, 1)};
		best.objective = first ? NULL : query_find_further(query, name);
		if (first)
			query->first = row_int(row, 1);
		struct column last = {.kind = KIND_LAST, .metric = row_int(row, 1)};
		query_add_column(query, "", name, best, FILTER_PLAIN);
		query_add_column(query, "m.", name, best, FILTER_PLAIN);
		query_add_column(query, "last.", name, last, FILTER_PLAIN);
	}
	return rc;
}

const char *query_objective(const struct query *query, size_t index)
{
	const struct node *list = query->objective;
	return list && index < list->count ? node_get_string(list->items[index], "metric") : NULL;
}

/* Time and energy are measured: as further objectives they have values without a metric of their name. */
static void query_mark_measured(struct query *query)
{
	size_t metric;
	for (size_t i = 0; i < query->columns.len; i++) {
		struct column *column = &query->columns.at[i];
		bool measured = !strcmp(column->name, "time") || !strcmp(column->name, "energy");
		if (measured && column->kind != KIND_PARAMETER &&
		    query_find_metric(query, column->name, &metric, NULL) < 0)
			column->objective = query_find_further(query, column->name);
	}
}

int query_new(struct store *store, int64_t experiment, struct query **ret)
{
	sqlite3_stmt *row = store_bind(store, sql_head, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	struct query *query = mem_alloc(sizeof(*query));
	struct node *parameters = NULL;
	const char *text = row_text(row, 0), *goals = row_text(row, 1);
	query->store = store;
	query->experiment = experiment;
	if (text && node_parse_json(text, strlen(text), &parameters, NULL) < 0)
		parameters = NULL;
	if (goals && node_parse_json(goals, strlen(goals), &query->objective, NULL) < 0)
		query->objective = NULL;
	store_end(row);
	query_add_known(query, parameters);
	rc = query_add_metrics(query, experiment, query_objective(query, 0));
	query_mark_measured(query);
	node_free(parameters);
	if (rc < 0)
		query_free(query);
	else
		*ret = query;
	return rc < 0 ? rc : 0;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	for (size_t i = 0; i < query->columns.len; i++)
		free(query->columns.at[i].name);
	free(query->columns.at);
	free(query->names.at);
	node_free(query->parameters);
	node_free(query->objective);
	free(query);
}

int query_find(const struct query *query, const char *name, size_t *ret, struct error *err)
{
	return filter_find_column(query->names.at, query->names.len, name, ret, err);
}

int query_find_exact(const struct query *query, const char *name, size_t *ret, struct error *err)
{
	size_t found = query->columns.len;
	for (size_t i = 0; i < query->columns.len; i++) {
		const struct column *column = &query->columns.at[i];
		if (strcmp(column->name, name) != 0)
			continue;
		bool bare = column->of == column->name;
		bool of_name = column->kind == KIND_PARAMETER || column->metric;
		if (!bare || !of_name) {
			found = i;
			break;
		}
		if (found == query->columns.len)
			found = i;
	}
	if (found < query->columns.len) {
		*ret = found;
		return 0;
	}
	int rc = query_find(query, name, ret, err);
	return rc < 0 ? rc
		      : errorf(err, -EINVAL, "there is no column '%.60s'; did you mean '%.60s'?", name,
			       query->columns.at[*ret].name);
}

int query_find_metric(const struct query *query, const char *name, size_t *ret, struct error *err)
{
	for (size_t i = 0; i < query->columns.len; i++) {
		const struct column *column = &query->columns.at[i];
		if ((column->metric || column->objective) && !strcmp(column->name, name)) {
			*ret = i;
			return 0;
		}
	}
	return errorf(err, -EINVAL, "there is no metric '%.60s' in this experiment", name);
}

int query_parse(const struct query *query, const char *text, struct filter **ret, struct error *err)
{
	return filter_parse(text, query->names.at, query->names.len, ret, err);
}

bool query_is_best(const struct query *query, size_t column)
{
	return query->columns.at[column].kind == KIND_BEST;
}

bool query_is_beyond(const struct query *query)
{
	return !row_is_null(query->row, ROW_BEYOND);
}

bool query_maximises(const struct query *query)
{
	const struct node *list = query->objective;
	const char *goal = list && list->count ? node_get_string(list->items[0], "goal") : NULL;
	return goal && !strcmp(goal, "max");
}

void query_begin(struct query *query, int64_t experiment, int64_t after, int64_t state)
{
	query->failed = 0;
	query->row = store_bind(query->store, sql_rows, "iii", experiment, after, state);
}

int query_next(struct query *query, int64_t *ret_number)
{
	node_free(query->parameters);
	query->parameters = NULL;
	int rc = store_step(query->store, query->row);
	if (rc > 0)
		*ret_number = row_int(query->row, ROW_NUMBER);
	return rc;
}

int query_end(struct query *query)
{
	store_end(query->row);
	return query->failed;
}

static struct filter_value query_none(void)
{
	return (struct filter_value){.kind = FILTER_NONE};
}

static struct filter_value query_number(double value)
{
	return (struct filter_value){.kind = FILTER_NUMBER, .number = value};
}

static struct filter_value query_text(const char *value)
{
	return (struct filter_value){.kind = value ? FILTER_TEXT : FILTER_NONE, .text = value};
}

static struct filter_value query_list(const char *lines)
{
	struct filter_value value = query_text(lines);
	value.list = true;
	return value;
}

static const struct node *query_parameters_of(struct query *query)
{
	const char *json = row_text(query->row, ROW_PARAMETERS);
	if (!query->parameters && (!json || node_parse_json(json, strlen(json), &query->parameters, NULL) < 0))
		query->parameters = node_new(NODE_MAP);
	return query->parameters;
}

const char *query_parameters(const struct query *query)
{
	const char *json = row_text(query->row, ROW_PARAMETERS);
	return json ? json : "";
}

static struct filter_value query_value_of_node(const struct node *node)
{
	if (!node || node->type == NODE_NULL)
		return query_none();
	if (node->type == NODE_BOOL)
		return query_text(node->boolean ? "true" : "false");
	if (node_is_number(node))
		return query_number(node->real);
	return query_text(node->string);
}

/* A point: a NULL value with a step is NaN. */
static struct filter_value query_point(sqlite3_stmt *row, int value, int step)
{
	return row_is_null(row, step) ? query_none() : query_number(row_real(row, value));
}

static struct filter_value query_read_value(struct query *query, sqlite3_stmt *row)
{
	int rc = store_step(query->store, row);
	struct filter_value value = rc > 0 ? query_number(row_real(row, 0)) : query_none();
	store_end(row);
	if (rc < 0 && !query->failed)
		query->failed = rc;
	return value;
}

static struct filter_value query_metric_last(struct query *query, int64_t task, int64_t name)
{
	return query_read_value(query, store_bind(query->store, sql_last, "ii", task, name));
}

/* Where the first objective was best, at this step. */
static struct filter_value query_metric_at_best(struct query *query, int64_t task, int64_t name, int64_t step)
{
	return query_read_value(query, store_bind(query->store, sql_at_best, "iiii", task, name, step, query->first));
}

static struct filter_value query_time_of(struct query *query)
{
	sqlite3_stmt *row = store_bind(query->store, sql_ran, "i", row_int(query->row, ROW_ID));
	int rc = store_step(query->store, row);
	double elapsed_s = rc > 0 ? json_elapsed_s((enum store_state)row_int(query->row, ROW_STATE), row, 0) : NAN;
	store_end(row);
	if (rc < 0 && !query->failed)
		query->failed = rc;
	return isnan(elapsed_s) ? query_none() : query_number(elapsed_s);
}

/* What ranks a task in a further objective. */
static struct filter_value query_objective_of(struct query *query, int64_t task, const struct column *column)
{
	double value = NAN;
	int64_t of;
	enum store_take take = store_objective_take(column->objective, &of);
	int rc = store_read_objective(query->store, query->experiment, task, column->of, take, of, &value);
	if (rc < 0 && !query->failed)
		query->failed = rc;
	return isnan(value) ? query_none() : query_number(value);
}

struct filter_value query_value(struct query *query, size_t at)
{
	const struct column *column = &query->columns.at[at];
	sqlite3_stmt *row = query->row;
	switch (column->kind) {
	case KIND_PARAMETER: return query_value_of_node(node_get(query_parameters_of(query), column->of));
	case KIND_METRIC:
		if (column->objective)
			return query_objective_of(query, row_int(row, ROW_ID), column);
		return row_is_null(row, ROW_BEST_STEP)
			? query_none()
			: query_metric_at_best(query, row_int(row, ROW_ID), column->metric,
					       row_int(row, ROW_BEST_STEP));
	case KIND_LAST: return query_metric_last(query, row_int(row, ROW_ID), column->metric);
	case KIND_STATE: return query_text(store_state_name((enum store_state)row_int(row, ROW_STATE)));
	case KIND_CAUSE: return query_text(row_text(row, ROW_CAUSE));
	case KIND_TIME: return query_time_of(query);
	case KIND_BEST:
		/* Where every value was NaN, so is the best. */
		return query_point(row, ROW_BEST, row_is_null(row, ROW_BEST_STEP) ? ROW_LAST_STEP : ROW_BEST_STEP);
	case KIND_FINAL: return query_point(row, ROW_LAST, ROW_LAST_STEP);
	case KIND_NUMBER: return row_is_null(row, column->at) ? query_none() : query_number(row_real(row, column->at));
	case KIND_STAR:
	case KIND_TEXT: return query_text(row_text(row, column->at));
	case KIND_LIST: return query_list(row_text(row, column->at));
	}
	return query_none();
}

struct filter_value query_row_value(void *ctx, size_t column)
{
	return query_value(ctx, column);
}

static bool query_stands_in(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

bool query_has_word(void *ctx, const char *word)
{
	struct query *query = ctx;
	sqlite3_stmt *row = query->row;
	uint64_t asked;
	if (*word == '#' && num_parse_unsigned(word + 1, strlen(word + 1), INT64_MAX, &asked) == 0)
		return (int64_t)asked == row_int(row, ROW_NUMBER);
	if (query_stands_in(store_state_name((enum store_state)row_int(row, ROW_STATE)), word) ||
	    query_stands_in(row_text(row, ROW_CAUSE), word) || query_stands_in(row_text(row, ROW_KIND), word) ||
	    query_stands_in(row_text(row, ROW_NODE), word) || query_stands_in(row_text(row, ROW_JOB), word) ||
	    query_stands_in(row_text(row, ROW_TAGS), word) || query_stands_in(row_text(row, ROW_NOTES), word))
		return true;
	const struct node *parameters = query_parameters_of(query);
	for (size_t i = 0; i < parameters->count; i++) {
		struct filter_value value = query_value_of_node(parameters->items[i]);
		if (value.kind == FILTER_NUMBER)
			num_format_real(value.number, query->text);
		if (value.kind != FILTER_NONE &&
		    query_stands_in(value.kind == FILTER_NUMBER ? query->text : value.text, word))
			return true;
	}
	return false;
}

int query_best_step(struct query *query, int64_t task, int64_t *ret)
{
	sqlite3_stmt *row = store_bind(query->store, sql_step, "i", task);
	int rc = store_one(query->store, row);
	if (rc < 0)
		return rc;
	*ret = row_int_or(row, 0, -1);
	store_end(row);
	return 0;
}

static void query_put_value(const char *key, struct filter_value value, struct json *out)
{
	if (value.kind == FILTER_NONE)
		json_key_null(out, key);
	else
		json_key_real(out, key, value.number);
}

int query_put_metric(struct query *query, size_t at, int64_t task, int64_t best_step, struct json *out)
{
	const struct column *column = &query->columns.at[at];
	struct filter_value best;
	int64_t step = best_step, of;
	int rc = 0;
	query->failed = 0;
	if (column->objective) {
		best = query_objective_of(query, task, column);
		rc = store_read_objective_step(query->store, query->experiment, task, column->of,
					       store_objective_take(column->objective, &of), &step);
	} else {
		best = step < 0 ? query_none() : query_metric_at_best(query, task, column->metric, step);
	}
	struct filter_value last = column->metric ? query_metric_last(query, task, column->metric) : best;
	if (!column->metric)
		step = -1; /* measured once, over the whole task */
	json_key(out, column->of);
	json_map(out);
	query_put_value("best", best, out);
	query_put_value("last", last, out);
	query_put_value("epoch", step < 0 ? query_none() : query_number((double)step), out);
	json_end(out);
	return rc < 0 ? rc : query->failed;
}

char *query_take_name(const char *names, size_t *ret_len)
{
	const char *end = *names == '"' ? strchr(names + 1, '"') : NULL;
	while (end && end[1] && end[1] != ',')
		end = strchr(end + 1, '"');
	*ret_len = end ? (size_t)(end + 1 - names) : strcspn(names, ",");
	return end ? mem_copy(names + 1, *ret_len - 2) : mem_copy(names, *ret_len);
}

/* What a chart shows of it: parameters as they are in JSON, numbers, words. */
void query_put_cell(struct query *query, size_t at, struct json *out)
{
	const struct column *column = &query->columns.at[at];
	const struct node *given = column->kind == KIND_PARAMETER ? node_get(query_parameters_of(query), column->of)
								  : NULL;
	if (given) {
		node_write_json(given, out);
		return;
	}
	struct filter_value value = query_value(query, at);
	if (value.kind == FILTER_NUMBER)
		json_put_real(out, value.number);
	else if (value.kind == FILTER_TEXT)
		json_put_string(out, value.text);
	else
		json_put_null(out);
}
