/* `sluice login`, `sluice session` and `sluice token`: the ways into the dashboard and the REST interface. */
#include "base/json.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option login_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static const struct verb_option token_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

/* ssh splits the argument of -L at colons, and a socket's address holds 107 bytes. */
static bool login_can_forward(const char *socket)
{
	return strlen(socket) < 108 && !strchr(socket, ':');
}

/* The ways from another machine, for an address such as http://127.0.0.1:54322/#login=... */
static void login_add_tunnel(struct buf *out, const char *url, const char *folder)
{
	const char *at = strstr(url, "://");
	const char *user = getenv("USER"), *over_ssh = getenv("SSH_CONNECTION");
	char host[256] = "";
	if (!at || !over_ssh || gethostname(host, sizeof(host) - 1) < 0)
		return;
	size_t len = strcspn(at + 3, "/");
	const char *port = memrchr(at + 3, ':', len);
	if (!port)
		return;
	int port_len = (int)(at + 3 + len - port - 1);
	char *socket = mem_printf("%s/sluice.sock", folder);
	if (!user)
		user = "YOU";
	buf_add_text(out, "\nfrom your own machine:\n");
	if (login_can_forward(socket)) {
		char *forward = mem_printf("%.*s:%s", port_len, port + 1, socket);
		buf_add_text(out, "  ssh -L ");
		text_shell_quote(out, forward);
		buf_addf(out, " %s@%s\n  then open http://localhost:%.*s, which needs no link\n", user, host, port_len,
			 port + 1);
		buf_add_text(out, "or, where the server does not allow that:\n");
		free(forward);
	}
	buf_addf(out, "  ssh -L %.*s:%.*s %s@%s\n  then open the link above\n", port_len, port + 1, (int)len, at + 3,
		 user, host);
	free(socket);
}

static int login_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct node *answer = NULL;
	int status = call_begin(&call, &verb_login, argc, argv, 0, 0);
	if (status)
		return status;
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	int rc = client_post(&call.client, "/login-links", "{}", NULL, &answer, &err);
	const char *url = node_get_string(answer, "url");
	struct buf out = buf_make(65536), ways = buf_make(65536);
	if (rc == 0 && !url) {
		rc = errorf(&err, -EBADMSG, "the daemon gave no address");
	} else if (rc == 0 && options_has(&call.options, "json")) {
		struct json json = json_to(&out);
		node_write_json(answer, &json);
		buf_add_char(&out, '\n');
	} else if (rc == 0) {
		term_add_safe(&out, url);
		buf_add_char(&out, '\n');
		login_add_tunnel(&ways, url, call.client.folder);
	}
	fputs(buf_text(&out), stdout);
	fflush(stdout);
	/* `ssh HOST sluice login` has no terminal. What reads the link from a pipe gets the link alone. */
	fputs(buf_text(&ways), call.term.tty ? stdout : stderr);
	buf_free(&ways);
	buf_free(&out);
	node_free(answer);
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_login = {
	.name = "login",
	.arguments = "",
	.summary = "print a link that opens the dashboard",
	.help = "The link works once, and the browser stays signed in until the daemon is started again (30 days at most). "
		"Over ssh, the lines below it make the dashboard reachable from your own machine: best through a tunnel "
		"to the daemon's socket, which needs no link and which no other user of this machine can reach.",
	.options = login_options,
	.run = login_run,
};

/* A table of what gives access: an id, a text (`key` of each item), when it was made and when it was last used. */
static void login_print(const struct node *answer, const char *title, const char *key, const char *made,
			const char *none, const struct term *term, struct buf *out)
{
	const struct term_column columns[] = {
		{"ID", false, false},
		{title, false, true},
		{made, false, false},
		{"LAST USED", false, false},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	const struct node *items = node_get(answer, "items");
	for (size_t i = 0; items && i < items->count; i++) {
		char text[VIEW_CHARS];
		char *id = view_value(node_get(items->items[i], "id"));
		const char *name = node_get_string(items->items[i], key);
		term_table_add(&table, TERM_BOLD, id);
		term_table_add(&table, TERM_PLAIN, name ? name : "not known");
		view_ago(node_get(items->items[i], "created"), "not known", text);
		term_table_add(&table, TERM_PLAIN, text);
		view_ago(node_get(items->items[i], "used"), "never", text);
		term_table_add(&table, TERM_PLAIN, text);
		free(id);
	}
	if (items && items->count)
		term_table_write(&table, term, out);
	else
		buf_add_text(out, none);
	term_table_free(&table);
}

static void token_print(const struct node *answer, const struct term *term, struct buf *out)
{
	login_print(answer, "NAME", "name", "CREATED", "no tokens\n", term, out);
}

static int token_create(struct call *call, const char *name, struct buf *out, struct error *err)
{
	struct buf body = buf_make(65536);
	struct json json = json_to(&body);
	struct node *answer = NULL;
	json_map(&json);
	json_key_string(&json, "name", name);
	json_end(&json);
	int rc = client_post(&call->client, "/tokens", buf_text(&body), NULL, &answer, err);
	const char *secret = node_get_string(answer, "token");
	if (!secret)
		secret = node_get_string(answer, "secret");
	struct json whole = json_to(out);
	if (rc == 0 && options_has(&call->options, "json"))
		node_write_json(answer, &whole);
	else if (rc == 0 && secret)
		term_add_safe(out, secret);
	else if (rc == 0)
		rc = errorf(err, -EBADMSG, "the daemon gave no token");
	if (rc == 0)
		buf_add_char(out, '\n');
	if (rc == 0 && call->term.tty)
		buf_add_text(out, "it is not shown again\n");
	node_free(answer);
	buf_free(&body);
	return rc;
}

/* DELETE of "/tokens/" or "/sessions/" with the id behind it. */
static int login_delete(struct call *call, const char *list, const char *id, struct error *err)
{
	struct buf path = buf_make(4096);
	struct reply reply;
	buf_add_text(&path, list);
	client_add_encoded(&path, id);
	struct request request = {.method = "DELETE", .path = buf_text(&path)};
	int rc = client_send(&call->client, &request, &reply, err);
	if (rc == 0) {
		rc = reply.status >= 300 ? client_problem(&reply, err) : 0;
		reply_free(&reply);
	}
	buf_free(&path);
	return rc;
}

static int token_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf out = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_token, argc, argv, 1, 2);
	if (status)
		return status;
	const char *action = call.options.args.at[0];
	const char *argument = call.options.args.len > 1 ? call.options.args.at[1] : NULL;
	bool create = strcmp(action, "create") == 0, list = strcmp(action, "list") == 0;
	bool revoke = strcmp(action, "revoke") == 0;
	int rc = 0;
	if (!create && !list && !revoke)
		rc = errorf(&err, -EINVAL, "expected create, list or revoke, got '%s'", action);
	else if (!list && !argument)
		rc = errorf(&err, -EINVAL,
			    create ? "give the token a name: sluice token create NAME"
				   : "name the token: sluice token revoke ID");
	else if (list && argument)
		rc = errorf(&err, -EINVAL, "'%s' is one argument too many", argument);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_token, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	rc = create    ? token_create(&call, argument, &out, &err)
		: list ? call_get(&call, "/tokens", token_print, &out, &err)
		       : login_delete(&call, "/tokens/", argument, &err);
	fputs(buf_text(&out), stdout);
	buf_free(&out);
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_token = {
	.name = "token",
	.arguments = "create NAME | list | revoke ID",
	.summary = "bearer tokens for programs that use the REST interface",
	.help = "A token gives access to everything that you can do with sluice: protect it like a password. It is shown only once.",
	.options = token_options,
	.run = token_run,
};

static const struct verb_option session_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static void session_print(const struct node *answer, const struct term *term, struct buf *out)
{
	login_print(answer, "BROWSER", "browser", "SIGNED IN", "no browser is signed in\n", term, out);
}

static int session_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf out = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_session, argc, argv, 1, 2);
	if (status)
		return status;
	const char *action = call.options.args.at[0];
	const char *argument = call.options.args.len > 1 ? call.options.args.at[1] : NULL;
	bool list = strcmp(action, "ls") == 0, revoke = strcmp(action, "revoke") == 0;
	int rc = 0;
	if (!list && !revoke)
		rc = errorf(&err, -EINVAL, "expected ls or revoke, got '%s'", action);
	else if (revoke && !argument)
		rc = errorf(&err, -EINVAL, "name the session: sluice session revoke ID");
	else if (list && argument)
		rc = errorf(&err, -EINVAL, "'%s' is one argument too many", argument);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_session, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	rc = list ? call_get(&call, "/sessions", session_print, &out, &err)
		  : login_delete(&call, "/sessions/", argument, &err);
	fputs(buf_text(&out), stdout);
	buf_free(&out);
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_session = {
	.name = "session",
	.arguments = "ls | revoke ID",
	.summary = "the browsers that are signed in",
	.help = "A session begins with a link of `sluice login` and ends with `revoke`, after 30 days, or when the daemon is "
		"started again.",
	.options = session_options,
	.run = session_run,
};
