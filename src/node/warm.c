/* The runner's side of a warm start: which script may, its keeper, and the stand-in. See warm.h and keeper.py. */
#include "node/warm.h"

#include "base/fs.h"
#include "base/imports.h"
#include "base/limits.h"
#include "base/pace.h"
#include "base/text.h"
#include "base/token.h"
#include "node/launch.h"
#include "node/setup.h"
#include "spool/mark.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In place of what the kernel shows of a process: keeper.py writes there. */
#define WARM_PAD_CHARS 8192
#define WARM_KEY_CHARS 24
#define WARM_FILES_MOST 32
#define WARM_SCRIPT_BYTES (1u << 20)
#define WARM_REASON_BYTES 1024
/* How long a reason not to start warm counts. */
#define WARM_COLD_S 600
/* The descriptor on which a keeper finds its lock. keeper.py knows the number. */
#define WARM_LOCK_FD 3
/* Each may hold a gigabyte. Beyond it the one that was not used for longest goes when its tasks have ended. */
#define WARM_KEEPERS_MOST 8

extern const char node_keeper[];

/* What a keeper imports. Only libraries that are known to bear a fork after the import; their import is what takes the
 * time. `slow` ones are worth a keeper. */
static const struct warm_library {
	const char *name;
	bool slow;
} warm_libraries[] = {
	{"accelerate", true},   {"cv2", false},
	{"datasets", true},     {"einops", false},
	{"flax", true},         {"jax", true},
	{"keras", true},        {"lightgbm", true},
	{"lightning", true},    {"matplotlib", true},
	{"numpy", true},        {"pandas", true},
	{"PIL", false},         {"pytorch_lightning", true},
	{"scipy", true},        {"sklearn", true},
	{"tensorflow", true},   {"timm", true},
	{"torch", true},        {"torchaudio", true},
	{"torchmetrics", true}, {"torchvision", true},
	{"tqdm", false},        {"transformers", true},
	{"xgboost", true},      {"yaml", false},
};

typedef VEC(char *) warm_texts;

static void warm_free_texts(warm_texts *texts)
{
	for (size_t i = 0; i < texts->len; i++)
		free(texts->at[i]);
	free(texts->at);
}

static bool warm_has_text(const warm_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->len; i++)
		if (!strcmp(texts->at[i], text))
			return true;
	return false;
}

static const struct warm_library *warm_library_of(const char *module)
{
	size_t len = strcspn(module, ".");
	for (size_t i = 0; i < COUNT_OF(warm_libraries); i++)
		if (strlen(warm_libraries[i].name) == len && !strncmp(warm_libraries[i].name, module, len))
			return &warm_libraries[i];
	return NULL;
}

/* environ["NAME"] = value; reading one does not count. */
static bool warm_assigns_variable(const char *text)
{
	for (const char *at = text; (at = strstr(at, "environ[")); at++) {
		const char *end = at + strcspn(at, "]\n");
		if (*end != ']')
			continue;
		end += 1 + strspn(end + 1, " \t");
		if ((end[0] == '=' && end[1] != '=') || (end[0] == '+' && end[1] == '='))
			return true;
	}
	return false;
}

/* Does it set variables, which a library may read when it is imported? */
static bool warm_sets_variables(const char *text)
{
	static const char *const ways[] = {"environ.update", "environ.setdefault", "environ.pop", "environ.clear",
					   "environ |=",     "del os.environ",     "putenv(",     "load_dotenv"};
	for (size_t i = 0; i < COUNT_OF(ways); i++)
		if (strstr(text, ways[i]))
			return true;
	return warm_assigns_variable(text);
}

/* Adds the libraries that a file of the work folder imports, and those of the files beside it that it imports. */
static void warm_read_file(const char *path, const char *folder, warm_texts *files, warm_texts *modules,
			   bool *sets_variables)
{
	struct buf text = buf_make(WARM_SCRIPT_BYTES);
	struct imports found = {0};
	if (files->len == WARM_FILES_MOST || warm_has_text(files, path) ||
	    fs_read(path, WARM_SCRIPT_BYTES, &text, NULL) < 0) {
		buf_free(&text);
		return;
	}
	vec_push(files, mem_strdup(path));
	*sets_variables |= warm_sets_variables(buf_text(&text));
	imports_read(text.data, text.len, &found);
	for (size_t i = 0; i < found.modules.len; i++) {
		const char *module = found.modules.at[i];
		char *beside = mem_printf("%s/%.*s.py", folder, (int)strcspn(module, "."), module);
		if (access(beside, F_OK) == 0)
			warm_read_file(beside, folder, files, modules, sets_variables);
		else if (warm_library_of(module) && !warm_has_text(modules, module))
			vec_push(modules, mem_strdup(module));
		free(beside);
	}
	imports_free(&found);
	buf_free(&text);
}

/* Is it `python script.py ...`, without options and setup lines? */
static bool warm_is_plain(const struct spool_descriptor *d)
{
	if (!d->warm_dir || setup_is_needed(d) || d->argv->count < 2)
		return false;
	const char *program = d->argv->items[0]->string, *slash = strrchr(program, '/');
	const char *script = d->argv->items[1]->string;
	return text_starts(slash ? slash + 1 : program, "python") && script[0] != '-' && text_ends(script, ".py");
}

static int warm_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The environment of a keeper: nothing that belongs to one task. A GPU is chosen when it is first used. */
static warm_texts warm_common(char *const *env)
{
	warm_texts common = {0};
	for (; *env; env++)
		if (!text_starts(*env, "SLUICE_") && !text_starts(*env, "CUDA_VISIBLE_DEVICES=") &&
		    !text_starts(*env, "CUDA_MPS_") && !text_starts(*env, "_="))
			vec_push(&common, mem_strdup(*env));
	qsort(common.at, common.len, sizeof(*common.at), warm_compare);
	return common;
}

/* The interpreter, looked up in the PATH of the script. NULL: there is none. */
static char *warm_find_python(const char *program, const warm_texts *env)
{
	if (strchr(program, '/'))
		return access(program, X_OK) == 0 ? mem_strdup(program) : NULL;
	for (size_t i = 0; i < env->len; i++) {
		if (!text_starts(env->at[i], "PATH="))
			continue;
		for (const char *at = env->at[i] + 5; *at; at += *at == ':') {
			size_t len = strcspn(at, ":");
			char *path = mem_printf("%.*s/%s", (int)len, at, program);
			if (len && access(path, X_OK) == 0)
				return path;
			free(path);
			at += len;
		}
	}
	return NULL;
}

/* Everything that makes two keepers different. */
static void warm_make_key(const char *python, const warm_texts *env, const warm_texts *modules,
			  char key[static TOKEN_HASH_CHARS])
{
	struct buf text = buf_make(BUF_UNLIMITED);
	buf_addf(&text, "%s\n%s\n", node_keeper, python);
	for (size_t i = 0; i < env->len; i++)
		buf_addf(&text, "%s\n", env->at[i]);
	for (size_t i = 0; i < modules->len; i++)
		buf_addf(&text, "%s\n", modules->at[i]);
	token_hash(text.data, text.len, key);
	key[WARM_KEY_CHARS] = 0;
	buf_free(&text);
}

/* Why scripts like this one cannot start warm; false: nothing is known against it. */
static bool warm_read_cold(int dir, const char *key, struct buf *notes)
{
	char name[TOKEN_HASH_CHARS + 8], why[WARM_REASON_BYTES];
	snprintf(name, sizeof(name), "%s.cold", key);
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	struct stat st;
	if (fstat(fd, &st) == 0 && time(NULL) - st.st_mtime > WARM_COLD_S) { /* it may have been lack of memory */
		close(fd);
		unlinkat(dir, name, 0);
		return false;
	}
	ssize_t n = read(fd, why, sizeof(why) - 1);
	close(fd);
	why[n > 0 ? n : 0] = 0;
	buf_addf(notes, "started cold: %.*s\n", (int)strcspn(why, "\n"), why);
	return true;
}

/* The path is that of a descriptor: those of sockets may have 107 characters only. */
static int warm_connect(int dir, const char *key)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s.sock", dir, key);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == getuid())
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In the process that becomes the keeper; `text` holds its program. */
static _Noreturn void warm_be_keeper(const char *python, const char *folder, const char *key, warm_texts *env,
				     const warm_texts *modules, int lock, int text)
{
	char number[16];
	warm_texts argv = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	launch_reset_signals();
	setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			_exit(1);
	int program = fcntl(text, F_DUPFD, WARM_LOCK_FD + 1), kept = fcntl(lock, F_DUPFD, WARM_LOCK_FD + 1);
	if (program < 0 || kept < 0 || dup2(kept, WARM_LOCK_FD) < 0)
		_exit(1);
	close(kept);
	snprintf(number, sizeof(number), "%d", program);
	vec_push(&argv, (char *)python);
	vec_push(&argv, (char *)"-c");
	vec_push(&argv,
		 mem_printf("exec(compile(open(%s, encoding='utf-8').read(), 'sluice-keeper', 'exec'))", number));
	vec_push(&argv, (char *)folder);
	vec_push(&argv, (char *)key);
	for (size_t i = 0; i < modules->len; i++)
		vec_push(&argv, modules->at[i]);
	vec_push(&argv, NULL);
	char *pad = mem_array(WARM_PAD_CHARS, 1);
	memset(pad, '.', WARM_PAD_CHARS - 1);
	vec_push(env, mem_printf("SLUICE_KEEPER_PAD=%s", pad));
	vec_push(env, NULL);
	execve(python, argv.at, env->at);
	_exit(127);
}

/* A keeper whose socket is gone ends. */
static void warm_make_room(const char *folder, int dir)
{
	char oldest[NAME_MAX + 1] = "";
	struct timespec then = {0};
	size_t count = 0;
	DIR *list = opendir(folder);
	struct dirent *entry;
	while (list && (entry = readdir(list))) {
		struct stat st;
		if (!text_ends(entry->d_name, ".sock") || fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bool older = st.st_mtim.tv_sec < then.tv_sec ||
			(st.st_mtim.tv_sec == then.tv_sec && st.st_mtim.tv_nsec < then.tv_nsec);
		if (!count++ || older) {
			snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
			then = st.st_mtim;
		}
	}
	if (list)
		closedir(list);
	if (count >= WARM_KEEPERS_MOST)
		unlinkat(dir, oldest, 0);
}

/* Starts a keeper, unless another runner is doing that. It belongs to no runner: it is forked twice. */
static bool warm_start_keeper(const char *folder, int dir, const char *key, const char *python, warm_texts *env,
			      const warm_texts *modules)
{
	char name[TOKEN_HASH_CHARS + 8];
	snprintf(name, sizeof(name), "%s.lock", key);
	int lock = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, SPOOL_FILE_MODE);
	int text = memfd_create("sluice-keeper", MFD_CLOEXEC);
	bool starts = lock >= 0 && text >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
		write(text, node_keeper, strlen(node_keeper)) == (ssize_t)strlen(node_keeper) &&
		lseek(text, 0, SEEK_SET) == 0;
	if (starts)
		warm_make_room(folder, dir);
	pid_t pid = starts ? fork() : -1;
	if (pid == 0) {
		if (fork() == 0)
			warm_be_keeper(python, folder, key, env, modules, lock, text);
		_exit(0);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (lock >= 0)
		close(lock);
	if (text >= 0)
		close(text);
	return pid > 0;
}

static void warm_share(struct warm *warm)
{
	void *page = mmap(NULL, sizeof(struct warm_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED) {
		warm->shared = page;
		return;
	}
	close(warm->connection);
	warm->connection = -1;
}

static char *warm_join(const warm_texts *modules)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < modules->len; i++)
		if (!strchr(modules->at[i], '.'))
			buf_addf(&text, "%s%s", text.len ? ", " : "", modules->at[i]);
	return buf_take(&text);
}

static bool warm_is_worth(const warm_texts *modules)
{
	for (size_t i = 0; i < modules->len; i++)
		if (warm_library_of(modules->at[i])->slow)
			return true;
	return false;
}

/* With the modules known: connects to the keeper, or starts one. */
static void warm_find_keeper(const struct spool_descriptor *d, char *const *given, const warm_texts *modules,
			     struct warm *ret, struct buf *notes)
{
	char key[TOKEN_HASH_CHARS];
	warm_texts env = warm_common(given);
	ret->python = warm_find_python(d->argv->items[0]->string, &env);
	int dir = -1;
	if (ret->python && (mkdir(d->warm_dir, SPOOL_FOLDER_MODE) == 0 || errno == EEXIST))
		dir = open(d->warm_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir >= 0) {
		warm_make_key(ret->python, &env, modules, key);
		if (!warm_read_cold(dir, key, notes) && (ret->connection = warm_connect(dir, key)) < 0 &&
		    warm_start_keeper(d->warm_dir, dir, key, ret->python, &env, modules))
			buf_addf(notes, "started cold; later tasks start from a process that has imported %s\n",
				 ret->modules);
		close(dir);
	}
	if (ret->connection >= 0)
		warm_share(ret);
	warm_free_texts(&env);
}

void warm_open(const struct spool_descriptor *d, char *const *env, struct warm *ret, struct buf *notes)
{
	warm_texts files = {0}, modules = {0};
	bool sets_variables = false;
	*ret = (struct warm){.connection = -1};
	if (!warm_is_plain(d))
		return;
	const char *script = d->argv->items[1]->string;
	char *path = script[0] == '/' ? mem_strdup(script) : mem_printf("%s/%s", d->work_dir, script);
	char *real = realpath(path, NULL); /* where Python looks for modules */
	const char *at = real ? real : path;
	char *folder = mem_copy(at, (size_t)(strrchr(at, '/') - at));
	warm_read_file(path, folder, &files, &modules, &sets_variables);
	if (warm_is_worth(&modules) && sets_variables) {
		buf_add_text(notes,
			     "started cold: the script sets variables of its environment, which libraries may read "
			     "when they are imported\n");
	} else if (warm_is_worth(&modules)) {
		qsort(modules.at, modules.len, sizeof(*modules.at), warm_compare);
		ret->modules = warm_join(&modules);
		warm_find_keeper(d, env, &modules, ret, notes);
	}
	warm_free_texts(&files);
	warm_free_texts(&modules);
	free(folder);
	free(real);
	free(path);
}

void warm_end(const struct warm *warm, int status, const char *attempt_dir)
{
	const struct warm_shared *shared = warm->shared;
	if (!shared || !shared->pid || !WIFSIGNALED(status))
		return;
	for (int waited = 0; kill(-shared->pid, SIGKILL) == 0 && waited < EXEC_LEFTOVER_MS;
	     waited += EXEC_LEFTOVER_LOOK_MS)
		usleep(EXEC_LEFTOVER_LOOK_MS * 1000);
	spool_mark_kill_attempt(attempt_dir);
}

void warm_count(const struct warm *warm, const struct usage *usage, struct cost *cost)
{
	const struct warm_shared *shared = warm->shared;
	if (!shared || shared->cpu_ms <= 0)
		return;
	cost_raise(cost, FIGURE_CPU, shared->cpu_ms);
	cost_raise(cost, FIGURE_MEMORY, shared->memory_bytes);
	if (shared->read_bytes >= 0 && shared->write_bytes >= 0)
		usage_take_ended(usage, shared->pid,
				 (struct usage_traffic){(uint64_t)shared->read_bytes, (uint64_t)shared->write_bytes},
				 cost);
}

void warm_free(struct warm *warm)
{
	if (warm->shared)
		munmap(warm->shared, sizeof(*warm->shared));
	free(warm->python);
	free(warm->modules);
	*warm = (struct warm){.connection = -1};
}
