/* Messages that leave the machine (webhook, mail), until they are delivered, and the settings for them. All writes are
 * made inside the caller's transaction, unless the comment says otherwise. */
#ifndef STORE_OUTBOX_H
#define STORE_OUTBOX_H

#include "store/store.h"

enum store_message_state { STORE_MESSAGE_WAITS, STORE_MESSAGE_SENT, STORE_MESSAGE_GIVEN_UP };

/* A message. The reader frees it with store_message_free. */
struct store_message {
	int64_t id, experiment, task, many, tries; /* experiment and task 0: none */
	char *token, *kind, *summary, *text; /* summary may be NULL */
	int64_t created_ms;
};
void store_message_free(struct store_message *message);

/* A setting; the caller frees it. NULL when it is not set (or cannot be read, which is logged). */
char *store_read_notify_setting(struct store *store, const char *name);
/* NULL removes it. */
int store_set_notify_setting(struct store *store, const char *name, const char *value) MUST_USE;

/* Adds a message; its texts are copied. id, many and tries are not read. */
int store_add_message(struct store *store, const char *channel, const struct store_message *message,
		      int64_t due_ms) MUST_USE;
/* Counts one more task in the message of this kind that waits for its first try, unless it is `except` (the one that is
 * being sent). The message gets the texts and the token of the new one: a daemon that was killed may have sent it
 * before, and a receiver drops a token that it knows. 1; 0 when there is none. */
int store_add_to_message(struct store *store, const char *channel, const struct store_message *message,
			 int64_t except) MUST_USE;
/* When the last message of this kind about the experiment was made; 0: never. */
int64_t store_last_message_ms(struct store *store, const char *channel, const char *kind, int64_t experiment);
/* The next message to try: the one with the fewest tries, then the oldest. -ENOENT: none is due. */
int store_next_message(struct store *store, const char *channel, int64_t now_ms, struct store_message *ret) MUST_USE;
/* When the next message is due, of those that were tried before or of those that were not; 0: none waits. */
int64_t store_next_message_ms(struct store *store, const char *channel, bool tried);
/* The result of a try; error NULL: delivered. */
int store_end_message(struct store *store, int64_t id, enum store_message_state state, const char *error,
		      int64_t now_ms) MUST_USE;
/* Removes what waits for a channel that was turned off. */
int store_drop_messages(struct store *store, const char *channel) MUST_USE;
/* Removes messages that ended before this time. */
int store_forget_messages(struct store *store, int64_t before_ms) MUST_USE;

/* The state of a channel: members "waiting", "sent", "error", "failed" and "test", into the open map. */
int store_json_channel(struct store *store, const char *channel, struct json *out) MUST_USE;

#endif
