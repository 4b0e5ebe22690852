/* The clock: wall time in milliseconds since 1970 (UTC) and a monotonic one. A test may replace
 * both. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/mem.h"

#include <stdint.h>

#define CLOCK_TEXT_CHARS 32

int64_t clock_now_ms(void);
int64_t clock_mono_ms(void);
/* From now on both clocks return what `read` returns; NULL puts the real ones back. */
void clock_replace(int64_t (*read)(void));
/* "2026-11-15T14:23:17.123Z" */
void clock_format(int64_t ms, char text[static CLOCK_TEXT_CHARS]);
/* Reads what clock_format wrote (fraction optional). 0, or -EINVAL. */
int clock_parse(const char *text, int64_t *ret_ms) MUST_USE;

#endif
