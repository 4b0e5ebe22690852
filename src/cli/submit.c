/* From the command line to an experiment: see submit.h. */
#include "cli/submit.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/pairs.h"
#include "cli/submit_files.h"
#include "cli/submit_git.h"
#include "cli/submit_imports.h"
#include "cli/submit_objective.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>

enum submit_kind {
	SUBMIT_TEXT,
	SUBMIT_SCALAR, /* typed as in YAML: 8 is a number */
	SUBMIT_LIST, /* of texts */
	SUBMIT_TEXT_PAIR, /* NAME=VALUE */
	SUBMIT_SCALAR_PAIR,
	SUBMIT_RETRY_PAIR, /* NAME=N or NAME=NxFACTOR */
	SUBMIT_SWITCH, /* given: true */
};

/* Where a flag's value goes in the experiment. */
static const struct submit_flag {
	const char *option, *section, *key;
	enum submit_kind kind;
} submit_flags[] = {
	{"name", NULL, "name", SUBMIT_TEXT},
	{"description", NULL, "description", SUBMIT_TEXT},
	{"pass", NULL, "pass", SUBMIT_TEXT},
	{"style", NULL, "style", SUBMIT_TEXT},
	{"metrics", "metrics", "pattern", SUBMIT_TEXT},
	{"metrics-from", "metrics", "from", SUBMIT_LIST},
	{"separator", NULL, "separator", SUBMIT_TEXT},
	{"repeats", NULL, "repeats", SUBMIT_SCALAR},
	{"copy-limit", NULL, "copy_limit", SUBMIT_SCALAR},
	{"warm", NULL, "warm", SUBMIT_SCALAR},
	{"stall-after", "stall", "after", SUBMIT_SCALAR},
	{"stall-do", "stall", "do", SUBMIT_SCALAR},
	{"constraint", NULL, "constraints", SUBMIT_LIST},
	{"prune", NULL, "prune", SUBMIT_TEXT},
	{"stop-when", "stop", "when", SUBMIT_TEXT},
	{"failures", "stop", "failures", SUBMIT_SCALAR},
	{"retry", NULL, "retry", SUBMIT_RETRY_PAIR},
	{"strategy", "search", "strategy", SUBMIT_TEXT},
	{"tasks", "search", "tasks", SUBMIT_SCALAR},
	{"parallel", "search", "parallel", SUBMIT_SCALAR},
	{"seed", "search", "seed", SUBMIT_SCALAR},
	{"backend", "resources", "backend", SUBMIT_TEXT},
	{"partition", "resources", "partition", SUBMIT_TEXT},
	{"gpus", "resources", "gpus", SUBMIT_SCALAR},
	{"cpus", "resources", "cpus", SUBMIT_SCALAR},
	{"memory", "resources", "memory", SUBMIT_TEXT},
	{"time", "resources", "time", SUBMIT_TEXT},
	{"nodes", "resources", "nodes", SUBMIT_SCALAR},
	{"exclusive", "resources", "exclusive", SUBMIT_SWITCH},
	{"features", "resources", "constraint", SUBMIT_TEXT},
	{"account", "resources", "account", SUBMIT_TEXT},
	{"qos", "resources", "qos", SUBMIT_TEXT},
	{"option", "resources", "options", SUBMIT_LIST},
	{"setup", "environment", "setup", SUBMIT_LIST},
	{"env", "environment", "vars", SUBMIT_TEXT_PAIR},
	{"keep", "environment", "keep", SUBMIT_LIST},
	{"python", "environment", "python", SUBMIT_TEXT},
};

/* The member `key` of the map, made where it is missing or of another type. */
static struct node *submit_member(struct node *map, const char *key, enum node_type type)
{
	struct node *member = node_get(map, key);
	if (!member || member->type != type) {
		member = node_new(type);
		node_add(map, key, member);
	}
	return member;
}

/* "2": how often. "2x1.5": and each time for so many times as much. */
static struct node *submit_read_retry(const char *text)
{
	const char *x = strchr(text, 'x');
	if (!x)
		return node_new_scalar(text, strlen(text));
	struct node *map = node_new(NODE_MAP);
	node_add(map, "times", node_new_scalar(text, (size_t)(x - text)));
	node_add(map, "factor", node_new_scalar(x + 1, strlen(x + 1)));
	return map;
}

static int submit_add_pair(struct node *map, const struct options_given *given, enum submit_kind kind,
			   struct error *err)
{
	const char *value = strchr(given->value, '=');
	if (!value || value == given->value)
		return errorf(err, -EINVAL, "--%s: expected %.*s, got '%s'", given->option->name,
			      (int)strlen(given->option->value) - 3, given->option->value, given->value);
	char *name = mem_copy(given->value, (size_t)(value - given->value));
	value++;
	node_add(map, name,
		 kind == SUBMIT_TEXT_PAIR            ? node_new_string(value)
			 : kind == SUBMIT_RETRY_PAIR ? submit_read_retry(value)
						     : node_new_scalar(value, strlen(value)));
	free(name);
	return 0;
}

int submit_apply_flag(struct node *tree, const struct options_given *given, struct error *err)
{
	const struct submit_flag *flag = NULL;
	for (size_t i = 0; i < COUNT_OF(submit_flags); i++)
		if (options_is(given->option, submit_flags[i].option))
			flag = &submit_flags[i];
	if (!flag)
		return 0;
	struct node *section = flag->section ? submit_member(tree, flag->section, NODE_MAP) : tree;
	const char *value = given->value;
	int rc = 0;
	switch (flag->kind) {
	case SUBMIT_TEXT: node_add(section, flag->key, node_new_string(value)); break;
	case SUBMIT_SCALAR: node_add(section, flag->key, node_new_scalar(value, strlen(value))); break;
	case SUBMIT_LIST: node_add(submit_member(section, flag->key, NODE_LIST), NULL, node_new_string(value)); break;
	case SUBMIT_SWITCH: node_add(section, flag->key, node_new_scalar("true", 4)); break;
	case SUBMIT_TEXT_PAIR:
	case SUBMIT_SCALAR_PAIR:
	case SUBMIT_RETRY_PAIR:
		rc = submit_add_pair(submit_member(section, flag->key, NODE_MAP), given, flag->kind, err);
		break;
	}
	return rc < 0 ? rc : 1;
}

static bool submit_is_experiment_name(const char *name)
{
	return text_ends(name, ".yaml") || text_ends(name, ".yml") || text_ends(name, ".json");
}

/* "Is it there, and is it a file?" with the answer in words. */
static int submit_check_file(const char *path, struct error *err)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? errorf(err, -ENOENT, "%s: there is no such file", path)
				       : errorf(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return errorf(err, -EISDIR, "%s is a folder: give the experiment file or the script inside it", path);
	if (!S_ISREG(st.st_mode))
		return errorf(err, -EINVAL, "%s is not a regular file", path);
	return 0;
}

static int submit_read_source(struct submit *submit, const char *path, struct error *err)
{
	struct error inner;
	submit->name = mem_strdup(path);
	submit->source = buf_make(LIMIT_DOCUMENT_BYTES);
	int rc = fs_read(path, LIMIT_DOCUMENT_BYTES, &submit->source, err);
	if (rc < 0)
		return rc;
	rc = node_parse(path, buf_text(&submit->source), submit->source.len, &submit->tree, &inner);
	if (rc < 0 && inner.line)
		return errorf_at(err, rc, inner.line, inner.column, "%s:%d:%d: %s", path, inner.line, inner.column,
				 inner.text);
	if (rc < 0)
		return errorf(err, rc, "%s: %s", path, inner.text);
	if (submit->tree->type != NODE_MAP)
		return errorf(err, -EINVAL, "%s: expected an experiment: keys such as script: and parameters:", path);
	return 0;
}

/* --git: beside the files that the experiment names. */
static int submit_add_git(struct node *tree, struct error *err)
{
	struct node *files = node_get(tree, "files");
	if (submit_wants_git(tree))
		return 0;
	if (files && files->type != NODE_LIST)
		return errorf(err, -EINVAL, "files: expected a list, or git");
	node_add(submit_member(tree, "files", NODE_LIST), NULL, node_new_string("git"));
	return 0;
}

/* A script by itself: an experiment of it. */
static void submit_from_script(struct submit *submit, const char *path)
{
	char *copy = mem_strdup(path), *base = basename(copy);
	submit->tree = node_new(NODE_MAP);
	submit->changed = true;
	node_add(submit->tree, "script", node_new_string(base));
	free(copy);
}

/* `sluice run main.py train lr=0.1`: words right behind the script are its subcommand. Returns how many there are. */
static size_t submit_subcommand(struct node *tree, const struct options *options)
{
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	size_t count = 0;
	for (; count + 1 < options->args.len; count++) {
		const char *word = options->args.at[count + 1];
		if (!isalpha((unsigned char)*word) || word[strcspn(word, "= ")])
			break;
		buf_addf(&text, "%s%s", count ? " " : "", word);
	}
	if (count)
		node_add(tree, "subcommand", node_new_string(buf_text(&text)));
	buf_free(&text);
	return count;
}

int submit_load(struct submit *submit, const struct options *options, struct error *err)
{
	*submit = (struct submit){.missing = buf_make(LIMIT_DOCUMENT_BYTES),
				  .notes = buf_make(LIMIT_DOCUMENT_BYTES),
				  .taken = buf_make(LIMIT_DOCUMENT_BYTES),
				  .unseen = buf_make(LIMIT_DOCUMENT_BYTES)};
	const char *path = options->args.at[0];
	bool is_script = !submit_is_experiment_name(path);
	int rc = submit_check_file(path, err);
	if (rc == 0 && is_script)
		submit_from_script(submit, path);
	else if (rc == 0)
		rc = submit_read_source(submit, path, err);
	size_t words = rc >= 0 && is_script ? submit_subcommand(submit->tree, options) : 0;
	if (rc >= 0 && options->args.len > 1 + words) {
		rc = pairs_add_all(submit_member(submit->tree, "parameters", NODE_MAP), options, 1 + words,
				   PAIRS_VALUES, err);
		submit->changed = true;
	}
	for (size_t i = 0; rc >= 0 && i < options->given.len; i++) {
		rc = submit_apply_flag(submit->tree, &options->given.at[i], err);
		submit->changed |= rc > 0;
	}
	if (rc >= 0) {
		rc = submit_apply_objective(submit->tree, options, err);
		submit->changed |= rc > 0;
	}
	if (rc >= 0 && options_has(options, "git")) {
		rc = submit_add_git(submit->tree, err);
		submit->changed = true;
	}
	if (rc < 0)
		return rc;
	submit_find_files(submit, path, is_script, options);
	submit_follow_imports(submit);
	return 0;
}

void submit_free(struct submit *submit)
{
	for (size_t i = 0; i < submit->files.len; i++) {
		free(submit->files.at[i].path);
		free(submit->files.at[i].local);
		free(submit->files.at[i].upload);
	}
	free(submit->files.at);
	buf_free(&submit->missing);
	buf_free(&submit->notes);
	buf_free(&submit->taken);
	buf_free(&submit->unseen);
	node_free(submit->tree);
	node_free(submit->caller);
	buf_free(&submit->source);
	free(submit->name);
}

/* The node that a JSON pointer names, or NULL. */
static const struct node *submit_at_pointer(const struct node *node, const char *pointer)
{
	while (node && *pointer == '/') {
		size_t len = strcspn(++pointer, "/");
		const struct node *found = NULL;
		for (size_t i = 0; i < node->count; i++) {
			char *name = node->type == NODE_MAP ? mem_strdup(node->items[i]->key) : mem_printf("%zu", i);
			if (strlen(name) == len && memcmp(name, pointer, len) == 0)
				found = node->items[i];
			free(name);
		}
		node = found;
		pointer += len;
	}
	return node;
}

/* A part of a JSON pointer as it was: ~1 stands for a slash, ~0 for a tilde. */
static void submit_unescape(char *part)
{
	char *to = part;
	for (const char *from = part; *from; from++) {
		bool escape = from[0] == '~' && (from[1] == '0' || from[1] == '1');
		*to++ = !escape ? *from : from[1] == '1' ? '/' : '~';
		from += escape;
	}
	*to = '\0';
}

/* "/parameters/units" as people write it: parameters.units */
static void submit_add_field(struct buf *out, const char *pointer)
{
	for (bool first = true; *pointer == '/'; first = false) {
		size_t len = strcspn(++pointer, "/");
		if (!first)
			buf_add_char(out, '.');
		char *part = mem_copy(pointer, len);
		submit_unescape(part);
		term_add_safe(out, part);
		free(part);
		pointer += len;
	}
}

/* The line of the source, and a mark under the column. */
static void submit_add_source_line(const struct submit *submit, int line, int column, const struct term *term,
				   struct buf *out)
{
	const char *at = buf_text(&submit->source);
	for (int i = 1; i < line && at; i++) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at || column < 1)
		return;
	char *text = mem_copy(at, strcspn(at, "\r\n"));
	struct buf safe = buf_make(4096), cut = buf_make(8192);
	term_add_safe(&safe, text);
	term_add_cut(&cut, buf_text(&safe), term->width - 4, term);
	buf_addf(out, "    %s\n", buf_text(&cut));
	if (column + 4 < term->width) {
		buf_addf(out, "    %*s", column - 1, "");
		term_add_coloured(out, TERM_RED, "^", term);
		buf_add_char(out, '\n');
	}
	buf_free(&safe);
	buf_free(&cut);
	free(text);
}

static void submit_add_problem(const struct submit *submit, const struct node *problem, const struct term *term,
			       struct buf *out)
{
	const char *field = node_get_string(problem, "field"), *remedy = node_get_string(problem, "remedy");
	const char *message = node_get_string(problem, "message");
	int line = (int)node_get_int(problem, "line", 0), column = (int)node_get_int(problem, "column", 0);
	if (!line && field) {
		const struct node *at = submit_at_pointer(submit->tree, field);
		line = at ? at->line : 0;
		column = at ? at->column : 0;
	}
	if (submit->name) {
		term_add_safe(out, submit->name);
		if (line)
			buf_addf(out, ":%d:%d", line, column);
	} else {
		buf_add_text(out, "sluice");
	}
	buf_add_text(out, ": ");
	if (field && *field) {
		submit_add_field(out, field);
		buf_add_text(out, ": ");
	}
	term_add_safe(out, message ? message : "is not valid");
	if (remedy && *remedy) {
		buf_add_text(out, "; ");
		term_add_safe(out, remedy);
	}
	buf_add_char(out, '\n');
	if (term->tty && submit->name && line)
		submit_add_source_line(submit, line, column, term, out);
}

bool submit_add_problems(const struct submit *submit, const struct reply *reply, const struct term *term,
			 struct buf *out)
{
	struct node *answer = NULL;
	if (node_parse_json(buf_text(&reply->body), reply->body.len, &answer, NULL) < 0)
		return false;
	const struct node *errors = node_get(answer, "errors");
	size_t count = errors && errors->type == NODE_LIST ? errors->count : 0;
	for (size_t i = 0; i < count; i++)
		submit_add_problem(submit, errors->items[i], term, out);
	node_free(answer);
	return count > 0;
}
