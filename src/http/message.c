/* Requests and responses: see message.h. */
#include "http/message.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/node.h"
#include "http/route.h"
#include "http/upload.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static const char *message_status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} texts[] = {
		{200, "OK"},
		{201, "Created"},
		{204, "No Content"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{411, "Length Required"},
		{413, "Content Too Large"},
		{415, "Unsupported Media Type"},
		{417, "Expectation Failed"},
		{421, "Misdirected Request"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
		{505, "HTTP Version Not Supported"},
		{507, "Insufficient Storage"},
	};
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "Unknown";
}

void request_clear(struct request *request)
{
	free(request->path);
	for (size_t i = 0; i < REQUEST_QUERY_VALUES; i++)
		free(request->query[i].text);
	buf_free(&request->body);
	node_free(request->json);
	upload_abandon(request->upload);
	*request = (struct request){0};
}

void response_clear(struct response *response)
{
	buf_free(&response->headers);
	buf_free(&response->body);
	blob_unref(response->blob);
	pieces_free(&response->pieces);
	if (response->later.cancel)
		response->later.cancel(response->later.ctx);
	*response = (struct response){0};
}

static const struct query_value *request_value(const struct request *request, const char *name)
{
	for (size_t i = 0; i < REQUEST_QUERY_VALUES && request->route->query[i]; i++)
		if (!strcmp(request->route->query[i]->name, name))
			return &request->query[i];
	assert(!"a handler asks for a parameter that its route does not have");
	return NULL;
}

const char *request_text(const struct request *request, const char *name)
{
	return request_value(request, name)->text;
}

int64_t request_int(const struct request *request, const char *name)
{
	return request_value(request, name)->integer;
}

int request_json(struct request *request, struct node **ret, struct response *response)
{
	struct error err = {0};
	struct node *root;
	if (request->json) {
		*ret = request->json;
		request->json = NULL;
		return 0;
	}
	if (!request->body.len) {
		*ret = node_new(NODE_MAP);
		return 0;
	}
	int rc = node_parse_json(request->body.data, request->body.len, &root, &err);
	if (rc < 0) {
		response_problem(response, rc == -E2BIG ? 413 : 400, "the body: line %d, column %d: %s", err.line,
				 err.column, err.text);
		return rc;
	}
	if (root->type != NODE_MAP) {
		response_problem(response, 400, "the body must be a JSON object, not %s", node_type_name(root));
		node_free(root);
		return -EINVAL;
	}
	*ret = root;
	return 0;
}

/* Begins a problem document; the map stays open. */
static struct json message_problem_begin(struct response *response, int status, const char *detail)
{
	buf_free(&response->body);
	blob_unref(response->blob);
	pieces_free(&response->pieces);
	response->blob = NULL;
	response->body = buf_make(1u << 20);
	response->status = status;
	response->type = "application/problem+json";
	response->caching = CACHING_NONE;
	response->stream = false;
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "type", "about:blank");
	json_key_string(&out, "title", message_status_text(status));
	json_key_int(&out, "status", status);
	json_key_string(&out, "detail", detail);
	return out;
}

void response_problem(struct response *response, int status, const char *fmt, ...)
{
	char detail[1200];
	va_list args;
	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	struct json out = message_problem_begin(response, status, detail);
	json_end(&out);
}

void response_sign_in(struct response *response, const char *detail, const char *login)
{
	struct json out = message_problem_begin(response, 401, detail);
	json_key_string(&out, "login", login);
	json_end(&out);
	response_header(response, "WWW-Authenticate", "Bearer");
}

void response_error(struct response *response, int code, const struct error *err)
{
	static const struct {
		int code, status;
	} statuses[] = {
		{-EINVAL, 400}, {-ENOENT, 404}, {-EBUSY, 409},  {-EEXIST, 409}, {-E2BIG, 413},
		{-EAGAIN, 409}, {-ENOSPC, 507}, {-EDQUOT, 507}, {-EROFS, 507},  {-EPERM, 403},
	};
	int status = 500;
	for (size_t i = 0; i < COUNT_OF(statuses); i++)
		if (statuses[i].code == code)
			status = statuses[i].status;
	const char *text = err && *err->text ? err->text : strerror(-code);
	if (status == 507)
		response_problem(response, status, "%s. %s", text, fs_write_remedy(code));
	else
		response_problem(response, status, "%s", text);
}

void response_problems(struct response *response, const struct problems *problems)
{
	struct error summary = {0};
	problems_summary(problems, &summary);
	struct json out = message_problem_begin(response, 400, summary.text);
	json_key(&out, "errors");
	problems_write(problems, &out);
	json_end(&out);
}

void response_header(struct response *response, const char *name, const char *fmt, ...)
{
	char value[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	/* A value ends at the end of its line. */
	value[strcspn(value, "\r\n")] = 0;
	if (!response->headers.max)
		response->headers = buf_make(LIMIT_HEAD_BYTES);
	buf_addf(&response->headers, "%s: %s\r\n", name, value);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", made once a second. */
static const char *http_date(void)
{
	static char text[40];
	static int64_t made_for = -1;
	int64_t now = clock_now_ms() / 1000;
	if (now != made_for) {
		time_t seconds = (time_t)now;
		struct tm tm;
		gmtime_r(&seconds, &tm);
		strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		made_for = now;
	}
	return text;
}

void response_write_head(const struct response *response, int64_t len, bool close, struct buf *out)
{
	static const char always[] =
		"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
		"img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
		"frame-ancestors 'none'\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Referrer-Policy: no-referrer\r\n"
		"Cross-Origin-Opener-Policy: same-origin\r\n"
		"Cross-Origin-Resource-Policy: same-origin\r\n";
	static const char *const caching[] = {
		[CACHING_NONE] = "no-store",
		[CACHING_VALIDATE] = "no-cache",
		[CACHING_IMMUTABLE] = "public, max-age=31536000, immutable",
	};
	int status = response->status ? response->status : 200;
	buf_addf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, message_status_text(status), http_date());
	buf_add(out, always, sizeof(always) - 1);
	buf_addf(out, "Cache-Control: %s\r\n", caching[response->caching]);
	if (status != 204 && status != 304)
		buf_addf(out, "Content-Type: %s\r\n", response->type ? response->type : "application/json");
	if (len >= 0 && status != 204 && status != 304)
		buf_addf(out, "Content-Length: %" PRId64 "\r\n", len);
	if (len == RESPONSE_IN_PIECES)
		buf_add_text(out, "Transfer-Encoding: chunked\r\n");
	if (close)
		buf_add_text(out, "Connection: close\r\n");
	buf_add(out, buf_text(&response->headers), response->headers.len);
	buf_add_text(out, "\r\n");
}
