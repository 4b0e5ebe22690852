/* A request to check or create an experiment: the document, the files that come with it, the preview, and
 * the making of it. */
#include "engine/engine.h"

#include "engine/backends.h"
#include "engine/call.h"
#include "engine/descriptor.h"
#include "engine/estimate.h"
#include "engine/files.h"
#include "engine/fit.h"
#include "engine/folder.h"
#include "engine/lacks.h"
#include "engine/learn.h"
#include "engine/load.h"
#include "engine/lookup.h"
#include "engine/propose.h"
#include "engine/row.h"
#include "engine/seed.h"
#include "engine/spec.h"
#include "engine/steady.h"
#include "engine/transact.h"
#include "engine/turn.h"
#include "engine/warnings.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "base/token.h"
#include "script/script.h"
#include "spool/caller.h"
#include "spool/paths.h"
#include "spool/python.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

#define REQUEST_SAMPLE 20

struct request {
	const struct node *body;
	const struct node *files;
	struct node *document, *written; /* fitted to the script, and as it came */
	const char *source_name, *source_text;
	struct spec *spec;
	struct engine_backend *backend;
	struct problems *problems;
	struct script script; /* as it was read; all zero where it did not come along */
	struct fit fit;
	struct learn learn; /* from earlier experiments */
};

static void request_forget_places(struct node *node)
{
	node->line = node->column = 0;
	for (size_t i = 0; i < node->count; i++)
		request_forget_places(node->items[i]);
}

static int request_read_document(struct request *r, struct error *err)
{
	const struct node *experiment = node_get(r->body, "experiment"), *source = node_get(r->body, "source");
	if (experiment && !source) {
		r->document = node_clone(experiment); /* a root of its own: pointers begin at the experiment */
		request_forget_places(r->document);
		return 0;
	}
	r->source_text = node_get_string(source, "text");
	r->source_name = node_get_string(source, "name");
	if (!r->source_text || experiment)
		return problem_add(r->problems, r->body, NULL,
				   "the request needs either 'experiment' (a map) or 'source' ({name, text})");
	int rc = node_parse(r->source_name, r->source_text, strlen(r->source_text), &r->document, err);
	if (rc < 0) {
		struct node at = {.line = err->line, .column = err->column};
		return problem_add(r->problems, &at, NULL, "%s", err->text);
	}
	return 0;
}

/* The script and every entry of `files:` must have come along (a folder: something in it). */
static void request_check_presence(struct request *r)
{
	const struct spec *spec = r->spec;
	if (spec->script && !files_find(r->files, spec->script))
		problem_add(r->problems, node_get(r->document, "script"),
			    "check the path; it is looked for beside the experiment file",
			    "the script '%.200s' was not found", spec->script);
	const struct node *list = node_get(r->document, "files");
	for (size_t i = 0; spec->files && spec->files[i]; i++) {
		if (strcmp(spec->files[i], SPEC_GIT) == 0)
			continue;
		bool found = files_find(r->files, spec->files[i]);
		char *folder = mem_printf("%s/", spec->files[i]);
		for (size_t k = 0; !found && r->files && k < r->files->count; k++)
			found = text_starts(node_get_string(r->files->items[k], "path"), folder);
		free(folder);
		if (!found)
			problem_add(r->problems, list && i < list->count ? list->items[i] : list,
				    "check the path; it is looked for beside the experiment file",
				    "the file '%.200s' was not found", spec->files[i]);
	}
}

/* Reads a script that came along: as text, or as base64 where it is none. */
static void request_read_script(const struct node *file, struct script *ret)
{
	const char *path = node_get_string(file, "path"), *text = node_get_string(file, "text");
	const char *base64 = node_get_string(file, "base64");
	if (path && text) {
		script_read(path, text, strlen(text), ret);
	} else if (path && base64) {
		size_t size = strlen(base64), len;
		unsigned char *bytes = mem_alloc(size + 1);
		if (sodium_base642bin(bytes, size, base64, size, NULL, &len, NULL, sodium_base64_VARIANT_ORIGINAL) == 0)
			script_read(path, (char *)bytes, len, ret);
		free(bytes);
	}
}

static void request_check_script(struct request *r)
{
	const struct node *at = node_get(r->document, "script");
	if (r->script.wrong && r->script.wrong_line)
		problem_add(r->problems, at, "correct the script", "line %u of %.200s: %s", r->script.wrong_line,
			    node_string(at), r->script.wrong);
	else if (r->script.wrong)
		problem_add(r->problems, at, "choose the script itself", "%.200s: %s", node_string(at),
			    r->script.wrong);
}

/* Only the client sees the work tree. One that does not know `files: git` sends no commit. */
static void request_warn_git(struct request *r)
{
	struct spec *spec = r->spec;
	for (size_t i = 0; spec->files && spec->files[i]; i++)
		if (strcmp(spec->files[i], SPEC_GIT) == 0 && !spool_caller_of(node_get(r->body, "caller")).git)
			vec_push(&spec->cautions,
				 mem_strdup(
					 "files: git: the tracked files are taken along by `sluice run` and the Python "
					 "client in a work tree; here only the files that were sent go along"));
}

/* Tasks that run on this machine cannot use a Python that is not here, unless their setup makes it. */
static void request_check_python(const struct request *r)
{
	struct spool_python python;
	struct error missing;
	if (!r->spec->python || (r->spec->setup && r->spec->setup[0]) ||
	    backend_is(r->backend->ops, BACKEND_HAS_QUEUE) || backend_is(r->backend->ops, BACKEND_PULLED))
		return;
	if (spool_python_choose(r->spec->python, NULL, &python, &missing) < 0)
		problem_add(r->problems, node_get(node_get(r->document, "environment"), "python"), "check the path",
			    "%s", missing.text);
	spool_python_free(&python);
}

static int request_read(struct engine *engine, const struct node *body, struct problems *problems, struct request *r,
			struct error *err)
{
	*r = (struct request){.body = body, .files = node_get(body, "files"), .problems = problems};
	int rc = request_read_document(r, err);
	if (rc < 0)
		return rc;
	files_check(r->files, r->problems);
	spool_caller_check(node_get(body, "caller"), r->problems);
	const char *name = node_get_string(r->document, "script");
	if (name && !problems->list.len)
		request_read_script(files_find(r->files, name), &r->script);
	script_narrow(&r->script, node_get_string(r->document, "subcommand"));
	request_check_script(r);
	r->written = node_clone(r->document);
	fit_document(r->document, &r->script, &r->fit, problems);
	if (spec_parse(r->document, problems, &r->spec) < 0)
		return -EINVAL;
	request_warn_git(r);
	lacks_caution_program(r->spec, r->files);
	fit_check(r->spec, r->document, &r->script, &r->fit, problems);
	struct error why;
	const char *key = "backend";
	r->backend = engine_choose_backend(engine, r->spec->backend, &r->spec->resources, &key, &why);
	const struct node *at = node_get(r->document, "resources"), *asked = node_get(at, key);
	if (!r->backend)
		return problem_add(problems, asked ? asked : r->document, "see `sluice doctor`", "%s", why.text);
	r->backend->ops->check(r->backend->backend, &r->spec->resources, at ? at : r->document, problems);
	if (r->spec->search->open && !backend_is(r->backend->ops, BACKEND_PULLED))
		problem_add(problems, node_get(node_get(r->document, "search"), "open"),
			    "give the number of tasks: search: {tasks: 60}",
			    "'open' is for workers of your own (resources: {backend: external})");
	request_check_python(r);
	/* Where others run the tasks, nothing is known of the program. */
	bool unknown = backend_is(r->backend->ops, BACKEND_PULLED) && r->spec->search->learn_from == SEARCH_LEARN_SAME;
	if (!unknown && (rc = learn_find(engine, r->spec, r->files, problems, &r->learn)) < 0)
		return errorf(err, rc, "%s", store_failure(engine_store(engine)));
	if (!unknown && (rc = learn_warn(engine, r->spec, r->files)) < 0)
		return errorf(err, rc, "%s", store_failure(engine_store(engine)));
	if ((rc = seed_choose(engine, r->document, r->spec)) < 0)
		return errorf(err, rc, "%s", store_failure(engine_store(engine)));
	return problems->list.len ? -EINVAL : 0;
}

static void request_free(struct request *r)
{
	script_free(&r->script);
	fit_free(&r->fit);
	learn_free(&r->learn);
	spec_free(r->spec);
	node_free(r->document);
	node_free(r->written);
}

static void request_write_factors(const struct request *r, uint64_t count, struct json *out)
{
	const struct space *space = r->spec->space;
	struct buf how = buf_make(4096);
	bool grid = r->spec->search->strategy->capabilities & SEARCH_FINITE_ONLY;
	double product = 1;

	json_key(out, "factors");
	json_list(out);
	for (size_t i = 0; i < space->dim_count; i++) {
		const struct space_param *param = &space->params[space->dims[i]];
		uint64_t n = space_cardinality(param);
		json_map(out);
		json_key_string(out, "name", param->name);
		json_key(out, "count");
		if (n)
			json_put_int(out, (int64_t)n);
		else
			json_put_null(out);
		json_end(out);
		buf_addf(&how, "%s%" PRIu64, i ? " × " : "", n);
		product *= (double)n;
	}
	json_end(out);
	if (!grid) {
		buf_clear(&how);
		buf_addf(&how, "a budget of %" PRIu64 "%s", (count / r->spec->repeats),
			 r->spec->search->fidelity_param < 0
				 ? ""
				 : " runs; a task that is run again for longer uses one more");
	}
	if (r->spec->repeats > 1)
		buf_addf(&how, "%s × %" PRIu64 " repeats", how.len ? "" : "1", r->spec->repeats);
	if (grid && product * (double)r->spec->repeats > (double)count)
		buf_add_text(&how,
			     space->constraint_count ? ", less what conditions and constraints exclude"
						     : ", less what conditions make equal");
	json_key_string(out, "how", how.len ? buf_text(&how) : "one configuration");
	buf_free(&how);
}

/* The exact command of the first task, and what was chosen for it. */
static void request_write_call(const struct request *r, int64_t experiment, const char *first, struct json *out)
{
	struct node *params = NULL, *argv = NULL;
	if (*first && node_parse_json(first, strlen(first), &params, NULL) == 0 &&
	    (r->spec->script || r->spec->command))
		argv = engine_make_argv(r->spec, experiment, 1, engine_task_seed(r->spec, 1), params);
	struct buf text = buf_make(BUF_UNLIMITED);
	struct node *run = NULL;
	if (argv) {
		run = call_as_run(argv, r->spec, node_get_string(files_find(r->files, r->spec->script), "text"));
		call_write(run, &text);
	}
	json_key_string(out, "call", argv ? buf_text(&text) : NULL);
	json_key(out, "chosen");
	json_list(out);
	for (size_t i = 0; i < r->spec->chosen.len; i++)
		json_put_string(out, r->spec->chosen.at[i]);
	json_end(out);
	buf_free(&text);
	node_free(run);
	node_free(argv);
	node_free(params);
}

/* `experiment`: the id that it would get. */
static int request_write_sample(const struct request *r, int64_t experiment, struct json *out, struct error *err)
{
	const struct spec *spec = r->spec;
	struct search *search;
	int rc = search_open(spec->search, spec->space, &search, err);
	if (rc < 0)
		return rc;
	struct space_value *values = mem_array(spec->space->count, sizeof(*values));
	struct buf first = buf_make(BUF_UNLIMITED);
	json_key(out, "sample");
	json_list(out);
	for (int64_t i = 1; i <= REQUEST_SAMPLE; i++) {
		struct search_proposal proposal = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		if (search_ask(search, i, &proposal) != SEARCH_PROPOSED)
			break;
		space_write_values(spec->space, values, out);
		struct json w = json_to(&first);
		if (i == 1)
			space_write_values(spec->space, values, &w);
	}
	json_end(out);
	request_write_call(r, experiment, buf_text(&first), out);
	buf_free(&first);
	free(values);
	search_free(search);
	return 0;
}

static void request_write_preview(const struct request *r, struct json *out)
{
	struct buf yaml = buf_make(BUF_UNLIMITED);
	struct error why = {0};
	uint64_t planned = search_planned(r->spec->search, r->spec->space);
	char *script = r->backend->ops->preview(r->backend->backend, &r->spec->resources, planned,
						(uint32_t)r->spec->search->parallel, &why);
	json_key_string(out, "script", script ? script : why.text);
	free(script);
	node_write_yaml(r->spec->normal, &yaml);
	json_key_string(out, "yaml", buf_text(&yaml));
	buf_free(&yaml);
}

/* The files that a submission must bring along. */
static void request_write_needs(const struct spec *spec, struct json *out)
{
	json_key(out, "needs");
	json_list(out);
	if (spec->script)
		json_put_string(out, spec->script);
	for (char **file = spec->files; file && *file; file++)
		json_put_string(out, *file);
	json_end(out);
}

static void request_write_warning(struct json *out, const char *kind, const char *text)
{
	(void)kind;
	json_put_string(out, text);
}

struct engine_preview {
	struct node *body;
	struct request request;
	struct lookup lookup;
	char *state_dir;
	struct buf text;
	struct json out; /* the map, and in it the list of warnings, are open */
};

void engine_preview_free(struct engine_preview *preview)
{
	request_free(&preview->request);
	node_free(preview->body);
	free(preview->state_dir);
	buf_free(&preview->text);
	free(preview);
}

/* Everything but what is looked up on this machine. */
static int preview_write(struct engine *engine, const struct request *r, bool scan, struct json *out, struct error *err)
{
	const struct search_spec *search = r->spec->search;
	uint64_t planned = search_planned(search, r->spec->space);
	json_map(out);
	json_key_bool(out, "valid", true);
	json_key_int(out, "count", (int64_t)planned);
	request_write_factors(r, planned, out);
	json_key_bool(out, "finite", space_count(r->spec->space, LIMIT_TASKS) != UINT64_MAX);
	json_key_int(out, "parallel", (int64_t)search->parallel);
	json_key_string(out, "backend", r->backend->ops->name);
	json_key_string(out, "strategy", search->strategy->name);
	json_key_string(out, "reason", search->reason);
	int rc = request_write_sample(r, store_next_experiment(engine_store(engine)), out, err);
	/* A search that learns proposes by the results that have come, those of earlier experiments included. */
	json_key_bool(out, "sample_exact",
		      !(search->strategy->capabilities & SEARCH_ADAPTIVE) || (planned == 1 && !r->learn.results.len));
	/* The first proposal follows from the results of earlier experiments, where there are any. */
	json_key_bool(out, "call_exact", !(search->strategy->capabilities & SEARCH_ADAPTIVE) || !r->learn.results.len);
	json_key(out, "experiment");
	node_write_json(r->written, out);
	request_write_preview(r, out);
	request_write_needs(r->spec, out);
	json_key(out, "estimate");
	const struct node *script = r->spec->script ? files_find(r->files, r->spec->script) : NULL;
	engine_write_estimate(engine, r->backend, r->spec, node_get_string(script, "text"), out);
	if (scan && script) {
		json_key(out, "scan");
		script_write(&r->script, out);
	}
	json_key(out, "warnings");
	json_list(out);
	warnings_each(r->spec, request_write_warning, out);
	return rc;
}

int engine_check(struct engine *engine, struct node *give_body, bool scan, struct engine_preview **ret,
		 struct problems *problems, struct error *err)
{
	struct engine_preview *preview = mem_alloc(sizeof(*preview));
	struct request *r = &preview->request;
	*preview = (struct engine_preview){.body = give_body, .text = buf_make(BUF_UNLIMITED)};
	preview->out = json_to(&preview->text);
	int rc = request_read(engine, give_body, problems, r, err);
	if (rc == 0)
		rc = preview_write(engine, r, scan, &preview->out, err);
	if (rc < 0) {
		engine_preview_free(preview);
		return rc;
	}
	preview->state_dir = mem_strdup(engine_state_dir(engine));
	preview->lookup = (struct lookup){.spec = r->spec,
					  .files = r->files,
					  .beside = node_get(give_body, "beside"),
					  .caller = node_get(give_body, "caller"),
					  .state_dir = preview->state_dir,
					  .elsewhere = backend_is(r->backend->ops, BACKEND_PULLED)};
	*ret = preview;
	return 0;
}

void engine_preview_look(struct engine_preview *preview)
{
	lookup_write(&preview->lookup, &preview->out);
	json_end(&preview->out);
}

struct buf engine_preview_take(struct engine_preview *preview)
{
	struct buf text = preview->text;
	preview->text = (struct buf){0};
	return text;
}

/* What the submitting shell looked like; nothing where the client did not say. */
static int request_write_caller(const struct request *r, const char *root, struct error *err)
{
	const struct node *caller = node_get(r->body, "caller");
	if (!caller)
		return 0;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	char *path = spool_caller_path(root);
	node_write_json(caller, &out);
	int rc = fs_write(path, buf_text(&text), text.len, SPOOL_FILE_MODE, false, err);
	free(path);
	buf_free(&text);
	return rc;
}

void engine_scan(const struct node *file, struct json *out)
{
	struct script script = {0};
	request_read_script(file, &script);
	script_write(&script, out);
	script_free(&script);
}

/* Files are written beside the experiments' folders first, and get their place with the experiment's row: what cannot be
 * written is refused before the transaction. */
static int request_write_files(struct engine *engine, const struct request *r, const char *root, struct error *err)
{
	char *dir = spool_files_dir(root);
	int rc = fs_make_dirs(dir, 0700, err);
	if (rc == 0)
		rc = files_write(r->files, engine_state_dir(engine), dir, r->spec->copy_limit_bytes, err);
	if (rc == 0)
		rc = request_write_caller(r, root, err);
	if (rc == 0) {
		struct buf yaml = buf_make(BUF_UNLIMITED);
		if (r->source_text)
			buf_add_text(&yaml, r->source_text);
		else
			node_write_yaml(r->spec->normal, &yaml);
		bool json = r->source_name && text_ends(r->source_name, ".json");
		char *path = mem_printf("%s/experiment.%s", root, json ? "json" : "yaml");
		rc = fs_write(path, buf_text(&yaml), yaml.len, 0600, false, err);
		free(path);
		buf_free(&yaml);
	}
	free(dir);
	return rc;
}

/* The caller frees the row with engine_free_row, and its batch_script. */
static void request_fill_row(struct engine *engine, const struct request *r, struct store_experiment *ret)
{
	engine_fill_row(r->spec, ret);
	ret->batch_script = r->backend->ops->preview(r->backend->backend, &r->spec->resources, (uint64_t)ret->planned,
						     (uint32_t)r->spec->search->parallel, NULL);
	ret->source_name = r->source_name;
	ret->source = r->source_text;
	ret->backend = r->backend->ops->name;
	engine_correct_clock(engine);
	ret->created_ms = clock_now_ms();
}

struct request_create {
	struct request *request;
	const char *key, *body_hash;
	char *dir; /* the files, until they have their place */
	int64_t id;
};

static int request_place_files(struct engine *engine, const struct request_create *create, struct error *err)
{
	char *root = engine_folder(engine, create->id, 0, 0);
	/* An id that a crash or a failed disk gave back may have left the folder of this function. One with results is of
	 * another experiment, which a database that was put back from a copy does not know: it is kept aside. */
	char *tasks = spool_task_dir(root, 1), *slash = strrchr(tasks, '/');
	*slash = 0;
	int rc = 0;
	if (access(tasks, F_OK) == 0) {
		char *aside = mem_printf("%s.%" PRId64, root, clock_now_ms());
		log_warning("%s has results of another experiment and was renamed to %s", root, aside);
		if (rename(root, aside) < 0)
			rc = errorf(err, -errno, "%s: %s", root, strerror(errno));
		free(aside);
	} else {
		rc = fs_remove_tree(root, err);
	}
	free(tasks);
	if (rc == 0 && rename(create->dir, root) < 0)
		rc = errorf(err, -errno, "%s: %s", root, strerror(errno));
	free(root);
	return rc;
}

/* Row, files and key in one transaction: after a crash there is the whole experiment or nothing. */
static int request_create(struct engine *engine, void *ctx, struct error *err)
{
	struct request_create *create = ctx;
	struct engine_experiment *e;
	struct store_experiment row;
	request_fill_row(engine, create->request, &row);
	int rc = store_add_experiment(engine_store(engine), &row, &create->id);
	row.id = create->id;
	if (rc == 0)
		rc = request_place_files(engine, create, err);
	if (rc == 0 && create->key)
		rc = store_add_key(engine_store(engine), create->key, create->body_hash, create->id, clock_now_ms());
	if (rc == 0)
		rc = engine_add_created(engine, &row, &create->request->spec, &e, err);
	engine_free_row(&row);
	free((char *)row.batch_script);
	return rc < 0 ? rc : learn_apply(engine, e, &create->request->learn);
}

/* Writes the files, then everything else. */
static int request_make(struct engine *engine, struct request_create *create, struct error *err)
{
	char token[TOKEN_ID_CHARS];
	token_make_id(token);
	char *experiments = spool_experiments_dir(engine_state_dir(engine));
	create->dir = mem_printf("%s/" ENGINE_NEW_FOLDER "%s", experiments, token);
	free(experiments);
	int rc = request_write_files(engine, create->request, create->dir, err);
	if (rc == 0)
		rc = engine_transact(engine, request_create, create, err);
	if (rc < 0 && fs_remove_tree(create->dir, NULL) < 0)
		log_warning("%s: cannot be removed", create->dir);
	free(create->dir);
	return rc;
}

int engine_create(struct engine *engine, const struct node *body, const char *idempotency_key, const char *body_hash,
		  int64_t *ret_experiment, struct problems *problems, struct error *err)
{
	struct request r;
	struct request_create create = {.request = &r, .key = idempotency_key, .body_hash = body_hash};
	int rc = idempotency_key ? store_find_key(engine_store(engine), idempotency_key, body_hash, ret_experiment) : 0;
	if (rc == -EEXIST)
		return errorf(err, rc, "this Idempotency-Key was used for another request");
	if (rc != 0)
		return rc;
	rc = request_read(engine, body, problems, &r, err);
	if (rc == 0) {
		request_check_presence(&r);
		rc = problems->list.len ? -EINVAL : 0;
	}
	if (rc == 0)
		rc = request_make(engine, &create, err);
	if (rc == 0) {
		*ret_experiment = create.id;
		log_info("e%" PRId64 " created", create.id);
		engine_soon(engine);
	}
	request_free(&r);
	return rc;
}
