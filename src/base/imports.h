/* What a Python script needs beside itself, as far as its text says it: the modules it imports and the relative paths it has
 * as texts. Nothing is run. */
#ifndef BASE_IMPORTS_H
#define BASE_IMPORTS_H

#include "base/mem.h"

#include <stddef.h>

struct imports {
	VEC(char *) modules; /* "utils", "lib.layers", ".sibling", "..": dots in front as written */
	VEC(char *) paths; /* "data/x.csv", "config.yaml": no more than a guess; look whether it is there */
};

/* Reads the text of a script; any bytes do. `from a import b` gives a and a.b, since b may be a module. */
void imports_read(const char *text, size_t len, struct imports *ret);
void imports_free(struct imports *imports);

#endif
