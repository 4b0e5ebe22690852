/* Messages about experiments that leave the machine: to a webhook and by mail, where the user has set an address. A
 * message is written to the store in the transaction of its event and removed from the queue when it was delivered, so
 * it survives a kill of the daemon at any instruction. It is delivered at least once: a daemon that is killed between a
 * delivery and the note of it delivers the message again, with the same id. Programs (curl, sendmail) do the sending as
 * children, so the loop never waits. */
#ifndef NOTIFY_NOTIFY_H
#define NOTIFY_NOTIFY_H

#include "base/error.h"
#include "base/json.h"
#include "base/node.h"
#include "store/store.h"

#include <uv.h>

enum notify_kind {
	NOTIFY_END, /* an experiment has ended */
	NOTIFY_PAUSE, /* it was paused */
	NOTIFY_STALL, /* a running task makes no progress */
	NOTIFY_KIND_COUNT,
};

struct notify;

struct notify_config {
	uv_loop_t *loop;
	struct store *store;
	const char *state_dir;
	const char *daemon_url; /* for links; NULL: none */
};

/* Reads the settings, and sends what an earlier daemon left. */
struct notify *notify_open(const struct notify_config *config);
/* Ends what is being sent; it is sent again after the next start. NULL is fine. */
void notify_close(struct notify *notify);

/* Adds a message for each channel that wants this kind. Within the caller's transaction; `text` is what happened, and is
 * not used for an end. */
int notify_add(struct notify *notify, enum notify_kind kind, int64_t experiment, int64_t task,
	       const char *text) MUST_USE;
/* Sends what is due. Call it after the commit. */
void notify_send(struct notify *notify);

/* POST /notify: {"webhook":"…"|null,"mail":"…"|null,"events":["end",…]}; what is not named stays. -EINVAL. */
int notify_change(struct notify *notify, const struct node *body, struct error *err) MUST_USE;
/* Sends a test message to every channel that has an address. -EINVAL when none has. */
int notify_test(struct notify *notify, struct error *err) MUST_USE;
/* GET /notify. */
int notify_write(struct notify *notify, struct json *out) MUST_USE;

/* For `sluice doctor`: one finding for each channel with an address. `what` and `fix` are valid during the call. */
typedef void (*notify_finding_f)(void *ctx, const char *level, const char *what, const char *fix);
void notify_examine(struct notify *notify, notify_finding_f found, void *ctx);

#endif
