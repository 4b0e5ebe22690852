/* The options and arguments of one call, parsed with the option table of a verb. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/error.h"
#include "cli/verb.h"

struct options_given {
	const struct verb_option *option;
	const char *value; /* "" for a switch */
};

struct options {
	VEC(struct options_given) given;
	VEC(const char *) args; /* what is not an option, in order */
};

/* Parses argv[1..]. `--name value`, `--name=value`, `-n 5`, `-n5`, `-fn 5`; `--` ends options; "-" is an argument. The
 * texts still belong to argv. 0, or -EINVAL with what is wrong and the most similar option. */
int options_parse(const struct verb_option *table, int argc, char **argv, struct options *ret,
		  struct error *err) MUST_USE;
void options_free(struct options *options);
/* The value of the last `name` ("" for a switch), or NULL when it was not given. name is the long one. */
const char *options_get(const struct options *options, const char *name);
bool options_has(const struct options *options, const char *name);
/* A number from min to max, `fallback` when not given. -EINVAL with a message. */
int options_int(const struct options *options, const char *name, int64_t min, int64_t max, int64_t fallback,
		int64_t *ret, struct error *err) MUST_USE;

/* The parts of an option's name: "f,follow" is 'f' and "follow". letter is 0, name NULL where absent. */
void options_names(const struct verb_option *option, char *ret_letter, const char **ret_name);
/* Does the option's long name (its letter where it has no long one) equal `name`? */
bool options_is(const struct verb_option *option, const char *name);

#endif
