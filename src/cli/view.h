/* Members of REST answers as text for people. An unknown value is shown as unknown, never as 0. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "base/buf.h"
#include "base/node.h"
#include "cli/term.h"

#define VIEW_CHARS 128

/* A metric's value ("0.3175", "NaN"), or "none yet". */
void view_metric(const struct node *value, char text[static VIEW_CHARS]);
/* Of an experiment or a task without one: "none yet", or "none" when it has ended. */
const char *view_none(const struct node *thing);
/* The same for an objective of it: energy that is not known after the end was "not measured". */
const char *view_no_value(const struct node *thing, const char *metric);
/* A parameter's value as it was written. The caller frees it. */
char *view_value(const struct node *value);
/* The same, with a long number shortened to five digits: for tables. */
char *view_short_value(const struct node *value);
/* "batch_size=64 learning_rate=0.001"; only those named in `only` (a list; NULL: all). */
void view_parameters(const struct node *parameters, const struct node *only, struct buf *out);
/* The state of an experiment; "paused" if it is paused. */
const char *view_state(const struct node *experiment);
/* What the steps of the curves of a task, or of the best one, are called: "epoch", "row", ... Tasks of one experiment may
 * count different things. */
const char *view_task_step(const struct node *task, const struct node *experiment);
/* The metric of the first objective; "" where there is none. */
const char *view_objective(const struct node *objective);
/* The best result of an experiment that has one. Short, for a table: "loss 0.4 ± 0.02 (mean of 3) (e1/2)". Long: with the
 * step and the parameters of `varying`. */
enum view_best_form { VIEW_BEST_SHORT, VIEW_BEST_LONG };
void view_best(const struct node *experiment, const struct node *varying, enum view_best_form form, struct buf *out);
/* A moment: "3 m 20 s ago", and the local date where it is long ago; `fallback` when it is null. */
void view_ago(const struct node *time, const char *fallback, char text[static VIEW_CHARS]);
/* "2026-11-15 14:23:17", local. */
void view_time(const struct node *time, const char *fallback, char text[static VIEW_CHARS]);
/* Seconds as "2 h 05 m". */
void view_seconds(const struct node *seconds, const char *fallback, char text[static VIEW_CHARS]);
void view_bytes(const struct node *bytes, const char *fallback, char text[static VIEW_CHARS]);
/* A figure of a cost in its unit (see base/cost.h): "2 h 05 m", "1.5 GB", "12.4 kJ", "231 W". */
void view_figure(const struct node *value, const char *unit, const char *fallback, char text[static VIEW_CHARS]);
/* "12.4 kJ (measured by NVML)" */
void view_energy(const struct node *cost, char text[static VIEW_CHARS]);
/* "4 at the same time"; "" when it is not known. */
void view_parallel(const struct node *parallel, char text[static VIEW_CHARS]);
/* "exit code 1", or the reason, or "". */
const char *view_cause(const struct node *task);
/* The wall time in ms of an RFC 3339 member, or -1 when it is null. */
int64_t view_ms(const struct node *time);
/* Adds "  name      value" with a fixed column for the name; value is made safe. Empty values are skipped. */
void view_line(struct buf *out, const struct term *term, const char *name, const char *value);
/* True if the experiment or task has ended in this state. */
bool view_is_over(const char *state);

#endif
