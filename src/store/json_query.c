/* A page of the tasks of an experiment in any order, through any filter: see json.h. Every task is looked at, some of
 * them a turn; only the keys of one page are kept. */
#include "store/configuration.h"
#include "store/json_task.h"
#include "store/query.h"
#include "store/rows.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

/* With repeats `best` goes by the mean of the configuration, in the order of SQL_CONFIGURATIONS. */
static const char sql_means[] = "WITH c AS MATERIALIZED (" SQL_MEANS ") SELECT c.p, c.m, " CONFIGURATION_SPREAD
				", c.n, c.o, c.b, c.f FROM task t JOIN c ON c.p = t.parameters "
				"WHERE t.experiment = ?1 GROUP BY c.p ORDER BY c.p COLLATE BINARY";
static const char sql_row[] = TASK_SELECT " FROM task t WHERE t.experiment = ?1 AND t.number = ?2";

/* A configuration that is run several times. */
struct mean {
	char *parameters;
	double value, spread; /* NAN: none */
	int64_t count, open, bad; /* tasks with a value, that have not ended, that ended badly */
	int64_t first; /* its first task */
};

/* The place of a task in the order. */
struct place {
	int64_t number;
	const struct mean *mean; /* NULL: nothing is repeated */
	double key; /* the smaller one comes first */
	char *text; /* or this, in the order of the alphabet */
	bool none; /* comes last in either direction */
};

struct task_page {
	struct store *store;
	int64_t experiment, state, limit, scanned, total;
	struct query *query;
	struct filter *filter;
	size_t sort;
	double sign; /* -1: the other way round */
	bool repeated, by_mean;
	VEC(struct mean) means; /* of the configurations, by their parameters */
	struct place after; /* the last task of the page before; number 0: there is none */
	VEC(struct place) found; /* the first limit + 1 behind it, in order */
	size_t written;
	bool all; /* every task was looked at */
	struct json json;
	VEC(size_t) metrics; /* columns of "values" in each item */
};

static void query_page_free(void *ctx)
{
	struct task_page *page = ctx;
	query_free(page->query);
	filter_free(page->filter);
	for (size_t i = 0; i < page->found.len; i++)
		free(page->found.at[i].text);
	free(page->found.at);
	for (size_t i = 0; i < page->means.len; i++)
		free(page->means.at[i].parameters);
	free(page->means.at);
	free(page->metrics.at);
	free(page->after.text);
	free(page);
}

/* Those that are not complete come after the others, because the mean of the lucky half would lead. */
static int mean_rank(const struct mean *mean)
{
	return (mean->open ? 2 : 0) + (mean->bad ? 1 : 0);
}

static int query_compare_places(const struct task_page *page, const struct place *a, const struct place *b)
{
	int way = 0;
	if (a->none != b->none)
		return a->none ? 1 : -1;
	bool means = page->by_mean && a->mean && b->mean;
	if (means && (way = mean_rank(a->mean) - mean_rank(b->mean)))
		return way;
	if (!a->none && !a->text != !b->text)
		return a->text ? 1 : -1;
	if (!a->none && a->text)
		way = strcasecmp(a->text, b->text) * (page->sign < 0 ? -1 : 1);
	else if (!a->none)
		way = (a->key > b->key) - (a->key < b->key);
	if (!way && means)
		way = (a->mean->first > b->mean->first) - (a->mean->first < b->mean->first);
	return way ? way : (a->number > b->number) - (a->number < b->number);
}

static int query_compare_means(const void *a, const void *b)
{
	return strcmp(((const struct mean *)a)->parameters, ((const struct mean *)b)->parameters);
}

/* Of the configuration of the row that the query reads. NULL: nothing is repeated, or the task is newer than the
 * means. */
static const struct mean *query_find_mean(const struct task_page *page)
{
	struct mean wanted = {.parameters = (char *)query_parameters(page->query)};
	return page->means.len ? bsearch(&wanted, page->means.at, page->means.len, sizeof(wanted), query_compare_means)
			       : NULL;
}

static struct filter_value query_value_of(const struct mean *mean)
{
	bool none = !mean || isnan(mean->value);
	return (struct filter_value){.kind = none ? FILTER_NONE : FILTER_NUMBER, .number = none ? 0 : mean->value};
}

/* Of the row that the query reads. The caller frees the text. */
static struct place place_of(struct task_page *page, int64_t number)
{
	const struct mean *mean = query_find_mean(page);
	struct filter_value value = page->by_mean ? query_value_of(mean) : query_value(page->query, page->sort);
	struct place place = {.number = number, .mean = mean, .none = value.kind == FILTER_NONE};
	if (!page->by_mean && query_is_best(page->query, page->sort) && query_is_beyond(page->query))
		place.none = true; /* it comes last */
	if (value.kind == FILTER_TEXT)
		place.text = mem_strdup(value.text);
	else if (value.kind == FILTER_NUMBER && isnan(value.number))
		place.none = true;
	else if (value.kind == FILTER_NUMBER)
		place.key = value.number * page->sign;
	return place;
}

/* Keeps it if it is one of the first. Takes the text. */
static void query_keep_place(struct task_page *page, struct place place)
{
	size_t from = 0, to = page->found.len, most = (size_t)page->limit + 1;
	bool after = !page->after.number || query_compare_places(page, &place, &page->after) > 0;
	if (!after || (to == most && query_compare_places(page, &place, &page->found.at[to - 1]) > 0)) {
		free(place.text);
		return;
	}
	while (from < to) {
		size_t mid = (from + to) / 2;
		if (query_compare_places(page, &place, &page->found.at[mid]) < 0)
			to = mid;
		else
			from = mid + 1;
	}
	if (page->found.len == most)
		free(page->found.at[--page->found.len].text);
	vec_push(&page->found, place);
	memmove(&page->found.at[from + 1], &page->found.at[from],
		(page->found.len - 1 - from) * sizeof(*page->found.at));
	page->found.at[from] = place;
}

/* Looks at tasks until the time is over. 1: there are more. */
static int query_scan(struct task_page *page, int64_t until)
{
	struct filter_row row = {query_row_value, query_has_word, page->query};
	int64_t number;
	int rc;
	query_begin(page->query, page->experiment, page->scanned, page->state);
	while ((rc = query_next(page->query, &number)) > 0) {
		page->scanned = number;
		if (filter_holds(page->filter, &row)) {
			page->total++;
			query_keep_place(page, place_of(page, number));
		}
		if (clock_mono_ms() >= until)
			break;
	}
	int failed = query_end(page->query);
	return failed < 0 ? failed : rc;
}

static void mean_put(struct json *out, const char *key, double value)
{
	if (isnan(value))
		json_key_null(out, key);
	else
		json_key_real(out, key, value);
}

static void query_put_mean(const struct mean *mean, struct json *out)
{
	json_key(out, "configuration");
	json_map(out);
	mean_put(out, "mean", mean->value);
	mean_put(out, "spread", mean->spread);
	json_key_int(out, "repeats", mean->count);
	json_key_int(out, "open", mean->open);
	json_key_int(out, "bad", mean->bad);
	json_key_int(out, "first", mean->first);
	json_end(out);
}

static int query_put_item(struct task_page *page, const struct place *place)
{
	int64_t number = place->number;
	struct json *out = &page->json;
	sqlite3_stmt *row = store_bind(page->store, sql_row, "ii", page->experiment, number);
	int rc = store_one(page->store, row);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc; /* removed meanwhile */
	int64_t id = row_int(row, TASK_ID), step = -1;
	json_open_task(row, page->experiment, out);
	store_end(row);
	if (place->mean)
		query_put_mean(place->mean, out);
	if (page->metrics.len) {
		rc = query_best_step(page->query, id, &step);
		json_key(out, "values");
		json_map(out);
		for (size_t i = 0; rc == 0 && i < page->metrics.len; i++)
			rc = query_put_metric(page->query, page->metrics.at[i], id, step, out);
		json_end(out);
	}
	json_end(out);
	return rc;
}

static int query_page_make(void *ctx, struct buf *out)
{
	struct task_page *page = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	int rc;
	if (!page->all) {
		rc = query_scan(page, until);
		page->all = rc == 0;
		if (rc < 0 || clock_mono_ms() >= until)
			return rc < 0 ? rc : 1;
	}
	page->json.out = out;
	if (!page->json.depth) {
		json_map(&page->json);
		json_key(&page->json, "items");
		json_list(&page->json);
	}
	size_t count = page->found.len < (size_t)page->limit ? page->found.len : (size_t)page->limit;
	for (; page->written < count; page->written++) {
		if (clock_mono_ms() >= until)
			return 1;
		if ((rc = query_put_item(page, &page->found.at[page->written])) < 0)
			return rc;
	}
	char next[32];
	json_end(&page->json);
	snprintf(next, sizeof(next), "t%" PRId64, count ? page->found.at[count - 1].number : 0);
	json_key_string(&page->json, "next", page->found.len > count ? next : NULL);
	json_key_int(&page->json, "total", page->total);
	json_end(&page->json);
	return 0;
}

static int query_read_means(struct task_page *page)
{
	int rc = store_is_repeated(page->store, page->experiment);
	page->repeated = rc > 0;
	if (rc <= 0)
		return rc;
	sqlite3_stmt *row = store_bind(page->store, sql_means, "i", page->experiment);
	while ((rc = store_step(page->store, row)) > 0)
		vec_push(&page->means,
			 ((struct mean){mem_strdup(row_text(row, 0)), row_real(row, 1), row_real(row, 2),
					row_int(row, 3), row_int(row, 4), row_int(row, 5), row_int(row, 6)}));
	return rc;
}

static int query_read_sort(struct task_page *page, const char *sort, struct error *err)
{
	bool back = sort && *sort == '-';
	int rc = query_find(page->query, sort ? sort + back : "number", &page->sort, err);
	page->sign = back ? -1 : 1;
	/* `best` lists the best first for either goal. */
	if (rc < 0 || !query_is_best(page->query, page->sort))
		return rc;
	if (query_maximises(page->query))
		page->sign = -page->sign;
	page->by_mean = page->repeated;
	return 0;
}

static void query_add_metric(struct task_page *page, size_t column)
{
	for (size_t i = 0; i < page->metrics.len; i++)
		if (page->metrics.at[i] == column)
			return;
	vec_push(&page->metrics, column);
}

/* The objectives after the first, as far as a task has reported them. */
static void query_add_objectives(struct task_page *page)
{
	const char *name;
	size_t column;
	for (size_t i = 1; (name = query_objective(page->query, i)); i++)
		if (query_find_metric(page->query, name, &column, NULL) == 0)
			query_add_metric(page, column);
}

/* The names of metrics, between commas; * for the further objectives. */
static int query_read_metrics(struct task_page *page, const char *names, struct error *err)
{
	while (names && *names) {
		size_t len, column;
		char *name = query_take_name(names, &len);
		bool objectives = !strcmp(name, "*") && *names != '"';
		int rc = objectives ? 0 : query_find_metric(page->query, name, &column, err);
		free(name);
		if (rc < 0)
			return rc;
		if (objectives)
			query_add_objectives(page);
		else
			query_add_metric(page, column);
		names += len + (names[len] == ',');
	}
	return 0;
}

/* The key of the last task of the page before, as it is now. */
static int query_read_cursor(struct task_page *page, const char *cursor, struct error *err)
{
	int64_t number, found;
	if (!cursor)
		return 0;
	if (*cursor != 't' || num_parse_int(cursor + 1, strlen(cursor + 1), 1, INT64_MAX, &number) < 0)
		return errorf(err, -EINVAL, "?cursor= must be the \"next\" of an earlier answer in the same order");
	query_begin(page->query, page->experiment, number - 1, -1);
	int rc = query_next(page->query, &found);
	if (rc > 0 && found == number)
		page->after = place_of(page, number);
	int failed = query_end(page->query);
	if (failed < 0 || rc < 0)
		return failed < 0 ? failed : rc;
	return page->after.number ? 0 : errorf(err, -EINVAL, "the task of ?cursor= is not there any more");
}

int store_json_query(struct store *store, int64_t experiment, const struct store_page *asked, struct pieces *ret,
		     struct error *err)
{
	struct task_page *page = mem_alloc(sizeof(*page));
	*page = (struct task_page){.store = store, .experiment = experiment, .limit = asked->limit};
	page->state = asked->state ? store_state_find(asked->state) : -1;
	page->json = json_to(NULL);
	int rc = query_new(store, experiment, &page->query);
	if (rc == 0)
		rc = query_read_means(page);
	if (rc == 0)
		rc = query_read_sort(page, asked->sort, err);
	if (rc == 0)
		rc = query_parse(page->query, asked->filter ? asked->filter : "", &page->filter, err);
	if (rc == 0)
		rc = query_read_metrics(page, asked->metrics, err);
	if (rc == 0)
		rc = query_read_cursor(page, asked->cursor, err);
	if (rc < 0) {
		query_page_free(page);
		return rc;
	}
	*ret = (struct pieces){query_page_make, query_page_free, page};
	return 0;
}
