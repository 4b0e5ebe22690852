/* See sum.h. */
#include "base/sum.h"

#include <string.h>
#include <sys/stat.h>

static void sum_add(uint64_t *sum, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < len; i++)
		*sum = (*sum ^ bytes[i]) * UINT64_C(1099511628211);
}

void sum_add_text(uint64_t *sum, const char *text)
{
	sum_add(sum, text, strlen(text) + 1);
}

void sum_add_file(uint64_t *sum, const char *path)
{
	struct stat st = {0};
	int64_t facts[4] = {stat(path, &st), st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	sum_add(sum, facts, sizeof(facts));
}
