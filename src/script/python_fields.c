/* Parsers that make flags of a function's parameters or of a class's fields: typer, fire, tyro, tap, simple-parsing,
 * jsonargparse, LightningCLI and Hugging Face's HfArgumentParser. They differ in the rows of one table. */
#include "script/reader.h"

#include "base/text.h"

static const struct maker {
	const char *module;
	const char *calls[4]; /* what is called with the function or class, or the class that is derived from */
	bool dashes; /* --batch-size */
	const char *off; /* before the name of a switch that is turned off: "no-"; NULL: --x=true */
	enum script_shape bare; /* of a parameter without a default */
	enum script_shape list; /* of list[int] */
	bool strict; /* refuses what it does not know */
} makers[] = {
	{"typer", {"typer.run", "command"}, true, "no-", SCRIPT_PLACE, SCRIPT_REPEATED, true},
	{"fire", {"fire.Fire"}, false, "no", SCRIPT_VALUE, SCRIPT_VALUE, true},
	{"tyro", {"tyro.cli"}, true, "no-", SCRIPT_VALUE, SCRIPT_SEVERAL, true},
	{"tap", {"Tap"}, false, NULL, SCRIPT_VALUE, SCRIPT_SEVERAL, true},
	{"simple_parsing", {"add_arguments", "simple_parsing.parse"}, false, NULL, SCRIPT_VALUE, SCRIPT_SEVERAL, true},
	{"jsonargparse", {"CLI", "auto_cli"}, false, NULL, SCRIPT_PLACE, SCRIPT_VALUE, true},
	{"transformers", {"HfArgumentParser"}, false, NULL, SCRIPT_VALUE, SCRIPT_SEVERAL, true},
	{"lightning", {"LightningCLI"}, false, NULL, SCRIPT_VALUE, SCRIPT_VALUE, true},
	{"pytorch_lightning", {"LightningCLI"}, false, NULL, SCRIPT_VALUE, SCRIPT_VALUE, true},
};

/* One parameter or field: `name: words [type_from, type_to) = words [from, to)`. */
struct field {
	size_t name, type_from, type_to, from, to; /* equal ends: not there */
};

static void field_type(const struct reader *r, const struct maker *maker, const struct field *field,
		       struct script_argument *argument, bool *ret_list)
{
	for (size_t i = field->type_from; i < field->type_to; i++) {
		const struct lex_word *word = &r->lex->at[i];
		if (lex_is(word, "List") || lex_is(word, "list") || lex_is(word, "Sequence") || lex_is(word, "Tuple") ||
		    lex_is(word, "tuple"))
			*ret_list = true;
		if (argument->type == SCRIPT_ANY && word->kind == LEX_NAME)
			argument->type = reader_type_of(word);
		if (lex_is(word, "Literal") && lex_is(word + 1, "[")) {
			struct node *list = value_read(r->lex, i + 1, lex_skip(r->lex, i + 1));
			if (list && list->type == NODE_LIST && list->count && !argument->choices)
				argument->choices = list;
			else
				node_free(list);
		}
	}
	if (*ret_list)
		argument->shape = maker->list;
}

/* The first long flag of typer.Option takes the place of the one made of the name; the others are further ones. */
static void field_flags(const struct reader *r, const struct value_call *call, struct script_argument *argument)
{
	bool own = false;
	for (size_t i = 0; i < call->slots.len; i++) {
		char *text = call->slots.at[i].key ? NULL : value_read_text(r->lex, &call->slots.at[i]);
		char *flag = text && *text == '-' ? mem_copy(text, strcspn(text, "/")) : NULL;
		if (!own && flag && text_starts(flag, "--")) {
			free(argument->flag);
			argument->flag = flag;
			own = true;
		} else if (flag) {
			vec_push(&argument->others, flag);
		}
		free(text);
	}
}

/* What typer.Option(…), typer.Argument(…) or field(…) says. */
static void field_details(const struct reader *r, size_t from, size_t to, struct script_argument *argument,
			  bool *ret_default)
{
	for (size_t i = from; i + 1 < to; i++) {
		const struct lex_word *word = &r->lex->at[i];
		bool option = lex_is(word, "Option") || lex_is(word, "Argument");
		if ((!option && !lex_is(word, "field") && !lex_is(word, "HfArg") && !lex_is(word, "Field")) ||
		    !lex_is(word + 1, "("))
			continue;
		struct value_call call;
		value_read_call(r->lex, i + 1, &call);
		const struct value_slot *given = value_find(&call, "default", option || lex_is(word, "HfArg") ? 0 : -1);
		struct node *fallback = given && !lex_is(&r->lex->at[given->from], ".")
			? value_read(r->lex, given->from, given->to)
			: NULL;
		bool flag = node_string(fallback) && *fallback->string == '-';
		if (fallback && !flag) {
			*ret_default = true;
			reader_give_default(argument, fallback);
		} else {
			node_free(fallback);
		}
		*ret_default |= value_find(&call, "default_factory", -1) != NULL;
		if (option)
			field_flags(r, &call, argument);
		const struct value_slot *help = value_find(&call, "help", -1),
					*meta = value_find(&call, "metadata", -1);
		struct node *node = help ? value_read(r->lex, help->from, help->to)
			: meta           ? value_read(r->lex, meta->from, meta->to)
					 : NULL;
		const char *text = node_string(node) ? node->string : node_get_string(node, "help");
		if (text && !argument->help)
			argument->help = mem_strdup(text);
		node_free(node);
		free(call.slots.at);
		return;
	}
}

static void field_switch(const struct maker *maker, struct script_argument *argument)
{
	bool on = argument->fallback && argument->fallback->type == NODE_BOOL && argument->fallback->boolean;
	if (argument->type != SCRIPT_BOOL || !argument->flag)
		return;
	if (maker->off) {
		argument->shape = SCRIPT_SWITCH;
		argument->off = mem_printf("--%s%s", maker->off, argument->flag + 2);
	} else if (strcmp(maker->module, "tap") == 0) { /* the flag turns the default round */
		argument->shape = SCRIPT_SWITCH;
		if (on) {
			argument->off = argument->flag;
			argument->flag = NULL;
		}
	}
}

static bool fields_of_nested(struct reader *r, const struct maker *maker, const struct field *field, const char *name);

static void field_add(struct reader *r, const struct maker *maker, const struct field *field, const char *prefix)
{
	const struct lex *lex = r->lex;
	char *own = mem_copy(lex->at[field->name].at, lex->at[field->name].len);
	char *name = *own == '_' ? mem_strdup(own) : mem_printf("%s%s", prefix, own);
	free(own);
	if (*name != '_' && fields_of_nested(r, maker, field, name)) {
		free(name);
		return;
	}
	struct script_argument *argument = *name == '_'
		? NULL
		: reader_add(r->script, name, SCRIPT_VALUE, lex->at[field->name].line);
	free(name);
	if (!argument)
		return;
	bool list = false, has_default = field->to > field->from;
	argument->flag = mem_printf("--%s", argument->name);
	for (char *p = argument->flag + 2; maker->dashes && *p; p++)
		*p = *p == '_' ? '-' : *p;
	field_type(r, maker, field, argument, &list);
	argument->untyped = argument->type == SCRIPT_ANY || strcmp(maker->module, "fire") == 0;
	if (has_default) {
		struct node *fallback = value_read(lex, field->from, field->to);
		if (fallback) {
			reader_give_default(argument, fallback);
		} else {
			has_default = false;
			field_details(r, field->from, field->to, argument, &has_default);
			/* an expression that is no field(): some default is there */
			has_default |= !lex_is(&lex->at[field->to - 1], ")");
		}
	}
	field_details(r, field->type_from, field->type_to, argument, &has_default);
	argument->required = !has_default;
	if (!has_default && argument->shape == SCRIPT_VALUE && maker->bare == SCRIPT_PLACE) {
		argument->shape = SCRIPT_PLACE;
		free(argument->flag);
		argument->flag = NULL;
	}
	field_switch(maker, argument);
}

/* Splits `name: type = default` in words [from, to). */
static bool field_split(const struct lex *lex, size_t from, size_t to, struct field *ret)
{
	*ret = (struct field){.name = from};
	if (from >= to || lex->at[from].kind != LEX_NAME)
		return false;
	size_t i = from + 1;
	if (i < to && lex_is(&lex->at[i], ":")) {
		ret->type_from = ++i;
		while (i < to && !lex_is(&lex->at[i], "="))
			i = lex->at[i].kind == LEX_SIGN && strchr("([{", lex->at[i].sign) ? lex_skip(lex, i) : i + 1;
		ret->type_to = i < to ? i : to;
	}
	if (i < to && lex_is(&lex->at[i], "=")) {
		ret->from = i + 1;
		ret->to = to;
	}
	return true;
}

/* def NAME(a, b: int = 1, *, c=2): words from the bracket on. */
static void fields_of_function(struct reader *r, const struct maker *maker, size_t open, const char *prefix)
{
	const struct lex *lex = r->lex;
	size_t close = lex_skip(lex, open) - 1, from = open + 1;
	for (size_t i = open + 1; i <= close; i++) {
		if (i < close && lex->at[i].kind == LEX_SIGN && strchr("([{", lex->at[i].sign)) {
			i = lex_skip(lex, i) - 1;
			continue;
		}
		if (i < close && !lex_is(&lex->at[i], ","))
			continue;
		struct field field;
		if (from < i && lex_is(&lex->at[from], "*") && i > from + 1)
			r->open = true; /* *args, **kwargs */
		else if (field_split(lex, from, i, &field) && !lex_is(&lex->at[field.name], "self"))
			field_add(r, maker, &field, prefix);
		from = i + 1;
	}
}

/* The annotated names right in a class's body. */
static void fields_of_class(struct reader *r, const struct maker *maker, size_t at, const char *prefix)
{
	const struct lex *lex = r->lex;
	uint32_t outer = lex->at[at].indent, inner = 0;
	for (size_t i = reader_line_end(lex, at) + 1; i < lex->len && lex->at[i].kind != LEX_END;) {
		size_t end = reader_line_end(lex, i);
		if (lex->at[i].indent <= outer && end > i)
			return;
		inner = inner ? inner : lex->at[i].indent;
		struct field field;
		if (lex->at[i].indent == inner && end > i + 1 && lex_is(&lex->at[i + 1], ":") &&
		    field_split(lex, i, end, &field))
			field_add(r, maker, &field, prefix);
		i = end + 1;
	}
}

/* `def NAME(` or `class NAME`; false: it is not in this script. */
static bool fields_of(struct reader *r, const struct maker *maker, const struct lex_word *name)
{
	const struct lex *lex = r->lex;
	for (size_t i = 0; i + 2 < lex->len; i++) {
		bool is_def = lex_is(&lex->at[i], "def"), is_class = lex_is(&lex->at[i], "class");
		const struct lex_word *found = &lex->at[i + 1];
		if ((!is_def && !is_class) || found->len != name->len || memcmp(found->at, name->at, name->len) != 0)
			continue;
		if (is_def && lex_is(&lex->at[i + 2], "("))
			fields_of_function(r, maker, i + 2, "");
		else if (is_class)
			fields_of_class(r, maker, i, "");
		return true;
	}
	return false;
}

/* A field whose type is a class of this script: tyro and jsonargparse take --opt.lr. True: its fields were added. */
static bool fields_of_nested(struct reader *r, const struct maker *maker, const struct field *field, const char *name)
{
	const struct lex *lex = r->lex;
	const struct lex_word *type = field->type_to == field->type_from + 1 ? &lex->at[field->type_from] : NULL;
	size_t depth = 0;
	for (const char *p = name; *p; p++)
		depth += *p == '.';
	for (size_t i = 0; type && type->kind == LEX_NAME && i + 2 < lex->len; i++) {
		const struct lex_word *found = &lex->at[i + 1];
		if (!lex_is(&lex->at[i], "class") || found->len != type->len ||
		    memcmp(found->at, type->at, type->len) != 0)
			continue;
		bool dotted = strcmp(maker->module, "tyro") == 0 || strcmp(maker->module, "jsonargparse") == 0 ||
			strcmp(maker->calls[0], "LightningCLI") == 0;
		if (!dotted || depth > 4 || reader_is_enum(lex, i)) {
			r->open = true; /* how it is spelled is not known, or it has members to choose from */
			return !dotted && !reader_is_enum(lex, i);
		}
		char *prefix = mem_printf("%s.", name);
		fields_of_class(r, maker, i, prefix);
		free(prefix);
		return true;
	}
	return false;
}

/* A decorator @app.command(): the function below it. */
static void fields_of_decorated(struct reader *r, const struct maker *maker, size_t at)
{
	size_t first = r->script->arguments.len;
	for (size_t i = at; i + 2 < r->lex->len; i++) {
		if (lex_is(&r->lex->at[i], "def") && lex_is(&r->lex->at[i + 2], "(")) {
			fields_of_function(r, maker, i + 2, "");
			break;
		}
	}
	for (size_t i = first; i < r->script->arguments.len; i++)
		r->script->arguments.at[i].command = reader_decorated(r->lex, at);
	reader_add_command(r->script, reader_decorated(r->lex, at));
}

/* The parameters of a class's __init__. A class of another module has some that are not known. */
static void fields_of_init(struct reader *r, const struct maker *maker, const struct lex_word *name, const char *prefix)
{
	const struct lex *lex = r->lex;
	size_t i = 0;
	while (i + 1 < lex->len &&
	       (!lex_is(&lex->at[i], "class") || lex->at[i + 1].len != name->len ||
		memcmp(lex->at[i + 1].at, name->at, name->len) != 0))
		i++;
	uint32_t outer = i < lex->len ? lex->at[i].indent : 0;
	for (i = reader_line_end(lex, i) + 1; i + 2 < lex->len && lex->at[i].indent > outer; i++) {
		if (lex_is(&lex->at[i], "def") && lex_is(&lex->at[i + 1], "__init__") && lex_is(&lex->at[i + 2], "(")) {
			fields_of_function(r, maker, i + 2, prefix);
			return;
		}
	}
}

/* LightningCLI(Model, Data): `fit --model.lr=0.1 --data.batch_size=64`, and what the Trainer takes. */
static void fields_of_lightning(struct reader *r, const struct maker *maker, size_t open)
{
	static const struct {
		const char *key, *prefix;
	} parts[] = {{"model_class", "model."}, {"datamodule_class", "data."}};
	static const char *const commands[] = {"fit", "validate", "test", "predict"};
	struct value_call call;
	value_read_call(r->lex, open, &call);
	const struct value_slot *run = value_find(&call, "run", -1);
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const struct value_slot *slot = value_find(&call, parts[i].key, (int)i);
		if (slot && slot->to == slot->from + 1)
			fields_of_init(r, maker, &r->lex->at[slot->from], parts[i].prefix);
	}
	for (size_t i = 0; !(run && value_is_name(r->lex, run, "False")) && i < COUNT_OF(commands); i++)
		reader_add_command(r->script, mem_strdup(commands[i]));
	r->open = true;
	free(call.slots.at);
}

/* Every function or class that is named in the call's first argument. */
static void fields_of_call(struct reader *r, const struct maker *maker, size_t open)
{
	struct value_call call;
	value_read_call(r->lex, open, &call);
	const struct value_slot *slot = call.slots.len ? &call.slots.at[0] : NULL;
	if (!slot)
		r->open = true;
	for (size_t i = slot ? slot->from : 0; slot && i < slot->to; i++)
		if (r->lex->at[i].kind == LEX_NAME && !fields_of(r, maker, &r->lex->at[i]))
			r->open = true;
	free(call.slots.at);
}

static void fields_join(struct script *script)
{
	for (size_t i = 0; i < script->commands.len; i++)
		free(script->commands.at[i]);
	script->commands.len = 0;
	for (size_t i = 0; i < script->arguments.len; i++) {
		free(script->arguments.at[i].command);
		script->arguments.at[i].command = NULL;
	}
}

static bool fields_maker_read(struct reader *r, const struct maker *maker)
{
	const struct lex *lex = r->lex;
	size_t used = 0;
	for (size_t i = 1; i + 1 < lex->len; i++) {
		for (size_t k = 0; k < COUNT_OF(maker->calls) && maker->calls[k]; k++) {
			const char *call = maker->calls[k], *dot = strrchr(call, '.');
			if (!lex_is(&lex->at[i], dot ? dot + 1 : call))
				continue;
			if (strcmp(call, "Tap") == 0 && i >= 3 && lex_is(&lex->at[i - 3], "class")) {
				fields_of_class(r, maker, i - 3, "");
				used++;
			} else if (strcmp(call, "command") == 0 && i >= 3 && lex_is(&lex->at[i - 3], "@")) {
				fields_of_decorated(r, maker, i);
				used++;
			} else if (strcmp(call, "LightningCLI") == 0 && lex_is(&lex->at[i + 1], "(")) {
				fields_of_lightning(r, maker, i + 1);
				return true;
			} else if (lex_is(&lex->at[i + 1], "(") && strcmp(call, "command") != 0 &&
				   (!dot || python_is_path(lex, i, call))) {
				fields_of_call(r, maker, i + 1);
				used++;
			}
		}
		if (lex_is(&lex->at[i], "parse_args_into_dataclasses") || lex_is(&lex->at[i], "parse_known_args"))
			r->open |= lex_is(&lex->at[i], "parse_known_args");
		r->open |= lex_is(&lex->at[i], "return_remaining_strings") || lex_is(&lex->at[i], "add_typer") ||
			lex_is(&lex->at[i], "ignore_unknown_options") || lex_is(&lex->at[i], "allow_extra_args");
		if (strcmp(maker->module, "simple_parsing") == 0 && lex_is(&lex->at[i], "add_argument"))
			r->open = true;
	}
	if (used == 1) /* one function alone is no subcommand */
		fields_join(r->script);
	r->script->dashes = maker->dashes;
	r->open |= used != 1; /* several: subcommands, or groups of fields */
	return used > 0;
}

bool python_read_fields(struct reader *r)
{
	for (size_t i = 0; i < COUNT_OF(makers); i++)
		if (python_imports(r->lex, makers[i].module) && fields_maker_read(r, &makers[i]))
			return true;
	return false;
}
