/* The stand-in for a script that a keeper has forked: it passes signals on and ends as the script ends. It is the child
 * of the runner; see warm.h. */
#include "node/warm.h"

#include "base/num.h"
#include "base/pace.h"
#include "spool/mark.h"
#include "spool/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STANDIN_LINE_BYTES 256
/* A keeper that does not answer is left alone: the script starts cold. */
#define STANDIN_PATIENCE_S 10
#define STANDIN_FDS 4 /* the outputs, and the channel on which the script tells its end */

struct standin {
	struct warm_shared *shared;
	const struct spool_descriptor *d;
	int keeper, own, process, signals; /* connection; the script's own word; pidfd; signalfd. -1: closed */
	pid_t pid;
	int exit_code; /* as the script itself reported it; -1: not yet */
};

static void standin_add(struct buf *out, const char *text)
{
	buf_add(out, text, strlen(text) + 1);
}

/* The cores that the runner gave this process, "0,3". */
static void standin_add_cores(struct buf *out)
{
	cpu_set_t cores;
	struct buf text = buf_make(BUF_UNLIMITED);
	if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &cores))
				buf_addf(&text, "%s%d", text.len ? "," : "", i);
	standin_add(out, buf_text(&text));
	buf_free(&text);
}

/* What keeper.py reads: folder, interpreter, cores, number of arguments, arguments, variables. */
static struct buf standin_request(const struct warm *warm, const struct spool_descriptor *d, char *const *argv,
				  char *const *env)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	char number[32];
	size_t count = 0;
	while (argv[count + 1])
		count++;
	standin_add(&out, d->work_dir);
	standin_add(&out, warm->python);
	standin_add_cores(&out);
	snprintf(number, sizeof(number), "%zu", count);
	standin_add(&out, number);
	for (size_t i = 1; i <= count; i++)
		standin_add(&out, argv[i]);
	for (; *env; env++)
		standin_add(&out, *env);
	return out;
}

static bool standin_send(int connection, const struct buf *request, int channel)
{
	uint32_t size = (uint32_t)request->len;
	unsigned char head[4] = {size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff, size >> 24 & 0xff};
	int fds[STANDIN_FDS] = {0, 1, 2, channel};
	union {
		char bytes[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {.iov_base = head, .iov_len = sizeof(head)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	*item = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fds))};
	memcpy(CMSG_DATA(item), fds, sizeof(fds));
	if (sendmsg(connection, &message, MSG_NOSIGNAL) != (ssize_t)sizeof(head))
		return false;
	for (size_t sent = 0; sent < request->len;) {
		ssize_t n = send(connection, request->data + sent, request->len - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

/* One line, without its end; false when the other side is gone. Lines are short, and rare. */
static bool standin_read_line(int fd, char line[static STANDIN_LINE_BYTES])
{
	size_t len = 0;
	while (len < STANDIN_LINE_BYTES - 1) {
		ssize_t n = read(fd, line + len, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (line[len] == '\n')
			break;
		len++;
	}
	line[len] = 0;
	return true;
}

static int64_t standin_number(const char **at)
{
	uint64_t value = 0;
	size_t len = strcspn(*at, " ");
	if (num_parse_unsigned(*at, len, INT64_MAX, &value) < 0)
		value = 0;
	*at += len + ((*at)[len] == ' ');
	return (int64_t)value;
}

/* What the script left in its session, and what left that, ends with it. */
static void standin_end_leftovers(const struct standin *s)
{
	for (int waited = 0; kill(-s->pid, waited ? 0 : SIGTERM) == 0 && waited < EXEC_LEFTOVER_MS;
	     waited += EXEC_LEFTOVER_LOOK_MS)
		usleep(EXEC_LEFTOVER_LOOK_MS * 1000);
	kill(-s->pid, SIGKILL);
	spool_mark_kill_attempt(s->d->attempt_dir);
}

/* Ends as the script ended. */
static _Noreturn void standin_end(const struct standin *s, int status)
{
	sigset_t none;
	standin_end_leftovers(s);
	if (WIFSIGNALED(status)) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		signal(WTERMSIG(status), SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* "E<status> <cpu_ms> <kilobytes> <bytes read> <bytes written>"; the last two only where the kernel says them. */
static void standin_take_end(const struct standin *s, const char *line)
{
	const char *at = line + 1;
	int status = (int)standin_number(&at);
	s->shared->cpu_ms = (double)standin_number(&at);
	s->shared->memory_bytes = (double)standin_number(&at) * 1024;
	bool knows_io = *at != 0;
	s->shared->read_bytes = knows_io ? standin_number(&at) : -1;
	s->shared->write_bytes = knows_io ? standin_number(&at) : -1;
	standin_end(s, status);
}

static void standin_pass_signal(const struct standin *s)
{
	struct signalfd_siginfo info;
	if (read(s->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	int number = (int)info.ssi_signo;
	/* As the runner does it: a request to end is for all its processes, any other for the script alone. */
	bool all = number == SIGTERM || number == SIGINT || number == SIGHUP;
	if (!all || kill(-s->pid, number) < 0)
		kill(s->pid, number);
}

/* Without its keeper only the script's own word says how it ended. */
static _Noreturn void standin_end_alone(const struct standin *s)
{
	static const char words[] = "sluice: the process from which this script was forked is gone, "
				    "so how the script ended is not known\n";
	if (s->exit_code < 0 && write(2, words, sizeof(words) - 1) < 0)
		_exit(1);
	standin_end(s, (s->exit_code < 0 ? 1 : s->exit_code) << 8);
}

static _Noreturn void standin_stay(struct standin *s)
{
	char line[STANDIN_LINE_BYTES];
	for (;;) {
		struct pollfd fds[] = {{.fd = s->keeper, .events = POLLIN},
				       {.fd = s->own, .events = POLLIN},
				       {.fd = s->signals, .events = POLLIN},
				       {.fd = s->keeper < 0 ? s->process : -1, .events = POLLIN}};
		if (poll(fds, COUNT_OF(fds), -1) < 0)
			continue;
		if (fds[1].revents) {
			if (standin_read_line(s->own, line) && line[0] == 'X') {
				const char *at = line + 1;
				s->exit_code = (int)standin_number(&at);
			} else {
				s->own = -1;
			}
		}
		if (fds[2].revents)
			standin_pass_signal(s);
		if (fds[0].revents) {
			if (standin_read_line(s->keeper, line) && line[0] == 'E')
				standin_take_end(s, line);
			else
				s->keeper = -1;
		}
		if (fds[3].revents)
			standin_end_alone(s);
	}
}

static int standin_open_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (const int *at = (int[]){SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, 0}; *at; at++)
		sigaddset(&set, *at);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

void warm_become(struct warm *warm, const struct spool_descriptor *d, char *const *argv, char *const *env, int channel)
{
	int pair[2];
	char line[STANDIN_LINE_BYTES];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	struct timeval patience = {.tv_sec = STANDIN_PATIENCE_S};
	setsockopt(warm->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	struct buf request = standin_request(warm, d, argv, env);
	bool taken = standin_send(warm->connection, &request, pair[1]) && standin_read_line(warm->connection, line) &&
		line[0] == 'P';
	const char *at = line + 1;
	struct standin s = {
		.shared = warm->shared, .d = d, .keeper = warm->connection, .own = pair[0], .exit_code = -1};
	close(pair[1]);
	buf_free(&request);
	if (!taken || (s.pid = (pid_t)standin_number(&at)) <= 1) {
		close(pair[0]);
		return;
	}
	s.process = (int)syscall(SYS_pidfd_open, s.pid, 0);
	s.signals = standin_open_signals();
	setsockopt(s.keeper, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof(struct timeval));
	s.shared->pid = s.pid;
	/* Only now may it begin: this process passes signals on, and its end ends the script. */
	if (write(pair[0], "g", 1) < 0)
		kill(s.pid, SIGKILL);
	close(channel);
	standin_stay(&s);
}
