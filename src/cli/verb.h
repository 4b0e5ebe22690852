/* One verb of the command line: a row in a table that gives parsing, help, completion and manual page. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "base/mem.h"

#include <stdbool.h>

struct verb_option {
	const char *name; /* "detach": --detach; "n": -n; "f,follow": -f and --follow */
	const char *value; /* "N": takes a value; NULL: a switch. "N...": may be given several times */
	const char *help;
};

struct verb {
	const char *name;
	const char *arguments; /* "FILE | SCRIPT [name=values ...]" */
	const char *summary; /* one line */
	const char *help; /* paragraphs, examples */
	const struct verb_option *options; /* ends with a row without a name; NULL: the verb parses itself */
	bool hidden;
	int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
};

/* Runs the verb that argv[1] names, from the command line's own table and from `more` (verbs that live in
 * other rooms: serve, exec, report). */
int cli_main(int argc, char **argv, const struct verb *more, size_t more_count);

#endif
