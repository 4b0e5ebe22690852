/* The journal's reader against any bytes. What it uses it must use up to a newline, and the same bytes in
 * two pieces must give the same records. */
#include "base/limits.h"
#include "base/mem.h"
#include "journal/journal.h"

#include <math.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	size_t records;
	uLong sum;
};

static void tally_text(struct tally *tally, const char *text)
{
	if (text)
		tally->sum = crc32(tally->sum, (const unsigned char *)text, (unsigned)strlen(text));
}

static int tally_record(void *ctx, const struct journal_record *r)
{
	struct tally *tally = ctx;
	tally->records++;
	tally_text(tally, r->host);
	tally_text(tally, r->version);
	tally_text(tally, r->gpus);
	tally_text(tally, r->job);
	tally_text(tally, r->boot_id);
	tally_text(tally, r->step_name);
	tally_text(tally, r->text);
	tally_text(tally, cause_name(r->cause));
	tally_text(tally, r->message);
	tally_text(tally, r->tail);
	tally_text(tally, r->cost.source);
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		if (cost_has(&r->cost, f) && !(r->cost.value[f] >= 0 && r->cost.value[f] <= COST_MOST))
			abort();
	for (size_t i = 0; i < r->metric_count; i++) {
		tally_text(tally, r->metrics[i].name);
		if (!isnan(r->metrics[i].value))
			tally->sum = crc32(tally->sum, (const unsigned char *)&r->metrics[i].value, sizeof(double));
	}
	return 0;
}

/* Lines that lack a right sum would never get past the first check: gives every line its own. */
static char *seal(const uint8_t *data, size_t size, size_t *ret_len)
{
	char *out = mem_alloc(size * 11 + 16);
	size_t len = 0;
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t line = end ? (size_t)(end - data) : size;
		static const char hex[] = "0123456789abcdef";
		uLong sum = crc32(0, data, (unsigned)line);
		for (int shift = 28; shift >= 0; shift -= 4)
			out[len++] = hex[sum >> shift & 15];
		out[len++] = ' ';
		memcpy(out + len, data, line);
		len += line;
		out[len++] = '\n';
		data += line + (end != NULL);
		size -= line + (end != NULL);
	}
	*ret_len = len;
	return out;
}

static void read_in_two(const char *text, size_t len)
{
	struct tally whole = {0}, pieces = {0};
	unsigned bad = 0;
	int64_t used = journal_read(text, len, tally_record, &whole, &bad);
	if (used < 0 || (size_t)used > len || (used && text[used - 1] != '\n' && len <= LIMIT_JOURNAL_RECORD_BYTES))
		abort();
	int64_t first = journal_read(text, len / 2, tally_record, &pieces, NULL);
	if (journal_read(text + first, len - (size_t)first, tally_record, &pieces, NULL) + first != used)
		abort();
	if (len / 2 <= LIMIT_JOURNAL_RECORD_BYTES && (whole.records != pieces.records || whole.sum != pieces.sum))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	char *copy = mem_copy(data, size); /* exactly as long as it is: reading past it is caught */
	read_in_two(copy, size);
	char *sealed = seal(data, size, &len);
	read_in_two(sealed, len);
	free(sealed);
	free(copy);
	return 0;
}
