/* The CSV of `sluice import` against any bytes: every row is as wide as the header, or there is a sentence. */
#include "base/mem.h"
#include "cli/sheet.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sheet sheet;
	struct error err = {0};
	int rc = sheet_parse((const char *)data, size, &sheet, &err);
	if (rc < 0 && !err.text[0])
		abort();
	if (rc == 0 && (!sheet.header.len || sheet.cells.len != sheet.rows * sheet.header.len))
		abort();
	for (size_t i = 0; rc == 0 && i < sheet.cells.len; i++)
		if (!sheet.cells.at[i])
			abort();
	sheet_free(&sheet);
	return 0;
}
