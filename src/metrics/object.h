/* A dictionary that is printed over several lines, as json.dumps(…, indent=2) and pprint write it: its lines are kept until
 * its last brace is closed. */
#ifndef METRICS_OBJECT_H
#define METRICS_OBJECT_H

#include "base/buf.h"
#include "metrics/phrase.h"

struct object {
	struct buf lines; /* those that were kept, each with its newline; empty: none is open */
	struct phrase_braces braces; /* those that are open in it */
};

enum object_answer {
	OBJECT_NONE, /* the line is no part of one */
	OBJECT_KEPT, /* it is, and others follow */
	OBJECT_WHOLE, /* it was the last: `lines` is the dictionary, on one line */
	OBJECT_BROKEN, /* what began as a dictionary is none: read the lines that were kept, then this one */
	OBJECT_LONG, /* the same because it is too long: it begins in `lines` */
};

/* `max`: the most bytes that are kept. */
struct object object_make(size_t max);
enum object_answer object_take(struct object *object, const char *text, size_t len) MUST_USE;
void object_clear(struct object *object);
void object_free(struct object *object);

#endif
