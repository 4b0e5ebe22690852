/* The sockets: listens on the unix socket and on loopback, carries bytes between peers and connections, sends events to
 * the streams, and closes connections that take too long. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/error.h"
#include "http/conn.h"
#include "http/events.h"

#include <uv.h>

struct server;

struct server *server_new(uv_loop_t *loop, const struct conn_app *handler, struct app *app);
/* The loop it was made for. */
uv_loop_t *server_loop(struct server *server);
/* Sets the ring that event streams read. Call it before the loop runs. */
void server_set_events(struct server *server, struct events *events);
/* Listens on the unix socket at path: see listen_unix. Peers with another uid are refused. */
int server_listen_unix(struct server *server, const char *path, struct error *err) MUST_USE;
/* Listens on a loopback address: see listen_tcp. */
int server_listen_tcp(struct server *server, const char *host, uint16_t port, uint16_t *ret_port,
		      struct error *err) MUST_USE;
/* Call it after adding an event to the ring: the streams get it soon. */
void server_wake_streams(struct server *server);
/* Ends the event streams of a session or token that has ended. */
void server_end_streams(struct server *server, enum access_kind kind, uint64_t id);
/* Closes every connection and listener; the server is freed once the loop has turned. */
void server_close(struct server *server);

#endif
