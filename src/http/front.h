/* The addresses at which a reverse proxy serves the dashboard, as the user's settings name them:
 *
 *	web: {urls: [https://hpc.example.org/sluice/]}
 *
 * Only these Hosts are served beside the loopback names, and only on TCP: on the unix socket no secret is asked for. */
#ifndef HTTP_FRONT_H
#define HTTP_FRONT_H

#include "base/error.h"
#include "base/node.h"

#include <stdbool.h>

#define FRONTS_MAX 8

struct front {
	bool https;
	char *host; /* "hpc.example.org:8443"; without a port that is the scheme's own */
	char *prefix; /* "/sluice"; "" for none */
};

struct fronts {
	struct front list[FRONTS_MAX];
	size_t count;
};

/* `document` is that of the settings, or NULL. -EINVAL with a text for the user; *ret is empty then. */
int fronts_parse(const struct node *document, struct fronts *ret, struct error *err) MUST_USE;
void fronts_free(struct fronts *fronts);
/* The first with this Host; NULL: none. */
const struct front *fronts_find(const struct fronts *fronts, const char *host);
/* Is this Origin the page of one of them with this Host? */
bool fronts_has_origin(const struct fronts *fronts, const char *host, const char *origin);
/* Removes the prefix of the path for this Host, where the proxy left it there. */
void fronts_strip(const struct fronts *fronts, const char *host, char *path);

#endif
