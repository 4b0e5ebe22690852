/* What a message says: the sentence for people, and the JSON document of a webhook. Pure functions of the message. */
#ifndef NOTIFY_MESSAGE_H
#define NOTIFY_MESSAGE_H

#include "base/buf.h"
#include "store/outbox.h"

/* A message with what only the daemon knows. Texts are borrowed. */
struct notify_message {
	const struct store_message *row;
	const char *url; /* of the dashboard, without a slash at the end; NULL: none */
	const char *host;
};

/* One line for people: "resnet (e12) finished: 46 of 48 tasks finished, 2 failed. Best val_loss 0.3175 (e12/19)." Control
 * characters become blanks. */
void notify_add_sentence(const struct store_message *row, struct buf *out);
/* The address of the experiment or task on the dashboard. False: none is known. */
bool notify_add_link(const struct notify_message *message, struct buf *out);
/* The schema Notification of REST. It stays below 48 kB, because curl takes no line above 100 kB: where the summary is
 * longer, its description is cut, and where that is not enough, there is no summary. */
void notify_add_json(const struct notify_message *message, struct buf *out);

#endif
