/* libuv's uv_spawn has no place for PR_SET_PDEATHSIG and starts the program at once, so the runner forks
 * by itself: it is single-threaded and small. A socket pair carries the word to go one way and the errno
 * of a failed exec the other; a successful exec closes it. */
#include "node/launch.h"

#include "base/fs.h"
#include "base/text.h"
#include "node/setup.h"
#include "spool/interpreter.h"
#include "spool/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef VEC(char *) launch_texts;

static launch_texts launch_arguments(const struct spool_descriptor *d)
{
	launch_texts argv = {0};
	/* The arguments reach it as "$@", never as text. */
	if (setup_is_needed(d)) {
		vec_push(&argv, mem_strdup("bash"));
		vec_push(&argv, mem_strdup("-c"));
		vec_push(&argv, setup_text(d));
		vec_push(&argv, mem_strdup("sluice"));
	}
	for (size_t i = 0; i < d->argv->count; i++) {
		const char *text = d->argv->items[i]->string;
		/* The submitted script itself is not in PATH. */
		bool own = i == 0 && !strchr(text, '/') && faccessat(AT_FDCWD, text, F_OK, 0) == 0;
		vec_push(&argv, own ? mem_printf("./%s", text) : mem_strdup(text));
	}
	vec_push(&argv, NULL);
	return argv;
}

static int launch_open_output(const struct spool_descriptor *d, enum spool_file file)
{
	char *path = spool_path(d->attempt_dir, file);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, SPOOL_FILE_MODE);
	int rc = fd < 0 ? -errno : fd;
	free(path);
	return rc;
}

void launch_reset_signals(void)
{
	static const int ours[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXFSZ, SIGPIPE};
	sigset_t none;
	for (size_t i = 0; i < COUNT_OF(ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What the kernel does not execute is given to the shell by execvp, as every shell does it: not so a program. */
static bool launch_is_binary(const char *path)
{
	char head[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	errno = ENOEXEC;
	return n > 0 && memchr(head, 0, (size_t)n);
}

/* In the child: the errno of what failed; does not return when it works. */
static int launch_become(const struct spool_descriptor *d, const struct environment *environment, const char *gpus,
			 struct warm *warm, int channel, const int fds[3])
{
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			return errno;
	if (chdir(d->work_dir) < 0)
		return errno;
	launch_texts argv = launch_arguments(d);
	environ = environment_make(environment, d, gpus);
	if (warm->connection >= 0)
		warm_become(warm, d, argv.at, environ, channel);
	if (strchr(argv.at[0], '/')) {
		execv(argv.at[0], argv.at);
		if (errno != ENOEXEC || launch_is_binary(argv.at[0]))
			return errno;
	}
	execvp(argv.at[0], argv.at);
	return errno;
}

static _Noreturn void launch_child(const struct spool_descriptor *d, const struct environment *environment,
				   const char *gpus, struct warm *warm, pid_t runner, int channel, const int fds[3])
{
	char word;
	launch_reset_signals();
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != runner || read(channel, &word, 1) != 1)
		_exit(1);
	int failure = launch_become(d, environment, gpus, warm, channel, fds);
	if (write(channel, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

int launch_prepare(const struct spool_descriptor *d, const struct environment *environment, const char *gpus,
		   struct warm *warm, struct launch *ret, struct error *err)
{
	int fds[3] = {-1, -1, -1}, pair[2] = {-1, -1};
	int rc = 0;
	pid_t runner = getpid();

	fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fds[1] = launch_open_output(d, SPOOL_STDOUT);
	fds[2] = launch_open_output(d, SPOOL_STDERR);
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0) {
		rc = fds[1] < 0 ? fds[1] : fds[2] < 0 ? fds[2] : -EIO;
		errorf(err, rc, "the outputs could not be opened in %s: %s", d->attempt_dir, strerror(-rc));
		goto out;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		rc = errorf(err, -errno, "socketpair: %s", strerror(errno));
		goto out;
	}
	pid_t pid = fork();
	if (pid < 0) {
		rc = errorf(err, -errno, "no process can be started: %s", strerror(errno));
		goto out;
	}
	if (pid == 0)
		launch_child(d, environment, gpus, warm, runner, pair[1], fds);
	setpgid(pid, pid);
	if (warm->connection >= 0) /* the keeper must see its end when the child ends */
		close(warm->connection);
	warm->connection = -1;
	*ret = (struct launch){.pid = pid, .channel = pair[0]};
	pair[0] = -1;
out:
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	return rc;
}

static void launch_explain(const struct spool_descriptor *d, int failure, struct error *err)
{
	const char *program = setup_is_needed(d) ? "bash" : d->argv->items[0]->string;
	char *local = mem_printf("%s/%s", d->work_dir, program);
	bool is_file = access(local, F_OK) == 0 || (strchr(program, '/') && access(program, F_OK) == 0);

	if (failure == ENOENT && is_file)
		errorf(err, -failure, "%s: the interpreter in its first line (#!…) is not on this machine", program);
	else if (failure == ENOENT)
		errorf(err, -failure,
		       "%s: no such program on this machine; give its full path, or make it available in "
		       "environment.setup (module load …, source …/activate)",
		       program);
	else if (failure == EACCES)
		errorf(err, -failure,
		       "%s: not allowed to be executed; make it executable (chmod +x), or name the "
		       "interpreter: command: [python3, %s]",
		       program, program);
	else if (failure == ENOEXEC)
		errorf(err, -failure,
		       "%s: this program was built for another kind of machine; build it on this one, or use a node "
		       "of its kind",
		       program);
	else
		errorf(err, -failure, "%s: %s", program, strerror(failure));
	free(local);
}

int launch_go(const struct spool_descriptor *d, struct launch *launch, struct error *err)
{
	int failure = 0;
	ssize_t n = -1;
	if (send(launch->channel, "g", 1, MSG_NOSIGNAL) == 1)
		do
			n = read(launch->channel, &failure, sizeof(failure));
		while (n < 0 && errno == EINTR);
	close(launch->channel);
	if (n == 0)
		return 0;
	kill(launch->pid, SIGKILL);
	if (n != (ssize_t)sizeof(failure)) /* it was killed before it could say anything: its status tells */
		return 0;
	waitpid(launch->pid, NULL, 0);
	launch_explain(d, failure, err);
	return -failure;
}

int launch_check(const struct spool_descriptor *d, struct error *err)
{
	if (setup_is_needed(d)) /* which may bring the script, or go to another folder */
		return 0;
	if (d->argv->count < 2 || !spool_is_interpreter(d->argv->items[0]->string))
		return 0;
	const char *script = d->argv->items[1]->string;
	if (script[0] == '-' || !script[0])
		return 0;
	char *path = script[0] == '/' ? mem_strdup(script) : mem_printf("%s/%s", d->work_dir, script);
	int rc = access(path, R_OK) < 0 ? -errno : 0;
	free(path);
	if (rc < 0)
		errorf(err, rc, "%s: %s; it should be among the submitted files in %s", script,
		       rc == -ENOENT ? "no such file" : strerror(-rc), d->files_dir);
	return rc;
}

void launch_pin(const struct launch *launch, int64_t cpus, const struct spool_slot *slot, struct buf *notes)
{
	cpu_set_t cores;
	CPU_ZERO(&cores);
	if (cpus > 0 && spool_slot_add_cores(slot, &cores) && sched_setaffinity(launch->pid, sizeof(cores), &cores) < 0)
		buf_addf(notes, "the script may use every core, since its own (%s) could not be set: %s\n", slot->cores,
			 strerror(errno));
}
