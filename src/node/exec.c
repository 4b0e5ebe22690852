/* The runner: claims an item, makes its folders, starts the script, follows what it writes, and records it in the
 * journal, until the script has ended. One event loop; the end of the script ends the loop at once. */
#include "node/exec.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "node/begin.h"
#include "node/collect.h"
#include "node/ending.h"
#include "node/follow.h"
#include "node/launch.h"
#include "node/layout.h"
#include "node/leftover.h"
#include "node/memory.h"
#include "node/opening.h"
#include "node/outcome.h"
#include "node/ran.h"
#include "node/reason.h"
#include "node/recorder.h"
#include "node/room.h"
#include "node/sampler.h"
#include "node/setup.h"
#include "node/sources.h"
#include "node/watch.h"
#include "spool/checkpoint.h"
#include "spool/logtimes.h"
#include "spool/mark.h"
#include "spool/paths.h"
#include "spool/slot.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int exec_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

struct exec {
	const char *batch_dir;
	uint32_t index;
	struct spool_descriptor d;
	struct spool_slot slot;
	bool has_slot; /* false: a cluster runs it */
	struct recorder recorder;
	struct follow *follow;
	struct sources sources;
	uv_loop_t loop;
	sigset_t blocked;
	uv_poll_t signals; /* of those, read from signals_fd */
	int signals_fd;
	uv_timer_t tick;
	uv_work_t dropping; /* of the folders that a fresh start has put aside */
	struct ending ending;
	pid_t pid;
	int status;
	bool ended; /* the script has; its group may not have */
	bool setup_failed; /* it never became the script */
	int64_t started_ms, ended_ms; /* monotonic */
	int64_t next_look_ms, next_search_ms, next_beat_ms;
	struct sampler sampler;
	pid_t helper; /* that the sampler had started; 0: none */
	struct watch watch;
	struct logtimes logtimes;
	struct sample unwritten; /* samples that were not written yet, joined; weight 0: none */
	struct memory memory;
	struct cost cost; /* so far */
	bool ran_pending; /* what ran is known when the setup lines have ended */
	struct outcome outcome;
	struct environment environment;
	struct warm warm;
	bool ended_earlier; /* what an earlier attempt had left here */
	struct buf notes; /* lines about the work folder, for the journal once it has its START */
};

/* The GPUs that were assigned to it by us; NULL: none were. */
static const char *exec_gpus(const struct exec *x)
{
	return x->slot.gpus[0] ? x->slot.gpus : x->d.gpus;
}

/* What it may use of its one GPU: its slot says it on this machine, its descriptor on a cluster. */
static int64_t exec_gpu_share(const struct exec *x)
{
	return x->slot.gpu_share ? x->slot.gpu_share : x->d.gpu_share;
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

/* A file system that is away when the script ends would hide its last rows for ever. */
static void exec_await_files(struct exec *x)
{
	int64_t since = clock_mono_ms();
	bool seen;
	while (!(seen = layout_is_seen(&x->d)) && clock_mono_ms() - since < EXEC_AWAY_MS)
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

/* The metrics to their last byte. A full disk is waited for as long as it takes, a file that cannot be read is not. */
static void exec_read_rest(struct exec *x)
{
	int64_t since = clock_mono_ms();
	while (!follow_finish(x->follow, exec_was_killed(x))) {
		usleep(EXEC_RETRY_MS * 1000);
		if (x->recorder.blocked)
			since = clock_mono_ms();
		else if (clock_mono_ms() - since >= EXEC_AWAY_MS)
			follow_give_up(x->follow);
		recorder_flush(&x->recorder);
	}
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

/* A stand-in is our child, not the script. */
static bool exec_is_warm(const struct exec *x)
{
	return x->warm.shared && x->warm.shared->pid;
}

/* Everything has ended: the metrics to their last byte, then END. */
static void exec_finish(struct exec *x)
{
	exec_await_files(x);
	logtimes_end(&x->logtimes, clock_now_ms());
	struct buf errors = buf_make(BUF_UNLIMITED), output = buf_make(BUF_UNLIMITED);
	usage_final(&x->sampler.usage, &x->cost);
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
		.killed_for_memory = memory_was_out(&x->memory),
		.limited = x->memory.cage.folder != NULL,
		.limit_ms = x->slot.time_ms,
		.limit_bytes = x->slot.memory_bytes,
		.peak_bytes = cost_get(&x->cost, FIGURE_MEMORY),
		.stalled = buf_text(&x->watch.why),
		.shared = exec_gpu_share(x) > 0,
		.program = x->d.argv->items[0]->string,
		.errors = buf_text(&errors),
		.output = buf_text(&output),
	};
	if (x->status)
		facts.unwritable = fs_try_writing(x->d.attempt_dir);
	exec_read_rest(x);
	recorder_note_wait(&x->recorder);
	x->setup_failed = facts.setup.line > 0;
	outcome_decide(&facts, &x->outcome);
	if (x->outcome.cause == CAUSE_OK)
		exec_note_exception(x, buf_text(&errors));
	if (facts.killed_for_memory && x->outcome.cause != CAUSE_MEMORY)
		recorder_note(&x->recorder, "the kernel ended a process of the script for lack of memory");
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
	if (!leftover_signal(x->pid, x->helper, waited >= most ? SIGKILL : 0) || waited > most + EXEC_LEFTOVER_MS)
		exec_finish(x);
}

/* The script has ended. What it left behind must not go on using what the next task was promised. */
static void exec_script_ended(struct exec *x, int status)
{
	x->status = status;
	x->ended = true;
	x->ended_ms = clock_mono_ms();
	warm_count(&x->warm, &x->sampler.usage,
		   &x->cost); /* before the sampler ends: it splits the energy by the CPU time */
	sampler_end(&x->sampler, &x->cost);
	ending_over(&x->ending);
	uv_timer_stop(&x->tick);
	warm_end(&x->warm, x->status, x->d.attempt_dir);
	if (!leftover_signal(x->pid, x->helper, SIGTERM)) {
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
	bool over = false;
	int script_status = 0;
	struct rusage used;
	siginfo_t ended = {0};
	while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid) {
		pid_t pid = ended.si_pid;
		bool other = pid == x->helper || (x->watch.stack.pid && pid == x->watch.stack.pid);
		if (!other && !(pid == x->pid && exec_is_warm(x)))
			usage_read_ended(&x->sampler.usage, pid, &x->cost); /* as long as /proc still shows it */
		if (wait4(pid, &status, 0, &used) != pid)
			break;
		ended.si_pid = 0;
		usage_ended(&x->sampler.usage, other, &used);
		watch_reap(&x->watch, pid);
		if (pid == x->pid && !x->ended) {
			over = true;
			script_status = status;
		}
	}
	if (over)
		exec_script_ended(x, script_status);
}

static void exec_signals_cb(uv_poll_t *handle, int status, int events)
{
	struct exec *x = handle->data;
	struct signalfd_siginfo info;
	(void)status, (void)events;
	while (read(x->signals_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			exec_reap(x);
		else
			ending_take(&x->ending, (int)info.ssi_signo);
	}
}

/* Taken for the peak of memory and the energy; written as often as the file system should bear. What was taken
 * meanwhile is joined. */
static void exec_sample(struct exec *x, int64_t now)
{
	struct sample sample;
	bool taken = sampler_poll(&x->sampler, now, &x->cost, &sample);
	x->helper = x->sampler.usage.helper ? x->sampler.usage.helper : x->helper;
	if (!taken)
		return;
	watch_sample(&x->watch, &sample, now);
	x->sampler.usage.looker = x->watch.stack.pid;
	cost_set(&x->cost, FIGURE_WALL, (double)(now - x->started_ms));
	if (x->unwritten.weight)
		sample_join(&x->unwritten, &sample);
	else
		x->unwritten = sample;
	if (x->recorder.shared && now - x->started_ms > EXEC_BEAT_MS && now < x->next_beat_ms)
		return;
	x->next_beat_ms = now + EXEC_BEAT_MS - EXEC_TICK_MS;
	recorder_append(&x->recorder,
			&(struct journal_record){.kind = JOURNAL_SAMPLE, .cost = x->cost, .sample = &x->unwritten});
	x->unwritten.weight = 0;
}

static void exec_watch_memory(struct exec *x)
{
	double used;
	if (x->ended || !memory_is_over(&x->memory, &x->sampler.usage, &used))
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
	if (watch_poll(&x->watch, now))
		ending_stop(&x->ending, CAUSE_STALLED, "it makes no progress: ending it");
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
	if (!x->recorder.blocked)
		exec_sample(x, now);
	logtimes_poll(&x->logtimes, now, clock_now_ms());
	recorder_sync_due(&x->recorder, now);
}

static int exec_open_loop(struct exec *x, struct error *err)
{
	uv_loop_init(&x->loop);
	uv_timer_init(&x->loop, &x->tick);
	x->tick.data = x;
	ending_open(&x->ending, &x->loop, recorder_note, &x->recorder);
	/* They stay blocked and are read: six handlers would cost sixty system calls for every task. */
	x->signals_fd = signalfd(-1, &x->blocked, SFD_NONBLOCK | SFD_CLOEXEC);
	if (x->signals_fd < 0)
		return errorf(err, -errno, "signalfd: %s", strerror(errno));
	uv_poll_init(&x->loop, &x->signals, x->signals_fd);
	x->signals.data = x;
	uv_poll_start(&x->signals, UV_READABLE, exec_signals_cb);
	return 0;
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
	if (x->signals_fd >= 0)
		close(x->signals_fd);
}

static void exec_start_timers(struct exec *x)
{
	logtimes_begin(&x->logtimes, x->d.attempt_dir, x->started_ms);
	x->next_look_ms = x->started_ms + EXEC_STOP_LOOK_MS;
	x->next_search_ms = x->started_ms + EXEC_SEARCH_MS;
	uv_timer_start(&x->tick, exec_tick_cb, EXEC_TICK_MS, EXEC_TICK_MS);
	ending_begin(&x->ending, x->pid, &x->d, &x->slot);
}

static void exec_open_follow(struct exec *x)
{
	struct follow_config config;
	sources_find(&x->d, &x->sources, &config);
	config.row = recorder_row_cb;
	config.note = recorder_note;
	config.renumbered = recorder_note_renumbered;
	config.blocked = recorder_is_blocked;
	config.ctx = &x->recorder;
	x->follow = follow_new(&config);
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

static int exec_prepare_launch(struct exec *x, struct launch *launch, struct error *err)
{
	int rc = launch_prepare(&x->d, &x->environment, exec_gpus(x), &x->warm, launch, err);
	if (rc == 0)
		launch_pin(launch, x->d.cpus, &x->slot, &x->notes);
	if (rc == 0)
		memory_limit(&x->memory, x->slot.memory_bytes, launch->pid, !x->warm.shared);
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

/* The GPUs of the allocation and no others: on this machine those of the slot, on a cluster those that it has set. */
static void exec_open_sampler(struct exec *x)
{
	const char *assigned = x->has_slot ? x->slot.gpus : x->d.gpus;
	sampler_open(&x->sampler,
		     &(struct sampler_config){.gpus = gpus_list_find(assigned),
					      .power_limit = x->d.power_limit,
					      .part = exec_gpu_share(x) > 0 ? (double)exec_gpu_share(x) / 1000 : 1,
					      .mps = x->slot.mps,
					      .note = recorder_note,
					      .ctx = &x->recorder});
	x->helper = gpus_pid(x->sampler.gpus);
}

static void exec_open_warm(struct exec *x)
{
	char **env = environment_make(&x->environment, &x->d, exec_gpus(x));
	warm_open(&x->d, env, &x->warm, &x->notes);
	environment_free_made(env);
}

/* The script runs. If it was forked from a keeper, it is not our child. */
static void exec_take_warm(struct exec *x)
{
	if (x->warm.shared) {
		x->sampler.usage.adopted = x->warm.shared->pid;
		recorder_note_warm(&x->recorder, x->warm.shared->pid, x->warm.modules);
	}
}

/* Runs the attempt to its end; the journal is open. */
static void exec_attempt(struct exec *x)
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
	exec_open_warm(x);
	exec_open_follow(x);
	if (exec_open_loop(x, &err) < 0) {
		exec_fail(x, CAUSE_LAUNCH, 127, &err);
		goto out;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	exec_open_sampler(x);
	memory_open(&x->memory);
	if (exec_try(x, exec_prepare_launch, &launch) < 0)
		goto out;
	x->pid = launch.pid;
	x->started_ms = clock_mono_ms();
	opening_write(&(struct opening){.d = &x->d,
					.slot = &x->slot,
					.memory = memory_words(&x->memory),
					.gpus = exec_gpus(x),
					.pid = x->pid,
					.follow = x->follow,
					.notes = buf_text(&x->notes),
					.cold = !x->warm.shared,
					.ended_earlier = x->ended_earlier},
		      &x->recorder);
	sampler_begin(&x->sampler, clock_mono_ms());
	if (launch_go(&x->d, &launch, &err) < 0) {
		exec_fail(x, CAUSE_LAUNCH, 127, &err);
		goto out;
	}
	exec_take_warm(x);
	watch_begin(&x->watch, &x->d, &x->environment, &x->recorder,
		    x->sampler.usage.adopted ? x->sampler.usage.adopted : x->pid);
	x->ran_pending = ran_begin(&x->d, &x->environment, exec_gpus(x), &x->recorder);
	exec_start_timers(x);
	if (layout_has_aside(&x->d))
		exec_drop_aside(x);
	uv_run(&x->loop, UV_RUN_DEFAULT);
out:
	exec_close_loop(x);
}

static int exec_run(const char *batch_dir, uint32_t index)
{
	struct exec x = {.batch_dir = batch_dir,
			 .index = index,
			 .signals_fd = -1,
			 .warm = {.connection = -1},
			 .notes = buf_make(LIMIT_TEXT_BYTES),
			 .outcome = {.exit_code = 1, .cause = CAUSE_LAUNCH}};
	struct room room = {0};

	clock_hold(clock_offset_ms()); /* the times of one journal belong together */
	/* From the claim on only SIGKILL may end us without a record: signals wait until the loop reads them. */
	sigemptyset(&x.blocked);
	for (size_t i = 0; i < COUNT_OF(exec_signals); i++)
		sigaddset(&x.blocked, exec_signals[i]);
	sigprocmask(SIG_BLOCK, &x.blocked, NULL);
	signal(SIGCHLD, SIG_DFL); /* where it is ignored, nothing would tell us that the script has ended */
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk, not our end */
	signal(SIGPIPE, SIG_IGN);

	int rc = begin_attempt(batch_dir, index, &room, &x.d, &x.recorder);
	if (rc == 0) {
		x.has_slot = spool_slot_read(batch_dir, index, &x.slot);
		exec_attempt(&x);
	} else if (rc == -ESRCH) {
		log_info("the attempt is over, and its files are gone: nothing to run");
	}
	memory_close(&x.memory);
	sampler_close(&x.sampler);
	watch_free(&x.watch);
	follow_free(x.follow);
	recorder_close(&x.recorder);
	spool_descriptor_free(&x.d);
	sources_free(&x.sources);
	buf_free(&x.notes);
	environment_free(&x.environment);
	warm_free(&x.warm);
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
