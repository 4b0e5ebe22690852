/* Finds out by trying whether sluice works on this cluster: with checks from here, and with a short job that checks
 * from a compute node. See slurm_examine in slurm.h. */
#include "backend/slurm_private.h"
#include "backend/slurm_probe.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The folder of one look is this and its token, in the state folder. */
#define SLURM_EXAMINE_FOLDER "doctor-"
#define SLURM_ANSWER_BYTES 4096
#define SLURM_JOURNAL_BYTES (256u << 10)

struct slurm_examination {
	struct slurm *slurm;
	struct slurm_examination *next;
	char *partition;
	backend_findings_f done;
	void *ctx;
	struct slurm_findings findings;
	uv_timer_t timer;
	char *folder, *program;
	char token[TOKEN_ID_CHARS];
	int64_t began_mono_ms, began_ms, over_mono_ms; /* over: 0 while the job is alive */
	int64_t answered_mono_ms; /* 0: not yet */
	bool looking, started, giving_up;
	char state[64];
};

static void slurm_examination_closed_cb(uv_handle_t *handle)
{
	struct slurm_examination *exam = handle->data;
	struct slurm_examination **p = &exam->slurm->examinations;
	while (*p != exam)
		p = &(*p)->next;
	*p = exam->next;
	if (!exam->slurm->closing)
		exam->done(exam->ctx, exam->findings.list.at, exam->findings.list.len);
	slurm_findings_free(&exam->findings);
	free(exam->folder);
	free(exam->program);
	free(exam->partition);
	slurm_release(exam->slurm);
	free(exam);
}

static void slurm_examination_end(struct slurm_examination *exam)
{
	if (exam->folder && fs_remove_tree(exam->folder, NULL) < 0)
		slurm_find(&exam->findings, "warning", "remove it by hand", "the folder %s could not be removed",
			   exam->folder);
	if (!uv_is_closing((uv_handle_t *)&exam->timer))
		uv_close((uv_handle_t *)&exam->timer, slurm_examination_closed_cb);
}

/* File systems by the number statfs gives; `shared`: other machines usually see it. */
static const struct {
	unsigned long magic;
	const char *name;
	bool shared;
} slurm_file_systems[] = {
	{0x6969, "NFS", true},        {0x0bd00bd0, "Lustre", true},
	{0x47504653, "GPFS", true},   {0x19830326, "BeeGFS", true},
	{0x00c36400, "CephFS", true}, {0xff534d42, "CIFS", true},
	{0xfe534d42, "SMB2", true},   {0x5346414f, "AFS", true},
	{0x6a656a63, "FUSE", true},   {0x65735546, "FUSE", true},
	{0xaad7aaea, "PanFS", true},  {0xef53, "ext4", false},
	{0x58465342, "XFS", false},   {0x9123683e, "Btrfs", false},
	{0x01021994, "tmpfs", false}, {0x794c7630, "overlayfs", false},
	{0x2fc12fc1, "ZFS", false},
};

static void slurm_examine_folder(struct slurm_examination *exam)
{
	struct statfs fs;
	if (statfs(exam->slurm->state_dir, &fs) < 0) {
		slurm_find(&exam->findings, "error", "choose another with SLUICE_STATE",
			   "the state folder %s cannot be used: %s", exam->slurm->state_dir, strerror(errno));
		return;
	}
	for (size_t i = 0; i < COUNT_OF(slurm_file_systems); i++) {
		if ((unsigned long)fs.f_type != slurm_file_systems[i].magic)
			continue;
		slurm_find(&exam->findings, "ok", NULL, "the state folder is on %s%s", slurm_file_systems[i].name,
			   slurm_file_systems[i].shared ? "" : ", a file system of this machine");
		return;
	}
	slurm_find(&exam->findings, "ok", NULL, "the state folder is on a file system of type 0x%lx",
		   (unsigned long)fs.f_type);
}

/* "a job array of 10000, 500 jobs at a time; default account ml" */
static void slurm_examine_limits(struct slurm_examination *exam)
{
	const struct slurm_cluster *c = &exam->slurm->cluster;
	uint64_t most = slurm_submit_limit(&c->limits, NULL, NULL);
	const char *account = slurm_default_account(&c->limits);
	struct buf text = buf_make(1024);

	if (c->max_array)
		buf_addf(&text, "%" PRId64 " tasks a job array, ", c->max_array);
	if (most)
		buf_addf(&text, "%" PRIu64 " jobs in the queue at a time", most);
	else
		buf_add_text(&text, "no known limit on jobs in the queue");
	slurm_find(&exam->findings, "ok", NULL, "limits: %s; default account: %s", buf_text(&text),
		   account                                                  ? account
			   : exam->slurm->accounting == SLURM_ACCOUNTING_ON ? "none"
									    : "not known without accounting");
	buf_free(&text);
}

static void slurm_examine_accounting(struct slurm_examination *exam)
{
	const struct slurm_cluster *c = &exam->slurm->cluster;
	if (exam->slurm->accounting == SLURM_ACCOUNTING_OFF)
		slurm_find(&exam->findings, "warning", "ask an administrator for slurmdbd; sluice works without",
			   "the cluster keeps no accounts: exit causes and costs come from sluice's own journal only");
	else if (c->energy)
		slurm_find(&exam->findings, "ok", NULL, "the cluster keeps accounts, with energy figures from %s",
			   c->energy_plugin);
	else
		slurm_find(&exam->findings, "ok", NULL, "the cluster keeps accounts, with no energy figures");
}

static void slurm_examine_cluster(struct slurm_examination *exam)
{
	const struct slurm_cluster *c = &exam->slurm->cluster;
	if (c->controller == SLURM_CONTROLLER_DOWN) {
		slurm_find(&exam->findings, "error", "wait, or tell an administrator; nothing is lost meanwhile",
			   "Slurm's controller does not answer");
	} else {
		slurm_find(&exam->findings, "ok", NULL, "Slurm %s, cluster %s; its controller answers",
			   c->version[0] ? c->version : "(version unknown)", c->name[0] ? c->name : "(unknown)");
		slurm_examine_accounting(exam);
		slurm_examine_limits(exam);
	}
	slurm_examine_folder(exam);
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
	exam->giving_up = true; /* the timer goes on: when we are closed, no other callback comes */
	slurm_cancel(&exam->slurm->backend, &watch, 1, slurm_examine_cancelled_cb, exam);
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

static struct slurm_probe slurm_examine_probe(const struct slurm_examination *exam)
{
	return (struct slurm_probe){.folder = exam->folder,
				    .token = exam->token,
				    .program = exam->program,
				    .daemon = exam->slurm->daemon_url};
}

/* Takes the answer of the job; false: there is none yet, or what its task wrote is still on the way. */
static bool slurm_examine_take_answer(struct slurm_examination *exam)
{
	struct buf answer = buf_make(SLURM_ANSWER_BYTES), journal = buf_make(SLURM_JOURNAL_BYTES);
	struct slurm_probe probe = slurm_examine_probe(exam);
	char *attempt = slurm_probe_attempt_dir(exam->folder);
	char *path = mem_printf("%s/answer", exam->folder), *journal_path = spool_path(attempt, SPOOL_JOURNAL);
	bool answered = fs_read(path, SLURM_ANSWER_BYTES, &answer, NULL) == 0;

	if (answered && fs_read(journal_path, SLURM_JOURNAL_BYTES, &journal, NULL) < 0)
		buf_clear(&journal);
	struct slurm_probe_result result = {.answer = buf_text(&answer),
					    .journal = buf_text(&journal),
					    .journal_len = journal.len,
					    .boot_id = proc_boot_id(),
					    .began_ms = exam->began_ms,
					    .now_ms = clock_now_ms()};
	if (answered && !exam->answered_mono_ms)
		exam->answered_mono_ms = clock_mono_ms();
	bool taken = answered &&
		(slurm_probe_is_complete(&result) || clock_mono_ms() - exam->answered_mono_ms > SLURM_EXAMINE_LATE_MS);
	if (taken)
		slurm_probe_explain(&probe, &result, &exam->findings);
	buf_free(&answer);
	buf_free(&journal);
	free(path);
	free(journal_path);
	free(attempt);
	return taken;
}

static void slurm_examine_tick_cb(uv_timer_t *timer)
{
	struct slurm_examination *exam = timer->data;
	int64_t now = clock_mono_ms();

	if (exam->looking || (exam->giving_up && !exam->slurm->closing))
		return;
	if (exam->slurm->closing || slurm_examine_take_answer(exam)) {
		slurm_examination_end(exam);
	} else if (exam->answered_mono_ms) {
		return; /* the journal may be late */
	} else if (exam->over_mono_ms && now - exam->over_mono_ms > SLURM_EXAMINE_LATE_MS) {
		slurm_find(&exam->findings, "error",
			   "move the state folder (SLUICE_STATE) to a file system that the nodes share",
			   "a test job ran, but wrote nothing into the state folder: its node does not see %s",
			   exam->slurm->state_dir);
		slurm_examination_end(exam);
	} else if (now - exam->began_mono_ms > SLURM_EXAMINE_MAX_MS) {
		slurm_find(&exam->findings, "warning",
			   "run this again when the queue is shorter, or name another partition",
			   "a test job did not %s within %d s%s%s", exam->started ? "end" : "start",
			   SLURM_EXAMINE_MAX_MS / 1000, exam->state[0] ? ": " : "", exam->state);
		slurm_examine_give_up(exam);
	} else {
		exam->looking = true;
		slurm_look(exam->slurm, slurm_examine_looked_cb, exam);
	}
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
		slurm_find(&exam->findings, "error", "correct what Slurm complains about, or name another partition",
			   "a test job could not be submitted: %s", why);
		slurm_examination_end(exam);
	}
}

static void slurm_examine_submit(struct slurm_examination *exam)
{
	struct slurm_probe probe = slurm_examine_probe(exam);
	char *script = slurm_probe_script(&probe);
	struct slurm_args args = {0};

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
	slurm_run(exam->slurm, &args, &how, slurm_examine_submitted_cb, exam);
	free(script);
}

/* A daemon that was killed while it looked left its folder behind. */
static void slurm_examine_tidy(const char *state_dir)
{
	DIR *dir = opendir(state_dir);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (!text_starts(entry->d_name, SLURM_EXAMINE_FOLDER) ||
		    !token_is_id(entry->d_name + sizeof(SLURM_EXAMINE_FOLDER) - 1))
			continue;
		char *path = mem_printf("%s/%s", state_dir, entry->d_name);
		struct error err;
		if (fs_remove_tree(path, &err) < 0)
			log_warning("%s", err.text);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static int slurm_examine_prepare(struct slurm_examination *exam, struct error *err)
{
	slurm_examine_tidy(exam->slurm->state_dir);
	token_make_id(exam->token);
	exam->folder = mem_printf("%s/" SLURM_EXAMINE_FOLDER "%s", exam->slurm->state_dir, exam->token);
	exam->program = slurm_runner_path(exam->slurm, exam->folder);
	struct slurm_probe probe = slurm_examine_probe(exam);
	return slurm_probe_prepare(&probe, err);
}

static void slurm_examine_placed_cb(void *ctx, const char *why)
{
	struct slurm_examination *exam = ctx;
	if (why)
		slurm_find(&exam->findings, "error",
			   "free some space there, or choose another state folder with SLUICE_STATE", "%s", why);
	if (why || exam->slurm->closing)
		slurm_examination_end(exam);
	else
		slurm_examine_submit(exam);
}

/* The picture of the cluster is fresh: says what it shows, then submits the test job. */
static void slurm_examine_begin(struct slurm_examination *exam)
{
	struct error err;

	slurm_examine_cluster(exam);
	if (exam->slurm->cluster.controller == SLURM_CONTROLLER_DOWN) {
		slurm_examination_end(exam);
	} else if (slurm_examine_prepare(exam, &err) < 0) {
		slurm_find(&exam->findings, "error",
			   "free some space there, or choose another state folder with SLUICE_STATE", "%s", err.text);
		slurm_examination_end(exam);
	} else {
		slurm_place_runner(exam->slurm, exam->folder, slurm_examine_placed_cb, exam);
	}
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

	*exam = (struct slurm_examination){.slurm = slurm,
					   .partition = mem_strdup(partition),
					   .done = done,
					   .ctx = ctx,
					   .began_mono_ms = clock_mono_ms(),
					   .began_ms = clock_now_ms()};
	exam->timer.data = exam;
	uv_timer_init(slurm->loop, &exam->timer);
	slurm_hold(slurm);
	exam->next = slurm->examinations;
	slurm->examinations = exam;
	slurm->cluster.configured_mono_ms = 0;
	slurm_refresh(slurm);
	uv_timer_start(&exam->timer, slurm_examine_asked_cb, SLURM_EXAMINE_ASKED_MS, SLURM_EXAMINE_ASKED_MS);
}

void slurm_examine_close(struct slurm *slurm)
{
	for (struct slurm_examination *exam = slurm->examinations; exam; exam = exam->next) {
		/* What waits for a child or the runner has no timer: that one's callback ends it. */
		if (!uv_is_active((uv_handle_t *)&exam->timer))
			continue;
		uv_timer_set_repeat(&exam->timer, 1);
		uv_timer_again(&exam->timer);
	}
}
