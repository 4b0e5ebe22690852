/* `sluice completion SHELL` and `sluice __man VERB`: what packagers install, written from the tables. */
#include "cli/help.h"
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>

static const struct verb_option completion_options[] = {{0}};

static int completion_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf out = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_completion, argc, argv, 1, 1);
	if (status)
		return status;
	const char *shell = call.options.args.at[0];
	if (help_write_completion(shell, &out) < 0) {
		errorf(&err, -EINVAL, "expected bash, zsh or fish, got '%s'", shell);
		status = call_usage(&verb_completion, &err);
	}
	fputs(buf_text(&out), stdout);
	buf_free(&out);
	return call_end(&call, status);
}

const struct verb verb_completion = {
	.name = "completion",
	.arguments = "bash | zsh | fish",
	.summary = "print the completion script for a shell",
	.help = "  bash:  source <(sluice completion bash)                                  in ~/.bashrc\n"
		"  zsh:   sluice completion zsh > ~/.zfunc/_sluice                          with ~/.zfunc in fpath\n"
		"  fish:  sluice completion fish > ~/.config/fish/completions/sluice.fish",
	.options = completion_options,
	.run = completion_run,
};

static int man_run(int argc, char **argv)
{
	const struct verb *verb;
	for (size_t i = 0; (verb = cli_verb(i)); i++) {
		if (argc < 2 && !verb->hidden)
			puts(verb->name);
		if (argc < 2 || strcmp(argv[1], verb->name) != 0)
			continue;
		struct buf out = buf_make(BUF_UNLIMITED);
		help_write_man(verb, &out);
		fputs(buf_text(&out), stdout);
		buf_free(&out);
		return 0;
	}
	return argc < 2 ? 0 : 2;
}

const struct verb verb_man = {
	.name = "__man",
	.arguments = "[VERB]",
	.summary = "the source of a verb's manual page; without one, the verbs",
	.hidden = true,
	.run = man_run,
};
