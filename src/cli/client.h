/* A small blocking HTTP/1.1 client over the daemon's unix socket. It uses one connection per request: connecting takes
 * microseconds, and a daemon that was restarted in between needs no special code. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/node.h"
#include "cli/reply.h"

#include <sys/types.h>

struct client {
	char *folder; /* the state folder */
	pid_t daemon_pid;
	char version[32]; /* of the daemon */
	bool may_start; /* start a daemon if none runs */
	char *trouble; /* why the daemon cannot write; NULL: it can */
};

struct request {
	const char *method;
	const char *path; /* below /api/v1, encoded: "/experiments?limit=10" */
	const char *type; /* of the body; NULL: application/json */
	const void *body;
	size_t body_len;
	int file; /* > 0: the body is this descriptor's file, body_len bytes of it */
	const char *key; /* Idempotency-Key; NULL. With one, a POST may be repeated safely */
	size_t answer_max; /* 0: CLIENT_ANSWER_BYTES */
};

#define CLIENT_ANSWER_BYTES ((size_t)64 << 20)

/* Finds the daemon, or starts one if may_start allows it. Prints a note on stderr if its version is not ours, or if it
 * cannot write. -ENOENT if there is none and none may be started. */
int client_open(struct client *client, bool may_start, struct error *err) MUST_USE;
void client_close(struct client *client);
/* Asks the daemon again whether it can write, and why not. */
int client_read_trouble(struct client *client, struct error *err) MUST_USE;
/* Prints the trouble on stderr, if there is any. */
void client_say_trouble(const struct client *client);
/* Sends a request and reads the whole answer with any status; a broken connection is tried again if that is safe. The
 * reply must be freed when 0 was returned. */
int client_send(struct client *client, const struct request *request, struct reply *ret, struct error *err) MUST_USE;
/* Puts a problem answer into err: its detail, else its status. Returns -EREMOTEIO, -ESRCH for 404
 * (-ENOENT is a daemon that is not there), or -EINVAL for other 4xx. */
int client_problem(const struct reply *reply, struct error *err);
/* GET or POST (body NULL: empty) of a JSON answer; a problem answer is an error. json (may be NULL)
 * takes the answer's text. */
int client_get(struct client *client, const char *path, struct buf *json, struct node **ret,
	       struct error *err) MUST_USE;
int client_post(struct client *client, const char *path, const char *body, struct buf *json, struct node **ret,
		struct error *err) MUST_USE;
/* GET that writes the body to a descriptor while it arrives, however long it is. */
int client_download(struct client *client, const char *path, int to, struct error *err) MUST_USE;
/* Adds text with everything but letters, digits and -._~ as %XX. */
void client_add_encoded(struct buf *out, const char *text);

/* An open event stream. */
struct client_stream {
	int fd; /* readable: call client_stream_read */
	struct reply reply;
	struct sse sse;
};

/* Opens GET /events, resuming after last_id (NULL or "": from now). */
int client_stream_open(struct client *client, const char *last_id, struct client_stream *ret,
		       struct error *err) MUST_USE;
/* Reads what there is. 0, or a negative errno when the stream has ended. */
int client_stream_read(struct client_stream *stream, struct error *err) MUST_USE;
void client_stream_close(struct client_stream *stream);

#endif
