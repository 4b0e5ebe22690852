/* What the readers of one language add to a script; internal to this room. */
#ifndef SCRIPT_READER_H
#define SCRIPT_READER_H

#include "script/script.h"
#include "script/value.h"

/* A Python script in the making. */
struct reader {
	const struct lex *lex;
	struct script *script;
	bool open; /* something else may add arguments: a parser that is passed on, a name that is computed */
};

/* Appends an argument of this flag ("--batch-size", or a bare name); NULL when there are too many. */
struct script_argument *reader_add(struct script *script, const char *name, enum script_shape shape, unsigned line);
/* Sets the default and, where no type was said, the type that it shows. Takes the node. */
void reader_give_default(struct script_argument *argument, struct node *give);
enum script_type reader_type_of(const struct lex_word *word);
/* Gives an argument another name; one that no parameter can have is left out. */
void reader_rename(struct script_argument *argument, const char *name);
/* The statement or definition after `i`: the place of the next LEX_NEWLINE. */
size_t reader_line_end(const struct lex *lex, size_t i);

/* Of a call: the literal in a slot (NULL: none, or it is computed); its help= (NULL); is key=True there? The caller frees. */
struct node *reader_value(const struct reader *reader, const struct value_slot *slot);
char *reader_help(const struct reader *reader, const struct value_call *call, int place);
bool reader_is_true(const struct reader *reader, const struct value_call *call, const char *key);
/* A list of scalars as choices, or NULL. Takes the node. */
struct node *reader_take_choices(struct node *give);
/* The long flag among the leading strings of a call, else the short one; NULL: there is none. ret_bare: the first that is
 * no flag, or NULL. ret_count: how many are literals. The caller frees both. */
char *reader_flag(const struct reader *reader, const struct value_call *call, char **ret_bare, size_t *ret_count);

void python_read(struct reader *reader);
/* One parser each. True: the script uses it. */
bool python_read_argparse(struct reader *reader);
bool python_read_click(struct reader *reader);
/* Fields of dataclasses and parameters of functions, for the parsers that make flags of them; which are read depends on
 * what the script imports. True: one was recognised. */
bool python_read_fields(struct reader *reader);
/* Metrics, goals and checkpoints. */
void python_read_metrics(struct reader *reader, const char *text);
void shell_read(const char *text, struct script *script);

/* Is a module of this name imported (`import x`, `from x import`, `import x.y`)? Its line; 0: no. */
unsigned python_imports(const struct lex *lex, const char *module);
/* The words of the dotted name that ends at `i`, are they `path` ("flags.DEFINE_float")? Only the last part must be
 * there where the script imported it by itself. */
bool python_is_path(const struct lex *lex, size_t i, const char *path);

#endif
