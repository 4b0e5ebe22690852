/* The route table: one row gives routing, checks of parameters, 405 answers and the OpenAPI document. */
#ifndef HTTP_ROUTE_H
#define HTTP_ROUTE_H

#include "http/message.h"

enum param_type { PARAM_TEXT, PARAM_INT, PARAM_BOOL, PARAM_CHOICE };

/* A query parameter. */
struct param {
	const char *name;
	enum param_type type;
	int64_t min, max, fallback; /* PARAM_INT; fallback also for PARAM_BOOL */
	const char *choices; /* PARAM_CHOICE: "stdout|stderr" */
	bool required;
	const char *help;
};

enum route_flag {
	ROUTE_PUBLIC = 1 << 0, /* no login needed */
	ROUTE_CACHED = 1 << 1, /* the same until the store changes */
	ROUTE_AGING = 1 << 2, /* with ROUTE_CACHED: and for a second at most (it shows elapsed times) */
	ROUTE_UPLOAD = 1 << 3, /* the body goes to a file */
	ROUTE_STREAM = 1 << 4, /* answers with an event stream */
	ROUTE_OPTIONAL_BODY = 1 << 5,
	ROUTE_MAYBE_NOTHING = 1 << 6, /* may answer 204 instead */
};

typedef void (*route_handler_f)(struct request *request, struct response *response);

struct route {
	enum method method;
	const char *path; /* below /api/v1; {name} takes one segment */
	route_handler_f handle;
	const char *operation; /* OpenAPI operationId */
	const char *summary;
	const char *body; /* schema of the request; NULL: none */
	const char *answer; /* schema of the response, or a media type with '/', or NULL: no body */
	int status; /* of success */
	unsigned flags;
	const struct param *query[REQUEST_QUERY_VALUES];
};

extern const struct route routes[];
extern const size_t routes_count;

/* What a path segment in braces may hold. */
struct path_param {
	const char *name;
	const char *pattern; /* for OpenAPI */
	bool number; /* digits after an optional prefix letter */
	char prefix; /* 'e' for e12; 0 */
	const char *help;
};
const struct path_param *path_param_find(const char *name, size_t len);

#define ROUTE_PREFIX "/api/v1"

/* Finds the row for the request's path and method, and fills route, path values and query. 0; or the
 * response is a problem (404, 405 with Allow, 400) and -1 is returned. HEAD finds GET. */
int route_find(struct request *request, struct response *response) MUST_USE;
/* Decodes percent signs once. -EINVAL for a broken or forbidden one (NUL, control bytes, invalid UTF-8;
 * '/' when `segment`). In a query '+' is a space. The caller frees *ret. */
int route_decode(const char *text, size_t len, bool query, char **ret) MUST_USE;
/* Writes the OpenAPI 3.1 document. */
void openapi_write(struct buf *out);

#endif
