/* What several versions of Slurm really print about the same jobs, and what the backend has to make of it: the same. */
#include "samples.h"

#include "backend/slurm_words.h"

static unsigned known_columns(void)
{
	struct buf help = read_sample("sacct-helpformat");
	unsigned columns = slurm_columns_known(buf_text(&help));
	buf_free(&help);
	return columns;
}

/* A sample is worth nothing when the backend asks for something else today. */
static void samples_were_made_with_the_arguments_of_today(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct buf calls = read_sample("calls");
		char *format = slurm_columns_format(known_columns());
		char *columns = mem_printf("\t-n\t-P\t-D\t--delimiter=" S "\t--format=%s\t-u\t%d\t", format, OWN_UID);
		const char *const wanted[] = {slurm_queue_format, slurm_partitions_format, slurm_associations_format,
					      slurm_qos_format, columns};
		for (size_t i = 0; i < COUNT_OF(wanted); i++)
			if (!strstr(buf_text(&calls), wanted[i]))
				fail_msg("%s was not asked for '%s'; record it again", version, wanted[i]);
		free(columns);
		free(format);
		buf_free(&calls);
	}
}

static void every_version_has_every_column(void **state)
{
	(void)state;
	for_versions(v)
	{
		char *format = slurm_columns_format(known_columns());
		assert_string_equal(format,
				    "JobID,State,ExitCode,DerivedExitCode,Start,End,ElapsedRaw,TotalCPU,MaxRSS,"
				    "ConsumedEnergyRaw,AllocTRES,NodeList,JobName");
		free(format);
	}
}

/* What waits and runs at the first look. */
static const struct {
	int number;
	uint32_t first, last;
	const char *state;
	enum slurm_state_kind kind;
	const char *words; /* part of what people are told; NULL: nothing */
} living[] = {
	{20, 0, 1, "RUNNING", SLURM_STATE_RUNNING, NULL},
	{21, 0, 1, "RUNNING", SLURM_STATE_RUNNING, NULL},
	{21, 2, 4, "PENDING", SLURM_STATE_WAITING, "parallel limit"},
	{21, 6, 8, "PENDING", SLURM_STATE_WAITING, "parallel limit"},
	{21, 12, 19, "PENDING", SLURM_STATE_WAITING, "parallel limit"},
	{21, 21, 39, "PENDING", SLURM_STATE_WAITING, "parallel limit"},
	{22, 0, 2, "PENDING", SLURM_STATE_WAITING, "free resources"},
	{23, 0, 0, "RUNNING", SLURM_STATE_RUNNING, NULL},
	{24, 0, 1, "PENDING", SLURM_STATE_WAITING, "waiting for the job it depends on"},
	{25, 0, 0, "PENDING", SLURM_STATE_WAITING, "depends on a job that failed"},
	{26, 0, 1, "PENDING", SLURM_STATE_WAITING, "held by its user"},
	{27, 0, 0, "PENDING", SLURM_STATE_WAITING, "start time has not come"},
	{28, 0, 0, "PENDING", SLURM_STATE_WAITING, "more time than the partition allows"},
	{29, 0, 0, "RUNNING", SLURM_STATE_RUNNING, NULL},
	{29, 1, 1, "PENDING", SLURM_STATE_WAITING, "as many jobs as the QOS allows"},
	{30, 0, 0, "SUSPENDED", SLURM_STATE_RUNNING, "suspended"},
	{31, 0, 0, "PENDING", SLURM_STATE_WAITING, "put back into the queue and held"},
	{32, 0, 0, "SPECIAL_EXIT", SLURM_STATE_WAITING, "special exit"},
	{33, 0, 0, "COMPLETING", SLURM_STATE_RUNNING, "ending"},
	{34, 0, 0, "STOPPED", SLURM_STATE_RUNNING, "stopped by a signal"},
	{35, 0, 0, "PENDING", SLURM_STATE_WAITING, "partition is switched off"},
	{36, 0, 0, "RUNNING", SLURM_STATE_RUNNING, NULL},
	{36, 1, 1, "PENDING", SLURM_STATE_WAITING, "as many GPUs as the QOS allows"},
	{37, 0, 0, "PENDING", SLURM_STATE_WAITING, "UnavailableNodes:volta3"},
	{39, 1, 2, "PENDING", SLURM_STATE_WAITING, "held by its user"},
	{39, 298, 299, "PENDING", SLURM_STATE_WAITING, "held by its user"},
};

static void expect_row(const struct slurm_queue *queue, size_t i, uint32_t index)
{
	const struct slurm_job *row = find_row(queue, living[i].number, index);
	if (!row)
		fail_msg("%s: %d_%u is not in the queue", version, living[i].number, index);
	if (strcmp(row->state, living[i].state) != 0)
		fail_msg("%s: %d_%u is %s, not %s", version, living[i].number, index, row->state, living[i].state);
	assert_int_equal(slurm_state_kind(row->state), living[i].kind);
	struct buf words = buf_make(1024);
	const char *state_words = slurm_state_words(row->state);
	if (state_words)
		buf_add_text(&words, state_words);
	else if (living[i].kind == SLURM_STATE_WAITING)
		slurm_reason_words(row->reason, &words);
	if (living[i].words ? !strstr(buf_text(&words), living[i].words) : words.len > 0)
		fail_msg("%s: %d_%u: '%s'", version, living[i].number, index, buf_text(&words));
	assert_true((*row->node != '\0') == (living[i].kind == SLURM_STATE_RUNNING));
	buf_free(&words);
}

static void what_lives_is_seen_whatever_its_state(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-living");
		for (size_t i = 0; i < COUNT_OF(living); i++)
			for (uint32_t index = living[i].first; index <= living[i].last; index++)
				expect_row(&queue, i, index);
		/* Taken out of their arrays one by one: no list has them. */
		assert_null(find_row(&queue, 21, 5));
		assert_null(find_row(&queue, 21, 10));
		assert_null(find_row(&queue, 21, 20));
		assert_null(find_row(&queue, 11, 2));
		assert_null(find_row(&queue, 39, 297));
		assert_false(queue.truncated);
		assert_true(find_row(&queue, 22, 0)->start_ms > find_row(&queue, 23, 0)->start_ms);
		assert_true(find_row(&queue, 23, 0)->end_ms == find_row(&queue, 23, 0)->start_ms + 600000);
		slurm_queue_free(&queue);
	}
}

/* It had been in no answer of 20.11: neither in `-t all` nor in any list of states. */
static void a_job_whose_reservation_is_deleted_is_not_lost(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-living");
		for (uint32_t index = 0; index < 2; index++) {
			const struct slurm_job *row = find_row(&queue, 38, index);
			assert_non_null(row);
			assert_int_equal(slurm_state_kind(row->state), SLURM_STATE_WAITING);
			/* New versions do not delete a reservation that a job waits for. */
			if (slurm_version_since(version, 22, 5))
				assert_string_equal(row->reason, "Reservation");
			else
				assert_string_equal(row->state, "RESV_DEL_HOLD");
		}
		slurm_queue_free(&queue);
	}
}

/* All of the table above, 196 more of number 39, 3 of number 11 and 2 of number 38, which wait; 7 times 2 with hostile
 * names; and one that a line break in such a name made up. */
static void what_lives_is_counted(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-living");
		uint64_t expected = 0;
		for (size_t i = 0; i < COUNT_OF(living); i++)
			expected += living[i].last - living[i].first + 1;
		expected += 196 + 3 + 2 + 7 * 2 + 1;
		assert_int_equal(queue.alive, expected);
		slurm_queue_free(&queue);
	}
}

/* A user can make up rows about jobs of their own only: squeue is asked about one uid. Separators make up nothing. */
static void hostile_names_make_up_no_jobs_of_others(void **state)
{
	(void)state;
	char token[33];
	make_token(77, token);
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-living");
		size_t made_up = 0;
		for (size_t i = 0; i < queue.jobs.len; i++)
			made_up += strcmp(queue.jobs.at[i].token, token) == 0;
		assert_int_equal(made_up, 1); /* by the line break */
		assert_non_null(find_row(&queue, 77, 1));
		assert_null(find_row(&queue, 78, 0)); /* the neighbour's */
		slurm_queue_free(&queue);
	}
}

static void a_list_that_squeue_cuts_short_is_noticed(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-cut");
		assert_true(queue.truncated);
		assert_null(find_row(&queue, 39, 1));
		slurm_queue_free(&queue);
	}
}

/* What is over at the last look. Codes and signals are those that people are told; 137 is 9 in every accounting. */
static const struct {
	int number;
	uint32_t first, last;
	const char *state, *cause;
	int code, signal;
	int64_t by_uid;
	bool started;
} ended[] = {
	{1, 0, 2, "COMPLETED", "ok", 0, 0, -1, true},
	{2, 0, 0, "COMPLETED", "ok", 0, 0, -1, true},
	{2, 1, 1, "FAILED", "exit", 3, 0, -1, true},
	{2, 2, 2, "FAILED", "launch", 127, 0, -1, true},
	{2, 3, 3, "FAILED", "exit", 9, 0, -1, true},
	{3, 0, 0, "FAILED", "signal", -1, 11, -1, true},
	{3, 1, 1, "FAILED", "signal", -1, 9, -1, true},
	{4, 0, 0, "TIMEOUT", "time", -1, 0, -1, true},
	{5, 0, 0, "OUT_OF_MEMORY", "memory", -1, 0, -1, true},
	{7, 0, 0, "CANCELLED", "cancelled", -1, 0, OWN_UID, true},
	{8, 0, 0, "CANCELLED", "cancelled", -1, 0, 0, true},
	{9, 0, 4, "CANCELLED", "cancelled", -1, 0, OWN_UID, false},
	{10, 0, 0, "CANCELLED", "cancelled", -1, 0, 0, false},
	{11, 0, 1, "CANCELLED", "cancelled", -1, 0, OWN_UID, false},
	{11, 3, 3, "CANCELLED", "cancelled", -1, 0, OWN_UID, false},
	{12, 0, 0, "NODE_FAIL", "node", -1, 0, -1, true},
	{13, 0, 0, "PREEMPTED", "preempted", -1, 0, -1, true},
	{14, 0, 0, "COMPLETED", "ok", 0, 0, -1, true},
	{15, 0, 0, "COMPLETED", "ok", 0, 0, -1, true}, /* the second time */
	{16, 0, 0, "DEADLINE", "deadline", -1, 0, -1, false},
	{39, 1, 2, "CANCELLED", "cancelled", -1, 0, OWN_UID, false},
	{39, 298, 299, "CANCELLED", "cancelled", -1, 0, OWN_UID, false},
};

static struct slurm_finals read_finals(const char *name)
{
	struct slurm_finals finals;
	struct buf text = read_sample(name);
	slurm_finals_parse(buf_text(&text), text.len, known_columns(), &finals);
	buf_free(&text);
	return finals;
}

static void assert_between(const struct cost *cost, enum figure figure, double least, double most)
{
	double value = cost_get(cost, figure);
	if (!(value >= least && value <= most))
		fail_msg("%s is %g", cost_figures[figure].stored, value);
}

/* The record of an element, or of the elements that never started; the last one of several. */
static const struct slurm_final *find_final(const struct slurm_finals *finals, int number, uint32_t index)
{
	const struct slurm_final *found = NULL;
	char token[33];
	make_token(number, token);
	for (size_t i = 0; i < finals->list.len; i++) {
		const struct slurm_final *final = &finals->list.at[i];
		if (!final->token || strcmp(final->token, token) != 0)
			continue;
		if (final->index == index ||
		    (final->index == UINT32_MAX &&
		     (!final->range_count ||
		      slurm_ranges_have(&finals->ranges, final->first_range, final->range_count, index))))
			found = final;
	}
	return found;
}

static void expect_end(const char *sample, const struct slurm_final *final, const struct slurm_job *row, size_t i)
{
	struct slurm_cause cause;
	if (!final)
		fail_msg("%s: %s: no record of %d_%u", version, sample, ended[i].number, ended[i].first);
	struct slurm_end end = {.state = final->state,
				.reason = row ? row->reason : NULL,
				.exit_code = final->exit_code,
				.signal = final->signal,
				.derived_code = final->derived_code,
				.derived_signal = final->derived_signal,
				.by_uid = final->by_uid,
				.own_uid = OWN_UID,
				.node = final->node};
	slurm_explain_end(&end, &cause);
	if (strcmp(final->state, ended[i].state) != 0 || strcmp(cause_name(cause.cause), ended[i].cause) != 0 ||
	    cause.exit_code != ended[i].code || cause.signal != ended[i].signal || final->by_uid != ended[i].by_uid)
		fail_msg("%s: %s: %d_%u is %s, cause %s, code %d, signal %d, by %lld", version, sample, ended[i].number,
			 ended[i].first, final->state, cause_name(cause.cause), cause.exit_code, cause.signal,
			 (long long) final->by_uid);
	assert_true((final->index != UINT32_MAX) == ended[i].started);
	assert_true(final->end_ms > 0);
	assert_false(cost_has(&final->cost, FIGURE_ENERGY));
}

static void ends_are_told_alike(void **state)
{
	(void)state;
	static const char *const samples[] = {"sacct-arrays", "sacct-names", "sacct"};
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-ended");
		for (size_t s = 0; s < COUNT_OF(samples); s++) {
			struct slurm_finals finals = read_finals(samples[s]);
			for (size_t i = 0; i < COUNT_OF(ended); i++) {
				const struct slurm_final *final;
				/* By id, those that never started are not asked about; by name, some are not listed. */
				if (!ended[i].started && s > 0)
					continue;
				for (uint32_t index = ended[i].first; index <= ended[i].last; index++) {
					final = find_final(&finals, ended[i].number, index);
					expect_end(samples[s], final, find_row(&queue, ended[i].number, index), i);
				}
			}
			assert_null(find_final(&finals, 11, 2));
			slurm_finals_free(&finals);
		}
		slurm_queue_free(&queue);
	}
}

/* 20.11 and 24.11 give it an exit code; 22.05 writes 53 where signals stand. */
static void a_task_without_its_output_folder_was_not_killed(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_finals finals = read_finals("sacct");
		const struct slurm_final *final = find_final(&finals, 6, 0);
		struct slurm_cause cause;
		struct slurm_end end = {
			.state = final->state, .exit_code = final->exit_code, .signal = final->signal, .by_uid = -1};
		slurm_explain_end(&end, &cause);
		assert_int_equal(cause.signal, 0);
		assert_int_equal(cause.cause, final->signal ? CAUSE_LAUNCH : CAUSE_EXIT);
		assert_int_equal(cause.exit_code, final->signal ? -1 : 1);
		slurm_finals_free(&finals);
	}
}

/* Where no accounts are kept, and before they are written, the queue alone tells the end. */
static void the_queue_knows_the_ends_too(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-ended");
		for (size_t i = 0; i < COUNT_OF(ended); i++) {
			for (uint32_t index = ended[i].first; index <= ended[i].last; index++) {
				const struct slurm_job *row = find_row(&queue, ended[i].number, index);
				if (!row || strcmp(row->state, ended[i].state) != 0)
					fail_msg("%s: %d_%u is %s, not %s", version, ended[i].number, index,
						 row ? row->state : "not in the queue", ended[i].state);
				assert_true((*row->node != '\0') == ended[i].started);
			}
		}
		slurm_queue_free(&queue);
	}
}

static void costs_are_read(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_finals finals = read_finals("sacct");
		const struct slurm_final *timed = find_final(&finals, 4, 0);
		for (uint32_t index = 0; index < 3; index++) {
			const struct slurm_final *gpu = find_final(&finals, 1, index);
			assert_int_equal(gpu->gpus, 1);
			assert_between(&gpu->cost, FIGURE_WALL, 2000, 10000); /* sleep 2 */
			assert_between(&gpu->cost, FIGURE_CPU, 1, 2000);
			assert_between(&gpu->cost, FIGURE_GPU, 2000, 10000);
			assert_between(&gpu->cost, FIGURE_MEMORY, 1 << 20, 200 << 20); /* a shell */
			assert_true(gpu->end_ms - gpu->start_ms == cost_get(&gpu->cost, FIGURE_WALL));
		}
		assert_int_equal(timed->gpus, 0);
		/* a minute, and the controller looks twice a minute */
		assert_between(&timed->cost, FIGURE_WALL, 60000, 150000);
		assert_between(&timed->cost, FIGURE_MEMORY, 1 << 20, 200 << 20);
		slurm_finals_free(&finals);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_were_made_with_the_arguments_of_today),
		cmocka_unit_test(every_version_has_every_column),
		cmocka_unit_test(what_lives_is_seen_whatever_its_state),
		cmocka_unit_test(a_job_whose_reservation_is_deleted_is_not_lost),
		cmocka_unit_test(what_lives_is_counted),
		cmocka_unit_test(hostile_names_make_up_no_jobs_of_others),
		cmocka_unit_test(a_list_that_squeue_cuts_short_is_noticed),
		cmocka_unit_test(ends_are_told_alike),
		cmocka_unit_test(a_task_without_its_output_folder_was_not_killed),
		cmocka_unit_test(the_queue_knows_the_ends_too),
		cmocka_unit_test(costs_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
