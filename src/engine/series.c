/* The names of a task's metrics. The journal says from which column of which file a value comes. As long as one file of
 * an attempt has a column, the metric has the column's name. When several have it:
 *
 *   - the most trusted source counts and the others are left out: `sluice report`, files with a step, files whose rows
 *     are counted, what is printed; among files the order of metrics_formats. The same name in two formats is the same
 *     thing written twice;
 *   - several of the same trust are different things, and each is qualified by what sets its path apart: train/loss,
 *     val/loss;
 *   - a file that is one JSON object with a step (all_results.json) repeats the last value of a curve that another
 *     source has, and is left out;
 *   - a score at the end (final.json) is not the same thing as the curve that is printed under its name: the curve is kept
 *     as stdout/loss.
 *
 * A column that is called like an objective but for its case and for what stands between its words ("Val loss" for
 * val_loss) is the objective, unless the file also has a column of exactly that name. A note says so.
 *
 * So the names follow from which files an attempt wrote, and not from which was seen first: a file that appears later
 * renames what is there already, in the same transaction. Files that only different attempts wrote (version_0 and
 * version_1) go on in the same series. */
#include "engine/series.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/node.h"
#include "journal/journal.h"
#include "metrics/metrics.h"

#include <errno.h>
#include <stdio.h>

enum series_trust {
	SERIES_REPORT,
	SERIES_STEPS,
	SERIES_ROWS,
	SERIES_PRINTED,
};

struct series_column {
	char *column; /* as the file has it */
	char *name; /* as it is shown; NULL: left out */
	int64_t id;
};

struct engine_source {
	char *source, *step_name;
	const char *path; /* within source */
	size_t rank; /* the lowest is believed */
	bool summary; /* a result, not a curve */
	bool result; /* the same, though it says its step: one object that is a whole file */
	int64_t attempt;
	bool noted_left, noted_shared, noted_alike;
	VEC(struct series_column) columns;
};

/* The id of a metric's name in the experiment. */
static int series_name_id(struct engine *engine, struct engine_experiment *e, const char *name, int64_t *ret)
{
	for (size_t i = 0; i < e->metrics.len; i++) {
		if (strcmp(e->metrics.at[i].name, name) == 0) {
			*ret = e->metrics.at[i].id;
			return 0;
		}
	}
	int rc = store_metric_name(engine->store, e->id, name, ret);
	if (rc == 0) {
		vec_push(&e->metrics, ((struct engine_metric){.name = mem_strdup(name), .id = *ret}));
		e->changed = true;
	}
	return rc;
}

/* Trust, then the place of the format in its table. */
static void series_rank(struct engine_source *source)
{
	const struct metrics_format *printed = metrics_format_printed(), *format = metrics_formats;
	size_t len = strcspn(source->source, ":");
	bool counted = strcmp(source->step_name, "row") == 0;
	bool result = len == strlen(METRICS_RESULT) && memcmp(source->source, METRICS_RESULT, len) == 0;
	while (format->name &&
	       (result ? !format->summary
		       : strlen(format->name) != len || memcmp(format->name, source->source, len) != 0))
		format++;
	source->result = result && !counted;
	source->summary = format->summary && counted;
	if (len == 6 && memcmp(source->source, "report", 6) == 0)
		source->rank = SERIES_REPORT;
	else if (format->name && strcmp(format->name, METRICS_LOG) == 0)
		source->rank = SERIES_PRINTED * 100 + 2;
	else if (printed && format == printed)
		source->rank = SERIES_PRINTED * 100 + (strcmp(source->source + len, ":stderr") == 0);
	else
		source->rank = (counted ? SERIES_ROWS : SERIES_STEPS) * 100 + (size_t)(format - metrics_formats);
}

static struct engine_source *series_add_source(struct engine_live *live, const char *source, const char *step_name)
{
	struct engine_source *added = mem_alloc(sizeof(*added));
	const char *colon = strchr(source, ':');
	added->source = mem_strdup(source);
	added->step_name = mem_strdup(step_name);
	added->path = colon ? added->source + (colon - source) + 1 : added->source;
	series_rank(added);
	vec_push(&live->sources, added);
	return added;
}

static void series_add_column(struct engine_source *source, const char *column, const char *name, int64_t id)
{
	struct series_column added = {.column = mem_strdup(column), .name = mem_strdup(name), .id = id};
	vec_push(&source->columns, added);
}

void series_forget(struct engine_live *live)
{
	for (size_t i = 0; i < live->sources.len; i++) {
		struct engine_source *source = live->sources.at[i];
		for (size_t k = 0; k < source->columns.len; k++) {
			free(source->columns.at[k].column);
			free(source->columns.at[k].name);
		}
		free(source->columns.at);
		free(source->source);
		free(source->step_name);
		free(source);
	}
	free(live->sources.at);
	live->sources.at = NULL;
	live->sources.len = live->sources.cap = 0;
	live->sources_read = false;
}

struct series_load {
	struct engine *engine;
	struct engine_live *live;
};

static int series_load_cb(void *ctx, const struct store_source *row)
{
	struct series_load *load = ctx;
	struct node *names = NULL;
	int rc = 0;
	if (node_parse_json(row->names, strlen(row->names), &names, NULL) < 0)
		return -EIO;
	struct engine_source *source = series_add_source(load->live, row->source, row->step_name);
	source->attempt = row->attempt;
	for (size_t i = 0; rc == 0 && names->type == NODE_MAP && i < names->count; i++) {
		const char *name = node_string(names->items[i]);
		series_add_column(source, names->items[i]->key, name, 0);
	}
	node_free(names);
	return rc;
}

/* Ids are looked up afterwards: the store's statement is in use while it is read. */
static int series_load(struct engine *engine, struct engine_live *live)
{
	struct series_load load = {engine, live};
	if (live->sources_read)
		return 0;
	int rc = store_each_source(engine->store, live->task.id, series_load_cb, &load);
	for (size_t i = 0; rc == 0 && i < live->sources.len; i++) {
		struct engine_source *source = live->sources.at[i];
		for (size_t k = 0; rc == 0 && k < source->columns.len; k++)
			if (source->columns.at[k].name)
				rc = series_name_id(engine, live->experiment, source->columns.at[k].name,
						    &source->columns.at[k].id);
	}
	live->sources_read = rc == 0;
	if (rc < 0)
		series_forget(live);
	return rc;
}

static int series_save(struct engine *engine, const struct engine_live *live, const struct engine_source *source)
{
	struct buf names = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&names);
	json_map(&w);
	for (size_t i = 0; i < source->columns.len; i++)
		json_key_string(&w, source->columns.at[i].column, source->columns.at[i].name);
	json_end(&w);
	int rc = store_set_source(engine->store, live->task.id,
				  &(struct store_source){.source = source->source,
							 .attempt = source->attempt,
							 .step_name = source->step_name,
							 .names = buf_text(&names)});
	buf_free(&names);
	return rc;
}

static bool series_has_column(const struct engine_source *source, const char *column)
{
	for (size_t i = 0; i < source->columns.len; i++)
		if (strcmp(source->columns.at[i].column, column) == 0)
			return true;
	return false;
}

/* Is it the column of the source that stands for the name? The first of several that are alike does. */
static bool series_stands_for(const struct engine_source *source, const char *column, const char *name)
{
	size_t i = 0;
	if (!name || !series_are_alike(name, column) || series_has_column(source, name))
		return false;
	while (i < source->columns.len && !series_are_alike(source->columns.at[i].column, name))
		i++;
	return i < source->columns.len && strcmp(source->columns.at[i].column, column) == 0;
}

/* The name that a user gave to what the column has; else the column. */
static const char *series_meant(const struct engine_live *live, const struct engine_source *source, const char *column)
{
	const struct spec *spec = live->experiment->spec;
	for (size_t i = 0; !spec->objective_chosen && i < spec->objective_count; i++)
		if (series_stands_for(source, column, spec->objectives[i].metric))
			return spec->objectives[i].metric;
	return series_stands_for(source, column, spec->stop.metric) ? spec->stop.metric : column;
}

/* A column in a source, while its name is decided. */
struct series_member {
	struct engine_source *source;
	size_t column;
	char *wanted; /* NULL: left out */
	bool last; /* the last value of another one's curve */
};

struct series_group {
	VEC(struct series_member) members;
	bool shared; /* several of them are shown */
};

static struct series_column *member_column(const struct series_member *member)
{
	return &member->source->columns.at[member->column];
}

/* Every file of the attempt that has the column, under this name or one that means it, in the order of their paths. */
static void series_gather(const struct engine_live *live, const char *column, int64_t attempt,
			  struct series_group *group)
{
	for (size_t i = 0; i < live->sources.len; i++) {
		struct engine_source *source = live->sources.at[i];
		for (size_t k = 0; source->attempt == attempt && k < source->columns.len; k++) {
			struct series_member member = {.source = source, .column = k};
			if (strcmp(series_meant(live, source, source->columns.at[k].column), column) != 0)
				continue;
			vec_push(&group->members, member);
			size_t at = group->members.len - 1;
			for (; at && strcmp(group->members.at[at - 1].source->path, source->path) > 0; at--)
				group->members.at[at] = group->members.at[at - 1];
			group->members.at[at] = member;
		}
	}
}

/* Has another column of the task this name? */
static bool series_is_taken(const struct engine_live *live, const char *name, const char *column)
{
	for (size_t i = 0; i < live->sources.len; i++) {
		const struct engine_source *source = live->sources.at[i];
		for (size_t k = 0; k < source->columns.len; k++)
			if (source->columns.at[k].name && strcmp(source->columns.at[k].name, name) == 0 &&
			    strcmp(series_meant(live, source, source->columns.at[k].column), column) != 0)
				return true;
	}
	return false;
}

/* qualifier/column, with the end of the qualifier where all of it would be too long. */
static char *series_join(const char *qualifier, const char *column)
{
	size_t len = strlen(qualifier), column_len = strlen(column);
	size_t room = column_len + 1 < LIMIT_METRIC_NAME_BYTES ? LIMIT_METRIC_NAME_BYTES - column_len - 1 : 0;
	if (!len || !room)
		return mem_strdup(column);
	if (len > room)
		qualifier += len - room;
	while (((unsigned char)*qualifier & 0xc0) == 0x80) /* not within a character */
		qualifier++;
	return mem_printf("%s/%s", qualifier, column);
}

/* The lowest rank above this one; SIZE_MAX: none. */
static size_t series_next_rank(const struct series_group *group, size_t above)
{
	size_t next = SIZE_MAX;
	for (size_t i = 0; i < group->members.len; i++)
		if (group->members.at[i].source->rank > above && group->members.at[i].source->rank < next)
			next = group->members.at[i].source->rank;
	return next;
}

/* Only a score at the end has the name: the curve that is printed under it is kept, with where it comes from. */
static void series_keep_curve(const char *column, struct series_group *group, size_t best)
{
	size_t next = SIZE_MAX;
	for (size_t i = 0; i < group->members.len; i++)
		if (group->members.at[i].source->rank == best && group->members.at[i].source->summary)
			next = series_next_rank(group, best);
	for (size_t i = 0; i < group->members.len; i++) {
		struct series_member *member = &group->members.at[i];
		if (member->source->rank != next || strcmp(member->source->step_name, "row") == 0)
			continue;
		member->wanted = series_join(member->source->path, column);
		group->shared = true;
	}
}

/* Is it the last value of a curve that another source has? A file that is one object holds the results of a training
 * (all_results.json, the summary of W&B); one that is written over after every epoch may have gaps. */
static bool series_is_last_value(const struct series_group *group, const struct series_member *member)
{
	for (size_t i = 0; member->source->result && i < group->members.len; i++) {
		const struct engine_source *other = group->members.at[i].source;
		if (!other->result && strcmp(other->step_name, "row") != 0)
			return true;
	}
	return false;
}

static void series_decide(const struct engine_live *live, const char *column, struct series_group *group)
{
	size_t best = SIZE_MAX, count = 0;
	for (size_t i = 0; i < group->members.len; i++) {
		struct series_member *member = &group->members.at[i];
		member->last = series_is_last_value(group, member);
		if (!member->last && member->source->rank < best)
			best = member->source->rank;
	}
	const char **paths = mem_array(group->members.len, sizeof(*paths));
	char **words = mem_array(group->members.len, sizeof(*words));
	for (size_t i = 0; i < group->members.len; i++)
		if (group->members.at[i].source->rank == best && !group->members.at[i].last)
			paths[count++] = group->members.at[i].source->path;
	series_qualify(paths, count, words);
	group->shared = count > 1;
	for (size_t i = 0, k = 0; i < group->members.len; i++) {
		struct series_member *member = &group->members.at[i];
		if (member->source->rank != best || member->last)
			continue;
		member->wanted = count > 1 ? series_join(words[k], column) : mem_strdup(column);
		if (series_is_taken(live, member->wanted, column)) { /* val/loss may be a column of its own */
			free(member->wanted);
			member->wanted = series_join(member->source->path, column);
		}
		free(words[k++]);
	}
	free(words);
	free(paths);
	series_keep_curve(column, group, best);
}

static int series_note(struct engine *engine, const struct engine_live *live, char *text)
{
	int rc = store_add_history(engine->store, live->task.id, STORE_RUNNING, text, clock_now_ms());
	free(text);
	return rc;
}

/* Says, once for each file, why its columns have other names or none. */
static int series_note_member(struct engine *engine, const struct engine_live *live, const char *column,
			      const struct series_group *group, const struct series_member *member)
{
	struct engine_source *source = member->source;
	const struct series_member *other = NULL;
	for (size_t i = 0; i < group->members.len && !other; i++)
		if (group->members.at[i].source != source && group->members.at[i].wanted)
			other = &group->members.at[i];
	if (!other)
		return 0;
	if (member->wanted && group->shared && !source->noted_shared) {
		source->noted_shared = other->source->noted_shared = true;
		return series_note(engine, live,
				   mem_printf("%.200s and %.200s both have %.100s: shown as %s and %s", source->path,
					      other->source->path, column, member->wanted, other->wanted));
	}
	/* What is printed and goes into a log as well is no news. */
	if (source->rank > SERIES_PRINTED * 100 && other->source->rank / 100 == SERIES_PRINTED)
		return 0;
	if (!member->wanted && !source->noted_left) {
		source->noted_left = true;
		bool reported = other->source->rank == SERIES_REPORT;
		return series_note(engine, live,
				   mem_printf("%.200s: %.100s is left out, since %.200s gives it too", source->path,
					      column, reported ? "`sluice report`" : other->source->path));
	}
	return 0;
}

static int series_note_alike(struct engine *engine, const struct engine_live *live, const struct series_member *member)
{
	struct engine_source *source = member->source;
	const char *column = member_column(member)->column, *meant = series_meant(live, source, column);
	if (!member->wanted || source->noted_alike || strcmp(column, meant) == 0)
		return 0;
	source->noted_alike = true;
	return series_note(engine, live,
			   mem_printf("%.200s: \"%.100s\" is taken for %.100s, which the experiment names",
				      source->path, column, meant));
}

/* The values that are there get their new names: first away from the old ones, since one may be another's new one. */
static int series_move(struct engine *engine, struct engine_live *live, struct series_group *group)
{
	int64_t task = live->task.id;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < group->members.len; i++) {
		const struct series_member *member = &group->members.at[i];
		const struct series_column *column = member_column(member);
		if (!column->name || (member->wanted && strcmp(column->name, member->wanted) == 0))
			continue;
		rc = member->wanted ? store_rename_metric(engine->store, task, column->id, -(int64_t)i - 1)
				    : store_drop_metric(engine->store, task, column->id);
		live->recount = true;
		engine->reset = true; /* pages have curves under names that are gone */
	}
	for (size_t i = 0; rc == 0 && i < group->members.len; i++) {
		const struct series_member *member = &group->members.at[i];
		struct series_column *column = member_column(member);
		if (column->name && member->wanted && strcmp(column->name, member->wanted) == 0)
			continue;
		bool moved = column->name && member->wanted;
		free(column->name);
		column->name = mem_strdup(member->wanted);
		column->id = 0;
		if (column->name)
			rc = series_name_id(engine, live->experiment, column->name, &column->id);
		if (rc == 0 && moved)
			rc = store_rename_metric(engine->store, task, -(int64_t)i - 1, column->id);
		if (rc == 0)
			rc = series_save(engine, live, member->source);
	}
	return rc;
}

/* Names the column anew in every file of the attempt that has it. */
static int series_settle(struct engine *engine, struct engine_live *live, const char *column, int64_t attempt)
{
	struct series_group group = {0};
	series_gather(live, column, attempt, &group);
	series_decide(live, column, &group);
	int rc = series_move(engine, live, &group);
	for (size_t i = 0; rc == 0 && i < group.members.len; i++)
		rc = series_note_member(engine, live, column, &group, &group.members.at[i]);
	for (size_t i = 0; rc == 0 && i < group.members.len; i++)
		rc = series_note_alike(engine, live, &group.members.at[i]);
	for (size_t i = 0; i < group.members.len; i++)
		free(group.members.at[i].wanted);
	free(group.members.at);
	return rc;
}

/* Is the source that of the row? The result of a file that an earlier attempt read as a curve goes on with the curve. */
static bool series_is_of(const struct engine_source *source, const char *name)
{
	size_t len = strlen(METRICS_RESULT);
	bool result = strncmp(name, METRICS_RESULT ":", len + 1) == 0;
	return strcmp(source->source, name) == 0 ||
		(result && strncmp(source->source, "json:", 5) == 0 && strcmp(source->path, name + len + 1) == 0);
}

/* The source of a row. A file that a later attempt goes on with is that attempt's from then on. */
static int series_find_source(struct engine *engine, struct engine_live *live, const struct journal_record *r,
			      struct engine_source **ret)
{
	int64_t attempt = r->earlier ? live->number - 1 : live->number;
	struct engine_source *source = NULL;
	int rc = 0;
	for (size_t i = 0; i < live->sources.len && !source; i++)
		if (series_is_of(live->sources.at[i], r->source))
			source = live->sources.at[i];
	if (!source) {
		source = series_add_source(live, r->source, r->step_name);
		source->attempt = attempt;
	}
	*ret = source;
	if (source->attempt >= attempt)
		return 0;
	source->attempt = attempt;
	rc = series_save(engine, live, source);
	for (size_t i = 0; rc == 0 && i < source->columns.len; i++)
		rc = series_settle(engine, live, series_meant(live, source, source->columns.at[i].column), attempt);
	return rc;
}

/* The column's place in its source; `hint` is where it was in the row before. */
static size_t series_find_column(const struct engine_source *source, const char *column, size_t hint)
{
	if (hint < source->columns.len && strcmp(source->columns.at[hint].column, column) == 0)
		return hint;
	size_t i = 0;
	while (i < source->columns.len && strcmp(source->columns.at[i].column, column) != 0)
		i++;
	return i;
}

/* One that stood for a column that has come now has its own name again. */
static int series_release(struct engine *engine, struct engine_live *live, struct engine_source *source,
			  const char *column)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < source->columns.len; i++) {
		const struct series_column *other = &source->columns.at[i];
		if (!other->name || strcmp(other->name, column) != 0 || strcmp(other->column, column) == 0 ||
		    !series_are_alike(other->column, column))
			continue;
		rc = series_settle(engine, live, other->column, source->attempt);
		if (rc == 0)
			rc = series_note(engine, live,
					 mem_printf("%.200s: it has %.100s too, so \"%.100s\" has its own name again",
						    source->path, column, other->column));
	}
	return rc;
}

/* Names the columns from this place on, which are new. All of a row are there before the first is named. */
static int series_name_new(struct engine *engine, struct engine_live *live, struct engine_source *source, size_t from)
{
	int rc = 0;
	for (size_t i = from; rc == 0 && i < source->columns.len; i++) {
		const char *column = source->columns.at[i].column;
		rc = series_release(engine, live, source, column);
		if (rc == 0)
			rc = series_settle(engine, live, series_meant(live, source, column), source->attempt);
	}
	return rc;
}

void series_list(const struct engine_live *live, const char *column, struct series_row *ret)
{
	for (size_t i = 0; i < live->sources.len; i++) {
		const struct engine_source *source = live->sources.at[i];
		for (size_t k = 0; source->attempt == live->number && k < source->columns.len; k++) {
			const struct series_column *at = &source->columns.at[k];
			if (at->name && (!column || strcmp(at->column, column) == 0)) {
				struct metric metric = {.name = at->name};
				vec_push(&ret->metrics, metric);
				vec_push(&ret->ids, at->id);
			}
		}
	}
}

void series_row_free(struct series_row *row)
{
	free(row->metrics.at);
	free(row->ids.at);
	*row = (struct series_row){0};
}

int series_name_row(struct engine *engine, struct engine_live *live, const struct journal_record *r,
		    struct series_row *shown)
{
	struct engine_source *source = NULL;
	int rc = r->source ? series_load(engine, live) : 0;
	if (rc == 0 && r->source)
		rc = series_find_source(engine, live, r, &source);
	/* All columns have their names before any is used: one may take another's. */
	size_t at = 0, before = source ? source->columns.len : 0;
	for (size_t i = 0; rc == 0 && source && i < r->metric_count; i++, at++) {
		at = series_find_column(source, r->metrics[i].name, at);
		if (at == source->columns.len)
			series_add_column(source, r->metrics[i].name, NULL, 0);
	}
	if (rc == 0 && source)
		rc = series_name_new(engine, live, source, before);
	at = 0;
	for (size_t i = 0; rc == 0 && i < r->metric_count; i++, at++) {
		struct metric metric = r->metrics[i];
		int64_t id = 0;
		if (source) {
			at = series_find_column(source, metric.name, at);
			metric.name = source->columns.at[at].name;
			id = source->columns.at[at].id;
		} else {
			rc = series_name_id(engine, live->experiment, metric.name, &id);
		}
		if (rc == 0 && metric.name) {
			vec_push(&shown->metrics, metric);
			vec_push(&shown->ids, id);
		}
	}
	return rc;
}
