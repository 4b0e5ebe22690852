/* See outcome.h. */
#include "node/outcome.h"

#include "base/limits.h"
#include "base/text.h"
#include "node/reason.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(o, ...) snprintf((o)->message, sizeof((o)->message), __VA_ARGS__)

/* A SIGKILL that the kernel's count does not explain: a process sent it, or memory ran out where no group is counted. An exit
 * code may only look like one: it counts as a signal, so that a cluster's accounting is asked, and the text says what is known. */
static void outcome_say_killed(const struct outcome_facts *facts, struct outcome *o)
{
	char peak[32] = "", used[80] = "";
	o->cause = CAUSE_SIGNAL;
	if (!isnan(facts->peak_bytes)) {
		text_format_bytes((int64_t)facts->peak_bytes, peak, sizeof(peak));
		snprintf(used, sizeof(used), " (the most that was measured is %s)", peak);
	}
	if (o->signal)
		SAY(o,
		    "signal %d (%s), and the kernel did not say why: perhaps the machine ran out of memory%s, or a "
		    "person, an administrator's rule or the script itself ended it",
		    SIGKILL, strsignal(SIGKILL), used);
	else
		SAY(o,
		    "exit code %d: the script ended so by itself, or a shell says by it that signal %d (%s) ended a "
		    "process, and the kernel did not say why: perhaps the machine ran out of memory%s",
		    o->exit_code, SIGKILL, strsignal(SIGKILL), used);
}

/* In the script's own words, where it left any; else the code or the signal. */
static void outcome_say_why(const struct outcome_facts *facts, struct outcome *o)
{
	struct buf why = buf_make(BUF_UNLIMITED);
	bool found = facts->errors && reason_find(facts->errors, o->exit_code, &why);
	if (o->signal && found)
		SAY(o, "%s (signal %d, %s)", buf_text(&why), o->signal, strsignal(o->signal));
	else if (o->signal)
		SAY(o, "signal %d (%s)", o->signal, strsignal(o->signal));
	else if (found)
		SAY(o, "%s", buf_text(&why));
	else if (facts->output && reason_last_line(facts->output, &why))
		SAY(o, "exit code %d; the last line that it printed: %s", o->exit_code, buf_text(&why));
	else
		SAY(o, "exit code %d, and it printed nothing", o->exit_code);
	buf_free(&why);
}

/* Did it fail because of its neighbours on the GPU, as far as can be told? Either the memory was full, or CUDA failed: with
 * MPS a fault of one task ends the others' work too, with errors that look like their own. */
static bool outcome_is_shared(const struct outcome_facts *facts)
{
	static const char *const words[] = {"CUDA out of memory",
					    "OutOfMemoryError",
					    "CUDA_ERROR_OUT_OF_MEMORY",
					    "OOM when allocating",
					    "CUBLAS_STATUS_ALLOC_FAILED",
					    "CUDA error",
					    "CUDNN_STATUS_",
					    "CUBLAS_STATUS_",
					    "cudaError",
					    "CUDA_ERROR_"};
	for (size_t i = 0; facts->shared && facts->errors && i < COUNT_OF(words); i++)
		if (strstr(facts->errors, words[i]))
			return true;
	return false;
}

static const char *outcome_setup_hint(const struct setup_failure *setup)
{
	if (!setup->status)
		return "";
	if (strstr(setup->text, "conda activate") || strstr(setup->text, "mamba activate"))
		return " (`conda activate` is a function of the shell: put `source $(conda info --base)/etc/profile.d/conda.sh` "
		       "before it, or write environment: {python: /path/to/the/environment})";
	if (setup->status == 127 && strstr(setup->text, "module"))
		return " (no environment modules were found on this node: neither MODULESHOME nor /etc/profile.d has them)";
	return " (write `|| true` behind a line that may fail)";
}

/* The runner ended it, or the control group that the runner made. */
static void outcome_say_memory(const struct outcome_facts *facts, struct outcome *o)
{
	char used[32], limit[32];
	o->cause = CAUSE_MEMORY;
	text_format_bytes((int64_t)facts->peak_bytes, used, sizeof(used));
	text_format_bytes(facts->limit_bytes, limit, sizeof(limit));
	if (facts->stopped)
		SAY(o, "used %s of memory, more than the %s of resources: {memory: …}; ended by its runner", used,
		    limit);
	else
		SAY(o, "needed more memory than the %s of resources: {memory: …}; ended by the kernel", limit);
}

static void outcome_decide_exit(const struct outcome_facts *facts, struct outcome *o)
{
	int code = o->exit_code;
	const struct setup_failure *setup = &facts->setup;
	o->cause = code == 0 ? CAUSE_OK : CAUSE_EXIT;
	if (setup->line) {
		o->cause = CAUSE_LAUNCH;
		o->exit_code = code ? code : 127; /* a line that says `exit` is no success */
		if (setup->line <= setup->added)
			SAY(o,
			    "the loading of the modules ended with status %d, so the script was not started: %.300s%s",
			    setup->status, setup->text, outcome_setup_hint(setup));
		else
			SAY(o, "setup line %zu ended with status %d, so the script was not started: %.300s%s",
			    setup->line - setup->added, setup->status, setup->text, outcome_setup_hint(setup));
	} else if (code == 0) {
		SAY(o, "finished");
	} else if (code == 128 + SIGKILL && facts->killed_for_memory && facts->limited) {
		outcome_say_memory(facts, o);
	} else if (code == 128 + SIGKILL && facts->killed_for_memory) {
		o->cause = CAUSE_MEMORY;
		SAY(o, "a process of the script was ended by the kernel: out of memory");
	} else if (code == OUTCOME_CONTINUE) {
		o->cause = CAUSE_TIME;
		SAY(o, "asked to be continued (exit code %d)", code);
	} else if (code == 128 + SIGKILL) {
		outcome_say_killed(facts, o);
	} else if (facts->has_setup && code == 127) {
		o->cause = CAUSE_LAUNCH;
		SAY(o, "%.300s: no such program after the setup lines; see the error output", facts->program);
	} else if (facts->has_setup && code == 126) {
		o->cause = CAUSE_LAUNCH;
		SAY(o, "%.300s: not allowed to be executed; make it executable (chmod +x)", facts->program);
	} else {
		outcome_say_why(facts, o);
	}
}

/* Told to save before its limit: however it ended, it had not come to its own end. */
static void outcome_decide_saved(struct outcome *o)
{
	o->cause = CAUSE_TIME;
	if (o->signal)
		SAY(o, "its time limit was near: told to save, it ended by signal %d (%s); to be continued", o->signal,
		    strsignal(o->signal));
	else
		SAY(o, "its time limit was near: told to save, it ended with exit code %d; to be continued",
		    o->exit_code);
}

static void outcome_say_time(const struct outcome_facts *facts, struct outcome *o)
{
	char limit[32];
	text_format_duration(facts->limit_ms, limit, sizeof(limit));
	SAY(o, "its time limit of %s was reached", limit);
}

/* A script that cannot write its output mostly ends without a word: there is no room for its error output either. */
static void outcome_add_unwritable(const struct outcome_facts *facts, struct outcome *o)
{
	const char *why = facts->unwritable ? strerror(-facts->unwritable) : NULL;
	size_t len = strlen(o->message);
	if (why && !strstr(o->message, why))
		snprintf(o->message + len, sizeof(o->message) - len, "; nothing can be written to its folder: %s", why);
}

void outcome_decide(const struct outcome_facts *facts, struct outcome *ret)
{
	struct outcome o = {.exit_code = -1};
	if (WIFSIGNALED(facts->status))
		o.signal = WTERMSIG(facts->status);
	else
		o.exit_code = WEXITSTATUS(facts->status);

	if (facts->stopped) {
		o.cause = facts->stopped;
		if (o.cause == CAUSE_MEMORY)
			outcome_say_memory(facts, &o);
		else if (o.cause == CAUSE_TIME)
			outcome_say_time(facts, &o);
		else if (o.cause == CAUSE_STALLED)
			SAY(&o, "ended because it made no progress: %.900s", facts->stalled);
		else
			SAY(&o, "stopped");
	} else if (facts->told_to_save && !facts->setup.line && !facts->killed_for_memory) {
		outcome_decide_saved(&o);
	} else if (!o.signal) {
		outcome_decide_exit(facts, &o);
	} else if (o.signal == SIGKILL && facts->killed_for_memory && facts->limited) {
		outcome_say_memory(facts, &o);
	} else if (o.signal == SIGKILL && facts->killed_for_memory) {
		o.cause = CAUSE_MEMORY;
		SAY(&o, "ended by the kernel: out of memory");
	} else if (o.signal == SIGKILL) {
		outcome_say_killed(facts, &o);
	} else {
		o.cause = CAUSE_SIGNAL;
		outcome_say_why(facts, &o);
	}
	if (o.cause == CAUSE_EXIT || o.cause == CAUSE_SIGNAL || o.cause == CAUSE_LAUNCH)
		outcome_add_unwritable(facts, &o);
	if ((o.cause == CAUSE_EXIT || o.cause == CAUSE_SIGNAL) && outcome_is_shared(facts)) {
		char why[700];
		o.cause = CAUSE_SHARED;
		snprintf(why, sizeof(why), "%.600s", o.message);
		SAY(&o, "failed on a GPU that it shared: %s", why);
	}
	*ret = o;
}

int outcome_status(const struct outcome *o)
{
	return o->signal ? 128 + o->signal : o->exit_code < 0 ? 1 : o->exit_code;
}

/* What a terminal would show of one line: the text behind the last carriage return that has any. */
static void outcome_add_line(const char *line, size_t len, struct buf *out)
{
	while (len && line[len - 1] == '\r')
		len--;
	const char *from = memrchr(line, '\r', len);
	if (from) {
		len -= (size_t)(from + 1 - line);
		line = from + 1;
	}
	text_utf8_clean(line, len, out);
	buf_add_char(out, '\n');
}

void outcome_tail(const char *path, struct buf *out)
{
	char data[LIMIT_ERROR_TAIL_BYTES];
	struct stat st;
	int fd = stat(path, &st) < 0 || st.st_size == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	off_t from = st.st_size > (off_t)sizeof(data) ? st.st_size - (off_t)sizeof(data) : 0;
	ssize_t n = pread(fd, data, sizeof(data), from);
	close(fd);
	const char *p = data, *end = data + (n > 0 ? n : 0);
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	if (from > 0 && newline && newline + 1 < end) /* the first line is cut: leave it out */
		p = newline + 1;
	while (p < end) {
		newline = memchr(p, '\n', (size_t)(end - p));
		outcome_add_line(p, (size_t)((newline ? newline : end) - p), out);
		p = newline ? newline + 1 : end;
	}
}
