/* Finds out what a training script takes and reports, by reading its text: how it reads its arguments, their names,
 * types, defaults and choices, which metric it watches, whether it saves checkpoints. Nothing is executed. The result
 * may be incomplete; only if `sure` is set does the script refuse arguments that are not listed. */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "base/json.h"
#include "base/node.h"

/* How a script reads its arguments. */
enum script_reads {
	SCRIPT_UNKNOWN, /* nothing was found */
	SCRIPT_FLAGS, /* --name=value in some spelling */
	SCRIPT_POSITIONS, /* sys.argv[3] */
	SCRIPT_OVERRIDES, /* name=value, as hydra has it */
	SCRIPT_ENVIRONMENT, /* SLUICE_PARAM_NAME, or sluice.params() */
};

enum script_type { SCRIPT_ANY, SCRIPT_INT, SCRIPT_REAL, SCRIPT_TEXT, SCRIPT_BOOL };

enum script_shape {
	SCRIPT_VALUE, /* --lr=0.1 */
	SCRIPT_SPACED, /* --lr 0.1, where = is not understood */
	SCRIPT_SWITCH, /* --augment, or nothing */
	SCRIPT_TRUTH, /* type=bool of argparse: every text but the empty one is true, "false" too */
	SCRIPT_SEVERAL, /* --sizes 64 64 */
	SCRIPT_REPEATED, /* --size=64 --size=64 */
	SCRIPT_PLACE, /* positional, without a flag */
};

struct script_argument {
	char *name; /* as a parameter is called: batch_size */
	char *flag; /* --batch-size as the script writes it; NULL: it has none, or only one that turns it off */
	char *off; /* what turns a switch off: --no-augment; NULL */
	VEC(char *) others; /* further flags for the same: --rate, -r */
	enum script_shape shape;
	enum script_type type;
	bool untyped; /* the type is that of the default; the script converts nothing and refuses nothing */
	struct node *fallback; /* the default: a scalar or a list; NULL: none, or not a literal */
	struct node *choices; /* a list of scalars; NULL: any value */
	char *help; /* NULL */
	bool required;
	char *command; /* the subcommand that takes it; NULL: there are none, or it is not known which */
	bool before; /* of the script itself: it stands before the subcommand where there is one */
	int place; /* sys.argv[place]; 0: not read that way */
	unsigned line;
};

struct script {
	enum script_reads reads;
	const char *parser; /* "argparse", "click", …; NULL: none was recognised */
	unsigned parser_line;
	VEC(struct script_argument) arguments;
	int places; /* the highest N in sys.argv[N] */
	VEC(char *) commands; /* subcommands, one of which must come first: "train" */
	bool sure; /* an argument that is not listed ends the script with an error */
	bool abbreviates; /* --batch is taken for --batch-size */
	bool dashes; /* the parser makes flags with dashes: --batch-size */
	VEC(const char *) writers; /* how it reports: "CSVLogger", … */
	VEC(char *) columns; /* names of metrics in its text */
	char *metric; /* what it watches itself; NULL */
	const char *goal; /* "min", "max"; NULL: not said */
	char *metric_from; /* "EarlyStopping", "ModelCheckpoint", … */
	bool checkpoint;
	bool seeds; /* it reads the seed that sluice gives it in the environment */
	bool deaf; /* it surely takes no value from outside: all tasks would compute the same */
	char *variable; /* one of the environment that it reads, if it is deaf: LR; NULL */
	unsigned variable_line;
	char *wrong; /* why it cannot run: a syntax error, a binary file; NULL */
	unsigned wrong_line; /* 0: no line */
};

/* Reads the script called `name`; the name and its first line say which language it is in. Free with script_free. */
void script_read(const char *name, const char *text, size_t len, struct script *ret);
void script_free(struct script *script);
/* The argument for a parameter of this name ('-' and '_' are the same); NULL: there is none. */
const struct script_argument *script_find(const struct script *script, const char *name);
/* Is the argument found only because argparse takes the beginning of its name? */
bool script_is_abbreviation(const struct script *script, const char *name);
/* Is this name of a switch one that turns it off? */
bool script_means_off(const struct script_argument *argument, const char *name);
/* Takes out the arguments of other subcommands than the first word of this text; NULL: all stay. */
void script_narrow(struct script *script, const char *subcommand);
/* "by position", "flags": the word of `pass` that fits; NULL: not known. */
const char *script_pass(const struct script *script);
/* Writes the "scan" map of POST /check. */
void script_write(const struct script *script, struct json *out);
const char *script_type_name(enum script_type type);

#endif
