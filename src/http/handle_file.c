/* What was submitted with an experiment: its script and its files, so that it can be submitted again. */
#include "http/handle.h"

#include "store/rows.h"

#include <errno.h>
#include <unistd.h>

/* A piece of a file: as much as is read in a moment, also from a slow disk. */
#define FILE_PIECE_BYTES (256u << 10)

struct file_pieces {
	int fd;
	int64_t left; /* bytes that may still be sent */
};

static int file_make(void *ctx, struct buf *out)
{
	struct file_pieces *file = ctx;
	size_t most = file->left < FILE_PIECE_BYTES ? (size_t)file->left : FILE_PIECE_BYTES;
	char *to = buf_reserve(out, most);
	ssize_t n = to && most ? read(file->fd, to, most) : 0;
	if (n > 0) {
		out->len += (size_t)n;
		out->data[out->len] = 0;
		file->left -= n;
	}
	return n > 0 ? 1 : n < 0 ? -errno : 0;
}

static void file_free(void *ctx)
{
	struct file_pieces *file = ctx;
	close(file->fd);
	free(file);
}

void handle_answer_descriptor(int fd, int64_t bytes, struct response *response)
{
	struct file_pieces *file = mem_alloc(sizeof(*file));
	*file = (struct file_pieces){fd, bytes ? bytes : INT64_MAX};
	response->pieces = (struct pieces){file_make, file_free, file};
	/* Never as what it looks like: a browser that opens it must not run it. */
	response->type = "application/octet-stream";
	response_header(response, "Content-Disposition", "attachment");
}

void handle_files(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = store_find_experiment(request->app->store, request->path_numbers[0]);
	if (rc < 0) {
		if (!handle_answer_unread(request, rc, response))
			response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
		return;
	}
	json_map(&out);
	engine_write_files(request->app->engine, request->path_numbers[0], &out);
	json_end(&out);
}

void handle_file(struct request *request, struct response *response)
{
	const char *path = request_text(request, "path");
	/* An experiment that is being removed is gone, though its folder may be there. */
	int rc = store_find_experiment(request->app->store, request->path_numbers[0]);
	int fd = rc < 0 ? rc : engine_open_file(request->app->engine, request->path_numbers[0], path);
	if (fd >= 0) {
		handle_answer_descriptor(fd, 0, response);
	} else if (rc == 0 || !handle_answer_unread(request, rc, response)) {
		response_problem(response, 404, "there is no file '%.200s' of experiment %s", path,
				 request->path_values[0]);
	}
}
