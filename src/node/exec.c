/* The runner: claims an item, makes its folders, starts the script, follows what it writes, and records it in the
 * journal, until the script has ended. One event loop; the end of the script ends the loop at once. */
#include "node/exec.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "node/cgroup.h"
#include "node/collect.h"
#include "node/ending.h"
#include "node/follow.h"
#include "node/launch.h"
#include "node/layout.h"
#include "node/leftover.h"
#include "node/outcome.h"
#include "node/ran.h"
#include "node/reason.h"
#include "node/recorder.h"
#include "node/room.h"
#include "node/setup.h"
#include "node/sources.h"
#include "node/usage.h"
#include "spool/batch.h"
#include "spool/checkpoint.h"
#include "spool/claim.h"
#include "spool/mark.h"
#include "spool/paths.h"
#include "spool/slot.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int exec_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

struct exec {
	const char *batch_dir;
	uint32_t index;
	struct spool_descriptor d;
	struct spool_slot slot;
	struct recorder recorder;
	struct follow *follow;
	struct sources sources;
	uv_loop_t loop;
	uv_signal_t signals[COUNT_OF(exec_signals)];
	uv_timer_t tick;
	uv_work_t dropping; /* of the folders that a fresh start has put aside */
	struct ending ending;
	pid_t pid;
	int status;
	bool ended; /* the script has; its group may not have */
	bool setup_failed; /* it never became the script */
	int64_t started_ms, ended_ms; /* monotonic */
	int64_t next_look_ms, next_search_ms, next_sample_ms, next_beat_ms;
	int64_t oom_kills; /* of this job's group, before the script; -1: unknown */
	struct cost cost; /* so far */
	bool ran_pending; /* what ran is known when the setup lines have ended */
	struct outcome outcome;
	struct environment environment;
	bool ended_earlier; /* what an earlier attempt had left here */
	struct buf notes; /* lines about the work folder, for the journal once it has its START */
};

/* The GPUs that were assigned to it by us; NULL: none were. */
static const char *exec_gpus(const struct exec *x)
{
	return x->slot.gpus[0] ? x->slot.gpus : x->d.gpus;
}

static void exec_look_for_ran(struct exec *x)
{
	if (x->ran_pending)
		x->ran_pending = ran_is_pending(&x->d, &x->environment, &x->recorder);
}

static void exec_add_tail(const struct exec *x, enum spool_file file, struct buf *out)
{
	char *path = spool_path(x->d.attempt_dir, file);
	outcome_tail(path, out);
	free(path);
}

static void exec_end(struct exec *x)
{
	struct buf tail = buf_make(BUF_UNLIMITED);
	bool ok = x->outcome.cause == CAUSE_OK;
	if (x->setup_failed) /* nothing else wrote there, and some tools complain on stdout */
		exec_add_tail(x, SPOOL_STDOUT, &tail);
	if (!ok)
		exec_add_tail(x, SPOOL_STDERR, &tail);
	layout_tidy(&x->d, ok);
	cost_set(&x->cost, FIGURE_WALL, (double)(x->ended_ms - x->started_ms));
	recorder_append(&x->recorder,
			&(struct journal_record){
				.kind = JOURNAL_END,
				.exit_code = x->outcome.exit_code,
				.signal = x->outcome.signal,
				.cause = x->outcome.cause,
				.message = x->outcome.message,
				.tail = ok ? NULL : buf_text(&tail),
				.cost = x->pid ? x->cost : (struct cost){0},
			});
	buf_free(&tail);
	/* Without its end an attempt counts as lost and would run again: better to wait for room. */
	recorder_settle(&x->recorder);
	if (x->follow && follow_has_all(x->follow, x->d.report_path))
		unlink(x->d.report_path);
}

static void exec_fail(struct exec *x, enum cause cause, int status, const struct error *err)
{
	x->outcome = (struct outcome){.exit_code = status, .cause = cause};
	snprintf(x->outcome.message, sizeof(x->outcome.message), "%s", err->text);
	x->pid = 0;
	exec_end(x);
}

/* Can its files be read? A work folder that is missing from a task folder that is there was removed by the script. */
static bool exec_sees_files(const struct exec *x)
{
	if (access(x->d.work_dir, R_OK | X_OK) == 0)
		return true;
	return errno == ENOENT && access(x->d.task_dir, F_OK) == 0;
}

/* A file system that is away when the script ends would hide its last rows for ever. */
static void exec_await_files(struct exec *x)
{
	int64_t since = clock_mono_ms();
	bool seen;
	while (!(seen = exec_sees_files(x)) && clock_mono_ms() - since < EXEC_AWAY_MS)
		usleep(EXEC_RETRY_MS * 1000);
	if (!seen)
		recorder_note(&x->recorder,
			      "the folder of the task could not be read for " EXEC_AWAY_TEXT
			      " after the script had ended: its last metrics may be missing");
}

/* By a signal, or a process of it was, as a shell tells it (128 + n): what it wrote last may be half of a line. */
static bool exec_was_killed(const struct exec *x)
{
	return x->ending.stopped || WIFSIGNALED(x->status) || WEXITSTATUS(x->status) > 128;
}

/* A thread or a worker failed and the script went on: its status says nothing of it. */
static void exec_note_exception(struct exec *x, const char *errors)
{
	struct buf why = buf_make(BUF_UNLIMITED);
	buf_add_text(&why, "it ended with exit code 0, but its error output ends with ");
	if (reason_find_exception(errors, &why))
		recorder_note(&x->recorder, buf_text(&why));
	buf_free(&why);
}

/* Everything has ended: the metrics to their last byte, then END. */
static void exec_finish(struct exec *x)
{
	exec_await_files(x);
	struct buf errors = buf_make(BUF_UNLIMITED), output = buf_make(BUF_UNLIMITED);
	usage_final(&x->cost);
	exec_look_for_ran(x);
	exec_add_tail(x, SPOOL_STDERR, &errors);
	if (!errors.len)
		exec_add_tail(x, SPOOL_STDOUT, &output);
	struct outcome_facts facts = {
		.status = x->status,
		.stopped = x->ending.stopped,
		.told_to_save = x->ending.told_to_save,
		.has_setup = setup_is_needed(&x->d),
		.setup = setup_read_failure(&x->d),
		.killed_for_memory = x->oom_kills >= 0 && cgroup_oom_kills() > x->oom_kills,
		.limit_ms = x->slot.time_ms,
		.limit_bytes = x->slot.memory_bytes,
		.peak_bytes = cost_get(&x->cost, FIGURE_MEMORY),
		.program = x->d.argv->items[0]->string,
		.errors = buf_text(&errors),
		.output = buf_text(&output),
	};
	while (!follow_finish(x->follow, exec_was_killed(x))) {
		usleep(EXEC_RETRY_MS * 1000);
		recorder_flush(&x->recorder);
	}
	x->setup_failed = facts.setup.line > 0;
	outcome_decide(&facts, &x->outcome);
	if (x->outcome.cause == CAUSE_OK)
		exec_note_exception(x, buf_text(&errors));
	buf_free(&errors);
	buf_free(&output);
	exec_end(x);
	uv_stop(&x->loop);
}

static void exec_leftover_cb(uv_timer_t *timer)
{
	struct exec *x = timer->data;
	int64_t waited = clock_mono_ms() - x->ended_ms;
	int64_t most = x->d.grace_ms < EXEC_LEFTOVER_MS ? x->d.grace_ms : EXEC_LEFTOVER_MS;
	if (!leftover_signal(x->pid, waited >= most ? SIGKILL : 0) || waited > most + EXEC_LEFTOVER_MS)
		exec_finish(x);
}

/* The script has ended. What it left behind must not go on using what the next task was promised. */
static void exec_script_ended(struct exec *x, int status)
{
	x->status = status;
	x->ended = true;
	x->ended_ms = clock_mono_ms();
	ending_over(&x->ending);
	uv_timer_stop(&x->tick);
	if (!leftover_signal(x->pid, SIGTERM)) {
		exec_finish(x);
		return;
	}
	recorder_note(&x->recorder, "the script has ended and left processes behind: ending them");
	uv_timer_start(&x->tick, exec_leftover_cb, EXEC_LEFTOVER_LOOK_MS, EXEC_LEFTOVER_LOOK_MS);
}

/* The runner is a subreaper: orphans of the script end here too. */
static void exec_reap(struct exec *x)
{
	int status;
	pid_t pid;
	bool over = false;
	int script_status = 0;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == x->pid && !x->ended) {
			over = true;
			script_status = status;
		}
	}
	if (over)
		exec_script_ended(x, script_status);
}

static void exec_signal_cb(uv_signal_t *handle, int signal)
{
	struct exec *x = handle->data;
	if (signal == SIGCHLD)
		exec_reap(x);
	else
		ending_take(&x->ending, signal);
}

/* Looked at every time, for the peak of memory; written as often as its file system should bear. */
static void exec_sample(struct exec *x)
{
	int64_t now = clock_mono_ms();
	usage_sample(&x->cost);
	cost_set(&x->cost, FIGURE_WALL, (double)(now - x->started_ms));
	if (x->recorder.shared && now - x->started_ms > EXEC_BEAT_MS && now < x->next_beat_ms)
		return;
	x->next_beat_ms = now + EXEC_BEAT_MS - EXEC_TICK_MS;
	recorder_append(&x->recorder, &(struct journal_record){.kind = JOURNAL_SAMPLE, .cost = x->cost});
}

/* On this machine a task has no control group of its own. */
static void exec_watch_memory(struct exec *x)
{
	double limit = (double)x->slot.memory_bytes;
	double used = limit > 0 && !x->ended ? usage_memory_bytes(limit) : 0;
	if (used <= limit)
		return;
	cost_raise(&x->cost, FIGURE_MEMORY, used);
	ending_stop(&x->ending, CAUSE_MEMORY, "it uses more memory than it asked for: ending it");
	kill(-x->pid, SIGKILL); /* as the kernel does: it would take more in its grace period */
}

static void exec_tick_cb(uv_timer_t *timer)
{
	struct exec *x = timer->data;
	int64_t now = clock_mono_ms();
	bool search = now >= x->next_search_ms;

	recorder_flush(&x->recorder);
	if (search)
		x->next_search_ms = now +
			(now - x->started_ms < EXEC_SEARCH_EARLY_MS ? EXEC_SEARCH_MS : EXEC_SEARCH_LATER_MS);
	follow_poll(x->follow, search);
	if (now >= x->next_look_ms) {
		x->next_look_ms = now + EXEC_STOP_LOOK_MS;
		if (spool_stop_exists(x->d.attempt_dir))
			ending_stop(&x->ending, CAUSE_STOPPED, "a stop file appeared: ending the script");
		int64_t save_ms = spool_save_take(x->d.attempt_dir);
		if (save_ms)
			ending_save(&x->ending, save_ms);
		exec_watch_memory(x);
		exec_look_for_ran(x);
	}
	if (now >= x->next_sample_ms && !x->recorder.blocked) {
		x->next_sample_ms = now + EXEC_SAMPLE_MS;
		exec_sample(x);
	}
	recorder_sync_due(&x->recorder, now);
}

static void exec_open_loop(struct exec *x)
{
	uv_loop_init(&x->loop);
	uv_timer_init(&x->loop, &x->tick);
	x->tick.data = x;
	ending_open(&x->ending, &x->loop, recorder_note, &x->recorder);
	for (size_t i = 0; i < COUNT_OF(exec_signals); i++) {
		uv_signal_init(&x->loop, &x->signals[i]);
		x->signals[i].data = x;
		uv_signal_start(&x->signals[i], exec_signal_cb, exec_signals[i]);
	}
}

static void exec_close_handle_cb(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	uv_close(handle, NULL);
}

static void exec_close_loop(struct exec *x)
{
	uv_walk(&x->loop, exec_close_handle_cb, NULL);
	uv_run(&x->loop, UV_RUN_DEFAULT);
	uv_loop_close(&x->loop);
}

static void exec_start_timers(struct exec *x)
{
	x->next_look_ms = x->started_ms + EXEC_STOP_LOOK_MS;
	x->next_search_ms = x->started_ms + EXEC_SEARCH_MS;
	x->next_sample_ms = x->started_ms + EXEC_SAMPLE_FIRST_MS;
	uv_timer_start(&x->tick, exec_tick_cb, EXEC_TICK_MS, EXEC_TICK_MS);
	ending_begin(&x->ending, x->pid, &x->d, &x->slot);
}

static void exec_append_start(struct exec *x)
{
	char own[256] = "";
	const char *host = getenv("SLUICE_NODE"), *job = getenv("SLUICE_JOB"); /* as the cluster calls them */
	const char *gpus = exec_gpus(x) ? exec_gpus(x) : getenv("CUDA_VISIBLE_DEVICES");
	uint64_t start = 0;
	gethostname(own, sizeof(own) - 1);
	if (proc_start_time(getpid(), &start) < 0)
		start = 0;
	recorder_append(&x->recorder,
			&(struct journal_record){
				.kind = JOURNAL_START,
				.host = host && *host ? host : own,
				.version = SLUICE_VERSION,
				.gpus = gpus && *gpus ? gpus : NULL,
				.job = job && *job ? job : NULL,
				.pid = getpid(),
				.pid_start = start,
				.boot_id = proc_boot_id(),
				.pgid = x->pid,
				.resume = spool_descriptor_resumes(&x->d),
				.checkpoint = spool_descriptor_resumes(&x->d) && spool_checkpoint_exists(x->d.task_dir),
				.beat_ms = EXEC_BEAT_MS,
			});
	/* The script must not run before its start is in the journal. */
	recorder_settle(&x->recorder);
}

/* Training that runs on the CPU by mistake is slow, and nothing else would say why. */
static void exec_note_hidden(struct exec *x)
{
	for (const char *line = buf_text(&x->notes); *line;) {
		char *text = mem_copy(line, strcspn(line, "\n"));
		recorder_note(&x->recorder, text);
		line += strlen(text) + 1;
		free(text);
	}
	if (x->ended_earlier)
		recorder_note(&x->recorder, "an earlier attempt had left processes on this machine: they were ended");
	if (x->slot.memory_bytes > 0)
		recorder_note(&x->recorder, "memory is watched every second, not limited by the kernel");
	if (x->slot.gpus_hidden > 0)
		recorder_note(&x->recorder, "no GPU was asked for, so the script sees none: `gpus: 1` asks for one");
}

static void exec_open_follow(struct exec *x)
{
	struct follow_config config;
	sources_find(&x->d, &x->sources, &config);
	config.row = recorder_row_cb;
	config.note = recorder_note;
	config.blocked = recorder_is_blocked;
	config.ctx = &x->recorder;
	x->follow = follow_new(&config);
}

static void exec_before_cb(void *ctx, const char *path, const struct find_entry *entry)
{
	recorder_append(ctx,
			&(struct journal_record){.kind = JOURNAL_BEFORE,
						 .path = path,
						 .size = entry->stamp.size,
						 .mtime_ns = entry->stamp.mtime_ns,
						 .inode = entry->stamp.inode,
						 .sum = entry->sum});
}

/* Where the script goes on with files of an earlier attempt, `exec --collect` must know all of them. A record without a
 * path says that these are all. */
static void exec_append_before(struct exec *x)
{
	follow_each_before(x->follow, exec_before_cb, &x->recorder);
	if (!spool_descriptor_resumes(&x->d))
		return;
	recorder_append(&x->recorder, &(struct journal_record){.kind = JOURNAL_BEFORE, .path = ""});
	recorder_settle(&x->recorder);
}

static void exec_end_unstarted(struct exec *x)
{
	x->outcome = (struct outcome){.exit_code = 0, .cause = CAUSE_STOPPED, .message = "stopped before it started"};
	exec_end(x);
}

/* A step that is tried again for as long as what keeps it from working may pass. */
typedef int (*exec_step_f)(struct exec *x, struct launch *launch, struct error *err);

static int exec_make_work(struct exec *x, struct launch *launch, struct error *err)
{
	(void)launch;
	return layout_make_work(&x->d, &x->notes, err);
}

/* Cores of its own, where the file says `cpus`. The child waits, and has not begun. */
static void exec_pin(struct exec *x, pid_t pid)
{
	cpu_set_t cores;
	CPU_ZERO(&cores);
	if (x->d.cpus > 0 && spool_slot_add_cores(&x->slot, &cores) &&
	    sched_setaffinity(pid, sizeof(cores), &cores) < 0)
		buf_addf(&x->notes, "the script may use every core, since its own (%s) could not be set: %s\n",
			 x->slot.cores, strerror(errno));
}

static int exec_prepare_launch(struct exec *x, struct launch *launch, struct error *err)
{
	int rc = launch_prepare(&x->d, &x->environment, exec_gpus(x), launch, err);
	if (rc == 0)
		exec_pin(x, launch->pid);
	return rc;
}

/* 0, or a negative errno when the attempt has ended: END is written. */
static int exec_try(struct exec *x, exec_step_f step, struct launch *launch)
{
	struct room room = {0};
	struct error err;
	int rc;
	do {
		if (spool_stop_exists(x->d.attempt_dir)) {
			exec_end_unstarted(x);
			return -ECANCELED;
		}
		rc = step(x, launch, &err);
	} while (rc < 0 && room_wait(&room, rc, &err));
	if (rc < 0 && room.signal)
		exec_end_unstarted(x);
	else if (rc < 0)
		exec_fail(x, room.status ? CAUSE_UNSTARTED : CAUSE_LAUNCH, room.status ? room.status : 127, &err);
	return rc;
}

/* Beside the script: a large folder takes its time. */
static void exec_drop_cb(uv_work_t *work)
{
	layout_drop_aside(work->data);
}

static void exec_dropped_cb(uv_work_t *work, int status)
{
	(void)work, (void)status;
}

static void exec_drop_aside(struct exec *x)
{
	x->dropping.data = &x->d;
	if (uv_queue_work(&x->loop, &x->dropping, exec_drop_cb, exec_dropped_cb) < 0)
		layout_drop_aside(&x->d);
}

/* What an earlier attempt left here must not write into the same folders. Its backend looks for it on this machine, and
 * a cluster with control groups ends it with its job; on any other only the next runner on the node can. */
static void exec_end_earlier(struct exec *x)
{
	x->ended_earlier = x->d.attempt > 1 && spool_mark_kill_task(x->d.task_dir) > 0;
}

/* Runs the attempt to its end; the journal is open. */
static void exec_attempt(struct exec *x, const sigset_t *unblocked)
{
	struct error err;
	struct launch launch;

	exec_end_earlier(x);
	if (exec_try(x, exec_make_work, NULL) < 0)
		return;
	if (environment_open(&x->d, &x->notes, &x->environment, &err) < 0 || launch_check(&x->d, &err) < 0) {
		exec_fail(x, CAUSE_LAUNCH, 127, &err);
		return;
	}
	exec_open_follow(x);
	exec_open_loop(x);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	x->oom_kills = cgroup_oom_kills();
	if (exec_try(x, exec_prepare_launch, &launch) < 0)
		goto out;
	x->pid = launch.pid;
	x->started_ms = clock_mono_ms();
	exec_append_start(x);
	exec_append_before(x);
	exec_note_hidden(x);
	if (launch_go(&x->d, &launch, &err) < 0) {
		exec_fail(x, CAUSE_LAUNCH, 127, &err);
		goto out;
	}
	x->ran_pending = ran_begin(&x->d, &x->environment, exec_gpus(x), &x->recorder);
	exec_start_timers(x);
	if (layout_has_aside(&x->d))
		exec_drop_aside(x);
	/* The handlers were there before the script was: whatever happened meanwhile comes now. */
	sigprocmask(SIG_SETMASK, unblocked, NULL);
	uv_run(&x->loop, UV_RUN_DEFAULT);
out:
	exec_close_loop(x);
}

/* 0: it is ours; -EEXIST: another runner has it; -ESRCH: the attempt is over; another negative errno with err. */
static int exec_claim(struct exec *x, struct room *room, struct error *err)
{
	int rc;
	do {
		rc = spool_claim_take(x->batch_dir, x->index, err);
		bool over = rc == -ENOENT && room->status && clock_mono_ms() - room->since_ms >= EXEC_OVER_MS;
		if (over && spool_batch_is_visible(x->batch_dir))
			return -ESRCH;
	} while (rc < 0 && room_wait(room, rc, err));
	return rc;
}

/* What is to be done, and the journal to tell it in. -ESRCH: the attempt is over. */
static int exec_take_up(struct exec *x, struct error *err)
{
	int rc = x->d.tree ? 0 : spool_descriptor_read(x->batch_dir, x->index, &x->d, err);
	if (rc == -ENOENT && spool_batch_is_visible(x->batch_dir))
		return -ESRCH;
	if (rc == 0)
		rc = layout_make_attempt(&x->d, err);
	return rc < 0 ? rc : recorder_open(&x->recorder, x->d.attempt_dir, err);
}

/* 0, or a negative errno: nothing was begun, and no other runner is kept from beginning it. */
static int exec_begin(struct exec *x, struct room *room)
{
	struct error err;
	int rc = exec_claim(x, room, &err);
	if (rc < 0 && rc != -ESRCH && rc != -EEXIST)
		log_error("%s", err.text);
	if (rc < 0)
		return rc;
	*room = (struct room){0};
	while ((rc = exec_take_up(x, &err)) < 0 && room_wait(room, rc, &err))
		;
	if (rc < 0 && rc != -ESRCH) {
		log_error("%s", err.text);
		spool_claim_drop(x->batch_dir, x->index);
	}
	return rc;
}

static int exec_run(const char *batch_dir, uint32_t index)
{
	struct exec x = {.batch_dir = batch_dir,
			 .index = index,
			 .oom_kills = -1,
			 .notes = buf_make(LIMIT_TEXT_BYTES),
			 .outcome = {.exit_code = 1, .cause = CAUSE_LAUNCH}};
	struct room room = {0};
	sigset_t blocked, before;

	clock_hold(clock_offset_ms()); /* the times of one journal belong together */
	/* From the claim on nothing but SIGKILL may end us without a word: signals wait for their handlers. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < COUNT_OF(exec_signals); i++)
		sigaddset(&blocked, exec_signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk, not our end */
	signal(SIGPIPE, SIG_IGN);

	int rc = exec_begin(&x, &room);
	if (rc == 0) {
		spool_slot_read(batch_dir, index, &x.slot);
		exec_attempt(&x, &before);
	} else if (rc == -ESRCH) {
		log_info("the attempt is over, and its files are gone: nothing to run");
	}
	follow_free(x.follow);
	recorder_close(&x.recorder);
	spool_descriptor_free(&x.d);
	sources_free(&x.sources);
	buf_free(&x.notes);
	environment_free(&x.environment);
	if (rc == -EEXIST || rc == -ESRCH)
		return 0;
	return rc < 0 ? room_status(&room, rc) : outcome_status(&x.outcome);
}

int node_exec_main(int argc, char **argv)
{
	uint64_t index;
	bool collects = argc == 4 && strcmp(argv[1], "--collect") == 0;
	if (argc != 3 + collects ||
	    num_parse_unsigned(argv[2 + collects], strlen(argv[2 + collects]), UINT32_MAX, &index) < 0) {
		fputs("usage: sluice exec BATCH_DIR INDEX\n", stderr);
		return 2;
	}
	return collects ? collect_run(argv[2], (uint32_t)index) : exec_run(argv[1], (uint32_t)index);
}
