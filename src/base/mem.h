/* Memory that never fails: out of memory aborts, so no caller has an error path for it. Also the
 * growing array that all rooms share. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MUST_USE __attribute__((warn_unused_result))

/* Each returns memory the caller frees with free(); none returns NULL. */
void *mem_alloc(size_t bytes); /* zeroed */
void *mem_array(size_t count, size_t size); /* zeroed; a product that does not fit aborts */
void *mem_resize(void *old, size_t count, size_t size);
char *mem_copy(const void *data, size_t len); /* NUL added after len bytes */
char *mem_strdup(const char *text); /* NULL gives NULL */
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* A growing array: VEC(struct x) list = {0}; vec_push(&list, item); free(list.at). */
#define VEC(...)                                                                                                       \
	struct {                                                                                                       \
		__VA_ARGS__ *at;                                                                                       \
		size_t len, cap;                                                                                       \
	}
#define vec_push(v, item)                                                                                              \
	do {                                                                                                           \
		if ((v)->len == (v)->cap) {                                                                            \
			(v)->cap = (v)->cap ? (v)->cap * 2 : 8;                                                        \
			(v)->at = mem_resize((v)->at, (v)->cap, sizeof(*(v)->at));                                     \
		}                                                                                                      \
		(v)->at[(v)->len++] = (item);                                                                          \
	} while (0)

#endif
