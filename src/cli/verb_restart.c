/* `sluice restart`: another attempt of tasks that have ended. `sluice resume`: continues a paused experiment. */
#include "cli/verbs.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option restart_options[] = {
	{"failed", NULL, "restart only the tasks that ended in error"},
	{"resume", NULL, "go on in the folders of the last attempt"},
	{"fresh", NULL, "begin anew; the folders are removed once the new attempt has started"},
	{"with", "SCRIPT", "replace the submitted script first, for all attempts from now on"},
	{"y,yes", NULL, "do not ask before finished results are replaced"},
	{"json", NULL, "print the daemon's answers as JSON, one per line"},
	{0},
};

static const char restart_loss[] = "their results are replaced once the new attempts have started";

/* {"failed":true,"mode":"fresh","script":"…"} */
static int restart_body(const struct options *options, struct buf *out, struct error *err)
{
	struct json w = json_to(out);
	struct buf script = buf_make(LIMIT_BODY_BYTES);
	const char *with = options_get(options, "with");
	bool resume = options_has(options, "resume"), fresh = options_has(options, "fresh");
	int rc = resume && fresh ? errorf(err, -EINVAL, "give one of --resume and --fresh") : 0;
	if (rc == 0 && with)
		rc = fs_read(with, LIMIT_BODY_BYTES / 2, &script, err);
	if (rc == 0 && with &&
	    (memchr(buf_text(&script), 0, script.len) || text_utf8_check(buf_text(&script), script.len) != script.len))
		rc = errorf(err, -EINVAL, "%s is no text: only a script can be replaced; submit the program anew",
			    with);
	json_map(&w);
	if (options_has(options, "failed"))
		json_key_bool(&w, "failed", true);
	if (resume || fresh)
		json_key_string(&w, "mode", resume ? "resume" : "fresh");
	if (rc == 0 && with)
		json_key_string(&w, "script", buf_text(&script));
	json_end(&w);
	buf_free(&script);
	return rc;
}

/* How many finished results it would replace, and whether one of the experiments was only stopped. */
static int restart_count(struct call *call, const struct target *target, int64_t *ret, bool *ret_stopped,
			 struct error *err)
{
	struct node *answer = NULL;
	char *path = target_path(target, "");
	int rc = client_get(&call->client, path, NULL, &answer, err);
	const char *state = node_get_string(answer, "state");
	if (rc == 0 && target->number)
		*ret += state && strcmp(state, "finished") == 0;
	else if (rc == 0 && !options_has(&call->options, "failed"))
		*ret += node_get_int(node_get(answer, "tasks"), "finished", 0);
	*ret_stopped |= rc == 0 && !target->number && state && strcmp(state, "stopped") == 0;
	node_free(answer);
	free(path);
	return rc;
}

/* 0, or the exit status: nothing is done then. */
static int restart_confirm(struct call *call, const struct target *targets)
{
	struct error err;
	int64_t finished = 0;
	bool stopped = false;
	char answer[16] = "";
	if (options_has(&call->options, "yes"))
		return 0;
	for (size_t i = 0; i < call->options.args.len; i++)
		if (restart_count(call, &targets[i], &finished, &stopped, &err) < 0)
			return call_fail(&err);
	if (!finished)
		return 0;
	if (!isatty(0)) {
		errorf(&err, -EINVAL, "%" PRId64 " of the tasks %s finished; %s. Add --yes to confirm, or %s", finished,
		       finished == 1 ? "has" : "have", restart_loss,
		       stopped ? "keep them: `sluice resume` goes on where it was stopped"
			       : "--failed to leave them alone");
		return call_usage(call->verb, &err);
	}
	fprintf(stderr, "%" PRId64 " of the tasks %s finished; %s%s. Restart them too? [y/N] ", finished,
		finished == 1 ? "has" : "have", restart_loss,
		stopped ? " (`sluice resume` goes on where it was stopped)" : "");
	fflush(stderr);
	bool yes = fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
	return yes ? 0 : 1;
}

/* The reason of the task says from where it goes on. */
static void restart_say(struct call *call, const struct target *target, const struct node *answer)
{
	const char *reason = node_get_string(answer, "reason");
	int64_t count = node_get_int(answer, "tasks", 0);
	const char *how = options_has(&call->options, "resume") ? "in the folders of their last attempts"
		: options_has(&call->options, "fresh")
		? "from the beginning"
		: "from their checkpoints, or from the beginning where nothing was saved";
	if (target->number)
		printf("%s/%" PRId64 " is to run again%s%s\n", target->experiment, target->number, reason ? ": " : "",
		       reason ? reason : "");
	else if (count)
		printf("%s: %" PRId64 " task%s to run again, %s\n", target->experiment, count, count == 1 ? "" : "s",
		       how);
	else
		printf("%s: there was nothing to do\n", target->experiment);
}

static int restart_one(struct call *call, const struct target *target, const char *body)
{
	struct error err;
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	char *path = target_path(target, "/restart");
	int rc = client_post(&call->client, path, body, &json, &answer, &err);
	if (rc == 0 && options_has(&call->options, "json"))
		puts(buf_text(&json));
	else if (rc == 0)
		restart_say(call, target, answer);
	node_free(answer);
	buf_free(&json);
	free(path);
	return rc < 0 ? call_fail(&err) : 0;
}

static int restart_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf body = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_restart, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	struct target *targets = mem_array(call.options.args.len, sizeof(*targets));
	int rc = restart_body(&call.options, &body, &err);
	for (size_t i = 0; rc == 0 && i < call.options.args.len; i++) {
		rc = target_parse(call.options.args.at[i], &targets[i], &err);
		if (rc == 0 && targets[i].number && options_has(&call.options, "failed"))
			rc = errorf(&err, -EINVAL, "--failed is for experiments, not for the task %s",
				    call.options.args.at[i]);
	}
	status = rc < 0 ? call_usage(&verb_restart, &err) : call_connect(&call);
	if (!status)
		status = restart_confirm(&call, targets);
	bool go = !status;
	for (size_t i = 0; go && i < call.options.args.len; i++)
		status |= restart_one(&call, &targets[i], buf_text(&body));
	free(targets);
	buf_free(&body);
	return call_end(&call, status);
}

const struct verb verb_restart = {
	.name = "restart",
	.arguments = "ID[/TASK] ... [--failed] [--resume|--fresh] [--with SCRIPT]",
	.summary = "run tasks again that have ended",
	.help = "Makes the next attempt of each task. Of an experiment, what still runs is left alone; a task that is named and\n"
		"still runs is refused: stop it first. A task that has saved something in its\n"
		"checkpoint folder and has not finished goes on from there, any other begins anew. Results of before stay\n"
		"until the new attempt has started. Asks before finished results are replaced.\n\n"
		"  sluice restart e12 --failed\n"
		"  sluice restart e12/7 e12/9 --fresh\n"
		"  sluice restart e12 --failed --with train.py   with the corrected script",
	.options = restart_options,
	.run = restart_run,
};

static const struct verb_option resume_options[] = {
	{"json", NULL, "print the experiments as JSON, one per line"},
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
	.summary = "let a paused or stopped experiment go on",
	.help = "An experiment pauses itself when its tasks fail one after the other in the same way, or when its search finds\n"
		"no value of the objective. 'sluice show ID' says why. Often another command is better than 'resume':\n\n"
		"  sluice restart e12 --failed --with train.py   after the script was corrected\n"
		"  sluice change e12 --objective val_loss        after the objective was misspelt\n"
		"  sluice change e12 --failures off              to go on, and never to pause for failures\n\n"
		"After 'sluice stop', 'resume' lets the search go on where it was: what has finished is kept, what was\n"
		"stopped runs again (from its checkpoint, where it has one), and the rest of its tasks follows.",
	.options = resume_options,
	.run = resume_run,
};
