/* The recent events, for GET /events: a ring buffer that keeps enough for a browser to continue after a short
 * interruption. A stream keeps only a position in it, so that an idle one costs nothing. */
#ifndef HTTP_EVENTS_H
#define HTTP_EVENTS_H

#include "http/blob.h"

#define EVENTS_MAX 4096 /* kept */
#define EVENTS_BYTES_MAX (4u << 20) /* kept */

struct events;

struct events *events_new(void);
void events_free(struct events *events);
/* Adds an event; data is JSON on one line. */
void events_add(struct events *events, const char *name, const char *data, size_t len);
/* The position after the newest event. */
uint64_t events_end(const struct events *events);
/* Finds where a client continues whose last event id was `last`. Returns true and the position, or false if that event
 * is no longer kept. */
bool events_resume(const struct events *events, const char *last, uint64_t *ret_from);
/* The id of the event before a position, as text for "id:". */
void events_format_id(const struct events *events, uint64_t from, struct buf *out);
/* The events from a position on, at most max of them; the ring keeps the references. -1 when the position is too
 * old. */
int events_collect(const struct events *events, uint64_t from, struct blob **ret, int max);
/* Bytes from a position to the end. */
size_t events_bytes_after(const struct events *events, uint64_t from);

#endif
