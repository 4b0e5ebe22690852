/* Requests to the daemon: see client.h. */
#include "cli/client.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/pace.h"
#include "cli/state.h"
#include "cli/term.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CLIENT_TRIES 6
#define CLIENT_READ_BYTES 65536

void client_add_encoded(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (isalnum(c) || strchr("-._~", c))
			buf_add_char(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
}

/* Header values come from us and from the daemon's own event ids: no line break may pass. */
static void client_add_header(struct buf *head, const char *name, const char *value)
{
	if (value && *value && !strpbrk(value, "\r\n"))
		buf_addf(head, "%s: %s\r\n", name, value);
}

static int client_write(int fd, const void *data, size_t len)
{
	for (const char *p = data; len;) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int client_write_file(int fd, int file, size_t len)
{
	char data[CLIENT_READ_BYTES];
	for (size_t at = 0; at < len;) {
		size_t want = len - at < sizeof(data) ? len - at : sizeof(data);
		ssize_t n = pread(file, data, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA; /* the file became shorter */
		int rc = client_write(fd, data, (size_t)n);
		if (rc < 0)
			return rc;
		at += (size_t)n;
	}
	return 0;
}

static int client_write_request(int fd, const struct request *request, const char *last_id)
{
	struct buf head = buf_make(LIMIT_HEAD_BYTES);
	bool has_body = request->body || request->file > 0 || strcmp(request->method, "POST") == 0;
	buf_addf(&head, "%s /api/v1%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: sluice/" SLUICE_VERSION "\r\n",
		 request->method, request->path);
	client_add_header(&head, "Accept", last_id ? "text/event-stream" : "application/json, */*");
	client_add_header(&head, "Connection", "close");
	client_add_header(&head, "Idempotency-Key", request->key);
	client_add_header(&head, "Last-Event-ID", last_id);
	if (has_body) {
		client_add_header(&head, "Content-Type", request->type ? request->type : "application/json");
		buf_addf(&head, "Content-Length: %zu\r\n", request->body_len);
	}
	buf_add_text(&head, "\r\n");
	int rc = head.full ? -E2BIG : client_write(fd, head.data, head.len);
	buf_free(&head);
	if (rc == 0 && request->file > 0)
		rc = client_write_file(fd, request->file, request->body_len);
	else if (rc == 0 && request->body)
		rc = client_write(fd, request->body, request->body_len);
	return rc;
}

/* One read into the reply. 1 when bytes came, 0 at the end, or a negative errno. */
static int client_read_some(int fd, struct reply *reply, struct error *err)
{
	char data[CLIENT_READ_BYTES];
	ssize_t n;
	do
		n = recv(fd, data, sizeof(data), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return errorf(err, -ETIMEDOUT, "the daemon has not answered for %d s; its log may say why",
			      CLIENT_SILENCE_S);
	if (n < 0)
		return errorf(err, -errno, "the connection to the daemon broke: %s", strerror(errno));
	if (n == 0)
		return 0;
	int rc = reply_feed(reply, data, (size_t)n, err);
	return rc < 0 ? rc : 1;
}

static int client_read_reply(int fd, struct reply *reply, struct error *err)
{
	while (!reply->complete) {
		int rc = client_read_some(fd, reply, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return reply_close(reply, err);
	}
	return 0;
}

/* A connected descriptor; starts a daemon where there is none and one may be started. */
static int client_connect(struct client *client, struct error *err)
{
	int fd = state_connect(client->folder, &client->daemon_pid, err);
	if ((fd == -ENOENT || fd == -ECONNREFUSED) && client->may_start) {
		int rc = state_start_daemon(client->folder, err);
		if (rc < 0)
			return rc;
		fd = state_connect(client->folder, &client->daemon_pid, err);
	}
	if (fd >= 0) {
		struct timeval silence = {.tv_sec = CLIENT_SILENCE_S};
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
	}
	return fd;
}

static int client_send_once(struct client *client, const struct request *request, struct reply *ret, struct error *err)
{
	int fd = client_connect(client, err);
	if (fd < 0)
		return fd;
	reply_init(ret, request->answer_max ? request->answer_max : CLIENT_ANSWER_BYTES);
	int sent = client_write_request(fd, request, NULL);
	int rc = sent == -ENODATA ? errorf(err, sent, "the file became shorter while it was sent")
				  : client_read_reply(fd, ret, err); /* a refusal may come before all is sent */
	close(fd);
	if (rc < 0)
		reply_free(ret);
	return rc;
}

/* Is it safe to send this again when the first answer was lost on the way? */
static bool client_is_repeatable(const struct request *request)
{
	return request->key || strcmp(request->method, "POST") != 0;
}

static bool client_is_broken(int rc)
{
	return rc == -EPIPE || rc == -ECONNRESET || rc == -ECONNREFUSED || rc == -ENOENT;
}

int client_send(struct client *client, const struct request *request, struct reply *ret, struct error *err)
{
	int rc = 0;
	int64_t wait_ms = CLIENT_FIRST_WAIT_MS;
	for (int i = 0; i < CLIENT_TRIES; i++, wait_ms *= 2) {
		rc = client_send_once(client, request, ret, err);
		if (rc == 0 || !client_is_broken(rc) || !client_is_repeatable(request) || !client->may_start)
			return rc;
		struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
		nanosleep(&wait, NULL);
	}
	return rc;
}

int client_problem(const struct reply *reply, struct error *err)
{
	struct node *problem = NULL;
	const char *detail = NULL, *title = NULL;
	if (strstr(reply->content_type, "json") &&
	    node_parse_json(buf_text(&reply->body), reply->body.len, &problem, NULL) == 0) {
		detail = node_get_string(problem, "detail");
		title = node_get_string(problem, "title");
	}
	int code = reply->status == 404 ? -ESRCH : reply->status < 500 ? -EINVAL : -EREMOTEIO;
	if (detail || title)
		errorf(err, code, "%s", detail && *detail ? detail : title);
	else
		errorf(err, code, "the daemon answered with status %d", reply->status);
	node_free(problem);
	return code;
}

static int client_send_json(struct client *client, const struct request *request, struct buf *json, struct node **ret,
			    struct error *err)
{
	struct reply reply;
	int rc = client_send(client, request, &reply, err);
	if (rc < 0)
		return rc;
	if (reply.status >= 300)
		rc = client_problem(&reply, err);
	else if (ret && reply.body.len)
		rc = node_parse_json(reply.body.data, reply.body.len, ret, err);
	else if (ret)
		*ret = node_new(NODE_NULL);
	if (rc == 0 && json)
		buf_add(json, buf_text(&reply.body), reply.body.len);
	reply_free(&reply);
	return rc;
}

int client_get(struct client *client, const char *path, struct buf *json, struct node **ret, struct error *err)
{
	struct request request = {.method = "GET", .path = path};
	return client_send_json(client, &request, json, ret, err);
}

int client_post(struct client *client, const char *path, const char *body, struct buf *json, struct node **ret,
		struct error *err)
{
	struct request request = {.method = "POST", .path = path, .body = body, .body_len = body ? strlen(body) : 0};
	return client_send_json(client, &request, json, ret, err);
}

int client_download(struct client *client, const char *path, int to, struct error *err)
{
	struct request request = {.method = "GET", .path = path};
	struct reply reply;
	int fd = client_connect(client, err);
	if (fd < 0)
		return fd;
	reply_init(&reply, CLIENT_ANSWER_BYTES);
	int rc = client_write_request(fd, &request, NULL);
	if (rc < 0)
		errorf(err, rc, "the connection to the daemon broke: %s", strerror(-rc));
	while (rc == 0 && !reply.complete) {
		rc = client_read_some(fd, &reply, err);
		if (rc == 0)
			rc = reply_close(&reply, err);
		else if (rc > 0)
			rc = 0;
		if (rc < 0 || reply.status < 200 || reply.status >= 300)
			continue;
		rc = fs_write_all(to, buf_text(&reply.body), reply.body.len);
		if (rc < 0)
			errorf(err, rc, "writing: %s", strerror(-rc));
		buf_clear(&reply.body);
	}
	if (rc == 0 && reply.status >= 300)
		rc = client_problem(&reply, err);
	close(fd);
	reply_free(&reply);
	return rc;
}

static int client_get_info(struct client *client, struct node **ret, struct error *err)
{
	int rc = client_get(client, "/info", NULL, ret, err);
	if (rc < 0)
		return rc;
	free(client->trouble);
	client->trouble = mem_strdup(node_get_string(*ret, "trouble"));
	return 0;
}

void client_say_trouble(const struct client *client)
{
	if (!client->trouble)
		return;
	struct buf safe = buf_make(8192);
	term_add_safe(&safe, client->trouble);
	fflush(stdout);
	fprintf(stderr, "sluice: %s\n", buf_text(&safe));
	buf_free(&safe);
}

int client_read_trouble(struct client *client, struct error *err)
{
	struct node *info = NULL;
	int rc = client_get_info(client, &info, err);
	node_free(info);
	return rc;
}

/* A daemon of another version works, as a rule; but people should know. */
static int client_check_daemon(struct client *client, struct error *err)
{
	struct node *info = NULL;
	int rc = client_get_info(client, &info, err);
	if (rc < 0)
		return rc;
	const char *version = node_get_string(info, "version");
	snprintf(client->version, sizeof(client->version), "%s", version ? version : "");
	if (client->may_start && strcmp(client->version, SLUICE_VERSION) != 0)
		fprintf(stderr,
			"sluice: this is version " SLUICE_VERSION ", but the daemon is version %s. "
			"'sluice daemon restart' changes to this one; training goes on.\n",
			*client->version ? client->version : "unknown");
	node_free(info);
	if (client->may_start)
		client_say_trouble(client);
	return 0;
}

int client_open(struct client *client, bool may_start, struct error *err)
{
	*client = (struct client){.may_start = may_start};
	int rc = state_folder(&client->folder, err);
	if (rc == 0)
		rc = client_check_daemon(client, err);
	if (rc < 0)
		client_close(client);
	return rc;
}

void client_close(struct client *client)
{
	free(client->folder);
	free(client->trouble);
	client->folder = client->trouble = NULL;
}

int client_stream_open(struct client *client, const char *last_id, struct client_stream *ret, struct error *err)
{
	struct request request = {.method = "GET", .path = "/events"};
	int fd = client_connect(client, err);
	if (fd < 0)
		return fd;
	ret->fd = fd;
	reply_init(&ret->reply, LIMIT_STREAM_BYTES * 4);
	sse_init(&ret->sse);
	if (last_id)
		buf_add_text(&ret->sse.id, last_id);
	int rc = client_write_request(fd, &request, last_id ? last_id : "");
	if (rc < 0)
		errorf(err, rc, "the connection to the daemon broke: %s", strerror(-rc));
	while (rc == 0 && !ret->reply.has_head)
		rc = client_stream_read(ret, err);
	if (rc == 0 && (ret->reply.status != 200 || strcmp(ret->reply.content_type, "text/event-stream") != 0))
		rc = errorf(err, -EBADMSG, "the daemon has no event stream (status %d)", ret->reply.status);
	if (rc < 0)
		client_stream_close(ret);
	return rc;
}

int client_stream_read(struct client_stream *stream, struct error *err)
{
	int rc = client_read_some(stream->fd, &stream->reply, err);
	if (rc < 0)
		return rc;
	return rc > 0 && !stream->reply.complete ? 0 : errorf(err, -EPIPE, "the daemon closed the event stream");
}

void client_stream_close(struct client_stream *stream)
{
	close(stream->fd);
	reply_free(&stream->reply);
	sse_free(&stream->sse);
}
