/* Text as people write it: see text.h. */
#include "base/text.h"

#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

struct text_unit {
	const char *name;
	double factor;
};

/* number unit [number unit …]; the unit of a single number may be left out when there is a default (""). */
static int text_parse_units(const char *text, const struct text_unit *units, bool many, double *ret)
{
	double sum = 0;
	unsigned parts = 0;
	const char *p = text;
	if (!*p)
		return -EINVAL;
	while (*p) {
		size_t digits = strspn(p, "0123456789.");
		double value;
		if (num_parse_real(p, digits, &value) < 0)
			return -EINVAL;
		p += digits;
		while (*p == ' ')
			p++;
		size_t letters = 0;
		while (isalpha((unsigned char)p[letters]))
			letters++;
		const struct text_unit *unit = units;
		while (unit->name && (strlen(unit->name) != letters || strncmp(unit->name, p, letters)))
			unit++;
		if (!unit->name)
			return -EINVAL;
		sum += value * unit->factor;
		p += letters;
		while (*p == ' ')
			p++;
		parts++;
		if ((*p && !many) || (!letters && (*p || parts > 1)))
			return -EINVAL;
	}
	*ret = sum;
	return 0;
}

/* As Slurm reads them: minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]]. */
static int text_parse_clock(const char *text, int64_t *ret_ms)
{
	uint64_t part[4] = {0};
	unsigned n = 0;
	bool days = false;
	const char *p = text;
	for (;;) {
		size_t digits = strspn(p, "0123456789");
		if (n == 4 || num_parse_unsigned(p, digits, 1000000, &part[n]) < 0)
			return -EINVAL;
		n++;
		p += digits;
		if (*p == '-' && n == 1)
			days = true;
		else if (*p != ':')
			break;
		p++;
	}
	if (*p || n < 2)
		return -EINVAL;
	if (!days) {
		if (n > 3)
			return -EINVAL;
		size_t shift = 4 - n;
		memmove(part + shift, part, n * sizeof(part[0]));
		memset(part, 0, shift * sizeof(part[0]));
	}
	*ret_ms = (int64_t)(((part[0] * 24 + part[1]) * 60 + part[2]) * 60 + part[3]) * 1000;
	return 0;
}

int text_parse_duration(const char *text, int64_t *ret_ms)
{
	static const struct text_unit units[] = {
		{"", 1e3},     {"ms", 1},     {"s", 1e3},   {"sec", 1e3},  {"m", 60e3},
		{"min", 60e3}, {"h", 3600e3}, {"d", 864e5}, {"w", 6048e5}, {NULL, 0},
	};
	double ms;
	if (strpbrk(text, ":-"))
		return text_parse_clock(text, ret_ms);
	if (text_parse_units(text, units, true, &ms) < 0 || ms > 1e15)
		return -EINVAL;
	*ret_ms = (int64_t)llround(ms);
	return 0;
}

int text_parse_bytes(const char *text, int64_t *ret_bytes)
{
	static const struct text_unit units[] = {
		{"", 1},
		{"B", 1},
		{"K", 1024.0},
		{"KB", 1024.0},
		{"k", 1024.0},
		{"KiB", 1024.0},
		{"M", 1048576.0},
		{"MB", 1048576.0},
		{"MiB", 1048576.0},
		{"G", 1073741824.0},
		{"GB", 1073741824.0},
		{"GiB", 1073741824.0},
		{"T", 1099511627776.0},
		{"TB", 1099511627776.0},
		{"TiB", 1099511627776.0},
		{NULL, 0},
	};
	double bytes;
	if (text_parse_units(text, units, false, &bytes) < 0 || bytes > 1e18)
		return -EINVAL;
	*ret_bytes = (int64_t)llround(bytes);
	return 0;
}

int text_parse_energy(const char *text, double *ret_j)
{
	static const struct text_unit units[] = {
		{"", 1},        {"J", 1},        {"kJ", 1e3},     {"MJ", 1e6}, {"GJ", 1e9},
		{"Wh", 3600.0}, {"kWh", 3600e3}, {"MWh", 3600e6}, {NULL, 0},
	};
	return text_parse_units(text, units, false, ret_j);
}

int text_parse_power(const char *text, double *ret_w)
{
	static const struct text_unit units[] = {{"", 1}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}, {NULL, 0}};
	return text_parse_units(text, units, false, ret_w);
}

void text_format_duration(int64_t ms, char *text, size_t size)
{
	int64_t tenths = (ms + 50) / 100, s = (ms + 500) / 1000;
	if (ms < 1000)
		snprintf(text, size, "%" PRId64 " ms", ms);
	else if (tenths < 100)
		snprintf(text, size, "%" PRId64 ".%" PRId64 " s", tenths / 10, tenths % 10);
	else if (s < 60)
		snprintf(text, size, "%" PRId64 " s", s);
	else if (s < 3600)
		snprintf(text, size, "%" PRId64 " m %02" PRId64 " s", s / 60, s % 60);
	else if (s < 2 * 86400)
		snprintf(text, size, "%" PRId64 " h %02" PRId64 " m", s / 3600, s / 60 % 60);
	else
		snprintf(text, size, "%" PRId64 " d %02" PRId64 " h", s / 86400, s / 3600 % 24);
}

void text_format_bytes(int64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	double value = (double)bytes;
	size_t unit = 0;
	while (value >= 1023.5 && unit + 1 < COUNT_OF(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, unit && value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void text_format_two_bytes(int64_t a, int64_t b, char *text_a, char *text_b, size_t size)
{
	text_format_bytes(a, text_a, size);
	text_format_bytes(b, text_b, size);
	if (a == b || strcmp(text_a, text_b) != 0)
		return;
	bool megabytes = a >> 20 != b >> 20;
	const char *unit = megabytes ? "MB" : "B";
	snprintf(text_a, size, "%" PRId64 " %s", megabytes ? a >> 20 : a, unit);
	snprintf(text_b, size, "%" PRId64 " %s", megabytes ? b >> 20 : b, unit);
}

/* The length of the UTF-8 sequence at s, or 0 where there is none (overlong, surrogate, cut short). */
static size_t text_utf8_sequence(const unsigned char *s, size_t left)
{
	if (s[0] < 0x80)
		return 1;
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

size_t text_utf8_check(const char *text, size_t len)
{
	size_t i = 0;
	while (i < len) {
		size_t n = text_utf8_sequence((const unsigned char *)text + i, len - i);
		if (!n)
			break;
		i += n;
	}
	return i;
}

void text_utf8_clean(const char *text, size_t len, struct buf *out)
{
	while (len) {
		size_t good = text_utf8_check(text, len);
		buf_add(out, text, good);
		text += good;
		len -= good;
		if (len) {
			buf_add_text(out, "\xef\xbf\xbd");
			text++;
			len--;
		}
	}
}

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && strcmp(text + n - m, suffix) == 0;
}

bool text_is_identifier(const char *name, size_t max)
{
	size_t n = strlen(name);
	if (!n || n > max || !(isalpha((unsigned char)name[0]) || name[0] == '_'))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return false;
	return true;
}

unsigned text_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t n = strlen(b);
	if (n + 1 > COUNT_OF(row) || strlen(a) > 200)
		return 255;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned cost = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
			diagonal = row[j + 1];
			unsigned least = row[j] < row[j + 1] ? row[j] : row[j + 1];
			row[j + 1] = cost < least + 1 ? cost : least + 1;
		}
	}
	return row[n];
}

int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void text_shell_quote(struct buf *out, const char *text)
{
	buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_add_text(out, "'\\''");
		else
			buf_add_char(out, *text);
	}
	buf_add_char(out, '\'');
}
