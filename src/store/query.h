/* The columns of a task for filters and orders: its parameters, its metrics, and what the store knows of it. Only for
 * the files of this folder. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "store/filter.h"
#include "store/json.h"

struct query;
struct json;

/* -ENOENT when there is no such experiment. */
int query_new(struct store *store, int64_t experiment, struct query **ret) MUST_USE;
void query_free(struct query *query); /* NULL is fine */
/* The column of that name; -EINVAL with a text for the user. */
int query_find(const struct query *query, const char *name, size_t *ret, struct error *err) MUST_USE;
/* The same by its whole name only, and a built-in column goes before a parameter of its name. */
int query_find_exact(const struct query *query, const char *name, size_t *ret, struct error *err) MUST_USE;
/* The column of a metric, which may have the name of a parameter too. */
int query_find_metric(const struct query *query, const char *name, size_t *ret, struct error *err) MUST_USE;
int query_parse(const struct query *query, const char *text, struct filter **ret, struct error *err) MUST_USE;
/* Is it the best value of the first objective? */
bool query_is_best(const struct query *query, size_t column);
/* Is the task of the present row beyond a limit? */
bool query_is_beyond(const struct query *query);
bool query_maximises(const struct query *query);
/* The metric of an objective; NULL: there are not so many. */
const char *query_objective(const struct query *query, size_t index);

/* Reads tasks by number, those above `after`; state -1: all. query_next: 1, or 0 at the end, or a negative errno.
 * query_end returns the first failed read of query_value in between, or 0. */
void query_begin(struct query *query, int64_t experiment, int64_t after, int64_t state);
int query_next(struct query *query, int64_t *ret_number) MUST_USE;
int query_end(struct query *query) MUST_USE;
/* Of the task that was read last; valid until the next call. */
struct filter_value query_value(struct query *query, size_t column);
/* Of the same task: its parameters as JSON, which is the same text for the repeats of a configuration. */
const char *query_parameters(const struct query *query);
/* The same for struct filter_row. */
struct filter_value query_row_value(void *ctx, size_t column);
bool query_has_word(void *ctx, const char *word);

/* A value of the present row as JSON: a parameter as it was given, a number, a word, or null. */
void query_put_cell(struct query *query, size_t column, struct json *out);
/* The first of the names between commas, and how many bytes it takes. In double quotes it may hold a comma: they end at
 * the last one before a comma or the end. The caller frees it. */
char *query_take_name(const char *names, size_t *ret_len);

/* The step at which the first objective was best; -1: none. */
int query_best_step(struct query *query, int64_t task, int64_t *ret) MUST_USE;
/* "NAME":{"best":…,"last":…,"epoch":…}: its value where the first objective was best (of a further objective the value
 * that ranks the task), its last one, and the step of the first of the two. */
int query_put_metric(struct query *query, size_t column, int64_t task, int64_t best_step, struct json *out) MUST_USE;

#endif
