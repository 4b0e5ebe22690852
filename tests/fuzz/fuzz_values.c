/* What people type into a form field or behind name= on the command line, and durations, sizes and
 * times: any text gives a value or a refusal. */
#include "base/clock.h"
#include "base/node.h"
#include "base/num.h"
#include "base/text.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_copy(data, size);
	struct node *node = NULL;
	struct error err = {0};
	int64_t number;
	double real;

	if (node_parse_values(text, &node, &err) == 0)
		node_free(node);
	else if (!err.text[0])
		abort();
	if (text_parse_duration(text, &number) == 0 && number < 0)
		abort();
	if (text_parse_bytes(text, &number) == 0 && number < 0)
		abort();
	if (text_parse_energy(text, &real) == 0 && !(real >= 0))
		abort();
	if (clock_parse(text, &number) == 0) {
		char again[CLOCK_TEXT_CHARS];
		clock_format(number, again);
	}
	if (num_parse_real(text, strlen(text), &real) == 0 && real == real) {
		char again[NUM_REAL_CHARS];
		double back;
		num_format_real(real, again);
		if (num_parse_real(again, strlen(again), &back) < 0 || back != real)
			abort();
	}
	struct buf clean = buf_make(BUF_UNLIMITED);
	text_utf8_clean(text, size, &clean);
	if (text_utf8_check(buf_text(&clean), clean.len) != clean.len)
		abort();
	buf_free(&clean);
	free(text);
	return 0;
}
