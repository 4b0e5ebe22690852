/* Time: see clock.h. */
#include "base/clock.h"

#include "base/num.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static int64_t (*clock_replacement)(void);
static int64_t clock_ahead_ms; /* of the system's clock, in a test */
static bool clock_held;
static int64_t clock_held_offset_ms;

static int64_t clock_read(clockid_t id)
{
	struct timespec now;
	if (clock_replacement)
		return clock_replacement();
	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t clock_system_ms(void)
{
	return clock_read(CLOCK_REALTIME) + clock_ahead_ms;
}

int64_t clock_now_ms(void)
{
	return clock_held ? clock_read(CLOCK_BOOTTIME) + clock_held_offset_ms : clock_system_ms();
}

int64_t clock_offset_ms(void)
{
	return clock_system_ms() - clock_read(CLOCK_BOOTTIME);
}

void clock_hold(int64_t offset_ms)
{
	clock_held = true;
	clock_held_offset_ms = offset_ms;
}

void clock_release(void)
{
	clock_held = false;
}

int64_t clock_mono_ms(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

void clock_replace(int64_t (*read)(void))
{
	clock_replacement = read;
	clock_held = false;
	clock_ahead_ms = 0;
}

void clock_jump(int64_t ms)
{
	clock_ahead_ms += ms;
}

void clock_format(int64_t ms, char text[static CLOCK_TEXT_CHARS])
{
	int rest = (int)(ms % 1000);
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	if (rest < 0) { /* before 1970 */
		rest += 1000;
		seconds--;
	}
	gmtime_r(&seconds, &tm);
	size_t n = strftime(text, CLOCK_TEXT_CHARS, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, CLOCK_TEXT_CHARS - n, ".%03dZ", rest);
}

int clock_parse(const char *text, int64_t *ret_ms)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t ms = 0;
	if (!rest)
		return -EINVAL;
	if (*rest == '.') {
		size_t digits = strspn(rest + 1, "0123456789");
		if (digits != 3 || num_parse_unsigned(rest + 1, 3, 999, &ms) < 0)
			return -EINVAL;
		rest += 4;
	}
	if (strcmp(rest, "Z") != 0)
		return -EINVAL;
	*ret_ms = (int64_t)timegm(&tm) * 1000 + (int64_t)ms;
	return 0;
}
