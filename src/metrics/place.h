/* Where metrics are read: the key `metrics` of the experiment, as the runner gets it. A map, or NULL:
 * {"csv": ["logs/?.csv"]}: only files of these names, of this format.
 * {"pattern": "..."}: only printed lines, by the user's own expression.
 * {"from": ["csv", "stdout"]}: found automatically, but only in these places. With "pattern": of stdout or stderr. */
#ifndef METRICS_PLACE_H
#define METRICS_PLACE_H

#include "base/node.h"

#include <stdbool.h>

extern const char *const place_printed[2], *const place_report; /* "stdout", "stderr"; "report" */

/* May metrics be read from here: a format's name, stdout, stderr? */
bool place_is_wanted(const struct node *places, const char *word);
/* True if files or an expression are given, so that nothing is found automatically. */
bool place_is_named(const struct node *places);
/* The message when nothing was read: "no printed line matched 'loss (?P<loss>...)'". The caller frees it. */
char *place_say_nothing(const struct node *places);

#endif
