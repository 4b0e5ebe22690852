/* What a task wrote: its files, and its whole output as a file or searched. No link leads out of its folder. */
#include "http/handle.h"

#include "base/clock.h"
#include "base/limits.h"
#include "store/rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* What is shown of a line that was found, and how long a line may be before it is looked at in parts. */
#define OUTPUT_SHOWN_BYTES 500
#define OUTPUT_LINE_BYTES (128u << 10)
#define OUTPUT_PIECE_BYTES (256u << 10)

/* The descriptor of an attempt's output, or -1 with a response. */
static int output_open_log(struct request *request, struct response *response)
{
	int64_t experiment = request->path_numbers[0], number = request->path_numbers[1], attempt;
	const char *stream = request_text(request, "stream");
	bool is_error = stream && !strcmp(stream, "stderr");
	int rc = store_find_attempt(request->app->store, experiment, number, request_int(request, "attempt"), &attempt);
	if (rc == 0)
		rc = attempt ? engine_open_log(request->app->engine, experiment, number, attempt, is_error) : -ENOENT;
	if (rc >= 0)
		return rc;
	if (rc == -ENOENT || rc == -ENOTDIR)
		response_problem(response, 404, "task %s/%s has written nothing there", request->path_values[0],
				 request->path_values[1]);
	else
		response_problem(response, 500, "the output cannot be read: %s", strerror(-rc));
	return -1;
}

void handle_log_file(struct request *request, struct response *response)
{
	int fd = output_open_log(request, response);
	if (fd < 0)
		return;
	handle_answer_descriptor(fd, 0, response);
	response->type = "text/plain; charset=utf-8";
}

void handle_task_file(struct request *request, struct response *response)
{
	const char *path = request_text(request, "path");
	int64_t attempt, experiment = request->path_numbers[0], number = request->path_numbers[1];
	/* Also tells whether the task is there and not being removed. */
	int rc = store_find_attempt(request->app->store, experiment, number, 0, &attempt);
	int fd = rc < 0 ? rc : engine_open_task_file(request->app->engine, experiment, number, path);
	if (fd >= 0)
		handle_answer_descriptor(fd, request_int(request, "bytes"), response);
	else if (rc == 0 || !handle_answer_unread(request, rc, response))
		response_problem(response, 404, "there is no file '%.200s' of task %s/%s", path,
				 request->path_values[0], request->path_values[1]);
}

/* A search in the output. Of what is read, `text`, so much as `at` was looked at; `offset` is that place in the file. */
struct output_find {
	int fd;
	char *word; /* its ASCII letters in lower case; other bytes of UTF-8 as they are */
	size_t len;
	int64_t limit, offset, line, total;
	size_t at;
	bool hit; /* this line was counted already */
	bool begun; /* a part of this line was looked at */
	bool held; /* lines of `text` are left for the next piece */
	bool ended; /* all is read */
	struct buf text;
	struct buf folded; /* what is looked at, in lower case */
	struct json json;
};

static void output_find_free(void *ctx)
{
	struct output_find *find = ctx;
	close(find->fd);
	free(find->word);
	buf_free(&find->text);
	buf_free(&find->folded);
	free(find);
}

/* In linear time: a line may have OUTPUT_PIECE_BYTES, and the loop waits. */
static bool output_has(struct output_find *find, const char *text, size_t len)
{
	buf_clear(&find->folded);
	char *to = buf_reserve(&find->folded, len);
	for (size_t i = 0; to && i < len; i++)
		to[i] = (char)tolower((unsigned char)text[i]);
	return to && memmem(to, len, find->word, find->len);
}

/* A line, or a part of one. */
static void output_look(struct output_find *find, const char *text, size_t len)
{
	if (find->hit || !output_has(find, text, len))
		return;
	find->hit = true;
	if (find->total++ >= find->limit)
		return;
	json_map(&find->json);
	json_key_int(&find->json, "line", find->line);
	json_key_int(&find->json, "offset", find->offset);
	json_key(&find->json, "text");
	json_put_string_n(&find->json, text, len < OUTPUT_SHOWN_BYTES ? len : OUTPUT_SHOWN_BYTES);
	json_end(&find->json);
}

static void output_take(struct output_find *find, size_t len)
{
	find->at += len;
	find->offset += (int64_t)len;
}

/* Looks at all whole lines; false: the time is up before the last of them. */
static bool output_look_at_lines(struct output_find *find)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	const char *end;
	while (find->at < find->text.len &&
	       (end = memchr(find->text.data + find->at, '\n', find->text.len - find->at))) {
		const char *line = find->text.data + find->at;
		output_look(find, line, (size_t)(end - line));
		output_take(find, (size_t)(end - line) + 1);
		find->line++;
		find->hit = find->begun = false;
		if (clock_mono_ms() >= until)
			return false;
	}
	return true;
}

/* Looks at the line that has no end yet, where it is too long to wait for that or nothing follows. */
static void output_look_at_rest(struct output_find *find)
{
	size_t left = find->text.len - find->at;
	if (find->ended || left >= OUTPUT_LINE_BYTES) {
		/* The word may go on in the next part. */
		size_t keep = find->ended ? 0 : find->len - 1;
		output_look(find, buf_text(&find->text) + find->at, left);
		find->begun |= left > 0;
		if (left > keep)
			output_take(find, left - keep);
	}
	/* Once a piece: this moves what is left. */
	buf_consume(&find->text, find->at);
	find->at = 0;
}

static int output_find_read(struct output_find *find)
{
	char *to = buf_reserve(&find->text, OUTPUT_PIECE_BYTES);
	ssize_t n = to ? read(find->fd, to, OUTPUT_PIECE_BYTES) : -1;
	if (n < 0)
		return to ? -errno : -ENOMEM;
	find->text.len += (size_t)n;
	find->text.data[find->text.len] = 0;
	find->ended = n == 0;
	return 0;
}

static int output_find_make(void *ctx, struct buf *out)
{
	struct output_find *find = ctx;
	find->json.out = out;
	if (!find->json.depth) {
		json_map(&find->json);
		json_key(&find->json, "items");
		json_list(&find->json);
	}
	int rc = find->held ? 0 : output_find_read(find);
	if (rc < 0)
		return rc;
	find->held = !output_look_at_lines(find);
	if (find->held)
		return 1;
	output_look_at_rest(find);
	if (!find->ended)
		return 1;
	json_end(&find->json);
	json_key_int(&find->json, "total", find->total);
	json_key_int(&find->json, "lines", find->line - 1 + find->begun);
	json_key_int(&find->json, "size", find->offset);
	json_end(&find->json);
	return 0;
}

void handle_log_find(struct request *request, struct response *response)
{
	const char *word = request_text(request, "q");
	int fd = output_open_log(request, response);
	if (fd < 0)
		return;
	struct output_find *find = mem_alloc(sizeof(*find));
	*find = (struct output_find){
		.fd = fd, .word = mem_strdup(word), .len = strlen(word), .limit = request_int(request, "limit")};
	find->line = 1;
	find->text = buf_make(BUF_UNLIMITED);
	find->folded = buf_make(BUF_UNLIMITED);
	find->json = json_to(NULL);
	for (char *at = find->word; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	response->pieces = (struct pieces){output_find_make, output_find_free, find};
}
