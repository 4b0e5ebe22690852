/* See part.h. */
#include "metrics/part.h"

#include "base/limits.h"
#include "base/text.h"
#include "metrics/metrics.h"
#include "metrics/reader.h"
#include "metrics/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const part_columns[] = {"split", "phase", "subset", "dataset", "set", "stage", "mode", "partition"};
/* These where their text is a word such as train or val: "status" may be "training", too. */
static const char *const part_maybe[] = {"type",  "kind",       "part",       "which",     "data",     "loop",  "group",
					 "event", "data_split", "split_name", "data_type", "set_name", "source"};
static const char *const part_metrics[] = {"metric", "metric_name", "name", "tag", "key", "variable"};
static const char *const part_values[] = {"value", "metric_value", "scalar"};
static const char *const part_numbers[] = {"rank", "local_rank", "global_rank", "fold",     "cv_fold", "seed",
					   "run",  "run_id",     "trial",       "trial_id", "repeat",  "repetition"};
static const char *const part_runs[] = {"model", "model_name",   "method", "algorithm", "algo",
					"arch",  "architecture", "run",    "run_id",    "run_name",
					"agent", "variant",      "seed",   "fold"};

/* More words than this do not name parts of the data. */
#define PART_MAX 16
/* Runs in one file: folds, seeds, trials. */
#define PART_RUNS_MAX 64
/* Rows with more different columns than this are not looked at by their columns any more. */
#define PART_SHAPES_MAX 64
#define PART_NONE SIZE_MAX
#define PART_WORD_BYTES 48
#define PART_NUMBER_MAX 9999

static bool part_is_one_of(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(name, list[i]) == 0)
			return true;
	return false;
}

bool metrics_part_is_word(const char *column, const char *word, size_t len)
{
	return part_is_one_of(part_columns, COUNT_OF(part_columns), column) ||
		(word_kind_of(word, len) == WORD_PART && part_is_one_of(part_maybe, COUNT_OF(part_maybe), column));
}

bool metrics_part_is_value(const char *column)
{
	return part_is_one_of(part_values, COUNT_OF(part_values), column);
}

static void part_take_word(char **ret, const char *word, size_t len, size_t most)
{
	if (*ret || !len)
		return;
	*ret = metrics_clean_name(word, len);
	size_t kept = strlen(*ret);
	(*ret)[text_utf8_check(*ret, kept < most ? kept : most)] = '\0';
}

/* A slash stands before the metric's name, and nowhere else. */
static void part_flatten(char *word)
{
	for (char *p = word; p && *p; p++)
		if (*p == '/')
			*p = '_';
}

void metrics_part_note(struct metrics_parts *parts, const char *column, const char *word, size_t len)
{
	if (part_is_one_of(part_metrics, COUNT_OF(part_metrics), column)) {
		part_take_word(&parts->metric, word, len, LIMIT_METRIC_NAME_BYTES);
	} else if (metrics_part_is_word(column, word, len)) {
		/* The name of the metric follows: there must be room for it. */
		part_take_word(&parts->word, word, len, PART_WORD_BYTES);
		part_flatten(parts->word);
	} else if (!parts->run && len && part_is_one_of(part_runs, COUNT_OF(part_runs), column)) {
		char *run = mem_printf("%s %.*s", column, len < PART_WORD_BYTES ? (int)len : PART_WORD_BYTES, word);
		part_take_word(&parts->run, run, strlen(run), PART_WORD_BYTES);
		part_flatten(parts->run);
		free(run);
	}
}

static struct metrics_part *part_find(struct metrics_parts *parts, const char *word, bool names)
{
	for (size_t i = 0; i < parts->list.len; i++)
		if (parts->list.at[i].names == names && strcmp(parts->list.at[i].word, word) == 0)
			return &parts->list.at[i];
	return NULL;
}

/* Finds or makes it; NULL: there are too many. */
static struct metrics_part *part_make(struct metrics_parts *parts, const char *word, bool names, size_t most)
{
	struct metrics_part *found = part_find(parts, word, names);
	if (found || parts->list.len >= most)
		return found;
	struct metrics_part made = {.word = mem_strdup(word), .names = names};
	metrics_step_restart(&made.step);
	vec_push(&parts->list, made);
	return &parts->list.at[parts->list.len - 1];
}

/* The name of the metric of a long table, with the part of the data before it; NULL: the row is of none. */
static char *part_metric_name(const struct metrics_parts *parts, const struct metric *cells, size_t count)
{
	size_t at = 0;
	while (at < count && !metrics_part_is_value(cells[at].name))
		at++;
	if (!parts->metric || !*parts->metric || at == count)
		return NULL;
	return parts->word && *parts->word ? mem_printf("%s/%s", parts->word, parts->metric)
					   : mem_strdup(parts->metric);
}

/* The place of a column `rank` or `fold` with a whole number; count: there is none. */
static size_t part_find_number(const struct metric *cells, size_t count)
{
	size_t at = 0;
	while (at < count &&
	       !(part_is_one_of(part_numbers, COUNT_OF(part_numbers), cells[at].name) && cells[at].value >= 0 &&
		 cells[at].value <= PART_NUMBER_MAX && cells[at].value == floor(cells[at].value)))
		at++;
	return at;
}

/* The part of a run that is not the first of its file; NULL: its steps go on, so it is none, or there are too many. */
static struct metrics_part *part_of_run(struct metrics_parts *parts, const char *word, bool goes_on, bool *ret_too_many)
{
	struct metrics_part *part = part_find(parts, word, false);
	if (part || goes_on)
		return part;
	part = part_make(parts, word, false, PART_RUNS_MAX);
	*ret_too_many = !part;
	if (part)
		part->run = strncasecmp(word, "rank ", 5) != 0 && !strcasestr(word, "_rank ");
	if (!part) {
		free(parts->word); /* may be empty */
		parts->word = mem_strdup(word); /* for the complaint */
	}
	return part;
}

/* The part of a row whose rank or fold is another than that of the first row; NULL: none. A column that only happens to be
 * called so (the rank of an adapter) stands beside steps that grow. */
static struct metrics_part *part_by_number(struct metrics_parts *parts, const struct metrics_step *step,
					   struct metric *cells, size_t *count, bool *ret_too_many)
{
	size_t at = part_find_number(cells, *count);
	char word[PART_WORD_BYTES];
	if (at == *count)
		return NULL;
	if (!parts->has_first) {
		parts->has_first = true;
		parts->first = cells[at].value;
		parts->first_column = mem_strdup(cells[at].name);
	}
	if (cells[at].value == parts->first)
		return NULL;
	snprintf(word, sizeof(word), "%s %.0f", cells[at].name, cells[at].value);
	struct metrics_part *part = part_of_run(parts, word, metrics_step_goes_on(step, cells, *count), ret_too_many);
	if (part)
		memmove(&cells[at], &cells[at + 1], (--*count - at) * sizeof(*cells));
	return part;
}

/* The same for a column of texts that says what was trained. */
static struct metrics_part *part_by_run(struct metrics_parts *parts, const struct metrics_step *step,
					const struct metric *cells, size_t count, bool *ret_too_many)
{
	if (!parts->run)
		return NULL;
	if (!parts->first_run)
		parts->first_run = mem_strdup(parts->run);
	if (strcmp(parts->run, parts->first_run) == 0)
		return NULL;
	return part_of_run(parts, parts->run, metrics_step_goes_on(step, cells, count), ret_too_many);
}

static uint32_t part_hash(const char *name, uint32_t hash)
{
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

#define PART_HASH 2166136261u

/* Rows of the plain part count by the step of the others from here on, which does not fall behind what the part had. */
static void part_dissolve(struct metrics_parts *parts, struct metrics_step *step, size_t part)
{
	metrics_step_absorb(step, &parts->list.at[part].step);
	for (size_t i = 0; i < parts->columns.len; i++)
		if (parts->columns.at[i].part == part)
			parts->columns.at[i].part = PART_NONE;
	for (size_t i = 0; i < parts->shapes.len; i++)
		if (parts->shapes.at[i].part == part)
			parts->shapes.at[i].part = PART_NONE;
}

static struct metrics_column *part_find_column(struct metrics_parts *parts, const struct metric *cell)
{
	uint32_t sum = part_hash(cell->name, PART_HASH);
	for (size_t i = 0; i < parts->columns.len; i++)
		if (parts->columns.at[i].sum == sum)
			return &parts->columns.at[i];
	return NULL;
}

/* What counts, how long a row took, or what it needed, may stand in rows of every kind. */
static bool part_is_anywhere(const char *name)
{
	return metrics_is_count(name) || word_kind_of_name(name, strlen(name)) == WORD_NEVER;
}

/* The part that has these columns already, so that none is counted by two steps; PART_NONE: none has, or several had, and
 * they are none now. *ret_known: one of the columns was seen before. */
static size_t part_find_owner(struct metrics_parts *parts, struct metrics_step *step, const struct metric *cells,
			      size_t count, bool *ret_known)
{
	size_t owner = PART_NONE;
	*ret_known = false;
	for (size_t i = 0; i < count; i++) {
		const struct metrics_column *column = part_is_anywhere(cells[i].name)
			? NULL
			: part_find_column(parts, &cells[i]);
		if (!column)
			continue;
		size_t other = column->part;
		if (*ret_known && other != owner) {
			if (owner != PART_NONE)
				part_dissolve(parts, step, owner);
			if (other != PART_NONE)
				part_dissolve(parts, step, other);
			other = PART_NONE;
		}
		owner = other;
		*ret_known = true;
	}
	return owner;
}

/* A row with columns that did not come together before. Where all are new and the step falls, they are counted by
 * themselves. */
static size_t part_add_shape(struct metrics_parts *parts, struct metrics_step *step, const struct metric *cells,
			     size_t count, uint32_t sum)
{
	bool known;
	struct metrics_shape shape = {.sum = sum, .part = part_find_owner(parts, step, cells, count, &known)};
	if (!known && metrics_step_goes_back(step, cells, count)) {
		struct metrics_part made = {.word = mem_strdup(""), .plain = true};
		metrics_step_restart(&made.step);
		shape.part = parts->list.len;
		vec_push(&parts->list, made);
	}
	for (size_t i = 0; i < count; i++) {
		struct metrics_column column = {part_hash(cells[i].name, PART_HASH), shape.part};
		if (!part_find_column(parts, &cells[i]))
			vec_push(&parts->columns, column);
	}
	vec_push(&parts->shapes, shape);
	return parts->shapes.len - 1;
}

/* The part of rows that have columns of their own; NULL: none. */
static struct metrics_part *part_by_columns(struct metrics_parts *parts, struct metrics_step *step,
					    const struct metric *cells, size_t count)
{
	uint32_t sum = PART_HASH;
	size_t at = parts->shape;
	if (parts->shapeless)
		return NULL;
	for (size_t i = 0; i < count; i++)
		sum = part_hash(cells[i].name, sum * 31);
	if (at >= parts->shapes.len || parts->shapes.at[at].sum != sum)
		for (at = 0; at < parts->shapes.len && parts->shapes.at[at].sum != sum;)
			at++;
	if (at == PART_SHAPES_MAX) {
		parts->shapeless = true;
		for (size_t i = 0; i < parts->list.len; i++)
			if (parts->list.at[i].plain)
				part_dissolve(parts, step, i);
		return NULL;
	}
	parts->shape = at < parts->shapes.len ? at : part_add_shape(parts, step, cells, count, sum);
	size_t part = parts->shapes.at[parts->shape].part;
	return part == PART_NONE ? NULL : &parts->list.at[part];
}

struct metrics_part *metrics_part_of_row(struct metrics_parts *parts, struct metrics_step *step, struct metric *cells,
					 size_t *count, bool *ret_too_many)
{
	char *name = part_metric_name(parts, cells, *count);
	struct metrics_part *part = NULL;
	*ret_too_many = false;
	if (name) {
		part = part_make(parts, name, true, LIMIT_METRIC_COLUMNS);
		*ret_too_many = !part;
	} else if (parts->word && *parts->word) {
		part = part_make(parts, parts->word, false, PART_MAX);
		*ret_too_many = !part;
	} else {
		part = part_by_number(parts, step, cells, count, ret_too_many);
		if (!part && !*ret_too_many)
			part = part_by_run(parts, step, cells, *count, ret_too_many);
		if (!part && !*ret_too_many)
			part = part_by_columns(parts, step, cells, *count);
	}
	free(name);
	return part;
}

void metrics_part_keep_own(struct metrics_parts *parts, const struct metrics_part *part, struct metric *cells,
			   size_t *count)
{
	size_t kept = 0, own = part ? (size_t)(part - parts->list.at) : PART_NONE;
	if (!parts->list.len || parts->shapeless)
		return;
	for (size_t i = 0; i < *count; i++) {
		const struct metrics_column *column = part_find_column(parts, &cells[i]);
		if (!column || column->part == own || !part_is_anywhere(cells[i].name))
			cells[kept++] = cells[i];
	}
	*count = kept;
}

void metrics_parts_say_first(const struct metrics_parts *parts, char *ret, size_t size)
{
	if (parts->has_first)
		snprintf(ret, size, "%s %.0f", parts->first_column, parts->first);
	else
		snprintf(ret, size, "%s", parts->first_run ? parts->first_run : "the first one");
}

void metrics_part_end_row(struct metrics_parts *parts)
{
	free(parts->word);
	free(parts->metric);
	free(parts->run);
	parts->word = parts->metric = parts->run = NULL;
}

void metrics_parts_resume(struct metrics_parts *parts)
{
	for (size_t i = 0; i < parts->list.len; i++)
		metrics_step_resume(&parts->list.at[i].step);
}

void metrics_parts_clear(struct metrics_parts *parts)
{
	metrics_part_end_row(parts);
	for (size_t i = 0; i < parts->list.len; i++) {
		free(parts->list.at[i].word);
		free(parts->list.at[i].step.given.at);
	}
	free(parts->list.at);
	free(parts->shapes.at);
	free(parts->columns.at);
	free(parts->first_run);
	free(parts->first_column);
	*parts = (struct metrics_parts){0};
}
