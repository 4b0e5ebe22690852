/* The journal's writer. A record that a full disk refuses is kept and written later, so that a line is
 * never missing and never there twice. */
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "journal/journal.h"
#include "journal/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

struct journal_writer {
	int fd;
	char *path;
	int64_t size; /* bytes in the file */
	struct buf pending; /* lines, or the rest of one, that are not in the file yet */
};

/* More than this is never kept: callers stop producing while something is pending. */
#define JOURNAL_PENDING_BYTES (16u << 20)

static void journal_write_text(struct json *out, const char *key, const char *text)
{
	if (text)
		json_key_string(out, key, text);
}

static void journal_write_warm(const struct journal_record *record, struct json *out)
{
	if (record->has_warm)
		json_key_bool(out, "warm", record->warm);
}

static void journal_write_start(const struct journal_record *record, struct json *out)
{
	journal_write_text(out, "version", record->version);
	journal_write_text(out, "host", record->host);
	journal_write_text(out, "boot_id", record->boot_id);
	json_key_int(out, "pid", record->pid);
	json_key_int(out, "pid_start", (int64_t)record->pid_start);
	json_key_int(out, "pgid", record->pgid);
	journal_write_text(out, "gpus", record->gpus);
	journal_write_text(out, "job", record->job);
	json_key_bool(out, "resume", record->resume);
	if (record->checkpoint)
		json_key_bool(out, "checkpoint", true);
	if (record->beat_ms)
		json_key_int(out, "beat_ms", record->beat_ms);
	journal_write_warm(record, out);
}

static void journal_write_metric(const struct journal_record *record, struct json *out)
{
	json_key_int(out, "step", record->step);
	journal_write_text(out, "step_name", record->step_name);
	if (record->has_epoch)
		json_key_real(out, "epoch", record->epoch);
	if (record->epochs > 0)
		json_key_int(out, "epochs", record->epochs);
	journal_write_text(out, "source", record->source);
	if (record->earlier)
		json_key_bool(out, "earlier", true);
	json_key(out, "values");
	json_map(out);
	for (size_t i = 0; i < record->metric_count; i++)
		json_key_real(out, record->metrics[i].name, record->metrics[i].value);
	json_end(out);
}

static void journal_write_before(const struct journal_record *record, struct json *out)
{
	json_key_string(out, "path", record->path);
	json_key_int(out, "size", record->size);
	json_key_int(out, "mtime_ns", record->mtime_ns);
	json_key_int(out, "inode", (int64_t)record->inode);
	json_key_int(out, "sum", record->sum);
}

static void journal_write_end(const struct journal_record *record, struct json *out)
{
	json_key_string(out, "cause", cause_name(record->cause));
	if (record->signal)
		json_key_int(out, "signal", record->signal);
	else
		json_key_int(out, "exit_code", record->exit_code);
	journal_write_text(out, "message", record->message);
	cost_write(&record->cost, out);
	journal_write_text(out, "tail", record->tail);
}

static void journal_write_record(const struct journal_record *record, struct json *out)
{
	json_map(out);
	json_key_string(out, "kind", journal_kind_names[record->kind]);
	json_key_int(out, "time_ms", record->time_ms);
	switch (record->kind) {
	case JOURNAL_START: journal_write_start(record, out); break;
	case JOURNAL_METRIC: journal_write_metric(record, out); break;
	case JOURNAL_SAMPLE:
		cost_write(&record->cost, out);
		if (record->sample)
			sample_write(record->sample, out);
		break;
	case JOURNAL_NOTE:
		json_key_string(out, "text", record->text);
		journal_write_text(out, "stall", record->stall);
		if (record->renumbered)
			json_key_bool(out, "renumbered", true);
		journal_write_warm(record, out);
		break;
	case JOURNAL_BEFORE: journal_write_before(record, out); break;
	case JOURNAL_RAN: json_key_string(out, "digest", record->digest); break;
	case JOURNAL_END: journal_write_end(record, out); break;
	case JOURNAL_UNKNOWN: break;
	}
	json_end(out);
}

/* A line that a killed writer left unfinished must not run into the next one. */
static int journal_close_torn_line(struct journal_writer *writer)
{
	char last;
	if (!writer->size)
		return 0;
	if (pread(writer->fd, &last, 1, writer->size - 1) != 1)
		return errno ? -errno : -EIO;
	if (last == '\n')
		return 0;
	int rc = fs_write_all(writer->fd, "\n", 1);
	if (rc == 0)
		writer->size++;
	return rc;
}

int journal_open(const char *path, struct journal_writer **ret, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errorf(err, -errno, "%s: %s", path, strerror(errno));
	struct journal_writer *writer = mem_alloc(sizeof(*writer));
	writer->fd = fd;
	writer->path = mem_strdup(path);
	writer->pending = buf_make(JOURNAL_PENDING_BYTES);

	struct stat st;
	int rc = fstat(fd, &st) < 0 ? -errno : 0;
	if (rc == 0) {
		writer->size = st.st_size;
		rc = journal_close_torn_line(writer);
	}
	if (rc < 0) {
		journal_close(writer);
		return errorf(err, rc, "%s: %s", path, strerror(-rc));
	}
	*ret = writer;
	return 0;
}

int journal_flush(struct journal_writer *writer, struct error *err)
{
	while (writer->pending.len) {
		ssize_t n = write(writer->fd, writer->pending.data, writer->pending.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errorf(err, -errno, "%s: %s", writer->path, strerror(errno));
		writer->size += n;
		buf_consume(&writer->pending, (size_t)n);
	}
	return 0;
}

int journal_append(struct journal_writer *writer, const struct journal_record *record, struct error *err)
{
	struct buf line = buf_make(LIMIT_JOURNAL_RECORD_BYTES);
	char sum[JOURNAL_PREFIX_BYTES + 1];

	if (record->kind >= JOURNAL_UNKNOWN)
		return errorf(err, -EINVAL, "%s: a record of no known kind", writer->path);
	buf_add(&line, "00000000 ", JOURNAL_PREFIX_BYTES);
	struct json out = json_to(&line);
	journal_write_record(record, &out);
	snprintf(sum, sizeof(sum), JOURNAL_PREFIX_FORMAT,
		 crc32(0, (unsigned char *)line.data + JOURNAL_PREFIX_BYTES,
		       (unsigned)(line.len - JOURNAL_PREFIX_BYTES)));
	memcpy(line.data, sum, JOURNAL_PREFIX_BYTES);

	int rc;
	size_t before = writer->pending.len;
	if (line.full) {
		rc = errorf(err, -E2BIG, "%s: a record of more than %u bytes", writer->path,
			    LIMIT_JOURNAL_RECORD_BYTES);
	} else if (before + line.len + 1 > writer->pending.max) {
		rc = errorf(err, -E2BIG, "%s: too much waits to be written", writer->path);
	} else {
		buf_add(&writer->pending, line.data, line.len);
		buf_add_char(&writer->pending, '\n');
		rc = journal_flush(writer, err);
	}
	buf_free(&line);
	return rc;
}

int journal_sync(struct journal_writer *writer)
{
	return fdatasync(writer->fd) < 0 ? -errno : 0;
}

int64_t journal_size(const struct journal_writer *writer)
{
	return writer->size;
}

void journal_close(struct journal_writer *writer)
{
	if (!writer)
		return;
	close(writer->fd);
	buf_free(&writer->pending);
	free(writer->path);
	free(writer);
}
