/* Finds the one line of a script's error output that best explains why it failed. */
#ifndef NODE_REASON_H
#define NODE_REASON_H

#include "base/buf.h"

#include <stdbool.h>

/* Longer lines are cut to this length. */
#define REASON_CHARS 300

/* Finds the line in the cleaned end of the error output: the exception of a Python traceback, what a C++ program
 * terminated with, a failed assertion, the error below a usage text, or the last line. exit_code is -1 after a signal:
 * then only a line that explains a signal counts. True and the line in `out`, cut to REASON_CHARS; false: none. */
bool reason_find(const char *tail, int exit_code, struct buf *out);
/* The exception of a traceback near the end of an error output whose script ended well; false: none. */
bool reason_find_exception(const char *tail, struct buf *out);
/* The last line that holds anything, cut in the same way; false: none. */
bool reason_last_line(const char *text, struct buf *out);

#endif
