/* A text for people that comes with a negative errno; and a list of everything that is wrong with a document, each with
 * its position. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/mem.h"

#include <stdbool.h>

struct node;
struct json;

struct error {
	char text[1024];
	int line, column; /* 1-based; 0 where there is no place */
};

/* Sets the text (err may be NULL) and returns code, so that `return errorf(err, -EINVAL, …)` is one
 * line. Clears the place. */
int errorf(struct error *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int errorf_at(struct error *err, int code, int line, int column, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* One thing wrong with a document. */
struct problem {
	char *field; /* JSON pointer: /parameters/units */
	int line, column;
	char *message;
	char *remedy; /* what to do; may be NULL */
};

/* Everything wrong with a document; at most LIMIT_PROBLEMS are kept. {0} is empty. */
struct problems {
	VEC(struct problem) list;
	bool stored; /* the document was accepted before: newer rules do not refuse it */
};

/* Adds a problem at a node (its pointer, line and column); remedy may be NULL. Always returns
 * -EINVAL. */
int problem_add(struct problems *list, const struct node *at, const char *remedy, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* The same for a member that is missing from the map `in`. */
int problem_add_missing(struct problems *list, const struct node *in, const char *key, const char *remedy);
/* Writes the list as the "errors" array of a problem document. */
void problems_write(const struct problems *list, struct json *out);
/* One line for people: the first problem with its place, and how many more. */
void problems_summary(const struct problems *list, struct error *ret);
void problems_free(struct problems *list);

#endif
