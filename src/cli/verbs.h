/* All verbs of this folder, and what each of them does first and last. A verb is one `const struct verb` in its own
 * file, and one line in cli.c. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/client.h"
#include "cli/options.h"
#include "cli/term.h"
#include "cli/verb.h"

extern const struct verb verb_run, verb_check, verb_watch, verb_ls, verb_show, verb_best, verb_logs, verb_stop,
	verb_restart, verb_resume, verb_rm, verb_parallel, verb_change, verb_suggest, verb_import, verb_ask, verb_tell,
	verb_analyse, verb_energy, verb_tune, verb_export, verb_doctor, verb_login, verb_session, verb_token,
	verb_daemon, verb_completion, verb_find, verb_ids, verb_man, verb_mark, verb_notify;

/* One call of a verb. */
struct call {
	const struct verb *verb;
	struct options options;
	struct client client;
	struct term term; /* of stdout */
	bool connected;
};

/* Parses the options. 0, or the exit status 2 after printing what is wrong: then the verb returns it. */
int call_begin(struct call *call, const struct verb *verb, int argc, char **argv, size_t min_args, size_t max_args);
/* Finds or starts the daemon. 0, or the exit status 1 after printing what is wrong. */
int call_connect(struct call *call);
/* Prints what went wrong and returns 1. */
int call_fail(const struct error *err);
/* Writes what a verb shows of an answer. */
typedef void (*call_print_f)(const struct node *answer, const struct term *term, struct buf *out);
/* GET: adds the answer to out, as JSON where --json asks for it. */
int call_get(struct call *call, const char *path, call_print_f print, struct buf *out, struct error *err) MUST_USE;
/* The same, to stdout; returns the exit status, and has said what went wrong. */
int call_show(struct call *call, const char *path, call_print_f print) MUST_USE;
/* Prints what is wrong with the call, and how to get help; returns 2. */
int call_usage(const struct verb *verb, const struct error *err);
/* Frees everything and returns status, or 1 if stdout could not be written. */
int call_end(struct call *call, int status);

/* The table: own verbs first, then those of other rooms. NULL at the end. */
const struct verb *cli_verb(size_t index);

/* "e12" or "e12/7"; number 0: the experiment. */
struct target {
	char experiment[24];
	int64_t number;
};

int target_parse(const char *text, struct target *ret, struct error *err) MUST_USE;
/* The same, but a task is refused. */
int target_parse_experiment(const char *text, struct target *ret, struct error *err) MUST_USE;
/* The path below /api/v1, followed by `rest`. The caller frees it. */
char *target_path(const struct target *target, const char *rest);

#endif
