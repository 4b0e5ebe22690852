/* JSON files of metrics against any bytes: the first byte says where the file is cut. */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		rows_check(metrics_format_for("x.json", NULL, 0), data + 1, size - 1, data[0] + 1u);
	return 0;
}
