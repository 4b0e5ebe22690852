/* click: every @click.option and @click.argument is an argument. */
#include "script/reader.h"

/* type= of click: a type, Choice([...]), or a range. */
static void click_type(const struct reader *r, const struct value_slot *slot, struct script_argument *argument)
{
	size_t i = slot->from;
	while (i + 2 < slot->to && lex_is(&r->lex->at[i + 1], "."))
		i += 2;
	argument->type = reader_type_of(&r->lex->at[i]);
	if (!lex_is(&r->lex->at[i], "Choice") || !lex_is(&r->lex->at[i + 1], "("))
		return;
	struct value_call call;
	value_read_call(r->lex, i + 1, &call);
	argument->choices = reader_take_choices(reader_value(r, value_find(&call, "choices", 0)));
	free(call.slots.at);
}

/* "--shout/--no-shout" is a switch with both ways. */
static void click_pair(struct script_argument *argument)
{
	char *slash = argument->flag ? strchr(argument->flag, '/') : NULL;
	if (!slash)
		return;
	argument->shape = SCRIPT_SWITCH;
	argument->off = mem_strdup(slash + 1);
	*slash = 0;
}

static char *click_cut(const char *flag)
{
	return mem_copy(flag, strcspn(flag, "/"));
}

static void click_option(struct reader *r, size_t open, bool is_option)
{
	struct value_call call;
	size_t count;
	char *bare;
	value_read_call(r->lex, open, &call);
	char *flag = reader_flag(r, &call, &bare, &count), *first = flag ? click_cut(flag) : NULL;
	struct script_argument *argument = is_option && first
		? reader_add(r->script, first, SCRIPT_VALUE, r->lex->at[open].line)
		: bare && !is_option ? reader_add(r->script, bare, SCRIPT_PLACE, r->lex->at[open].line)
				     : NULL;
	if (!argument)
		r->open = true;
	if (argument) {
		const struct value_slot *type = value_find(&call, "type", -1), *nargs = value_find(&call, "nargs", -1);
		if (flag) {
			free(argument->flag);
			argument->flag = mem_strdup(flag);
			click_pair(argument);
			reader_add_flags(r, &call, argument);
		}
		if (flag && bare)
			reader_rename(argument, bare);
		if (type)
			click_type(r, type, argument);
		if (reader_is_true(r, &call, "is_flag"))
			argument->shape = SCRIPT_SWITCH;
		struct node *fallback = reader_value(r, value_find(&call, "default", -1));
		if (is_option && fallback && fallback->type == NODE_BOOL && !type)
			argument->shape = SCRIPT_SWITCH; /* click makes a flag of default=False */
		reader_give_default(argument, fallback);
		if (argument->shape == SCRIPT_SWITCH) {
			argument->type = SCRIPT_BOOL;
			if (!argument->fallback)
				argument->fallback = node_new_bool(false);
		} else if (reader_is_true(r, &call, "multiple")) {
			argument->shape = SCRIPT_REPEATED;
		} else if (nargs && is_option) {
			argument->shape = SCRIPT_SEVERAL;
		}
		const struct value_slot *must = value_find(&call, "required", -1);
		argument->required = must ? value_is_name(r->lex, must, "True") : !is_option && !argument->fallback;
		argument->help = reader_help(r, &call, -1);
	}
	free(first);
	free(flag);
	free(bare);
	free(call.slots.at);
}

/* The first definition at this line or after it. */
static size_t click_definition(const struct lex *lex, unsigned line)
{
	size_t i = 0;
	while (i < lex->len && (lex->at[i].line < line || !lex_is(&lex->at[i], "def")))
		i++;
	return i;
}

/* @cli.command() at `i` makes a subcommand of the definition below, with the options between the two. Takes the name. */
static void click_command(struct reader *r, size_t i, char *give)
{
	size_t definition = click_definition(r->lex, r->lex->at[i].line);
	for (size_t k = 0; give && k < r->script->arguments.len; k++) {
		struct script_argument *argument = &r->script->arguments.at[k];
		if (!argument->command && click_definition(r->lex, argument->line) == definition)
			argument->command = mem_strdup(give);
	}
	reader_add_command(r->script, give);
}

/* Is the first word of this line an @? Options of several commands stand in lists and functions. */
static bool click_is_decorator(const struct lex *lex, unsigned line)
{
	size_t i = 0;
	while (i < lex->len && lex->at[i].line < line)
		i++;
	return i < lex->len && lex_is(&lex->at[i], "@");
}

/* @click.group() at `i`: the options of its definition stand before a subcommand. */
static void click_group(struct reader *r, size_t i)
{
	size_t definition = click_definition(r->lex, r->lex->at[i].line);
	for (size_t k = 0; k < r->script->arguments.len; k++) {
		struct script_argument *argument = &r->script->arguments.at[k];
		if (!argument->command && click_definition(r->lex, argument->line) == definition)
			argument->before = click_is_decorator(r->lex, argument->line);
	}
}

bool python_read_click(struct reader *r)
{
	const struct lex *lex = r->lex;
	for (size_t i = 1; i + 1 < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (word->kind != LEX_NAME)
			continue;
		bool called = lex_is(word + 1, "(");
		if (called && (python_is_path(lex, i, "click.option") || python_is_path(lex, i, "click.argument")))
			click_option(r, i + 1, lex_is(word, "option"));
		else if (lex_is(word, "ignore_unknown_options") || lex_is(word, "allow_extra_args") ||
			 python_is_path(lex, i, "click.group") || lex_is(word, "add_command"))
			r->open = true;
	}
	bool group = false;
	for (size_t i = 1; i + 1 < lex->len; i++)
		group |= python_is_path(lex, i, "click.group");
	/* @cli.command(), @cli.command("train"), below a group */
	for (size_t i = 3; group && i + 1 < lex->len; i++) {
		if (!lex_is(&lex->at[i], "command") || !lex_is(&lex->at[i - 1], ".") || !lex_is(&lex->at[i - 3], "@") ||
		    lex_is(&lex->at[i - 2], "click"))
			continue;
		bool named = lex_is(&lex->at[i + 1], "(") && lex->at[i + 2].kind == LEX_STRING;
		struct buf text = buf_make(200);
		if (named)
			lex_add_string(&lex->at[i + 2], &text);
		click_command(r, i, named ? mem_strdup(buf_text(&text)) : reader_decorated(lex, i));
		buf_free(&text);
	}
	for (size_t i = 3; i + 1 < lex->len; i++)
		if (python_is_path(lex, i, "click.group") && lex_is(&lex->at[i - 3], "@"))
			click_group(r, i);
	r->script->dashes = true;
	return true;
}
