/* `sluice daemon`: shows whether the daemon runs, starts it, stops it. */
#include "base/clock.h"
#include "base/json.h"
#include "base/pace.h"
#include "base/proc.h"
#include "cli/install.h"
#include "cli/state.h"
#include "cli/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const struct verb_option daemon_options[] = {
	{"dry-run", NULL, "install: only say what would be done"},
	{"force", NULL, "stop even if the cluster has not confirmed all stopped tasks; the next daemon continues"},
	{"json", NULL, "status: print the daemon's answer as JSON"},
	{0},
};

static bool daemon_is_absent(int rc)
{
	return rc == -ENOENT || rc == -ECONNREFUSED;
}

/* What starts the daemon again, and with which command that changes. */
static void daemon_say_keeper(void)
{
	char *folder;
	struct error err;
	if (state_folder(&folder, &err) < 0)
		return;
	const char *way = install_found(folder);
	struct buf lost = buf_make(BUF_UNLIMITED), safe = buf_make(BUF_UNLIMITED);
	if (!way && install_is_lost(folder, &lost)) {
		term_add_safe(&safe, buf_text(&lost));
		printf("%s; 'sluice daemon install' begins it again\n", buf_text(&safe));
	} else if (way) {
		printf("kept alive by %s; 'sluice daemon uninstall' ends that\n", way);
	} else {
		puts("not kept alive without a login session; see 'sluice daemon install --dry-run'");
	}
	buf_free(&lost);
	buf_free(&safe);
	free(folder);
}

/* cron would start it again within minutes. systemd takes a clean end for what the user wants. */
static void daemon_say_restart(void)
{
	char *folder;
	struct error err;
	if (state_folder(&folder, &err) < 0)
		return;
	const char *way = install_found(folder);
	if (way && strcmp(way, "systemd") != 0)
		printf("the %s starts it again within 10 minutes, unless you call 'sluice daemon uninstall'\n", way);
	free(folder);
}

static int daemon_install(const struct call *call, struct error *err)
{
	char *folder;
	bool dry_run = options_has(&call->options, "dry-run");
	int rc = state_folder(&folder, err);
	if (rc < 0)
		return rc;
	rc = install_daemon(folder, dry_run, err);
	free(folder);
	if (rc == 0)
		puts(dry_run ? "nothing was changed" : "done; 'sluice daemon uninstall' takes it back");
	return rc;
}

static int daemon_uninstall(struct error *err)
{
	char *folder;
	bool found = false;
	int rc = state_folder(&folder, err);
	if (rc < 0)
		return rc;
	rc = install_remove(folder, &found, err);
	free(folder);
	if (rc == 0)
		puts(found ? "nothing starts the daemon by itself any more; one that runs goes on"
			   : "nothing was installed");
	return rc;
}

static int daemon_status(struct call *call, struct error *err)
{
	struct node *info = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	struct client *client = &call->client;
	int rc = client_open(client, false, err);
	if (daemon_is_absent(rc)) {
		puts(options_has(&call->options, "json") ? "{\"status\":\"stopped\"}" : "no daemon is running");
		if (!options_has(&call->options, "json"))
			daemon_say_keeper();
		buf_free(&json);
		return rc;
	}
	if (rc == 0) {
		call->connected = true;
		rc = client_get(client, "/info", &json, &info, err);
	}
	if (rc == 0 && options_has(&call->options, "json")) {
		puts(buf_text(&json));
	} else if (rc == 0) {
		printf("running: version %s, process %ld, state %s\n", client->version, (long)client->daemon_pid,
		       client->folder);
		if (strcmp(client->version, SLUICE_VERSION) != 0)
			puts("this program is version " SLUICE_VERSION ": 'sluice daemon restart' changes to it");
		daemon_say_keeper();
	}
	node_free(info);
	buf_free(&json);
	return rc;
}

static void daemon_pause(long ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};
	nanosleep(&pause, NULL);
}

/* What was stopped and may still start or run, as the daemon says; 0 where it does not answer. */
static int64_t daemon_open_stops(struct client *client, struct error *ret_words)
{
	struct node *info = NULL;
	struct buf words = buf_make(sizeof(ret_words->text) - 1);
	int64_t count = 0;
	if (client_get(client, "/info", NULL, &info, NULL) < 0)
		return 0;
	const struct node *list = node_get(info, "open_stops");
	for (size_t i = 0; list && i < list->count; i++) {
		const char *id = node_get_string(list->items[i], "experiment");
		const char *text = node_get_string(list->items[i], "text");
		int64_t tasks = node_get_int(list->items[i], "tasks", 0);
		buf_addf(&words, "%s%s: %" PRId64 " task%s stopped, but %s", count ? "; " : "", id ? id : "", tasks,
			 tasks == 1 ? " was" : "s were", text ? text : "not confirmed");
		count += tasks;
	}
	errorf(ret_words, -EBUSY, "%s", buf_text(&words));
	buf_free(&words);
	node_free(info);
	return count;
}

/* A job that was stopped and waits in a queue would start without a daemon: waits until the cluster has confirmed the
 * stops. -EBUSY, with what is left, when it does not. */
static int daemon_confirm_stops(struct call *call, struct error *err)
{
	int64_t deadline = clock_mono_ms() + DAEMON_CONFIRM_MS;
	struct error words = {0};
	int rc = client_open(&call->client, false, err);
	if (rc < 0)
		return daemon_is_absent(rc) ? 0 : rc;
	call->connected = true;
	bool said = false;
	while (daemon_open_stops(&call->client, &words)) {
		if (clock_mono_ms() > deadline)
			return errorf(err, -EBUSY,
				      "%s. These tasks may still start. Try again, or 'sluice daemon stop --force' "
				      "leaves it to the next daemon",
				      words.text);
		if (!said)
			fprintf(stderr, "waiting: %s\n", words.text);
		said = true;
		daemon_pause(DAEMON_CONFIRM_LOOK_MS);
	}
	return 0;
}

/* SIGTERM, and wait until the process is gone: the next daemon then finds the folder free. */
static int daemon_stop(struct error *err, bool *ret_was_there)
{
	char *folder;
	pid_t pid = 0;
	uint64_t born, now;
	*ret_was_there = false;
	int rc = state_folder(&folder, err);
	if (rc < 0)
		return rc;
	int fd = state_connect(folder, &pid, err);
	free(folder);
	if (daemon_is_absent(fd))
		return 0;
	if (fd < 0)
		return fd;
	close(fd);
	if (pid <= 1 || proc_start_time(pid, &born) < 0)
		return errorf(err, -ESRCH, "the daemon's process cannot be seen from here");
	if (kill(pid, SIGTERM) < 0)
		return errorf(err, -errno, "process %ld: %s", (long)pid, strerror(errno));
	*ret_was_there = true;
	int64_t deadline = clock_mono_ms() + DAEMON_STOP_MS;
	while (proc_start_time(pid, &now) == 0 && now == born) {
		if (clock_mono_ms() > deadline)
			return errorf(err, -ETIMEDOUT, "the daemon (process %ld) has not ended within 30 s", (long)pid);
		daemon_pause(DAEMON_POLL_MS);
	}
	return 0;
}

static int daemon_start(struct call *call, struct error *err)
{
	int rc = client_open(&call->client, true, err);
	call->connected = rc == 0;
	return rc;
}

static int daemon_run(int argc, char **argv)
{
	struct call call;
	struct error err = {0};
	bool was_there;
	int status = call_begin(&call, &verb_daemon, argc, argv, 1, 1);
	if (status)
		return status;
	const char *action = call.options.args.at[0];
	int rc;
	if (strcmp(action, "status") == 0) {
		rc = daemon_status(&call, &err);
		if (daemon_is_absent(rc))
			return call_end(&call, 1);
	} else if (strcmp(action, "start") == 0) {
		rc = daemon_start(&call, &err);
	} else if (strcmp(action, "stop") == 0) {
		rc = options_has(&call.options, "force") ? 0 : daemon_confirm_stops(&call, &err);
		if (rc == 0)
			rc = daemon_stop(&err, &was_there);
		if (rc == 0)
			puts(was_there ? "the daemon has ended; tasks that run go on" : "no daemon is running");
		if (rc == 0)
			daemon_say_restart();
	} else if (strcmp(action, "restart") == 0) {
		rc = daemon_stop(&err, &was_there);
		if (rc == 0)
			rc = daemon_start(&call, &err);
	} else if (strcmp(action, "install") == 0) {
		rc = daemon_install(&call, &err);
	} else if (strcmp(action, "uninstall") == 0) {
		rc = daemon_uninstall(&err);
	} else {
		errorf(&err, -EINVAL, "expected status, start, stop, restart, install or uninstall, got '%s'", action);
		return call_end(&call, call_usage(&verb_daemon, &err));
	}
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_daemon = {
	.name = "daemon",
	.arguments = "status | start | stop | restart | install | uninstall",
	.summary = "look at the daemon, start or stop it, keep it alive",
	.help = "Every verb that needs the daemon starts it. Training goes on while no daemon is running, and the next daemon\n"
		"reads what happened. 'stop' first waits up to 20 s until the cluster has confirmed every task that was\n"
		"stopped, and does not stop the daemon if one is not confirmed. 'status' exits with 1 if no daemon is running.\n"
		"\n"
		"A search that learns (tpe, cmaes, asha, ...) stands still without the daemon. 'install' has this host start it\n"
		"when no one is logged in: a systemd user unit with lingering where that is allowed, else lines of your\n"
		"crontab (at the start of the system and every 10 minutes), else a job of the cluster. That job takes a\n"
		"second every 10 minutes and starts the daemon on this host by ssh, without a password: on its own node the\n"
		"verbs and the browser would not reach it. It uses SBATCH_PARTITION, SBATCH_ACCOUNT and SBATCH_QOS of your\n"
		"shell. 'install' says what it does before it does it; 'uninstall' takes it back.",
	.options = daemon_options,
	.run = daemon_run,
};
