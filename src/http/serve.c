/* `sluice serve`: see serve.h. Connects the parts of the program at the start, and closes them at the end. */
#include "http/serve.h"

#include "base/clock.h"
#include "base/environ.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/pace.h"
#include "http/app.h"
#include "http/lease.h"
#include "http/listen.h"
#include "http/upload.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define SERVE_LISTEN "127.0.0.1:54322"

struct serve_options {
	const char *listen, *state;
	bool verbose, login_link;
};

struct serve {
	uv_loop_t loop;
	uv_signal_t signals[2];
	uv_timer_t drain; /* between the first signal and the end */
	int64_t drain_until_ms; /* monotonic; 0: no signal came yet */
	struct engine *engine;
	struct app app;
	struct server *server;
	char *state_dir, *program;
	int lease;
};

/* --name VALUE or --name=VALUE. NULL when argv[*i] is not it. */
static const char *serve_option_value(const char *name, int argc, char **argv, int *i)
{
	size_t n = strlen(name);
	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	return !argv[*i][n] && *i + 1 < argc ? argv[++*i] : NULL;
}

static int serve_parse(int argc, char **argv, struct serve_options *ret)
{
	*ret = (struct serve_options){.listen = SERVE_LISTEN};
	for (int i = 1; i < argc; i++) {
		const char *value;
		if (!strcmp(argv[i], "--verbose")) {
			ret->verbose = true;
		} else if (!strcmp(argv[i], "--login-link")) {
			ret->login_link = true;
		} else if ((value = serve_option_value("--listen", argc, argv, &i))) {
			ret->listen = value;
		} else if ((value = serve_option_value("--state", argc, argv, &i))) {
			ret->state = value;
		} else {
			fprintf(stderr,
				"sluice serve: unknown argument %s; there are --listen HOST:PORT, --state DIR, "
				"--verbose and --login-link\n",
				argv[i]);
			return -EINVAL;
		}
	}
	return 0;
}

/* The state folder: made when it is missing, ours, and closed to everyone else. */
static int serve_prepare_folder(const char *given, char **ret, struct error *err)
{
	const char *state = given && *given ? given : getenv("SLUICE_STATE");
	char *wanted = state && *state ? mem_strdup(state) : fs_usual_state();
	if (!wanted)
		return errorf(err, -EINVAL, "neither SLUICE_STATE nor HOME is set; use --state DIR");
	int rc = fs_make_dirs(wanted, 0700, err);
	char *dir = rc == 0 ? realpath(wanted, NULL) : NULL;
	struct stat st;
	if (rc == 0 && (!dir || stat(dir, &st) < 0))
		rc = errorf(err, -errno, "%s: %s", wanted, strerror(errno));
	if (rc == 0 && st.st_uid != geteuid())
		rc = errorf(err, -EPERM, "%s belongs to another user", wanted);
	if (rc == 0 && (st.st_mode & 077) && chmod(dir, 0700) < 0)
		rc = errorf(err, -errno, "%s is open to others and cannot be closed: %s", wanted, strerror(errno));
	free(wanted);
	if (rc < 0)
		free(dir);
	else
		*ret = dir;
	return rc;
}

/* The folder must be ours alone: half an upload may be another daemon's, which still takes it. */
static int serve_prepare_uploads(const struct serve *serve, struct error *err)
{
	char *uploads = mem_printf("%s/uploads", serve->state_dir);
	int rc = fs_make_dirs(uploads, 0700, err);
	if (rc == 0)
		upload_clean(uploads, clock_now_ms());
	free(uploads);
	return rc;
}

/* Stops that were asked for are carried out before the daemon ends: what waits in a queue would start all the same. */
static void serve_drain_cb(uv_timer_t *timer)
{
	struct serve *serve = timer->data;
	int64_t open = serve->engine ? engine_open_stops(serve->engine) : 0;
	if (open && clock_mono_ms() < serve->drain_until_ms)
		return;
	if (open)
		log_warning("%" PRId64 " tasks were stopped without a confirmation; the next daemon goes on with it",
			    open);
	uv_stop(timer->loop);
}

static void serve_signal_cb(uv_signal_t *handle, int number)
{
	struct serve *serve = handle->data;
	log_info("stopping: %s", number == SIGTERM ? "SIGTERM" : "SIGINT");
	bool again = serve->drain_until_ms > 0;
	serve->drain_until_ms = clock_mono_ms() + (again ? 0 : SERVE_DRAIN_MS);
	uv_timer_start(&serve->drain, serve_drain_cb, 0, SERVE_DRAIN_LOOK_MS);
}

static void serve_catch_signals(struct serve *serve)
{
	static const int numbers[] = {SIGTERM, SIGINT};
	signal(SIGPIPE, SIG_IGN);
	uv_timer_init(&serve->loop, &serve->drain);
	serve->drain.data = serve;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		uv_signal_init(&serve->loop, &serve->signals[i]);
		serve->signals[i].data = serve;
		uv_signal_start(&serve->signals[i], serve_signal_cb, numbers[i]);
	}
}

/* Sockets before the engine: a port that is taken is found out before anything is touched. */
static int serve_listen(struct serve *serve, const char *listen, struct error *err)
{
	char host[64];
	uint16_t port;
	int rc = listen_parse_address(listen, host, sizeof(host), &port, err);
	if (rc < 0)
		return rc;
	serve->server = server_new(&serve->loop, &app_handler, &serve->app);
	rc = server_listen_tcp(serve->server, host, port, &port, err);
	/* On a login node the usual port may be taken by another user's sluice; a port that was asked for is not changed. */
	if (rc == -EADDRINUSE && strcmp(listen, SERVE_LISTEN) == 0) {
		log_info("%s; using another port", err->text);
		rc = server_listen_tcp(serve->server, host, 0, &port, err);
	}
	if (rc < 0)
		return rc;
	serve->app.port = port;
	serve->app.address = mem_printf(strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
	char *path = mem_printf("%s/sluice.sock", serve->state_dir);
	rc = server_listen_unix(serve->server, path, err);
	free(path);
	return rc;
}

/* For the command line and for people: where browsers connect. Without it, on a full disk, `sluice login` still knows. */
static void serve_write_address(const struct serve *serve)
{
	struct error err;
	char *path = mem_printf("%s/address", serve->state_dir);
	char *text = mem_printf("%s\n", serve->app.address);
	if (fs_write(path, text, strlen(text), 0600, false, &err) < 0) {
		log_warning("%s", err.text);
		unlink(path); /* it names the port of an earlier daemon */
	}
	free(text);
	free(path);
}

static void serve_announce(struct serve *serve, bool login_link)
{
	printf("sluice %s listening on http://%s\n", SLUICE_VERSION, serve->app.address);
	if (login_link || isatty(STDOUT_FILENO)) {
		char *link = app_login_link(&serve->app);
		printf("open %s\nit works once; another one: %s\n", link, serve->app.login);
		free(link);
	}
	fflush(stdout);
}

static int serve_open(struct serve *serve, const struct serve_options *options, struct error *err)
{
	int rc = serve_prepare_folder(options->state, &serve->state_dir, err);
	if (rc < 0)
		return rc;
	serve->lease = lease_take(serve->state_dir, err);
	if (serve->lease < 0)
		return serve->lease;
	rc = serve_listen(serve, options->listen, err);
	if (rc == 0)
		rc = serve_prepare_uploads(serve, err);
	if (rc < 0)
		return rc;
	serve->program = fs_program();
	char *url = mem_printf("http://%s", serve->app.address);
	struct engine_config config = {
		.loop = &serve->loop, .state_dir = serve->state_dir, .program = serve->program, .daemon_url = url};
	rc = engine_open(&config, &serve->engine, err);
	free(url);
	if (rc < 0)
		return rc;
	app_open(&serve->app, serve->engine, serve->server, serve->state_dir);
	serve_write_address(serve);
	return 0;
}

static void serve_overdue_cb(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

/* Callbacks of what was closed, and the ends of children that were killed for it; one that still runs after
 * that time is left to itself. */
static void serve_finish(struct serve *serve)
{
	uv_timer_t timer;
	bool overdue = false;
	uv_timer_init(&serve->loop, &timer);
	timer.data = &overdue;
	uv_timer_start(&timer, serve_overdue_cb, SERVE_FINISH_MS, 0);
	uv_unref((uv_handle_t *)&timer);
	while (!overdue && uv_loop_alive(&serve->loop))
		uv_run(&serve->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&serve->loop, UV_RUN_NOWAIT);
}

/* False: something is left that hangs in the kernel, and that the usual end of a program would wait for. */
static bool serve_close(struct serve *serve)
{
	server_close(serve->server);
	if (serve->engine)
		engine_close(serve->engine);
	for (size_t i = 0; i < COUNT_OF(serve->signals); i++)
		uv_close((uv_handle_t *)&serve->signals[i], NULL);
	uv_close((uv_handle_t *)&serve->drain, NULL);
	serve_finish(serve);
	app_free(&serve->app);
	lease_give(serve->lease);
	bool over = uv_loop_close(&serve->loop) == 0;
	free(serve->state_dir);
	free(serve->program);
	return over;
}

int serve_main(int argc, char **argv)
{
	struct serve_options options;
	struct serve serve = {.lease = -1};
	struct error err = {0};
	if (serve_parse(argc, argv, &options) < 0)
		return 2;
	log_set_level(options.verbose ? LOG_DEBUG : LOG_INFO);
	environ_leave_python(); /* tasks run in the environment of who submits them */
	/* A large answer's memory goes back to the system when it has been sent. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	uv_loop_init(&serve.loop);
	serve_catch_signals(&serve);
	int rc = serve_open(&serve, &options, &err);
	if (rc < 0) {
		bool unwritable = rc == -ENOSPC || rc == -EDQUOT || rc == -EROFS;
		fprintf(stderr, "sluice serve: %s%s%s\n", err.text, unwritable ? ". " : "",
			unwritable ? fs_write_remedy(rc) : "");
	} else {
		serve_announce(&serve, options.login_link);
		uv_run(&serve.loop, UV_RUN_DEFAULT);
	}
	int status = rc < 0 ? rc == -EINVAL || rc == -EPERM ? 2 : 1 : 0;
	if (!serve_close(&serve)) {
		fflush(NULL);
		_exit(status); /* libuv's threads are joined by exit() */
	}
	return status;
}
