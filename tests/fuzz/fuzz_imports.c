/* Any bytes as a Python script: no name or path is empty or longer than it may be. */
#include "base/imports.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imports imports;
	char *text = mem_copy(data, size);
	imports_read(text, size, &imports);
	for (size_t i = 0; i < imports.modules.len; i++)
		if (!imports.modules.at[i][0] || strlen(imports.modules.at[i]) > 500)
			abort();
	for (size_t i = 0; i < imports.paths.len; i++)
		if (!imports.paths.at[i][0] || imports.paths.at[i][0] == '/')
			abort();
	imports_free(&imports);
	free(text);
	return 0;
}
