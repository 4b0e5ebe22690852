/* See learn.h. */
#include "engine/learn.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/files.h"
#include "engine/load.h"
#include "engine/missing.h"
#include "engine/propose.h"
#include "engine/series.h"
#include "engine/spec.h"

#include "base/fs.h"
#include "base/num.h"
#include "spool/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <sys/stat.h>

/* Experiments of the program that are looked at, and finished tasks of each. */
#define LEARN_EXPERIMENTS 20
#define LEARN_TASKS 500
/* What is kept of them: the best half and the newest half. A model sees 300 results, and needs room for new ones. */
#define LEARN_RESULTS 200
/* Larger files are data: only their sizes are compared. */
#define LEARN_FILE_BYTES (1 << 20)
/* Read for one preview, of all experiments together: the loop waits meanwhile. What is left is not the same. */
#define LEARN_READ_BYTES (8 << 20)

struct learn_look {
	struct engine *engine;
	const struct spec *spec;
	const struct node *files;
	struct learn *learn;
	struct space_value *values; /* scratch */
	int64_t experiment; /* looked at now */
	int64_t may_read; /* bytes of files */
	VEC(int64_t) candidates;
};

static bool learn_same_objective(const struct spec *a, const struct spec *b)
{
	const struct spec_objective *x = a->objectives, *y = b->objectives;
	return a->objective_count == 1 && b->objective_count == 1 && !a->limit_count && !b->limit_count &&
		strcmp(x->metric, y->metric) == 0 && x->maximise == y->maximise && x->take == y->take &&
		x->mean_of == y->mean_of;
}

static int64_t learn_size(const char *path)
{
	struct stat found;
	return stat(path, &found) == 0 && S_ISREG(found.st_mode) ? (int64_t)found.st_size : -1;
}

/* Of a file that came along. Four signs of base64 are three bytes, less one for every `=` at the end. */
static int64_t learn_sent_size(const char *text, const char *base64)
{
	size_t len = strlen(text ? text : base64 ? base64 : ""), size = text ? len : len / 4 * 3;
	for (; !text && len && base64[len - 1] == '=' && size; len--)
		size--;
	return (int64_t)size;
}

/* The bytes of a file that came along as text or base64; NULL: they cannot be read. */
static unsigned char *learn_content(const char *text, const char *base64, size_t *ret_len)
{
	size_t size = strlen(text ? text : base64);
	unsigned char *bytes = mem_alloc(size + 1);
	*ret_len = size;
	if (text)
		memcpy(bytes, text, size);
	if (text ||
	    sodium_base642bin(bytes, size, base64, size, NULL, ret_len, NULL, sodium_base64_VARIANT_ORIGINAL) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

/* The sizes first: most files that differ are not read. */
static bool learn_same_file(struct learn_look *look, const struct node *file, const char *path)
{
	const char *text = node_get_string(file, "text"), *base64 = node_get_string(file, "base64");
	const char *upload = node_get_string(file, "upload");
	int64_t size = learn_size(path);
	if (upload) {
		char *from = mem_printf("%s/uploads/%s", engine_state_dir(look->engine), upload);
		bool same = size >= 0 && learn_size(from) == size;
		free(from);
		return same;
	}
	if (size < 0 || learn_sent_size(text, base64) != size)
		return false;
	if (size >= LEARN_FILE_BYTES)
		return true;
	look->may_read -= size;
	if (look->may_read < 0 || (!text && !base64))
		return false;
	struct buf then = buf_make(LEARN_FILE_BYTES);
	size_t len = 0;
	unsigned char *now = learn_content(text, base64, &len);
	bool same = now && len == (size_t)size && fs_read_regular(path, LEARN_FILE_BYTES, &then, NULL) == 0 &&
		then.len == len && (!len || memcmp(buf_text(&then), now, len) == 0);
	free(now);
	buf_free(&then);
	return same;
}

/* Did the earlier experiment have the same script, and the same files beside it? */
static bool learn_same_files(struct learn_look *look, int64_t experiment)
{
	char *root = engine_folder(look->engine, experiment, 0, 0), *dir = spool_files_dir(root);
	bool same = !look->spec->script || files_find(look->files, look->spec->script);
	for (size_t i = 0; same && look->files && i < look->files->count; i++) {
		const struct node *file = look->files->items[i];
		char *path = mem_printf("%s/%s", dir, node_get_string(file, "path"));
		same = learn_same_file(look, file, path);
		free(path);
	}
	free(dir);
	free(root);
	return same;
}

/* Every parameter that applies now was given then: one that was not had a value that only the script knows. */
static bool learn_fits(const struct learn_look *look, const char *parameters)
{
	const struct space *space = look->spec->space;
	struct node *map = NULL;
	if (node_parse_json(parameters, strlen(parameters), &map, NULL) < 0)
		return false;
	bool fits = engine_read_values(look->spec, map, look->values) && space_allows(space, look->values);
	for (size_t i = 0; fits && i < space->count; i++)
		fits = look->values[i].kind == SPACE_VALUE_NONE || node_get(map, space->params[i].name);
	node_free(map);
	return fits;
}

static int learn_result_cb(void *ctx, const struct store_result *row)
{
	struct learn_look *look = ctx;
	if (isfinite(row->best) && learn_fits(look, row->parameters))
		vec_push(&look->learn->results,
			 ((struct learn_result){.experiment = look->experiment,
						.number = row->number,
						.parameters = mem_strdup(row->parameters),
						.value = row->best,
						.imported = row->imported}));
	return 0;
}

static int learn_candidate_cb(void *ctx, int64_t experiment)
{
	struct learn_look *look = ctx;
	vec_push(&look->candidates, experiment);
	return 0;
}

static int learn_look_at(struct learn_look *look, int64_t experiment)
{
	struct spec *old = NULL;
	bool listed = look->spec->search->learn_from == SEARCH_LEARN_LISTED;
	if (engine_read_spec(look->engine, experiment, &old) < 0)
		return 0; /* written by another version: nothing is learnt from it */
	/* With a fidelity some of its tasks were short ones, whose results mean something else. */
	bool fits = learn_same_objective(look->spec, old) && old->search->fidelity_param < 0 &&
		(listed || learn_same_files(look, experiment));
	spec_free(old);
	look->experiment = experiment;
	return fits ? store_each_result(engine_store(look->engine), experiment, INT64_MAX, LEARN_TASKS, learn_result_cb,
					look)
		    : 0;
}

/* The experiments of the same program. */
static int learn_find_same(struct learn_look *look)
{
	const struct node *given = node_get(look->spec->normal, "command");
	struct buf command = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&command);
	if (given)
		node_write_json(given, &w);
	int rc = store_each_same(engine_store(look->engine), spec_program(look->spec),
				 given ? buf_text(&command) : NULL, LEARN_EXPERIMENTS, learn_candidate_cb, look);
	buf_free(&command);
	return rc;
}

static int learn_choose_experiments(struct learn_look *look, struct problems *problems)
{
	const struct search_spec *search = look->spec->search;
	if (search->learn_from == SEARCH_LEARN_SAME)
		return learn_find_same(look);
	const struct node *at = node_get(node_get(look->spec->normal, "search"), "learn_from");
	for (size_t i = 0; i < search->learn_count; i++) {
		int rc = store_find_experiment(engine_store(look->engine), search->learn_ids[i]);
		if (rc == -ENOENT)
			problem_add(problems, at, "name experiments that `sluice ls` shows",
				    "there is no experiment e%" PRId64 " to learn from", search->learn_ids[i]);
		else if (rc < 0)
			return rc;
		else
			vec_push(&look->candidates, search->learn_ids[i]);
	}
	return 0;
}

/* Equal results stand together, those that an experiment has imported behind the others and the oldest first. */
static int learn_compare_cb(const void *a, const void *b)
{
	const struct learn_result *x = *(struct learn_result *const *)a, *y = *(struct learn_result *const *)b;
	int order = x->value != y->value ? (x->value > y->value) - (x->value < y->value)
					 : strcmp(x->parameters, y->parameters);
	if (!order)
		order = x->imported - y->imported;
	return order ? order : x < y ? 1 : -1;
}

/* What an experiment has imported from another one that is learnt from counts once. */
static void learn_drop_copies(struct learn *learn)
{
	size_t n = learn->results.len, kept = 0;
	struct learn_result **sorted = mem_array(n, sizeof(struct learn_result *));
	for (size_t i = 0; i < n; i++)
		sorted[i] = &learn->results.at[i];
	qsort(sorted, n, sizeof(struct learn_result *), learn_compare_cb);
	for (size_t i = 1; i < n; i++)
		sorted[i]->copy = sorted[i]->imported && sorted[i]->value == sorted[i - 1]->value &&
			strcmp(sorted[i]->parameters, sorted[i - 1]->parameters) == 0;
	for (size_t i = 0; i < n; i++) {
		if (learn->results.at[i].copy)
			free(learn->results.at[i].parameters);
		else
			learn->results.at[kept++] = learn->results.at[i];
	}
	learn->results.len = kept;
	free(sorted);
}

/* Turns the order (the newest came first), and keeps the newest half and the best of the others. */
static void learn_keep(struct learn *learn, bool maximise)
{
	size_t n = learn->results.len, newest = LEARN_RESULTS / 2, kept = 0;
	struct learn_result *at = learn->results.at;
	double *sorted = mem_array(n, sizeof(*sorted)), limit = INFINITY;
	for (size_t i = newest; i < n; i++)
		sorted[i - newest] = maximise ? -at[i].value : at[i].value;
	if (n > LEARN_RESULTS) {
		qsort(sorted, n - newest, sizeof(*sorted), num_compare_reals);
		limit = sorted[LEARN_RESULTS - newest - 1];
	}
	for (size_t i = 0; i < n; i++) {
		bool good = (maximise ? -at[i].value : at[i].value) <= limit;
		if (kept < LEARN_RESULTS && (i < newest || good))
			at[kept++] = at[i];
		else
			free(at[i].parameters);
	}
	learn->results.len = kept;
	for (size_t i = 0; i < kept / 2; i++) {
		struct learn_result swap = at[i];
		at[i] = at[kept - 1 - i];
		at[kept - 1 - i] = swap;
	}
	free(sorted);
}

/* "starts from 42 results of e3 and e5 (…)", behind the reason why the strategy was chosen. */
static void learn_say(const struct learn *learn, struct search_spec *search)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	size_t count = learn->results.len, experiments = 0;
	if (search->reason)
		buf_addf(&text, "%s; ", search->reason);
	buf_addf(&text, "starts from %zu result%s of ", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		int64_t id = learn->results.at[i].experiment;
		if (i && id == learn->results.at[i - 1].experiment)
			continue;
		buf_addf(&text, "%se%" PRId64, experiments++ ? ", " : "", id);
	}
	buf_add_text(&text,
		     search->learn_from == SEARCH_LEARN_LISTED
			     ? ""
			     : " (same program, parameters and metric; `learn_from: none` turns this off)");
	free(search->reason);
	search->reason = mem_strdup(buf_text(&text));
	buf_free(&text);
}

int learn_find(struct engine *engine, struct spec *spec, const struct node *files, struct problems *problems,
	       struct learn *ret)
{
	struct learn_look look = {
		.engine = engine, .spec = spec, .files = files, .learn = ret, .may_read = LEARN_READ_BYTES};
	struct search_spec *search = spec->search;
	*ret = (struct learn){0};
	if (!(search->strategy->capabilities & SEARCH_LEARNS) || search->learn_from == SEARCH_LEARN_NONE ||
	    spec->objective_count != 1 || (search->learn_from == SEARCH_LEARN_SAME && !spec_program(spec)))
		return 0;
	look.values = mem_array(spec->space->count, sizeof(*look.values));
	int rc = learn_choose_experiments(&look, problems);
	for (size_t i = 0; rc == 0 && i < look.candidates.len; i++)
		rc = learn_look_at(&look, look.candidates.at[i]);
	learn_drop_copies(ret);
	learn_keep(ret, spec->objectives[0].maximise);
	if (ret->results.len)
		learn_say(ret, search);
	free(look.values);
	free(look.candidates.at);
	return rc;
}

/* Warns where earlier experiments have metrics, but none has this one; the newest of them is named. An experiment has
 * some metrics only because it asked for them. */
static int learn_compare_names(const struct learn_look *look, struct spec *spec, const char *metric)
{
	char *said = NULL;
	int rc = 0;
	bool known = false;
	for (size_t i = 0; rc == 0 && !known && i < look->candidates.len; i++) {
		char *list = NULL, *meant = NULL;
		bool there = false;
		int64_t experiment = look->candidates.at[i];
		rc = missing_name(look->engine, experiment, 0, metric, &list, &meant, &there);
		known = there || (rc == 0 && meant && series_are_alike(meant, metric));
		if (rc == 0 && *list && !said)
			said = mem_printf("the same script has not reported %.100s in e%" PRId64 ", but %s%s%s%s",
					  metric, experiment, list, meant ? "; did you mean " : "", meant ? meant : "",
					  meant ? "?" : "");
		free(list);
		free(meant);
	}
	if (rc == 0 && said && !known)
		vec_push(&spec->cautions, said);
	else
		free(said);
	return rc;
}

int learn_warn(struct engine *engine, struct spec *spec, const struct node *files)
{
	struct learn_look look = {.engine = engine, .spec = spec, .files = files, .may_read = LEARN_READ_BYTES};
	if ((!spec->objective_count && !spec->stop.metric) || !spec_program(spec))
		return 0;
	int rc = learn_find_same(&look);
	size_t kept = 0;
	for (size_t i = 0; rc == 0 && i < look.candidates.len; i++)
		if (learn_same_files(&look, look.candidates.at[i]))
			look.candidates.at[kept++] = look.candidates.at[i];
	look.candidates.len = kept;
	for (size_t k = 0; rc == 0 && k < spec->objective_count; k++)
		if (!spec_is_measured(spec->objectives[k].metric))
			rc = learn_compare_names(&look, spec, spec->objectives[k].metric);
	if (rc == 0 && spec->stop.metric && !spec_is_measured(spec->stop.metric))
		rc = learn_compare_names(&look, spec, spec->stop.metric);
	free(look.candidates.at);
	return rc;
}

void learn_free(struct learn *learn)
{
	for (size_t i = 0; i < learn->results.len; i++)
		free(learn->results.at[i].parameters);
	free(learn->results.at);
}

int learn_apply(struct engine *engine, struct engine_experiment *e, const struct learn *learn)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < learn->results.len; i++) {
		const struct learn_result *result = &learn->results.at[i];
		char *from = mem_printf("e%" PRId64 "/%" PRId64, result->experiment, result->number);
		rc = engine_add_earlier(engine, e, result->parameters, from);
		if (rc == 0)
			rc = engine_tell(engine, e, e->last_asked, SEARCH_FINISHED, &result->value);
		free(from);
	}
	return rc;
}
