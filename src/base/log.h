/* The log: one line per event, on stderr (the daemon's stderr is daemon.log). */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/mem.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Lines above this level are dropped. The default is LOG_INFO. */
void log_set_level(enum log_level level);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warning(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
