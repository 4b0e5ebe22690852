/* The search for the reason in an error output against any bytes: what it finds is short and valid UTF-8. */
#include "base/mem.h"
#include "base/text.h"
#include "node/reason.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int codes[] = {-1, 1, 2, 3};
	char *text = mem_copy((const char *)data, size);
	for (size_t i = 0; i <= COUNT_OF(codes); i++) {
		struct buf out = buf_make(BUF_UNLIMITED);
		if (i < COUNT_OF(codes))
			reason_find(text, codes[i], &out);
		else
			reason_find_exception(text, &out);
		if (out.len > 4 * REASON_CHARS || text_utf8_check(buf_text(&out), out.len) != out.len)
			abort();
		buf_free(&out);
	}
	free(text);
	return 0;
}
