/* Filters of lists: any text is a filter or an error with words, and a filter can be asked about any row. */
#include "store/filter.h"

#include "base/buf.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct filter_value value_of(void *ctx, size_t column)
{
	(void)ctx;
	static const struct filter_value values[] = {
		{.kind = FILTER_NUMBER, .number = 0.5},
		{.kind = FILTER_TEXT, .text = "adam"},
		{.kind = FILTER_NONE},
		{.kind = FILTER_NUMBER, .number = NAN},
	};
	return values[column];
}

static bool has_word(void *ctx, const char *word)
{
	(void)ctx;
	return strlen(word) % 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct filter_column columns[] = {{"lr", FILTER_PLAIN},
						       {"optimizer", FILTER_PLAIN},
						       {"energy", FILTER_ENERGY},
						       {"time", FILTER_DURATION}};
	struct filter_row row = {value_of, has_word, NULL};
	struct error err = {0};
	struct filter *filter = NULL;
	char *text = mem_copy(data, size);
	if (filter_parse(text, columns, COUNT_OF(columns), &filter, &err) == 0)
		filter_holds(filter, &row);
	else if (!*err.text)
		abort();
	filter_free(filter);
	free(text);
	return 0;
}
