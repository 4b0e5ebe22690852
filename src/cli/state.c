/* Finding and starting the daemon. Users do not need to start it: a verb that finds no daemon starts one. On a login
 * node it may be killed at any time, so an old socket does not mean that it runs. */
#include "cli/state.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/pace.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATE_LOG_TAIL_BYTES 4096

int state_folder(char **ret, struct error *err)
{
	const char *state = getenv("SLUICE_STATE");
	if (state && *state == '/') {
		*ret = mem_strdup(state);
		return 0;
	}
	if (state && *state) { /* the daemon runs in another folder: it needs the whole path */
		char *here = getcwd(NULL, 0);
		if (!here)
			return errorf(err, -errno, "the current folder: %s", strerror(errno));
		*ret = mem_printf("%s/%s", here, state);
		free(here);
		return 0;
	}
	char *usual = fs_usual_state();
	if (!usual)
		return errorf(err, -ENOENT,
			      "neither SLUICE_STATE nor HOME is set: set SLUICE_STATE to a folder of yours");
	*ret = usual;
	return 0;
}

/* A socket's address holds 107 bytes; a longer path is reached through a descriptor of its folder. */
static int state_socket_address(const char *folder, struct sockaddr_un *address, int *ret_dir)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	int n = snprintf(address->sun_path, sizeof(address->sun_path), "%s/sluice.sock", folder);
	if (n > 0 && (size_t)n < sizeof(address->sun_path))
		return 0;
	*ret_dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_dir < 0)
		return -errno;
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/sluice.sock", *ret_dir);
	return 0;
}

int state_connect(const char *folder, pid_t *ret_pid, struct error *err)
{
	struct sockaddr_un address;
	struct ucred peer = {0};
	socklen_t peer_len = sizeof(peer);
	int dir = -1, fd = -1;
	int rc = state_socket_address(folder, &address, &dir);
	if (rc == 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			rc = -errno;
	}
	if (dir >= 0)
		close(dir);
	if (rc < 0) {
		errorf(err, rc, "%s/sluice.sock: %s", folder, strerror(-rc));
		goto fail;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0 || peer.uid != getuid()) {
		rc = errorf(err, -EPERM,
			    "%s/sluice.sock belongs to user %u, not to you: set SLUICE_STATE to a folder of yours",
			    folder, (unsigned)peer.uid);
		goto fail;
	}
	if (ret_pid)
		*ret_pid = peer.pid;
	return fd;
fail:
	if (fd >= 0)
		close(fd);
	return rc;
}

/* What is watched while a daemon comes up. */
struct state_start {
	const char *folder;
	int64_t deadline_ms;
	int fd; /* of a question to the daemon that is not answered yet; -1 */
	bool up, ended;
	pid_t pid;
	int exit_code, signal;
	uv_timer_t timer;
};

/* A daemon listens before it has opened its database, and may end because it cannot: it is up when it answers. */
static void state_ask(struct state_start *start)
{
	static const char question[] = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	char byte;
	if (start->fd < 0) {
		start->fd = state_connect(start->folder, NULL, NULL);
		if (start->fd < 0 || send(start->fd, question, strlen(question), MSG_NOSIGNAL) > 0)
			return;
	}
	ssize_t n = recv(start->fd, &byte, 1, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	start->up = n > 0;
	close(start->fd);
	start->fd = -1;
}

static void state_poll_cb(uv_timer_t *timer)
{
	struct state_start *start = timer->data;
	state_ask(start);
	start->ended = start->ended || proc_ended(start->pid, &start->exit_code, &start->signal);
	if (start->up || start->ended || clock_mono_ms() > start->deadline_ms)
		uv_close((uv_handle_t *)timer, NULL);
}

/* The last lines that the daemon wrote since `from`, on stderr: why it did not come up. */
static void state_show_log(const char *log, off_t from)
{
	char text[STATE_LOG_TAIL_BYTES + 1];
	int fd = open(log, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	off_t end = lseek(fd, 0, SEEK_END);
	if (end - from > STATE_LOG_TAIL_BYTES)
		from = end - STATE_LOG_TAIL_BYTES;
	ssize_t n = pread(fd, text, STATE_LOG_TAIL_BYTES, from);
	close(fd);
	if (n > 0)
		fprintf(stderr, "%.*s%s", (int)n, text, text[n - 1] == '\n' ? "" : "\n");
}

static int state_spawn(const char *folder, struct error *err)
{
	struct state_start start = {.folder = folder, .fd = -1, .deadline_ms = clock_mono_ms() + STATE_START_MS};
	char *log = mem_printf("%s/daemon.log", folder), *program = fs_program();
	const char *listen = getenv("SLUICE_LISTEN");
	const char *const argv[] = {program, "serve", listen && *listen ? "--listen" : NULL, listen, NULL};
	char *variable = mem_printf("SLUICE_STATE=%s", folder);
	/* Started by a training script, it must not be taken for a process of that script. */
	const char *const env[] = {variable, "SLUICE_REPORT=", "SLUICE_TASK_DIR=", NULL};
	struct stat before;
	uv_loop_t loop;

	if (stat(log, &before) < 0)
		before.st_size = 0;
	uv_loop_init(&loop);
	uv_timer_init(&loop, &start.timer);
	start.timer.data = &start;
	int rc = proc_detach(argv, env, folder, log, &start.pid, err);
	if (rc == 0)
		uv_timer_start(&start.timer, state_poll_cb, 0, STATE_POLL_MS);
	else
		uv_close((uv_handle_t *)&start.timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	if (start.fd >= 0)
		close(start.fd);
	if (rc == 0 && start.up) {
		fprintf(stderr, "sluice: started the daemon (log: %s)\n", log);
	} else if (rc == 0) {
		state_show_log(log, before.st_size);
		int room = fs_try_writing(folder); /* on a full disk the log is empty */
		rc = room < 0 ? errorf(err, -ECHILD, "the daemon did not start; nothing can be written to %s: %s. %s",
				       folder, strerror(-room), fs_write_remedy(room))
			: !start.ended
			? errorf(err, -ECHILD, "the daemon did not answer within 30 s; its log is %s", log)
			: start.signal
			? errorf(err, -ECHILD, "the daemon was ended by signal %d (%s); its log is %s", start.signal,
				 strsignal(start.signal), log)
			: errorf(err, -ECHILD, "the daemon ended with status %d; its log is %s", start.exit_code, log);
	}
	free(variable);
	free(program);
	free(log);
	return rc;
}

int state_start_daemon(const char *folder, struct error *err)
{
	int rc = fs_make_dirs(folder, 0700, err);
	if (rc < 0)
		return rc;
	char *path = mem_printf("%s/start.lock", folder);
	int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (lock < 0)
		return errorf(err, -errno, "the daemon cannot be started: %s: %s. %s", folder, strerror(errno),
			      fs_write_remedy(-errno));
	/* A file system without locks still has the daemon's own lease: the second one ends at once. */
	while (flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	int fd = state_connect(folder, NULL, NULL); /* someone else may have started it meanwhile */
	if (fd >= 0)
		close(fd);
	else
		rc = state_spawn(folder, err);
	close(lock);
	return rc;
}
