/* What messages say, and what the programs that send them get. */
#include "notify/way.h"

#include "base/node.h"

#include "../unit.h"

#include <errno.h>

static const char summary[] =
	"{\"id\":\"e3\",\"name\":\"net\\r\\nBcc: x@y\\u202e\",\"state\":\"finished\",\"tasks\":{\"total\":4,\"finished\":3,"
	"\"error\":1},\"best\":{\"task\":2,\"value\":0.123456},\"objective\":[{\"metric\":\"loss\",\"goal\":\"min\"}]}";

static char *sentence(const struct store_message *row)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	notify_add_sentence(row, &out);
	return buf_take(&out);
}

static struct store_message message(const char *kind, const char *text)
{
	return (struct store_message){.id = 1,
				      .experiment = 3,
				      .task = 7,
				      .many = 1,
				      .token = (char *)"0123456789abcdef0123456789abcdef",
				      .kind = (char *)kind,
				      .summary = (char *)summary,
				      .text = (char *)text,
				      .created_ms = 1790000000000};
}

static void sentences_are_one_line_whatever_the_names_hold(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *text, *expected;
		int64_t many;
	} rows[] = {
		{"end", "", "net  Bcc: x@y  (e3) finished: 3 of 4 tasks finished, 1 failed. Best loss 0.1235 (e3/2).",
		 1},
		{"pause", "a\nb\x1b[1m\xff", "net  Bcc: x@y  (e3) is paused: a b [1m\xef\xbf\xbd", 1},
		{"pause", "`sluice resume e3` goes on", "net  Bcc: x@y  (e3) is paused: sluice resume e3 goes on", 1},
		{"stall", "makes no progress: x", "net  Bcc: x@y  (e3): task e3/7 makes no progress: x", 1},
		{"stall", "makes no progress: x",
		 "net  Bcc: x@y  (e3): 5 tasks make no progress. The newest of them makes no progress: x", 5},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct store_message row = message(rows[i].kind, rows[i].text);
		row.many = rows[i].many;
		char *text = sentence(&row);
		assert_string_equal(text, rows[i].expected);
		free(text);
	}
}

/* Programs read their input line by line: a value with a line break would be an option of its own. */
static void curl_gets_one_line_for_each_option(void **state)
{
	(void)state;
	struct store_message row = message("pause", "\"\nurl = \"file:///etc/passwd\" \\");
	const struct notify_message whole = {&row, "http://127.0.0.1:1", "host"};
	struct notify_call call;
	notify_ways[0].make("curl", "https://example.org/\"x", &whole, &call);
	const char *text = buf_text(&call.input), *data = strstr(text, "\ndata-raw = \"");
	size_t urls = 0;
	for (const char *at = text; (at = strstr(at, "\nurl = ")); at++)
		urls++;
	assert_int_equal(urls, 1);
	assert_non_null(strstr(text, "\nurl = \"https://example.org/\\\"x\"\n"));
	assert_non_null(data);
	assert_null(call.argv[4]);
	assert_string_equal(call.argv[1], "-q");
	notify_call_free(&call);
}

/* `~!` at the begin of a line is a command for some mail programs. */
static void the_text_for_mail_has_no_line_that_begins_with_a_tilde(void **state)
{
	(void)state;
	struct store_message row = message("test", "~!touch /tmp/x");
	const struct notify_message whole = {&row, "http://127.0.0.1:1", "host"};
	struct notify_call call;
	row.experiment = row.task = 0;
	notify_ways[1].make("mail", "ann", &whole, &call);
	assert_string_equal(buf_text(&call.input), "sluice: ~!touch /tmp/x\n\nhttp://127.0.0.1:1\n");
	assert_string_equal(call.argv[3], "ann");
	notify_call_free(&call);
}

static void addresses_are_checked(void **state)
{
	(void)state;
	static const char *const bad[2][14] = {
		{"", "ftp://a", "https://a b", "http://a\n", "https://\xc3\xa9", "file:///x"},
		/* The last ones are files or commands for mailx. */
		{"-f", "a@b@c", "a@", "@b", "a,b", "a\nb", "+f", "a/../../b", ".", "`id`", "!x", "|sh", "~a", "%a"},
	};
	static const char *const good[2][2] = {{"https://a/b?c={d}", "http://[::1]:80/"}, {"ann", "a.b+c@x-y.org"}};
	struct error err;
	for (size_t way = 0; way < 2; way++) {
		for (size_t i = 0; i < 14 && bad[way][i]; i++)
			assert_int_equal(notify_ways[way].check(bad[way][i], &err), -EINVAL);
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(notify_ways[way].check(good[way][i], &err), 0);
	}
}

#define HEADERS(status) "HTTP/1.1 " status "\r\nServer: 200\r\n\r\n"

static void answers_of_curl_are_understood(void **state)
{
	(void)state;
	static const struct {
		const char *out, *err, *expected;
		int exit_code;
		bool overflow;
	} rows[] = {
		{HEADERS("200 OK") "ok", "", NULL, 0, false},
		{"HTTP/2 204 \r\n\r\n", "", NULL, 0, false},
		{HEADERS("302 Found"), "", "the receiver answered with status 302: the address has moved", 0, false},
		{HEADERS("404 Not Found") "no_service\n200", "", "the receiver answered with status 404: no_service", 0,
		 false},
		{HEADERS("500 x"), "", "the receiver answered with status 500", 0, false},
		{"HTTP/1.0 500 x\na: b\n\nno\n", "", "the receiver answered with status 500: no", 0, false},
		{HEADERS("100 Continue") HEADERS("200 OK") "ok", "", NULL, 0, false},
		{HEADERS("100 Continue") HEADERS("503 x") "HTTP/1.1 200 OK", "",
		 "the receiver answered with status 503: HTTP/1.1 200 OK", 0, false},
		/* Cut: longer than what is kept of it. */
		{HEADERS("200 OK") "<html>\nxxxx", "", NULL, 0, true},
		{HEADERS("500 x") "err\n2xxxx", "", "the receiver answered with status 500: err", 0, true},
		{"200 ok", "", "the receiver's answer is not one of HTTP", 0, false},
		{"", "curl: (6) Could not resolve host: x\n", "curl: (6) Could not resolve host: x", 6, false},
		{HEADERS("100 Continue"), "", "curl ended with exit code 28", 28, false},
		/* The time was up, or the connection lost, in the middle of the body: it has the message. */
		{HEADERS("200 OK") "x", "curl: (28) Operation timed out\n", NULL, 28, false},
		{HEADERS("200 OK") "x", "", NULL, 18, false},
		{HEADERS("503 x") "x", "", "the receiver answered with status 503: x", 18, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct proc_result result = {.exit_code = rows[i].exit_code,
					     .overflow = rows[i].overflow,
					     .out = buf_make(BUF_UNLIMITED),
					     .err = buf_make(BUF_UNLIMITED)};
		buf_add_text(&result.out, rows[i].out);
		buf_add_text(&result.err, rows[i].err);
		char *why = notify_ways[0].failed("curl", &result);
		if (rows[i].expected)
			assert_string_equal(why, rows[i].expected);
		else
			assert_null(why);
		free(why);
		proc_result_free(&result);
	}
}

static void a_mail_program_that_fails_is_named(void **state)
{
	(void)state;
	const struct proc_result result = {.exit_code = 1};
	char *why = notify_ways[1].failed("mail", &result);
	assert_string_equal(why, "mail ended with exit code 1");
	free(why);
}

/* A document of a webhook whose summary has these two texts, read back. */
static struct node *document(size_t description, size_t parameter)
{
	struct store_message row = message("end", "");
	struct buf text = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	const struct notify_message whole = {&row, "http://127.0.0.1:1", "host"};
	struct node *read = NULL;
	buf_add_text(&text, "{\"id\":\"e3\",\"name\":\"net\",\"description\":\"a");
	for (size_t i = 0; i < description; i++)
		buf_add_text(&text, i % 2 ? "\\\"" : "é");
	buf_add_text(&text, "\",\"best\":{\"parameters\":{\"p\":\"");
	for (size_t i = 0; i < parameter; i++)
		buf_add_text(&text, "\\\"");
	buf_add_text(&text, "\"}},\"state\":\"finished\"}");
	row.summary = (char *)buf_text(&text);
	notify_add_json(&whole, &out);
	assert_in_range(out.len, 1, 48 << 10);
	assert_int_equal(node_parse_json(buf_text(&out), out.len, &read, NULL), 0);
	assert_non_null(strstr(node_get_string(read, "message"), "net (e3) finished"));
	buf_free(&text);
	buf_free(&out);
	return read;
}

/* curl takes no line above 100 kB, and every quote of the document becomes two characters of it. */
static void a_long_summary_is_cut(void **state)
{
	(void)state;
	struct node *read = document(4000, 1);
	assert_int_equal(strlen(node_get_string(node_get(read, "experiment"), "description")), 1 + 2000 * 3);
	node_free(read);
	read = document(60000, 1);
	const char *description = node_get_string(node_get(read, "experiment"), "description");
	assert_in_range(strlen(description), 900, 1010);
	assert_string_equal(description + strlen(description) - strlen("…"), "…");
	assert_string_equal(node_get_string(node_get(read, "experiment"), "state"), "finished");
	node_free(read);
	read = document(10, 60000);
	assert_int_equal(node_get(read, "experiment")->type, NODE_NULL);
	node_free(read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_are_one_line_whatever_the_names_hold),
		cmocka_unit_test(curl_gets_one_line_for_each_option),
		cmocka_unit_test(the_text_for_mail_has_no_line_that_begins_with_a_tilde),
		cmocka_unit_test(addresses_are_checked),
		cmocka_unit_test(answers_of_curl_are_understood),
		cmocka_unit_test(a_mail_program_that_fails_is_named),
		cmocka_unit_test(a_long_summary_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
