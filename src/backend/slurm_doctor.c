/* What is wrong with this cluster for sluice, found out by trying: a look from here, and a job of a second that looks
 * from a compute node. See slurm_examine in slurm.h. */
#include "backend/slurm_private.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SLURM_EXAMINE_TICK_MS 1000
#define SLURM_EXAMINE_ASKED_MS 50
/* A queue may be long; the rest of the findings should not wait for it for ever. */
#define SLURM_EXAMINE_MAX_MS 100000
/* The network file system may show the answer a while after the job is over. */
#define SLURM_EXAMINE_LATE_MS 20000
/* A clock further off than this confuses people who read times; the answer itself may be a few seconds old. */
#define SLURM_SKEW_MS 30000
#define SLURM_ANSWER_BYTES 4096

struct slurm_examination {
	struct slurm *slurm;
	char *partition;
	backend_findings_f done;
	void *ctx;
	VEC(struct backend_finding) list;
	uv_timer_t timer;
	char *folder;
	char token[TOKEN_ID_CHARS];
	int64_t began_mono_ms, began_ms, over_mono_ms; /* over: 0 while the job is alive */
	bool looking, started, giving_up;
	char state[64];
};

static void slurm_find(struct slurm_examination *exam, const char *level, const char *fix, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

static void slurm_find(struct slurm_examination *exam, const char *level, const char *fix, const char *fmt, ...)
{
	struct backend_finding finding = {.level = level, .fix = mem_strdup(fix)};
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&finding.what, fmt, args) < 0)
		abort();
	va_end(args);
	vec_push(&exam->list, finding);
}

static void slurm_examination_closed_cb(uv_handle_t *handle)
{
	struct slurm_examination *exam = handle->data;
	if (!exam->slurm->closing)
		exam->done(exam->ctx, exam->list.at, exam->list.len);
	for (size_t i = 0; i < exam->list.len; i++) {
		free(exam->list.at[i].what);
		free(exam->list.at[i].fix);
	}
	free(exam->list.at);
	free(exam->folder);
	free(exam->partition);
	slurm_release(exam->slurm);
	free(exam);
}

static void slurm_examination_end(struct slurm_examination *exam)
{
	if (exam->folder && fs_remove_tree(exam->folder, NULL) < 0)
		slurm_find(exam, "warning", "remove it by hand", "the folder %s could not be removed", exam->folder);
	if (!uv_is_closing((uv_handle_t *)&exam->timer))
		uv_close((uv_handle_t *)&exam->timer, slurm_examination_closed_cb);
}

/* File systems by the number statfs gives; `shared`: other machines usually see it. */
static const struct {
	unsigned long magic;
	const char *name;
	bool shared;
} slurm_file_systems[] = {
	{0x6969, "NFS", true},	       {0x0bd00bd0, "Lustre", true}, {0x47504653, "GPFS", true},
	{0x19830326, "BeeGFS", true},  {0x00c36400, "CephFS", true}, {0xff534d42, "CIFS", true},
	{0xfe534d42, "SMB2", true},    {0x5346414f, "AFS", true},    {0x6a656a63, "FUSE", true},
	{0x65735546, "FUSE", true},    {0xaad7aaea, "PanFS", true},  {0xef53, "ext4", false},
	{0x58465342, "XFS", false},    {0x9123683e, "Btrfs", false}, {0x01021994, "tmpfs", false},
	{0x794c7630, "overlayfs", false}, {0x2fc12fc1, "ZFS", false},
};

static void slurm_examine_folder(struct slurm_examination *exam)
{
	struct statfs fs;
	if (statfs(exam->slurm->state_dir, &fs) < 0) {
		slurm_find(exam, "error", "choose another with SLUICE_STATE", "the state folder %s cannot be used: %s",
			   exam->slurm->state_dir, strerror(errno));
		return;
	}
	for (size_t i = 0; i < COUNT_OF(slurm_file_systems); i++) {
		if ((unsigned long)fs.f_type != slurm_file_systems[i].magic)
			continue;
		slurm_find(exam, "ok", NULL, "the state folder is on %s%s", slurm_file_systems[i].name,
			   slurm_file_systems[i].shared ? "" : ", a file system of this machine");
		return;
	}
	slurm_find(exam, "ok", NULL, "the state folder is on a file system of type 0x%lx", (unsigned long)fs.f_type);
}

static void slurm_examine_cluster(struct slurm_examination *exam)
{
	const struct slurm_cluster *c = &exam->slurm->cluster;
	if (c->controller == SLURM_CONTROLLER_DOWN)
		slurm_find(exam, "error", "wait, or tell an administrator; nothing is lost meanwhile",
			   "Slurm's controller does not answer");
	else
		slurm_find(exam, "ok", NULL, "Slurm %s, cluster %s", c->version[0] ? c->version : "(version unknown)",
			   c->name[0] ? c->name : "(unknown)");
	if (exam->slurm->accounting == SLURM_ACCOUNTING_OFF)
		slurm_find(exam, "warning", "ask an administrator for slurmdbd; sluice works without",
			   "the cluster keeps no accounts: exit causes and costs come from sluice's own journal only");
	else if (!c->energy)
		slurm_find(exam, "ok", NULL, "the cluster's accounting has no energy figures");
	slurm_examine_folder(exam);
}

/* One value of the probe's answer: "key=value" on a line. */
static bool slurm_answer_get(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	for (const char *p = text; *p;) {
		size_t line = strcspn(p, "\n");
		if (line > len && strncmp(p, key, len) == 0 && p[len] == '=') {
			snprintf(value, size, "%.*s", (int)(line - len - 1), p + len + 1);
			return true;
		}
		p += line + (p[line] == '\n');
	}
	return false;
}

static void slurm_examine_answer(struct slurm_examination *exam, const char *text)
{
	char host[256] = "a compute node", value[64];
	uint64_t seconds;

	slurm_answer_get(text, "host", host, sizeof(host));
	slurm_find(exam, "ok", NULL, "a test job ran on %s, which sees the state folder", host);
	if (slurm_answer_get(text, "program", value, sizeof(value)) && strcmp(value, "0") != 0)
		slurm_find(exam, "error", "put sluice on a file system that the compute nodes share",
			   "%s cannot run %s (exit code %s)", host, exam->slurm->program, value);
	if (slurm_answer_get(text, "link", value, sizeof(value)) && strcmp(value, "0") != 0)
		slurm_find(exam, "error", "move the state folder (SLUICE_STATE) to a file system with hard links",
			   "%s cannot make hard links in the state folder, so tasks could run twice", host);
	if (slurm_answer_get(text, "daemon", value, sizeof(value)) && strcmp(value, "0") != 0)
		slurm_find(exam, "warning", "nothing need be done: news comes through the state folder, a little later",
			   "%s cannot reach the daemon at %s", host, exam->slurm->push_url);
	if (slurm_answer_get(text, "time", value, sizeof(value)) &&
	    num_parse_unsigned(value, strlen(value), INT32_MAX * 4ull, &seconds) == 0) {
		int64_t there = (int64_t)seconds * 1000, now = clock_now_ms();
		int64_t off = there > now ? there - now : there + 1000 < exam->began_ms ? there - exam->began_ms : 0;
		if (off > SLURM_SKEW_MS || off < -SLURM_SKEW_MS)
			slurm_find(exam, "warning", "tell an administrator; durations are right all the same",
				   "the clock of %s is %lld s %s of this machine's", host,
				   (long long)((off < 0 ? -off : off) / 1000), off > 0 ? "ahead" : "behind");
	}
}

static void slurm_examine_cancelled_cb(void *ctx, int rc, const char *why)
{
	(void)rc, (void)why;
	slurm_examination_end(ctx);
}

/* Gives up on the job and takes it out of the queue. */
static void slurm_examine_give_up(struct slurm_examination *exam)
{
	struct backend_watch watch = {.token = exam->token};
	exam->giving_up = true; /* the timer goes on: when we are closed, nobody else calls back */
	slurm_cancel(&exam->slurm->base, &watch, 1, slurm_examine_cancelled_cb, exam);
}

static void slurm_examine_looked_cb(void *ctx, int rc, struct slurm_queue *queue, const char *why)
{
	struct slurm_examination *exam = ctx;
	(void)why;
	exam->looking = false;
	if (exam->slurm->closing) {
		slurm_examination_end(exam);
		return;
	}
	for (size_t i = 0; rc == 0 && i < queue->jobs.len; i++) {
		const struct slurm_job *job = &queue->jobs.at[i];
		if (strcmp(job->token, exam->token) != 0)
			continue;
		struct buf words = buf_make(sizeof(exam->state) - 1);
		enum slurm_state_kind kind = slurm_state_kind(job->state);
		if (kind == SLURM_STATE_WAITING)
			slurm_reason_words(job->reason, &words);
		snprintf(exam->state, sizeof(exam->state), "%s", buf_text(&words));
		buf_free(&words);
		exam->started |= kind != SLURM_STATE_WAITING;
		if (kind == SLURM_STATE_ENDED && !exam->over_mono_ms)
			exam->over_mono_ms = clock_mono_ms();
	}
}

static void slurm_examine_tick_cb(uv_timer_t *timer)
{
	struct slurm_examination *exam = timer->data;
	int64_t now = clock_mono_ms();
	struct buf answer = buf_make(SLURM_ANSWER_BYTES);
	char *path = mem_printf("%s/answer", exam->folder);
	int rc = fs_read(path, SLURM_ANSWER_BYTES, &answer, NULL);

	free(path);
	if (exam->looking || (exam->giving_up && !exam->slurm->closing)) {
		buf_free(&answer);
		return;
	}
	if (exam->slurm->closing) {
		slurm_examination_end(exam);
	} else if (rc == 0) {
		slurm_examine_answer(exam, buf_text(&answer));
		slurm_examination_end(exam);
	} else if (exam->over_mono_ms && now - exam->over_mono_ms > SLURM_EXAMINE_LATE_MS) {
		slurm_find(exam, "error", "move the state folder (SLUICE_STATE) to a file system that the nodes share",
			   "a test job ran, but wrote nothing into the state folder: its node does not see %s",
			   exam->slurm->state_dir);
		slurm_examination_end(exam);
	} else if (now - exam->began_mono_ms > SLURM_EXAMINE_MAX_MS) {
		slurm_find(exam, "warning", "run this again when the queue is shorter, or name another partition",
			   "a test job did not %s within %d s%s%s", exam->started ? "end" : "start",
			   SLURM_EXAMINE_MAX_MS / 1000, exam->state[0] ? ": " : "", exam->state);
		slurm_examine_give_up(exam);
	} else {
		exam->looking = true;
		slurm_look(exam->slurm, slurm_examine_looked_cb, exam);
	}
	buf_free(&answer);
}

static void slurm_examine_submitted_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_examination *exam = ctx;
	char why[512];
	if (exam->slurm->closing) {
		slurm_examination_end(exam);
	} else if (slurm_answered_well(result)) {
		uv_timer_start(&exam->timer, slurm_examine_tick_cb, SLURM_EXAMINE_TICK_MS, SLURM_EXAMINE_TICK_MS);
	} else {
		slurm_explain_failed_call("sbatch", result, why, sizeof(why));
		slurm_find(exam, "error", "correct what Slurm complains about, or name another partition",
			   "a test job could not be submitted: %s", why);
		slurm_examination_end(exam);
	}
}

/* "host" and "port" of http://host:port/…; false when there is none. */
static bool slurm_split_url(const char *url, char *host, size_t size, char *port, size_t port_size)
{
	const char *start = url ? strstr(url, "://") : NULL;
	if (!start)
		return false;
	start += 3;
	size_t len = strcspn(start, ":/");
	if (start[len] != ':' || len >= size)
		return false;
	snprintf(host, size, "%.*s", (int)len, start);
	snprintf(port, port_size, "%.*s", (int)strspn(start + len + 1, "0123456789"), start + len + 1);
	return true;
}

static char *slurm_probe_script(const struct slurm_examination *exam)
{
	struct buf out = buf_make(65536);
	char host[256], port[16];

	buf_add_text(&out, "#!/bin/bash\ncd ");
	slurm_quote(&out, exam->folder);
	buf_add_text(&out, " || exit 1\n{\n\techo \"host=$(hostname)\"\n\techo \"time=$(date +%s)\"\n\t");
	slurm_quote(&out, exam->slurm->program);
	buf_add_text(&out, " --version >/dev/null 2>&1; echo \"program=$?\"\n"
			   "\t: >mine; ln mine linked 2>/dev/null; echo \"link=$?\"\n");
	if (slurm_split_url(exam->slurm->push_url, host, sizeof(host), port, sizeof(port))) {
		buf_add_text(&out, "\ttimeout 5 bash -c ': </dev/tcp/\"$1\"/\"$2\"' - ");
		slurm_quote(&out, host);
		buf_addf(&out, " %s 2>/dev/null; echo \"daemon=$?\"\n", port);
	}
	buf_add_text(&out, "} >answer.part\nmv answer.part answer\n");
	return buf_take(&out);
}

/* The picture of the cluster is fresh: says what it shows, then submits the test job. */
static void slurm_examine_begin(struct slurm_examination *exam)
{
	struct slurm *slurm = exam->slurm;
	struct slurm_args args = {0};
	struct error err;

	slurm_examine_cluster(exam);
	if (slurm->cluster.controller == SLURM_CONTROLLER_DOWN) {
		slurm_examination_end(exam);
		return;
	}
	token_make_id(exam->token);
	exam->folder = mem_printf("%s/doctor-%s", slurm->state_dir, exam->token);
	if (fs_make_dirs(exam->folder, 0700, &err) < 0) {
		slurm_find(exam, "error", "choose another state folder with SLUICE_STATE", "%s", err.text);
		slurm_examination_end(exam);
		return;
	}
	char *script = slurm_probe_script(exam);
	slurm_args_program(&args, "sbatch");
	slurm_args_add(&args, "--parsable");
	slurm_args_addf(&args, "--job-name=%s", exam->token);
	/* An array of one, so that it is found like everything else. */
	slurm_args_add(&args, "--array=0");
	slurm_args_add(&args, "--no-requeue");
	slurm_args_add(&args, "--time=1");
	slurm_args_add(&args, "--output=/dev/null");
	if (exam->partition)
		slurm_args_addf(&args, "--partition=%s", exam->partition);
	struct slurm_ask how = {.input = script};
	slurm_run(slurm, &args, &how, slurm_examine_submitted_cb, exam);
	free(script);
}

/* What is known may be old, or, right after the start, nothing: asked again first. */
static void slurm_examine_asked_cb(uv_timer_t *timer)
{
	struct slurm_examination *exam = timer->data;
	if (exam->slurm->refreshing && !exam->slurm->closing)
		return;
	uv_timer_stop(timer);
	if (exam->slurm->closing)
		slurm_examination_end(exam);
	else
		slurm_examine_begin(exam);
}

void slurm_examine(struct backend *backend, const char *partition, backend_findings_f done, void *ctx)
{
	struct slurm *slurm = (struct slurm *)backend;
	struct slurm_examination *exam = mem_alloc(sizeof(*exam));

	*exam = (struct slurm_examination){.slurm = slurm, .partition = mem_strdup(partition), .done = done, .ctx = ctx,
					   .began_mono_ms = clock_mono_ms(), .began_ms = clock_now_ms()};
	exam->timer.data = exam;
	uv_timer_init(slurm->loop, &exam->timer);
	slurm_hold(slurm);
	slurm->cluster.configured_mono_ms = 0;
	slurm_refresh(slurm);
	uv_timer_start(&exam->timer, slurm_examine_asked_cb, SLURM_EXAMINE_ASKED_MS, SLURM_EXAMINE_ASKED_MS);
}
