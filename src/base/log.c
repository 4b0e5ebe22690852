/* The log: see log.h. A line is written with one write(2), so that lines of several processes do
 * not mix. */
#include "base/log.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level log_level = LOG_INFO;

void log_set_level(enum log_level level)
{
	log_level = level;
}

static void log_line(enum log_level level, const char *fmt, va_list args)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};
	char line[2048], when[CLOCK_TEXT_CHARS];
	if (level > log_level)
		return;
	clock_format(clock_now_ms(), when);
	int n = snprintf(line, sizeof(line), "%s %s: ", when, names[level]);
	int m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, args);
	size_t len = (size_t)n + (m > 0 ? (size_t)m : 0);
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	for (size_t i = (size_t)n; i < len; i++) /* no text may forge a line or a terminal code */
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = ' ';
	line[len++] = '\n';
	ssize_t written = write(STDERR_FILENO, line, len);
	(void)written; /* there is nowhere left to complain */
}

#define LOG_FUNCTION(name, level)                                                                                      \
	void name(const char *fmt, ...)                                                                                \
	{                                                                                                              \
		va_list args;                                                                                          \
		va_start(args, fmt);                                                                                   \
		log_line(level, fmt, args);                                                                            \
		va_end(args);                                                                                          \
	}

LOG_FUNCTION(log_error, LOG_ERROR)
LOG_FUNCTION(log_warning, LOG_WARNING)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)
