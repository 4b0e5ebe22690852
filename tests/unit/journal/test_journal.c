/* The journal's writer and reader against each other and against damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/limits.h"
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <signal.h>
#include <zlib.h>

struct seen {
	unsigned count[JOURNAL_UNKNOWN + 1];
	int64_t last_step, pid;
	struct cost sample, end;
	char source[8];
	double value[4];
	char name[4][32];
	size_t values;
	int exit_code, signal;
	char cause[32], tail[64], text[64];
	int answer;
};

static int see(void *ctx, const struct journal_record *record)
{
	struct seen *seen = ctx;
	seen->count[record->kind]++;
	if (record->kind == JOURNAL_START)
		seen->pid = record->pid;
	if (record->kind == JOURNAL_NOTE)
		snprintf(seen->text, sizeof(seen->text), "%s", record->text);
	if (record->kind == JOURNAL_METRIC) {
		seen->last_step = record->step;
		seen->values = record->metric_count;
		for (size_t i = 0; i < record->metric_count && i < 4; i++) {
			seen->value[i] = record->metrics[i].value;
			snprintf(seen->name[i], sizeof(seen->name[i]), "%s", record->metrics[i].name);
		}
	}
	if (record->kind == JOURNAL_SAMPLE) {
		seen->sample = record->cost;
		snprintf(seen->source, sizeof(seen->source), "%s", record->cost.source ? record->cost.source : "");
	}
	if (record->kind == JOURNAL_END) {
		seen->exit_code = record->exit_code;
		seen->signal = record->signal;
		seen->end = record->cost;
		snprintf(seen->cause, sizeof(seen->cause), "%s", cause_name(record->cause));
		snprintf(seen->tail, sizeof(seen->tail), "%s", record->tail ? record->tail : "");
	}
	return seen->answer;
}

static char folder[] = "/tmp/test_journal_XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/journal", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return fs_remove_tree(folder, NULL);
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static struct buf slurp(void)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	assert_int_equal(fs_read(path, 1 << 26, &text, NULL), 0);
	return text;
}

static void append_metric(struct journal_writer *writer, int64_t step, double value)
{
	struct metric metric = {"loss", value};
	struct journal_record record = {.kind = JOURNAL_METRIC,
					.time_ms = 5,
					.step = step,
					.step_name = "epoch",
					.metrics = &metric,
					.metric_count = 1};
	assert_int_equal(journal_append(writer, &record, NULL), 0);
}

static struct journal_writer *open_writer(void)
{
	struct journal_writer *writer;
	assert_int_equal(journal_open(path, &writer, NULL), 0);
	return writer;
}

static void test_every_kind_reads_back(void **state)
{
	(void)state;
	struct metric metrics[] = {{"loss", 0.1}, {"a\"b\n", NAN}, {"up", INFINITY}, {"down", -INFINITY}};
	struct journal_record records[] = {
		{.kind = JOURNAL_START, .time_ms = 1, .host = "h", .version = "0", .pid = 77, .boot_id = "b"},
		{.kind = JOURNAL_METRIC, .step = -3, .step_name = "epoch", .metrics = metrics, .metric_count = 4},
		{.kind = JOURNAL_SAMPLE, .cost = {.source = "NVML"}},
		{.kind = JOURNAL_NOTE, .text = "line\nbreak"},
		{.kind = JOURNAL_BEFORE, .path = "m.csv", .size = 9, .mtime_ns = 1, .inode = 2, .sum = 3},
		{.kind = JOURNAL_RAN, .digest = "0123"},
		{.kind = JOURNAL_END, .exit_code = -1, .signal = 9, .cause = CAUSE_SIGNAL, .tail = "bad \xff utf"},
	};
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		cost_set(&records[2].cost, f, f + 0.5);
	cost_set(&records[6].cost, FIGURE_WALL, 12);
	struct journal_writer *writer = open_writer();
	for (size_t i = 0; i < COUNT_OF(records); i++)
		assert_int_equal(journal_append(writer, &records[i], NULL), 0);
	struct buf text = slurp();
	assert_int_equal(journal_size(writer), text.len);
	journal_close(writer);

	struct seen seen = {0};
	unsigned bad = 0;
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(bad, 0);
	for (int kind = 0; kind < JOURNAL_UNKNOWN; kind++)
		assert_int_equal(seen.count[kind], 1);
	assert_int_equal(seen.pid, 77);
	assert_int_equal(seen.last_step, -3);
	assert_int_equal(seen.values, 4);
	assert_true(seen.value[0] == 0.1 && isnan(seen.value[1]));
	assert_true(seen.value[2] == INFINITY && seen.value[3] == -INFINITY);
	assert_string_equal(seen.name[1], "a\"b\n");
	assert_string_equal(seen.text, "line\nbreak");
	assert_int_equal(seen.exit_code, -1);
	assert_int_equal(seen.signal, 9);
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		assert_true(cost_get(&seen.sample, f) == f + 0.5);
	assert_string_equal(seen.source, "NVML");
	assert_true(cost_get(&seen.end, FIGURE_WALL) == 12 && seen.end.known == 1u << FIGURE_WALL);
	assert_string_equal(seen.cause, "signal");
	assert_string_equal(seen.tail, "bad \xef\xbf\xbd utf");
	buf_free(&text);
}

static void test_doubles_read_back_the_same(void **state)
{
	(void)state;
	double values[] = {0.1 + 0.2, 1e-308, 1.7976931348623157e308, 1e15 + 0.3, -0.0, 3};
	struct journal_writer *writer = open_writer();
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct seen seen = {0};
		int64_t from = journal_size(writer);
		append_metric(writer, (int64_t)i, values[i]);
		struct buf text = slurp();
		assert_true(journal_read(text.data + from, text.len - (size_t)from, see, &seen, NULL) > 0);
		assert_memory_equal(&seen.value[0], &values[i], i == 4 ? 0 : sizeof(double));
		buf_free(&text);
	}
	journal_close(writer);
}

/* Whatever is cut off at the end, the whole lines before it are read and the rest is left. */
static void test_a_torn_line_waits_for_its_end(void **state)
{
	(void)state;
	struct journal_writer *writer = open_writer();
	append_metric(writer, 1, 1);
	size_t first = (size_t)journal_size(writer);
	append_metric(writer, 2, 2);
	journal_close(writer);
	struct buf text = slurp();
	for (size_t len = 0; len <= text.len; len++) {
		struct seen seen = {0};
		unsigned bad = 0;
		int64_t used = journal_read(text.data, len, see, &seen, &bad);
		assert_int_equal(used, len == text.len ? text.len : len >= first ? first : 0);
		assert_int_equal(bad, 0);
		assert_int_equal(seen.count[JOURNAL_METRIC], (used > 0) + (len == text.len));
	}
	buf_free(&text);
}

/* A writer that was killed in the middle of a line: the next one does not glue its record to it. */
static void test_the_next_writer_closes_a_torn_line(void **state)
{
	(void)state;
	struct journal_writer *writer = open_writer();
	append_metric(writer, 1, 1);
	append_metric(writer, 2, 2);
	int64_t size = journal_size(writer);
	journal_close(writer);
	assert_int_equal(truncate(path, size - 7), 0);
	writer = open_writer();
	append_metric(writer, 3, 3);
	journal_close(writer);

	struct buf text = slurp();
	struct seen seen = {0};
	unsigned bad = 0;
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(bad, 1);
	assert_int_equal(seen.count[JOURNAL_METRIC], 2);
	assert_int_equal(seen.last_step, 3);
	buf_free(&text);
}

static void test_any_changed_byte_damages_only_its_line(void **state)
{
	(void)state;
	struct journal_writer *writer = open_writer();
	append_metric(writer, 1, 1);
	size_t from = (size_t)journal_size(writer);
	append_metric(writer, 2, 2);
	size_t to = (size_t)journal_size(writer) - 1;
	append_metric(writer, 3, 3);
	journal_close(writer);
	struct buf text = slurp();
	for (size_t at = from; at < to; at++) {
		struct seen seen = {0};
		unsigned bad = 0;
		text.data[at] ^= 1;
		assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
		assert_true(bad >= 1);
		assert_int_equal(seen.count[JOURNAL_METRIC], 2);
		text.data[at] ^= 1;
	}
	buf_free(&text);
}

static void add_line(struct buf *text, const char *json)
{
	buf_addf(text, "%08lx %s\n", crc32(0, (const unsigned char *)json, (unsigned)strlen(json)), json);
}

static void test_a_newer_writer_is_understood_as_far_as_possible(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct seen seen = {0};
	unsigned bad = 0;
	add_line(&text, "{\"kind\":\"hologram\",\"x\":[[[{}]]]}");
	add_line(&text, "{\"kind\":\"metric\",\"step\":4,\"values\":{\"a\":1,\"b\":\"x\",\"c\":null},\"new\":{}}");
	add_line(&text, "{\"kind\":\"metric\",\"step\":\"4\",\"values\":{}}");
	add_line(&text, "{\"kind\":\"end\"}");
	add_line(&text, "{\"kind\":3}");
	add_line(&text, "[]");
	add_line(&text, "");
	buf_add_text(&text, "\n\n");
	add_line(&text, "{\"kind\":\"end\",\"cause\":\"exit\",\"exit_code\":99999999999}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(bad, 5);
	assert_int_equal(seen.count[JOURNAL_UNKNOWN], 1);
	assert_int_equal(seen.count[JOURNAL_METRIC], 1);
	assert_int_equal(seen.values, 1);
	assert_int_equal(seen.count[JOURNAL_END], 1);
	assert_int_equal(seen.exit_code, -1);
	buf_clear(&text);
	add_line(&text, "{\"kind\":\"end\",\"cause\":\"hologram\",\"exit_code\":3}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(seen.count[JOURNAL_END], 2);
	assert_string_equal(seen.cause, "unknown");
	assert_int_equal(seen.exit_code, 3);
	buf_free(&text);
}

/* A line of the version before the table of figures, and one with figures that are not in the table. */
static void test_figures_are_read_whoever_wrote_them(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct seen seen = {0};
	unsigned bad = 0;
	add_line(&text,
		 "{\"kind\":\"end\",\"time_ms\":1763307000000,\"cause\":\"ok\",\"exit_code\":0,\"message\":"
		 "\"finished\",\"wall_ms\":2031,\"cpu_ms\":1870,\"max_rss_bytes\":11354112}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_true(cost_get(&seen.end, FIGURE_WALL) == 2031 && cost_get(&seen.end, FIGURE_CPU) == 1870);
	assert_true(cost_get(&seen.end, FIGURE_MEMORY) == 11354112);
	assert_false(cost_has(&seen.end, FIGURE_ENERGY) || cost_has(&seen.end, FIGURE_GPU));
	buf_clear(&text);
	add_line(&text,
		 "{\"kind\":\"sample\",\"wall_ms\":1,\"cpu_ms\":-7,\"max_rss_bytes\":\"much\",\"gpu_ms\":1e300,"
		 "\"energy_j\":\"NaN\",\"hologram_w\":3.5,\"light\":[]}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(bad, 0);
	assert_true(seen.sample.known == 1u << FIGURE_WALL && cost_get(&seen.sample, FIGURE_WALL) == 1);
	buf_free(&text);
}

static void test_an_over_long_line_does_not_hold_up_the_reader(void **state)
{
	(void)state;
	size_t size = LIMIT_JOURNAL_RECORD_BYTES + 5;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct seen seen = {0};
	unsigned bad = 0;
	for (size_t i = 0; i < size; i++)
		buf_add_char(&text, 'x');
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), size);
	assert_int_equal(bad, 1);
	buf_add_char(&text, '\n');
	add_line(&text, "{\"kind\":\"note\",\"text\":\"after\"}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, &bad), text.len);
	assert_int_equal(bad, 2);
	assert_string_equal(seen.text, "after");
	buf_free(&text);
}

static void test_the_callback_can_stop_the_reading(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct seen seen = {.answer = -ECANCELED};
	add_line(&text, "{\"kind\":\"note\",\"text\":\"a\"}");
	add_line(&text, "{\"kind\":\"note\",\"text\":\"b\"}");
	assert_int_equal(journal_read(text.data, text.len, see, &seen, NULL), -ECANCELED);
	assert_int_equal(seen.count[JOURNAL_NOTE], 1);
	buf_free(&text);
}

static void test_a_record_past_the_limit_is_refused_and_leaves_no_trace(void **state)
{
	(void)state;
	struct journal_writer *writer = open_writer();
	char *big = mem_alloc(LIMIT_JOURNAL_RECORD_BYTES + 1);
	memset(big, 'x', LIMIT_JOURNAL_RECORD_BYTES);
	struct journal_record record = {.kind = JOURNAL_NOTE, .text = big};
	assert_int_equal(journal_append(writer, &record, NULL), -E2BIG);
	assert_int_equal(journal_size(writer), 0);
	append_metric(writer, 1, 1);
	journal_close(writer);
	struct buf text = slurp();
	struct seen seen = {0};
	unsigned bad = 0;
	journal_read(text.data, text.len, see, &seen, &bad);
	assert_int_equal(bad, 0);
	assert_int_equal(seen.count[JOURNAL_METRIC], 1);
	buf_free(&text);
	free(big);
}

/* The disk is full in the middle of a record, for every position: once there is room, every record is
 * there exactly once and none is damaged. A limit on the file size stands for the disk. */
static void test_a_full_disk_loses_and_doubles_nothing(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit old, small;
	getrlimit(RLIMIT_FSIZE, &old);
	for (size_t room = 0; room < 260; room += 3) {
		struct metric metric = {"loss", 1};
		struct journal_writer *writer = open_writer();
		small = (struct rlimit){room, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		unsigned failed = 0;
		for (int i = 0; i < 4; i++) {
			struct journal_record record = {
				.kind = JOURNAL_METRIC, .step = i, .metrics = &metric, .metric_count = 1};
			failed += journal_append(writer, &record, NULL) < 0;
		}
		assert_true(failed > 0);
		assert_true(journal_flush(writer, NULL) < 0);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_int_equal(journal_flush(writer, NULL), 0);
		struct buf text = slurp();
		assert_int_equal(text.len, journal_size(writer));
		journal_close(writer);
		struct seen seen = {0};
		unsigned bad = 0;
		journal_read(text.data, text.len, see, &seen, &bad);
		assert_int_equal(bad, 0);
		assert_int_equal(seen.count[JOURNAL_METRIC], 4);
		assert_int_equal(seen.last_step, 3);
		buf_free(&text);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_every_kind_reads_back, remove_file),
		cmocka_unit_test_teardown(test_doubles_read_back_the_same, remove_file),
		cmocka_unit_test_teardown(test_a_torn_line_waits_for_its_end, remove_file),
		cmocka_unit_test_teardown(test_the_next_writer_closes_a_torn_line, remove_file),
		cmocka_unit_test_teardown(test_any_changed_byte_damages_only_its_line, remove_file),
		cmocka_unit_test(test_a_newer_writer_is_understood_as_far_as_possible),
		cmocka_unit_test(test_figures_are_read_whoever_wrote_them),
		cmocka_unit_test(test_an_over_long_line_does_not_hold_up_the_reader),
		cmocka_unit_test(test_the_callback_can_stop_the_reading),
		cmocka_unit_test_teardown(test_a_record_past_the_limit_is_refused_and_leaves_no_trace, remove_file),
		cmocka_unit_test_teardown(test_a_full_disk_loses_and_doubles_nothing, remove_file),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
