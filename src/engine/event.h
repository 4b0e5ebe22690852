/* Events for the listeners. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdint.h>

struct engine;

/* Marks the task as changed. Its event is sent after the commit. */
void engine_task_changed(struct engine *engine, int64_t experiment, int64_t number);
/* Sends a text to the user at once. level: "error", "warning", "info". */
void engine_notice(struct engine *engine, const char *level, const char *text);
/* Sends at once why the daemon cannot write to the store, or that it can again. */
void engine_tell_trouble(struct engine *engine);
/* Sends events for everything that changed; after the commit. */
void engine_send_events(struct engine *engine);
/* A store_failure_f: a read failed. The user is notified at the next turn, at most once a minute. */
void engine_unread_cb(void *ctx, const char *text);
void engine_tell_unread(struct engine *engine);

#endif
