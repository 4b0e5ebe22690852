/* Drives one backend from a script of lines on stdin, for tests against a real cluster without the engine. Answers are
 * JSON, one document a line. Commands:
 *   submit TOKEN BATCH_DIR COUNT PARALLEL [key=value ...]     keys are those of `resources:`; option= may repeat
 *   poll TOKEN[:JOB]:FIRST-LAST ...                          cancel TOKEN:FIRST-LAST ...
 *   parallel TOKEN N    room [key=value ...]    check [key=value ...]    preview TASKS PARALLEL [key=value ...]
 *   describe    interval 0|1    wait MILLISECONDS    examine [PARTITION]
 * Usage: backend_harness BACKEND STATE_DIR PROGRAM [URL of the daemon] */
#include "backend/backend.h"
#include "backend/slurm.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/text.h"
#include "base/token.h"

#include <signal.h>
#include <stdio.h>

#define WORDS_MAX 64

static struct backend *backend;
static bool waiting;
static int changes;

static void print_line(struct buf *text)
{
	printf("%s\n", buf_text(text));
	fflush(stdout);
	buf_free(text);
}

static int64_t number(const char *text, int64_t fallback)
{
	uint64_t value;
	return num_parse_unsigned(text, strspn(text, "0123456789"), INT64_MAX, &value) == 0 ? (int64_t)value : fallback;
}

static void set_resource(struct backend_resources *r, char *pair)
{
	char *value = strchr(pair, '=');
	if (!value)
		return;
	*value++ = '\0';
	struct {
		const char *key;
		char **text;
		int64_t *number;
	} keys[] = {
		{"cpus", NULL, &r->cpus},
		{"memory", NULL, &r->memory_bytes},
		{"gpus", NULL, &r->gpus},
		{"time_ms", NULL, &r->time_ms},
		{"nodes", NULL, &r->nodes},
		{"signal_ms", NULL, &r->signal_before_ms},
		{"gpu_type", &r->gpu_type, NULL},
		{"partition", &r->partition, NULL},
		{"account", &r->account, NULL},
		{"qos", &r->qos, NULL},
		{"constraint", &r->constraint, NULL},
		{"template", &r->template, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (strcmp(keys[i].key, pair) != 0)
			continue;
		if (keys[i].text)
			*keys[i].text = value;
		else
			*keys[i].number = number(value, 0);
	}
	if (strcmp(pair, "option") == 0) {
		size_t n = 0;
		while (r->options && r->options[n])
			n++;
		r->options = mem_resize(r->options, n + 2, sizeof(*r->options));
		r->options[n] = value;
		r->options[n + 1] = NULL;
	}
}

static void submitted_cb(void *ctx, const char *token, const struct backend_submit_result *result)
{
	static const char *const outcomes[] = {"submitted", "refused", "unknown", "later"};
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	(void)ctx;
	json_map(&out);
	json_key_string(&out, "event", "submit");
	json_key_string(&out, "token", token);
	json_key_string(&out, "outcome", outcomes[result->outcome]);
	json_key_string(&out, "job", result->job);
	json_key_string(&out, "cause", cause_name(result->cause));
	json_key_string(&out, "why", result->why);
	json_end(&out);
	print_line(&text);
	waiting = false;
}

static void sight_cb(void *ctx, const struct backend_observation *s)
{
	static const char *const states[] = {"queued", "running", "ended", "absent"};
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	(void)ctx;
	json_map(&out);
	json_key_string(&out, "event", "sight");
	json_key_string(&out, "token", s->token);
	json_key_int(&out, "index", s->index);
	json_key_string(&out, "job", s->job);
	json_key_string(&out, "state", states[s->state]);
	json_key_string(&out, "reason", s->reason);
	json_key_string(&out, "node", s->node);
	json_key_int(&out, "expected_start_ms", s->expected_start_ms);
	json_key_string(&out, "cause", cause_name(s->cause));
	json_key_string(&out, "message", s->message);
	json_key_string(&out, "remedy", s->remedy);
	json_key_int(&out, "exit_code", s->exit_code);
	json_key_int(&out, "signal", s->signal);
	json_key(&out, "cost");
	json_map(&out);
	cost_write(&s->cost, &out);
	json_end(&out);
	json_end(&out);
	print_line(&text);
}

static void done_cb(void *ctx, int rc, const char *why)
{
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_string(&out, "event", ctx);
	json_key_int(&out, "rc", rc);
	json_key_string(&out, "why", why);
	json_end(&out);
	print_line(&text);
	waiting = false;
}

static void findings_cb(void *ctx, const struct backend_finding *list, size_t count)
{
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	(void)ctx;
	json_map(&out);
	json_key_string(&out, "event", "examine");
	json_key(&out, "findings");
	json_list(&out);
	for (size_t i = 0; i < count; i++) {
		json_map(&out);
		json_key_string(&out, "level", list[i].level);
		json_key_string(&out, "what", list[i].what);
		json_key_string(&out, "fix", list[i].fix);
		json_end(&out);
	}
	json_end(&out);
	json_end(&out);
	print_line(&text);
	waiting = false;
}

static void changed_cb(void *ctx)
{
	(void)ctx;
	changes++;
}

/* "TOKEN:FIRST-LAST" or "TOKEN:JOB:FIRST-LAST", for every word. */
static struct backend_watch *make_watch(char **words, size_t count, size_t *ret_count)
{
	VEC(struct backend_watch) list = {0};
	for (size_t i = 0; i < count; i++) {
		char *token = words[i], *job = NULL;
		char *range = strrchr(token, ':');
		if (!range)
			continue;
		*range++ = '\0';
		if ((job = strchr(token, ':')))
			*job++ = '\0';
		int64_t first = number(range, 0);
		int64_t last = strchr(range, '-') ? number(strchr(range, '-') + 1, first) : first;
		for (int64_t n = first; n <= last; n++) {
			struct backend_watch watch = {.token = token,
						      .job = job,
						      .index = (uint32_t)n,
						      .batch_dir = "/",
						      .attempt_dir = "/",
						      .submitted_ms = clock_now_ms()};
			vec_push(&list, watch);
		}
	}
	*ret_count = list.len;
	return list.at;
}

static void do_submit(char **word, size_t count, struct backend_resources *r)
{
	size_t items_count = (size_t)number(word[3], 1);
	struct backend_item *items = mem_array(items_count + 1, sizeof(*items));
	for (size_t i = 0; i < items_count; i++)
		items[i] = (struct backend_item){.index = (uint32_t)i, .attempt_dir = word[2]};
	struct backend_batch batch = {.token = word[1],
				      .batch_dir = word[2],
				      .experiment_dir = word[2],
				      .resources = r,
				      .items = items,
				      .count = items_count,
				      .parallel = (uint32_t)number(word[4], 0)};
	(void)count;
	waiting = true;
	backend->ops->submit(backend, &batch, submitted_cb, NULL);
	free(items);
}

static void do_report(const char *what, char **word, size_t count, struct backend_resources *r)
{
	struct buf text = buf_make(1 << 20);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_string(&out, "event", what);
	if (strcmp(what, "room") == 0) {
		json_key_int(&out, "room", backend->ops->room(backend, r));
	} else if (strcmp(what, "check") == 0) {
		struct problems problems = {0};
		struct node *at = node_new(NODE_MAP);
		backend->ops->check(backend, r, at, &problems);
		json_key(&out, "errors");
		problems_write(&problems, &out);
		problems_free(&problems);
		node_free(at);
	} else if (strcmp(what, "preview") == 0) {
		struct error err = {0};
		char *script = count > 2 ? backend->ops->preview(backend, r, (uint64_t)number(word[1], 1),
								 (uint32_t)number(word[2], 0), &err)
					 : NULL;
		json_key_string(&out, "script", script);
		json_key_string(&out, "error", err.text);
		free(script);
	} else if (strcmp(what, "interval") == 0) {
		json_key_int(&out, "ms", backend->ops->poll_interval_ms(backend, count > 1 && word[1][0] == '1'));
	} else if (strcmp(what, "describe") == 0) {
		json_key(&out, "describe");
		backend->ops->describe(backend, &out);
		json_key_int(&out, "changes", changes);
	} else {
		json_key_string(&out, "error", "no such command");
	}
	json_end(&out);
	print_line(&text);
}

static void wait_closed_cb(uv_handle_t *handle)
{
	(void)handle;
	waiting = false;
}

static void wait_over_cb(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, wait_closed_cb);
}

static void do_command(uv_loop_t *loop, char *line)
{
	static uv_timer_t timer;
	char *word[WORDS_MAX], *rest = line;
	size_t count = 0;
	struct backend_resources r = {.cpus = 1};

	/* Words are separated by tabs: values may hold blanks. */
	while (count < WORDS_MAX && rest)
		word[count++] = strsep(&rest, "\t");
	for (size_t i = 1; i < count; i++)
		if (!strchr(word[i], ':') || strchr(word[i], '='))
			set_resource(&r, word[i]);
	size_t watched;
	struct backend_watch *watch = NULL;
	if (strcmp(word[0], "submit") == 0 && count >= 5) {
		do_submit(word, count, &r);
	} else if (strcmp(word[0], "poll") == 0) {
		watch = make_watch(word + 1, count - 1, &watched);
		waiting = true;
		backend->ops->poll(backend, watch, watched, sight_cb, done_cb, (void *)"poll");
	} else if (strcmp(word[0], "cancel") == 0) {
		watch = make_watch(word + 1, count - 1, &watched);
		waiting = true;
		backend->ops->cancel(backend, watch, watched, done_cb, (void *)"cancel");
	} else if (strcmp(word[0], "parallel") == 0 && count == 3) {
		waiting = true;
		backend->ops->set_parallel(backend, word[1], NULL, (uint32_t)number(word[2], 0), done_cb,
					   (void *)"parallel");
	} else if (strcmp(word[0], "examine") == 0) {
		waiting = true;
		slurm_examine(backend, count > 1 ? word[1] : NULL, findings_cb, NULL);
	} else if (strcmp(word[0], "wait") == 0 && count == 2) {
		waiting = true;
		uv_timer_init(loop, &timer);
		uv_timer_start(&timer, wait_over_cb, (uint64_t)number(word[1], 0), 0);
	} else {
		do_report(word[0], word, count, &r);
	}
	free(watch);
	while (waiting)
		uv_run(loop, UV_RUN_ONCE);
	free(r.options);
}

int main(int argc, char **argv)
{
	uv_loop_t loop;
	struct error err = {0};
	struct backend_config config = {.loop = &loop};
	char *line = NULL;
	size_t size = 0;
	int rc = -1;

	if ((argc != 4 && argc != 5) || token_init() < 0)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&loop);
	config.state_dir = argv[2];
	config.program = argv[3];
	config.daemon_url = argv[4]; /* NULL where it is not given */
	for (size_t i = 0; backend_table[i]; i++)
		if (strcmp(backend_table[i]->name, argv[1]) == 0)
			rc = backend_table[i]->open(&config, &backend, &err);
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_string(&out, "event", "open");
	json_key_int(&out, "rc", rc);
	json_key_string(&out, "why", rc < 0 ? err.text : NULL);
	json_end(&out);
	print_line(&text);
	if (rc < 0)
		return 1;
	backend->ops->on_change(backend, changed_cb, NULL);
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			do_command(&loop, line);
	}
	free(line);
	backend->ops->close(backend);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop) == 0 ? 0 : 3;
}
