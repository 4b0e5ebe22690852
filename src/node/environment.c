/* See environment.h. The daemon has left the Python environment it was started in (base/environ.h), so what the runner
 * inherits is neutral, or what a batch template of the user activated. */
#include "node/environment.h"

#include "base/fs.h"
#include "base/text.h"
#include "spool/interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define ENVIRONMENT_HEAD_BYTES 512

extern char **environ;

typedef VEC(char *) environment_texts;

static void environment_add(struct node *list, const char *text)
{
	node_add(list, NULL, node_new_string(text));
}

static bool environment_is_python(const char *program)
{
	const char *slash = strrchr(program, '/');
	return text_starts(slash ? slash + 1 : program, "python");
}

/* LOADEDMODULES of the runner. */
static struct node *environment_loaded(void)
{
	struct node *list = node_new(NODE_LIST);
	const char *text = getenv("LOADEDMODULES");
	for (const char *at = text ? text : ""; *at;) {
		size_t len = strcspn(at, ":");
		char *name = mem_copy(at, len);
		if (*name)
			environment_add(list, name);
		free(name);
		at += len + (at[len] == ':');
	}
	return list;
}

/* The caller's modules, or those of the file, where others are loaded here. They come before the setup lines. */
static void environment_add_modules(struct environment *e, struct spool_descriptor *d)
{
	const struct node *wanted = d->modules ? d->modules : e->caller.modules;
	struct node *loaded = environment_loaded();
	struct buf line = buf_make(BUF_UNLIMITED);
	if (wanted && !node_equal(wanted, loaded)) {
		if (loaded->count)
			buf_add_text(&line, "module purge");
		for (size_t i = 0; i < wanted->count; i++) {
			buf_add_text(&line, i ? " " : line.len ? " && module load " : "module load ");
			buf_add_text(&line, wanted->items[i]->string);
		}
	}
	if (line.len) {
		e->setup = node_new(NODE_LIST);
		environment_add(e->setup, buf_text(&line));
		for (size_t i = 0; d->setup && i < d->setup->count; i++)
			environment_add(e->setup, d->setup->items[i]->string);
		d->setup = e->setup;
		d->setup_added = 1;
	}
	buf_free(&line);
	node_free(loaded);
}

/* What the first line of the script says; NULL: nothing. */
static struct node *environment_shebang(const struct spool_descriptor *d)
{
	char head[ENVIRONMENT_HEAD_BYTES];
	char *path = mem_printf("%s/%s", d->work_dir, d->script);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	free(path);
	return n > 0 ? spool_read_shebang(head, (size_t)n) : NULL;
}

static bool environment_may_run(const struct spool_descriptor *d)
{
	char *path = mem_printf("%s/%s", d->work_dir, d->script);
	bool may = access(path, X_OK) == 0;
	free(path);
	return may;
}

/* Puts `program` in place of the first word of argv, or in front of it. */
static void environment_replace(struct environment *e, struct spool_descriptor *d, const struct node *program,
				bool in_front)
{
	struct node *argv = node_new(NODE_LIST);
	for (size_t i = 0; i < program->count; i++)
		environment_add(argv, program->items[i]->string);
	for (size_t i = in_front ? 0 : 1; i < d->argv->count; i++)
		environment_add(argv, d->argv->items[i]->string);
	d->argv = e->argv = argv;
}

/* The program of environment.python comes first, then what the script's first line names, if it is here. */
static void environment_choose_program(struct environment *e, struct spool_descriptor *d, struct buf *notes)
{
	const char *usual = d->argv->items[0]->string;
	bool explicit = d->python && strcmp(d->python, "auto") != 0 && strcmp(d->python, "none") != 0;
	bool direct = d->script && strchr(usual, '/');
	if (environment_is_python(usual) && !direct && explicit) {
		struct node *program = node_new(NODE_LIST);
		environment_add(program, e->python.program ? e->python.program : usual);
		environment_replace(e, d, program, false);
		node_free(program);
		return;
	}
	if (!d->script || (direct && environment_may_run(d)))
		return;
	struct node *words = environment_shebang(d);
	const char *named = words ? words->items[0]->string : NULL;
	if (named && strchr(named, '/') && access(named, X_OK) < 0 && !direct)
		buf_addf(notes, "%s: %s of its first line is not on this machine; %s runs it\n", d->script, named,
			 usual);
	else if (words)
		environment_replace(e, d, words, direct);
	node_free(words);
}

int environment_open(struct spool_descriptor *d, struct buf *notes, struct environment *ret, struct error *err)
{
	*ret = (struct environment){.caller = spool_caller_read(d->caller)};
	bool automatic = !d->python || strcmp(d->python, "auto") == 0;
	int rc = spool_python_choose(d->python, ret->caller.python, &ret->python, err);
	if (rc < 0 && automatic && !environment_is_python(d->argv->items[0]->string)) {
		buf_addf(notes, "%s\n", err->text);
		rc = 0;
	}
	if (rc < 0)
		return rc;
	environment_choose_program(ret, d, notes);
	environment_add_modules(ret, d);
	return 0;
}

void environment_free(struct environment *e)
{
	spool_caller_free(&e->caller);
	spool_python_free(&e->python);
	node_free(e->setup);
	node_free(e->argv);
	*e = (struct environment){0};
}

/* Adds NAME=value, replacing a variable of that name; takes the text. */
static void environment_set(environment_texts *env, char *give)
{
	size_t name = strcspn(give, "=") + 1;
	for (size_t i = 0; i < env->len; i++) {
		if (strncmp(env->at[i], give, name) == 0) {
			free(env->at[i]);
			env->at[i] = give;
			return;
		}
	}
	vec_push(env, give);
}

/* The value of NAME, or NULL. */
static const char *environment_get(const environment_texts *env, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < env->len; i++)
		if (strncmp(env->at[i], name, len) == 0 && env->at[i][len] == '=')
			return env->at[i] + len + 1;
	return NULL;
}

static const char *environment_path(const environment_texts *env)
{
	const char *path = environment_get(env, "PATH");
	return path && *path ? path : "/usr/local/bin:/usr/bin:/bin";
}

static void environment_set_all(environment_texts *env, const struct node *map)
{
	for (size_t i = 0; map && i < map->count; i++)
		environment_set(env, mem_printf("%s=%s", map->items[i]->key, map->items[i]->string));
}

/* What `activate` sets, less the prompt. */
static void environment_activate(environment_texts *env, const struct spool_python *python)
{
	if (!python->prefix)
		return;
	const char *slash = strrchr(python->prefix, '/');
	environment_set(env, mem_printf("%s=%s", python->conda ? "CONDA_PREFIX" : "VIRTUAL_ENV", python->prefix));
	if (python->conda)
		environment_set(env, mem_printf("CONDA_DEFAULT_ENV=%s", slash ? slash + 1 : python->prefix));
	environment_set(env, mem_printf("PATH=%s/bin:%s", python->prefix, environment_path(env)));
}

/* Libraries that start a thread for every core of the machine start as many as the task has. */
static void environment_limit_threads(environment_texts *env, int64_t cpus)
{
	static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
					    "NUMEXPR_NUM_THREADS"};
	for (size_t i = 0; cpus > 0 && i < COUNT_OF(names); i++)
		if (!environment_get(env, names[i]))
			environment_set(env, mem_printf("%s=%" PRId64, names[i], cpus));
}

/* `sluice report` must be found by a script whose PATH does not have it; it comes last there. */
static void environment_extend_path(environment_texts *env, const char *program)
{
	const char *slash = strrchr(program, '/');
	if (slash)
		environment_set(env,
				mem_printf("PATH=%s:%.*s", environment_path(env), (int)(slash - program), program));
}

/* The sampler finds a card by its place on the bus, CUDA by default by its speed: both must mean the same one. What the
 * user sets stays. */
static void environment_order_gpus(environment_texts *env, const char *gpus)
{
	const char *given = gpus ? gpus : getenv("CUDA_VISIBLE_DEVICES");
	const char *seen = environment_get(env, "CUDA_VISIBLE_DEVICES");
	if (given && seen && *given >= '0' && *given <= '9' && !strcmp(given, seen) &&
	    !environment_get(env, "CUDA_DEVICE_ORDER"))
		environment_set(env, mem_strdup("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
}

static void environment_tell(environment_texts *env, const struct spool_descriptor *d, const char *gpus)
{
	char *program = fs_program();
	environment_extend_path(env, program);
	environment_set(env, mem_printf("SLUICE_BIN=%s", program));
	environment_set(env, mem_printf("SLUICE_EXPERIMENT=%s", d->experiment));
	environment_set(env, mem_printf("SLUICE_TASK=%" PRId64, d->task));
	environment_set(env, mem_printf("SLUICE_ATTEMPT=%" PRId64, d->attempt));
	environment_set(env, mem_printf("SLUICE_TASK_DIR=%s", d->task_dir));
	environment_set(env, mem_printf("SLUICE_CHECKPOINT_DIR=%s", d->checkpoint_dir));
	environment_set(env, mem_printf("SLUICE_PARAMS=%s", d->params_path));
	environment_set(env, mem_printf("SLUICE_REPORT=%s", d->report_path));
	if (d->checkpoint_signal)
		environment_set(env, mem_printf("SLUICE_CHECKPOINT_SIGNAL=%s", sigabbrev_np(d->checkpoint_signal)));
	if (spool_descriptor_resumes(d))
		environment_set(env, mem_strdup("SLUICE_RESUME=1"));
	if (gpus)
		environment_set(env, mem_printf("CUDA_VISIBLE_DEVICES=%s", gpus));
	environment_order_gpus(env, gpus);
	free(program);
}

char **environment_make(const struct environment *e, const struct spool_descriptor *d, const char *gpus)
{
	environment_texts env = {0};
	for (char **own = environ; *own; own++)
		vec_push(&env, mem_strdup(*own));
	if (!getenv("PYTHONUNBUFFERED")) /* else Python's output shows up only when the script ends */
		environment_set(&env, mem_strdup("PYTHONUNBUFFERED=1"));
	environment_set_all(&env, e->caller.variables);
	environment_activate(&env, &e->python);
	environment_set_all(&env, d->env);
	environment_limit_threads(&env, d->cpus);
	environment_tell(&env, d, gpus);
	vec_push(&env, NULL);
	return env.at;
}

void environment_free_made(char **variables)
{
	for (size_t i = 0; variables[i]; i++)
		free(variables[i]);
	free(variables);
}
