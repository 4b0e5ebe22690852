/* How the values of a task are passed in its command: as flags, switches, name=value, or at a place in `command:`. */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "base/node.h"

struct spec;
struct buf;

/* Words in `arguments:` for a value that is not passed as a separate argument. */
#define CALL_IN_COMMAND "command" /* it is written in the command: {name} */
#define CALL_SEED "seed" /* where no parameter has this name: the seed of the task, also as {seed} in `command:` */
#define CALL_ENV "env" /* only in the environment and in params.json, where all values are */

/* What `arguments` says of a name; NULL: nothing. */
const char *call_said(const struct spec *spec, const char *name);
/* What is wrong with a form in `arguments`; NULL: nothing. */
const char *call_check(const char *how);
/* Appends every value of params to argv, in the way the experiment passes it. */
void call_add_all(struct node *argv, const struct spec *spec, const struct node *params);
/* A word of `command:` with its placeholders filled in. The caller frees it. */
char *call_fill(const struct spec *spec, const char *word, const struct node *params);
/* The next placeholder {name} at or after `from`: its name, and where it begins and ends. {{name}} and ${name} are not
 * placeholders. The caller frees the name; NULL: there is no more. */
char *call_next_placeholder(const char *from, const char **ret_begin, const char **ret_end);
/* A value as a script sees it: "0.001", "adam", "true". The caller frees it. */
char *call_text(const struct node *value);
/* Writes the command as a user would type it in a shell. */
void call_write(const struct node *argv, struct buf *out);
/* The same as the runner starts it: what the first line (#!) of the script's text names runs it. script: NULL: not known.
 * The caller frees it. */
struct node *call_as_run(const struct node *argv, const struct spec *spec, const char *script);

#endif
