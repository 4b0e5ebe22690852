/* The tables of words. See slurm_words.h. */
#include "backend/slurm_words.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *state;
	enum slurm_state_kind kind;
	const char *words;
} slurm_states[] = {
	{"PENDING", SLURM_STATE_WAITING, NULL},
	{"CONFIGURING", SLURM_STATE_WAITING, "the node is being prepared"},
	{"POWER_UP_NODE", SLURM_STATE_WAITING, "the node is being switched on"},
	{"REQUEUED", SLURM_STATE_WAITING, "put back into the queue"},
	{"REQUEUE_FED", SLURM_STATE_WAITING, "put back into the queue of another cluster"},
	{"REQUEUE_HOLD", SLURM_STATE_WAITING, "put back into the queue and held; `scontrol release` lets it go on"},
	{"RESV_DEL_HOLD", SLURM_STATE_WAITING, "held because its reservation was deleted"},
	{"SPECIAL_EXIT", SLURM_STATE_WAITING, "held after a special exit; `scontrol release` lets it go on"},
	{"RUNNING", SLURM_STATE_RUNNING, NULL},
	{"COMPLETING", SLURM_STATE_RUNNING, "ending"},
	{"RESIZING", SLURM_STATE_RUNNING, "its size is being changed"},
	{"SIGNALING", SLURM_STATE_RUNNING, "being sent a signal"},
	{"STAGE_OUT", SLURM_STATE_RUNNING, "its files are being written back"},
	{"STOPPED", SLURM_STATE_RUNNING, "stopped by a signal"},
	{"SUSPENDED", SLURM_STATE_RUNNING, "suspended by the scheduler or an administrator"},
	{"UPDATE_DB", SLURM_STATE_RUNNING, "its record is being updated"},
	{"COMPLETED", SLURM_STATE_ENDED, NULL},
	{"FAILED", SLURM_STATE_ENDED, NULL},
	{"CANCELLED", SLURM_STATE_ENDED, NULL},
	{"TIMEOUT", SLURM_STATE_ENDED, NULL},
	{"OUT_OF_MEMORY", SLURM_STATE_ENDED, NULL},
	{"NODE_FAIL", SLURM_STATE_ENDED, NULL},
	{"PREEMPTED", SLURM_STATE_ENDED, NULL},
	{"BOOT_FAIL", SLURM_STATE_ENDED, NULL},
	{"DEADLINE", SLURM_STATE_ENDED, NULL},
	{"LAUNCH_FAILED", SLURM_STATE_ENDED, NULL},
	{"RECONFIG_FAIL", SLURM_STATE_ENDED, NULL},
};

enum slurm_state_kind slurm_state_kind(const char *state)
{
	for (size_t i = 0; i < COUNT_OF(slurm_states); i++)
		if (strcmp(slurm_states[i].state, state) == 0)
			return slurm_states[i].kind;
	return SLURM_STATE_UNKNOWN;
}

const char *slurm_state_words(const char *state)
{
	for (size_t i = 0; i < COUNT_OF(slurm_states); i++)
		if (strcmp(slurm_states[i].state, state) == 0)
			return slurm_states[i].words;
	return NULL;
}

/* Matched by their beginning, first match wins: the longer of two stands first. Slurm puts details
 * behind some ("ReqNodeNotAvail, UnavailableNodes:n1"); `details`: show them. */
static const struct {
	const char *reason;
	const char *words;
	bool details;
} slurm_reasons[] = {
	{"Priority", "jobs with a higher priority are ahead of it", false},
	{"Resources", "waiting for free resources", false},
	{"JobArrayTaskLimit", "the parallel limit of this batch is reached", false},
	{"DependencyNeverSatisfied", "it depends on a job that failed, so it will never start; stop it", false},
	{"Dependency", "waiting for the job it depends on", false},
	{"JobHeldUser", "held by its user; `scontrol release` lets it go on", false},
	{"JobHeldAdmin", "held by an administrator", false},
	{"JobHoldMaxRequeue", "held after too many restarts by Slurm", false},
	{"JobLaunchFailure", "the node could not start it; held for an administrator to look at", false},
	{"launch failed requeued held", "the node could not start it; held: `scontrol release` tries again", false},
	{"job requeued in held state", "put back into the queue and held; `scontrol release` lets it go on", false},
	{"BeginTime", "its start time has not come yet", false},
	{"Licenses", "waiting for a licence", false},
	{"ReservationDeleted", "its reservation was deleted", false},
	{"Reservation", "waiting for its reservation to begin", false},
	{"ReqNodeNotAvail, Reserved for maintenance", "the nodes are reserved for maintenance", false},
	{"ReqNodeNotAvail", "the nodes it needs are down, drained or reserved", true},
	{"Nodes required for job are DOWN", "the nodes it needs are down, drained or reserved for others", false},
	{"NodeDown", "a node it needs is down", false},
	{"PartitionDown", "the partition is switched off", false},
	{"PartitionInactive", "the partition does not accept jobs now", false},
	{"PartitionTimeLimit",
	 "it asks for more time than the partition allows, so it will never start; ask for less time", false},
	{"PartitionNodeLimit", "it asks for more than the partition has, so it will never start; ask for less", false},
	{"PartitionConfig", "it asks for more than the partition has, so it will never start; ask for less", false},
	{"BadConstraints", "no node can ever satisfy what it asks for; change the constraint or the resources", false},
	{"InactiveLimit", "the system's inactive limit was reached", false},
	{"InvalidAccount", "its account is not valid; ask an administrator", false},
	{"InvalidQOS", "its QOS is not valid; choose another", false},
	{"AccountNotAllowed", "this account may not use the partition; choose another", false},
	{"AccountingPolicy", "an accounting limit was reached; it starts when other jobs of yours have ended", true},
	{"QOSNotAllowed", "this QOS may not be used here; choose another", false},
	{"QOSUsageThreshold", "the QOS's usage threshold was passed", false},
	{"QOSTimeLimit", "the QOS has used up its time", false},
	{"QOSJobLimit", "the QOS's limit of jobs was reached", false},
	{"QOSResourceLimit", "the QOS's limit of resources was reached", false},
	{"QOSMaxJobs", "you run as many jobs as the QOS allows", true},
	{"QOSMaxSubmit", "you have as many jobs in the queue as the QOS allows", true},
	{"QOSMaxWall", "it asks for more time than the QOS allows, so it will not start; ask for less time", true},
	{"QOSMaxGRES", "you use as many GPUs as the QOS allows", true},
	{"QOSMaxCpu", "you use as many CPUs as the QOS allows", true},
	{"QOSMaxMem", "you use as much memory as the QOS allows", true},
	{"QOSMaxNode", "you use as many nodes as the QOS allows", true},
	{"QOSGrp", "everyone in the QOS together has reached its limit", true},
	{"QOS", "a limit of the QOS was reached", true},
	{"AssocMaxJobs", "you run as many jobs as your account allows", true},
	{"AssocMaxSubmit", "you have as many jobs in the queue as your account allows", true},
	{"AssocMaxWall", "it asks for more time than your account allows, so it will not start; ask for less time",
	 true},
	{"AssocMaxGRES", "you use as many GPUs as your account allows", true},
	{"AssocMaxCpu", "you use as many CPUs as your account allows", true},
	{"AssocMaxMem", "you use as much memory as your account allows", true},
	{"AssocMaxNode", "you use as many nodes as your account allows", true},
	{"AssocGrp", "everyone in the account together has reached its limit", true},
	{"Assoc", "a limit of your account was reached", true},
	{"MaxGRES", "the GPUs' limit was reached", true},
	{"MaxMemPerLimit", "it asks for more memory than the partition allows; ask for less", false},
	{"Prolog", "the node's prolog is running", false},
	{"FrontEndDown", "the front end is down", false},
	{"SystemFailure", "Slurm failed to start it", false},
	{"Cleaning", "being put back into the queue", false},
	{"NonZeroExitCode", "it ended with an error and waits to be put back", false},
	{"BurstBuffer", "its files are being staged in", true},
	{"SchedDefer", "it was asked to start later", false},
	{"DeadLine", "its deadline has passed", false},
};

void slurm_reason_words(const char *reason, struct buf *out)
{
	if (!*reason || strcmp(reason, "None") == 0 || strcmp(reason, "(null)") == 0)
		return;
	for (size_t i = 0; i < COUNT_OF(slurm_reasons); i++) {
		if (!text_starts(reason, slurm_reasons[i].reason))
			continue;
		buf_add_text(out, slurm_reasons[i].words);
		if (slurm_reasons[i].details)
			buf_addf(out, " (%.200s)", reason);
		return;
	}
	buf_addf(out, "Slurm says: %.200s", reason);
}

/* The words for ends. Rows are tried in order; a state alone matches whatever else is known. A row with a reason counts
 * only where no exit code or signal is known: squeue's reasons are rough (a task killed by a signal is a
 * "JobLaunchFailure"), but without accounting they are all there is. */
static const struct {
	const char *state;
	const char *reason; /* what squeue's reason begins with; NULL: any */
	enum cause cause;
	const char *message, *remedy;
} slurm_ends[] = {
	{"OUT_OF_MEMORY", NULL, CAUSE_MEMORY, "used more memory than it asked for and was ended by Slurm",
	 "ask for more with `memory:` (`sluice change ID --memory 32G`, then restart), or make the task smaller"},
	{"TIMEOUT", NULL, CAUSE_TIME, "reached its time limit",
	 "ask for more with `time:` (`sluice change ID --time 4h`, then restart), or save to SLUICE_CHECKPOINT_DIR: then "
	 "it is continued"},
	{"NODE_FAIL", NULL, CAUSE_NODE, "its node failed", "restart it; it goes to another node"},
	{"PREEMPTED", NULL, CAUSE_PREEMPTED, "had to make room for a job with a higher priority",
	 "restart it, or choose another QOS or partition"},
	{"BOOT_FAIL", NULL, CAUSE_BOOT, "its node did not start up",
	 "restart it; tell an administrator if it happens again"},
	{"DEADLINE", NULL, CAUSE_DEADLINE, "could not end before its deadline",
	 "take the deadline out of the options or move it"},
	{"LAUNCH_FAILED", NULL, CAUSE_LAUNCH, "the node could not start it",
	 "restart it; tell an administrator if it happens again"},
	{"RECONFIG_FAIL", NULL, CAUSE_NODE, "its node could not be set up again",
	 "restart it; tell an administrator if it happens again"},
	{"FAILED", "BadConstraints", CAUSE_REFUSED, "no node can ever satisfy what it asks for",
	 "ask for less, or choose another partition or constraint"},
	{"FAILED", "SystemFailure", CAUSE_NODE, "Slurm failed while it ran it", "restart it"},
	{"FAILED", "OutOfMemory", CAUSE_MEMORY, "used more memory than it asked for and was ended by Slurm",
	 "ask for more with `memory:` (`sluice change ID --memory 32G`, then restart), or make the task smaller"},
	{"FAILED", "TimeLimit", CAUSE_TIME, "reached its time limit",
	 "ask for more with `time:` (`sluice change ID --time 4h`, then restart), or save to SLUICE_CHECKPOINT_DIR: then "
	 "it is continued"},
	{"FAILED", "Assoc", CAUSE_LIMIT, "a limit of the account was reached while it ran",
	 "ask an administrator for a higher limit"},
	{"FAILED", "QOS", CAUSE_LIMIT, "a limit of the QOS was reached while it ran", "choose another QOS"},
	{"CANCELLED", "Assoc", CAUSE_LIMIT, "a limit of the account was reached",
	 "ask an administrator for a higher limit"},
	{"CANCELLED", "QOS", CAUSE_LIMIT, "a limit of the QOS was reached", "choose another QOS"},
};

/* Not a signal, although it stands in its place (0:53): what a task gets whose output cannot be opened. */
#define SLURM_NO_OUTPUT 53

static void slurm_explain_cancel(const struct slurm_end *end, struct slurm_cause *ret)
{
	ret->cause = CAUSE_CANCELLED;
	if (end->with_array) {
		ret->cause = CAUSE_NODE;
		snprintf(ret->message, sizeof(ret->message),
			 "Slurm cancelled its whole job array, because a node could not start another task of it");
	} else if (end->by_uid < 0 || end->by_uid == end->own_uid) {
		snprintf(ret->message, sizeof(ret->message), "%s",
			 end->by_uid < 0 ? "cancelled, not by sluice" : "cancelled by you with scancel, not by sluice");
	} else if (end->by_uid == 0) {
		snprintf(ret->message, sizeof(ret->message), "cancelled by the system or an administrator");
		ret->remedy = "ask an administrator why before you restart it";
	} else {
		snprintf(ret->message, sizeof(ret->message), "cancelled by someone else (uid %" PRId64 ")",
			 end->by_uid);
		ret->remedy = "ask them why before you restart it";
	}
}

/* FAILED: by exit code, by signal, or not known (squeue alone says no more). */
static void slurm_explain_failure(const struct slurm_end *end, struct slurm_cause *ret)
{
	ret->exit_code = end->exit_code;
	ret->signal = end->signal;
	if (end->signal == SLURM_NO_OUTPUT) {
		ret->cause = CAUSE_LAUNCH;
		ret->exit_code = -1;
		ret->signal = 0;
		snprintf(ret->message, sizeof(ret->message),
			 "the node could not open the output or the working folder");
		ret->remedy = "see `sluice doctor`: can the compute nodes see the state folder and the program?";
	} else if (end->signal > 0) {
		ret->cause = CAUSE_SIGNAL;
		ret->exit_code = -1;
		snprintf(ret->message, sizeof(ret->message), "killed by signal %d (%s)", end->signal,
			 strsignal(end->signal));
		/* Without cgroups Slurm ends a job that passes its memory with a plain SIGKILL. */
		if (end->signal == 9)
			ret->remedy = "often too little memory: ask for more with `memory:`";
	} else if (end->exit_code == 126 || end->exit_code == 127) {
		ret->cause = CAUSE_LAUNCH;
		snprintf(ret->message, sizeof(ret->message),
			 "the program could not be started on the node (exit code %d)", end->exit_code);
		ret->remedy = "see `sluice doctor`: can the compute nodes see the state folder and the program?";
	} else if (end->exit_code > 0) {
		ret->cause = CAUSE_EXIT;
		snprintf(ret->message, sizeof(ret->message), "exit code %d", end->exit_code);
		ret->remedy = "see the error output";
	} else if (end->reason && text_starts(end->reason, "RaisedSignal")) {
		ret->cause = CAUSE_SIGNAL;
		snprintf(ret->message, sizeof(ret->message), "killed by a signal (%.100s)", end->reason);
	} else if (end->reason && text_starts(end->reason, "JobLaunchFailure")) {
		/* What Slurm before 24.11 says of every signal: an exit code has another reason. */
		ret->cause = CAUSE_SIGNAL;
		snprintf(ret->message, sizeof(ret->message),
			 "killed by a signal, or not started by its node; Slurm does not say which (JobLaunchFailure)");
		ret->remedy = "see `sluice doctor`: can the compute nodes see the state folder and the program?";
	} else {
		ret->cause = CAUSE_EXIT;
		ret->exit_code = -1;
		snprintf(ret->message, sizeof(ret->message), "failed; Slurm does not say how%s%.60s%s",
			 end->reason ? " (" : "", end->reason ? end->reason : "", end->reason ? ")" : "");
		ret->remedy = "see the error output";
	}
}

void slurm_explain_end(const struct slurm_end *end, struct slurm_cause *ret)
{
	bool known = end->exit_code > 0 || end->signal > 0;

	*ret = (struct slurm_cause){.exit_code = -1};
	for (size_t i = 0; i < COUNT_OF(slurm_ends); i++) {
		if (strcmp(slurm_ends[i].state, end->state) != 0 ||
		    (slurm_ends[i].reason &&
		     (known || !end->reason || !text_starts(end->reason, slurm_ends[i].reason))))
			continue;
		ret->cause = slurm_ends[i].cause;
		ret->remedy = slurm_ends[i].remedy;
		const char *on = end->node && *end->node && ret->cause == CAUSE_NODE ? end->node : NULL;
		snprintf(ret->message, sizeof(ret->message), "%s%s%.100s%s", slurm_ends[i].message, on ? " (" : "",
			 on ? on : "", on ? ")" : "");
		return;
	}
	if (strcmp(end->state, "COMPLETED") == 0) {
		ret->cause = CAUSE_OK;
		ret->exit_code = 0;
		/* 125 is what a step gets that was killed for its memory while the job went on. */
		if (end->derived_signal == 125)
			snprintf(ret->message, sizeof(ret->message), "a step of it was killed for its memory");
	} else if (strcmp(end->state, "CANCELLED") == 0) {
		slurm_explain_cancel(end, ret);
	} else if (strcmp(end->state, "FAILED") == 0) {
		slurm_explain_failure(end, ret);
	} else {
		ret->cause = CAUSE_LOST;
		snprintf(ret->message, sizeof(ret->message), "ended in the state %.60s", end->state);
	}
}

/* Parts of what sbatch prints when the job may exist all the same: the request was sent and the answer
 * was lost, or that is not known. Anything that is only the text of an errno belongs here too. */
static const char *const slurm_doubtful[] = {
	"Socket timed out",
	"Zero Bytes were transmitted",
	"Unable to contact slurm controller",
	"Communication",
	"communication",
	"Connection",
	"connection",
	"standby mode",
	"Message send",
	"Message receive",
	"Unexpected message",
	"Protocol authentication",
	"Incompatible versions",
	"temporarily",
	"authentication",
	"Header lengths",
	"Munge",
	"munge",
	"slurm_persist",
	"Transport",
	"Insane message",
	"retrying",
	"Could not establish a configuration source",
	/* 20.11, when it could not even find out where the controller is */
	"submission failed: No error",
	"Unable to establish control machine address",
};

/* Definite answers, with what to do. */
static const struct {
	const char *part;
	enum cause cause;
	const char *remedy;
} slurm_refusals[] = {
	{"SubmitJobLimit", CAUSE_LIMIT,
	 "your account allows no more jobs in the queue now; sluice goes on when some have ended"},
	{"MaxSubmitJob", CAUSE_LIMIT,
	 "the limit of jobs in the queue is reached now; sluice goes on when some have ended"},
	{"violates accounting/QOS policy", CAUSE_LIMIT,
	 "a limit of your account or QOS: fewer jobs at once, less time or smaller tasks; `sacctmgr show assoc user=$USER` lists them"},
	{"Job limit", CAUSE_LIMIT, "the cluster accepts no more jobs now; sluice goes on later"},
	{"invalid partition specified", CAUSE_REFUSED, "choose one that `sinfo -s` lists"},
	{"Invalid partition name", CAUSE_REFUSED, "choose one that `sinfo -s` lists"},
	{"Invalid account", CAUSE_REFUSED,
	 "choose an account that `sacctmgr show assoc user=$USER format=account,partition` lists"},
	{"Invalid qos", CAUSE_REFUSED, "choose a QOS that `sacctmgr show assoc user=$USER format=qos` lists"},
	{"Invalid generic resource", CAUSE_REFUSED,
	 "the cluster does not know this kind of GPU or GRES; `sinfo -o %G` lists them"},
	{"Memory specification can not be satisfied", CAUSE_REFUSED,
	 "no node of the partition has that much memory: ask for less"},
	{"CPU count per node can not be satisfied", CAUSE_REFUSED,
	 "no node of the partition has that many CPUs: ask for fewer"},
	{"Node count specification invalid", CAUSE_REFUSED, "the partition has fewer nodes: ask for fewer"},
	{"More processors requested than permitted", CAUSE_REFUSED, "ask for fewer CPUs"},
	{"Requested node configuration is not available", CAUSE_REFUSED,
	 "no node of the partition has what was asked for: ask for less or choose another partition"},
	{"Requested time limit is invalid", CAUSE_REFUSED, "ask for less time, or choose a partition that allows more"},
	{"Invalid feature specification", CAUSE_REFUSED,
	 "no node has this constraint; `sinfo -o %f` lists what there is"},
	{"Invalid job array specification", CAUSE_REFUSED, "the cluster allows smaller arrays (MaxArraySize)"},
	{"Requested reservation is invalid", CAUSE_REFUSED, "choose a reservation that `scontrol show res` lists"},
	{"Invalid license", CAUSE_REFUSED, "choose licences that `scontrol show lic` lists"},
	{"Invalid node name", CAUSE_REFUSED, "choose nodes that `sinfo -N` lists"},
	{"not permitted to use this partition", CAUSE_REFUSED, "choose another partition"},
	{"Required partition not available", CAUSE_REFUSED, "the partition is switched off: choose another"},
	{"Access/permission denied", CAUSE_REFUSED, "you may not do this here; ask an administrator"},
	{"Job dependency problem", CAUSE_REFUSED, "the job that `--dependency` names is unknown; correct the option"},
	{"only permitted by root", CAUSE_REFUSED, "take the option out of `options:`"},
	{"unrecognized option", CAUSE_REFUSED, "take the option out of `options:`"},
	{"invalid option", CAUSE_REFUSED, "take the option out of `options:`"},
	{"requires an argument", CAUSE_REFUSED, "write the option with its value: `--name=value`"},
	{"doesn't allow an argument", CAUSE_REFUSED, "write the option without a value"},
	{"is ambiguous", CAUSE_REFUSED, "write the option's whole name"},
	{"Invalid --", CAUSE_REFUSED, "correct the value of this option"},
	{"Invalid time specification", CAUSE_REFUSED, "correct the time"},
	{"Unable to open file", CAUSE_REFUSED, "an option in `options:` has no value; write `--name=value`"},
};

static const char slurm_failed_prefix[] = "Batch job submission failed: ";

/* Is the text, or the part behind its last colon, the description of an errno? */
static bool slurm_is_errno_text(const char *text)
{
	for (int e = 1; e < 134; e++) {
		const char *words = strerrordesc_np(e);
		if (words && text_ends(text, words) && strcmp(words, "Invalid argument") != 0)
			return true;
	}
	return false;
}

/* One line out of many: "sbatch: error: " goes, also "/opt/slurm/bin/sbatch: ", which a wrapper makes of it; lines are joined
 * with "; ". */
static void slurm_join_lines(const char *text, char *out, size_t size)
{
	struct buf joined = buf_make(size - 1);
	while (*text) {
		static const char *const noise[] = {"sbatch: ", "error: ", "fatal: "};
		size_t len = strcspn(text, "\n"), path = strcspn(text, " \n");
		const char *line = text, *end = text + len;
		if (*line == '/' && path > strlen("/sbatch:") &&
		    text_starts(line + path - strlen("/sbatch:"), "/sbatch: "))
			line += path - strlen("sbatch:");
		for (size_t i = 0; i < COUNT_OF(noise); i++)
			if (text_starts(line, noise[i]))
				line += strlen(noise[i]);
		if (line < end && !text_starts(line, "Try \"sbatch --help\"")) {
			buf_add_text(&joined, joined.len ? "; " : "");
			text_utf8_clean(line, (size_t)(end - line), &joined);
		}
		text = end + (*end == '\n');
	}
	snprintf(out, size, "%s", buf_text(&joined));
	buf_free(&joined);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

void slurm_explain_refusal(const char *stderr_text, struct slurm_refusal *ret)
{
	*ret = (struct slurm_refusal){.cause = CAUSE_REFUSED};
	slurm_join_lines(stderr_text, ret->message, sizeof(ret->message));
	for (size_t i = 0; i < COUNT_OF(slurm_doubtful); i++)
		if (strstr(stderr_text, slurm_doubtful[i]))
			return;
	const char *failed = strstr(ret->message, slurm_failed_prefix);
	if (slurm_is_errno_text(ret->message))
		return;
	for (size_t i = 0; i < COUNT_OF(slurm_refusals); i++) {
		if (!strstr(stderr_text, slurm_refusals[i].part))
			continue;
		ret->definite = true;
		ret->cause = slurm_refusals[i].cause;
		ret->remedy = slurm_refusals[i].remedy;
		return;
	}
	/* The controller answered, with a reason of the site's own or of a version we do not know. */
	if (failed)
		ret->definite = true;
}
