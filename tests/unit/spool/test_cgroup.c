/* Which control groups belong to the job, and what their counters say: texts in the formats of
 * version 1 and 2, written by hand. */
#include "../unit.h"

#include "spool/cgroup.h"

/* Slurm 22.05 on a node with version 1. */
static const char v1_groups[] = "9:name=systemd:/\n8:pids:/\n7:blkio:/\n"
				"6:freezer:/slurm_cpu1/uid_1000/job_2856/step_batch\n"
				"4:memory,hugetlb:/slurm_cpu1/uid_1000/job_2856/step_batch/task_0\n3:cpuset:/\n0::/\n";
static const char v1_mounts[] =
	"23 0 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
	"34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory,hugetlb\n"
	"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
/* Slurm 24.11 on a node with version 2. */
static const char v2_groups[] = "0::/system.slice/slurmstepd.scope/job_77/step_batch/user/task_0\n";
static const char v2_mounts[] =
	"24 1 252:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	"29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

static void assert_group(const char *groups, const char *mounts, bool v2, const char *own, const char *job)
{
	struct cgroup found;
	assert_true(cgroup_parse(groups, mounts, &found));
	assert_int_equal(found.v2, v2);
	assert_string_equal(found.own, own);
	assert_string_equal(found.job, job);
	cgroup_free(&found);
}

static void test_the_group_of_a_job_is_found(void **state)
{
	(void)state;
	assert_group(v1_groups, v1_mounts, false,
		     "/sys/fs/cgroup/memory/slurm_cpu1/uid_1000/job_2856/step_batch/task_0",
		     "/sys/fs/cgroup/memory/slurm_cpu1/uid_1000/job_2856");
	assert_group(v2_groups, v2_mounts, true,
		     "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_77/step_batch/user/task_0",
		     "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_77");
	assert_group("4:memory:/slurm/uid_0/job_5\n", v1_mounts, false, "/sys/fs/cgroup/memory/slurm/uid_0/job_5",
		     "/sys/fs/cgroup/memory/slurm/uid_0/job_5");
}

static void test_a_mount_of_a_part_of_the_tree_is_followed(void **state)
{
	(void)state;
	/* slurmd in a container that sees its own part of the tree. */
	assert_group("4:memory:/docker/9f/slurm/job_5/step_0\n",
		     "35 31 0:32 /docker/77 /other rw - cgroup cgroup rw,memory\n"
		     "35 31 0:32 /docker/9f /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
		     false, "/sys/fs/cgroup/memory/slurm/job_5/step_0", "/sys/fs/cgroup/memory/slurm/job_5");
	assert_group("0::/a/job_5/step_0\n", "35 31 0:32 /a/job_5 /c rw - cgroup2 none rw\n", true, "/c/step_0", "/c");
}

static void test_without_a_group_of_the_job_nothing_is_known(void **state)
{
	static const struct {
		const char *what, *groups, *mounts;
	} rows[] = {
		{"a login session is everybody's", "0::/user.slice/user-1000.slice/session-3.scope\n", v2_mounts},
		{"Slurm does not limit memory", "6:freezer:/slurm/uid_0/job_5/step_batch\n4:memory:/\n", v1_mounts},
		{"no number", "0::/a/job_x/step_0\n", v2_mounts},
		{"a name that only begins so", "0::/a/job_5x/step_0\n", v2_mounts},
		{"not mounted", v2_groups, v1_mounts + sizeof(v1_mounts) - 1},
		{"only the other version is mounted", v2_groups, "35 31 0:32 / /c rw - cgroup cgroup rw,memory\n"},
		{"another controller is mounted", v1_groups, "35 31 0:32 / /c rw - cgroup cgroup rw,cpuset\n"},
		{"a container sees less than the job", "0::/a/job_5/step_0/x\n",
		 "35 31 0:32 /a/job_5/step_0 /c rw - cgroup2 none rw\n"},
		{"root of another group", "0::/a/job_55\n", "35 31 0:32 /a/job_5 /c rw - cgroup2 none rw\n"},
		{"outside of its name space", "0::/../../job_5\n", "35 31 0:32 /x /c rw - cgroup2 none rw\n"},
		{"cut", "4:memory", "35 31 0:32 / /c rw - "},
		{"empty", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup found;
		if (cgroup_parse(rows[i].groups, rows[i].mounts, &found))
			fail_msg("%s: %s", rows[i].what, found.own);
	}
}

static void test_kills_are_counted_in_both_versions(void **state)
{
	(void)state;
	assert_int_equal(cgroup_parse_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3);
	assert_int_equal(cgroup_parse_kills("low 0\nhigh 0\nmax 81\noom 2\noom_kill 1\noom_group_kill 0\n"), 1);
	assert_int_equal(cgroup_parse_kills("oom_kill_disable 0\nunder_oom 0\n"), -1); /* before Linux 4.13 */
	assert_int_equal(cgroup_parse_kills("oom_kill many\n"), -1);
	assert_int_equal(cgroup_parse_kills(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_group_of_a_job_is_found),
		cmocka_unit_test(test_a_mount_of_a_part_of_the_tree_is_followed),
		cmocka_unit_test(test_without_a_group_of_the_job_nothing_is_known),
		cmocka_unit_test(test_kills_are_counted_in_both_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
