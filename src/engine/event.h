/* What the listeners are told. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdint.h>

struct engine;

/* The task is told of after the commit. */
void engine_task_changed(struct engine *engine, int64_t experiment, int64_t number);
/* A text for the user, at once. level: "error", "warning", "info". */
void engine_notice(struct engine *engine, const char *level, const char *text);
/* What keeps the daemon from recording anything, or that it has passed; at once. */
void engine_tell_trouble(struct engine *engine);
/* Everything that changed; after the commit. */
void engine_send_events(struct engine *engine);
/* A store_failure_f: a read failed. The user is told at the next turn, at most once a minute. */
void engine_unread_cb(void *ctx, const char *text);
void engine_tell_unread(struct engine *engine);

#endif
