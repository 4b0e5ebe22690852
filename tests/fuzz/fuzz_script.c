/* Scripts of strangers: every language that is read, with whatever stands in the file. */
#include "script/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"a.py", "a.sh", "a"};
	char *text = mem_copy(data, size);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct script script;
		struct buf out = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&out);
		script_read(names[i], text, size, &script);
		script_find(&script, "lr");
		script_write(&script, &w);
		script_free(&script);
		buf_free(&out);
	}
	free(text);
	return 0;
}
