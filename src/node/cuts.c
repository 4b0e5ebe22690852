/* See cuts.h. */
#include "node/cuts.h"

#include "journal/journal.h"
#include "spool/paths.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* START and what follows it at once: a hundred files with long names. */
#define CUTS_HEAD_BYTES (256u << 10)

static void cuts_clear(struct cuts *cuts)
{
	for (size_t i = 0; i < cuts->list.len; i++)
		free(cuts->list.at[i].path);
	cuts->list.len = 0;
}

void cuts_free(struct cuts *cuts)
{
	cuts_clear(cuts);
	free(cuts->list.at);
	*cuts = (struct cuts){0};
}

static int cuts_record_cb(void *ctx, const struct journal_record *record)
{
	struct cuts *cuts = ctx;
	if (record->kind == JOURNAL_START && !record->resume)
		cuts_clear(cuts); /* it began from scratch: what was before is gone */
	if (record->kind == JOURNAL_BEFORE && record->path && record->size > 0) {
		struct cut cut = {.path = mem_strdup(record->path), .at = record->size, .sum = record->sum};
		vec_push(&cuts->list, cut);
	}
	return 0;
}

static void cuts_read(const char *path, struct cuts *cuts)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	char *data = mem_alloc(CUTS_HEAD_BYTES);
	ssize_t n = pread(fd, data, CUTS_HEAD_BYTES, 0);
	if (n > 0 && journal_read(data, (size_t)n, cuts_record_cb, cuts, NULL) < 0)
		n = 0; /* the callback never fails */
	free(data);
	close(fd);
}

void cuts_load(const struct spool_descriptor *d, struct cuts *ret)
{
	*ret = (struct cuts){0};
	for (int64_t number = 1; spool_descriptor_resumes(d) && number < d->attempt; number++) {
		char *dir = spool_attempt_dir(d->task_dir, number), *path = spool_path(dir, SPOOL_JOURNAL);
		cuts_read(path, ret);
		free(path);
		free(dir);
	}
}

bool cuts_next(const struct cuts *cuts, const char *path, int64_t after, struct cut *ret)
{
	bool found = false;
	for (size_t i = 0; cuts && i < cuts->list.len; i++) {
		const struct cut *cut = &cuts->list.at[i];
		if (cut->at <= after || (found && cut->at > ret->at) || strcmp(cut->path, path) != 0)
			continue;
		*ret = *cut; /* of two at one place the later attempt's */
		found = true;
	}
	return found;
}
