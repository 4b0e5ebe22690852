/* The readers of lines against any bytes: the first byte picks the format and where the file is cut. */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		rows_check(&metrics_formats[data[0] & 1], data + 1, size - 1, (data[0] >> 1) + 1u);
	return 0;
}
