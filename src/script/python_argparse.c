/* argparse, and what is built on it: every add_argument is an argument. */
#include "script/reader.h"

#include "base/text.h"

/* choices=range(10) and choices=list(X) cannot be read; that is no reason to doubt the rest. */
static void argparse_choices(const struct reader *r, const struct value_call *call, struct script_argument *argument)
{
	argument->choices = reader_take_choices(reader_value(r, value_find(call, "choices", -1)));
}

/* action= of argparse. */
static void argparse_action(struct reader *r, const struct value_call *call, struct script_argument *argument)
{
	const struct value_slot *slot = value_find(call, "action", -1);
	if (!slot)
		return;
	struct node *literal = value_read(r->lex, slot->from, slot->to);
	const char *text = node_string(literal);
	if (value_is_name(r->lex, slot, "BooleanOptionalAction") && argument->flag &&
	    text_starts(argument->flag, "--")) {
		argument->shape = SCRIPT_SWITCH;
		argument->off = mem_printf("--no-%s", argument->flag + 2);
		argument->type = SCRIPT_BOOL;
	} else if (text && (strcmp(text, "store_true") == 0 || strcmp(text, "store_false") == 0)) {
		bool on = strcmp(text, "store_true") == 0;
		argument->shape = SCRIPT_SWITCH;
		argument->type = SCRIPT_BOOL;
		if (!on) {
			argument->off = argument->flag;
			argument->flag = NULL;
		}
		if (!argument->fallback)
			argument->fallback = node_new_bool(!on);
	} else if (text && strcmp(text, "append") == 0) {
		argument->shape = SCRIPT_REPEATED;
	} else if (text &&
		   (strcmp(text, "help") == 0 || strcmp(text, "version") == 0 || strcmp(text, "count") == 0 ||
		    strcmp(text, "store_const") == 0)) {
		argument->shape = SCRIPT_SWITCH;
	} else if (!text) {
		r->open = true; /* an action of its own may take anything */
	}
	node_free(literal);
}

static char *argparse_text(const struct lex_word *word)
{
	struct buf text = buf_make(200);
	lex_add_string(word, &text);
	char *copy = mem_strdup(buf_text(&text));
	buf_free(&text);
	return copy;
}

static bool argparse_same(const struct lex_word *a, const struct lex_word *b)
{
	return a->kind == LEX_NAME && a->len == b->len && memcmp(a->at, b->at, b->len) == 0;
}

/* Is it a parameter of the function that begins at `def`? */
static bool argparse_is_parameter(const struct lex *lex, size_t def, const struct lex_word *name)
{
	long depth = 0;
	for (size_t i = def + 2; i < lex->len && lex->at[i].kind != LEX_END; i++) {
		depth += lex_is(&lex->at[i], "(");
		depth -= lex_is(&lex->at[i], ")");
		if (depth <= 0)
			return false;
		if (argparse_same(&lex->at[i], name))
			return true;
	}
	return false;
}

static void argparse_owner(const struct lex *lex, size_t at, unsigned depth, struct script_argument *argument);

/* What `name = ` at `i` holds: a subcommand's parser, that of the script, a group of another, or what is not known. A
 * parser without add_help is there to be a parent of others. */
static void argparse_assigned(const struct lex *lex, size_t i, unsigned depth, struct script_argument *argument)
{
	size_t k = i + 2;
	while (k + 2 < lex->len && lex->at[k].kind != LEX_NEWLINE && !lex_is(&lex->at[k + 1], "("))
		k++;
	if (k + 2 >= lex->len || lex->at[k].kind == LEX_NEWLINE)
		return;
	if (lex_is(&lex->at[k], "add_parser") && lex->at[k + 2].kind == LEX_STRING) {
		argument->command = argparse_text(&lex->at[k + 2]);
	} else if (lex_is(&lex->at[k], "ArgumentParser")) {
		struct value_call call;
		value_read_call(lex, k + 1, &call);
		argument->before = !value_find(&call, "add_help", -1);
		free(call.slots.at);
	} else if (depth < 4 && k == i + 4 && lex_is(&lex->at[i + 3], ".") &&
		   (lex_is(&lex->at[k], "add_argument_group") || lex_is(&lex->at[k], "add_mutually_exclusive_group"))) {
		argparse_owner(lex, i + 2, depth + 1, argument);
	}
}

/* Who takes what is added to the parser that the name at `at` holds: what it was bound to last. A variable of a loop and
 * a parameter of a function may hold several. */
static void argparse_owner(const struct lex *lex, size_t at, unsigned depth, struct script_argument *argument)
{
	const struct lex_word *name = &lex->at[at];
	for (size_t i = at; i-- > 0;) {
		const struct lex_word *word = &lex->at[i];
		if (lex_is(word, "def") && argparse_is_parameter(lex, i, name))
			return;
		if (!argparse_same(word, name))
			continue;
		if (lex_is(word + 1, "=")) {
			argparse_assigned(lex, i, depth, argument);
			return;
		}
		if (lex_is(word + 1, "in") || (i && lex_is(word - 1, "for")))
			return;
	}
}

static void argparse_argument(struct reader *r, size_t open)
{
	struct value_call call;
	size_t count;
	char *bare;
	value_read_call(r->lex, open, &call);
	char *flag = reader_flag(r, &call, &bare, &count);
	struct script_argument *argument = flag || bare
		? reader_add(r->script, flag ? flag : bare, flag ? SCRIPT_VALUE : SCRIPT_PLACE, r->lex->at[open].line)
		: NULL;
	if (!argument)
		r->open = true;
	const struct value_slot *type = value_find(&call, "type", -1), *nargs = value_find(&call, "nargs", -1);
	struct node *dest = reader_value(r, value_find(&call, "dest", -1)), *several = reader_value(r, nargs);
	if (argument && flag)
		reader_add_flags(r, &call, argument);
	if (argument && node_string(dest))
		reader_rename(argument, dest->string);
	if (argument && type)
		argument->type = reader_type_of(&r->lex->at[type->to - 1]);
	if (argument)
		argument->untyped = !type;
	/* jsonargparse reads true and false. */
	if (argument && flag && value_is_name(r->lex, type, "bool") && !python_imports(r->lex, "jsonargparse"))
		argument->shape = SCRIPT_TRUTH;
	if (argument && open >= 3 && lex_is(&r->lex->at[open - 2], ".") && r->lex->at[open - 3].kind == LEX_NAME)
		argparse_owner(r->lex, open - 3, 0, argument);
	if (argument) {
		reader_give_default(argument, reader_value(r, value_find(&call, "default", -1)));
		argument->required = flag ? reader_is_true(r, &call, "required") : true;
		argument->help = reader_help(r, &call, -1);
		argparse_choices(r, &call, argument);
		argparse_action(r, &call, argument);
	}
	if (argument && nargs && several && several->string) {
		bool optional = strcmp(several->string, "?") == 0 || strcmp(several->string, "*") == 0;
		if (strcmp(several->string, "?") != 0 && flag)
			argument->shape = SCRIPT_SEVERAL;
		argument->required &= !optional;
	}
	node_free(dest);
	node_free(several);
	free(flag);
	free(bare);
	free(call.slots.at);
}

/* Is a variable that holds a parser handed to something else, which may add arguments? */
static bool argparse_is_shared(const struct lex *lex, const struct lex_word *name)
{
	for (size_t i = 1; i + 1 < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (word->kind == LEX_NAME && word->len == name->len && memcmp(word->at, name->at, name->len) == 0 &&
		    (lex_is(word - 1, "(") || lex_is(word - 1, ",") || lex_is(word - 1, "=")) &&
		    (lex_is(word + 1, ")") || lex_is(word + 1, ",")))
			return true;
	}
	return false;
}

bool python_read_argparse(struct reader *r)
{
	const struct lex *lex = r->lex;
	bool made = false, parsed = false;
	for (size_t i = 0; i + 1 < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (word->kind != LEX_NAME)
			continue;
		bool called = lex_is(word + 1, "(");
		if (lex_is(word, "add_argument") && called) {
			argparse_argument(r, i + 1);
		} else if (lex_is(word, "ArgumentParser") && called) {
			r->open |= made; /* several parsers: which one is asked is not known */
			made = true;
			size_t start = i >= 2 && lex_is(word - 1, ".") ? i - 2 : i;
			if (start >= 2 && lex_is(&lex->at[start - 1], "="))
				r->open |= argparse_is_shared(lex, &lex->at[start - 2]);
		} else if (lex_is(word, "add_parser") && called && lex->at[i + 2].kind == LEX_STRING) {
			reader_add_command(r->script, argparse_text(&lex->at[i + 2]));
		} else if (lex_is(word, "parse_args")) {
			parsed = true;
		} else if (lex_is(word, "parse_known_args") || lex_is(word, "add_subparsers") ||
			   lex_is(word, "parents") || lex_is(word, "prefix_chars") || lex_is(word, "add_arguments") ||
			   lex_is(word, "add_class_arguments") || lex_is(word, "fromfile_prefix_chars")) {
			r->open = true;
		}
	}
	r->script->abbreviates = true;
	r->open |= !parsed || !made;
	return made || r->script->arguments.len;
}
