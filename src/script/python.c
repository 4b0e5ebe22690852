/* Parsers of arguments in Python whose calls say everything: argparse and what is built on it, click, absl, getopt,
 * sys.argv, hydra. A parser is a row of the table at the end. */
#include "script/reader.h"

#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>

unsigned python_imports(const struct lex *lex, const char *module)
{
	for (size_t i = 0; i + 1 < lex->len; i++) {
		if (!lex->at[i].first || (!lex_is(&lex->at[i], "import") && !lex_is(&lex->at[i], "from")))
			continue;
		bool from = lex_is(&lex->at[i], "from");
		for (size_t k = i + 1;
		     lex->at[k].kind == LEX_NAME || lex_is(&lex->at[k], ",") || lex_is(&lex->at[k], "."); k++) {
			bool starts = k == i + 1 || lex_is(&lex->at[k - 1], ",");
			if (starts && lex_is(&lex->at[k], module))
				return lex->at[i].line;
			if (from && lex_is(&lex->at[k], "import"))
				break;
		}
	}
	return 0;
}

bool python_is_path(const struct lex *lex, size_t i, const char *path)
{
	const char *dot = strrchr(path, '.');
	if (!lex_is(&lex->at[i], dot ? dot + 1 : path))
		return false;
	bool dotted = i >= 2 && lex_is(&lex->at[i - 1], ".");
	if (!dot)
		return !dotted;
	if (!dotted)
		return i == 0 || !lex_is(&lex->at[i - 1], "."); /* from flags import DEFINE_float */
	return lex->at[i - 2].kind == LEX_NAME && lex->at[i - 2].len == (size_t)(dot - path) &&
		memcmp(lex->at[i - 2].at, path, lex->at[i - 2].len) == 0;
}

size_t reader_line_end(const struct lex *lex, size_t i)
{
	while (lex->at[i].kind != LEX_NEWLINE && lex->at[i].kind != LEX_END)
		i++;
	return i;
}

enum script_type reader_type_of(const struct lex_word *word)
{
	static const struct {
		const char *word;
		enum script_type type;
	} types[] = {
		{"int", SCRIPT_INT},         {"float", SCRIPT_REAL},    {"str", SCRIPT_TEXT},
		{"bool", SCRIPT_BOOL},       {"INT", SCRIPT_INT},       {"FLOAT", SCRIPT_REAL},
		{"STRING", SCRIPT_TEXT},     {"BOOL", SCRIPT_BOOL},     {"IntRange", SCRIPT_INT},
		{"FloatRange", SCRIPT_REAL}, {"str2bool", SCRIPT_BOOL}, {"strtobool", SCRIPT_BOOL},
		{"Path", SCRIPT_TEXT},       {"PathLike", SCRIPT_TEXT},
	};
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (lex_is(word, types[i].word))
			return types[i].type;
	return SCRIPT_ANY;
}

static char *reader_name_of(const char *flag)
{
	char *name = mem_strdup(flag + strspn(flag, "-"));
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return name;
}

struct script_argument *reader_add(struct script *script, const char *name, enum script_shape shape, unsigned line)
{
	char *clean = reader_name_of(name);
	if (script->arguments.len >= LIMIT_SCRIPT_ARGUMENTS || !text_is_identifier(clean, LIMIT_NAME_BYTES)) {
		free(clean);
		return NULL;
	}
	struct script_argument argument = {
		.name = clean, .flag = *name == '-' ? mem_strdup(name) : NULL, .shape = shape, .line = line};
	vec_push(&script->arguments, argument);
	return &script->arguments.at[script->arguments.len - 1];
}

static enum script_type type_of_value(const struct node *value)
{
	switch (value->type) {
	case NODE_BOOL: return SCRIPT_BOOL;
	case NODE_INT: return SCRIPT_INT;
	case NODE_REAL: return SCRIPT_REAL;
	case NODE_STRING: return SCRIPT_TEXT;
	case NODE_LIST: return value->count ? type_of_value(value->items[0]) : SCRIPT_ANY;
	default: return SCRIPT_ANY;
	}
}

void reader_give_default(struct script_argument *argument, struct node *give)
{
	node_free(argument->fallback);
	argument->fallback = NULL;
	if (!give || give->type == NODE_NULL || give->type == NODE_MAP) {
		node_free(give);
		return;
	}
	if (argument->type == SCRIPT_ANY)
		argument->type = type_of_value(give);
	argument->fallback = give;
}

static struct node *read_slot(const struct reader *r, const struct value_slot *slot)
{
	return slot ? value_read(r->lex, slot->from, slot->to) : NULL;
}

static char *read_help(const struct reader *r, const struct value_call *call, int place)
{
	struct node *help = read_slot(r, value_find(call, "help", place));
	char *text = help && help->type == NODE_STRING && *help->string ? mem_strdup(help->string) : NULL;
	node_free(help);
	return text;
}

/* A list of scalars, or NULL. Takes the node. */
static struct node *take_choices(struct node *give)
{
	bool good = give && give->type == NODE_LIST && give->count;
	for (size_t i = 0; good && i < give->count; i++)
		good = give->items[i]->type != NODE_LIST && give->items[i]->type != NODE_MAP &&
			give->items[i]->type != NODE_NULL;
	if (good)
		return give;
	node_free(give);
	return NULL;
}

/* choices=range(10) and choices=list(X) cannot be read; that is no reason to doubt the rest. */
static void read_choices(const struct reader *r, const struct value_call *call, struct script_argument *argument)
{
	argument->choices = take_choices(read_slot(r, value_find(call, "choices", -1)));
}

static bool slot_is_true(const struct reader *r, const struct value_call *call, const char *key)
{
	const struct value_slot *slot = value_find(call, key, -1);
	return slot && value_is_name(r->lex, slot, "True");
}

/* The long flag of a call's leading strings (else the short one), or the bare name. `names` counts the literals;
 * 0: the first is computed. */
static char *read_flag(const struct reader *r, const struct value_call *call, char **ret_bare, size_t *ret_count)
{
	char *flag = NULL;
	*ret_bare = NULL;
	*ret_count = 0;
	for (size_t i = 0; i < call->slots.len && !call->slots.at[i].key; i++) {
		char *text = value_read_text(r->lex, &call->slots.at[i]);
		if (!text)
			break;
		(*ret_count)++;
		bool is_long = text_starts(text, "--");
		if (*text != '-' && !*ret_bare) {
			*ret_bare = text;
		} else if (*text == '-' && (!flag || (is_long && !text_starts(flag, "--")))) {
			free(flag);
			flag = text;
		} else {
			free(text);
		}
	}
	return flag;
}

static void rename_argument(struct script_argument *argument, const char *name)
{
	char *clean = reader_name_of(name);
	if (text_is_identifier(clean, LIMIT_NAME_BYTES)) {
		free(argument->name);
		argument->name = clean;
	} else {
		free(clean);
	}
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

static void argparse_argument(struct reader *r, size_t open)
{
	struct value_call call;
	size_t count;
	char *bare;
	value_read_call(r->lex, open, &call);
	char *flag = read_flag(r, &call, &bare, &count);
	struct script_argument *argument = flag || bare
		? reader_add(r->script, flag ? flag : bare, flag ? SCRIPT_VALUE : SCRIPT_PLACE, r->lex->at[open].line)
		: NULL;
	if (!argument)
		r->open = true;
	const struct value_slot *type = value_find(&call, "type", -1), *nargs = value_find(&call, "nargs", -1);
	struct node *dest = read_slot(r, value_find(&call, "dest", -1)), *several = read_slot(r, nargs);
	if (argument && node_string(dest))
		rename_argument(argument, dest->string);
	if (argument && type)
		argument->type = reader_type_of(&r->lex->at[type->to - 1]);
	if (argument)
		argument->untyped = !type;
	if (argument && flag && value_is_name(r->lex, type, "bool"))
		argument->shape = SCRIPT_TRUTH;
	if (argument) {
		reader_give_default(argument, read_slot(r, value_find(&call, "default", -1)));
		argument->required = flag ? slot_is_true(r, &call, "required") : true;
		argument->help = read_help(r, &call, -1);
		read_choices(r, &call, argument);
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

static bool read_argparse(struct reader *r)
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
	argument->choices = take_choices(read_slot(r, value_find(&call, "choices", 0)));
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
	char *flag = read_flag(r, &call, &bare, &count), *first = flag ? click_cut(flag) : NULL;
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
		}
		if (flag && bare)
			rename_argument(argument, bare);
		if (type)
			click_type(r, type, argument);
		if (slot_is_true(r, &call, "is_flag"))
			argument->shape = SCRIPT_SWITCH;
		struct node *fallback = read_slot(r, value_find(&call, "default", -1));
		if (is_option && fallback && fallback->type == NODE_BOOL && !type)
			argument->shape = SCRIPT_SWITCH; /* click makes a flag of default=False */
		reader_give_default(argument, fallback);
		if (argument->shape == SCRIPT_SWITCH) {
			argument->type = SCRIPT_BOOL;
			if (!argument->fallback)
				argument->fallback = node_new_bool(false);
		} else if (slot_is_true(r, &call, "multiple")) {
			argument->shape = SCRIPT_REPEATED;
		} else if (nargs && is_option) {
			argument->shape = SCRIPT_SEVERAL;
		}
		const struct value_slot *must = value_find(&call, "required", -1);
		argument->required = must ? value_is_name(r->lex, must, "True") : !is_option && !argument->fallback;
		argument->help = read_help(r, &call, -1);
	}
	free(first);
	free(flag);
	free(bare);
	free(call.slots.at);
}

static bool read_click(struct reader *r)
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
	r->script->dashes = true;
	return true;
}

/* flags.DEFINE_float("lr", 0.1, "help") */
static bool read_absl(struct reader *r)
{
	static const struct {
		const char *name;
		enum script_type type;
		enum script_shape shape;
	} kinds[] = {
		{"DEFINE_float", SCRIPT_REAL, SCRIPT_VALUE},
		{"DEFINE_integer", SCRIPT_INT, SCRIPT_VALUE},
		{"DEFINE_string", SCRIPT_TEXT, SCRIPT_VALUE},
		{"DEFINE_bool", SCRIPT_BOOL, SCRIPT_SWITCH},
		{"DEFINE_boolean", SCRIPT_BOOL, SCRIPT_SWITCH},
		{"DEFINE_enum", SCRIPT_TEXT, SCRIPT_VALUE},
		{"DEFINE_list", SCRIPT_TEXT, SCRIPT_VALUE},
		{"DEFINE_multi_integer", SCRIPT_INT, SCRIPT_REPEATED},
		{"DEFINE_multi_float", SCRIPT_REAL, SCRIPT_REPEATED},
		{"DEFINE_multi_string", SCRIPT_TEXT, SCRIPT_REPEATED},
	};
	const struct lex *lex = r->lex;
	for (size_t i = 0; i + 1 < lex->len; i++) {
		size_t k = 0;
		while (k < COUNT_OF(kinds) && !lex_is(&lex->at[i], kinds[k].name))
			k++;
		if (k == COUNT_OF(kinds) || !lex_is(&lex->at[i + 1], "("))
			continue;
		struct value_call call;
		value_read_call(lex, i + 1, &call);
		char *name = value_read_text(lex, value_find(&call, "name", 0));
		char *flag = name ? mem_printf("--%s", name) : NULL;
		struct script_argument *argument = flag ? reader_add(r->script, flag, kinds[k].shape, lex->at[i].line)
							: NULL;
		if (argument) {
			bool is_enum = strcmp(kinds[k].name, "DEFINE_enum") == 0;
			argument->type = kinds[k].type;
			if (kinds[k].shape == SCRIPT_SWITCH)
				argument->off = mem_printf("--no%s", name);
			reader_give_default(argument, read_slot(r, value_find(&call, "default", 1)));
			if (is_enum)
				argument->choices = take_choices(read_slot(r, value_find(&call, "enum_values", 2)));
			argument->help = read_help(r, &call, is_enum ? 3 : 2);
		}
		free(flag);
		free(name);
		free(call.slots.at);
	}
	r->open = true; /* modules define flags of their own */
	return true;
}

/* getopt.getopt(argv, "hl:", ["lr=", "augment"]) */
static bool read_getopt(struct reader *r)
{
	const struct lex *lex = r->lex;
	for (size_t i = 0; i + 1 < lex->len; i++) {
		if ((!lex_is(&lex->at[i], "getopt") && !lex_is(&lex->at[i], "gnu_getopt")) ||
		    !lex_is(&lex->at[i + 1], "("))
			continue;
		struct value_call call;
		value_read_call(lex, i + 1, &call);
		struct node *names = read_slot(r, value_find(&call, "longopts", 2));
		for (size_t k = 0; names && names->type == NODE_LIST && k < names->count; k++) {
			const char *text = node_string(names->items[k]);
			bool takes = text && text_ends(text, "=");
			char *flag = text ? mem_printf("--%.*s", (int)strlen(text) - takes, text) : mem_strdup("");
			struct script_argument *argument = reader_add(
				r->script, flag, takes ? SCRIPT_VALUE : SCRIPT_SWITCH, lex->at[i].line);
			if (argument && !takes)
				argument->type = SCRIPT_BOOL;
			free(flag);
		}
		node_free(names);
		free(call.slots.at);
		r->script->abbreviates = true;
		return true;
	}
	return false;
}

/* sys.argv[1].split("="): the script takes a flag apart by itself, so it does not go by places. `i` is behind the "]". */
static bool argv_is_taken_apart(const struct lex *lex, size_t i)
{
	static const char *const ways[] = {"split", "partition", "rpartition", "removeprefix", "lstrip", "startswith"};
	for (size_t k = 0; lex_is(&lex->at[i], ".") && k < COUNT_OF(ways); k++)
		if (lex_is(&lex->at[i + 1], ways[k]))
			return true;
	return false;
}

/* The number in sys.argv[N] at the name `argv`; 0: another use. */
static int argv_place(const struct lex *lex, size_t i)
{
	if (!lex_is(&lex->at[i], "argv") || !lex_is(&lex->at[i + 1], "[") || lex->at[i + 2].kind != LEX_NUMBER ||
	    !lex_is(&lex->at[i + 3], "]") || lex->at[i + 2].len > 2 || argv_is_taken_apart(lex, i + 4))
		return 0;
	int place = 0;
	for (size_t k = 0; k < lex->at[i + 2].len; k++) {
		if (!isdigit((unsigned char)lex->at[i + 2].at[k]))
			return 0;
		place = place * 10 + lex->at[i + 2].at[k] - '0';
	}
	return place;
}

/* batch_size = int(sys.argv[3]): the name before the =, the type around it. */
static void argv_element(struct reader *r, size_t i, int place)
{
	const struct lex *lex = r->lex;
	size_t start = i;
	while (start && lex->at[start - 1].kind != LEX_NEWLINE)
		start--;
	if (lex->at[start].kind != LEX_NAME || !lex_is(&lex->at[start + 1], "=") || lex_is(&lex->at[start + 2], "="))
		return;
	for (size_t k = 0; k < r->script->arguments.len; k++)
		if (r->script->arguments.at[k].place == place)
			return;
	char *name = mem_copy(lex->at[start].at, lex->at[start].len);
	struct script_argument *argument = reader_add(r->script, name, SCRIPT_PLACE, lex->at[i].line);
	if (argument) {
		argument->place = place;
		argument->type = reader_type_of(&lex->at[start + 2]);
		argument->required = true;
	}
	free(name);
}

/* a, b = sys.argv[1:]: several names at once. */
static bool argv_unpacked(struct reader *r, size_t i)
{
	const struct lex *lex = r->lex;
	size_t start = i;
	while (start && lex->at[start - 1].kind != LEX_NEWLINE)
		start--;
	size_t equals = start;
	while (equals < i && !lex_is(&lex->at[equals], "="))
		equals++;
	bool comma = false;
	for (size_t k = start; k < equals; k++)
		comma |= lex_is(&lex->at[k], ",");
	if (!comma || equals + 3 != i)
		return false;
	bool sliced = lex_is(&lex->at[i + 1], "[") && lex->at[i + 2].kind == LEX_NUMBER && lex->at[i + 2].len == 1;
	int place = sliced ? lex->at[i + 2].at[0] - '0' : 0;
	for (size_t k = start; k < equals; k++) {
		if (lex->at[k].kind != LEX_NAME)
			continue;
		char *name = mem_copy(lex->at[k].at, lex->at[k].len);
		struct script_argument *argument = reader_add(r->script, name, SCRIPT_PLACE, lex->at[k].line);
		if (argument) {
			argument->place = place++;
			argument->required = true;
		}
		free(name);
	}
	return true;
}

static bool read_argv(struct reader *r)
{
	const struct lex *lex = r->lex;
	bool found = false;
	for (size_t i = 2; i + 1 < lex->len; i++) {
		if (!lex_is(&lex->at[i], "argv"))
			continue;
		int place = argv_place(lex, i);
		if (place)
			argv_element(r, i, place);
		found |= place > 0 || argv_unpacked(r, i);
	}
	r->open = true;
	return found;
}

/* OmegaConf.create({"lr": 0.1}): names with their defaults. */
static void hydra_create(struct reader *r, size_t open)
{
	struct value_call call;
	value_read_call(r->lex, open, &call);
	struct node *map = read_slot(r, value_find(&call, "obj", 0));
	for (size_t i = 0; map && map->type == NODE_MAP && i < map->count; i++) {
		if (map->items[i]->type == NODE_MAP)
			continue;
		struct script_argument *argument = reader_add(r->script, map->items[i]->key, SCRIPT_VALUE,
							      r->lex->at[open].line);
		if (argument) {
			argument->untyped = true;
			reader_give_default(argument, node_clone(map->items[i]));
		}
	}
	node_free(map);
	free(call.slots.at);
}

static bool read_hydra(struct reader *r)
{
	const struct lex *lex = r->lex;
	bool found = false;
	for (size_t i = 1; i + 1 < lex->len; i++) {
		found |= python_is_path(lex, i, "hydra.main") && lex_is(&lex->at[i - 1], ".");
		found |= python_is_path(lex, i, "OmegaConf.from_cli");
		if (python_is_path(lex, i, "OmegaConf.create") && lex_is(&lex->at[i + 1], "("))
			hydra_create(r, i + 1);
	}
	r->open = true; /* the configuration lies in other files */
	return found;
}

static bool read_env(struct reader *r)
{
	bool found = false;
	for (size_t i = 0; i < r->lex->len; i++) {
		const struct lex_word *word = &r->lex->at[i];
		if (word->kind == LEX_STRING) {
			struct buf text = buf_make(200);
			lex_add_string(word, &text);
			if (text_starts(buf_text(&text), "SLUICE_PARAM"))
				found = true;
			buf_free(&text);
		} else if (python_is_path(r->lex, i, "sluice.params") && i && lex_is(word - 1, ".")) {
			found = true;
		}
	}
	r->open = true;
	return found;
}

static bool read_docopt(struct reader *r)
{
	r->open = true;
	return true;
}

/* In this order: the first whose module is imported and that finds what it looks for. */
static const struct parser {
	const char *module; /* NULL: none is needed */
	enum script_reads reads;
	bool (*read)(struct reader *reader);
} parsers[] = {
	{"hydra", SCRIPT_OVERRIDES, read_hydra},
	{"omegaconf", SCRIPT_OVERRIDES, read_hydra},
	{"transformers", SCRIPT_FLAGS, python_read_fields},
	{"typer", SCRIPT_FLAGS, python_read_fields},
	{"fire", SCRIPT_FLAGS, python_read_fields},
	{"tyro", SCRIPT_FLAGS, python_read_fields},
	{"tap", SCRIPT_FLAGS, python_read_fields},
	{"simple_parsing", SCRIPT_FLAGS, python_read_fields},
	{"jsonargparse", SCRIPT_FLAGS, python_read_fields},
	{"click", SCRIPT_FLAGS, read_click},
	{"absl", SCRIPT_FLAGS, read_absl},
	{"simple_parsing", SCRIPT_FLAGS, read_argparse},
	{"jsonargparse", SCRIPT_FLAGS, read_argparse},
	{"configargparse", SCRIPT_FLAGS, read_argparse},
	{"argparse", SCRIPT_FLAGS, read_argparse},
	{NULL, SCRIPT_FLAGS, read_argparse}, /* a parser that another module makes */
	{"getopt", SCRIPT_FLAGS, read_getopt},
	{"docopt", SCRIPT_FLAGS, read_docopt},
	{NULL, SCRIPT_ENVIRONMENT, read_env},
	{NULL, SCRIPT_POSITIONS, read_argv},
};

/* Most of its flags say how it spells names of two words. */
static void python_spelling(struct script *script)
{
	size_t dashes = 0, underscores = 0;
	for (size_t i = 0; i < script->arguments.len; i++) {
		const char *flag = script->arguments.at[i].flag;
		dashes += flag && strchr(flag + strspn(flag, "-"), '-');
		underscores += flag && strchr(flag, '_');
	}
	if (dashes || underscores)
		script->dashes = dashes >= underscores;
}

void python_read(struct reader *r)
{
	for (size_t i = 0; i < COUNT_OF(parsers) && !r->script->reads; i++) {
		unsigned line = parsers[i].module ? python_imports(r->lex, parsers[i].module) : 0;
		size_t before = r->script->arguments.len;
		if (parsers[i].module && !line)
			continue;
		r->open = false;
		if (parsers[i].read(r)) {
			r->script->reads = parsers[i].reads;
			r->script->parser = parsers[i].module || parsers[i].reads != SCRIPT_FLAGS ? parsers[i].module
												  : "argparse";
			r->script->parser_line = line;
		} else if (r->script->arguments.len > before) {
			script_free(r->script); /* what a parser that is not used would have had */
		}
	}
	python_spelling(r->script);
	r->script->sure = r->script->reads == SCRIPT_FLAGS && !r->open && r->script->arguments.len;
}
