/* The doctor's job: see slurm_probe.h. */
#include "backend/slurm_probe.h"

#include "backend/slurm_command.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"
#include "journal/journal.h"
#include "spool/descriptor.h"
#include "spool/paths.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* A clock further off than this confuses people who read times; the answer itself may be a few seconds old. */
#define SLURM_SKEW_MS 30000
#define SLURM_PROBE_BYTES (64u << 10)
/* What the job's task does; the rest of its second is the runner itself. */
#define SLURM_PROBE_SLEEP "1"

void slurm_find(struct slurm_findings *findings, const char *level, const char *fix, const char *fmt, ...)
{
	struct backend_finding finding = {.level = level, .fix = mem_strdup(fix)};
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&finding.what, fmt, args) < 0)
		abort();
	va_end(args);
	vec_push(&findings->list, finding);
}

void slurm_findings_free(struct slurm_findings *findings)
{
	for (size_t i = 0; i < findings->list.len; i++) {
		free(findings->list.at[i].what);
		free(findings->list.at[i].fix);
	}
	free(findings->list.at);
	*findings = (struct slurm_findings){0};
}

/* "127.0.0.1:54322" of "http://127.0.0.1:54322/"; "" when there is none. */
static void slurm_probe_address(const char *url, char *text, size_t size)
{
	const char *start = url ? strstr(url, "://") : NULL;
	snprintf(text, size, "%.*s", start ? (int)strcspn(start + 3, "/") : 0, start ? start + 3 : "");
}

/* Asks for the daemon's health with bash alone: a node may lack curl. */
static void slurm_probe_add_daemon(const char *url, struct buf *out)
{
	char address[256];
	slurm_probe_address(url, address, sizeof(address));
	const char *colon = strrchr(address, ':');
	if (!colon)
		return;
	/* [::1] is ::1 without its brackets. */
	bool six = address[0] == '[' && colon > address + 2 && colon[-1] == ']';
	char *host = mem_copy(address + six, (size_t)(colon - address) - 2 * six);
	buf_add_text(
		out,
		"\ttimeout 5 bash -c 'exec 3<>\"/dev/tcp/$1/$2\" && "
		"printf \"GET /api/v1/health HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n\" \"$3\" >&3 && "
		"grep -q \"\\\"status\\\":\\\"ok\\\"\" <&3' - ");
	text_shell_quote(out, host);
	buf_add_char(out, ' ');
	text_shell_quote(out, colon + 1);
	buf_add_char(out, ' ');
	text_shell_quote(out, address);
	buf_add_text(out, " >/dev/null 2>&1; echo \"daemon=$?\"\n");
	free(host);
}

char *slurm_probe_script(const struct slurm_probe *probe)
{
	struct buf out = buf_make(SLURM_PROBE_BYTES);

	buf_add_text(&out, "#!/bin/bash\ncd ");
	text_shell_quote(&out, probe->folder);
	buf_add_text(&out, " || exit 1\nprogram=");
	text_shell_quote(&out, probe->program);
	buf_add_text(&out,
		     "\n{\n\techo \"host=${SLURMD_NODENAME:-$(hostname)}\"\n\techo \"time=$(date +%s)\"\n"
		     "\techo \"boot=$(cat /proc/sys/kernel/random/boot_id)\"\n"
		     "\t\"$program\" --version >/dev/null 2>&1; echo \"program=$?\"\n"
		     "\t: >mine; ln mine linked 2>/dev/null; echo \"link=$?\"\n"
		     "\t\"$program\" exec \"$PWD\" 0 >first.out 2>&1; echo \"first=$?\"\n"
		     "\t\"$program\" exec \"$PWD\" 0 >second.out 2>&1; echo \"second=$?\"\n"
		     "\techo \"said=$(cat first.out second.out | head -n 1)\"\n");
	slurm_probe_add_daemon(probe->daemon, &out);
	buf_add_text(&out, "} >answer.part\nmv answer.part answer\n");
	return buf_take(&out);
}

char *slurm_probe_attempt_dir(const char *folder)
{
	char *task = spool_task_dir(folder, 1), *attempt = spool_attempt_dir(task, 1);
	free(task);
	return attempt;
}

int slurm_probe_prepare(const struct slurm_probe *probe, struct error *err)
{
	char *files = spool_files_dir(probe->folder), *task = spool_task_dir(probe->folder, 1);
	char *attempt = slurm_probe_attempt_dir(probe->folder);
	struct node *argv = node_new(NODE_LIST);
	node_add(argv, NULL, node_new_string("sleep"));
	node_add(argv, NULL, node_new_string(SLURM_PROBE_SLEEP));
	int rc = fs_make_dirs(files, SPOOL_FOLDER_MODE, err);
	if (rc == 0)
		rc = spool_descriptor_write(probe->folder,
					    &(struct spool_descriptor){
						    .token = probe->token,
						    .experiment = "doctor",
						    .task = 1,
						    .attempt = 1,
						    .files_dir = files,
						    .task_dir = task,
						    .attempt_dir = attempt,
						    .argv = argv,
						    .copy_limit_bytes = LIMIT_COPY_BYTES,
						    .grace_ms = SPOOL_GRACE_MS,
					    },
					    err);
	node_free(argv);
	free(files);
	free(task);
	free(attempt);
	return rc;
}

/* One value of the answer: "key=value" on a line. "" when it is not there. */
static void slurm_answer_get(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	*value = '\0';
	for (const char *p = text; *p;) {
		size_t line = strcspn(p, "\n");
		if (line > len && strncmp(p, key, len) == 0 && p[len] == '=')
			snprintf(value, size, "%.*s", (int)(line - len - 1), p + len + 1);
		p += line + (p[line] == '\n');
	}
}

static bool slurm_answer_is_zero(const char *text, const char *key)
{
	char value[64];
	slurm_answer_get(text, key, value, sizeof(value));
	return strcmp(value, "0") == 0;
}

/* What the journal tells. */
struct slurm_probe_story {
	unsigned starts, ends, damaged;
	bool good; /* the task ended well */
	char message[256];
};

static int slurm_probe_record_cb(void *ctx, const struct journal_record *record)
{
	struct slurm_probe_story *story = ctx;
	story->starts += record->kind == JOURNAL_START;
	if (record->kind == JOURNAL_END) {
		story->ends++;
		story->good = record->cause == CAUSE_OK;
		snprintf(story->message, sizeof(story->message), "%s", record->message ? record->message : "");
	}
	return 0;
}

static struct slurm_probe_story slurm_probe_read(const struct slurm_probe_result *result)
{
	struct slurm_probe_story story = {0};
	journal_read(result->journal, result->journal_len, slurm_probe_record_cb, &story, &story.damaged);
	return story;
}

bool slurm_probe_is_complete(const struct slurm_probe_result *result)
{
	return !slurm_answer_is_zero(result->answer, "first") || slurm_probe_read(result).ends > 0;
}

/* Claim and journal, as the real runner used them. */
static void slurm_probe_explain_runner(const struct slurm_probe_result *result, const char *host,
				       struct slurm_findings *findings)
{
	const char *answer = result->answer;
	struct slurm_probe_story story = slurm_probe_read(result);
	char said[256];

	slurm_answer_get(answer, "said", said, sizeof(said));
	if (!slurm_answer_is_zero(answer, "link"))
		slurm_find(findings, "error", "move the state folder (SLUICE_STATE) to a file system with hard links",
			   "%s cannot make hard links in the state folder, so tasks could run twice", host);
	if (!slurm_answer_is_zero(answer, "first") || (story.ends && !story.good))
		slurm_find(findings, "error", "see its message; tasks would fail in the same way",
			   "a task that only sleeps for a second did not work on %s: %s", host,
			   story.message[0] ? story.message : said);
	else if (!slurm_answer_is_zero(answer, "second") || story.starts > 1)
		slurm_find(findings, "error", "move the state folder (SLUICE_STATE) to another file system",
			   "the claim does not work on %s: two runners could run the same task", host);
	else if (!story.ends || story.damaged)
		slurm_find(findings, "error", "move the state folder (SLUICE_STATE) to another file system",
			   "the journal that a task wrote on %s %s", host,
			   story.damaged ? "is damaged where it is read here" : "is not visible here");
	else
		slurm_find(
			findings, "ok", NULL,
			"claim and journal work on %s: only one of two runners ran the same task, and its journal is visible here",
			host);
}

/* The daemon listens on its own machine only, and 127.0.0.1 of another machine is not it. */
static void slurm_probe_explain_daemon(const struct slurm_probe *probe, const struct slurm_probe_result *result,
				       const char *host, struct slurm_findings *findings)
{
	char address[256], boot[64];
	slurm_probe_address(probe->daemon, address, sizeof(address));
	slurm_answer_get(result->answer, "boot", boot, sizeof(boot));
	if (!address[0])
		slurm_find(
			findings, "ok", NULL,
			"no daemon is listening, so it was not tested whether %s reaches it; tasks are followed through "
			"files in the state folder",
			host);
	else if (slurm_answer_is_zero(result->answer, "daemon") && strcmp(boot, result->boot_id) == 0)
		slurm_find(findings, "ok", NULL, "%s reaches the daemon at %s", host, address);
	else
		slurm_find(
			findings, "ok",
			"it listens on its own machine only; `sluice serve --listen 127.0.0.1:PORT` takes another port, "
			"`ssh -L` leads to it from elsewhere",
			"%s does not reach the daemon at %s and does not have to: tasks are followed through files in the state "
			"folder",
			host, address);
}

static void slurm_probe_explain_clock(const struct slurm_probe_result *result, const char *host,
				      struct slurm_findings *findings)
{
	char value[64];
	uint64_t seconds;
	slurm_answer_get(result->answer, "time", value, sizeof(value));
	if (num_parse_unsigned(value, strlen(value), INT32_MAX * 4ull, &seconds) < 0)
		return;
	int64_t there = (int64_t)seconds * 1000;
	int64_t off = there > result->now_ms      ? there - result->now_ms
		: there + 1000 < result->began_ms ? there - result->began_ms
						  : 0;
	if (off > SLURM_SKEW_MS || off < -SLURM_SKEW_MS)
		slurm_find(findings, "warning", "tell an administrator; durations are right all the same",
			   "the clock of %s is %" PRId64 " s %s of this machine's", host,
			   ((off < 0 ? -off : off) / 1000), off > 0 ? "ahead" : "behind");
	else
		slurm_find(findings, "ok", NULL, "the clock of %s agrees with this machine's", host);
}

void slurm_probe_explain(const struct slurm_probe *probe, const struct slurm_probe_result *result,
			 struct slurm_findings *findings)
{
	char host[256], status[64];
	bool copied = text_starts(probe->program, probe->folder);

	slurm_answer_get(result->answer, "host", host, sizeof(host));
	if (!host[0])
		snprintf(host, sizeof(host), "a compute node");
	slurm_find(findings, "ok", NULL, "a test job ran on %s, which sees the state folder", host);
	slurm_answer_get(result->answer, "program", status, sizeof(status));
	if (strcmp(status, "0") != 0) {
		slurm_find(
			findings, "error",
			copied ? "move the state folder (SLUICE_STATE) to a file system from which nodes may run programs; tasks "
				 "run a copy there"
			       : "make it readable, so that tasks can run a copy, or put it on a file system that nodes share",
			"%s cannot run %s (exit code %s)", host, probe->program, status);
	} else {
		if (copied)
			slurm_find(findings, "ok", NULL, "%s runs sluice, the copy in the state folder that tasks use",
				   host);
		else
			slurm_find(findings, "ok", NULL, "%s runs sluice: %s", host, probe->program);
		slurm_probe_explain_runner(result, host, findings);
	}
	slurm_probe_explain_daemon(probe, result, host, findings);
	slurm_probe_explain_clock(result, host, findings);
}
