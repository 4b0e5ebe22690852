/* A sum over what decides a result, to see cheaply that the result is the same as before. FNV-1a with 64 bits: it does
 * not protect against forged input. Begin with SUM_EMPTY. */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

#define SUM_EMPTY UINT64_C(14695981039346656037)

/* With its end, so that two texts differ from one. */
void sum_add_text(uint64_t *sum, const char *text);
/* When the file or folder was last changed, and its size; its content is not read. One that is missing counts too. */
void sum_add_file(uint64_t *sum, const char *path);

#endif
