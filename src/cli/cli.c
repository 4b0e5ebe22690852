/* The command line: the table of verbs, help, and the way from argv[1] to a verb. */
#include "cli/verbs.h"

#include "base/text.h"
#include "cli/help.h"

#include <errno.h>
#include <stdio.h>

static const struct verb *const cli_verbs[] = {
	&verb_run,    &verb_check,      &verb_watch,  &verb_ls,      &verb_show,     &verb_best,    &verb_logs,
	&verb_stop,   &verb_restart,    &verb_resume, &verb_rm,      &verb_parallel, &verb_change,  &verb_suggest,
	&verb_import, &verb_ask,        &verb_tell,   &verb_analyse, &verb_energy,   &verb_tune,    &verb_mark,
	&verb_notify, &verb_find,       &verb_export, &verb_doctor,  &verb_login,    &verb_session, &verb_token,
	&verb_daemon, &verb_completion, &verb_ids,    &verb_man,
};

/* Made by scripts/make-licences. */
extern const char cli_licences[];

/* The verbs of other rooms, as main.c gave them. */
static const struct verb *cli_more;
static size_t cli_more_count;

const struct verb *cli_verb(size_t index)
{
	if (index < COUNT_OF(cli_verbs))
		return cli_verbs[index];
	index -= COUNT_OF(cli_verbs);
	return index < cli_more_count ? &cli_more[index] : NULL;
}

static const struct verb *cli_find(const char *name)
{
	const struct verb *verb;
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

static int cli_unknown(const char *name)
{
	const struct verb *verb, *nearest = NULL;
	unsigned best = 3;
	for (size_t i = 0; (verb = cli_verb(i)); i++) {
		unsigned distance = text_distance(verb->name, name);
		if (!verb->hidden && distance < best) {
			best = distance;
			nearest = verb;
		}
	}
	struct buf safe = buf_make(1024);
	term_add_safe(&safe, name);
	fprintf(stderr, "sluice: there is no verb '%s'", buf_text(&safe));
	if (nearest)
		fprintf(stderr, "; did you mean '%s'?", nearest->name);
	fputs("\n'sluice --help' lists them\n", stderr);
	buf_free(&safe);
	return 2;
}

/* Is help asked for, before any "--"? A verb that parses itself takes it in the first place only. */
static bool cli_wants_help(const struct verb *verb, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
		if (!verb->options)
			break;
	}
	return false;
}

static int cli_run(const struct verb *verb, int argc, char **argv)
{
	struct error err;
	struct options options;
	if (cli_wants_help(verb, argc, argv)) {
		help_print_verb(verb);
		return 0;
	}
	/* Verbs of other rooms read their own argv; misspelt options are found here for all alike. */
	if (verb->options) {
		if (options_parse(verb->options, argc, argv, &options, &err) < 0)
			return call_usage(verb, &err);
		options_free(&options);
	}
	return verb->run(argc, argv);
}

int cli_main(int argc, char **argv, const struct verb *more, size_t more_count)
{
	cli_more = more;
	cli_more_count = more_count;
	const char *name = argc > 1 ? argv[1] : "";
	if (argc < 2) {
		help_print_all(stderr);
		return 2;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
		puts("sluice " SLUICE_VERSION);
		return 0;
	}
	if (strcmp(name, "--licences") == 0 || strcmp(name, "--licenses") == 0) {
		fputs(cli_licences, stdout);
		return 0;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		const struct verb *verb = argc > 2 ? cli_find(argv[2]) : NULL;
		if (argc > 2 && !verb)
			return cli_unknown(argv[2]);
		if (verb)
			help_print_verb(verb);
		else
			help_print_all(stdout);
		return 0;
	}
	const struct verb *verb = cli_find(name);
	return verb ? cli_run(verb, argc - 1, argv + 1) : cli_unknown(name);
}
