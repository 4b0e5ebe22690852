/* An engine in a folder of its own, with the real store, the real local backend and the real runner (the program
 * named by SLUICE_BIN). */
#ifndef TEST_ENGINE_FIXTURE_H
#define TEST_ENGINE_FIXTURE_H

#include "engine/engine.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/token.h"
#include "store/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define PATIENCE_MS 60000

/* An engine that is closed while runners are alive leaves their exit callbacks behind, as a daemon that ends
 * does; here the process lives on. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:local_add\n";
}

struct fixture {
	char dir[64];
	uv_loop_t loop;
	struct engine *engine;
	const struct backend_ops *const *backends; /* NULL: the real ones */
	int events, resets;
};

static inline void event_cb(void *ctx, const char *name, const char *data, size_t len)
{
	struct fixture *f = ctx;
	struct node *node = NULL;
	f->events++;
	f->resets += strcmp(name, "reset") == 0;
	assert_int_equal(node_parse_json(data, len, &node, NULL), 0); /* every event is JSON */
	node_free(node);
}

static inline void open_engine(struct fixture *f)
{
	struct error err = {0};
	struct engine_config config = {
		.loop = &f->loop,
		.state_dir = f->dir,
		.program = getenv("SLUICE_BIN"),
		.backends = f->backends,
	};
	uv_loop_init(&f->loop);
	if (engine_open(&config, &f->engine, &err) < 0)
		fail_msg("%s", err.text);
	engine_listen(f->engine, event_cb, f);
}

static inline void free_handle_cb(uv_handle_t *handle)
{
	free(handle->data);
}

static inline void close_handle_cb(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_close(handle, handle->type == UV_PROCESS ? free_handle_cb : NULL);
}

static inline void close_engine(struct fixture *f)
{
	engine_close(f->engine);
	uv_walk(&f->loop, close_handle_cb, NULL); /* runners that are still alive have handles of their own */
	uv_run(&f->loop, UV_RUN_DEFAULT);
	uv_loop_close(&f->loop);
}

static inline int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	assert_int_equal(token_init(), 0);
	assert_non_null(getenv("SLUICE_BIN"));
	setenv("SLURM_CONF", "/nonexistent", 1); /* a cluster of this machine would be preferred */
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-life-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	open_engine(f);
	*state = f;
	return 0;
}

/* What runners write meanwhile would be left behind. Those of a test that failed may have much to do: they are not waited
 * for until the whole program is out of time and says nothing. */
static inline bool wait_for_runners(void)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (waitpid(-1, NULL, WNOHANG) >= 0 && clock_mono_ms() < end)
		usleep(2000);
	return waitpid(-1, NULL, WNOHANG) < 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	close_engine(f);
	assert_true(wait_for_runners());
	assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static inline int64_t create(struct fixture *f, const char *yaml, const char *script)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *request = node_new(NODE_MAP), *source = node_new(NODE_MAP);
	struct node *files = node_new(NODE_LIST), *file = node_new(NODE_MAP);
	int64_t id = 0;
	node_add(source, "text", node_new_string(yaml));
	node_add(source, "name", node_new_string("exp.yaml"));
	node_add(request, "source", source);
	node_add(file, "path", node_new_string("run.sh"));
	node_add(file, "text", node_new_string(script));
	node_add(files, NULL, file);
	node_add(request, "files", files);
	int rc = engine_create(f->engine, request, NULL, NULL, &id, &problems, &err);
	if (rc < 0) {
		if (problems.list.len)
			problems_summary(&problems, &err);
		fail_msg("create: %d:%d %s", err.line, err.column, err.text);
	}
	node_free(request);
	problems_free(&problems);
	return id;
}

static inline struct node *read_experiment(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct pieces pieces = {0};
	struct node *node = NULL;
	if (store_export(engine_store(f->engine), id, NULL, false, &pieces) == 0) {
		assert_int_equal(pieces_finish(&pieces, &text), 0);
		assert_int_equal(node_parse_json(buf_text(&text), text.len, &node, NULL), 0);
	}
	buf_free(&text);
	return node;
}

static inline struct node *wait_for(struct fixture *f, int64_t id, const char *state)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	struct node *node = NULL;
	while (clock_mono_ms() < end) {
		node_free(node);
		node = read_experiment(f, id);
		const char *now = node_get_string(node, "state");
		if (now && strcmp(now, state) == 0)
			return node;
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	const char *now = node_get_string(node, "state");
	fail_msg("e%lld is %s, not %s", (long long)id, now ? now : "gone", state);
	return NULL;
}

static inline const struct node *task_at(const struct node *experiment, size_t i)
{
	const struct node *tasks = node_get(experiment, "tasks");
	assert_true(tasks && tasks->type == NODE_LIST && i < tasks->count);
	return tasks->items[i];
}

static inline struct node *json(const char *text)
{
	struct node *node = NULL;
	assert_int_equal(node_parse_json(text, strlen(text), &node, NULL), 0);
	return node;
}

struct waiting {
	struct engine_asker asker; /* first: the callback gets it */
	int rc;
	int64_t number;
};

static inline void asked_cb(struct engine_asker *asker, int rc, int64_t number, const struct error *err)
{
	struct waiting *waiting = (struct waiting *)asker;
	(void)err;
	waiting->rc = rc;
	waiting->number = number;
}

static inline int begin_ask(struct fixture *f, int64_t id, struct waiting *waiting)
{
	struct error err = {0};
	*waiting = (struct waiting){.asker.done = asked_cb};
	return waiting->rc = engine_ask(f->engine, id, &waiting->asker, &waiting->number, &err);
}

/* As engine_ask, with the answer that may come later. */
static inline int end_ask(struct fixture *f, struct waiting *waiting, int64_t *ret_number)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (waiting->rc == -EINPROGRESS && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
	*ret_number = waiting->number;
	return waiting->rc;
}

static inline int ask(struct fixture *f, int64_t id, int64_t *ret_number)
{
	static struct waiting waiting;
	begin_ask(f, id, &waiting);
	return end_ask(f, &waiting, ret_number);
}

static inline int64_t asked_by_search(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *search = NULL;
	assert_int_equal(engine_write_search(f->engine, id, &w), 0);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &search, NULL), 0);
	int64_t asked = node_get_int(node_get(search, "state"), "asked", -1);
	node_free(search);
	buf_free(&text);
	return asked;
}

#endif
