/* See interpreter.h. */
#include "spool/interpreter.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const struct interpreter {
	const char *name; /* without a version */
	const char *suffix, *program; /* NULL: not chosen by us */
} interpreters[] = {
	{"python", ".py", "python3"}, {"bash", ".sh", "bash"}, {"Rscript", ".R", "Rscript"}, {"julia", ".jl", "julia"},
	{"sh", NULL, NULL},           {"perl", NULL, NULL},    {"node", NULL, NULL},
};

const char *spool_interpreter_of(const char *script)
{
	for (size_t i = 0; i < COUNT_OF(interpreters); i++)
		if (interpreters[i].suffix && text_ends(script, interpreters[i].suffix))
			return interpreters[i].program;
	return NULL;
}

bool spool_is_interpreter(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	for (size_t i = 0; i < COUNT_OF(interpreters); i++) {
		size_t len = strlen(interpreters[i].name);
		const char *version = name + len;
		if (strncmp(name, interpreters[i].name, len) == 0 && strspn(version, "0123456789.") == strlen(version))
			return true;
	}
	return false;
}
