/* `sluice resume`: an experiment that paused itself goes on. */
#include "cli/verbs.h"

#include <stdio.h>

static const struct verb_option resume_options[] = {
	{"json", NULL, "print the experiments as they are now, a line each"},
	{0},
};

static int resume_one(struct call *call, const char *text)
{
	struct error err;
	struct target target;
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	if (target_parse_experiment(text, &target, &err) < 0)
		return call_usage(call->verb, &err);
	char *path = target_path(&target, "/resume");
	int rc = client_post(&call->client, path, "{}", &json, &answer, &err);
	if (rc == 0 && options_has(&call->options, "json"))
		puts(buf_text(&json));
	else if (rc == 0)
		printf("%s goes on\n", target.experiment);
	node_free(answer);
	buf_free(&json);
	free(path);
	return rc < 0 ? call_fail(&err) : 0;
}

static int resume_run(int argc, char **argv)
{
	struct call call;
	int status = call_begin(&call, &verb_resume, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	status = call_connect(&call);
	for (size_t i = 0; call.connected && i < call.options.args.len; i++) {
		int one = resume_one(&call, call.options.args.at[i]);
		status = one ? one : status;
	}
	return call_end(&call, status);
}

const struct verb verb_resume = {
	.name = "resume",
	.arguments = "ID ...",
	.summary = "let a paused experiment go on as it is",
	.help = "An experiment pauses itself when its tasks fail one after the other in the same way, or when its search finds\n"
		"no value of the objective. 'sluice show ID' says why. Often something else is better than to go on:\n\n"
		"  sluice restart e12 --failed --with train.py   after the script was corrected\n"
		"  sluice change e12 --objective val_loss        after the objective was misspelt\n"
		"  sluice change e12 --failures off              to go on, and never to pause for failures",
	.options = resume_options,
	.run = resume_run,
};
