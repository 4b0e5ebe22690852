/* `sluice import ID FILE.csv|EXPERIMENT`: results from elsewhere, for the search to learn from. */
#include "cli/pairs.h"
#include "cli/sheet.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option import_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

/* So many bytes of names of columns are said. */
#define IMPORT_UNKNOWN_BYTES 200

struct import {
	const struct node *experiment; /* into which */
	struct node *rows;
	VEC(size_t) lines; /* of the rows in a file */
	struct buf unknown; /* columns of a file that are neither parameter nor objective */
	size_t skipped;
};

static bool import_has_parameter(const struct import *import, const char *name)
{
	const struct node *parameters = node_get(import->experiment, "parameters");
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *own = node_get_string(parameters->items[i], "name");
		if (own && strcmp(own, name) == 0)
			return true;
	}
	return false;
}

/* The objective that a column gives: its metric, or the best_METRIC of an export. */
static const char *import_metric(const struct import *import, const char *name)
{
	const struct node *objective = node_get(import->experiment, "objective");
	for (size_t i = 0; objective && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		if (metric &&
		    (strcmp(metric, name) == 0 || (text_starts(name, "best_") && strcmp(metric, name + 5) == 0)))
			return metric;
	}
	return NULL;
}

/* line: of a file; 0: it is no file */
static void import_add(struct import *import, struct node *give_parameters, struct node *give_values, size_t line)
{
	struct node *row = node_new(NODE_MAP);
	bool useful = give_values->count > 0;
	node_add(row, "parameters", give_parameters);
	node_add(row, "values", give_values);
	if (useful) {
		node_add(import->rows, NULL, row);
		vec_push(&import->lines, line);
		return;
	}
	import->skipped++;
	node_free(row);
}

static void import_sheet_row(struct import *import, const struct sheet *sheet, size_t row)
{
	struct node *parameters = node_new(NODE_MAP), *values = node_new(NODE_MAP);
	bool finished = true;
	for (size_t i = 0; i < sheet->header.len; i++) {
		const char *name = sheet->header.at[i], *cell = sheet_cell(sheet, row, i), *metric;
		double value;
		if (!*cell)
			continue;
		if (import_has_parameter(import, name))
			node_add(parameters, name, node_new_scalar(cell, strlen(cell)));
		else if ((metric = import_metric(import, name)) && num_parse_real(cell, strlen(cell), &value) == 0 &&
			 isfinite(value))
			node_add(values, metric, node_new_real(value));
		else if (strcmp(name, "state") == 0)
			finished = strcmp(cell, "finished") == 0;
	}
	if (!finished) {
		node_free(values);
		values = node_new(NODE_MAP);
	}
	import_add(import, parameters, values, sheet->lines.at[row]);
}

static int import_read_file(struct import *import, const char *path, struct error *err)
{
	struct error inner;
	struct sheet sheet = {0};
	struct buf text = buf_make(LIMIT_BODY_BYTES);
	int rc = fs_read(path, LIMIT_BODY_BYTES, &text, err);
	if (rc == 0) {
		rc = sheet_parse(buf_text(&text), text.len, &sheet, &inner);
		if (rc < 0)
			errorf(err, rc, "%s: %s", path, inner.text);
	}
	bool found = false;
	for (size_t i = 0; rc == 0 && i < sheet.header.len; i++) {
		const char *name = sheet.header.at[i];
		bool metric = import_metric(import, name) != NULL;
		found = found || metric;
		if (!metric && !import_has_parameter(import, name) && import->unknown.len < IMPORT_UNKNOWN_BYTES)
			buf_addf(&import->unknown, "%s%s", import->unknown.len ? ", " : "", name);
	}
	if (rc == 0 && !found)
		rc = errorf(err, -EINVAL, "%s: no column is named like an objective of the experiment", path);
	for (size_t i = 0; rc == 0 && i < sheet.rows; i++)
		import_sheet_row(import, &sheet, i);
	sheet_free(&sheet);
	buf_free(&text);
	return rc;
}

/* The best value of a curve: its goal says which end. */
static bool import_best(const struct node *curve, bool most, double *ret)
{
	const struct node *values = node_get(curve, "value");
	double best = NAN;
	for (size_t i = 0; values && i < values->count; i++)
		if (node_is_number(values->items[i]) &&
		    (isnan(best) || (most ? values->items[i]->real > best : values->items[i]->real < best)))
			best = values->items[i]->real;
	*ret = best;
	return !isnan(best);
}

static void import_task(struct import *import, const struct node *task)
{
	const struct node *theirs = node_get(task, "parameters"),
			  *objective = node_get(import->experiment, "objective");
	const char *state = node_get_string(task, "state");
	if (!state || strcmp(state, "finished") != 0)
		return;
	struct node *parameters = node_new(NODE_MAP), *values = node_new(NODE_MAP);
	for (size_t i = 0; theirs && i < theirs->count; i++)
		if (import_has_parameter(import, theirs->items[i]->key))
			node_add(parameters, theirs->items[i]->key, node_clone(theirs->items[i]));
	for (size_t i = 0; objective && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric"),
			   *goal = node_get_string(objective->items[i], "goal");
		double value;
		if (metric &&
		    import_best(node_get(node_get(task, "metrics"), metric), goal && strcmp(goal, "max") == 0, &value))
			node_add(values, metric, node_new_real(value));
	}
	import_add(import, parameters, values, 0);
}

static int import_read_experiment(struct import *import, struct client *client, const struct target *from,
				  struct error *err)
{
	struct node *export = NULL;
	char *path = target_path(from, "/export?format=json");
	int rc = client_get(client, path, NULL, &export, err);
	const struct node *tasks = node_get(export, "tasks");
	for (size_t i = 0; rc == 0 && tasks && i < tasks->count; i++)
		import_task(import, tasks->items[i]);
	node_free(export);
	free(path);
	return rc;
}

static void import_print(const char *experiment, int64_t count, int64_t already)
{
	printf("%s learnt from %" PRId64 " result%s", experiment, count, count == 1 ? "" : "s");
	if (already)
		printf("; %" PRId64 " more %s there already", already, already == 1 ? "was" : "were");
	putchar('\n');
}

/* "rows/0/parameters/hidden: …" with the line of the file, and the columns that were passed over. */
static int import_refusal(const struct import *import, const char *from, int rc, struct error *err)
{
	struct error told = *err;
	const char *rest = text_starts(told.text, "rows/") ? strchr(told.text + 5, '/') : NULL;
	int64_t row;
	if (!rest || num_parse_int(told.text + 5, (size_t)(rest - told.text - 5), 0, INT64_MAX, &row) < 0 ||
	    row >= (int64_t)import->lines.len || !import->lines.at[row])
		return rc;
	for (const char *part; (part = strpbrk(rest, "/:")) && *part == '/';)
		rest = part + 1;
	const char *said = strstr(rest, ": ");
	bool others = import->unknown.len && strstr(rest, "is missing");
	return errorf(err, rc, "%s, line %zu: %s%s%s", from, import->lines.at[row], said ? said + 2 : rest,
		      others ? ". Columns that are neither a parameter nor an objective: " : "",
		      others ? buf_text(&import->unknown) : "");
}

static int import_send(struct call *call, const struct target *target, const char *from, struct error *err)
{
	struct import import = {.unknown = buf_make(BUF_UNLIMITED)};
	struct target source;
	struct node *experiment = NULL, *answer = NULL, *body = node_new(NODE_MAP);
	char *path = target_path(target, "");
	import.rows = node_new(NODE_LIST);
	node_add(body, "rows", import.rows);
	int rc = client_get(&call->client, path, NULL, &experiment, err);
	import.experiment = experiment;
	if (rc == 0 && access(from, F_OK) != 0 && target_parse(from, &source, NULL) == 0 && !source.number)
		rc = import_read_experiment(&import, &call->client, &source, err);
	else if (rc == 0)
		rc = import_read_file(&import, from, err);
	if (rc == 0 && !import.rows->count)
		rc = errorf(err, -EINVAL, "%s has no finished task with a value of an objective of %s", from,
			    target->experiment);
	if (rc == 0)
		rc = pairs_post(&call->client, target, "/import", body, &answer, err);
	if (rc < 0 && import.lines.len)
		rc = import_refusal(&import, from, rc, err);
	if (rc == 0 && options_has(&call->options, "json"))
		pairs_print_json(answer);
	else if (rc == 0)
		import_print(target->experiment, node_get_int(answer, "tasks", 0), node_get_int(answer, "already", 0));
	if (rc == 0 && import.skipped)
		fprintf(stderr, "sluice: rows without a result that were left out: %zu\n", import.skipped);
	node_free(answer);
	node_free(experiment);
	node_free(body);
	buf_free(&import.unknown);
	free(import.lines.at);
	free(path);
	return rc;
}

static int import_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int status = call_begin(&call, &verb_import, argc, argv, 2, 2);
	if (status)
		return status;
	if (target_parse_experiment(call.options.args.at[0], &target, &err) < 0)
		return call_end(&call, call_usage(&verb_import, &err));
	status = call_connect(&call);
	if (!status && import_send(&call, &target, call.options.args.at[1], &err) < 0)
		status = call_fail(&err);
	return call_end(&call, status);
}

const struct verb verb_import = {
	.name = "import",
	.arguments = "ID FILE.csv|EXPERIMENT",
	.summary = "give the search results from elsewhere",
	.help = "They become finished tasks that the search learns from; they do not count against the number of tasks. A CSV\n"
		"file has columns named like the parameters and the objectives (an export of sluice does: best_METRIC); other\n"
		"columns are ignored. Of another EXPERIMENT the finished tasks are imported. Results that the\n"
		"experiment has already are left out, so the same file can be imported again. If one of the results does not fit\n"
		"the parameters of the experiment, nothing is imported.\n\n"
		"  sluice import e12 earlier.csv\n"
		"  sluice import e12 e7",
	.options = import_options,
	.run = import_run,
};
