/* The Slurm backend's first and last moments, with a Slurm of shell scripts in PATH: what it says before the first
 * answer, and that an examination does not outlive it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/slurm.h"
#include "base/fs.h"

static uv_loop_t loop;
static struct backend *backend;
static char *root;

static const char *const programs[][2] = {
	{"scontrol",
	 "if [ \"$1\" = ping ]; then echo 'Slurmctld(primary) at here is UP'\n"
	 "else printf 'ClusterName = lab\\nSLURM_VERSION = 22.05.8\\nMaxArraySize = 1001\\n'; fi"},
	{"sinfo", "printf 'cpu*\\037up\\037infinite\\0371\\037idle\\0374\\0371000\\037(null)\\n'"},
	{"sbatch", "cat >/dev/null; echo 17"},
	{"squeue", ":"},
};

static int set_up(void **state)
{
	char folder[] = "/tmp/sl-start-XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(folder));
	root = mem_strdup(folder);
	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		char *path = mem_printf("%s/%s", root, programs[i][0]);
		char *text = mem_printf("#!/bin/sh\n%s\n", programs[i][1]);
		assert_int_equal(fs_write(path, text, strlen(text), 0700, false, NULL), 0);
		free(text);
		free(path);
	}
	char *path = mem_printf("%s:/usr/bin:/bin", root);
	setenv("PATH", path, 1);
	unsetenv("SLURM_CONF");
	free(path);
	uv_loop_init(&loop);
	struct backend_config config = {.loop = &loop, .state_dir = root, .program = "/bin/true"};
	assert_int_equal(backend_slurm.open(&config, &backend, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (backend)
		backend_slurm.close(backend);
	backend = NULL;
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
	free(root);
	return 0;
}

/* Its entry of /cluster; the caller frees it. */
static char *describe(void)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	backend_slurm.describe(backend, &out);
	char *copy = mem_strdup(buf_text(&text));
	buf_free(&text);
	return copy;
}

static void test_before_the_first_answer_it_says_that_slurm_is_being_asked(void **state)
{
	(void)state;
	char *before = describe();
	assert_non_null(strstr(before, "\"text\":\"sluice is asking Slurm for its partitions\",\"asking\":true"));
	assert_non_null(strstr(before, "\"available\":false"));
	uv_run(&loop, UV_RUN_DEFAULT);
	char *then = describe();
	assert_non_null(strstr(then, "\"text\":\"Slurm 22.05.8, 1 partition, the largest with 4 CPUs"));
	assert_non_null(strstr(then, "\"asking\":false"));
	free(before);
	free(then);
}

static void examined_cb(void *ctx, const struct backend_finding *list, size_t count)
{
	(void)list, (void)count;
	*(bool *)ctx = true;
}

static void test_an_examination_that_waits_for_its_job_ends_with_the_backend(void **state)
{
	bool examined = false;
	(void)state;
	backend_slurm.examine(backend, examined_cb, &examined);
	/* Children have limits of many seconds; what is next after less than that is the look at the job. */
	int next;
	do
		uv_run(&loop, UV_RUN_ONCE);
	while ((next = uv_backend_timeout(&loop)) <= 100 || next > 1000);
	backend_slurm.close(backend);
	backend = NULL;
	while (uv_loop_alive(&loop)) {
		assert_in_range(uv_backend_timeout(&loop), 0, 10);
		uv_run(&loop, UV_RUN_ONCE);
	}
	assert_false(examined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_before_the_first_answer_it_says_that_slurm_is_being_asked, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_examination_that_waits_for_its_job_ends_with_the_backend,
						set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
