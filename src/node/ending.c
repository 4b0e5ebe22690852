/* See ending.h. */
#include "node/ending.h"

#include "base/pace.h"

#include <signal.h>
#include <stdio.h>

static void ending_kill_cb(uv_timer_t *timer)
{
	struct ending *ending = timer->data;
	ending->note(ending->ctx, "it has not stopped within its grace period: killing it");
	kill(-ending->pid, SIGKILL);
}

static void ending_term_cb(uv_timer_t *timer)
{
	struct ending *ending = timer->data;
	kill(-ending->pid, SIGTERM);
	kill(-ending->pid, SIGCONT);
}

/* Only the script itself gets the signal: the processes it started mostly die of SIGUSR1. */
static void ending_tell_script(struct ending *ending, int signal)
{
	char text[64];
	snprintf(text, sizeof(text), "signal %s passed on to the script", sigabbrev_np(signal));
	ending->note(ending->ctx, text);
	kill(ending->pid, signal);
}

/* Once; false where it has got the signal already, or there is no such signal. */
static bool ending_tell_to_save(struct ending *ending)
{
	if (ending->told_to_save || !ending->pid || !ending->checkpoint_signal)
		return false;
	ending->told_to_save = true;
	ending_tell_script(ending, ending->checkpoint_signal);
	kill(ending->pid, SIGCONT);
	return true;
}

static void ending_checkpoint_cb(uv_timer_t *timer)
{
	ending_tell_to_save(timer->data);
}

static void ending_limit_cb(uv_timer_t *timer)
{
	ending_stop(timer->data, CAUSE_TIME, "its time limit is reached: stopping it");
}

void ending_open(struct ending *ending, uv_loop_t *loop, ending_note_f note, void *ctx)
{
	uv_timer_t *timers[] = {&ending->term, &ending->kill, &ending->limit, &ending->checkpoint};
	for (size_t i = 0; i < COUNT_OF(timers); i++) {
		uv_timer_init(loop, timers[i]);
		timers[i]->data = ending;
	}
	ending->note = note;
	ending->ctx = ctx;
}

void ending_begin(struct ending *ending, pid_t pid, const struct spool_descriptor *d, const struct spool_slot *slot)
{
	int64_t limit = slot->time_ms, before = slot->signal_before_ms;
	ending->pid = pid;
	ending->grace_ms = d->grace_ms;
	ending->checkpoint_signal = d->checkpoint_signal ? d->checkpoint_signal : slot->checkpoint_signal;
	if (limit > 0)
		uv_timer_start(&ending->limit, ending_limit_cb, (uint64_t)limit, 0);
	if (before > 0 && limit > before)
		uv_timer_start(&ending->checkpoint, ending_checkpoint_cb, (uint64_t)(limit - before), 0);
}

void ending_over(struct ending *ending)
{
	ending->pid = 0;
	uv_timer_stop(&ending->term);
	uv_timer_stop(&ending->kill);
}

void ending_stop(struct ending *ending, enum cause cause, const char *why)
{
	if (ending->stopped || !ending->pid)
		return;
	ending->stopped = cause;
	ending->note(ending->ctx, why);
	uv_timer_start(&ending->kill, ending_kill_cb, (uint64_t)ending->grace_ms, 0);
	ending_term_cb(&ending->term);
}

/* Another job needs its place, or a user ends it: it may save first, and has half of the grace period to do so. Whether
 * the cluster leaves it that much is the cluster's choice. */
static void ending_stop_saving(struct ending *ending)
{
	bool saves = !ending->stopped && ending->checkpoint_signal != SIGTERM &&
		ending->grace_ms >= ENDING_SAVE_LEAST_MS && ending_tell_to_save(ending);
	if (!saves) {
		ending_stop(ending, CAUSE_STOPPED, "asked to stop: ending the script");
		return;
	}
	ending->stopped = CAUSE_STOPPED;
	ending->note(ending->ctx, "asked to stop: the script may save first");
	uv_timer_start(&ending->term, ending_term_cb, (uint64_t)ending->grace_ms / 2, 0);
	uv_timer_start(&ending->kill, ending_kill_cb, (uint64_t)ending->grace_ms, 0);
}

void ending_save(struct ending *ending, int64_t within_ms)
{
	if (ending->stopped || !ending->pid)
		return;
	ending->stopped = CAUSE_STOPPED;
	ending->note(ending->ctx, "asked to save a checkpoint and to end");
	ending_tell_to_save(ending); /* it may know already that its limit is near */
	uv_timer_start(&ending->term, ending_term_cb, (uint64_t)within_ms, 0);
	uv_timer_start(&ending->kill, ending_kill_cb, (uint64_t)(within_ms + ending->grace_ms), 0);
}

/* Slurm announces the time limit by SIGUSR2 to a script that wants that one, to any other by SIGUSR1. */
static bool ending_is_announcement(const struct ending *ending, int signal)
{
	return ending->checkpoint_signal && signal == (ending->checkpoint_signal == SIGUSR2 ? SIGUSR2 : SIGUSR1);
}

void ending_take(struct ending *ending, int signal)
{
	if (!ending->pid)
		return;
	if (ending_is_announcement(ending, signal))
		ending_tell_to_save(ending);
	else if (signal == SIGUSR1 || signal == SIGUSR2)
		ending_tell_script(ending, signal);
	else
		ending_stop_saving(ending);
}
