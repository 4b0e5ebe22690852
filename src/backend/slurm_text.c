/* The small parts that every reader uses: lines, fields, times, amounts. See slurm_text.h. */
#include "backend/slurm_text.h"

#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

bool slurm_config_get(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	for (const char *line = text; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t line_len = end ? (size_t)(end - line) : strlen(line);
		if (line_len > len && strncmp(line, key, len) == 0) {
			const char *p = line + len;
			while (p < line + line_len && *p == ' ')
				p++;
			if (p < line + line_len && *p == '=') {
				p++;
				while (p < line + line_len && *p == ' ')
					p++;
				snprintf(value, size, "%.*s", (int)(line + line_len - p), p);
				return strcmp(value, "(null)") != 0;
			}
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

void slurm_boot_read(struct slurm_boot *boot, const char *config, int64_t now_ms)
{
	char value[sizeof(boot->time)];
	if (!slurm_config_get(config, "BOOT_TIME", value, sizeof(value)))
		value[0] = '\0';
	if (strcmp(value, boot->time) == 0)
		return;
	memcpy(boot->time, value, sizeof(value));
	boot->since_ms = now_ms;
}

/* The clocks of two machines are not compared more closely than this. */
#define BOOT_SKEW_MS 600000

bool slurm_boot_is_before(const struct slurm_boot *boot, int64_t time_ms)
{
	uint64_t seconds;
	if (!boot->time[0])
		return false;
	if (time_ms >= boot->since_ms)
		return true;
	return num_parse_unsigned(boot->time, strlen(boot->time), INT64_MAX / 2000, &seconds) == 0 &&
		(int64_t)seconds * 1000 + BOOT_SKEW_MS < time_ms;
}

int64_t slurm_config_number(const char *text, const char *key, int64_t fallback)
{
	char value[256];
	uint64_t number;
	if (!slurm_config_get(text, key, value, sizeof(value)) ||
	    num_parse_unsigned(value, strspn(value, "0123456789"), INT64_MAX, &number) < 0)
		return fallback;
	return (int64_t)number;
}

int slurm_next_row(char **text, char separator, char **field, int max)
{
	char *line = *text;
	if (!line || !*line)
		return -1;
	char *end = strchr(line, '\n');
	*text = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	int count = 0;
	while (count < max) {
		field[count++] = line;
		char *next = strchr(line, separator);
		if (!next || count == max)
			break;
		*next = '\0';
		line = next + 1;
	}
	return count;
}

char *slurm_copy_text(const char *text, size_t len)
{
	char *copy = mem_copy(text, len);
	for (char *p = copy; (p = memchr(p, '\0', len - (size_t)(p - copy)));)
		*p = ' ';
	return copy;
}

bool slurm_version_since(const char *version, uint64_t major, uint64_t minor)
{
	uint64_t a, b;
	size_t n = strspn(version, "0123456789");
	if (version[n] != '.' || num_parse_unsigned(version, n, 10000, &a) < 0)
		return false;
	version += n + 1;
	if (num_parse_unsigned(version, strspn(version, "0123456789"), 10000, &b) < 0)
		return false;
	return a > major || (a == major && b >= minor);
}

int slurm_parse_submitted(const char *text, uint64_t *ret_job)
{
	static const char words[] = "Submitted batch job ";
	if (text_starts(text, words))
		text += sizeof(words) - 1;
	size_t digits = strspn(text, "0123456789");
	if (text[digits] && !strchr(";\n ", text[digits]))
		return -EINVAL;
	return num_parse_unsigned(text, digits, SLURM_JOB_MAX, ret_job) < 0 ? -EINVAL : 0;
}

int slurm_parse_job(const char *text, uint64_t *ret_job)
{
	size_t digits = strspn(text, "0123456789");
	if (text[digits] && text[digits] != '_')
		return -EINVAL;
	return num_parse_unsigned(text, digits, SLURM_JOB_MAX, ret_job) < 0 ? -EINVAL : 0;
}

/* Reads `count` digits at *text as a number within min..max and moves on. */
static bool slurm_read_digits(const char **text, size_t count, int min, int max, int *ret)
{
	uint64_t value;
	if (strspn(*text, "0123456789") < count || num_parse_unsigned(*text, count, (uint64_t)max, &value) < 0 ||
	    (int)value < min)
		return false;
	*text += count;
	*ret = (int)value;
	return true;
}

int64_t slurm_parse_time_ms(const char *text)
{
	uint64_t seconds;
	struct tm tm = {.tm_isdst = -1};
	const char *p = text;

	if (num_parse_unsigned(text, strlen(text), INT32_MAX * 4ull, &seconds) == 0)
		return (int64_t)seconds * 1000;
	if (!slurm_read_digits(&p, 4, 1970, 9999, &tm.tm_year) || *p++ != '-' ||
	    !slurm_read_digits(&p, 2, 1, 12, &tm.tm_mon) || *p++ != '-' ||
	    !slurm_read_digits(&p, 2, 1, 31, &tm.tm_mday) || *p++ != 'T' ||
	    !slurm_read_digits(&p, 2, 0, 23, &tm.tm_hour) || *p++ != ':' ||
	    !slurm_read_digits(&p, 2, 0, 59, &tm.tm_min) || *p++ != ':' ||
	    !slurm_read_digits(&p, 2, 0, 60, &tm.tm_sec) || *p)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	time_t t = mktime(&tm);
	return t == (time_t)-1 ? 0 : (int64_t)t * 1000;
}

int64_t slurm_parse_elapsed_ms(const char *text)
{
	uint64_t part[4] = {0}, days = 0, ms = 0;
	size_t count = 0;
	const char *dash = strchr(text, '-');

	if (dash) {
		if (num_parse_unsigned(text, (size_t)(dash - text), 1000000, &days) < 0)
			return -1;
		text = dash + 1;
	}
	for (;;) {
		size_t digits = strspn(text, "0123456789");
		if (count == 3 || num_parse_unsigned(text, digits, 100000000, &part[count++]) < 0)
			return -1;
		text += digits;
		if (*text == '.') {
			digits = strspn(text + 1, "0123456789");
			if (digits != 3 || num_parse_unsigned(text + 1, 3, 999, &ms) < 0)
				return -1;
			text += 4;
		}
		if (!*text)
			break;
		if (*text++ != ':')
			return -1;
	}
	/* With days the parts begin with hours; alone a number is minutes; two are minutes and seconds. */
	uint64_t h = 0, m = 0, s = 0;
	if (dash || count == 3)
		h = part[0], m = part[1], s = part[2];
	else if (count == 2)
		m = part[0], s = part[1];
	else
		m = part[0];
	return (int64_t)(((days * 24 + h) * 60 + m) * 60 + s) * 1000 + (int64_t)ms;
}

int64_t slurm_parse_bytes(const char *text)
{
	static const char units[] = "KMGTP";
	size_t len = strspn(text, "0123456789.");
	double value;
	int shift = 0;

	if (!len || num_parse_real(text, len, &value) < 0)
		return -1;
	if (text[len]) {
		const char *unit = strchr(units, text[len]);
		if (!unit || text[len + 1])
			return -1;
		shift = 10 * (int)(unit - units + 1);
	}
	value *= (double)(1ull << shift);
	return value < 9e18 ? (int64_t)value : -1;
}

/* Adds the word to a comma-separated list that does not have it yet. */
static void slurm_add_word(struct buf *list, const char *word, size_t len)
{
	const char *p = buf_text(list);
	while (*p) {
		size_t n = strcspn(p, ",");
		if (n == len && memcmp(p, word, len) == 0)
			return;
		p += n + (p[n] == ',');
	}
	if (list->len)
		buf_add_char(list, ',');
	buf_add(list, word, len);
}

int64_t slurm_parse_gres_of(const char *text, const char *kind, struct buf *types)
{
	int64_t sum = 0;
	size_t word = strlen(kind);
	while (*text) {
		/* An entry ends at a comma outside parentheses: "gpu:a100:4(S:0,1),gpu:1". */
		size_t len = 0, plain;
		for (int depth = 0; text[len] && (depth > 0 || text[len] != ','); len++)
			depth += (text[len] == '(') - (text[len] == ')');
		plain = strcspn(text, "(,");
		if (plain > len)
			plain = len;
		if (plain > word && memcmp(text, kind, word) == 0 && text[word] == ':') {
			const char *rest = text + word + 1, *colon = memchr(rest, ':', plain - word - 1);
			uint64_t count;
			const char *number = colon ? colon + 1 : rest;
			if (num_parse_unsigned(number, (size_t)(text + plain - number), 100000, &count) == 0) {
				sum += (int64_t)count;
				if (colon && types)
					slurm_add_word(types, rest, (size_t)(colon - rest));
			}
		}
		text += len + (text[len] == ',');
	}
	return sum;
}

int64_t slurm_parse_gres(const char *text, struct buf *types)
{
	return slurm_parse_gres_of(text, "gpu", types);
}
