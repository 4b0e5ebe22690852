/* Answers that are made on libuv's pool, because they read files that may lie on a file system that takes long or does not
 * answer. Only so many of a kind run at a time that the pool stays free for the search. */
#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include "http/message.h"

enum pool_lane { POOL_FOLDERS, POOL_CHECKS, POOL_LANES };

struct pool_kind {
	enum pool_lane lane;
	void (*work)(void *ctx); /* on the pool; it may outlive request and app */
	void (*answer)(void *ctx, struct response *response); /* in the loop; not called where the peer has gone */
	void (*free)(void *ctx);
};

struct pool_job;
struct pool {
	struct pool_job *first[POOL_LANES]; /* in the order of the requests; those that run come first */
};

/* The answer comes later, or is 503 where too many wait. Takes ctx. */
void pool_start(struct request *request, struct response *response, const struct pool_kind *kind, void *give_ctx);
/* Call it when the app closes: answers that are still being made are dropped. */
void pool_leave(struct pool *pool);

#endif
