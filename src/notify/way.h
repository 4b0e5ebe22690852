/* The ways a message leaves the machine: a webhook by curl, mail by the site's sendmail or mail program. A way says which
 * program to run with which arguments and input, and what the answer means. It starts nothing itself. */
#ifndef NOTIFY_WAY_H
#define NOTIFY_WAY_H

#include "base/error.h"
#include "base/proc.h"
#include "notify/message.h"

#define NOTIFY_ARGS_MAX 8

/* What to run. Free it with notify_call_free. */
struct notify_call {
	char *argv[NOTIFY_ARGS_MAX];
	struct buf input;
	int64_t timeout_ms;
};
void notify_call_free(struct notify_call *call);

struct notify_way {
	const char *name; /* of the channel: webhook, mail */
	/* 0, or -EINVAL with what is wrong with the address. */
	int (*check)(const char *target, struct error *err);
	/* The program that it needs, a constant; NULL: none was found, and *ret_missing says what to install. */
	const char *(*program)(const char **ret_missing);
	void (*make)(const char *program, const char *target, const struct notify_message *message,
		     struct notify_call *ret);
	/* NULL: it was delivered; else what went wrong, which the caller frees. */
	char *(*failed)(const char *program, const struct proc_result *result);
};

extern const struct notify_way notify_ways[];
extern const size_t notify_way_count;

#endif
