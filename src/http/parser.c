/* The head of a request: see parser.h. The only file that knows which parser library there is. The
 * library finds the parts; our own checks before and after it decide what is accepted. */
#include "http/parser.h"

#include "base/limits.h"
#include "base/num.h"

#include <string.h>
#include <strings.h>

#ifdef HAVE_LLHTTP
#include <llhttp.h>
typedef llhttp_t library_parser;
typedef llhttp_settings_t library_settings;
#else
#include <http_parser.h>
typedef http_parser library_parser;
typedef http_parser_settings library_settings;
#endif

static const char *const method_names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"};

const char *method_name(enum method method)
{
	return method < METHOD_OTHER ? method_names[method] : "?";
}

/* Where the library found the parts. */
struct spans {
	const char *target;
	size_t target_len;
	struct span {
		const char *name, *value;
		size_t name_len, value_len;
	} header[PARSER_HEADERS_MAX];
	size_t count;
	bool in_value, too_many;
};

static int parser_on_target(library_parser *parser, const char *at, size_t len)
{
	struct spans *spans = parser->data;
	if (!spans->target)
		spans->target = at;
	spans->target_len += len;
	return 0;
}

static int parser_on_name(library_parser *parser, const char *at, size_t len)
{
	struct spans *spans = parser->data;
	if (spans->count == 0 || spans->in_value) {
		if (spans->count == PARSER_HEADERS_MAX) {
			spans->too_many = true;
			return 1;
		}
		spans->header[spans->count++] = (struct span){.name = at};
		spans->in_value = false;
	}
	spans->header[spans->count - 1].name_len += len;
	return 0;
}

static int parser_on_value(library_parser *parser, const char *at, size_t len)
{
	struct spans *spans = parser->data;
	if (!spans->count)
		return 1;
	struct span *span = &spans->header[spans->count - 1];
	if (!span->value)
		span->value = at;
	span->value_len += len;
	spans->in_value = true;
	return 0;
}

/* The body is ours to read: the library sees the head only. */
static bool parser_library_read(const char *data, size_t len, struct spans *spans)
{
	library_settings settings = {0};
	library_parser parser = {0};
#ifdef HAVE_LLHTTP
	llhttp_settings_init(&settings);
	settings.on_url = parser_on_target;
	settings.on_header_field = parser_on_name;
	settings.on_header_value = parser_on_value;
	llhttp_init(&parser, HTTP_REQUEST, &settings);
	parser.data = spans;
	llhttp_errno_t rc = llhttp_execute(&parser, data, len);
	return rc == HPE_OK || rc == HPE_PAUSED_UPGRADE;
#else
	settings.on_url = parser_on_target;
	settings.on_header_field = parser_on_name;
	settings.on_header_value = parser_on_value;
	http_parser_init(&parser, HTTP_REQUEST);
	parser.data = spans;
	return http_parser_execute(&parser, &settings, data, len) == len && HTTP_PARSER_ERRNO(&parser) == HPE_OK;
#endif
}

static bool parser_is_token_char(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c && strchr("!#$%&'*+-.^_`|~", c));
}

/* METHOD SP /target SP HTTP/1.1, without the line's end. */
static int parser_check_first_line(const char *line, size_t len)
{
	const char *end = line + len, *p = line;
	while (p < end && *p >= 'A' && *p <= 'Z')
		p++;
	if (p == line || p - line > 32 || p == end || *p != ' ')
		return 400;
	const char *target = ++p;
	while (p<end && * p> 0x20 && *p < 0x7f && *p != '#' && *p != '\\' && *p != '"' && *p != '<' && *p != '>')
		p++;
	if (p == target || *target != '/' || p == end || *p != ' ')
		return 400;
	const char *version = ++p;
	if (end - version != 8 || memcmp(version, "HTTP/", 5) != 0 || version[5] < '0' || version[5] > '9' ||
	    version[6] != '.' || version[7] < '0' || version[7] > '9')
		return 400;
	return memcmp(version, "HTTP/1.1", 8) == 0 ? 0 : 505;
}

int64_t parser_find_end(const char *data, size_t len, size_t from)
{
	/* One step back: a CR may have been the last byte before. */
	size_t i = from ? from - 1 : 0;
	for (; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		/* Also what a browser says first when the address begins with https. */
		if ((c < 0x20 && c != '\r' && c != '\n' && c != '\t') || c == 0x7f)
			return -400;
		if (c == '\n' && (i == 0 || data[i - 1] != '\r'))
			return -400;
		if (data[i] == '\r' && i + 1 < len && data[i + 1] != '\n')
			return -400;
		if (data[i] != '\n')
			continue;
		const char *first = memchr(data, '\r', i);
		if (first == data + i - 1) {
			int status = parser_check_first_line(data, i - 1);
			if (status)
				return -status;
		}
		if (i >= 3 && data[i - 2] == '\n')
			return i < LIMIT_HEAD_BYTES ? (int64_t)i + 1 : -431;
	}
	return len >= LIMIT_HEAD_BYTES ? -431 : 0;
}

/* name ":" value, without the line's end. */
static bool parser_check_header_line(const char *line, size_t len)
{
	size_t i = 0;
	while (i < len && parser_is_token_char((unsigned char)line[i]))
		i++;
	if (!i || i == len || line[i] != ':')
		return false;
	for (i++; i < len; i++) {
		unsigned char c = (unsigned char)line[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static int parser_check_lines(const char *data, size_t len, const char **ret_reason)
{
	const char *end = data + len - 2;
	const char *line = data;
	size_t count = 0;
	for (; line < end; count++) {
		const char *cr = memchr(line, '\r', (size_t)(end + 1 - line));
		size_t n = (size_t)(cr - line);
		int status = count ? 0 : parser_check_first_line(line, n);
		if (status) {
			*ret_reason = status == 505 ? "only HTTP/1.1 is supported" : "the request line is malformed";
			return status;
		}
		if (count && (*line == ' ' || *line == '\t')) {
			*ret_reason = "a header is folded over two lines";
			return 400;
		}
		if (count && !parser_check_header_line(line, n)) {
			*ret_reason = "a header line is malformed";
			return 400;
		}
		line = cr + 2;
	}
	return 0;
}

/* How often the header appears. */
static size_t head_count(const struct head *head, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < head->header_count; i++)
		count += !strcasecmp(head->headers[i].name, name);
	return count;
}

const char *head_get(const struct head *head, const char *name)
{
	for (size_t i = 0; i < head->header_count; i++)
		if (!strcasecmp(head->headers[i].name, name))
			return head->headers[i].value;
	return NULL;
}

/* Is the word one of a comma-separated list? */
static bool parser_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);
	while (*list) {
		list += strspn(list, " \t,");
		size_t len = strcspn(list, ",");
		size_t trimmed = len;
		while (trimmed && (list[trimmed - 1] == ' ' || list[trimmed - 1] == '\t'))
			trimmed--;
		if (trimmed == n && !strncasecmp(list, word, n))
			return true;
		list += len;
	}
	return false;
}

static int parser_check_framing(struct head *head, const char **ret_reason)
{
	size_t lengths = head_count(head, "content-length");
	size_t codings = head_count(head, "transfer-encoding");
	if (lengths + codings > 1) {
		*ret_reason = "the length of the body is given more than once";
		return 400;
	}
	if (codings) {
		if (strcasecmp(head_get(head, "transfer-encoding"), "chunked") != 0) {
			*ret_reason = "the only supported transfer coding is chunked";
			return 501;
		}
		head->chunked = true;
	}
	if (lengths) {
		const char *text = head_get(head, "content-length");
		if (num_parse_unsigned(text, strlen(text), INT64_MAX, &head->length) < 0) {
			*ret_reason = "Content-Length is not a number";
			return 400;
		}
		head->has_length = true;
	}
	return 0;
}

static int parser_check_meaning(struct head *head, const char **ret_reason)
{
	int status = parser_check_framing(head, ret_reason);
	if (status)
		return status;
	if (head_count(head, "host") != 1 || !*head_get(head, "host")) {
		*ret_reason = "there must be one Host header";
		return 400;
	}
	/* Credentials that could be read two ways are no credentials. */
	static const char *const once[] = {"authorization", "x-sluice-session", "origin", "content-type",
					   "idempotency-key"};
	for (size_t i = 0; i < COUNT_OF(once); i++) {
		if (head_count(head, once[i]) > 1) {
			*ret_reason = "a header that may stand once is repeated";
			return 400;
		}
	}
	const char *expect = head_get(head, "expect");
	if (expect && strcasecmp(expect, "100-continue") != 0) {
		*ret_reason = "the only supported expectation is 100-continue";
		return 417;
	}
	head->expect_continue = expect;
	for (size_t i = 0; i < head->header_count; i++)
		if (!strcasecmp(head->headers[i].name, "connection") &&
		    parser_list_has(head->headers[i].value, "close"))
			head->close = true;
	return 0;
}

static void parser_take_spans(char *data, const struct spans *spans, struct head *head)
{
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->header[i];
		char *name = data + (span->name - data);
		name[span->name_len] = 0;
		const char *value = "";
		if (span->value_len) {
			char *from = data + (span->value - data), *to = from + span->value_len;
			while (from < to && (*from == ' ' || *from == '\t'))
				from++;
			while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
				to--;
			*to = 0;
			value = from;
		}
		head->headers[head->header_count++] = (struct header){.name = name, .value = value};
	}
	char *target = data + (spans->target - data);
	target[spans->target_len] = 0;
	head->target = target;
}

int parser_read_head(char *data, size_t len, struct head *ret, const char **ret_reason)
{
	struct spans spans = {0};
	int status = parser_check_lines(data, len, ret_reason);
	if (status)
		return status;
	ret->header_count = 0;
	ret->method = METHOD_OTHER;
	ret->has_length = ret->chunked = ret->close = ret->expect_continue = false;
	ret->length = 0;
	for (size_t i = 0; i < COUNT_OF(method_names); i++) {
		size_t n = strlen(method_names[i]);
		if (!memcmp(data, method_names[i], n < len ? n : len) && data[n] == ' ')
			ret->method = (enum method)i;
	}
	/* CONNECT and unknown methods are refused here; the library is not asked. */
	if (ret->method == METHOD_OTHER) {
		*ret_reason = "this method is not supported";
		return 501;
	}
	bool agreed = parser_library_read(data, len, &spans);
	if (spans.too_many || !spans.target) {
		*ret_reason = spans.too_many ? "too many headers" : "the request is malformed";
		return spans.too_many ? 431 : 400;
	}
	parser_take_spans(data, &spans, ret);
	status = parser_check_meaning(ret, ret_reason);
	if (!status && !agreed) {
		*ret_reason = "the request is malformed";
		status = 400;
	}
	return status;
}
