/* What the doctor makes of the answer of its job: every finding it can have, and that none is made up. */
#include "../unit.h"

#include "backend/slurm_probe.h"
#include "journal/journal.h"

#include <stdio.h>
#include <unistd.h>

#define BOOT "11111111-2222-3333-4444-555555555555"
#define GOOD "host=n1\ntime=1000\nboot=" BOOT "\nprogram=0\nlink=0\nfirst=0\nsecond=0\nsaid=\n"

static const struct slurm_probe probe = {.folder = "/s/it's",
					 .token = "0123456789abcdef0123456789abcdef",
					 .program = "/s/it's/bin/sluice",
					 .daemon = "http://127.0.0.1:54322"};

/* The journal of an attempt as a runner writes it: `starts` STARTs, and an END with this cause unless CAUSE_NONE. */
static char *write_journal(const char *folder, int starts, enum cause cause, size_t *ret_len)
{
	char *path = mem_printf("%s/journal", folder);
	struct journal_writer *writer;
	struct buf text = buf_make(BUF_UNLIMITED);
	unlink(path);
	assert_int_equal(journal_open(path, &writer, NULL), 0);
	for (int i = 0; i < starts; i++) {
		struct journal_record start = {.kind = JOURNAL_START,
					       .time_ms = 1,
					       .host = "n1",
					       .version = "0.1.0",
					       .pid = 1,
					       .pgid = 2,
					       .boot_id = BOOT};
		assert_int_equal(journal_append(writer, &start, NULL), 0);
	}
	struct journal_record end = {
		.kind = JOURNAL_END, .time_ms = 2, .cause = cause, .message = "exit code 3", .exit_code = 3};
	if (cause)
		assert_int_equal(journal_append(writer, &end, NULL), 0);
	journal_close(writer);
	assert_int_equal(fs_read(path, 65536, &text, NULL), 0);
	free(path);
	*ret_len = text.len;
	return buf_take(&text);
}

struct look {
	struct slurm_findings findings;
	bool complete;
};

static struct look explain(void **state, const char *answer, int starts, enum cause cause)
{
	struct look look = {0};
	size_t len;
	char *journal = write_journal(*state, starts, cause, &len);
	struct slurm_probe_result result = {.answer = answer,
					    .journal = journal,
					    .journal_len = len,
					    .boot_id = BOOT,
					    .began_ms = 999000,
					    .now_ms = 1003000};
	look.complete = slurm_probe_is_complete(&result);
	slurm_probe_explain(&probe, &result, &look.findings);
	free(journal);
	return look;
}

static const struct backend_finding *find(const struct look *look, const char *part)
{
	for (size_t i = 0; i < look->findings.list.len; i++)
		if (strstr(look->findings.list.at[i].what, part))
			return &look->findings.list.at[i];
	return NULL;
}

static size_t count_bad(const struct look *look)
{
	size_t bad = 0;
	for (size_t i = 0; i < look->findings.list.len; i++)
		bad += strcmp(look->findings.list.at[i].level, "ok") != 0;
	return bad;
}

static void all_is_well(void **state)
{
	struct look look = explain(state, GOOD "daemon=0\n", 1, CAUSE_OK);
	assert_true(look.complete);
	assert_int_equal(count_bad(&look), 0);
	assert_non_null(find(&look, "a test job ran on n1"));
	assert_non_null(find(&look, "n1 runs sluice, the copy in the state folder"));
	assert_non_null(find(&look, "claim and journal work on n1"));
	assert_non_null(find(&look, "n1 reaches the daemon at 127.0.0.1:54322"));
	assert_non_null(find(&look, "the clock of n1 agrees"));
	slurm_findings_free(&look.findings);
}

static void an_unreachable_daemon_is_no_failure_and_says_how_to_change_it(void **state)
{
	struct look look = explain(state, GOOD "daemon=1\n", 1, CAUSE_OK);
	const struct backend_finding *found = find(
		&look, "n1 does not reach the daemon at 127.0.0.1:54322 and does not have to");
	assert_int_equal(count_bad(&look), 0);
	assert_non_null(found);
	assert_non_null(strstr(found->what, "through files in the state folder"));
	assert_non_null(strstr(found->fix, "sluice serve --listen"));
	slurm_findings_free(&look.findings);
}

/* Another machine's 127.0.0.1 may well have somebody's sluice. */
static void a_daemon_on_another_machine_is_not_ours(void **state)
{
	struct look look = explain(state,
				   "host=n1\nboot=99999999-2222-3333-4444-555555555555\nprogram=0\nlink=0\nfirst=0\n"
				   "second=0\ndaemon=0\n",
				   1, CAUSE_OK);
	assert_non_null(find(&look, "n1 does not reach the daemon"));
	slurm_findings_free(&look.findings);
}

static void no_daemon_is_not_tried(void **state)
{
	struct look look = {0};
	struct slurm_probe alone = probe;
	alone.daemon = NULL;
	size_t len;
	char *journal = write_journal(*state, 1, CAUSE_OK, &len);
	struct slurm_probe_result result = {.answer = GOOD,
					    .journal = journal,
					    .journal_len = len,
					    .boot_id = BOOT,
					    .began_ms = 999000,
					    .now_ms = 1003000};
	slurm_probe_explain(&alone, &result, &look.findings);
	assert_non_null(find(&look, "was not tested"));
	assert_int_equal(count_bad(&look), 0);
	char *script = slurm_probe_script(&alone);
	assert_null(strstr(script, "/dev/tcp"));
	free(script);
	free(journal);
	slurm_findings_free(&look.findings);
}

static void errors_come_with_a_fix(void **state)
{
	static const struct {
		const char *answer;
		int starts;
		enum cause cause;
		const char *level, *what;
	} cases[] = {
		{"host=n1\nprogram=127\nlink=0\nfirst=127\nsecond=127\n", 0, CAUSE_NONE, "error",
		 "n1 cannot run /s/it's/bin/sluice (exit code 127)"},
		{"host=n1\nprogram=0\nlink=1\nfirst=1\nsecond=1\nsaid=link: no\n", 0, CAUSE_NONE, "error",
		 "cannot make hard links"},
		{"host=n1\nprogram=0\nlink=0\nfirst=1\nsecond=1\nsaid=no room\n", 0, CAUSE_NONE, "error",
		 "did not work on n1: no room"},
		{GOOD, 1, CAUSE_EXIT, "error", "did not work on n1: exit code 3"},
		{GOOD, 2, CAUSE_OK, "error", "the claim does not work on n1"},
		{"host=n1\nprogram=0\nlink=0\nfirst=0\nsecond=1\n", 1, CAUSE_OK, "error",
		 "the claim does not work on n1"},
		{GOOD, 1, CAUSE_NONE, "error", "is not visible here"},
		{GOOD "time=5000\n", 1, CAUSE_OK, "warning", "the clock of n1 is 3997 s ahead"},
		{GOOD "time=100\n", 1, CAUSE_OK, "warning", "the clock of n1 is 899 s behind"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct look look = explain(state, cases[i].answer, cases[i].starts, cases[i].cause);
		const struct backend_finding *found = find(&look, cases[i].what);
		if (!found)
			fail_msg("case %zu: '%s' was not found", i, cases[i].what);
		assert_string_equal(found->level, cases[i].level);
		assert_non_null(found->fix);
		if (strcmp(cases[i].level, "error") == 0 && find(&look, "claim and journal work"))
			fail_msg("case %zu: claim and journal are said to work", i);
		slurm_findings_free(&look.findings);
	}
}

/* What a network file system has not shown yet is waited for; what no runner ever wrote is not. */
static void a_late_journal_is_waited_for(void **state)
{
	struct look look = explain(state, GOOD, 1, CAUSE_NONE);
	assert_false(look.complete);
	slurm_findings_free(&look.findings);
	look = explain(state, "host=n1\nprogram=127\nfirst=127\n", 0, CAUSE_NONE);
	assert_true(look.complete);
	slurm_findings_free(&look.findings);
}

static void paths_are_quoted(void **state)
{
	(void)state;
	struct slurm_probe six = probe;
	six.daemon = "http://[::1]:8080";
	char *script = slurm_probe_script(&six);
	assert_non_null(strstr(script, "cd '/s/it'\\''s' || exit 1"));
	assert_non_null(strstr(script, " - '::1' '8080' '[::1]:8080'"));
	free(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_in_folder(all_is_well),
		unit_test_in_folder(an_unreachable_daemon_is_no_failure_and_says_how_to_change_it),
		unit_test_in_folder(a_daemon_on_another_machine_is_not_ours),
		unit_test_in_folder(no_daemon_is_not_tried),
		unit_test_in_folder(errors_come_with_a_fix),
		unit_test_in_folder(a_late_journal_is_waited_for),
		cmocka_unit_test(paths_are_quoted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
