/* Memory that never fails: see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

static void *mem_must(void *p)
{
	if (p)
		return p;
	static const char text[] = "sluice: out of memory\n";
	fputs(text, stderr);
	abort();
}

void *mem_alloc(size_t bytes)
{
	return mem_must(calloc(1, bytes ? bytes : 1));
}

void *mem_array(size_t count, size_t size)
{
	return mem_must(calloc(count ? count : 1, size));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	return mem_must(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *mem_copy(const void *data, size_t len)
{
	char *copy = mem_must(malloc(len + 1));
	if (len)
		memcpy(copy, data, len);
	copy[len] = 0;
	return copy;
}

char *mem_strdup(const char *text)
{
	return text ? mem_copy(text, strlen(text)) : NULL;
}

char *mem_printf(const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	return mem_must(n < 0 ? NULL : text);
}
