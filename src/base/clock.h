/* The clock: wall time in milliseconds since 1970 (UTC) and a monotonic one. A test may replace
 * both.
 *
 * The system's clock may be changed at any time, by hours. A process that compares times with each other (the daemon, a
 * runner) holds its wall clock: from then on it follows the machine's uptime, and jumps of the system's clock do not
 * affect it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/mem.h"

#include <stdint.h>

#define CLOCK_TEXT_CHARS 32

int64_t clock_now_ms(void);
int64_t clock_mono_ms(void);
/* The system's clock minus the time since the machine started (including sleep). It changes only when the clock is
 * set. */
int64_t clock_offset_ms(void);
/* From now on clock_now_ms is the time since the machine started plus this. */
void clock_hold(int64_t offset_ms);
/* clock_now_ms is the system's clock again. */
void clock_release(void);
/* From now on all clocks return what `read` returns, and none is held. NULL restores the real clocks. */
void clock_replace(int64_t (*read)(void));
/* After clock_replace: the system's clock is this much ahead of it. */
void clock_jump(int64_t ms);
/* "2026-11-15T14:23:17.123Z" */
void clock_format(int64_t ms, char text[static CLOCK_TEXT_CHARS]);
/* Reads what clock_format wrote (fraction optional). 0, or -EINVAL. */
int clock_parse(const char *text, int64_t *ret_ms) MUST_USE;

#endif
