/* The first records of a journal. The script must not run before they are there: a daemon that finds no START takes the
 * attempt for one that never began, and `exec --collect` reads files by what BEFORE says of them. */
#include "node/opening.h"

#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"
#include "spool/checkpoint.h"

#include <string.h>
#include <unistd.h>

static void opening_append_start(const struct opening *o, struct recorder *recorder)
{
	char own[256] = "";
	const char *host = getenv("SLUICE_NODE"), *job = getenv("SLUICE_JOB"); /* as the cluster calls them */
	const char *gpus = o->gpus ? o->gpus : getenv("CUDA_VISIBLE_DEVICES");
	bool resumes = spool_descriptor_resumes(o->d);
	uint64_t start = 0;
	gethostname(own, sizeof(own) - 1);
	if (proc_own_start_time(&start) < 0)
		start = 0;
	recorder_append(recorder,
			&(struct journal_record){
				.kind = JOURNAL_START,
				.host = host && *host ? host : own,
				.version = SLUICE_VERSION,
				.gpus = gpus && *gpus ? gpus : NULL,
				.job = job && *job ? job : NULL,
				.pid = getpid(),
				.pid_start = start,
				.boot_id = proc_boot_id(),
				.pgid = o->pid,
				.resume = resumes,
				.checkpoint = resumes && spool_checkpoint_exists(o->d->task_dir),
				.beat_ms = EXEC_BEAT_MS,
				.has_warm = o->cold,
			});
	recorder_settle(recorder);
}

struct opening_before {
	struct recorder *recorder;
	bool unnamed; /* there is a name that a journal, which is UTF-8, cannot take */
};

static void opening_before_cb(void *ctx, const char *path, const struct find_entry *entry)
{
	struct opening_before *before = ctx;
	if (text_utf8_check(path, strlen(path)) < strlen(path)) {
		before->unnamed = true;
		return;
	}
	recorder_append(before->recorder,
			&(struct journal_record){.kind = JOURNAL_BEFORE,
						 .path = path,
						 .size = entry->stamp.size,
						 .mtime_ns = entry->stamp.mtime_ns,
						 .inode = entry->stamp.inode,
						 .sum = entry->sum});
}

/* Where the script continues with files of an earlier attempt, `exec --collect` must know all of them. A record without
 * a path says that these are all. */
static void opening_append_before(const struct opening *o, struct recorder *recorder)
{
	struct opening_before before = {.recorder = recorder};
	follow_each_before(o->follow, opening_before_cb, &before);
	if (!spool_descriptor_resumes(o->d) || before.unnamed)
		return;
	recorder_append(recorder, &(struct journal_record){.kind = JOURNAL_BEFORE, .path = ""});
	recorder_settle(recorder);
}

static void opening_append_notes(const struct opening *o, struct recorder *recorder)
{
	for (const char *line = o->notes; *line;) {
		char *text = mem_copy(line, strcspn(line, "\n"));
		recorder_note(recorder, text);
		line += strlen(text) + 1;
		free(text);
	}
	if (o->ended_earlier)
		recorder_note(recorder, "an earlier attempt had left processes on this machine: they were ended");
	if (o->memory)
		recorder_note(recorder, o->memory);
	if (o->slot->gpu_share > 0) {
		char *text = mem_printf("has %g of GPU %s, beside other tasks, %s", (double)o->slot->gpu_share / 1000,
					o->slot->gpus,
					o->slot->mps ? "by NVIDIA MPS" : "in turns: NVIDIA MPS is not available");
		recorder_note(recorder, text);
		free(text);
	}
	/* Training that runs on the CPU by mistake is slow, and nothing else would say why. */
	if (o->slot->gpus_hidden > 0)
		recorder_note(recorder, "no GPU was asked for, so the script sees none: `gpus: 1` asks for one");
}

void opening_write(const struct opening *o, struct recorder *recorder)
{
	opening_append_start(o, recorder);
	opening_append_before(o, recorder);
	opening_append_notes(o, recorder);
}
