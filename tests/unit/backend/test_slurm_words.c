/* States, reasons, ends and refusals: every word of Slurm's that people get to see, in their own words. */
#include "backend/slurm_words.h"

#include "../unit.h"

#include <string.h>

static void states_are_sorted(void **state)
{
	(void)state;
	assert_int_equal(slurm_state_kind("PENDING"), SLURM_STATE_WAITING);
	assert_int_equal(slurm_state_kind("CONFIGURING"), SLURM_STATE_WAITING);
	assert_int_equal(slurm_state_kind("REQUEUE_HOLD"), SLURM_STATE_WAITING);
	assert_int_equal(slurm_state_kind("RUNNING"), SLURM_STATE_RUNNING);
	assert_int_equal(slurm_state_kind("COMPLETING"), SLURM_STATE_RUNNING);
	assert_int_equal(slurm_state_kind("SUSPENDED"), SLURM_STATE_RUNNING);
	assert_int_equal(slurm_state_kind("STAGE_OUT"), SLURM_STATE_RUNNING);
	assert_int_equal(slurm_state_kind("OUT_OF_MEMORY"), SLURM_STATE_ENDED);
	assert_int_equal(slurm_state_kind("NODE_FAIL"), SLURM_STATE_ENDED);
}

static void an_unknown_state_is_unknown_and_no_error(void **state)
{
	(void)state;
	assert_int_equal(slurm_state_kind("EXPEDITING"), SLURM_STATE_UNKNOWN);
	assert_int_equal(slurm_state_kind("REVOKED"), SLURM_STATE_UNKNOWN);
	assert_int_equal(slurm_state_kind(""), SLURM_STATE_UNKNOWN);
	assert_null(slurm_state_words("EXPEDITING"));
}

static void expect_reason(const char *reason, const char *part)
{
	struct buf out = buf_make(1024);
	slurm_reason_words(reason, &out);
	if (part)
		assert_non_null(strstr(buf_text(&out), part));
	else
		assert_int_equal(out.len, 0);
	buf_free(&out);
}

static void why_a_job_waits_is_said_in_words(void **state)
{
	(void)state;
	expect_reason("None", NULL);
	expect_reason("", NULL);
	expect_reason("Priority", "higher priority");
	expect_reason("Resources", "free resources");
	expect_reason("JobArrayTaskLimit", "parallel limit");
	expect_reason("DependencyNeverSatisfied", "never start");
	expect_reason("Dependency", "depends on");
	expect_reason("QOSMaxJobsPerUserLimit", "as the QOS allows (QOSMaxJobsPerUserLimit)");
	expect_reason("QOSMaxGRESPerUser", "GPUs");
	expect_reason("AssocGrpGRES", "together");
	expect_reason("PartitionTimeLimit", "never start");
	expect_reason("ReservationDeleted", "deleted");
	expect_reason("ReqNodeNotAvail, UnavailableNodes:volta1", "UnavailableNodes:volta1");
	expect_reason("ReqNodeNotAvail, Reserved for maintenance", "maintenance");
	expect_reason("SomethingNewIn2031", "Slurm says: SomethingNewIn2031");
}

static struct slurm_cause explain(const char *name, const char *reason, int code, int signal, int64_t by_uid)
{
	struct slurm_end end = {.state = name,
				.reason = reason,
				.exit_code = code,
				.signal = signal,
				.derived_code = -1,
				.by_uid = by_uid,
				.own_uid = 1000,
				.node = "n7"};
	struct slurm_cause cause;
	slurm_explain_end(&end, &cause);
	return cause;
}

static void every_end_has_its_own_cause(void **state)
{
	(void)state;
	static const struct {
		const char *state, *reason;
		int code, signal;
		const char *cause, *part;
	} rows[] = {
		{"COMPLETED", NULL, 0, 0, "ok", ""},
		{"FAILED", "NonZeroExitCode", 3, 0, "exit", "exit code 3"},
		{"FAILED", "NonZeroExitCode", 127, 0, "launch", "could not be started"},
		{"FAILED", "JobLaunchFailure", 0, 9, "signal", "signal 9"},
		{"FAILED", "JobLaunchFailure", -1, 0, "signal", "JobLaunchFailure"},
		{"FAILED", "JobLaunchFailure", 0, 53, "launch", "could not open the output"},
		{"FAILED", "RaisedSignal:11(Segmentation_fault)", -1, 0, "signal", "Segmentation"},
		{"FAILED", NULL, -1, 0, "exit", "does not say"},
		{"FAILED", "BadConstraints", -1, 0, "refused", "no node can ever"},
		{"OUT_OF_MEMORY", "OutOfMemory", 0, 125, "memory", "more memory"},
		{"TIMEOUT", "TimeLimit", 0, 0, "time", "time limit"},
		{"NODE_FAIL", "NodeDown", 1, 0, "node", "n7"},
		{"PREEMPTED", NULL, 0, 15, "preempted", "higher priority"},
		{"BOOT_FAIL", NULL, -1, 0, "boot", "start up"},
		{"DEADLINE", NULL, -1, 0, "deadline", "deadline"},
		{"CANCELLED", "AssocGrpBillingMinutes", -1, 0, "limit", "limit of the account"},
		{"VANISHED", NULL, -1, 0, "lost", "VANISHED"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct slurm_cause cause = explain(rows[i].state, rows[i].reason, rows[i].code, rows[i].signal, -1);
		assert_string_equal(cause_name(cause.cause), rows[i].cause);
		assert_non_null(strstr(cause.message, rows[i].part));
	}
}

static void codes_and_signals_are_passed_on(void **state)
{
	(void)state;
	struct slurm_cause cause = explain("FAILED", NULL, 3, 0, -1);
	assert_int_equal(cause.exit_code, 3);
	assert_int_equal(cause.signal, 0);
	cause = explain("FAILED", NULL, 0, 11, -1);
	assert_int_equal(cause.exit_code, -1);
	assert_int_equal(cause.signal, 11);
	cause = explain("FAILED", NULL, 0, 9, -1);
	assert_non_null(strstr(cause.remedy, "memory"));
	cause = explain("COMPLETED", NULL, 0, 0, -1);
	assert_int_equal(cause.exit_code, 0);
}

static void who_cancelled_is_told(void **state)
{
	(void)state;
	assert_non_null(strstr(explain("CANCELLED", NULL, 0, 0, 1000).message, "by you with scancel, not by sluice"));
	assert_non_null(strstr(explain("CANCELLED", NULL, 0, 0, -1).message, "cancelled, not by sluice"));
	assert_non_null(strstr(explain("CANCELLED", NULL, 0, 0, 0).message, "administrator"));
	assert_non_null(strstr(explain("CANCELLED", NULL, 0, 0, 1234).message, "uid 1234"));
	assert_int_equal(explain("CANCELLED", NULL, 0, 0, 1234).cause, CAUSE_CANCELLED);
}

/* Those that a lab provokes are samples, see test_slurm_answers.c; these it does not. */
static void clear_refusals_are_definite(void **state)
{
	(void)state;
	static const char *const said[] = {
		"sbatch: option '--account' requires an argument\nTry \"sbatch --help\" for more information\n",
		"sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates "
		"accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
		/* a site's wrapper around sbatch */
		"/opt/slurm/bin/sbatch: unrecognized option '--bogus'\nTry \"sbatch --help\" for more information\n",
		/* a site's own job_submit plugin */
		"sbatch: error: You must name a project with --wckey\n"
		"sbatch: error: Batch job submission failed: Unspecified error\n",
	};
	for (size_t i = 0; i < COUNT_OF(said); i++) {
		struct slurm_refusal refusal;
		slurm_explain_refusal(said[i], &refusal);
		if (!refusal.definite)
			fail_msg("not definite: %s", said[i]);
		assert_null(strchr(refusal.message, '\n'));
		assert_null(strstr(refusal.message, "sbatch: "));
	}
}

static void anything_else_may_have_worked(void **state)
{
	(void)state;
	static const char *const said[] = {
		"",
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
		"sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received\n",
		"sbatch: error: Batch job submission failed: Connection refused\n",
		"sbatch: error: Batch job submission failed: Connection reset by peer\n",
		"sbatch: error: Batch job submission failed: Broken pipe\n",
		"sbatch: error: Batch job submission failed: Interrupted system call\n",
		"sbatch: error: Batch job submission failed: Slurm backup controller in standby mode\n",
		"sbatch: error: Batch job submission failed: Unexpected message received\n",
		"sbatch: error: Batch job submission failed: Protocol authentication error\n",
		"sbatch: error: Batch job submission failed: Resource temporarily unavailable\n",
		"sbatch: error: s_p_parse_file: cannot stat file /nope: No such file or directory, retrying in 1sec up to 60sec\n",
		"sbatch: fatal: Could not establish a configuration source\n",
		/* 20.11 where the controller's name cannot be resolved */
		"sbatch: error: get_addr_info: getaddrinfo() failed: Name or service not known\n"
		"sbatch: error: slurm_set_addr: Unable to resolve \"head\"\n"
		"sbatch: error: Unable to establish control machine address\n"
		"sbatch: error: Batch job submission failed: No error\n",
		"sbatch: something nobody has seen before\n",
		"env: 'sbatch': No such file or directory\n",
	};
	for (size_t i = 0; i < COUNT_OF(said); i++) {
		struct slurm_refusal refusal;
		slurm_explain_refusal(said[i], &refusal);
		if (refusal.definite)
			fail_msg("definite: %s", said[i]);
	}
}

static void a_limit_is_told_from_a_mistake(void **state)
{
	(void)state;
	struct slurm_refusal refusal;
	slurm_explain_refusal(
		"sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
		"accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
		&refusal);
	assert_int_equal(refusal.cause, CAUSE_LIMIT);
	slurm_explain_refusal("sbatch: error: Batch job submission failed: Invalid qos specification\n", &refusal);
	assert_int_equal(refusal.cause, CAUSE_REFUSED);
	assert_non_null(refusal.remedy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_sorted),
		cmocka_unit_test(an_unknown_state_is_unknown_and_no_error),
		cmocka_unit_test(why_a_job_waits_is_said_in_words),
		cmocka_unit_test(every_end_has_its_own_cause),
		cmocka_unit_test(codes_and_signals_are_passed_on),
		cmocka_unit_test(who_cancelled_is_told),
		cmocka_unit_test(clear_refusals_are_definite),
		cmocka_unit_test(anything_else_may_have_worked),
		cmocka_unit_test(a_limit_is_told_from_a_mistake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
