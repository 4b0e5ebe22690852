/* What the readers of Python's parsers share: imports, dotted names, the arguments of a call, and adding an argument. */
#include "script/reader.h"

#include "base/limits.h"
#include "base/text.h"

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

static enum script_type reader_type_of_value(const struct node *value)
{
	switch (value->type) {
	case NODE_BOOL: return SCRIPT_BOOL;
	case NODE_INT: return SCRIPT_INT;
	case NODE_REAL: return SCRIPT_REAL;
	case NODE_STRING: return SCRIPT_TEXT;
	case NODE_LIST: return value->count ? reader_type_of_value(value->items[0]) : SCRIPT_ANY;
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
		argument->type = reader_type_of_value(give);
	argument->fallback = give;
}

struct node *reader_value(const struct reader *r, const struct value_slot *slot)
{
	return slot ? value_read(r->lex, slot->from, slot->to) : NULL;
}

char *reader_help(const struct reader *r, const struct value_call *call, int place)
{
	struct node *help = reader_value(r, value_find(call, "help", place));
	char *text = help && help->type == NODE_STRING && *help->string ? mem_strdup(help->string) : NULL;
	node_free(help);
	return text;
}

struct node *reader_take_choices(struct node *give)
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

bool reader_is_true(const struct reader *r, const struct value_call *call, const char *key)
{
	const struct value_slot *slot = value_find(call, key, -1);
	return slot && value_is_name(r->lex, slot, "True");
}

char *reader_flag(const struct reader *r, const struct value_call *call, char **ret_bare, size_t *ret_count)
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

void reader_add_flags(const struct reader *r, const struct value_call *call, struct script_argument *argument)
{
	for (size_t i = 0; i < call->slots.len && !call->slots.at[i].key; i++) {
		char *text = value_read_text(r->lex, &call->slots.at[i]);
		size_t len = text ? strcspn(text, "/") : 0; /* click: --shout/--no-shout */
		char *flag = text && *text == '-' ? mem_copy(text, len) : NULL;
		if (flag && strcmp(flag, argument->flag) != 0)
			vec_push(&argument->others, flag);
		else
			free(flag);
		free(text);
	}
}

void reader_rename(struct script_argument *argument, const char *name)
{
	char *clean = reader_name_of(name);
	if (text_is_identifier(clean, LIMIT_NAME_BYTES)) {
		free(argument->name);
		argument->name = clean;
	} else {
		free(clean);
	}
}

void reader_add_command(struct script *script, char *give)
{
	if (give && *give && script->commands.len < LIMIT_SCRIPT_ARGUMENTS)
		vec_push(&script->commands, give);
	else
		free(give);
}

char *reader_decorated(const struct lex *lex, size_t i)
{
	while (i + 1 < lex->len && !lex_is(&lex->at[i], "def"))
		i++;
	if (i + 1 >= lex->len)
		return NULL;
	char *name = mem_copy(lex->at[i + 1].at, lex->at[i + 1].len);
	for (char *p = name; *p; p++)
		*p = *p == '_' ? '-' : *p;
	return name;
}

bool reader_is_enum(const struct lex *lex, size_t i)
{
	for (; i < lex->len && lex->at[i].kind != LEX_NEWLINE; i++)
		if (lex_is(&lex->at[i], "Enum") || lex_is(&lex->at[i], "IntEnum") || lex_is(&lex->at[i], "StrEnum"))
			return true;
	return false;
}
