/* How the values of a task stand in the command that runs it: flags, switches, name=value, or a place in `command:`. */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "base/node.h"

struct spec;
struct buf;

/* The words of `arguments:` for a value that is not passed as an argument of its own. */
#define CALL_IN_COMMAND "command" /* it stands in the command: {name} */
#define CALL_ENV "env" /* only in the environment and in params.json, where all values are */

/* How this parameter is passed: what `arguments` says of it, else what `pass`, `style` and `separator` make of it, as
 * "--batch-size={}". NULL: not as an argument, or by its place. The caller frees it. */
char *call_how(const struct spec *spec, const char *name);
/* What is wrong with a form that a person wrote; NULL: nothing. */
const char *call_check(const char *how);
/* Appends the arguments of one value. `how` is made of words in which {} is the value. A text with spaces is several
 * values where `how` ends with " {}..." (--sizes 64 64) or with " ..." (--size=64 --size=64). Without {} it is a switch:
 * ON, ON/OFF or /OFF. */
void call_add(struct node *argv, const char *how, const struct node *value);
/* Appends every value of params to the program in argv, as the experiment passes them. */
void call_add_all(struct node *argv, const struct spec *spec, const struct node *params);
/* A word of `command:` with its placeholders filled in. The caller frees it. */
char *call_fill(const struct spec *spec, const char *word, const struct node *params);
/* The next placeholder {name} at or after `from`: its name, and where it begins and ends. {{name}} and ${name} are none.
 * The caller frees the name; NULL: there is no more. */
char *call_next_placeholder(const char *from, const char **ret_begin, const char **ret_end);
/* A value as a script sees it: "0.001", "adam", "true". The caller frees it. */
char *call_text(const struct node *value);
/* A command as one would type it. */
void call_write(const struct node *argv, struct buf *out);

#endif
