/* See ran.h. What differs from task to task (parameters, seed, job, GPUs) is not in it: the task and the attempt have those. */
#include "node/ran.h"

#include "base/environ.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/sum.h"
#include "base/text.h"
#include "node/packages.h"
#include "node/setup.h"
#include "spool/paths.h"
#include "spool/pythons.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define RAN_VALUE_BYTES 2048
#define RAN_VARIABLES 400
#define RAN_HEAD_BYTES 8192
#define RAN_ENVIRON_BYTES (1u << 20)
#define RAN_GPUS 64

static const char *ran_variable(char *const *variables, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; variables[i]; i++)
		if (strncmp(variables[i], name, len) == 0 && variables[i][len] == '=')
			return variables[i] + len + 1;
	return NULL;
}

/* Says nothing about what ran, or differs from task to task. */
static bool ran_is_noise(const char *name)
{
	static const char *const beginnings[] = {"SLUICE_",  "SLURM",        "SSH_",   "XDG_",  "DBUS_", "BASH_FUNC_",
						 "__LMOD",   "_ModuleTable", "LESS",   "PMIX_", "PMI_",  "GNOME_",
						 "COLUMNS=", "LINES=",       "PROMPT", "PS1="};
	static const char *const names[] = {
		"_",
		"PWD",
		"OLDPWD",
		"SHLVL",
		"TERM",
		"LS_COLORS",
		"CUDA_VISIBLE_DEVICES",
		"TMPDIR",
		"HOSTNAME",
		"MAIL",
		"LOGNAME",
		"EDITOR",
		"INVOCATION_ID",
		"GPU_DEVICE_ORDINAL",
		"COLORTERM",
		"WINDOWID",
		"DISPLAY",
		"XAUTHORITY",
		"PAGER",
		"JOURNAL_STREAM",
		"ROCR_VISIBLE_DEVICES",
		"TMUX",
		"TMUX_PANE",
		"STY",
		"MEMORY_PRESSURE_WATCH",
		"MEMORY_PRESSURE_WRITE",
	};
	size_t len = strcspn(name, "=");
	for (size_t i = 0; i < COUNT_OF(beginnings); i++)
		if (text_starts(name, beginnings[i]))
			return true;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* scheme://user:password@host */
static bool ran_has_password(const char *value)
{
	const char *at = strstr(value, "://");
	size_t len = at ? strcspn(at + 3, "/@ ") : 0;
	return at && at[3 + len] == '@' && memchr(at + 3, ':', len);
}

static int ran_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void ran_put_environment(char *const *variables, struct json *out)
{
	VEC(char *) kept = {0};
	for (size_t i = 0; variables[i]; i++)
		if (strchr(variables[i], '=') && !ran_is_noise(variables[i]) && kept.len < RAN_VARIABLES)
			vec_push(&kept, variables[i]);
	if (kept.len)
		qsort(kept.at, kept.len, sizeof(*kept.at), ran_compare);
	json_key(out, "environment");
	json_map(out);
	for (size_t i = 0; i < kept.len; i++) {
		char *name = mem_copy(kept.at[i], strcspn(kept.at[i], "="));
		const char *value = kept.at[i] + strlen(name) + 1;
		json_key(out, name);
		if (environ_is_secret(name) || ran_has_password(value))
			json_put_string(out, "(hidden)");
		else
			json_put_string_n(out, value, strnlen(value, RAN_VALUE_BYTES));
		free(name);
	}
	json_end(out);
	free(kept.at);
}

static void ran_put_modules(char *const *variables, struct json *out)
{
	const char *loaded = ran_variable(variables, "LOADEDMODULES");
	json_key(out, "modules");
	json_list(out);
	for (const char *at = loaded ? loaded : ""; *at;) {
		size_t len = strcspn(at, ":");
		if (len)
			json_put_string_n(out, at, len);
		at += len + (at[len] == ':');
	}
	json_end(out);
}

static void ran_put_script(const struct spool_descriptor *d, struct json *out)
{
	char *path = d->script ? mem_printf("%s/%s", d->work_dir, d->script) : NULL;
	char hex[65] = "";
	json_key(out, "script");
	if (path && spool_ran_hash_file(path, hex) == 0) {
		json_map(out);
		json_key_string(out, "path", d->script);
		json_key_string(out, "sha256", hex);
		json_end(out);
	} else {
		json_put_null(out);
	}
	free(path);
}

/* Up to RAN_HEAD_BYTES of a file of /proc, which tells no size. */
static bool ran_read_head(const char *path, char text[RAN_HEAD_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, RAN_HEAD_BYTES - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void ran_put_value(const char *path, const char *name, const char *key, struct json *out)
{
	char text[RAN_HEAD_BYTES];
	char *value = ran_read_head(path, text) ? spool_find_value(text, name) : NULL;
	json_key_string(out, key, value);
	free(value);
}

static void ran_put_system(struct json *out)
{
	struct utsname uts = {0};
	uname(&uts);
	json_key(out, "system");
	json_map(out);
	ran_put_value("/etc/os-release", "PRETTY_NAME", "os", out);
	json_key_string(out, "kernel", uts.release);
	ran_put_value("/proc/cpuinfo", "model name", "cpu", out);
	json_end(out);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …": the first word that is a version. */
static char *ran_driver(const char *line)
{
	for (const char *at = line; *at && *at != '\n';) {
		size_t len = strcspn(at, " \t\n");
		if (len > 2 && isdigit((unsigned char)*at) && memchr(at, '.', len) && strspn(at, "0123456789.") == len)
			return mem_copy(at, len);
		at += len;
		at += strspn(at, " \t");
	}
	return NULL;
}

static void ran_put_models(const char *folder, struct json *out)
{
	struct dirent **names = NULL;
	char text[RAN_HEAD_BYTES];
	int count = scandir(folder, &names, NULL, alphasort);
	json_key(out, "models");
	json_list(out);
	for (int i = 0; i < count; i++) {
		char *path = mem_printf("%s/%s/information", folder, names[i]->d_name);
		char *model = names[i]->d_name[0] != '.' && i < RAN_GPUS + 2 && ran_read_head(path, text)
			? spool_find_value(text, "Model")
			: NULL;
		if (model)
			json_put_string(out, model);
		free(model);
		free(path);
		free(names[i]);
	}
	free(names);
	json_end(out);
}

static void ran_put_gpu(const char *folder, struct json *out)
{
	char text[RAN_HEAD_BYTES];
	char *version = mem_printf("%s/version", folder), *gpus = mem_printf("%s/gpus", folder);
	json_key(out, "gpu");
	if (ran_read_head(version, text)) {
		char *driver = ran_driver(text);
		json_map(out);
		json_key_string(out, "driver", driver);
		ran_put_models(gpus, out);
		json_end(out);
		free(driver);
	} else {
		json_put_null(out);
	}
	free(version);
	free(gpus);
}

/* A program as execvp(3) finds it, as an absolute path; NULL: nowhere. */
static char *ran_look_up(const struct spool_descriptor *d, char *const *variables, const char *name)
{
	const char *path = ran_variable(variables, "PATH");
	if (name[0] == '/')
		return mem_strdup(name);
	if (strchr(name, '/'))
		return mem_printf("%s/%s", d->work_dir, name);
	for (const char *at = path && *path ? path : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		char *found = mem_printf("%.*s/%s", (int)len, at, name);
		if (*at == '/' && access(found, X_OK) == 0)
			return found;
		free(found);
		at += len + (at[len] == ':');
	}
	return NULL;
}

/* The one that runs the script, or that a program finds which is not Python's; behind a shim of pyenv the one it starts. */
static char *ran_python(const struct spool_descriptor *d, char *const *variables)
{
	const char *program = d->argv->items[0]->string, *slash = strrchr(program, '/');
	bool itself = text_starts(slash ? slash + 1 : program, "python");
	char *path = ran_look_up(d, variables, itself ? program : "python3");
	if (!path && !itself)
		path = ran_look_up(d, variables, "python");
	char *real = path ? spool_python_unshim(path, ran_variable(variables, "PYENV_VERSION"), d->work_dir,
						ran_variable(variables, "PATH"))
			  : NULL;
	if (!real)
		return path;
	free(path);
	return real;
}

/* Writes the text itself into an empty buffer. */
static void ran_write(const struct spool_descriptor *d, const struct spool_caller *caller, char *const *variables,
		      struct buf *text)
{
	struct json out = json_to(text);
	char *python = ran_python(d, variables);
	json_map(&out);
	json_key_string(&out, "sluice", SLUICE_VERSION);
	ran_put_script(d, &out);
	json_key(&out, "git");
	if (caller->git)
		node_write_json(caller->git, &out);
	else
		json_put_null(&out);
	packages_write(python, ran_variable(variables, "HOME"), &out);
	ran_put_modules(variables, &out);
	ran_put_system(&out);
	ran_put_gpu("/proc/driver/nvidia", &out);
	ran_put_environment(variables, &out);
	json_end(&out);
	free(python);
}

/* Of everything that decides what ran_write writes. To find that out costs more than anything else the runner does, and
 * most attempts of an experiment run the same on a machine. */
static uint64_t ran_sum(const struct spool_descriptor *d, const struct spool_caller *caller, char *const *variables)
{
	uint64_t sum = SUM_EMPTY;
	char *python = ran_python(d, variables),
	     *script = d->script ? mem_printf("%s/%s", d->work_dir, d->script) : NULL;
	char driver[RAN_HEAD_BYTES];
	sum_add_text(&sum, SLUICE_VERSION);
	sum_add_text(&sum, proc_boot_id());
	sum_add_file(&sum, "/etc/os-release");
	ran_read_head("/proc/driver/nvidia/version", driver);
	sum_add_text(&sum, driver);
	if (script) {
		sum_add_text(&sum, d->script);
		sum_add_file(&sum, script);
	}
	if (caller->git) {
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json out = json_to(&text);
		node_write_json(caller->git, &out);
		sum_add_text(&sum, buf_text(&text));
		buf_free(&text);
	}
	for (size_t i = 0; variables[i]; i++)
		if (!ran_is_noise(variables[i]))
			sum_add_text(&sum, variables[i]);
	if (python)
		packages_sum(python, ran_variable(variables, "HOME"), &sum);
	free(python);
	free(script);
	return sum;
}

/* Makes the file, unless it is there, and gives its digest. `variables` is what the script has: NAME=value, NULL-terminated. */
static int ran_record(const struct spool_descriptor *d, const struct environment *e, char *const *variables, bool sync,
		      char digest[SPOOL_RAN_CHARS], struct error *err)
{
	uint64_t sum = ran_sum(d, &e->caller, variables);
	if (spool_ran_recall(d->ran_dir, sum, digest))
		return 0;
	struct buf text = buf_make(SPOOL_RAN_BYTES);
	ran_write(d, &e->caller, variables, &text);
	int rc = text.full ? errorf(err, -E2BIG, "it is larger than %u bytes", SPOOL_RAN_BYTES)
			   : spool_ran_write(d->ran_dir, buf_text(&text), text.len, sync, digest, err);
	if (rc == 0)
		spool_ran_remember(d->ran_dir, sum, digest);
	buf_free(&text);
	return rc;
}

/* The same with the environment that the setup lines have left. -EAGAIN: they have not ended. */
static int ran_record_after_setup(const struct spool_descriptor *d, const struct environment *e, bool sync,
				  char digest[SPOOL_RAN_CHARS], struct error *err)
{
	struct buf text = buf_make(RAN_ENVIRON_BYTES);
	VEC(char *) variables = {0};
	char *path = spool_path(d->attempt_dir, SPOOL_ENVIRON);
	int rc = fs_read(path, RAN_ENVIRON_BYTES, &text, err);
	const char *at = buf_text(&text), *end = at + text.len;
	if (rc == -ENOENT || (rc == 0 && (text.len < 2 || end[-1] || end[-2]))) /* an empty one is the last */
		rc = -EAGAIN;
	else
		unlink(path);
	for (; rc == 0 && at < end && *at; at += strlen(at) + 1)
		vec_push(&variables, (char *)at);
	vec_push(&variables, NULL);
	if (rc == 0)
		rc = ran_record(d, e, variables.at, sync, digest, err);
	free(variables.at);
	buf_free(&text);
	free(path);
	return rc;
}

static void ran_tell(struct recorder *recorder, int rc, const char *digest, const struct error *err)
{
	if (rc == 0) {
		recorder_append(recorder, &(struct journal_record){.kind = JOURNAL_RAN, .digest = digest});
	} else {
		char *text = mem_printf("what ran could not be recorded: %s", err->text);
		recorder_note(recorder, text);
		free(text);
	}
}

bool ran_begin(const struct spool_descriptor *d, const struct environment *e, const char *gpus,
	       struct recorder *recorder)
{
	char digest[SPOOL_RAN_CHARS];
	struct error err = {0};
	if (!d->ran_dir)
		return false;
	if (setup_is_needed(d))
		return true;
	char **variables = environment_make(e, d, gpus);
	int rc = ran_record(d, e, variables, recorder->shared, digest, &err);
	ran_tell(recorder, rc, digest, &err);
	environment_free_made(variables);
	return false;
}

bool ran_is_pending(const struct spool_descriptor *d, const struct environment *e, struct recorder *recorder)
{
	char digest[SPOOL_RAN_CHARS];
	struct error err = {0};
	int rc = ran_record_after_setup(d, e, recorder->shared, digest, &err);
	if (rc == -EAGAIN)
		return true;
	ran_tell(recorder, rc, digest, &err);
	return false;
}
