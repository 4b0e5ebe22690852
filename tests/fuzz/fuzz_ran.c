/* The small texts that what ran is made of: pyvenv.cfg, files of /proc. */
#include "spool/pythons.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_copy((const char *)data, size);
	free(spool_find_value(text, "version"));
	free(spool_find_value(text, "Model"));
	free(text);
	return 0;
}
