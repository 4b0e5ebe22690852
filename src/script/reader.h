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
/* The statement or definition after `i`: the place of the next LEX_NEWLINE. */
size_t reader_line_end(const struct lex *lex, size_t i);

void python_read(struct reader *reader);
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
