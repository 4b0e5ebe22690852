/* The application behind the connections: which checks a request passes, in which order, and who answers. */
#ifndef HTTP_APP_H
#define HTTP_APP_H

#include "engine/engine.h"
#include "http/cache.h"
#include "http/conn.h"
#include "http/events.h"
#include "http/gate.h"
#include "http/server.h"

struct app {
	struct engine *engine;
	struct store *store;
	struct gate *gate;
	struct events *events;
	struct cache *cache;
	struct server *server; /* NULL in tests */
	struct node *schemas; /* of request bodies; NULL: not read yet */
	char *state_dir;
	char *login; /* the command that gives another login link; for the owner's eyes */
	char *address; /* "127.0.0.1:54322": for login links; the caller sets it before app_open */
	uint16_t port;
};

extern const struct conn_app app_handler;

/* Makes everything that hangs on an open engine; engine and server stay the caller's. No request may come
 * before. */
void app_open(struct app *app, struct engine *engine, struct server *server, const char *state_dir);
/* {0} is fine. */
void app_free(struct app *app);
/* "http://HOST/#login=CODE". The caller frees it. */
char *app_login_link(struct app *app);

#endif
