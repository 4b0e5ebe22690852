/* sluice: one program is the command line, the daemon and the runner on the compute node. */
#include "base/token.h"
#include "cli/verb.h"
#include "http/serve.h"
#include "node/exec.h"
#include "search/search.h"

#include <nss.h>
#include <stdio.h>
#include <string.h>

/* A static program must not load NSS modules: getpwnam of a directory user would crash on a real
 * cluster. */
static void main_keep_nss_out(void)
{
	static const char *const files[] = {"passwd", "group", "services", "shadow"};
	for (size_t i = 0; i < COUNT_OF(files); i++)
		__nss_configure_lookup(files[i], "files");
	__nss_configure_lookup("hosts", "files dns");
}

/* For completion: a name and what it is, from the table of strategies. */
static int main_strategies(int argc, char **argv)
{
	(void)argc, (void)argv;
	puts("auto\tChosen by the space, the budget and the objectives");
	for (const struct strategy *s = search_strategies; s->name; s++)
		printf("%s\t%s\n", s->name, s->help);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct verb_option serve_options[] = {
		{"listen", "HOST:PORT",
		 "where browsers connect (127.0.0.1:54322, another port where that is taken); loopback only"},
		{"state", "DIR", "state folder (default $SLUICE_STATE, else ~/.local/state/sluice)"},
		{"verbose", NULL, "log more"},
		{"login-link", NULL, "print a one-time login link (also when stdout is a terminal)"},
		{0},
	};
	static const struct verb more[] = {
		{.name = "serve",
		 .arguments = "[options]",
		 .summary = "the daemon: dashboard, REST, scheduling",
		 .help = "Runs in the foreground until SIGTERM or SIGINT. Training goes on when it stops, and is\n"
			 "taken up again when it starts.",
		 .options = serve_options,
		 .run = serve_main},
		{.name = "exec",
		 .arguments = "BATCH_DIR INDEX",
		 .summary = "run one attempt on the node (internal)",
		 .hidden = true,
		 .run = node_exec_main},
		{.name = "report",
		 .arguments = "NAME=VALUE ...",
		 .summary = "report metrics from inside a training script",
		 .help = "  sluice report val_loss=0.31 epoch=4",
		 .run = node_report_main},
		{.name = "__strategies",
		 .arguments = "",
		 .summary = "names of strategies, for completion",
		 .hidden = true,
		 .run = main_strategies},
	};

	/* The runner looks up no user and makes no token, and one is started for every task. */
	bool runner = argc > 1 && strcmp(argv[1], "exec") == 0;
	if (!runner)
		main_keep_nss_out();
	if (!runner && token_init() < 0) {
		fputs("sluice: the system has no source of random numbers\n", stderr);
		return 1;
	}
	return cli_main(argc, argv, more, COUNT_OF(more));
}
