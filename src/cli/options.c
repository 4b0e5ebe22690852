/* Option parsing driven by the verbs' tables: see options.h. */
#include "cli/options.h"

#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void options_names(const struct verb_option *option, char *ret_letter, const char **ret_name)
{
	const char *name = option->name;
	*ret_letter = !name[1] || name[1] == ',' ? name[0] : 0;
	*ret_name = *ret_letter ? (name[1] ? name + 2 : NULL) : name;
}

bool options_is(const struct verb_option *option, const char *name)
{
	char letter;
	const char *full;
	options_names(option, &letter, &full);
	return full ? strcmp(full, name) == 0 : letter == name[0] && !name[1];
}

static const struct verb_option *options_find_letter(const struct verb_option *table, char wanted)
{
	for (; table && table->name; table++) {
		char letter;
		const char *name;
		options_names(table, &letter, &name);
		if (letter == wanted)
			return table;
	}
	return NULL;
}

static const struct verb_option *options_find(const struct verb_option *table, const char *text, size_t len)
{
	for (; table && table->name; table++) {
		char letter;
		const char *name;
		options_names(table, &letter, &name);
		if (name && strlen(name) == len && memcmp(name, text, len) == 0)
			return table;
	}
	return NULL;
}

/* "no option --paralel; did you mean --parallel?" */
static int options_unknown(const struct verb_option *table, const char *text, size_t len, struct error *err)
{
	const char *nearest = NULL;
	unsigned best = 3; /* further apart is another word */
	char *word = mem_copy(text, len);
	for (; table && table->name; table++) {
		char letter;
		const char *name;
		options_names(table, &letter, &name);
		unsigned distance = name ? text_distance(name, word) : best;
		if (name && len >= 3 && strncmp(name, word, len) == 0)
			distance = 1;
		if (distance < best) {
			best = distance;
			nearest = name;
		}
	}
	int rc = nearest ? errorf(err, -EINVAL, "no option --%s; did you mean --%s?", word, nearest)
			 : errorf(err, -EINVAL, "no option --%s", word);
	free(word);
	return rc;
}

static bool options_may_repeat(const struct verb_option *option)
{
	return option->value && text_ends(option->value, "...");
}

static int options_add(struct options *options, const struct verb_option *option, const char *value, struct error *err)
{
	for (size_t i = 0; option->value && !options_may_repeat(option) && i < options->given.len; i++)
		if (options->given.at[i].option == option && strcmp(options->given.at[i].value, value) != 0)
			return errorf(err, -EINVAL, "%s%s is given twice, as '%s' and '%s'",
				      option->name[1] ? "--" : "-",
				      option->name[1] == ',' ? option->name + 2 : option->name,
				      options->given.at[i].value, value);
	vec_push(&options->given, ((struct options_given){option, value}));
	return 0;
}

/* "--name", "--name=value" or "--name" "value"; *at is moved past what was used. */
static int options_parse_long(const struct verb_option *table, char **argv, int argc, int *at, struct options *ret,
			      struct error *err)
{
	const char *text = argv[*at] + 2, *value = strchr(text, '=');
	size_t len = value ? (size_t)(value - text) : strlen(text);
	const struct verb_option *option = options_find(table, text, len);
	if (!option)
		return options_unknown(table, text, len, err);
	if (!option->value && value)
		return errorf(err, -EINVAL, "--%.*s takes no value", (int)len, text);
	if (!option->value)
		return options_add(ret, option, "", err);
	if (!value && *at + 1 >= argc)
		return errorf(err, -EINVAL, "--%s needs a value: --%s %s", text, text, option->value);
	return options_add(ret, option, value ? value + 1 : argv[++*at], err);
}

/* "-f", "-n5", "-n" "5", "-fn5" */
static int options_parse_letters(const struct verb_option *table, char **argv, int argc, int *at, struct options *ret,
				 struct error *err)
{
	for (const char *p = argv[*at] + 1; *p; p++) {
		const struct verb_option *option = options_find_letter(table, *p);
		if (!option)
			return errorf(err, -EINVAL, "no option -%c", *p);
		if (option->value && p[1])
			return options_add(ret, option, p + 1, err);
		if (option->value && *at + 1 >= argc)
			return errorf(err, -EINVAL, "-%c needs a value: -%c %s", *p, *p, option->value);
		int rc = options_add(ret, option, option->value ? argv[++*at] : "", err);
		if (rc < 0 || option->value)
			return rc;
	}
	return 0;
}

int options_parse(const struct verb_option *table, int argc, char **argv, struct options *ret, struct error *err)
{
	struct options options = {0};
	bool only_args = false;
	for (int i = 1; i < argc; i++) {
		int rc = 0;
		if (only_args || argv[i][0] != '-' || !argv[i][1])
			vec_push(&options.args, argv[i]);
		else if (strcmp(argv[i], "--") == 0)
			only_args = true;
		else if (argv[i][1] == '-')
			rc = options_parse_long(table, argv, argc, &i, &options, err);
		else
			rc = options_parse_letters(table, argv, argc, &i, &options, err);
		if (rc < 0) {
			options_free(&options);
			return rc;
		}
	}
	*ret = options;
	return 0;
}

void options_free(struct options *options)
{
	free(options->given.at);
	free(options->args.at);
}

const char *options_get(const struct options *options, const char *name)
{
	for (size_t i = options->given.len; i-- > 0;)
		if (options_is(options->given.at[i].option, name))
			return options->given.at[i].value;
	return NULL;
}

bool options_has(const struct options *options, const char *name)
{
	return options_get(options, name) != NULL;
}

int options_int(const struct options *options, const char *name, int64_t min, int64_t max, int64_t fallback,
		int64_t *ret, struct error *err)
{
	const char *text = options_get(options, name);
	if (!text) {
		*ret = fallback;
		return 0;
	}
	if (num_parse_int(text, strlen(text), min, max, ret) < 0)
		return errorf(err, -EINVAL, "%s%s: expected a whole number from %" PRId64 " to %" PRId64 ", got '%s'",
			      name[1] ? "--" : "-", name, min, max, text);
	return 0;
}
