/* Runs of many shapes, as times of metrics and samples: which of them count as stuck, and why. */
#include "../unit.h"

#include "base/buf.h"
#include "base/rng.h"
#include "model/stall.h"

#include <math.h>

/* What a run does in one second. */
struct second {
	bool row;
	double cpu, busiest, util, power, traffic, blocked, stopped;
	double faults, calls, ready;
};
typedef struct second (*shape_f)(int64_t second, struct rng *rng);

static struct sample sample_of(const struct second *s)
{
	struct sample sample;
	sample_init(&sample, 0, isnan(s->util) ? 0 : 1);
	sample.host[SAMPLE_HOST_CPU] = s->cpu;
	sample.host[SAMPLE_HOST_BUSIEST] = s->busiest;
	sample.host[SAMPLE_HOST_READ] = s->traffic;
	sample.host[SAMPLE_HOST_WRITE] = 0;
	sample.host[SAMPLE_HOST_BLOCKED] = s->blocked;
	sample.host[SAMPLE_HOST_STOPPED] = s->stopped;
	sample.host[SAMPLE_HOST_PROCESSES] = 1;
	sample.host[SAMPLE_HOST_FAULTS] = s->faults;
	sample.host[SAMPLE_HOST_CALLS] = s->calls;
	sample.host[SAMPLE_HOST_READY] = s->ready;
	sample.gpu[0][SAMPLE_GPU_UTIL] = s->util;
	sample.gpu[0][SAMPLE_GPU_POWER] = s->power;
	return sample;
}

/* Runs the shape for so long, sampled as a runner does. The first verdict, and when. */
static enum stall_kind judge(shape_f shape, int64_t seconds, const struct stall_rule *rule, int64_t *ret_at,
			     struct stall *stall)
{
	struct rng rng;
	rng_seed(&rng, 7);
	stall_init(stall, rule, 0);
	for (int64_t t = 1; t <= seconds; t++) {
		struct second s = shape(t, &rng);
		if (s.row)
			stall_row(stall, t * 1000);
		if (t % (t < 30 ? 2 : t < 300 ? 5 : 10))
			continue;
		struct sample sample = sample_of(&s);
		stall_sample(stall, &sample);
		enum stall_kind kind = stall_judge(stall, t * 1000);
		*ret_at = t;
		if (kind != STALL_NONE)
			return kind;
	}
	return STALL_NONE;
}

static struct second busy(bool row, double cpu, double util, double power)
{
	return (struct second){
		.row = row, .cpu = cpu, .busiest = fmin(cpu, 1), .util = util, .power = power, .traffic = 0};
}

static const struct stall_rule by_rhythm = {.times = STALL_TIMES};

/* Healthy shapes: none of them may raise anything. */

static struct second even(int64_t t, struct rng *rng)
{
	return busy(t % 10 == 0, 1.2, 80 + 10 * rng_unit(rng), 300);
}
static struct second cpu_only(int64_t t, struct rng *rng)
{
	(void)rng;
	return busy(t % 3 == 0, 1.0, NAN, NAN);
}
static struct second long_validation(int64_t t, struct rng *rng)
{
	(void)rng; /* a row a second, and 4 minutes on the GPU without one after each 10 minutes */
	bool validates = t % 840 >= 600;
	return busy(!validates, 1.1, validates ? 95 : 80, validates ? 350 : 300);
}
static struct second validation_on_one_core(int64_t t, struct rng *rng)
{
	(void)rng;
	bool validates = t % 800 >= 600;
	return busy(!validates, validates ? 1.0 : 2.5, validates ? 0 : 80, validates ? 90 : 300);
}
static struct second slow_first_epoch(int64_t t, struct rng *rng)
{
	(void)rng; /* 20 minutes of compiling on one core */
	return t < 1200 ? busy(false, 1.0, 0, 90) : busy(t % 20 == 0, 1.0, 90, 400);
}
static struct second slow_download(int64_t t, struct rng *rng)
{
	(void)rng; /* 9 minutes of network, which shows nowhere */
	return t < 540 ? busy(false, 0.03, 0, 70) : busy(t % 20 == 0, 1.0, 90, 400);
}
static struct second bursts(int64_t t, struct rng *rng)
{
	(void)rng; /* output that is buffered: many rows at once, then none for 5 minutes */
	return busy(t % 300 < 3, 1.0, NAN, NAN);
}
static struct second bursts_at_first(int64_t t, struct rng *rng)
{
	(void)rng; /* five rows at once while it starts, then one in 20 minutes */
	return busy(t < 6 || t % 1200 == 0, 1.0, 70, 250);
}
static struct second no_metrics(int64_t t, struct rng *rng)
{
	(void)t, (void)rng;
	return busy(false, 3.5, NAN, NAN);
}
static struct second slowing_down(int64_t t, struct rng *rng)
{
	(void)rng; /* each epoch takes 10 % longer than the one before */
	static const double growth = 1.1;
	double end = 10, step = 10;
	while (end + 0.5 < (double)t) {
		step *= growth;
		end += step;
	}
	return busy(fabs(end - (double)t) <= 0.5, 1.0, 85, 300);
}
static struct second uneven(int64_t t, struct rng *rng)
{
	return busy(rng_unit(rng) < 0.1, 0.3 + rng_unit(rng), 60 * rng_unit(rng), 150 + 100 * rng_unit(rng));
	(void)t;
}
static struct second mostly_asleep(int64_t t, struct rng *rng)
{
	(void)rng; /* polls another service: idle, with a row a minute */
	return busy(t % 60 == 0, 0.01, NAN, NAN);
}
static struct second loader_bound(int64_t t, struct rng *rng)
{
	(void)rng; /* one core always busy, the GPU now and then */
	return busy(t % 30 == 0, 1.0, t % 5 ? 2 : 40, 120);
}
static struct second saves_large_models(int64_t t, struct rng *rng)
{
	(void)rng;
	struct second s = busy(t % 400 < 300 && t % 5 == 0, 1.0, 80, 300);
	if (t % 400 >= 300)
		s = (struct second){.cpu = 0.02, .busiest = 0.02, .util = 0, .power = 80, .traffic = 2e8, .blocked = 1};
	return s;
}
static struct second four_workers(int64_t t, struct rng *rng)
{
	struct second s = busy(t % 45 == 0, 4.1 + rng_unit(rng), 70, 220);
	s.busiest = 1;
	return s;
}
static struct second one_row(int64_t t, struct rng *rng)
{
	(void)rng; /* only its result at the end */
	return busy(t == 3000, 1.0, 90, 350);
}
static struct second power_capped(int64_t t, struct rng *rng)
{
	(void)rng; /* the GPU throttles for half an hour, and goes on */
	bool hot = t > 1000 && t < 2800;
	return busy(t % (hot ? 25 : 10) == 0, 1.0, 99, hot ? 150 : 300);
}
static struct second debugger(int64_t t, struct rng *rng)
{
	(void)rng; /* stopped for a moment now and then, as by a profiler */
	struct second s = busy(t % 10 == 0, 1.0, NAN, NAN);
	s.stopped = t % 50 == 0;
	return s;
}
static struct second network_disk(int64_t t, struct rng *rng)
{
	struct second s = busy(t % 20 == 0, 0.4, 30, 120);
	s.blocked = rng_unit(rng) < 0.7;
	s.traffic = 5e6 * rng_unit(rng);
	return s;
}
static struct second long_end(int64_t t, struct rng *rng)
{
	(void)rng; /* after its last epoch a test of 25 minutes on the GPU */
	return busy(t < 1500 && t % 5 == 0, 1.0, 90, 320);
}

/* What is on the CPU alone. As measured with real scripts: NumPy and scikit-learn compute for minutes without a new page
 * of memory or a call, PyTorch with large tensors, Keras and what reads files do not. */

static struct second on_cpu(bool row, double faults, double calls)
{
	struct second s = busy(row, 1.0, NAN, NAN);
	s.faults = faults;
	s.calls = calls + row;
	return s;
}
static struct second numpy_tests_at_the_end(int64_t t, struct rng *rng)
{
	(void)rng; /* 9 minutes that look like nothing but a loop */
	return on_cpu(t < 2460 && t % 5 == 0, 0, 0);
}
static struct second numpy_validates_now_and_then(int64_t t, struct rng *rng)
{
	(void)rng;
	return on_cpu(t % 540 < 240 && t % 20 == 0, 0, 0);
}
static struct second keras_tests_for_long(int64_t t, struct rng *rng)
{
	return on_cpu(t < 1500 && t % 5 == 0, 60 + 60 * rng_unit(rng), 2);
}
static struct second prints_other_things(int64_t t, struct rng *rng)
{
	(void)rng;
	return on_cpu(t < 1500 && t % 5 == 0, 0, 2);
}
static struct second allocates_only_at_first(int64_t t, struct rng *rng)
{
	(void)rng; /* imports and loads its data, and then allocates nothing; a long step from time to time */
	return on_cpu(t > 40 && t % 400 < 100 && t % 10 == 0, t < 40 ? 5000 : 0, 0);
}
static struct second full_machine(int64_t t, struct rng *rng)
{
	struct second s = on_cpu(t % 15 == 0 || (t > 1000 && t % 400 == 0), 0, 0);
	s.cpu = s.busiest = 0.1 + 0.2 * rng_unit(rng);
	s.ready = 1;
	return s;
}

static const struct {
	const char *name;
	shape_f shape;
} healthy[] = {
	{"even", even},
	{"CPU only", cpu_only},
	{"long validation", long_validation},
	{"validation on one core", validation_on_one_core},
	{"slow first epoch", slow_first_epoch},
	{"slow download", slow_download},
	{"bursts", bursts},
	{"bursts at first", bursts_at_first},
	{"no metrics", no_metrics},
	{"slowing down", slowing_down},
	{"uneven", uneven},
	{"mostly asleep", mostly_asleep},
	{"loader bound", loader_bound},
	{"saves large models", saves_large_models},
	{"four workers", four_workers},
	{"one row", one_row},
	{"power capped", power_capped},
	{"debugger", debugger},
	{"network disk", network_disk},
	{"long end", long_end},
	{"NumPy tests at the end", numpy_tests_at_the_end},
	{"NumPy validates now and then", numpy_validates_now_and_then},
	{"Keras tests for long", keras_tests_for_long},
	{"prints other things", prints_other_things},
	{"allocates only at first", allocates_only_at_first},
	{"full machine", full_machine},
};

static void test_healthy_shapes_of_all_kinds_raise_nothing(void **state)
{
	(void)state;
	size_t alarms = 0;
	for (size_t i = 0; i < COUNT_OF(healthy); i++) {
		struct stall stall;
		int64_t at;
		enum stall_kind kind = judge(healthy[i].shape, 3000, &by_rhythm, &at, &stall);
		if (kind != STALL_NONE)
			print_message("# '%s' counts as %s after %lld s\n", healthy[i].name, stall_kinds[kind].word,
				      (long long)at);
		alarms += kind != STALL_NONE;
	}
	print_message("# false alarms: %zu of %zu healthy runs of 50 minutes\n", alarms, COUNT_OF(healthy));
	assert_true(COUNT_OF(healthy) >= 20);
	assert_int_equal(alarms, 0);
}

/* Sick ones: they work for 5 minutes, a row in 5 seconds, and then something happens. */

#define WORKED 300

static struct second deadlock(int64_t t, struct rng *rng)
{
	(void)rng;
	return t < WORKED ? busy(t % 5 == 0, 1.5, 80, 300) : busy(false, 0.002, 0, 75);
}
static struct second livelock(int64_t t, struct rng *rng)
{
	(void)rng;
	return t < WORKED ? busy(t % 5 == 0, 1.6, 80, 300) : busy(false, 1.0, 0, 80);
}
static struct second livelock_alike(int64_t t, struct rng *rng)
{
	(void)rng;
	return on_cpu(t < WORKED && t % 5 == 0, 0, 0);
}
static struct second livelock_on_a_full_machine(int64_t t, struct rng *rng)
{
	struct second s = on_cpu(t < WORKED && t % 5 == 0, 0, 0);
	s.cpu = s.busiest = 0.1 + 0.2 * rng_unit(rng);
	s.ready = 1;
	return s;
}
static struct second livelock_after_allocating(int64_t t, struct rng *rng)
{
	return on_cpu(t < WORKED && t % 5 == 0, t < WORKED ? 60 + 60 * rng_unit(rng) : 0, 0);
}
static struct second livelock_that_prints(int64_t t, struct rng *rng)
{
	(void)rng;
	return on_cpu(t < WORKED && t % 5 == 0, 0, 3);
}
static struct second collective(int64_t t, struct rng *rng)
{
	(void)rng;
	return t < WORKED ? busy(t % 5 == 0, 1.5, 95, 500) : busy(false, 1.0, 100, 140);
}
static struct second halted(int64_t t, struct rng *rng)
{
	(void)rng;
	struct second s = t < WORKED ? busy(t % 5 == 0, 1.5, NAN, NAN) : busy(false, 0, NAN, NAN);
	s.stopped = t >= WORKED;
	return s;
}
static struct second dead_mount(int64_t t, struct rng *rng)
{
	(void)rng;
	struct second s = t < WORKED ? busy(t % 5 == 0, 1.5, 80, 300) : busy(false, 0, 0, 75);
	s.blocked = t >= WORKED;
	return s;
}
static struct second never_begins(int64_t t, struct rng *rng)
{
	(void)t, (void)rng;
	return busy(false, 0.001, 0, 70);
}

static void expect(shape_f shape, enum stall_kind kind, int64_t from_s, int64_t until_s, const char *words)
{
	struct stall stall;
	struct buf text = buf_make(BUF_UNLIMITED);
	int64_t at = 0;
	assert_int_equal(judge(shape, 4000, &by_rhythm, &at, &stall), kind);
	assert_in_range(at, from_s, until_s);
	stall_explain(&stall, kind, at * 1000, &text);
	if (!strstr(buf_text(&text), words))
		fail_msg("'%s' does not say '%s'", buf_text(&text), words);
	buf_free(&text);
}

static void test_each_kind_is_recognised_with_its_evidence(void **state)
{
	(void)state;
	expect(deadlock, STALL_IDLE, 415, 440, "CPU 0.00 cores (usually 1.50), GPU 0 % (usually 80)");
	expect(livelock, STALL_SPINNING, 595, 620, "CPU 1.00 cores (usually 1.60), GPU 0 % (usually 80)");
	expect(collective, STALL_COLLECTIVE, 415, 440, "GPU 100 % (usually 95), GPU power 140 W (usually 500)");
	expect(halted, STALL_STOPPED, 325, 345, "(longest pause before: 5.0 s)");
	expect(dead_mount, STALL_BLOCKED, 355, 375, "state D");
	expect(livelock_alike, STALL_CHURNING, 890, 920, "new pages of memory 0/s (usually 0)");
	expect(livelock_on_a_full_machine, STALL_CHURNING, 890, 920, "calls to read and write 0/s");
	expect(livelock_after_allocating, STALL_SPINNING, 590, 620, "new pages of memory 0/s (usually ");
	expect(livelock_that_prints, STALL_QUIET, 2090, 2120, "as busy as before");
	expect(never_begins, STALL_IDLE, 600, 620, "no metrics since it began, 10 m 00 s ago");
}

static void test_a_time_of_the_user_counts_alone(void **state)
{
	(void)state;
	struct stall stall;
	int64_t at = 0;
	const struct stall_rule rule = {.times = STALL_TIMES, .after_ms = 60000};
	assert_int_equal(judge(livelock, 4000, &rule, &at, &stall), STALL_SPINNING);
	assert_in_range(at, 355, 375);
	/* Then a task may be ended for it, whatever it looks like. */
	assert_true(stall_is_sure(&stall, STALL_QUIET));
	stall.rule.after_ms = 0;
	assert_false(stall_is_sure(&stall, STALL_QUIET));
	assert_true(stall_is_sure(&stall, STALL_IDLE));
}

static struct second sleeper(int64_t t, struct rng *rng)
{
	(void)rng; /* imports, and then only sleeps */
	return busy(false, t < 4 ? 1.0 : 0.0, NAN, NAN);
}
static struct second in_turns(int64_t t, struct rng *rng)
{
	(void)rng; /* works and sleeps in turn, and reports nothing */
	return busy(false, t % 4 ? 1.0 : 0.0, NAN, NAN);
}

static void test_a_run_that_has_just_become_idle_is_not_called_busy(void **state)
{
	(void)state;
	struct stall stall;
	int64_t at = 0;
	const struct stall_rule rule = {.times = STALL_TIMES, .after_ms = 5000};
	assert_int_equal(judge(sleeper, 60, &rule, &at, &stall), STALL_IDLE);
	assert_int_equal(at, 8);
	/* One that is never idle for long is found all the same. */
	assert_int_equal(judge(in_turns, 60, &rule, &at, &stall), STALL_QUIET);
	assert_int_equal(at, 6);
}

static void test_a_larger_factor_waits_longer(void **state)
{
	(void)state;
	struct stall stall;
	int64_t at = 0;
	const struct stall_rule rule = {.times = 60};
	assert_int_equal(judge(deadlock, 4000, &rule, &at, &stall), STALL_IDLE);
	assert_in_range(at, 595, 620);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy_shapes_of_all_kinds_raise_nothing),
		cmocka_unit_test(test_each_kind_is_recognised_with_its_evidence),
		cmocka_unit_test(test_a_time_of_the_user_counts_alone),
		cmocka_unit_test(test_a_run_that_has_just_become_idle_is_not_called_busy),
		cmocka_unit_test(test_a_larger_factor_waits_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
