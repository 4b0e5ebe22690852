/* A streaming JSON writer: see json.h. */
#include "base/json.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>

static void json_before(struct json *w)
{
	if (w->comma)
		buf_add_char(w->out, ',');
	w->comma = true;
}

static void json_open(struct json *w, char open, char close)
{
	json_before(w);
	buf_add_char(w->out, open);
	assert(w->depth < sizeof(w->close));
	w->close[w->depth++] = close;
	w->comma = false;
}

void json_map(struct json *w)
{
	json_open(w, '{', '}');
}

void json_list(struct json *w)
{
	json_open(w, '[', ']');
}

void json_end(struct json *w)
{
	assert(w->depth > 0);
	buf_add_char(w->out, w->close[--w->depth]);
	w->comma = true;
}

static void json_escape(struct buf *out, const char *text, size_t len)
{
	size_t from = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_add(out, text + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c == '\n')
			buf_add_text(out, "\\n");
		else if (c == '\t')
			buf_add_text(out, "\\t");
		else if (c == '\r')
			buf_add_text(out, "\\r");
		else
			buf_addf(out, "\\u%04x", c);
	}
	buf_add(out, text + from, len - from);
}

static void json_quote(struct json *w, const char *text, size_t len)
{
	buf_add_char(w->out, '"');
	if (text_utf8_check(text, len) == len) {
		json_escape(w->out, text, len);
	} else {
		struct buf clean = buf_make(BUF_UNLIMITED);
		text_utf8_clean(text, len, &clean);
		json_escape(w->out, buf_text(&clean), clean.len);
		buf_free(&clean);
	}
	buf_add_char(w->out, '"');
}

void json_key(struct json *w, const char *key)
{
	json_before(w);
	json_quote(w, key, strlen(key));
	buf_add_char(w->out, ':');
	w->comma = false;
}

void json_put_null(struct json *w)
{
	json_before(w);
	buf_add_text(w->out, "null");
}

void json_put_bool(struct json *w, bool value)
{
	json_before(w);
	buf_add_text(w->out, value ? "true" : "false");
}

void json_put_int(struct json *w, int64_t value)
{
	char text[NUM_INT_CHARS];
	json_before(w);
	buf_add(w->out, text, num_format_int(value, text));
}

void json_put_real(struct json *w, double value)
{
	json_before(w);
	if (isnan(value)) {
		buf_add_text(w->out, "\"NaN\"");
	} else if (isinf(value)) {
		buf_add_text(w->out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	} else {
		char text[NUM_REAL_CHARS];
		num_format_real(value, text);
		buf_add_text(w->out, text);
	}
}

void json_put_float(struct json *w, double value)
{
	size_t before = w->out->len;
	json_put_real(w, value);
	if (isfinite(value) && w->out->len > before && !strpbrk(w->out->data + before, ".e"))
		buf_add_text(w->out, ".0");
}

void json_put_string(struct json *w, const char *text)
{
	if (!text)
		json_put_null(w);
	else
		json_put_string_n(w, text, strlen(text));
}

void json_put_string_n(struct json *w, const char *text, size_t len)
{
	json_before(w);
	json_quote(w, text, len);
}

void json_put_time(struct json *w, int64_t ms)
{
	if (!ms) {
		json_put_null(w);
		return;
	}
	char text[CLOCK_TEXT_CHARS];
	clock_format(ms, text);
	json_put_string(w, text);
}

void json_put_raw(struct json *w, const char *text)
{
	if (!text || !*text) {
		json_put_null(w);
		return;
	}
	json_before(w);
	buf_add_text(w->out, text);
}

void json_members(struct json *w, const char *map)
{
	size_t len = strlen(map);
	if (len <= 2) /* {} */
		return;
	json_before(w);
	buf_add(w->out, map + 1, len - 2);
}

void json_key_null(struct json *w, const char *key)
{
	json_key(w, key);
	json_put_null(w);
}

void json_key_bool(struct json *w, const char *key, bool value)
{
	json_key(w, key);
	json_put_bool(w, value);
}

void json_key_int(struct json *w, const char *key, int64_t value)
{
	json_key(w, key);
	json_put_int(w, value);
}

void json_key_real(struct json *w, const char *key, double value)
{
	json_key(w, key);
	json_put_real(w, value);
}

void json_key_string(struct json *w, const char *key, const char *text)
{
	json_key(w, key);
	json_put_string(w, text);
}

void json_key_time(struct json *w, const char *key, int64_t ms)
{
	json_key(w, key);
	json_put_time(w, ms);
}

void json_key_raw(struct json *w, const char *key, const char *text)
{
	json_key(w, key);
	json_put_raw(w, text);
}
