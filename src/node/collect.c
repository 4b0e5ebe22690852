/* See collect.h. The files are read from their beginning by the readers that the runner uses, with what the runner wrote
 * down about files that an earlier attempt had left. A row is appended unless the journal's last word about its step and
 * columns is the same: so whatever was appended before, the newest row of every step in the journal is the one in the
 * file. */
#include "node/collect.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"
#include "journal/journal.h"
#include "node/known.h"
#include "node/recorder.h"
#include "node/sources.h"
#include "spool/claim.h"
#include "spool/mark.h"
#include "spool/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

struct collect {
	struct spool_descriptor d;
	struct sources sources;
	struct follow *follow;
	struct find_list before;
	struct recorder recorder;
	struct known known;
	VEC(char *) names; /* sources of rows in the journal */
	VEC(char *) notes; /* in the journal */
	bool began, ended;
	bool named; /* the runner has named all files that an earlier attempt had left */
	size_t rows; /* appended */
	int64_t until_ms;
};

static bool collect_has(char *const *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(texts[i], text) == 0)
			return true;
	return false;
}

static void collect_take_before(struct collect *c, const struct journal_record *r)
{
	struct find_entry entry = {
		.path = mem_printf("%s/%s", c->d.work_dir, r->path),
		.stamp = {.size = r->size, .mtime_ns = r->mtime_ns, .inode = r->inode},
		.sum = r->sum,
	};
	vec_push(&c->before.entries, entry);
}

static int collect_record_cb(void *ctx, const struct journal_record *r)
{
	struct collect *c = ctx;
	c->began |= r->kind == JOURNAL_START;
	c->ended |= r->kind == JOURNAL_END;
	c->named |= r->kind == JOURNAL_BEFORE && !*r->path;
	if (r->kind == JOURNAL_BEFORE && *r->path)
		collect_take_before(c, r);
	if (r->kind == JOURNAL_NOTE)
		vec_push(&c->notes, mem_strdup(r->text));
	if (r->kind != JOURNAL_METRIC || !r->source)
		return 0;
	known_add(&c->known, r->source, r->step, r->metrics, r->metric_count);
	if (!collect_has(c->names.at, c->names.len, r->source))
		vec_push(&c->names, mem_strdup(r->source));
	return 0;
}

/* 0, or a negative errno. */
static int collect_read_journal(struct collect *c, int fd)
{
	char *chunk = mem_alloc(LIMIT_JOURNAL_CHUNK_BYTES);
	int64_t offset = 0, used = 0;
	ssize_t n;
	int rc = 0;
	do {
		n = pread(fd, chunk, LIMIT_JOURNAL_CHUNK_BYTES, offset);
		rc = n < 0 ? -errno : 0;
		used = n > 0 ? journal_read(chunk, (size_t)n, collect_record_cb, c, NULL) : 0;
		offset += used;
	} while (used > 0);
	free(chunk);
	return rc;
}

static bool collect_is_over(const struct collect *c)
{
	return c->rows >= LIMIT_COLLECT_ROWS || clock_mono_ms() >= c->until_ms;
}

static bool collect_is_blocked(void *ctx)
{
	const struct collect *c = ctx;
	return c->recorder.blocked || collect_is_over(c);
}

/* Once, however often this is started. */
static bool collect_is_new(struct collect *c, const char *text)
{
	if (collect_has(c->notes.at, c->notes.len, text))
		return false;
	vec_push(&c->notes, mem_strdup(text));
	return true;
}

static void collect_note(void *ctx, const char *text)
{
	struct collect *c = ctx;
	if (collect_is_new(c, text))
		recorder_note(&c->recorder, text);
}

static void collect_note_renumbered(void *ctx, const char *text)
{
	struct collect *c = ctx;
	if (collect_is_new(c, text))
		recorder_note_renumbered(&c->recorder, text);
}

static void collect_row_cb(void *ctx, const struct metrics_row *row)
{
	struct collect *c = ctx;
	if (!known_add(&c->known, row->source, row->step, row->metrics, row->count))
		return;
	collect_note(c, "its runner was killed: the last metrics were read from what the script had written");
	recorder_row_cb(&c->recorder, row);
	c->rows++;
}

/* A file that the runner has read is read as it did: by now it may look like data. */
static const struct metrics_format *collect_format_cb(void *ctx, const char *path)
{
	const struct collect *c = ctx;
	const struct metrics_format *found = NULL;
	for (const struct metrics_format *f = metrics_formats; f->name && !found; f++) {
		char *source = mem_printf("%s:%s", f->name, path);
		found = collect_has(c->names.at, c->names.len, source) ? f : NULL;
		free(source);
	}
	return found;
}

/* Does its runner live on this machine, or something that its script started and that does not end? */
static bool collect_sees_life(const struct collect *c, const char *batch_dir, uint32_t index)
{
	struct spool_claim claim = {0};
	char here[256] = "";
	uint64_t start;
	gethostname(here, sizeof(here) - 1);
	bool claimed = spool_claim_read(batch_dir, index, &claim) == 1 && strcmp(claim.host, here) == 0 &&
		strcmp(claim.boot_id, proc_boot_id()) == 0;
	if (claimed && proc_start_time((pid_t)claim.pid, &start) == 0 && (int64_t)start == claim.pid_start)
		return true;
	spool_mark_kill_attempt(c->d.attempt_dir);
	return spool_mark_lives(c->d.attempt_dir);
}

/* Waits for room on a full disk, for as long as there is time. */
static int collect_flush(struct collect *c)
{
	while (c->recorder.blocked && clock_mono_ms() < c->until_ms) {
		usleep(EXEC_RETRY_MS * 1000);
		recorder_flush(&c->recorder);
	}
	return c->recorder.blocked ? -ENOSPC : 0;
}

static int collect_rows(struct collect *c)
{
	struct follow_config config;
	int rc = 0;
	bool all;
	/* Rows of an earlier attempt would be taken for new ones. */
	if (spool_descriptor_resumes(&c->d) && !c->named) {
		collect_note(
			c,
			"its runner was killed, and it is not known which metrics in its files are those of earlier "
			"attempts: what it wrote after its runner's last look is only in its own files");
		return collect_flush(c);
	}
	sources_find(&c->d, &c->sources, &config);
	config.before = &c->before;
	config.known = collect_format_cb;
	config.after = true;
	config.row = collect_row_cb;
	config.note = collect_note;
	config.renumbered = collect_note_renumbered;
	config.blocked = collect_is_blocked;
	config.ctx = c;
	c->follow = follow_new(&config);
	do {
		all = follow_finish(c->follow, true);
		rc = collect_flush(c);
		if (!all && rc == 0) /* a file cannot be read now */
			usleep(EXEC_RETRY_MS * 1000);
	} while (!all && rc == 0 && !collect_is_over(c));
	if (rc == 0 && !all && c->rows < LIMIT_COLLECT_ROWS)
		return -EIO;
	if (rc == 0 && !all) {
		collect_note(c,
			     "its script had written more metrics than are read after the end of its runner: the last "
			     "ones are only in its own files");
		return collect_flush(c);
	}
	if (rc == 0 && follow_has_all(c->follow, c->d.report_path))
		unlink(c->d.report_path);
	return rc;
}

/* 0, or a negative errno with err. */
static int collect_attempt(struct collect *c, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : errorf(err, -errno, "%s: %s", path, strerror(errno));
	/* Of a daemon that was killed one of these may still be at work. Some file systems have no locks. */
	int rc = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EBUSY : collect_read_journal(c, fd);
	if (rc < 0)
		errorf(err, rc, "%s: %s", path, strerror(-rc));
	if (rc == 0 && c->began && !c->ended)
		rc = recorder_open(&c->recorder, c->d.attempt_dir, err);
	if (rc == 0 && c->recorder.journal && (rc = collect_rows(c)) < 0)
		errorf(err, rc, "%s: %s", path, strerror(-rc));
	recorder_close(&c->recorder);
	close(fd);
	return rc;
}

static void collect_free(struct collect *c)
{
	follow_free(c->follow);
	sources_free(&c->sources);
	spool_descriptor_free(&c->d);
	known_free(&c->known);
	find_free(&c->before);
	for (size_t i = 0; i < c->names.len; i++)
		free(c->names.at[i]);
	for (size_t i = 0; i < c->notes.len; i++)
		free(c->notes.at[i]);
	free(c->names.at);
	free(c->notes.at);
}

int collect_run(const char *batch_dir, uint32_t index)
{
	struct collect c = {.until_ms = clock_mono_ms() + COLLECT_MS};
	struct error err = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the next daemon starts another */
	signal(SIGXFSZ, SIG_IGN);
	int rc = spool_descriptor_read(batch_dir, index, &c.d, &err);
	if (rc == 0 && collect_sees_life(&c, batch_dir, index))
		rc = errorf(&err, -EBUSY, "processes of %s are alive", c.d.attempt_dir);
	if (rc == 0) {
		char *path = spool_path(c.d.attempt_dir, SPOOL_JOURNAL);
		rc = collect_attempt(&c, path, &err);
		free(path);
	}
	collect_free(&c);
	if (rc < 0)
		log_error("%s", err.text);
	return rc < 0;
}
