/* See stall.h. */
#include "model/stall.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct stall_kind_row stall_kinds[STALL_KIND_COUNT] = {
#define STALL_ROW(name, word_, least_s, sure_, text_)                                                                  \
	[STALL_##name] = {.word = word_, .least_ms = (least_s)*1000, .sure = sure_, .text = text_},
	STALL_KINDS(STALL_ROW)};

/* Fewer pauses are no rhythm. For a run that is as busy as before more must be known. */
#define STALL_PAUSES_LEAST 3
#define STALL_PAUSES_QUIET 10
#define STALL_QUIET_TIMES 4
/* Without a rhythm (no metrics yet, or none at all) only a run that does nothing can be judged, after this time. */
#define STALL_UNKNOWN_MS 600000
/* Fewer samples of the usual work are no measure. */
#define STALL_USUAL_LEAST 3

/* What a process does that only waits: the threads of Python and of libraries wake up now and then. */
#define STALL_IDLE_CORES 0.05
#define STALL_IDLE_UTIL 2.0
/* Bytes a second: below this it neither reads nor writes. */
#define STALL_IDLE_TRAFFIC 100000.0
#define STALL_BUSY_CORES 0.85
#define STALL_BUSY_UTIL 95.0
/* A second: what allocates memory as it works has tens to thousands of new pages, a loop has none. */
#define STALL_WORK_FAULTS 20.0
#define STALL_NO_FAULTS 1.0
#define STALL_NO_CALLS 1.0
/* Of the usual power. A GPU that only waits in a kernel draws about half or less. */
#define STALL_LOW_POWER 0.6

void stall_init(struct stall *stall, const struct stall_rule *rule, int64_t now_ms)
{
	*stall = (struct stall){.rule = *rule, .begun_ms = now_ms};
}

static size_t stall_have(size_t count, size_t most)
{
	return count < most ? count : most;
}

void stall_row(struct stall *stall, int64_t now_ms)
{
	size_t most = RHYTHM_STEPS_MOST + 1;
	int64_t last = stall->row_count ? stall->row_ms[stall->row_count - 1] : 0;
	if (stall->row_count && now_ms <= last)
		return;
	if (stall->row_count) { /* the time until the first metrics has the start in it */
		stall->pauses++;
		stall->longest_ms = now_ms - last > stall->longest_ms ? now_ms - last : stall->longest_ms;
	}
	if (stall->row_count == most) {
		memmove(stall->row_ms, stall->row_ms + 1, (most - 1) * sizeof(*stall->row_ms));
		stall->row_count--;
	}
	stall->row_ms[stall->row_count++] = now_ms;
	/* What it did between metrics was usual; what it did before the first was its start. */
	for (size_t i = 0; stall->row_count > 1 && i < stall_have(stall->newest_count, STALL_NEWEST); i++)
		stall->usual[stall->usual_count++ % STALL_USUAL_MOST] = stall->newest[i];
	stall->newest_count = 0;
}

/* The sum of two figures of which either may be unknown. */
static double stall_sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

void stall_sample(struct stall *stall, const struct sample *sample)
{
	const double *host = sample->host;
	struct stall_figures f = {
		.cpu = host[SAMPLE_HOST_CPU],
		.busiest = host[SAMPLE_HOST_BUSIEST],
		.util = NAN,
		.power = NAN,
		.traffic = stall_sum(host[SAMPLE_HOST_READ], host[SAMPLE_HOST_WRITE]),
		.blocked = host[SAMPLE_HOST_BLOCKED],
		.stopped = host[SAMPLE_HOST_STOPPED],
		.processes = host[SAMPLE_HOST_PROCESSES],
		.ready = host[SAMPLE_HOST_READY],
		.faults = host[SAMPLE_HOST_FAULTS],
		.calls = host[SAMPLE_HOST_CALLS],
	};
	for (uint32_t g = 0; g < sample->gpu_count; g++) {
		f.util = fmax(f.util, sample->gpu[g][SAMPLE_GPU_UTIL]); /* fmax passes over NAN */
		f.power = stall_sum(f.power, sample->gpu[g][SAMPLE_GPU_POWER]);
	}
	stall->newest[stall->newest_count++ % STALL_NEWEST] = f;
}

static int stall_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median of a figure while metrics came; NAN where too little is known. */
static double stall_usual(const struct stall *stall, size_t offset)
{
	double values[STALL_USUAL_MOST];
	size_t known = 0;
	for (size_t i = 0; i < stall_have(stall->usual_count, STALL_USUAL_MOST); i++) {
		double value = *(const double *)((const char *)&stall->usual[i] + offset);
		if (!isnan(value))
			values[known++] = value;
	}
	if (known < STALL_USUAL_LEAST)
		return NAN;
	qsort(values, known, sizeof(*values), stall_compare);
	return values[known / 2];
}
#define STALL_USUAL(stall, figure) stall_usual(stall, offsetof(struct stall_figures, figure))

static bool stall_no_traffic(const struct stall_figures *f)
{
	return !(f->traffic >= STALL_IDLE_TRAFFIC);
}

/* Each of these says whether one sample looks like the kind. A figure that is not known speaks for none of them. */

static bool stall_is_stopped(const struct stall *stall, const struct stall_figures *f)
{
	(void)stall;
	return f->stopped > 0 && f->cpu < STALL_IDLE_CORES;
}

static bool stall_is_blocked(const struct stall *stall, const struct stall_figures *f)
{
	(void)stall;
	return f->blocked > 0 && f->cpu < STALL_IDLE_CORES && stall_no_traffic(f);
}

/* One that is ready to run and gets no core is not idle: the machine is too full. */
static bool stall_is_idle(const struct stall *stall, const struct stall_figures *f)
{
	(void)stall;
	return f->cpu < STALL_IDLE_CORES && !(f->ready > 0) && !(f->util >= STALL_IDLE_UTIL) && stall_no_traffic(f);
}

static bool stall_is_collective(const struct stall *stall, const struct stall_figures *f)
{
	return f->util >= STALL_BUSY_UTIL && f->power < STALL_LOW_POWER * STALL_USUAL(stall, power);
}

/* Busy all the time, or as much as a full machine lets it be. */
static bool stall_computes(const struct stall_figures *f)
{
	return f->busiest >= STALL_BUSY_CORES || (f->ready > 0 && f->cpu >= STALL_IDLE_CORES);
}

/* It takes no memory any more where it always did. */
static bool stall_stopped_allocating(const struct stall *stall, const struct stall_figures *f)
{
	return STALL_USUAL(stall, faults) >= STALL_WORK_FAULTS && f->faults < STALL_NO_FAULTS && stall_computes(f);
}

/* One core, where before it was the GPU, several cores, or much less than one. */
static bool stall_took_one_core(const struct stall *stall, const struct stall_figures *f)
{
	double util = STALL_USUAL(stall, util), cpu = STALL_USUAL(stall, cpu);
	bool other = util >= 10 || cpu >= 1.5 || cpu < 0.6;
	return f->busiest >= STALL_BUSY_CORES && other;
}

static bool stall_is_spinning(const struct stall *stall, const struct stall_figures *f)
{
	return f->cpu < f->busiest + 0.15 && f->cpu < 1.3 && !(f->util >= 5) && stall_no_traffic(f) &&
		(stall_took_one_core(stall, f) || stall_stopped_allocating(stall, f));
}

/* Any number of cores. Where a GPU works, or a file or the output grows, there is no reason to doubt. */
static bool stall_is_churning(const struct stall *stall, const struct stall_figures *f)
{
	return stall->pauses >= STALL_PAUSES_QUIET && stall_computes(f) && !(f->util >= 5) && stall_no_traffic(f) &&
		f->faults < STALL_NO_FAULTS && f->calls < STALL_NO_CALLS;
}

static bool stall_is_quiet(const struct stall *stall, const struct stall_figures *f)
{
	return (stall->rule.after_ms || stall->pauses >= STALL_PAUSES_QUIET) && !isnan(f->cpu);
}

static bool (*const stall_tests[])(const struct stall *stall, const struct stall_figures *f) = {
	[STALL_STOPPED] = stall_is_stopped,   [STALL_BLOCKED] = stall_is_blocked,
	[STALL_IDLE] = stall_is_idle,         [STALL_COLLECTIVE] = stall_is_collective,
	[STALL_SPINNING] = stall_is_spinning, [STALL_CHURNING] = stall_is_churning,
	[STALL_QUIET] = stall_is_quiet,
};
_Static_assert(sizeof(stall_tests) / sizeof(*stall_tests) == STALL_KIND_COUNT, "a kind has no test");

static bool stall_has_rhythm(const struct stall *stall)
{
	return stall->pauses >= STALL_PAUSES_LEAST;
}

/* The longest pause that its own rhythm explains. */
static double stall_longest_ms(const struct stall *stall)
{
	struct rhythm_left left;
	int64_t last = stall->row_ms[stall->row_count - 1];
	double longest = (double)stall->longest_ms;
	if (rhythm_left(stall->row_ms, stall->row_count, 1, last, &left) && left.high_ms > longest)
		longest = left.high_ms;
	return longest;
}

/* How long a silence must be for this kind; INFINITY: it cannot be told. */
static double stall_limit_ms(const struct stall *stall, enum stall_kind kind)
{
	double least = (double)stall_kinds[kind].least_ms;
	if (stall->rule.after_ms)
		return (double)stall->rule.after_ms;
	if (kind == STALL_STOPPED) /* no run that is well is stopped */
		return least;
	if (!stall_has_rhythm(stall))
		return kind == STALL_IDLE || kind == STALL_BLOCKED ? STALL_UNKNOWN_MS : INFINITY;
	bool weak = kind == STALL_CHURNING || kind == STALL_QUIET;
	double times = stall->rule.times * (weak ? STALL_QUIET_TIMES : 1);
	return fmax(times * stall_longest_ms(stall), least);
}

static int64_t stall_silent_ms(const struct stall *stall, int64_t now_ms)
{
	return now_ms - (stall->row_count ? stall->row_ms[stall->row_count - 1] : stall->begun_ms);
}

static const struct stall_figures *stall_newest(const struct stall *stall)
{
	return &stall->newest[(stall->newest_count + STALL_NEWEST - 1) % STALL_NEWEST];
}

static bool stall_looks_like(const struct stall *stall, enum stall_kind kind)
{
	/* It may have become idle just now: the next samples tell. */
	if (kind == STALL_QUIET && stall_is_idle(stall, stall_newest(stall)))
		return false;
	for (size_t i = 0; i < STALL_NEWEST; i++)
		if (!stall_tests[kind](stall, &stall->newest[i]))
			return false;
	return true;
}

enum stall_kind stall_judge(const struct stall *stall, int64_t now_ms)
{
	double silent = (double)stall_silent_ms(stall, now_ms);
	if (stall->newest_count < STALL_NEWEST)
		return STALL_NONE;
	for (enum stall_kind kind = STALL_NONE + 1; kind < STALL_KIND_COUNT; kind++)
		if (silent >= stall_limit_ms(stall, kind) && stall_looks_like(stall, kind))
			return kind;
	return STALL_NONE;
}

bool stall_is_sure(const struct stall *stall, enum stall_kind kind)
{
	return stall_kinds[kind].sure || stall->rule.after_ms;
}

/* ", GPU 3 % (usually 80 %)"; nothing where the figure is not known. */
static void stall_add_figure(struct buf *out, const char *label, const char *unit, int digits, double now, double usual)
{
	if (isnan(now))
		return;
	buf_addf(out, ", %s %.*f%s", label, digits, now, unit);
	if (!isnan(usual))
		buf_addf(out, " (usually %.*f)", digits, usual);
}

void stall_explain(const struct stall *stall, enum stall_kind kind, int64_t now_ms, struct buf *out)
{
	const struct stall_figures *f = stall_newest(stall);
	char silent[32], longest[32];
	text_format_duration(stall_silent_ms(stall, now_ms), silent, sizeof(silent));
	if (stall->row_count)
		buf_addf(out, "no metrics for %s", silent);
	else
		buf_addf(out, "no metrics since it began, %s ago", silent);
	if (stall_has_rhythm(stall)) {
		text_format_duration(stall->longest_ms, longest, sizeof(longest));
		buf_addf(out, " (longest pause before: %s)", longest);
	}
	stall_add_figure(out, "CPU", " cores", 2, f->cpu, STALL_USUAL(stall, cpu));
	stall_add_figure(out, "GPU", " %", 0, f->util, STALL_USUAL(stall, util));
	stall_add_figure(out, "GPU power", " W", 0, f->power, STALL_USUAL(stall, power));
	if (kind == STALL_SPINNING || kind == STALL_CHURNING)
		stall_add_figure(out, "new pages of memory", "/s", 0, f->faults, STALL_USUAL(stall, faults));
	if (kind == STALL_CHURNING)
		stall_add_figure(out, "calls to read and write", "/s", 0, f->calls, STALL_USUAL(stall, calls));
	if (f->processes > 1)
		buf_addf(out, ", %.0f processes", f->processes);
	buf_addf(out, ": %s", stall_kinds[kind].text);
}
