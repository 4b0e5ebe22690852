/* Child processes on libuv: see proc.h. */
#include "base/proc.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct proc {
	uv_process_t process;
	uv_pipe_t in, out, err;
	uv_timer_t timer;
	uv_write_t write;
	char *input;
	struct proc_result result;
	proc_done_f done;
	void *ctx;
	int open_handles;
	bool exited;
};

/* The environment of a child: ours with `set` laid over it. The caller frees the array, not the texts. */
static char **proc_environment(const char *const *set)
{
	VEC(char *) env = {0};
	for (char **e = environ; *e; e++) {
		size_t name = strcspn(*e, "=") + 1;
		bool replaced = false;
		for (size_t i = 0; set && set[i]; i++)
			replaced |= strncmp(set[i], *e, name) == 0;
		if (!replaced)
			vec_push(&env, *e);
	}
	for (size_t i = 0; set && set[i]; i++)
		vec_push(&env, (char *)set[i]);
	vec_push(&env, NULL);
	return env.at;
}

static void proc_closed_cb(uv_handle_t *handle)
{
	struct proc *proc = handle->data;
	if (--proc->open_handles > 0)
		return;
	if (proc->done)
		proc->done(proc->ctx, &proc->result);
	proc_result_free(&proc->result);
	free(proc->input);
	free(proc);
}

static void proc_close(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, proc_closed_cb);
}

/* The process is done once the child has ended and both outputs are closed. */
static void proc_maybe_finish(struct proc *proc)
{
	if (!proc->exited || !uv_is_closing((uv_handle_t *)&proc->out) || !uv_is_closing((uv_handle_t *)&proc->err))
		return;
	proc_close((uv_handle_t *)&proc->in);
	proc_close((uv_handle_t *)&proc->timer);
	proc_close((uv_handle_t *)&proc->process);
}

static void proc_exit_cb(uv_process_t *process, int64_t status, int signal)
{
	struct proc *proc = process->data;
	proc->result.exit_code = signal ? -1 : (int)status;
	proc->result.signal = signal;
	proc->exited = true;
	proc_maybe_finish(proc);
}

static void proc_alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	(void)handle;
	ret->base = malloc(suggested);
	ret->len = ret->base ? suggested : 0;
}

static void proc_read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *chunk)
{
	struct proc *proc = stream->data;
	struct buf *to = stream == (uv_stream_t *)&proc->out ? &proc->result.out : &proc->result.err;
	if (n > 0) {
		buf_add(to, chunk->base, (size_t)n);
		proc->result.overflow |= to->full;
	}
	free(chunk->base);
	if (n < 0) {
		proc_close((uv_handle_t *)stream);
		proc_maybe_finish(proc);
	}
}

static void proc_written_cb(uv_write_t *req, int status)
{
	(void)status; /* a child that does not read its input is no fault of ours */
	struct proc *proc = req->data;
	proc_close((uv_handle_t *)&proc->in);
}

static void proc_timeout_cb(uv_timer_t *timer)
{
	struct proc *proc = timer->data;
	proc->result.timed_out = true;
	proc_kill(proc);
}

static void proc_init_handles(uv_loop_t *loop, struct proc *proc)
{
	uv_pipe_init(loop, &proc->in, 0);
	uv_pipe_init(loop, &proc->out, 0);
	uv_pipe_init(loop, &proc->err, 0);
	uv_timer_init(loop, &proc->timer);
	proc->in.data = proc->out.data = proc->err.data = proc->timer.data = proc;
	proc->process.data = proc->write.data = proc;
	proc->open_handles = 5;
}

int proc_start(uv_loop_t *loop, const struct proc_spec *spec, proc_done_f done, void *ctx, struct proc **ret,
	       struct error *err)
{
	struct proc *proc = mem_alloc(sizeof(*proc));
	size_t max = spec->output_max ? spec->output_max : LIMIT_CHILD_OUTPUT_BYTES;

	proc->done = done;
	proc->ctx = ctx;
	proc->result.exit_code = -1;
	proc->result.out = proc->result.err = buf_make(max);
	proc_init_handles(loop, proc);

	uv_stdio_container_t stdio[3] = {
		{.flags = spec->input ? UV_CREATE_PIPE | UV_READABLE_PIPE : UV_IGNORE,
		 .data.stream = (uv_stream_t *)&proc->in},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&proc->out},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&proc->err},
	};
	uv_process_options_t options = {
		.file = spec->argv[0],
		.args = (char **)spec->argv,
		.env = proc_environment(spec->env),
		.cwd = spec->cwd,
		.exit_cb = proc_exit_cb,
		.stdio = stdio,
		.stdio_count = 3,
	};
	int rc = uv_spawn(loop, &proc->process, &options);
	free(options.env);
	if (rc < 0) {
		proc->done = NULL;
		proc_close((uv_handle_t *)&proc->in);
		proc_close((uv_handle_t *)&proc->out);
		proc_close((uv_handle_t *)&proc->err);
		proc_close((uv_handle_t *)&proc->timer);
		proc_close((uv_handle_t *)&proc->process);
		return errorf(err, rc, "%s: %s", spec->argv[0], uv_strerror(rc));
	}
	uv_read_start((uv_stream_t *)&proc->out, proc_alloc_cb, proc_read_cb);
	uv_read_start((uv_stream_t *)&proc->err, proc_alloc_cb, proc_read_cb);
	if (spec->input) {
		signal(SIGPIPE,
		       SIG_IGN); /* a child that ends without reading must not end us; libuv resets it in children */
		proc->input = mem_copy(spec->input, spec->input_len);
		uv_buf_t data = uv_buf_init(proc->input, (unsigned)spec->input_len);
		if (uv_write(&proc->write, (uv_stream_t *)&proc->in, &data, 1, proc_written_cb) < 0)
			proc_close((uv_handle_t *)&proc->in);
	}
	if (spec->timeout_ms)
		uv_timer_start(&proc->timer, proc_timeout_cb, (uint64_t)spec->timeout_ms, 0);
	if (ret)
		*ret = proc;
	return 0;
}

void proc_kill(struct proc *proc)
{
	if (!proc->exited)
		uv_process_kill(&proc->process, SIGKILL);
	/* A grandchild may hold the pipes open; what is in them by now is all we wait for. */
	proc_close((uv_handle_t *)&proc->out);
	proc_close((uv_handle_t *)&proc->err);
	proc_maybe_finish(proc);
}

void proc_result_free(struct proc_result *result)
{
	buf_free(&result->out);
	buf_free(&result->err);
}

static void proc_keep_result_cb(void *ctx, const struct proc_result *result)
{
	struct proc_result *keep = ctx;
	*keep = *result;
	keep->out = buf_make(result->out.max);
	keep->err = buf_make(result->err.max);
	buf_add(&keep->out, buf_text(&result->out), result->out.len);
	buf_add(&keep->err, buf_text(&result->err), result->err.len);
}

int proc_run(const struct proc_spec *spec, struct proc_result *result, struct error *err)
{
	uv_loop_t loop;
	uv_loop_init(&loop);
	int rc = proc_start(&loop, spec, proc_keep_result_cb, result, NULL, err);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	return rc;
}

bool proc_in_path(const char *program)
{
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");
		char *file = mem_printf("%.*s/%s", (int)len, p, program);
		bool found = len && access(file, X_OK) == 0;
		free(file);
		if (found)
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

/* stdin /dev/null, stdout and stderr to fd, in `cwd` where it is given. */
static int proc_set_actions(posix_spawn_file_actions_t *actions, int fd, const char *cwd)
{
	int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, fd, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, fd, STDERR_FILENO);
	if (rc == 0 && cwd)
		rc = posix_spawn_file_actions_addchdir_np(actions, cwd);
	return -rc;
}

/* A session of its own, and no signal blocked, ignored or handled. */
static int proc_set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	int rc = posix_spawnattr_setsigmask(attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attributes, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attributes,
					      POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return -rc;
}

/* With posix_spawn, not with uv_spawn: that forks, and copies the page tables of a daemon that may be large. */
static int proc_spawn(const char *const *argv, const char *const *env, const char *cwd, int fd, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char **environment = proc_environment(env);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	int rc = proc_set_actions(&actions, fd, cwd);
	if (rc == 0)
		rc = proc_set_attributes(&attributes);
	if (rc == 0)
		rc = -posix_spawnp(ret, argv[0], &actions, &attributes, (char **)argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return rc;
}

int proc_detach(const char *const *argv, const char *const *env, const char *cwd, const char *log, pid_t *ret,
		struct error *err)
{
	const char *path = log ? log : "/dev/null";
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errorf(err, -errno, "%s: %s", path, strerror(errno));
	int rc = proc_spawn(argv, env, cwd, fd, ret);
	close(fd);
	return rc < 0 ? errorf(err, rc, "%s: %s", argv[0], strerror(-rc)) : 0;
}

bool proc_ended(pid_t pid, int *ret_exit_code, int *ret_signal)
{
	int status;
	if (waitpid(pid, &status, WNOHANG) != pid)
		return false;
	*ret_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	*ret_exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return true;
}

int proc_start_time(pid_t pid, uint64_t *ret)
{
	char path[64];
	struct buf text = buf_make(4096);
	int rc = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (fs_read(path, 4096, &text, NULL) == 0) {
		/* The name stands in parentheses and may hold anything: fields count from the last ')'. */
		const char *p = strrchr(buf_text(&text), ')');
		for (int field = 2; p && field < 22; field++) {
			p = strchr(p + 1, ' ');
			if (field == 2 && p && p[1] == 'Z')
				p = NULL;
		}
		if (p && num_parse_unsigned(p + 1, strcspn(p + 1, " "), UINT64_MAX, ret) == 0)
			rc = 0;
	}
	buf_free(&text);
	return rc;
}

int proc_own_start_time(uint64_t *ret)
{
	static uint64_t start;
	static pid_t of; /* a child has another */
	uint64_t found = start;
	int rc = of == getpid() ? 0 : proc_start_time(getpid(), &found);
	if (rc == 0) {
		of = getpid();
		*ret = start = found;
	}
	return rc;
}

const char *proc_boot_id(void)
{
	static char id[64];
	if (!id[0]) {
		struct buf text = buf_make(sizeof(id) - 1);
		if (fs_read("/proc/sys/kernel/random/boot_id", sizeof(id) - 1, &text, NULL) == 0)
			snprintf(id, sizeof(id), "%.*s", (int)strcspn(buf_text(&text), "\n"), buf_text(&text));
		buf_free(&text);
	}
	return id;
}
