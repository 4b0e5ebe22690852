/* Helpers with which the readers of each language fill a struct script. Only for this folder. */
#ifndef SCRIPT_READER_H
#define SCRIPT_READER_H

#include "script/script.h"
#include "script/value.h"

/* A Python script that is being read. */
struct reader {
	const struct lex *lex;
	struct script *script;
	bool open; /* other code may add arguments: the parser is passed on, or a name is computed */
};

/* Appends an argument of this flag ("--batch-size", or a bare name); NULL when there are too many. */
struct script_argument *reader_add(struct script *script, const char *name, enum script_shape shape, unsigned line);
/* Sets the default and, if no type is given, the type of that default. Takes the node. */
void reader_give_default(struct script_argument *argument, struct node *give);
enum script_type reader_type_of(const struct lex_word *word);
/* Gives an argument another name. A name that no parameter can have is ignored. */
void reader_rename(struct script_argument *argument, const char *name);
/* Is the class at `i` an enumeration? */
bool reader_is_enum(const struct lex *lex, size_t i);
/* Notes a subcommand. Takes the name. */
void reader_add_command(struct script *script, char *give);
/* The function that the decorator at `i` stands before, as click and typer name its command; NULL. The caller frees it. */
char *reader_decorated(const struct lex *lex, size_t i);
/* The statement or definition after `i`: the place of the next LEX_NEWLINE. */
size_t reader_line_end(const struct lex *lex, size_t i);

/* Parts of a call: the literal in a slot (NULL: none, or it is computed); its help= (or NULL); whether it has key=True.
 * The caller frees them. */
struct node *reader_value(const struct reader *reader, const struct value_slot *slot);
char *reader_help(const struct reader *reader, const struct value_call *call, int place);
bool reader_is_true(const struct reader *reader, const struct value_call *call, const char *key);
/* A list of scalars as choices, or NULL. Takes the node. */
struct node *reader_take_choices(struct node *give);
/* The long flag among the leading strings of a call, else the short one; NULL: there is none. ret_bare: the first
 * string that is not a flag, or NULL. ret_count: how many are literals. The caller frees both. */
char *reader_flag(const struct reader *reader, const struct value_call *call, char **ret_bare, size_t *ret_count);

/* Gives the argument the other flags among the leading strings of a call. */
void reader_add_flags(const struct reader *reader, const struct value_call *call, struct script_argument *argument);

void python_read(struct reader *reader);
/* One parser each. True: the script uses it. */
bool python_read_argparse(struct reader *reader);
bool python_read_click(struct reader *reader);
/* Reads fields of dataclasses and parameters of functions, for parsers that make flags of them. The imports of the
 * script decide which are read. True: one was recognised. */
bool python_read_fields(struct reader *reader);
/* Metrics, goals and checkpoints. */
void python_read_metrics(struct reader *reader, const char *text);
void shell_read(const char *text, struct script *script);
/* Sets `deaf`; after all else was read. */
void python_read_deaf(struct reader *reader, const char *text, size_t len);
void shell_read_deaf(const char *text, struct script *script);

/* Is a module of this name imported (`import x`, `from x import`, `import x.y`)? Its line; 0: no. */
unsigned python_imports(const struct lex *lex, const char *module);
/* True if the dotted name that ends at `i` is `path` ("flags.DEFINE_float"). The last part alone is enough if the
 * script imported that name directly. */
bool python_is_path(const struct lex *lex, size_t i, const char *path);

#endif
