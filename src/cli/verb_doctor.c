/* `sluice doctor`: what this machine and cluster offer, and what is wrong, with the fix. */
#include "cli/install.h"
#include "cli/state.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include "base/fs.h"
#include "base/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const struct verb_option doctor_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

/* A level's mark and colour. */
static void doctor_add_finding(struct buf *out, const struct term *term, const char *level, const char *what,
			       const char *fix)
{
	static const struct {
		const char *level, *mark;
		enum term_colour colour;
	} marks[] = {{"ok", "ok      ", TERM_GREEN},
		     {"absent", "absent  ", TERM_DIM},
		     {"warning", "warning ", TERM_YELLOW},
		     {"error", "error   ", TERM_RED}};
	size_t i = 0;
	while (i + 1 < COUNT_OF(marks) && strcmp(marks[i].level, level) != 0)
		i++;
	term_add_coloured(out, marks[i].colour, marks[i].mark, term);
	term_add_safe(out, what);
	buf_add_char(out, '\n');
	if (fix && *fix) {
		buf_add_text(out, "        ");
		term_add_safe(out, fix);
		buf_add_char(out, '\n');
	}
}

/* What can be seen without a daemon. True when something is wrong. */
static bool doctor_check_folder(const struct term *term, struct buf *out)
{
	struct error err;
	struct stat st;
	int rc;
	struct statfs fs;
	char *folder, text[VIEW_CHARS], *line;
	if (state_folder(&folder, &err) < 0) {
		doctor_add_finding(out, term, "error", err.text, NULL);
		return true;
	}
	bool bad = false;
	if (stat(folder, &st) < 0 && errno == ENOENT) {
		line = mem_printf("state folder %s will be made on first use", folder);
		doctor_add_finding(out, term, "ok", line, NULL);
	} else if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || access(folder, R_OK | W_OK | X_OK) < 0) {
		line = mem_printf("state folder %s cannot be used", folder);
		doctor_add_finding(out, term, "error", line, "set SLUICE_STATE to a folder of yours");
		bad = true;
	} else if (st.st_mode & 077) {
		char *fix = mem_printf("chmod 700 '%s'", folder);
		line = mem_printf("state folder %s can be entered by others", folder);
		doctor_add_finding(out, term, "warning", line, fix);
		free(fix);
	} else if ((rc = fs_try_writing(folder)) < 0) {
		line = mem_printf("state folder %s cannot be written to: %s", folder, strerror(-rc));
		doctor_add_finding(
			out, term, "error", line,
			"free some space or quota there; tasks go on, and nothing new is recorded until then");
		bad = true;
	} else if (statfs(folder, &fs) == 0) {
		text[0] = 0;
		struct node *bytes = node_new_real((double)fs.f_bavail * (double)fs.f_bsize);
		view_bytes(bytes, "", text);
		node_free(bytes);
		line = mem_printf("state folder %s, %s free%s", folder, text,
				  fs.f_type == NFS_SUPER_MAGIC ? ", on NFS" : "");
		doctor_add_finding(out, term, "ok", line, NULL);
	} else {
		line = mem_printf("state folder %s", folder);
		doctor_add_finding(out, term, "ok", line, NULL);
	}
	free(line);
	free(folder);
	return bad;
}

static void doctor_add_partitions(const struct node *partitions, const struct term *term, struct buf *out)
{
	static const struct term_column columns[] = {
		{"PARTITION", false, true}, {"STATE", false, false}, {"NODES", true, false},
		{"IDLE", true, false},      {"CPUS", true, false},   {"GPUS", true, false},
		{"GPU TYPE", false, true},  {"MEMORY", true, false}, {"TIME LIMIT", true, false},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	if (!partitions || partitions->type != NODE_LIST || !partitions->count)
		return;
	for (size_t i = 0; i < partitions->count; i++) {
		const struct node *p = partitions->items[i];
		static const char *const numbers[] = {"nodes", "idle_nodes", "cpus", "gpus"};
		char text[VIEW_CHARS];
		term_table_addf(&table, TERM_BOLD, "%s%s",
				node_get_string(p, "name") ? node_get_string(p, "name") : "?",
				node_get_bool(p, "default", false) ? " *" : "");
		term_table_add(&table, TERM_PLAIN, node_get_string(p, "state"));
		for (size_t k = 0; k < COUNT_OF(numbers); k++) {
			const struct node *value = node_get(p, numbers[k]);
			if (node_is_number(value))
				term_table_addf(&table, TERM_PLAIN, "%" PRId64, value->integer);
			else
				term_table_add(&table, TERM_DIM, "unknown");
		}
		term_table_add(&table, TERM_PLAIN, node_get_string(p, "gpu_type"));
		view_bytes(node_get(p, "memory_bytes"), "unknown", text);
		term_table_add(&table, TERM_PLAIN, text);
		view_seconds(node_get(p, "time_limit_s"), "none", text);
		term_table_add(&table, TERM_PLAIN, text);
	}
	term_table_write(&table, term, out);
	term_table_free(&table);
}

static void doctor_add_backend(const struct node *backend, const struct term *term, struct buf *out)
{
	const char *name = node_get_string(backend, "name"), *text = node_get_string(backend, "text");
	const char *version = node_get_string(backend, "version"), *controller = node_get_string(backend, "controller");
	bool available = node_get_bool(backend, "available", false);
	struct buf line = buf_make(4096);
	if (!text || !name || strncmp(text, name, strlen(name)) != 0)
		buf_addf(&line, "%s: ", name ? name : "?");
	if (!available)
		buf_add_text(&line, text ? text : "not available");
	else if (text)
		buf_add_text(&line, text);
	else
		buf_addf(&line, "version %s, controller %s, accounting %s", version ? version : "unknown",
			 controller ? controller : "unknown",
			 node_get_bool(backend, "accounting", false) ? "on" : "off");
	doctor_add_finding(out, term, available ? "ok" : "absent", buf_text(&line), NULL);
	doctor_add_partitions(node_get(backend, "partitions"), term, out);
	buf_free(&line);
}

/* True when the daemon found an error. */
static bool doctor_add_answer(const struct node *answer, const struct term *term, struct buf *out)
{
	const struct node *backends = node_get(answer, "backends"), *findings = node_get(answer, "findings");
	bool bad = false;
	for (size_t i = 0; backends && i < backends->count; i++)
		doctor_add_backend(backends->items[i], term, out);
	for (size_t i = 0; findings && i < findings->count; i++) {
		const char *level = node_get_string(findings->items[i], "level");
		const char *what = node_get_string(findings->items[i], "what");
		bad |= level && strcmp(level, "error") == 0;
		doctor_add_finding(out, term, level ? level : "warning", what ? what : "",
				   node_get_string(findings->items[i], "fix"));
	}
	return bad;
}

static bool doctor_has_cluster(const struct node *answer)
{
	const struct node *backends = node_get(answer, "backends");
	for (size_t i = 0; backends && i < backends->count; i++)
		if (node_get(backends->items[i], "partitions") && node_get_bool(backends->items[i], "available", false))
			return true;
	return false;
}

static void doctor_check_keeper(const struct term *term, struct buf *out)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct error err;
	char *folder;
	if (state_folder(&folder, &err) < 0)
		return;
	if (install_is_lost(folder, &text))
		doctor_add_finding(out, term, "warning", buf_text(&text), "`sluice daemon install` begins it again");
	buf_free(&text);
	free(folder);
}

/* The look at a cluster includes a real job, which may have to wait for its turn. */
static int doctor_examine(struct call *call, struct buf *json, struct node **ret, struct error *err)
{
	struct node *answer = NULL;
	bool said = false;
	int rc = client_post(&call->client, "/cluster/examine", "{}", NULL, &answer, err);
	for (int i = 0; rc == 0 && i < DOCTOR_WAIT_S * 4; i++) {
		node_free(answer);
		answer = NULL;
		buf_clear(json);
		rc = client_get(&call->client, "/cluster", json, &answer, err);
		if (!node_get_bool(answer, "examining", false))
			break;
		if (i >= 4 && !said && doctor_has_cluster(answer)) {
			fputs("a test job of one second looks at the cluster from a compute node...\n", stderr);
			said = true;
		}
		usleep(250000);
	}
	*ret = answer;
	return rc;
}

static int doctor_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_doctor, argc, argv, 0, 0);
	if (status)
		return status;
	int rc = client_open(&call.client, true, &err); /* makes the folder on its first use */
	bool bad = doctor_check_folder(&call.term, &out);
	doctor_check_keeper(&call.term, &out);
	if (rc < 0)
		doctor_add_finding(
			&out, &call.term, "warning",
			"no daemon is running, so three things were not checked: the database, the cluster, and whether a "
			"compute node reaches the daemon",
			NULL);
	if (rc == 0) {
		char line[128];
		call.connected = true;
		snprintf(line, sizeof(line), "the daemon answers: version %s, process %ld", call.client.version,
			 (long)call.client.daemon_pid);
		doctor_add_finding(&out, &call.term, "ok", line, NULL);
		rc = doctor_examine(&call, &json, &answer, &err);
	}
	if (rc == 0)
		bad |= doctor_add_answer(answer, &call.term, &out);
	else
		doctor_add_finding(&out, &call.term, "error", err.text, "see daemon.log in the state folder");
	fputs(options_has(&call.options, "json") && rc == 0 ? buf_text(&json) : buf_text(&out), stdout);
	if (options_has(&call.options, "json") && rc == 0)
		putchar('\n');
	node_free(answer);
	buf_free(&json);
	buf_free(&out);
	return call_end(&call, rc < 0 || bad);
}

const struct verb verb_doctor = {
	.name = "doctor",
	.arguments = "[--json]",
	.summary = "what this machine and cluster offer, and what is wrong",
	.help = "Every problem is printed with what to do about it. The daemon checks its database. On a cluster, a test job of\n"
		"one second checks a compute node: does it see the state folder and sluice, do claim and journal work there,\n"
		"is its clock right, does it reach the daemon (it does not have to). The exit status is 1 if there is an error.",
	.options = doctor_options,
	.run = doctor_run,
};
