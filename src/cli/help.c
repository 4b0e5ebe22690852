/* Help and manual pages from the verbs' tables: see help.h. */
#include "cli/help.h"

#include "base/text.h"
#include "cli/verbs.h"

#include <ctype.h>

#define HELP_OPTION_WIDTH 28

void help_print_all(FILE *to)
{
	const struct verb *verb;
	size_t width = 0;
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (!verb->hidden && strlen(verb->name) > width)
			width = strlen(verb->name);
	fputs("sluice runs a training script with many hyperparameters, on a Slurm cluster or on this machine.\n\n"
	      "usage: sluice VERB [arguments]\n\n",
	      to);
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (!verb->hidden)
			fprintf(to, "  %-*s  %s\n", (int)width, verb->name, verb->summary);
	fputs("\n'sluice VERB --help' says more about one. Without a running daemon, a verb starts one; its state is in\n"
	      "$SLUICE_STATE, else in ~/.local/state/sluice.\n\n"
	      "  sluice run train.py lr=0.1,0.01,0.001 epochs=20 --objective val_loss\n"
	      "  sluice run experiment.yaml\n"
	      "  sluice login\n",
	      to);
}

/* "-f, --follow" or "--tasks N" */
static void help_add_option(struct buf *out, const struct verb_option *option, const char *mark)
{
	char letter;
	const char *name;
	options_names(option, &letter, &name);
	if (letter)
		buf_addf(out, "%s-%c%s%s", mark, letter, mark, name ? ", " : "");
	if (name)
		buf_addf(out, "%s--%s%s", mark, name, mark);
	if (option->value) {
		size_t len = strlen(option->value) - (text_ends(option->value, "...") ? 3 : 0);
		buf_addf(out, " %.*s", (int)len, option->value);
	}
}

static bool help_may_repeat(const struct verb_option *option)
{
	return option->value && text_ends(option->value, "...");
}

void help_print_verb(const struct verb *verb)
{
	printf("usage: sluice %s %s\n\n%s\n", verb->name, verb->arguments ? verb->arguments : "", verb->summary);
	if (verb->help)
		printf("\n%s\n", verb->help);
	if (!verb->options || !verb->options->name)
		return;
	puts("\noptions:");
	for (const struct verb_option *option = verb->options; option->name; option++) {
		struct buf text = buf_make(1024);
		help_add_option(&text, option, "");
		if (text.len <= HELP_OPTION_WIDTH)
			printf("  %-*s  %s%s\n", HELP_OPTION_WIDTH, buf_text(&text), option->help,
			       help_may_repeat(option) ? " (may be repeated)" : "");
		else
			printf("  %s\n  %*s  %s%s\n", buf_text(&text), HELP_OPTION_WIDTH, "", option->help,
			       help_may_repeat(option) ? " (may be repeated)" : "");
		buf_free(&text);
	}
}

/* scdoc gives a meaning to _ * \ and, at the start of a line, to # and -. */
static void help_add_man_text(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("_*\\<>~", text[i]) || (i == 0 && strchr("#-.|[]:", text[i])))
			buf_add_char(out, '\\');
		buf_add_char(out, text[i]);
	}
}

/* Paragraphs as they are; lines that begin with a space are examples. */
static void help_add_man_help(struct buf *out, const char *help)
{
	bool literal = false;
	while (*help) {
		size_t len = strcspn(help, "\n");
		bool example = help[0] == ' ';
		if (example != literal) {
			buf_add_text(out, literal ? "```\n\n" : "\n```\n");
			literal = example;
		}
		for (size_t i = 0; example && i < len; i++) {
			if (help[i] == '\\')
				buf_add_char(out, '\\');
			buf_add_char(out, help[i]);
		}
		if (!example)
			help_add_man_text(out, help, len);
		buf_add_char(out, '\n');
		help += len + (help[len] == '\n');
	}
	if (literal)
		buf_add_text(out, "```\n");
}

void help_write_man(const struct verb *verb, struct buf *out)
{
	buf_addf(out, "sluice-%s(1)\n\n# NAME\n\nsluice-%s - ", verb->name, verb->name);
	help_add_man_text(out, verb->summary, strlen(verb->summary));
	buf_addf(out, "\n\n# SYNOPSIS\n\n*sluice %s* ", verb->name);
	if (verb->arguments)
		help_add_man_text(out, verb->arguments, strlen(verb->arguments));
	buf_add_text(out, "\n\n# DESCRIPTION\n\n");
	if (verb->help) {
		help_add_man_help(out, verb->help);
	} else {
		buf_add_char(out, (char)toupper((unsigned char)verb->summary[0]));
		help_add_man_text(out, verb->summary + 1, strlen(verb->summary + 1));
		buf_add_text(out, ".\n");
	}
	if (verb->options && verb->options->name)
		buf_add_text(out, "\n# OPTIONS\n");
	for (const struct verb_option *option = verb->options; option && option->name; option++) {
		struct buf name = buf_make(1024);
		help_add_option(&name, option, "*");
		buf_addf(out, "\n%s\n\t", buf_text(&name));
		help_add_man_text(out, option->help, strlen(option->help));
		buf_add_text(out, help_may_repeat(option) ? " (may be repeated)\n" : "\n");
		buf_free(&name);
	}
	buf_add_text(out,
		     "\n# EXIT STATUS\n\n0 when it worked, 1 when it failed, 2 when it was called wrongly.\n\n"
		     "# SEE ALSO\n\n*sluice*(1), *sluice-experiment*(5)\n");
}
