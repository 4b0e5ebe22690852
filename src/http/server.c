/* Sockets on libuv: see server.h. A connection has no timer and no read buffer of its own: one timer
 * looks at all deadlines, one buffer serves all reads, so that an idle stream stays under a kilobyte. */
#include "http/server.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "http/listen.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_READ_BYTES 65536
#define SERVER_BATCH 32
/* Of the connections, kept for the unix socket: a flood on TCP must not shut out the command line. A quarter of them
 * where there are few. */
#define SERVER_RESERVED 64
#define SERVER_LISTENERS 3
/* Of half-sent heads and of pipelined requests that wait, on TCP, all together. */
#define SERVER_HELD_BYTES (2u << 20)

struct client {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} uv;
	struct conn conn;
	struct server *server;
	struct client *prev, *next; /* oldest first */
	uint64_t position; /* event stream: the next event to send */
	uint64_t turn; /* when it asked for its turn to go on; 0: it does not wait */
	size_t held; /* conn_held when it was counted */
	bool writing, failed;
	bool eof; /* the peer sends nothing more, but may still read */
};

struct server {
	uv_loop_t *loop;
	const struct conn_app *handler;
	struct app *app;
	struct events *events;
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} listeners[SERVER_LISTENERS];
	size_t listener_count;
	uv_timer_t tick, flush, ping;
	uv_idle_t pump; /* while a client waits to go on */
	uint64_t pumps;
	struct client *first, *last;
	size_t count, max, streams;
	size_t held; /* of all clients on TCP */
	size_t reserved; /* of max, for the unix socket */
	size_t open_handles; /* until the server can be freed */
	bool closing;
	int socket_dir; /* 0: none */
	char read_buffer[SERVER_READ_BYTES];
};

/* A write that did not go out at once. */
struct pending_write {
	uv_write_t request;
	unsigned count;
	struct blob *blobs[SERVER_BATCH];
};

static struct client *client_of(const struct conn *conn)
{
	return (struct client *)((char *)(uintptr_t)conn - offsetof(struct client, conn));
}

static void server_release(struct server *server)
{
	if (--server->open_handles || !server->closing)
		return;
	if (server->socket_dir > 0)
		close(server->socket_dir);
	free(server);
}

static void client_unlink(struct client *client)
{
	struct server *server = client->server;
	*(client->prev ? &client->prev->next : &server->first) = client->next;
	*(client->next ? &client->next->prev : &server->last) = client->prev;
	server->count--;
}

static void client_closed_cb(uv_handle_t *handle)
{
	struct client *client = handle->data;
	struct server *server = client->server;
	conn_free(&client->conn);
	free(client);
	server_release(server);
}

static void io_close(struct conn *conn)
{
	struct client *client = client_of(conn);
	struct server *server = client->server;
	if (uv_is_closing(&client->uv.handle))
		return;
	if (client->position)
		server->streams--;
	client_unlink(client);
	server->held -= client->held;
	if (!server->count)
		uv_timer_stop(&server->tick);
	if (!server->streams)
		uv_timer_stop(&server->ping);
	uv_close(&client->uv.handle, client_closed_cb);
}

static void client_shutdown_cb(uv_shutdown_t *request, int status)
{
	struct client *client = request->handle->data;
	free(request);
	if (client->eof && status != UV_ECANCELED && !uv_is_closing(&client->uv.handle))
		conn_close(&client->conn);
}

static void client_shut(struct client *client)
{
	uv_shutdown_t *request = mem_alloc(sizeof(*request));
	if (uv_shutdown(request, &client->uv.stream, client_shutdown_cb) < 0)
		free(request);
}

static void client_flush(struct client *client);
static void client_count(struct client *client);

static void client_written_cb(uv_write_t *request, int status)
{
	struct pending_write *write = request->data;
	struct client *client = request->handle->data;
	for (unsigned i = 0; i < write->count; i++)
		blob_unref(write->blobs[i]);
	free(write);
	client->writing = uv_stream_get_write_queue_size(&client->uv.stream) > 0;
	if (uv_is_closing(&client->uv.handle))
		return;
	if (status < 0)
		conn_close(&client->conn);
	else if (client->conn.state == CONN_STREAM)
		client_flush(client);
	else if (!client->writing)
		conn_resume(&client->conn);
	client_count(client);
}

/* Sends the blobs: what the socket takes at once, the rest when it can. */
static void client_write(struct client *client, struct blob **blobs, unsigned count)
{
	uv_buf_t bufs[SERVER_BATCH];
	size_t total = 0, sent = 0;
	if (client->failed || uv_is_closing(&client->uv.handle))
		return;
	for (unsigned i = 0; i < count; i++) {
		bufs[i] = uv_buf_init((char *)(uintptr_t)blobs[i]->data, (unsigned)blobs[i]->len);
		total += blobs[i]->len;
	}
	if (!client->writing) {
		int rc = uv_try_write(&client->uv.stream, bufs, count);
		if (rc < 0 && rc != UV_EAGAIN) {
			client->failed = true;
			return;
		}
		sent = rc > 0 ? (size_t)rc : 0;
	}
	if (sent == total)
		return;
	struct pending_write *write = mem_alloc(sizeof(*write));
	uv_buf_t rest[SERVER_BATCH];
	for (unsigned i = 0; i < count; i++) {
		if (sent >= bufs[i].len) {
			sent -= bufs[i].len;
			continue;
		}
		rest[write->count] = uv_buf_init(bufs[i].base + sent, (unsigned)(bufs[i].len - sent));
		write->blobs[write->count++] = blob_ref(blobs[i]);
		sent = 0;
	}
	write->request.data = write;
	int rc = uv_write(&write->request, &client->uv.stream, rest, write->count, client_written_cb);
	if (rc < 0) {
		for (unsigned i = 0; i < write->count; i++)
			blob_unref(write->blobs[i]);
		free(write);
		client->failed = true;
		return;
	}
	client->writing = true;
}

static void io_send(struct conn *conn, struct blob *head, struct blob *body)
{
	struct blob *blobs[2] = {head, body};
	client_write(client_of(conn), blobs, body ? 2 : 1);
}

static size_t io_unsent(const struct conn *conn)
{
	return uv_stream_get_write_queue_size(&client_of(conn)->uv.stream);
}

static void client_alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = handle->data;
	(void)suggested;
	*buf = uv_buf_init(client->server->read_buffer, SERVER_READ_BYTES);
}

/* What was sent to a peer that has gone is noticed after the connection's own code has returned. */
static void client_check(struct client *client)
{
	if (client->failed)
		conn_close(&client->conn);
}

static void client_read_cb(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
	struct client *client = stream->data;
	if (len == UV_EOF && io_unsent(&client->conn)) {
		uv_read_stop(stream);
		client->eof = true;
		client_shut(client);
		return;
	}
	if (len < 0) {
		conn_close(&client->conn);
		return;
	}
	conn_feed(&client->conn, buf->base, (size_t)len);
	client_check(client);
	client_count(client);
}

static void io_read(struct conn *conn, bool on)
{
	struct client *client = client_of(conn);
	int rc = on ? uv_read_start(&client->uv.stream, client_alloc_cb, client_read_cb)
		    : uv_read_stop(&client->uv.stream);
	if (rc < 0 && rc != UV_EALREADY)
		client->failed = true;
}

static void io_shutdown(struct conn *conn)
{
	client_shut(client_of(conn));
}

/* One piece of one answer, or some requests of one client, the longest waiting first; then the loop looks at everything
 * else. */
static void server_pump_cb(uv_idle_t *idle)
{
	struct server *server = idle->data;
	struct client *next = NULL;
	for (struct client *client = server->first; client; client = client->next)
		if (client->turn && (!next || client->turn < next->turn))
			next = client;
	if (!next) {
		uv_idle_stop(idle);
		return;
	}
	next->turn = 0;
	conn_pump(&next->conn);
	client_check(next);
	client_count(next);
}

static void io_pump(struct conn *conn)
{
	struct client *client = client_of(conn);
	client->turn = ++client->server->pumps;
	uv_idle_start(&client->server->pump, server_pump_cb);
}

/* Sends what the ring has for this stream, unless something is still on its way. */
static void client_flush(struct client *client)
{
	struct events *events = client->server->events;
	while (!client->writing && !client->failed) {
		struct blob *blobs[SERVER_BATCH];
		int count = events_collect(events, client->position, blobs, SERVER_BATCH);
		if (count == 0)
			return;
		if (count < 0) {
			conn_close(&client->conn);
			return;
		}
		client->position += (uint64_t)count;
		client_write(client, blobs, (unsigned)count);
	}
	/* The peer does not keep up: it reconnects and gets a reset, which makes it fetch again. */
	if (client->failed || events_bytes_after(events, client->position) > LIMIT_STREAM_BYTES)
		conn_close(&client->conn);
}

static void server_ping_cb(uv_timer_t *timer)
{
	static const char text[] = ": ping\n\n";
	struct server *server = timer->data;
	struct blob *ping = blob_borrow(text, sizeof(text) - 1);
	for (struct client *client = server->first, *next; client; client = next) {
		next = client->next;
		if (client->conn.state != CONN_STREAM || client->writing)
			continue;
		client_write(client, &ping, 1);
		client_check(client);
	}
	blob_unref(ping);
}

static void io_stream(struct conn *conn, const struct response *response)
{
	static const char reset[] = "event: reset\ndata: {}\n\n";
	struct client *client = client_of(conn);
	struct server *server = client->server;
	struct buf text = buf_make(512);
	client->position = response->stream_from;
	/* An id without data is no event, but the browser remembers it for when it must come back. */
	buf_add_text(&text, "retry: 1000\n");
	events_format_id(server->events, client->position, &text);
	if (response->stream_reset)
		buf_add_text(&text, reset);
	else
		buf_add_text(&text, "\n");
	struct blob *blob = blob_take(&text);
	client_write(client, &blob, 1);
	blob_unref(blob);
	if (!server->streams++)
		uv_timer_start(&server->ping, server_ping_cb, SERVER_PING_MS, SERVER_PING_MS);
	if (client->position < events_end(server->events))
		server_wake_streams(server);
}

static const struct conn_io server_io = {
	.send = io_send,
	.unsent = io_unsent,
	.read = io_read,
	.shutdown = io_shutdown,
	.close = io_close,
	.pump = io_pump,
	.stream = io_stream,
};

static void server_flush_cb(uv_timer_t *timer)
{
	struct server *server = timer->data;
	for (struct client *client = server->first, *next; client; client = next) {
		next = client->next;
		if (client->conn.state == CONN_STREAM)
			client_flush(client);
	}
}

void server_wake_streams(struct server *server)
{
	if (server->streams && !uv_is_active((uv_handle_t *)&server->flush))
		uv_timer_start(&server->flush, server_flush_cb, SERVER_FLUSH_MS, 0);
}

void server_end_streams(struct server *server, enum access_kind kind, uint64_t id)
{
	for (struct client *client = server->first, *next; client; client = next) {
		next = client->next;
		if (client->conn.state == CONN_STREAM && client->conn.access.kind == kind &&
		    client->conn.access.id == id)
			conn_close(&client->conn);
	}
}

static void server_tick_cb(uv_timer_t *timer)
{
	struct server *server = timer->data;
	int64_t now = clock_mono_ms();
	for (struct client *client = server->first, *next; client; client = next) {
		next = client->next;
		conn_tick(&client->conn, now);
		client_check(client);
	}
}

static bool client_is_half_sent(const struct conn *conn)
{
	return conn->state == CONN_BODY && conn->stranger;
}

static bool client_is_idle(const struct conn *conn)
{
	return conn->state == CONN_IDLE || conn->state == CONN_HEAD || conn->state == CONN_DRAIN;
}

static bool server_close_oldest(struct server *server, bool (*fits)(const struct conn *conn))
{
	for (struct client *client = server->first; client; client = client->next) {
		if (client->conn.local || !fits(&client->conn))
			continue;
		conn_close(&client->conn);
		return true;
	}
	return false;
}

/* Makes room: the body of who has not signed in goes first, then what is not being answered or followed. */
static bool server_make_room(struct server *server)
{
	return server_close_oldest(server, client_is_half_sent) || server_close_oldest(server, client_is_idle);
}

static bool client_holds(const struct conn *conn)
{
	return client_is_idle(conn) && conn_held(conn);
}

static void client_count_one(struct client *client)
{
	size_t held = client->conn.local ? 0 : conn_held(&client->conn);
	client->server->held += held - client->held;
	client->held = held;
}

/* Where all hold too much, the oldest that could go is closed. */
static void client_count(struct client *client)
{
	struct server *server = client->server;
	if (uv_is_closing(&client->uv.handle))
		return;
	client_count_one(client);
	if (server->held <= SERVER_HELD_BYTES)
		return;
	for (struct client *other = server->first; other; other = other->next)
		client_count_one(other);
	while (server->held > SERVER_HELD_BYTES && server_close_oldest(server, client_holds))
		;
}

static bool server_peer_is_us(uv_stream_t *stream)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	uv_os_fd_t fd;
	return uv_fileno((uv_handle_t *)stream, &fd) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static void server_add_client(struct server *server, struct client *client, bool local)
{
	conn_init(&client->conn, &server_io, server->handler, server->app, local);
	client->prev = server->last;
	*(server->last ? &server->last->next : &server->first) = client;
	server->last = client;
	if (!server->count++)
		uv_timer_start(&server->tick, server_tick_cb, SERVER_TICK_MS, SERVER_TICK_MS);
}

static void server_connection_cb(uv_stream_t *listener, int status)
{
	struct server *server = listener->data;
	bool local = listener->type == UV_NAMED_PIPE;
	if (status < 0) {
		log_warning("accepting a connection: %s", uv_strerror(status));
		return;
	}
	struct client *client = mem_alloc(sizeof(*client));
	client->server = server;
	if (local)
		uv_pipe_init(server->loop, &client->uv.pipe, 0);
	else
		uv_tcp_init(server->loop, &client->uv.tcp);
	client->uv.handle.data = client;
	server->open_handles++;
	bool fits = server->count < server->max - (local ? 0 : server->reserved) || server_make_room(server);
	/* Joins the list first, so that closing is the same for all. */
	server_add_client(server, client, local);
	if (uv_accept(listener, &client->uv.stream) < 0 || !fits) {
		conn_close(&client->conn);
		return;
	}
	if (local && !server_peer_is_us(&client->uv.stream)) {
		log_warning("a connection of another user to the unix socket was refused");
		conn_close(&client->conn);
		return;
	}
	if (!local)
		uv_tcp_nodelay(&client->uv.tcp, 1);
	if (uv_read_start(&client->uv.stream, client_alloc_cb, client_read_cb) < 0)
		conn_close(&client->conn);
}

/* Half of the files that may be open: the rest of the daemon needs the others for journals, scripts and the store. */
static size_t server_connection_max(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 16384 ? limit.rlim_max : 16384;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
			return 256;
	}
	rlim_t half = limit.rlim_cur / 2;
	return half < LIMIT_CONNECTIONS ? (size_t)half : LIMIT_CONNECTIONS;
}

struct server *server_new(uv_loop_t *loop, const struct conn_app *handler, struct app *app)
{
	struct server *server = mem_alloc(sizeof(*server));
	server->loop = loop;
	server->handler = handler;
	server->app = app;
	server->max = server_connection_max();
	server->reserved = server->max / 4 < SERVER_RESERVED ? server->max / 4 : SERVER_RESERVED;
	uv_timer_t *timers[] = {&server->tick, &server->flush, &server->ping};
	for (size_t i = 0; i < COUNT_OF(timers); i++) {
		uv_timer_init(loop, timers[i]);
		timers[i]->data = server;
		server->open_handles++;
	}
	uv_idle_init(loop, &server->pump);
	server->pump.data = server;
	server->open_handles++;
	return server;
}

uv_loop_t *server_loop(struct server *server)
{
	return server->loop;
}

void server_set_events(struct server *server, struct events *events)
{
	server->events = events;
}

/* A handle for a listener that is still to be initialised; it counts from now on. */
static size_t server_add_listener(struct server *server)
{
	server->open_handles++;
	return server->listener_count++;
}

int server_listen_unix(struct server *server, const char *path, struct error *err)
{
	size_t i = server_add_listener(server);
	uv_pipe_init(server->loop, &server->listeners[i].pipe, 0);
	server->listeners[i].handle.data = server;
	return listen_unix(&server->listeners[i].pipe, path, server_connection_cb, &server->socket_dir, err);
}

int server_listen_tcp(struct server *server, const char *host, uint16_t port, uint16_t *ret_port, struct error *err)
{
	size_t i = server_add_listener(server);
	uv_tcp_init(server->loop, &server->listeners[i].tcp);
	server->listeners[i].handle.data = server;
	return listen_tcp(&server->listeners[i].tcp, host, port, server_connection_cb, ret_port, err);
}

static void server_handle_closed_cb(uv_handle_t *handle)
{
	server_release(handle->data);
}

void server_close(struct server *server)
{
	if (!server)
		return;
	server->closing = true;
	while (server->first)
		conn_close(&server->first->conn);
	for (size_t i = 0; i < server->listener_count; i++)
		uv_close(&server->listeners[i].handle, server_handle_closed_cb);
	uv_close((uv_handle_t *)&server->tick, server_handle_closed_cb);
	uv_close((uv_handle_t *)&server->flush, server_handle_closed_cb);
	uv_close((uv_handle_t *)&server->ping, server_handle_closed_cb);
	uv_close((uv_handle_t *)&server->pump, server_handle_closed_cb);
}
