/* What several versions of Slurm print about the cluster itself, and how they answer a submission. */
#include "samples.h"

#include "backend/slurm_words.h"

static void a_restart_of_the_controller_is_noticed(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct buf config = read_sample("scontrol-config"), later = read_sample("scontrol-config-plain");
		struct slurm_boot boot = {0};
		assert_false(slurm_boot_is_before(&boot, INT64_MAX)); /* not read yet */
		slurm_boot_read(&boot, buf_text(&config), 1000);
		slurm_boot_read(&boot, buf_text(&config), 5000);
		assert_false(slurm_boot_is_before(&boot, 999));
		assert_true(slurm_boot_is_before(&boot, 1000)); /* no restart between the two looks */
		slurm_boot_read(&boot, buf_text(&later), 9000);
		assert_false(slurm_boot_is_before(&boot, 8999)); /* it may have forgotten what was there before */
		assert_true(slurm_boot_is_before(&boot, 9000));
		slurm_boot_read(&boot, "ClusterName = lab\n", 9500);
		assert_false(slurm_boot_is_before(&boot, INT64_MAX)); /* a site may forbid it */

		/* A daemon that was started later has only the clocks, which are minutes apart at most. */
		uint64_t up = (uint64_t)slurm_config_number(buf_text(&config), "BOOT_TIME", 0);
		int64_t now = (int64_t)up * 1000 + 86400000;
		assert_true(up > 1700000000);
		slurm_boot_read(&boot, buf_text(&config), now);
		assert_true(slurm_boot_is_before(&boot, (int64_t)up * 1000 + 700000));
		assert_false(slurm_boot_is_before(&boot, (int64_t)up * 1000 + 500000));
		buf_free(&config);
		buf_free(&later);
	}
}

static void the_cluster_is_described_alike(void **state)
{
	(void)state;
	for_versions(v)
	{
		char value[256];
		struct buf config = read_sample("scontrol-config"), plain = read_sample("scontrol-config-plain");
		struct buf ping = read_sample("scontrol-ping"), down = read_sample("scontrol-ping-down");
		struct buf sinfo = read_sample("sinfo");
		assert_true(slurm_config_get(buf_text(&config), "SLURM_VERSION", value, sizeof(value)));
		assert_string_equal(value, version);
		assert_true(slurm_config_get(buf_text(&config), "ClusterName", value, sizeof(value)));
		assert_string_equal(value, "lab");
		assert_int_equal(slurm_config_number(buf_text(&config), "MaxArraySize", 1), 10001);
		assert_int_equal(slurm_config_number(buf_text(&config), "MessageTimeout", 1), 5);
		assert_int_equal(slurm_config_number(buf_text(&config), "MinJobAge", 1), 3600);
		assert_int_equal(slurm_config_number(buf_text(&config), "KillWait", 1), 20);
		assert_true(slurm_config_get(buf_text(&config), "AccountingStorageType", value, sizeof(value)));
		assert_string_equal(value, "accounting_storage/slurmdbd");
		/* "accounting_storage/none" in old versions, "(null)" in new ones. */
		assert_true(!slurm_config_get(buf_text(&plain), "AccountingStorageType", value, sizeof(value)) ||
			    strstr(value, "/none"));
		assert_true(!slurm_config_get(buf_text(&config), "AcctGatherEnergyType", value, sizeof(value)) ||
			    strstr(value, "/none"));
		assert_non_null(strstr(buf_text(&ping), "is UP"));
		assert_null(strstr(buf_text(&down), "is UP"));
		assert_non_null(strstr(buf_text(&down), "Slurmctld("));

		struct slurm_partitions parts;
		slurm_partitions_parse(buf_text(&sinfo), sinfo.len, &parts);
		assert_int_equal(parts.list.len, 2);
		const struct slurm_partition *gpu = slurm_partition_find(&parts, "gpu_volta");
		assert_true(gpu->up);
		assert_int_equal(gpu->nodes, 3);
		assert_int_equal(gpu->idle_nodes, 3);
		assert_int_equal(gpu->gpus, 6);
		assert_int_equal(gpu->gpus_per_node, 2);
		assert_string_equal(gpu->gpu_types, "volta");
		assert_int_equal(gpu->cpus, 24);
		assert_true(gpu->memory_bytes == 8000ll << 20);
		assert_int_equal(gpu->time_limit_ms, 7 * 86400000);
		assert_string_equal(slurm_partition_find(&parts, NULL)->name, "cpu");
		assert_int_equal(slurm_partition_find(&parts, "cpu")->gpus, 0);
		slurm_partitions_free(&parts);
		buf_free(&config), buf_free(&plain), buf_free(&ping), buf_free(&down), buf_free(&sinfo);
	}
}

static void limits_are_read(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_limits limits = {0};
		struct buf user = read_sample("sacctmgr-user"), qos = read_sample("sacctmgr-qos");
		slurm_associations_parse(buf_text(&user), user.len, "lab", &limits);
		slurm_qos_parse(buf_text(&qos), qos.len, &limits);
		assert_string_equal(slurm_default_account(&limits), "labacct");
		assert_int_equal(limits.associations.len, 1);
		assert_string_equal(limits.associations.at[0].default_qos, "normal");
		assert_string_equal(limits.associations.at[0].qos, "high,low,normal");
		assert_int_equal(limits.qos.len, 3);
		assert_string_equal(slurm_qos_of(&limits, NULL), "high,low,normal");
		assert_null(slurm_qos_of(&limits, "other"));
		assert_true(slurm_qos_exists(&limits, "low"));
		assert_false(slurm_qos_exists(&limits, "lo"));
		assert_int_equal(slurm_submit_limit(&limits, NULL, NULL), 40000);
		assert_int_equal(slurm_submit_limit(&limits, NULL, "low"), 30000);
		slurm_limits_free(&limits);
		buf_free(&user), buf_free(&qos);
	}
}

static void the_id_of_a_submission_is_that_of_the_queue(void **state)
{
	(void)state;
	for_versions(v)
	{
		struct slurm_queue queue = read_queue("squeue-living");
		struct buf said = read_sample("sbatch");
		uint64_t id = 0;
		assert_int_equal(slurm_parse_submitted(buf_text(&said), &id), 0);
		assert_int_equal(id, find_row(&queue, 1, 0)->id);
		buf_free(&said);
		slurm_queue_free(&queue);
	}
}

/* How sbatch says no. */
static const struct {
	const char *sample, *cause; /* cause NULL: it is not known whether it was submitted */
	const char *remedy; /* part of it */
	bool optional; /* some versions take it and let it wait */
} refusals[] = {
	{"sbatch-partition", "refused", "sinfo -s", false},
	{"sbatch-gpus", "refused", "ask for less", false},
	{"sbatch-no-gpus", "refused", "ask for less", false},
	{"sbatch-gpu-type", "refused", "ask for less", false},
	{"sbatch-memory", "refused", "", false},
	{"sbatch-qos", "refused", "QOS", false},
	{"sbatch-account", "refused", "account", false},
	{"sbatch-constraint", "refused", "constraint", false},
	{"sbatch-closed", "refused", "switched off", false},
	{"sbatch-group", "refused", "another partition", true},
	{"sbatch-wall", "limit", "less time", false},
	{"sbatch-option", "refused", "take the option out", false},
	{"sbatch-short-option", "refused", "take the option out", false},
	{"sbatch-no-value", "refused", "reservation", false},
	{"sbatch-value", "refused", "without a value", false},
	{"sbatch-time", "refused", "correct the value", false},
	{"sbatch-mem", "refused", "correct the value", false},
	{"sbatch-begin", "refused", "correct the", false},
	{"sbatch-signal", "refused", "correct the value", false},
	{"sbatch-gres", "refused", "", false},
	{"sbatch-reservation", "refused", "reservation", false},
	{"sbatch-licence", "refused", "licences", false},
	{"sbatch-nodes", "refused", "sinfo -N", false},
	{"sbatch-dependency", "refused", "--dependency", false},
	{"sbatch-dependency-gone", "refused", "--dependency", true},
	{"sbatch-uid", "refused", "take the option out", false},
	{"sbatch-array", "refused", "MaxArraySize", false},
	{"sbatch-submit-limit", "limit", "in the queue", false},
	{"sbatch-controller-down", NULL, NULL, false},
	{"sbatch-controller-stopped", NULL, NULL, false},
	{"sbatch-no-munge", NULL, NULL, false},
};

static void every_no_is_understood(void **state)
{
	(void)state;
	for_versions(v)
	{
		for (size_t i = 0; i < COUNT_OF(refusals); i++) {
			struct slurm_refusal refusal;
			if (refusals[i].optional && !has_sample(refusals[i].sample))
				continue;
			struct buf said = read_sample(refusals[i].sample);
			slurm_explain_refusal(buf_text(&said), &refusal);
			buf_free(&said);
			if (refusal.definite != (refusals[i].cause != NULL))
				fail_msg("%s: %s: %sdefinite", version, refusals[i].sample,
					 refusal.definite ? "" : "not ");
			assert_null(strstr(refusal.message, "sbatch: "));
			assert_int_not_equal(refusal.message[0], '\0');
			if (!refusals[i].cause)
				continue;
			assert_string_equal(cause_name(refusal.cause), refusals[i].cause);
			if (!refusal.remedy || !strstr(refusal.remedy, refusals[i].remedy))
				fail_msg("%s: %s: '%s'", version, refusals[i].sample,
					 refusal.remedy ? refusal.remedy : "");
		}
	}
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_of_the_controller_is_noticed),
		cmocka_unit_test(the_cluster_is_described_alike),
		cmocka_unit_test(limits_are_read),
		cmocka_unit_test(the_id_of_a_submission_is_that_of_the_queue),
		cmocka_unit_test(every_no_is_understood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
