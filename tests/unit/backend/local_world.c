/* See local_world.h. */
#include "local_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static uv_loop_t loop;
struct backend *backend;
char *root;
char *batch_dir;
char *program;
unsigned changes;
struct backend_observation sight;
char sight_message[256];
char sight_cause[32];
struct backend_submit_result submitted;
char submitted_why[256];
static uv_timer_t heart; /* keeps the loop turning, as the daemon's own handles do */

static void changed_cb(void *ctx)
{
	(void)ctx;
	changes++;
}

void open_backend(void)
{
	struct backend_config config = {.loop = &loop, .program = program};
	assert_int_equal(backend_local.open(&config, &backend, NULL), 0);
	backend_local.on_change(backend, changed_cb, NULL);
}

void close_backend(void)
{
	backend_local.close(backend);
	backend = NULL;
}

static void heart_cb(uv_timer_t *timer)
{
	(void)timer;
}

int set_up(void **state)
{
	(void)state;
	char template[] = "/tmp/test_local_XXXXXX";
	root = mem_strdup(mkdtemp(template));
	batch_dir = mem_printf("%s/batch", root);
	char *files = mem_printf("%s/files", root);
	assert_int_equal(fs_make_dirs(batch_dir, 0700, NULL), 0);
	assert_int_equal(fs_make_dirs(files, 0700, NULL), 0);
	free(files);
	/* …/build/tests/unit/backend/test_backend_local → …/build/sluice */
	program = fs_program();
	for (int i = 0; i < 4; i++)
		*strrchr(program, '/') = 0;
	char *full = mem_printf("%s/sluice", program);
	free(program);
	program = full;
	uv_loop_init(&loop);
	uv_timer_init(&loop, &heart);
	uv_timer_start(&heart, heart_cb, 10, 10);
	changes = 0;
	open_backend();
	return 0;
}

void turn(void)
{
	uv_run(&loop, UV_RUN_NOWAIT);
	usleep(5000);
}

/* Reaps those that a closed backend has left: in the daemon that is the work of init. */
static bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0;
}

/* What is alive may still write into the folder, and the loop is not done with it. */
int tear_down(void **state)
{
	(void)state;
	if (backend)
		close_backend();
	for (int i = 0; i < 4000 && has_children(); i++)
		turn();
	assert_false(has_children());
	uv_close((uv_handle_t *)&heart, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
	free(root);
	free(batch_dir);
	free(program);
	return 0;
}

static char *attempt_dir(uint32_t index)
{
	return mem_printf("%s/tasks/%" PRIu32 "/attempts/1", root, index + 1);
}

char *work_file(uint32_t index, const char *name)
{
	return mem_printf("%s/tasks/%" PRIu32 "/work/%s", root, index + 1, name);
}

void describe_task(uint32_t index, const char *shell)
{
	char *path = mem_printf("%s/%" PRIu32 ".json", batch_dir, index);
	char *text = mem_printf("{\"token\":\"" TOKEN "\",\"experiment\":\"e1\",\"task\":%" PRIu32
				",\"attempt\":1,\"files_dir\":\"%s/files\",\"task_dir\":\"%s/tasks/%" PRIu32
				"\",\"attempt_dir\":\"%s/tasks/%" PRIu32 "/attempts/1\","
				"\"argv\":[\"sh\",\"-c\",\"%s\"],\"grace_ms\":2000,\"fresh\":true}",
				index + 1, root, root, index + 1, root, index + 1, shell);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	free(path);
	free(text);
}

static void submitted_cb(void *ctx, const char *token, const struct backend_submit_result *result)
{
	(void)ctx;
	assert_string_equal(token, TOKEN);
	submitted = *result;
	snprintf(submitted_why, sizeof(submitted_why), "%s", result->why ? result->why : "");
}

void submit_with(const struct backend_resources *resources, uint32_t first, size_t count)
{
	struct backend_item items[8];
	for (size_t i = 0; i < count; i++)
		items[i] = (struct backend_item){first + (uint32_t)i, attempt_dir(first + (uint32_t)i)};
	struct backend_batch batch = {
		.token = TOKEN, .batch_dir = batch_dir, .resources = resources, .items = items, .count = count};
	backend_local.submit(backend, &batch, submitted_cb, NULL);
	for (size_t i = 0; i < count; i++)
		free((char *)items[i].attempt_dir);
}

void submit(uint32_t first, size_t count)
{
	struct backend_resources one = {.cpus = 1};
	submit_with(&one, first, count);
}

static void sight_cb(void *ctx, const struct backend_observation *seen)
{
	(void)ctx;
	sight = *seen;
	snprintf(sight_message, sizeof(sight_message), "%s", seen->message ? seen->message : "");
	snprintf(sight_cause, sizeof(sight_cause), "%s", seen->cause ? cause_name(seen->cause) : "");
}

static void polled_cb(void *ctx, int rc, const char *why)
{
	(void)why;
	(void)ctx;
	assert_int_equal(rc, 0);
}

static void done_cb(void *ctx, int rc, const char *why)
{
	(void)why;
	(void)ctx;
	assert_int_equal(rc, 0);
}

enum backend_state look(uint32_t index)
{
	char *dir = attempt_dir(index);
	struct backend_watch watch = {.token = TOKEN, .index = index, .batch_dir = batch_dir, .attempt_dir = dir};
	backend_local.poll(backend, &watch, 1, sight_cb, polled_cb, NULL);
	assert_int_equal(sight.index, index);
	free(dir);
	return sight.state;
}

void cancel(uint32_t index)
{
	char *dir = attempt_dir(index);
	struct backend_watch watch = {.token = TOKEN, .index = index, .batch_dir = batch_dir, .attempt_dir = dir};
	backend_local.cancel(backend, &watch, 1, done_cb, NULL);
	free(dir);
}

void wait_for_state(uint32_t index, enum backend_state state)
{
	for (int i = 0; i < 4000 && look(index) != state; i++)
		turn();
	assert_int_equal(look(index), state);
}

void wait_for_file(const char *path)
{
	for (int i = 0; i < 4000 && access(path, F_OK) < 0; i++)
		turn();
	assert_int_equal(access(path, F_OK), 0);
}

/* nvidia-smi has answered, which is a change of its own: then what is too much is let through, to be refused. */
void wait_for_gpus(void)
{
	struct backend_resources most = {.cpus = 1, .gpus = 65};
	for (int i = 0; i < 4000 && !backend_local.room(backend, &most); i++)
		turn();
	assert_int_equal(backend_local.room(backend, &most), 1);
}

char *read_text(char *give_path)
{
	struct buf text = buf_make(1 << 20);
	if (fs_read(give_path, 1 << 20, &text, NULL) < 0)
		buf_clear(&text);
	free(give_path);
	return buf_take(&text);
}

bool journal_has(uint32_t index, const char *what)
{
	char *dir = attempt_dir(index);
	char *text = read_text(mem_printf("%s/journal", dir));
	bool found = strstr(text, what) != NULL;
	free(text);
	free(dir);
	return found;
}

pid_t claim_pid(uint32_t index)
{
	char *text = read_text(mem_printf("%s/%" PRIu32 ".claim", batch_dir, index));
	struct node *claim = NULL;
	assert_int_equal(node_parse_json(text, strlen(text), &claim, NULL), 0);
	pid_t pid = (pid_t)node_get_int(claim, "pid", 0);
	node_free(claim);
	free(text);
	return pid;
}
