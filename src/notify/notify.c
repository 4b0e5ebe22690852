/* See notify.h. */
#include "notify/notify.h"

#include "notify/way.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/settings.h"
#include "base/token.h"
#include "store/json.h"
#include "store/outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define NOTIFY_WAYS_MAX 4

static const char *const notify_kinds[NOTIFY_KIND_COUNT] = {"end", "pause", "stall"};

struct notify_channel {
	struct notify *notify;
	const struct notify_way *way;
	char *target; /* NULL: it is off */
	struct notify_sending *sending; /* NULL: nothing */
	unsigned failures; /* since the last delivery */
	int64_t after_ms; /* after a failure: no message is tried again before this time, monotonic; 0 */
	int64_t new_after_ms; /* and none for the first time before this one */
};

struct notify {
	uv_loop_t *loop;
	struct store *store;
	char *state_dir, *daemon_url;
	char host[256];
	unsigned kinds; /* that are sent, one bit each */
	struct notify_channel channels[NOTIFY_WAYS_MAX];
	uv_timer_t timer; /* the next try */
};

/* A program that is sending a message. */
struct notify_sending {
	struct notify_channel *channel; /* NULL: the daemon ends */
	struct proc *proc;
	const char *program;
	struct store_message message;
};

static struct notify_channel *notify_channel_next(struct notify *notify, struct notify_channel *last)
{
	size_t i = last ? (size_t)(last - notify->channels) + 1 : 0;
	return i < notify_way_count ? &notify->channels[i] : NULL;
}

static void notify_read_kinds(struct notify *notify)
{
	char *events = store_read_notify_setting(notify->store, "events");
	struct node *list = NULL;
	notify->kinds = (1u << NOTIFY_KIND_COUNT) - 1;
	if (events && node_parse_json(events, strlen(events), &list, NULL) == 0) {
		notify->kinds = 0;
		for (size_t i = 0; i < list->count; i++)
			for (size_t k = 0; k < NOTIFY_KIND_COUNT; k++)
				if (node_string(list->items[i]) && !strcmp(list->items[i]->string, notify_kinds[k]))
					notify->kinds |= 1u << k;
	}
	node_free(list);
	free(events);
}

static void notify_read_settings(struct notify *notify)
{
	for (struct notify_channel *c = NULL; (c = notify_channel_next(notify, c));) {
		free(c->target);
		c->target = store_read_notify_setting(notify->store, c->way->name);
	}
	notify_read_kinds(notify);
}

static void notify_timer_cb(uv_timer_t *timer)
{
	notify_send(timer->data);
}

struct notify *notify_open(const struct notify_config *config)
{
	struct notify *notify = mem_alloc(sizeof(*notify));
	notify->loop = config->loop;
	notify->store = config->store;
	notify->state_dir = mem_strdup(config->state_dir);
	notify->daemon_url = config->daemon_url ? mem_strdup(config->daemon_url) : NULL;
	gethostname(notify->host, sizeof(notify->host) - 1);
	for (size_t i = 0; i < notify_way_count; i++)
		notify->channels[i] = (struct notify_channel){.notify = notify, .way = &notify_ways[i]};
	uv_timer_init(notify->loop, &notify->timer);
	notify->timer.data = notify;
	notify_read_settings(notify);
	uv_timer_start(&notify->timer, notify_timer_cb, 1, 0);
	return notify;
}

static void notify_closed_cb(uv_handle_t *handle)
{
	struct notify *notify = handle->data;
	for (size_t i = 0; i < notify_way_count; i++)
		free(notify->channels[i].target);
	free(notify->state_dir);
	free(notify->daemon_url);
	free(notify);
}

void notify_close(struct notify *notify)
{
	if (!notify)
		return;
	for (struct notify_channel *c = NULL; (c = notify_channel_next(notify, c));) {
		if (!c->sending)
			continue;
		c->sending->channel = NULL;
		proc_kill(c->sending->proc);
		c->sending = NULL;
	}
	uv_close((uv_handle_t *)&notify->timer, notify_closed_cb);
}

/* Several tasks of an experiment that stall within minutes are one message. */
static int notify_add_stall(struct notify_channel *c, const struct store_message *message)
{
	struct store *store = c->notify->store;
	int64_t sending = c->sending ? c->sending->message.id : 0;
	int rc = store_add_to_message(store, c->way->name, message, sending);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	int64_t last = store_last_message_ms(store, c->way->name, message->kind, message->experiment);
	int64_t due = last + NOTIFY_STALL_MS > message->created_ms ? last + NOTIFY_STALL_MS : message->created_ms;
	return store_add_message(store, c->way->name, message, last ? due : message->created_ms);
}

static bool notify_is_wanted(const struct notify *notify, enum notify_kind kind)
{
	bool any = false;
	for (size_t i = 0; i < notify_way_count; i++)
		any |= notify->channels[i].target != NULL;
	return any && notify->kinds & 1u << kind;
}

int notify_add(struct notify *notify, enum notify_kind kind, int64_t experiment, int64_t task, const char *text)
{
	char token[TOKEN_ID_CHARS];
	if (!notify_is_wanted(notify, kind))
		return 0;
	struct buf summary = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&summary);
	int rc = store_json_experiment(notify->store, experiment, &json);
	if (rc < 0) {
		buf_free(&summary);
		return rc == -ENOENT ? 0 : rc; /* it is being removed */
	}
	char *whole = buf_take(&summary);
	for (struct notify_channel *c = NULL; rc == 0 && (c = notify_channel_next(notify, c));) {
		token_make_id(token);
		const struct store_message message = {.token = token,
						      .kind = (char *)notify_kinds[kind],
						      .experiment = experiment,
						      .task = task,
						      .summary = whole,
						      .text = (char *)(text ? text : ""),
						      .created_ms = clock_now_ms()};
		if (!c->target)
			continue;
		rc = kind == NOTIFY_STALL
			? notify_add_stall(c, &message)
			: store_add_message(notify->store, c->way->name, &message, message.created_ms);
	}
	free(whole);
	return rc < 0 ? rc : store_forget_messages(notify->store, clock_now_ms() - NOTIFY_KEEP_MS);
}

/* Ends the transaction of one change: commits when rc is 0. */
static int notify_commit(struct notify *notify, int rc, struct error *err)
{
	if (rc == 0)
		return store_commit(notify->store, err);
	store_rollback(notify->store);
	return errorf(err, rc, "the database could not be written: %s", strerror(-rc));
}

static int notify_record(struct notify *notify, const struct store_message *message, const char *error)
{
	bool test = strcmp(message->kind, "test") == 0;
	bool late = clock_now_ms() - message->created_ms > NOTIFY_GIVE_UP_MS;
	enum store_message_state state = !error ? STORE_MESSAGE_SENT
		: test || late                  ? STORE_MESSAGE_GIVEN_UP
						: STORE_MESSAGE_WAITS;
	struct error why = {0};
	int rc = store_begin(notify->store, &why);
	if (rc == 0)
		rc = notify_commit(notify, store_end_message(notify->store, message->id, state, error, clock_now_ms()),
				   &why);
	if (rc < 0)
		log_error("a message was %s and that could not be recorded, so it is sent again: %s",
			  error ? "not delivered" : "delivered", why.text);
	return rc;
}

/* The message has been tried. NULL: it was delivered. */
static void notify_tried(struct notify_channel *c, const struct store_message *message, const char *error)
{
	int rc = notify_record(c->notify, message, error);
	bool test = strcmp(message->kind, "test") == 0;
	if (error)
		log_warning("%s: a message could not be delivered: %s", c->way->name, error);
	if (!error && rc == 0) {
		c->failures = 0;
		c->after_ms = c->new_after_ms = 0;
	} else if (!test || rc < 0) {
		int64_t wait = NOTIFY_RETRY_MS;
		for (unsigned i = 0; i < c->failures && wait < NOTIFY_RETRY_MAX_MS; i++)
			wait *= 2;
		c->failures++;
		c->new_after_ms = clock_mono_ms() + NOTIFY_RETRY_MS;
		c->after_ms = clock_mono_ms() + (wait < NOTIFY_RETRY_MAX_MS ? wait : NOTIFY_RETRY_MAX_MS);
	}
}

static void notify_sent_cb(void *ctx, const struct proc_result *result)
{
	struct notify_sending *sending = ctx;
	struct notify_channel *c = sending->channel;
	if (c) {
		char *error = c->way->failed(sending->program, result);
		c->sending = NULL;
		notify_tried(c, &sending->message, error);
		free(error);
		notify_send(c->notify);
	}
	store_message_free(&sending->message);
	free(sending);
}

/* The address of the dashboard for people: the first one of `web: {urls: […]}`, else the daemon's own. Without a slash at
 * the end. The caller frees it; NULL: none. */
static char *notify_find_url(const struct notify *notify)
{
	struct node *settings = NULL;
	char *url = NULL;
	if (settings_read(notify->state_dir, &settings, NULL) == 0) {
		const struct node *urls = node_get(node_get(settings, "web"), "urls");
		if (urls && urls->count && node_string(urls->items[0]))
			url = mem_strdup(urls->items[0]->string);
	}
	node_free(settings);
	if (!url && notify->daemon_url)
		url = mem_strdup(notify->daemon_url);
	for (size_t len = url ? strlen(url) : 0; len && url[len - 1] == '/';)
		url[--len] = '\0';
	return url;
}

/* Starts the program. Takes the message. */
static void notify_start(struct notify_channel *c, struct store_message *take)
{
	struct notify *notify = c->notify;
	const char *missing = NULL, *program = c->way->program(&missing);
	struct notify_sending *sending = mem_alloc(sizeof(*sending));
	struct error err = {0};
	int rc = 0;
	sending->message = *take;
	sending->channel = c;
	sending->program = program;
	if (program) {
		struct notify_call call;
		char *url = notify_find_url(notify);
		const struct notify_message message = {&sending->message, url, notify->host};
		c->way->make(program, c->target, &message, &call);
		const struct proc_spec spec = {.argv = (const char *const *)call.argv,
					       .cwd = "/",
					       .input = buf_text(&call.input),
					       .input_len = call.input.len,
					       .timeout_ms = call.timeout_ms,
					       .output_max = 65536};
		rc = proc_start(notify->loop, &spec, notify_sent_cb, sending, &sending->proc, &err);
		notify_call_free(&call);
		free(url);
	}
	if (program && rc == 0) {
		c->sending = sending;
		return;
	}
	notify_tried(c, &sending->message, program ? err.text : missing);
	store_message_free(&sending->message);
	free(sending);
}

/* 0: nothing waits; else when to look again, in ms from now. A message that was refused, perhaps for good, must not hold up a
 * new one for as long as it waits itself. */
static int64_t notify_wait_ms(const struct notify_channel *c)
{
	int64_t next = 0;
	for (int tried = 0; tried < 2 && c->target && !c->sending; tried++) {
		int64_t due = store_next_message_ms(c->notify->store, c->way->name, tried);
		int64_t after_ms = tried ? c->after_ms : c->new_after_ms;
		if (!due)
			continue;
		int64_t wait = due - clock_now_ms(), held = after_ms ? after_ms - clock_mono_ms() : 0;
		wait = wait > held ? wait : held;
		wait = wait > 1 ? wait : 1;
		next = next && next < wait ? next : wait;
	}
	return next;
}

/* Starts the next message of the channel, where one may be sent now. */
static void notify_send_next(struct notify_channel *c)
{
	struct store_message message;
	if (!c->target || c->sending || clock_mono_ms() < c->new_after_ms ||
	    store_next_message(c->notify->store, c->way->name, clock_now_ms(), &message) < 0)
		return;
	if (message.tries && clock_mono_ms() < c->after_ms)
		store_message_free(&message);
	else
		notify_start(c, &message);
}

void notify_send(struct notify *notify)
{
	int64_t next = 0;
	for (struct notify_channel *c = NULL; (c = notify_channel_next(notify, c));) {
		notify_send_next(c);
		int64_t wait = notify_wait_ms(c);
		next = wait && (!next || wait < next) ? wait : next;
	}
	if (next)
		uv_timer_start(&notify->timer, notify_timer_cb, (uint64_t)next, 0);
	else
		uv_timer_stop(&notify->timer);
}

/* The addresses and kinds that the body names, checked. */
static int notify_check(const struct node *body, struct error *err)
{
	const struct node *events = node_get(body, "events");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < notify_way_count; i++) {
		const struct node *target = node_get(body, notify_ways[i].name);
		if (target && target->type != NODE_NULL && target->type != NODE_STRING)
			rc = errorf(err, -EINVAL, "%s must be a text, or null for none, not %s", notify_ways[i].name,
				    node_type_name(target));
		else if (node_string(target) && *target->string)
			rc = notify_ways[i].check(target->string, err);
	}
	for (size_t i = 0; rc == 0 && events && i < events->count; i++) {
		const char *name = node_string(events->items[i]);
		bool known = false;
		for (size_t k = 0; k < NOTIFY_KIND_COUNT; k++)
			known |= name && strcmp(name, notify_kinds[k]) == 0;
		if (!known)
			rc = errorf(err, -EINVAL, "events are end, pause and stall, not %.40s", name ? name : "this");
	}
	return rc;
}

static int notify_store(struct notify *notify, const struct node *body)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < notify_way_count; i++) {
		const char *name = notify_ways[i].name, *target = node_get_string(body, name);
		if (!node_get(body, name))
			continue;
		rc = store_set_notify_setting(notify->store, name, target && *target ? target : NULL);
		if (rc == 0 && !(target && *target))
			rc = store_drop_messages(notify->store, name);
	}
	if (rc == 0 && node_get(body, "events")) {
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json json = json_to(&text);
		node_write_json(node_get(body, "events"), &json);
		rc = store_set_notify_setting(notify->store, "events", buf_text(&text));
		buf_free(&text);
	}
	return rc;
}

/* A new address, or a test: what failed before may work now. */
static void notify_try_now(struct notify *notify)
{
	for (struct notify_channel *c = NULL; (c = notify_channel_next(notify, c));) {
		c->failures = 0;
		c->after_ms = c->new_after_ms = 0;
	}
	uv_timer_start(&notify->timer, notify_timer_cb, 1, 0);
}

int notify_change(struct notify *notify, const struct node *body, struct error *err)
{
	int rc = notify_check(body, err);
	if (rc == 0)
		rc = store_begin(notify->store, err);
	if (rc == 0)
		rc = notify_commit(notify, notify_store(notify, body), err);
	if (rc < 0)
		return rc;
	notify_read_settings(notify);
	notify_try_now(notify);
	return 0;
}

static int notify_add_tests(struct notify *notify)
{
	char token[TOKEN_ID_CHARS], text[400];
	int rc = 0;
	snprintf(text, sizeof(text), "A test message of sluice on %s: messages arrive here.", notify->host);
	for (struct notify_channel *c = NULL; rc == 0 && (c = notify_channel_next(notify, c));) {
		token_make_id(token);
		const struct store_message message = {
			.token = token, .kind = (char *)"test", .text = text, .created_ms = clock_now_ms()};
		if (c->target)
			rc = store_add_message(notify->store, c->way->name, &message, message.created_ms);
	}
	return rc;
}

int notify_test(struct notify *notify, struct error *err)
{
	bool any = false;
	for (size_t i = 0; i < notify_way_count; i++)
		any |= notify->channels[i].target != NULL;
	if (!any)
		return errorf(err, -EINVAL, "set the address of a webhook or of mail first");
	int rc = store_begin(notify->store, err);
	if (rc == 0)
		rc = notify_commit(notify, notify_add_tests(notify), err);
	if (rc == 0)
		notify_try_now(notify);
	return rc;
}

static int notify_write_channel(struct notify_channel *c, struct json *out)
{
	const char *missing = NULL, *program = c->way->program(&missing);
	json_map(out);
	json_key_string(out, "name", c->way->name);
	json_key_string(out, "target", c->target);
	json_key_string(out, "program", program);
	json_key_string(out, "missing", program ? NULL : missing);
	int rc = store_json_channel(c->notify->store, c->way->name, out);
	int64_t wait = rc == 0 ? notify_wait_ms(c) : 0;
	json_key_time(out, "next", wait ? clock_now_ms() + wait : 0);
	json_end(out);
	return rc;
}

int notify_write(struct notify *notify, struct json *out)
{
	int rc = 0;
	json_map(out);
	json_key(out, "events");
	json_list(out);
	for (size_t k = 0; k < NOTIFY_KIND_COUNT; k++)
		if (notify->kinds & 1u << k)
			json_put_string(out, notify_kinds[k]);
	json_end(out);
	json_key(out, "channels");
	json_list(out);
	for (struct notify_channel *c = NULL; rc == 0 && (c = notify_channel_next(notify, c));)
		rc = notify_write_channel(c, out);
	json_end(out);
	json_end(out);
	return rc;
}

/* The state of a channel in words. */
static void notify_examine_channel(struct notify_channel *c, notify_finding_f found, void *ctx)
{
	const char *missing = NULL, *name = c->way->name;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&text);
	struct node *now = NULL;
	json_map(&json);
	int rc = store_json_channel(c->notify->store, name, &json);
	json_end(&json);
	if (rc == 0)
		rc = node_parse_json(buf_text(&text), text.len, &now, NULL);
	const char *error = node_get_string(now, "error");
	int64_t waiting = node_get_int(now, "waiting", 0);
	char *what;
	bool there = c->way->program(&missing) != NULL;
	if (!there)
		what = mem_printf("notifications by %s: %s", name, missing);
	else if (error)
		what = mem_printf("notifications by %s: the last message could not be delivered: %s; %" PRId64
				  " wait to be sent again",
				  name, error, waiting);
	else
		what = mem_printf("notifications by %s: no message has failed", name);
	found(ctx, !there || error ? "error" : "ok", what,
	      error ? "`sluice notify` shows and changes the address, `sluice notify --test` tries it" : NULL);
	free(what);
	node_free(now);
	buf_free(&text);
}

void notify_examine(struct notify *notify, notify_finding_f found, void *ctx)
{
	for (struct notify_channel *c = NULL; (c = notify_channel_next(notify, c));)
		if (c->target)
			notify_examine_channel(c, found, ctx);
}
