/* A printed line as text, before anything is read from it. */
#include "metrics/line.h"

#include "base/num.h"

#include <ctype.h>
#include <string.h>

uint32_t line_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

/* The bytes of what a terminal is told at this place, and does not show: colours (ESC [ ... m), its title (ESC ] 0 ; ...
 * BEL), a character set (ESC ( B). What has no end goes to the end of the line. */
static size_t line_skip_escape(const char *text, size_t len)
{
	size_t i = 2;
	if (len < 2)
		return len;
	switch (text[1]) {
	case '[':
		while (i < len && !(text[i] >= '@' && text[i] <= '~'))
			i++;
		return i < len ? i + 1 : len;
	case ']':
	case 'P':
	case '_':
	case '^':
		while (i < len && text[i] != '\a' && !(text[i] == 0x1b && i + 1 < len && text[i + 1] == '\\'))
			i++;
		return i >= len ? len : text[i] == '\a' ? i + 1 : i + 2;
	case '(':
	case ')': return len > 2 ? 3 : len;
	default: return 2;
	}
}

/* "<tf.Tensor: shape=(), dtype=float32, numpy=0.5>": the number in what TensorFlow shows of a scalar; its length, and
 * behind how many bytes it begins. 0: there is none. */
static size_t line_find_scalar(const char *text, size_t len, size_t *ret_at)
{
	static const char begins[] = "<tf.", numpy[] = "numpy=";
	if (len < sizeof(begins) || memcmp(text, begins, sizeof(begins) - 1) != 0)
		return 0;
	const char *end = memchr(text, '>', len);
	const char *value = end ? memmem(text, (size_t)(end - text), numpy, sizeof(numpy) - 1) : NULL;
	if (!value || !memmem(text, (size_t)(value - text), "shape=()", 8))
		return 0;
	*ret_at = (size_t)(value - text) + sizeof(numpy) - 1;
	return (size_t)(end - text) - *ret_at;
}

void line_clean(const char *text, size_t len, struct buf *out)
{
	char *to = buf_reserve(out, len);
	for (size_t i = 0; to && i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		size_t at = 0, scalar = c == '<' ? line_find_scalar(text + i, len - i, &at) : 0;
		if (scalar) {
			memcpy(to + out->len - (size_t)(to - out->data), text + i + at, scalar);
			out->len += scalar;
			i += at + scalar;
			continue;
		}
		if (c == 0x1b) {
			i += line_skip_escape(text + i, len - i) - 1;
			continue;
		}
		if (i + 2 < len && memcmp(text + i, "\xe2\x88\x92", 3) == 0) { /* the minus sign of Unicode */
			c = '-';
			i += 2;
		}
		to[out->len++ - (size_t)(to - out->data)] = c == '\t' || (c >= ' ' && c != 0x7f) ? (char)c : ' ';
	}
}

size_t line_skip_glog(const char *text, size_t len)
{
	const char *close = len > 20 ? memmem(text, len, "] ", 2) : NULL;
	if (!close || *text != 'I' || text[5] != ' ' || text[8] != ':')
		return 0;
	for (size_t i = 1; i < 5; i++)
		if (!isdigit((unsigned char)text[i]))
			return 0;
	return (size_t)(close + 2 - text);
}

size_t line_skip_r(const char *text, size_t *len)
{
	static const char begins[] = "[1] \"";
	size_t before = sizeof(begins) - 1;
	if (*len <= before || memcmp(text, begins, before) != 0 || text[*len - 1] != '"')
		return 0;
	*len -= 1;
	return before;
}

size_t line_skip_tag(const char *text, size_t len, double *ret_rank)
{
	const char *tag = len > 14 ? memmem(text, len < 40 ? len : 40, "]<std", 5) : NULL;
	const char *comma = tag && *text == '[' ? memchr(text, ',', (size_t)(tag - text)) : NULL;
	const char *colon = comma ? memmem(tag, len - (size_t)(tag - text), ">:", 2) : NULL;
	if (!colon || num_parse_real(comma + 1, (size_t)(tag - comma - 1), ret_rank) < 0)
		return 0;
	return (size_t)(colon + 2 - text);
}

bool line_is_blank(const char *text, size_t len)
{
	while (len && (unsigned char)text[len - 1] <= ' ')
		len--;
	return !len;
}

uint32_t line_key(const char *text, size_t len)
{
	size_t end = 0;
	while (end < len && !isdigit((unsigned char)text[end]))
		end++;
	while (end < len && isdigit((unsigned char)text[end]))
		end++;
	return line_hash(text, end);
}

size_t line_find_end(const char *data, size_t len)
{
	const char *newline = memchr(data, '\n', len);
	size_t end = newline ? (size_t)(newline - data) : len;
	const char *back = memchr(data, '\r', end);
	end = back ? (size_t)(back - data) : end;
	back = memchr(data, '\b', end);
	return back ? (size_t)(back - data) : end;
}
