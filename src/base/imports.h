/* Finds other files that a Python script needs, from its text: the modules that it imports, and its strings that look
 * like relative paths. Nothing is run. */
#ifndef BASE_IMPORTS_H
#define BASE_IMPORTS_H

#include "base/mem.h"

#include <stddef.h>

struct imports {
	VEC(char *) modules; /* "utils", "lib.layers", ".sibling", "..": dots in front as written */
	VEC(char *) top; /* those of statements that begin a line: not in a function, `try:` or `if:` */
	VEC(char *) reads; /* of the paths those that a call reads: read_csv("data/x.csv"), open("a.txt") */
	VEC(char *) configs; /* what hydra reads: the folder config_path, and config_name as a file */
	VEC(char *) paths; /* "data/x.csv", "config.yaml": only a guess; check whether it exists */
};

/* Reads the text of a script; it may have any bytes. `from a import b` gives a and a.b, since b may be a module. */
void imports_read(const char *text, size_t len, struct imports *ret);
void imports_free(struct imports *imports);

#endif
