/* `sluice notify`: messages by webhook and mail. */
#include "cli/verbs.h"
#include "cli/view.h"

#include "base/json.h"
#include "base/pace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option notify_options[] = {
	{"webhook", "URL", "send messages there; `-` reads the address from stdin, `off` removes it"},
	{"mail", "ADDRESS", "send them by mail, with the site's sendmail or mail program; `off` removes it"},
	{"on", "LIST", "what messages are about: end, pause, stall (all three)"},
	{"test", NULL, "send a test message now, and say whether it was delivered"},
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

/* An address may hold a secret, which would stand in the list of processes: one line of stdin instead. */
static int notify_read_target(const char *value, char *line, size_t size, const char **ret, struct error *err)
{
	*ret = strcmp(value, "off") == 0 ? NULL : value;
	if (strcmp(value, "-") != 0)
		return 0;
	if (!fgets(line, (int)size, stdin))
		return errorf(err, -EINVAL, "stdin has no address");
	line[strcspn(line, "\r\n")] = '\0';
	*ret = line;
	return 0;
}

static int notify_write_body(const struct options *options, struct buf *out, struct error *err)
{
	static const char *const names[] = {"webhook", "mail"};
	struct json json = json_to(out);
	json_map(&json);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char line[4096];
		const char *target;
		if (!options_has(options, names[i]))
			continue;
		int rc = notify_read_target(options_get(options, names[i]), line, sizeof(line), &target, err);
		if (rc < 0)
			return rc;
		json_key_string(&json, names[i], target);
	}
	if (options_has(options, "on")) {
		const char *text = options_get(options, "on");
		json_key(&json, "events");
		json_list(&json);
		for (size_t len; *text; text += len + (text[len] == ',')) {
			len = strcspn(text, ",");
			json_put_string_n(&json, text, len);
		}
		json_end(&json);
	}
	json_end(&json);
	return 0;
}

static void notify_add_channel(const struct node *channel, struct buf *out)
{
	const char *name = node_get_string(channel, "name"), *target = node_get_string(channel, "target");
	const char *error = node_get_string(channel, "error"), *missing = node_get_string(channel, "missing");
	int64_t waiting = node_get_int(channel, "waiting", 0);
	buf_addf(out, "%-8s ", name ? name : "?");
	term_add_safe(out, target ? target : "off");
	buf_add_char(out, '\n');
	if (target && missing) {
		buf_add_text(out, "         ");
		term_add_safe(out, missing);
		buf_add_char(out, '\n');
	}
	if (target && error) {
		buf_add_text(out, "         the last try failed: ");
		term_add_safe(out, error);
		buf_add_char(out, '\n');
	}
	if (waiting)
		buf_addf(out, "         %" PRId64 " message%s to be delivered\n", waiting,
			 waiting == 1 ? " waits" : "s wait");
}

static void notify_print(const struct node *answer, const struct term *term, struct buf *out)
{
	const struct node *channels = node_get(answer, "channels"), *events = node_get(answer, "events");
	(void)term;
	for (size_t i = 0; channels && i < channels->count; i++)
		notify_add_channel(channels->items[i], out);
	buf_add_text(out, "on      ");
	for (size_t i = 0; events && i < events->count; i++)
		buf_addf(out, "%s%s", i ? ", " : " ", events->items[i]->string ? events->items[i]->string : "?");
	buf_add_text(out, events && events->count ? "\n" : " nothing\n");
}

static bool notify_is_testing(const struct node *answer)
{
	const struct node *channels = node_get(answer, "channels");
	bool testing = false;
	for (size_t i = 0; channels && i < channels->count; i++) {
		const char *state = node_get_string(node_get(channels->items[i], "test"), "state");
		testing |= node_get_string(channels->items[i], "target") && state && strcmp(state, "sending") == 0;
	}
	return testing;
}

/* Waits for the result of the test. Returns the exit status. */
static int notify_say_tests(struct node *answer)
{
	const struct node *channels = node_get(answer, "channels");
	int status = 0;
	for (size_t i = 0; channels && i < channels->count; i++) {
		const struct node *channel = channels->items[i], *test = node_get(channel, "test");
		const char *state = node_get_string(test, "state"), *error = node_get_string(test, "error");
		struct buf line = buf_make(BUF_UNLIMITED);
		if (!node_get_string(channel, "target"))
			continue;
		bool sent = state && strcmp(state, "sent") == 0;
		buf_addf(&line, "%s: %s", node_get_string(channel, "name"),
			 sent ? "the test message was delivered" : "the test message could not be delivered: ");
		if (!sent)
			term_add_safe(&line, error ? error : "no answer yet");
		puts(buf_text(&line));
		buf_free(&line);
		status |= !sent;
	}
	return status;
}

static int notify_test(struct call *call)
{
	struct node *answer = NULL;
	struct error err;
	struct buf json = buf_make(BUF_UNLIMITED);
	int rc = client_post(&call->client, "/notify/test", "{}", NULL, &answer, &err);
	for (int i = 0; rc == 0 && i < 2 * NOTIFY_SEND_MS / NOTIFY_LOOK_MS && notify_is_testing(answer); i++) {
		usleep(NOTIFY_LOOK_MS * 1000);
		node_free(answer);
		answer = NULL;
		buf_clear(&json);
		rc = client_get(&call->client, "/notify", &json, &answer, &err);
	}
	int status = rc < 0 ? call_fail(&err) : notify_say_tests(answer);
	node_free(answer);
	buf_free(&json);
	return status;
}

static int notify_run(int argc, char **argv)
{
	struct call call;
	struct error err = {0};
	struct node *answer = NULL;
	struct buf body = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_notify, argc, argv, 0, 0);
	if (status)
		return status;
	int rc = notify_write_body(&call.options, &body, &err);
	bool change = body.len > strlen("{}"), test = options_has(&call.options, "test");
	if (rc < 0)
		status = call_usage(&verb_notify, &err);
	else
		status = call_connect(&call);
	if (!status && change) {
		if (client_post(&call.client, "/notify", buf_text(&body), NULL, &answer, &err) < 0)
			status = call_fail(&err);
		node_free(answer);
	}
	if (!status && test)
		status = notify_test(&call);
	if (!status && (!test || options_has(&call.options, "json")))
		status = call_show(&call, "/notify", notify_print);
	buf_free(&body);
	return call_end(&call, status);
}

const struct verb verb_notify = {
	.name = "notify",
	.arguments = "[options]",
	.summary = "messages when an experiment ends or pauses, or a task stalls",
	.help = "Without options it shows the addresses, and whether the last messages were delivered.\n"
		"\n"
		"  sluice notify --mail ann@example.org\n"
		"  sluice notify --webhook - < address-of-the-webhook\n"
		"  sluice notify --on end,pause --test\n"
		"\n"
		"A webhook gets a POST with JSON, whose `text` Slack and Mattermost show; see `Notification` in\n"
		"/api/v1/openapi.json. It is sent by the program curl. A message that cannot be delivered is tried again\n"
		"for four days, also after a restart of the daemon. It may arrive twice, with the same `id`.",
	.options = notify_options,
	.run = notify_run,
};
