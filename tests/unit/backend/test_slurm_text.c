/* The readers one by one, with what attackers, crashes and rare clusters make of the text. What real clusters print for
 * whole scenes is in test_slurm_samples.c. */
#include "backend/slurm_text.h"

#include "../unit.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define S SLURM_SEPARATOR
#define TOKEN "11111111111111111111111111111111"
#define OTHER "0123456789abcdef0123456789abcdef"

static struct slurm_queue queue_of(const char *text)
{
	struct slurm_queue queue;
	slurm_queue_parse(text, strlen(text), &queue);
	return queue;
}

static void a_queue_is_read(void **state)
{
	(void)state;
	struct slurm_queue queue = queue_of(
		"1" S "3-9,12,20-24:2%3" S "PENDING" S "JobArrayTaskLimit" S "" S "N/A" S "N/A" S TOKEN "\n"
		"1" S "0" S "RUNNING" S "None" S "volta1" S "1794754134" S "1794754734" S TOKEN "\n"
		"20" S "2" S "FAILED" S "NonZeroExitCode" S "volta[1-2]" S "1794755193" S "1794755193" S OTHER "\n");
	assert_int_equal(queue.jobs.len, 3);
	const struct slurm_job *waiting = &queue.jobs.at[0], *running = &queue.jobs.at[1];
	assert_string_equal(waiting->token, TOKEN);
	assert_int_equal(waiting->id, 1);
	assert_int_equal(waiting->range_count, 3);
	assert_int_equal(queue.ranges.list.at[2].low, 20);
	assert_int_equal(queue.ranges.list.at[2].high, 24);
	assert_int_equal(queue.ranges.list.at[2].step, 2);
	assert_string_equal(waiting->state, "PENDING");
	assert_string_equal(waiting->reason, "JobArrayTaskLimit");
	assert_int_equal(waiting->start_ms, 0);
	assert_string_equal(running->node, "volta1");
	assert_true(running->start_ms == 1794754134000);
	assert_true(running->end_ms == 1794754734000);
	/* 7 + 1 + 3 wait, one runs, one is over. */
	assert_int_equal(queue.alive, 12);
	assert_false(queue.truncated);
	slurm_queue_free(&queue);
}

static void a_list_cut_short_is_noticed_and_not_believed(void **state)
{
	(void)state;
	struct slurm_queue queue = queue_of("1" S "3-9,12,14,50,52...%3" S "PENDING" S "None" S "" S "N/A" S
					    "N/A" S TOKEN "\n");
	assert_true(queue.truncated);
	assert_int_equal(queue.jobs.len, 0);
	slurm_queue_free(&queue);
}

static void rows_that_are_not_ours_are_left_out(void **state)
{
	(void)state;
	struct slurm_queue queue = queue_of("CLUSTER: lab\n"
					    "slurm_load_jobs error: Unable to contact slurm controller\n"
					    "7" S "N/A" S "RUNNING" S "None" S "n1" S "1" S "2" S "bash\n"
					    "8" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S
					    "0123456789ABCDEF0123456789ABCDEF\n"
					    "9" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S TOKEN "x\n"
					    "x" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S TOKEN "\n"
					    "10" S "N/A" S "RUNNING" S "None" S "n1" S "1" S "2" S TOKEN "\n"
					    "11" S "1" S "RUNNING" S "None" S "n1" S "1" S TOKEN "\n"
					    "99999999999" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S TOKEN "\n");
	assert_int_equal(queue.jobs.len, 0);
	assert_int_equal(queue.alive, 4);
	slurm_queue_free(&queue);
}

/* The name stands last: what it holds cannot move the other fields, nor begin a row with our token. */
static void a_name_with_separators_forges_nothing(void **state)
{
	(void)state;
	struct slurm_queue queue = queue_of("7" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S "a" S "b" S TOKEN "\n");
	assert_int_equal(queue.jobs.len, 0);
	slurm_queue_free(&queue);
}

/* People read the experiment in a job's name; we find the token in it, and in the names of earlier versions. */
static void names_of_jobs_have_the_experiment_and_the_token(void **state)
{
	(void)state;
	static const char *const others[] = {
		"",
		"e3-sluice-",
		"e-sluice-" TOKEN,
		"3-sluice-" TOKEN,
		"e3-sluice-" TOKEN "0",
		"sluice-" TOKEN,
		"xe3-sluice-" TOKEN,
		"e3-sluice--" TOKEN,
		"ID" TOKEN,
		"e3-sluice-e3-sluice-" TOKEN,
	};
	char name[SLURM_JOB_NAME_CHARS];
	slurm_job_name(12, TOKEN, name);
	assert_string_equal(name, "e12-sluice-" TOKEN);
	assert_string_equal(slurm_token_of_name(name), TOKEN);
	slurm_job_name(INT64_MAX, TOKEN, name);
	assert_string_equal(slurm_token_of_name(name), TOKEN);
	slurm_job_name(0, TOKEN, name);
	assert_string_equal(name, "ID-sluice-" TOKEN);
	assert_string_equal(slurm_token_of_name(name), TOKEN);
	assert_string_equal(slurm_token_of_name(TOKEN), TOKEN);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_null(slurm_token_of_name(others[i]));
}

static void indices_out_of_bounds_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "a",
					  "-1",
					  "5-3",
					  "1-",
					  "1,",
					  ",1",
					  "1:0",
					  "1-5:0",
					  "4000002",
					  "1-4000002",
					  "99999999999999999999",
					  "1-5:99999999999999",
					  "1;2",
					  "[1-5]"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		char *row = mem_printf("7" S "%s" S "PENDING" S "None" S "" S "N/A" S "N/A" S TOKEN "\n", bad[i]);
		struct slurm_queue queue = queue_of(row);
		assert_int_equal(queue.jobs.len, 0);
		assert_int_equal(queue.ranges.list.len, 0);
		slurm_queue_free(&queue);
		free(row);
	}
}

static const char recorded_sacct[] = "20_0" S "COMPLETED" S "0:0" S "0:0" S "1794755484" S "1794755485" S "1" S
				     "00:00.002" S "" S "" S
				     "billing=1,cpu=1,gres/gpu=2,gres/gpu:volta=2,mem=200M,node=1" S "cpu1" S TOKEN "\n"
				     "20_0.batch" S "COMPLETED" S "0:0" S "" S "1794755484" S "1794755485" S "1" S
				     "00:00.002" S "1100K" S "0" S "cpu=1,mem=200M,node=1" S "cpu1" S "batch\n"
				     "20_0.extern" S "COMPLETED" S "0:0" S "" S "1794755484" S "1794755485" S "1" S
				     "00:00.002" S "2M" S "" S "cpu=1,mem=200M,node=1" S "cpu1" S "extern\n"
				     "20_2" S "FAILED" S "0:9" S "0:0" S "1794755484" S "1794755485" S "1" S
				     "1-02:03:04" S "" S "" S "billing=1,cpu=1,mem=200M,node=1" S "cpu1" S TOKEN "\n"
				     "20_2.batch" S "CANCELLED" S "0:9" S "" S "1794755484" S "1794755485" S "1" S
				     "00:00.002" S "3372K" S "812" S "cpu=1,mem=200M,node=1" S "cpu1" S "batch\n"
				     "20_4" S "CANCELLED by 1007" S "0:0" S "0:0" S "1794755484" S "1794755486" S "2" S
				     "00:00.002" S "" S "" S "" S "cpu1" S TOKEN "\n"
				     "20_6" S "RUNNING" S "0:0" S "0:0" S "1794755484" S "Unknown" S "7" S "00:00:00" S
				     "" S "" S "billing=1,cpu=1,mem=200M,node=1" S "cpu1" S TOKEN "\n"
				     "20_[7-9%2]" S "PENDING" S "0:0" S "0:0" S "Unknown" S "Unknown" S "0" S
				     "00:00:00" S "" S "" S "" S "None assigned" S TOKEN "\n"
				     "21_0" S "RUNNING" S "0:0" S "0:0" S "1794755484" S "Unknown" S "7" S "00:00:00" S
				     "" S "" S "" S "cpu1" S "allocation\n";

static void the_accounting_is_read_with_its_steps(void **state)
{
	(void)state;
	struct slurm_finals finals;
	slurm_finals_parse(recorded_sacct, strlen(recorded_sacct), SLURM_COLUMNS_ALL, &finals);
	assert_int_equal(finals.list.len, 6);
	const struct slurm_final *ok = &finals.list.at[0], *killed = &finals.list.at[1],
				 *cancelled = &finals.list.at[2];
	assert_string_equal(ok->token, TOKEN);
	assert_int_equal(ok->id, 20);
	assert_int_equal(ok->index, 0);
	assert_int_equal(ok->exit_code, 0);
	assert_true(cost_get(&ok->cost, FIGURE_WALL) == 1000);
	assert_true(cost_get(&ok->cost, FIGURE_CPU) == 2);
	assert_int_equal(ok->gpus, 2);
	assert_true(cost_get(&ok->cost, FIGURE_GPU) == 2000);
	/* The larger of the steps, and an energy of 0 is none. */
	assert_true(cost_get(&ok->cost, FIGURE_MEMORY) == 2 << 20);
	assert_false(cost_has(&ok->cost, FIGURE_ENERGY));
	assert_int_equal(killed->signal, 9);
	assert_true(cost_get(&killed->cost, FIGURE_CPU) == ((26 * 60 + 3) * 60 + 4) * 1000);
	assert_true(cost_get(&killed->cost, FIGURE_MEMORY) == 3372 << 10);
	/* Only the batch step has the energy of a job without srun. */
	assert_true(cost_get(&killed->cost, FIGURE_ENERGY) == 812);
	assert_string_equal(cancelled->state, "CANCELLED");
	assert_int_equal(cancelled->by_uid, 1007);
	assert_int_equal(cancelled->gpus, -1);
	assert_int_equal(finals.list.at[3].end_ms, 0);
	assert_true(finals.list.at[5].incomplete);
	assert_null(finals.list.at[5].token);
	slurm_finals_free(&finals);
}

#define ROW(id, state, exit, start, end, node, name)                                                                   \
	id S state S exit S "0:0" S start S end S "1" S "00:00:00" S "" S "" S "" S node S name "\n"
/* Recorded with 22.05: the node of 4_3, which has the id 4, could not start it. */
static const char with_array[] = ROW("4_0", "CANCELLED by 0", "0:0", "1794755460", "1794755462", "cpu1", TOKEN)
	ROW("4_0.batch", "COMPLETED", "0:0", "1794755460", "1794755464", "cpu1",
	    "batch") ROW("4_1", "COMPLETED", "0:0", "1794755460", "1794755461", "cpu1",
			 TOKEN) ROW("4_1.batch", "COMPLETED", "0:0", "1794755460", "1794755461", "cpu1", "batch")
		ROW("4_2", "CANCELLED by 0", "0:0", "1794755460", "1794755461", "cpu1", TOKEN)
			ROW("4_2.batch", "CANCELLED", "0:15", "1794755460", "1794755463", "cpu1", "batch")
				ROW("4_3", "CANCELLED by 0", "0:0", "1794755462", "1794755462", "cpu1", TOKEN)
					ROW("4_3.batch", "CANCELLED", "", "1794755462", "1794755462", "cpu1", "batch");

static void a_cancel_by_a_node_is_told_from_one_by_a_person(void **state)
{
	(void)state;
	struct slurm_finals finals;
	static const bool unlaunched[] = {false, false, false, true}, with[] = {true, false, true, false};
	slurm_finals_parse(with_array, strlen(with_array), SLURM_COLUMNS_ALL, &finals);
	assert_int_equal(finals.list.len, 4);
	for (size_t i = 0; i < finals.list.len; i++) {
		assert_int_equal(slurm_is_unlaunched(&finals.list.at[i]), unlaunched[i]);
		assert_int_equal(slurm_went_with_array(&finals, &finals.list.at[i]), with[i]);
	}
	/* Another person than root, another second, another array: it was meant. */
	struct slurm_final was = finals.list.at[3];
	finals.list.at[3].by_uid = -1; /* a controller that crashed since does not know */
	assert_true(slurm_is_unlaunched(&finals.list.at[3]));
	finals.list.at[3].by_uid = 1000;
	assert_false(slurm_is_unlaunched(&finals.list.at[3]));
	assert_false(slurm_went_with_array(&finals, &finals.list.at[0]));
	finals.list.at[3] = was;
	finals.list.at[3].end_ms += 2000;
	assert_false(slurm_went_with_array(&finals, &finals.list.at[0]));
	finals.list.at[3] = was;
	finals.list.at[3].id = 5;
	assert_false(slurm_went_with_array(&finals, &finals.list.at[0]));
	/* It was not the last to start, so it did not have the array's id. */
	finals.list.at[3] = was;
	finals.list.at[3].start_ms = finals.list.at[0].start_ms - 1000;
	assert_false(slurm_went_with_array(&finals, &finals.list.at[0]));
	/* Neither has it while elements wait. */
	finals.list.at[3] = was;
	finals.list.at[1].index = UINT32_MAX;
	assert_false(slurm_went_with_array(&finals, &finals.list.at[0]));
	/* In the queue it was on no node. */
	finals.list.at[3].node = "None assigned";
	assert_false(slurm_is_unlaunched(&finals.list.at[3]));
	slurm_finals_free(&finals);
}

/* Cancelled before they started: one record for many elements, or one without any index. */
static void elements_that_never_started_share_a_record(void **state)
{
	(void)state;
	unsigned columns = slurm_columns_known("");
	struct slurm_finals finals;
	const char text[] = "14_1" S "CANCELLED by 0" S TOKEN "\n14_[2-20,30%2]" S "CANCELLED by 0" S TOKEN "\n"
			    "6" S "CANCELLED by 7" S OTHER "\n7_[1-2,4-5,7-8,10-1" S "CANCELLED" S OTHER "\n"
			    "8_[1-2,4-5,...]" S "CANCELLED" S OTHER "\n";
	slurm_finals_parse(text, strlen(text), columns, &finals);
	assert_int_equal(finals.list.len, 5);
	const struct slurm_final *rest = &finals.list.at[1];
	assert_int_equal(rest->index, UINT32_MAX);
	assert_int_equal(rest->range_count, 2);
	assert_true(slurm_ranges_have(&finals.ranges, rest->first_range, rest->range_count, 20));
	assert_true(slurm_ranges_have(&finals.ranges, rest->first_range, rest->range_count, 30));
	assert_false(slurm_ranges_have(&finals.ranges, rest->first_range, rest->range_count, 21));
	assert_int_equal(finals.list.at[2].range_count, 0);
	assert_int_equal(finals.list.at[2].by_uid, 7);
	/* A list that was cut short is not believed: neither 1 nor 10-1 was meant. */
	for (size_t i = 3; i < 5; i++) {
		assert_int_equal(finals.list.at[i].index, UINT32_MAX);
		assert_int_equal(finals.list.at[i].range_count, 0);
	}
	assert_int_equal(finals.ranges.list.len, 2);
	slurm_finals_free(&finals);

	struct slurm_queue queue = queue_of("6" S "N/A" S "CANCELLED" S "None" S "" S "1" S "1" S TOKEN "\n"
					    "14" S "2-20%2" S "CANCELLED" S "JobArrayTaskLimit" S "" S "1" S "1" S TOKEN
					    "\n");
	assert_int_equal(queue.jobs.len, 2);
	assert_true(queue.jobs.at[0].rest);
	assert_false(queue.jobs.at[1].rest);
	assert_int_equal(queue.alive, 0);
	slurm_queue_free(&queue);
}

static void columns_that_a_version_lacks_are_not_asked_for(void **state)
{
	(void)state;
	unsigned columns = slurm_columns_known("AllocCPUS   JobID  \nState  ExitCode JobName\n Elapsed ");
	char *format = slurm_columns_format(columns);
	assert_string_equal(format, "JobID,State,ExitCode,JobName");
	free(format);
	struct slurm_finals finals;
	const char text[] = "5_1" S "FAILED" S "3:0" S TOKEN "\n5_1.batch" S "FAILED" S "3:0" S "batch\n";
	slurm_finals_parse(text, strlen(text), columns, &finals);
	assert_int_equal(finals.list.len, 1);
	assert_int_equal(finals.list.at[0].exit_code, 3);
	assert_true(finals.list.at[0].cost.known == 0);
	slurm_finals_free(&finals);
}

static void a_step_without_its_job_is_left_out(void **state)
{
	(void)state;
	struct slurm_finals finals;
	unsigned columns = slurm_columns_known("MaxRSS");
	const char text[] = "4_1" S "COMPLETED" S "" S TOKEN "\n5_1.batch" S "COMPLETED" S "7K" S "batch\n"
			    "x.batch" S "COMPLETED" S "9K" S "batch\n";
	slurm_finals_parse(text, strlen(text), columns, &finals);
	assert_int_equal(finals.list.len, 1);
	assert_false(cost_has(&finals.list.at[0].cost, FIGURE_MEMORY));
	slurm_finals_free(&finals);
}

static void parts_of_gpus_are_asked_for_as_the_partition_has_them(void **state)
{
	(void)state;
	const char text[] = "shared" S "up" S "1:00:00" S "1" S "idle" S "8" S "8000" S
			    "gpu:a100:2(S:0),shard:a100:16(S:0)\n"
			    "mps" S "up" S "1:00:00" S "1" S "idle" S "8" S "8000" S "gpu:1,mps:100\n"
			    "whole" S "up" S "1:00:00" S "1" S "idle" S "8" S "8000" S "gpu:4\n";
	struct slurm_partitions parts;
	char gres[SLURM_SHARE_CHARS];
	slurm_partitions_parse(text, strlen(text), &parts);
	assert_true(slurm_share_gres(slurm_partition_find(&parts, "shared"), 250, gres));
	assert_string_equal(gres, "shard:2");
	assert_true(slurm_share_gres(slurm_partition_find(&parts, "shared"), 300, gres));
	assert_string_equal(gres, "shard:3");
	assert_true(slurm_share_gres(slurm_partition_find(&parts, "mps"), 250, gres));
	assert_string_equal(gres, "mps:25");
	assert_false(slurm_share_gres(slurm_partition_find(&parts, "whole"), 250, gres));
	assert_int_equal(slurm_partition_find(&parts, "shared")->gpus, 2);
	slurm_partitions_free(&parts);
}

static void partitions_add_up_their_nodes(void **state)
{
	(void)state;
	/* Sockets stand behind the GPUs of nodes that have several. */
	const char text[] = "gpu_volta" S "up" S "7-00:00:00" S "2" S "mixed" S "8" S "8000" S "gpu:volta:2(S:0-1)\n"
			    "gpu_volta" S "up" S "7-00:00:00" S "1" S "idle" S "16+" S "9000+" S
			    "gpu:volta:4(S:0,1),gpu:a100:1,nvme:1T\n"
			    "cpu*" S "up" S "infinite" S "1" S "idle*" S "8" S "8000" S "(null)\n"
			    "old" S "inact" S "30:00" S "0" S "n/a" S "0" S "0" S "(null)\n"
			    "a notice of the site\n";
	struct slurm_partitions parts;
	slurm_partitions_parse(text, strlen(text), &parts);
	assert_int_equal(parts.list.len, 3);
	const struct slurm_partition *gpu = slurm_partition_find(&parts, "gpu_volta");
	assert_int_equal(gpu->nodes, 3);
	assert_int_equal(gpu->idle_nodes, 1);
	assert_int_equal(gpu->cpus, 32);
	assert_int_equal(gpu->gpus, 9);
	assert_int_equal(gpu->gpus_per_node, 5);
	assert_int_equal(gpu->cpus_per_node, 16);
	assert_true(gpu->memory_bytes == 9000ll << 20);
	assert_string_equal(gpu->gpu_types, "volta,a100");
	assert_int_equal(gpu->time_limit_ms, 7 * 86400000);
	const struct slurm_partition *cpu = slurm_partition_find(&parts, NULL);
	assert_string_equal(cpu->name, "cpu");
	assert_int_equal(cpu->time_limit_ms, 0);
	assert_int_equal(cpu->idle_nodes, 0);
	const struct slurm_partition *old = slurm_partition_find(&parts, "old");
	assert_false(old->up);
	assert_int_equal(old->time_limit_ms, 1800000);
	slurm_partitions_free(&parts);
}

static void settings_are_found_by_their_whole_name(void **state)
{
	(void)state;
	const char text[] = "Configuration data as of 1794754136\nAccountingStorageTypeX = no\n"
			    "AccountingStorageType   = accounting_storage/slurmdbd\nMessageTimeout          = 10 sec\n"
			    "MaxArraySize            = 10001\nBurstBufferType         = (null)\nEmpty =\n";
	char value[64];
	assert_true(slurm_config_get(text, "AccountingStorageType", value, sizeof(value)));
	assert_string_equal(value, "accounting_storage/slurmdbd");
	assert_false(slurm_config_get(text, "BurstBufferType", value, sizeof(value)));
	assert_false(slurm_config_get(text, "MaxArray", value, sizeof(value)));
	assert_true(slurm_config_get(text, "Empty", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_int_equal(slurm_config_number(text, "MessageTimeout", 1), 10);
	assert_int_equal(slurm_config_number(text, "MaxArraySize", 1), 10001);
	assert_int_equal(slurm_config_number(text, "MinJobAge", 300), 300);
}

static void the_smallest_limit_counts(void **state)
{
	(void)state;
	struct slurm_limits limits = {0};
	const char assoc[] = "labacct|lab|labacct||normal|high,low,normal|200|\nlabacct|lab|other|gpu|||50|40\n"
			     "labacct|elsewhere|labacct||||1|1\n";
	const char qos[] = "normal|150||\nhigh|||\nlow|10|20|30\n";
	slurm_associations_parse(assoc, strlen(assoc), "lab", &limits);
	slurm_qos_parse(qos, strlen(qos), &limits);
	assert_int_equal(limits.associations.len, 2);
	assert_string_equal(slurm_default_account(&limits), "labacct");
	assert_int_equal(slurm_submit_limit(&limits, NULL, NULL), 150);
	assert_int_equal(slurm_submit_limit(&limits, NULL, "high"), 200);
	assert_int_equal(slurm_submit_limit(&limits, "other", "low"), 10);
	assert_int_equal(slurm_submit_limit(&limits, "other", "high"), 40);
	assert_true(slurm_account_allowed(&limits, "other"));
	assert_false(slurm_account_allowed(&limits, "nobody"));
	slurm_limits_free(&limits);
	assert_int_equal(slurm_submit_limit(&limits, NULL, NULL), 0);
	assert_true(slurm_account_allowed(&limits, "nobody"));
}

static void job_ids_are_read_or_refused(void **state)
{
	(void)state;
	uint64_t id = 7;
	assert_int_equal(slurm_parse_submitted("123\n", &id), 0);
	assert_int_equal(id, 123);
	assert_int_equal(slurm_parse_submitted("124;cluster\n", &id), 0);
	assert_int_equal(id, 124);
	assert_int_equal(slurm_parse_submitted("Submitted batch job 125\n", &id), 0);
	assert_int_equal(id, 125);
	static const char *const bad[] = {"", "\n", "12x", "x", "99999999999", "-1", "sbatch: 5"};
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(slurm_parse_submitted(bad[i], &id), -EINVAL);
	assert_int_equal(slurm_parse_job("77_12", &id), 0);
	assert_int_equal(id, 77);
	assert_int_equal(slurm_parse_job("77.0", &id), -EINVAL);
}

static void versions_are_compared_as_numbers(void **state)
{
	(void)state;
	assert_true(slurm_version_since("22.05.8", 22, 5));
	assert_true(slurm_version_since("24.11.5", 22, 5));
	assert_true(slurm_version_since("26.05.0-0rc1", 22, 5));
	assert_false(slurm_version_since("20.11.4", 22, 5));
	assert_false(slurm_version_since("21.08.8-2", 22, 5));
	assert_false(slurm_version_since("", 22, 5));
	assert_false(slurm_version_since("unknown", 22, 5));
	assert_false(slurm_version_since("23", 22, 5));
}

static void times_are_read_in_both_forms(void **state)
{
	(void)state;
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	int64_t expected = 0;
	assert_int_equal(clock_parse("2026-07-01T10:00:00Z", &expected), 0);
	assert_true(slurm_parse_time_ms("2026-07-01T12:00:00") == expected);
	unsetenv("TZ");
	tzset();
	assert_true(slurm_parse_time_ms("1794754134") == 1794754134000);
	static const char *const unknown[] = {"N/A",
					      "Unknown",
					      "None",
					      "",
					      "NONE",
					      "2026-13-01T00:00:00",
					      "2026-07-01 12:00:00",
					      "99999999999999999999"};
	for (size_t i = 0; i < COUNT_OF(unknown); i++)
		assert_int_equal(slurm_parse_time_ms(unknown[i]), 0);
}

static void durations_and_sizes_are_read(void **state)
{
	(void)state;
	assert_int_equal(slurm_parse_elapsed_ms("00:00.249"), 249);
	assert_int_equal(slurm_parse_elapsed_ms("01:02"), 62000);
	assert_int_equal(slurm_parse_elapsed_ms("01:02:03"), 3723000);
	assert_int_equal(slurm_parse_elapsed_ms("2-00:00:01"), 172801000);
	assert_int_equal(slurm_parse_elapsed_ms("30"), 1800000);
	assert_int_equal(slurm_parse_elapsed_ms("infinite"), -1);
	assert_int_equal(slurm_parse_elapsed_ms(""), -1);
	assert_int_equal(slurm_parse_elapsed_ms("1:2:3:4"), -1);
	assert_int_equal(slurm_parse_bytes("1100K"), 1100 << 10);
	assert_int_equal(slurm_parse_bytes("1.50M"), 3 << 19);
	assert_int_equal(slurm_parse_bytes("12"), 12);
	assert_int_equal(slurm_parse_bytes(""), -1);
	assert_int_equal(slurm_parse_bytes("5X"), -1);
	assert_int_equal(slurm_parse_bytes("99999999P"), -1);
}

static void no_byte_hides_what_follows(void **state)
{
	(void)state;
	static const char text[] = "junk\0 junk\n7" S "1" S "RUNNING" S "None" S "n1" S "1" S "2" S TOKEN "\n";
	struct slurm_queue queue;
	slurm_queue_parse(text, sizeof(text) - 1, &queue);
	assert_int_equal(queue.jobs.len, 1);
	slurm_queue_free(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_read),
		cmocka_unit_test(a_list_cut_short_is_noticed_and_not_believed),
		cmocka_unit_test(rows_that_are_not_ours_are_left_out),
		cmocka_unit_test(a_name_with_separators_forges_nothing),
		cmocka_unit_test(names_of_jobs_have_the_experiment_and_the_token),
		cmocka_unit_test(indices_out_of_bounds_are_refused),
		cmocka_unit_test(the_accounting_is_read_with_its_steps),
		cmocka_unit_test(a_cancel_by_a_node_is_told_from_one_by_a_person),
		cmocka_unit_test(elements_that_never_started_share_a_record),
		cmocka_unit_test(columns_that_a_version_lacks_are_not_asked_for),
		cmocka_unit_test(a_step_without_its_job_is_left_out),
		cmocka_unit_test(parts_of_gpus_are_asked_for_as_the_partition_has_them),
		cmocka_unit_test(partitions_add_up_their_nodes),
		cmocka_unit_test(settings_are_found_by_their_whole_name),
		cmocka_unit_test(the_smallest_limit_counts),
		cmocka_unit_test(job_ids_are_read_or_refused),
		cmocka_unit_test(versions_are_compared_as_numbers),
		cmocka_unit_test(times_are_read_in_both_forms),
		cmocka_unit_test(durations_and_sizes_are_read),
		cmocka_unit_test(no_byte_hides_what_follows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
