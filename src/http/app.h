/* The application behind the connections: which checks a request must pass, in which order, and which handler
 * answers. */
#ifndef HTTP_APP_H
#define HTTP_APP_H

#include "engine/engine.h"
#include "http/cache.h"
#include "http/conn.h"
#include "http/events.h"
#include "http/gate.h"
#include "http/pool.h"
#include "http/server.h"

struct app {
	struct engine *engine;
	struct store *store;
	struct gate *gate;
	struct events *events;
	struct cache *cache;
	struct server *server; /* NULL in tests */
	struct pool pool; /* answers that are being made beside the loop */
	struct node *schemas; /* of request bodies; NULL: not read yet */
	char *state_dir;
	char *login; /* the command that prints another login link; shown only to the owner */
	char *address; /* "127.0.0.1:54322": for login links; the caller sets it before app_open */
	uint16_t port;
};

extern const struct conn_app app_handler;

/* Makes everything that needs an open engine. The caller keeps engine and server. No request may arrive before this
 * call. */
void app_open(struct app *app, struct engine *engine, struct server *server, const char *state_dir);
/* {0} is fine. */
void app_free(struct app *app);
/* "http://HOST/#login=CODE", at the first address of a proxy where there is one. The caller frees it. */
char *app_login_link(struct app *app);

#endif
