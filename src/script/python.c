/* Parsers of arguments in Python, one row each of the table at the end. The small ones are here: absl, getopt, sys.argv,
 * hydra, and the environment. */
#include "script/reader.h"

#include "base/limits.h"
#include "base/text.h"

#include <ctype.h>

/* flags.DEFINE_float("lr", 0.1, "help") */
static bool python_read_absl(struct reader *r)
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
			reader_give_default(argument, reader_value(r, value_find(&call, "default", 1)));
			if (is_enum)
				argument->choices = reader_take_choices(
					reader_value(r, value_find(&call, "enum_values", 2)));
			argument->help = reader_help(r, &call, is_enum ? 3 : 2);
		}
		free(flag);
		free(name);
		free(call.slots.at);
	}
	r->open = true; /* modules define flags of their own */
	return true;
}

/* getopt.getopt(argv, "hl:", ["lr=", "augment"]) */
static bool python_read_getopt(struct reader *r)
{
	const struct lex *lex = r->lex;
	for (size_t i = 0; i + 1 < lex->len; i++) {
		if ((!lex_is(&lex->at[i], "getopt") && !lex_is(&lex->at[i], "gnu_getopt")) ||
		    !lex_is(&lex->at[i + 1], "("))
			continue;
		struct value_call call;
		value_read_call(lex, i + 1, &call);
		struct node *names = reader_value(r, value_find(&call, "longopts", 2));
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
static bool python_argv_is_taken_apart(const struct lex *lex, size_t i)
{
	static const char *const ways[] = {"split", "partition", "rpartition", "removeprefix", "lstrip", "startswith"};
	for (size_t k = 0; lex_is(&lex->at[i], ".") && k < COUNT_OF(ways); k++)
		if (lex_is(&lex->at[i + 1], ways[k]))
			return true;
	return lex_is(&lex->at[i], "["); /* sys.argv[1][5:] */
}

/* The number in sys.argv[N] at the name `argv`; 0: another use. */
static int python_argv_place(const struct lex *lex, size_t i)
{
	if (!lex_is(&lex->at[i], "argv") || !lex_is(&lex->at[i + 1], "[") || lex->at[i + 2].kind != LEX_NUMBER ||
	    !lex_is(&lex->at[i + 3], "]") || lex->at[i + 2].len > 2 || python_argv_is_taken_apart(lex, i + 4))
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
static void python_argv_element(struct reader *r, size_t i, int place)
{
	const struct lex *lex = r->lex;
	size_t start = i;
	while (start && lex->at[start - 1].kind != LEX_NEWLINE && !lex_is(&lex->at[start - 1], ";"))
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
static bool python_argv_unpacked(struct reader *r, size_t i)
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

/* float(sys.argv[1]): what it reads is the bare value, not --name=value. */
static bool python_argv_is_converted(const struct lex *lex, size_t i)
{
	size_t open = lex_is(&lex->at[i - 1], ".") && i >= 4 ? i - 3 : i - 1;
	return lex_is(&lex->at[open], "(") && open &&
		(lex_is(&lex->at[open - 1], "float") || lex_is(&lex->at[open - 1], "int"));
}

static bool python_read_argv(struct reader *r)
{
	const struct lex *lex = r->lex;
	bool found = false, apart = false, converted = false;
	for (size_t i = 2; i + 1 < lex->len; i++) {
		if (!lex_is(&lex->at[i], "argv"))
			continue;
		converted |= python_argv_is_converted(lex, i);
		apart |= lex_is(&lex->at[i + 1], "[") && python_argv_is_taken_apart(lex, lex_skip(lex, i + 1));
		int place = python_argv_place(lex, i);
		if (place)
			python_argv_element(r, i, place);
		if (place > r->script->places)
			r->script->places = place;
		found |= place > 0 || python_argv_unpacked(r, i);
	}
	if (apart || !converted)
		r->script->places = 0;
	r->open = true;
	return found;
}

/* OmegaConf.create({"lr": 0.1}): names with their defaults. */
static void python_hydra_create(struct reader *r, size_t open)
{
	struct value_call call;
	value_read_call(r->lex, open, &call);
	struct node *map = reader_value(r, value_find(&call, "obj", 0));
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

static bool python_read_hydra(struct reader *r)
{
	const struct lex *lex = r->lex;
	bool found = false;
	for (size_t i = 1; i + 1 < lex->len; i++) {
		found |= python_is_path(lex, i, "hydra.main") && lex_is(&lex->at[i - 1], ".");
		found |= python_is_path(lex, i, "OmegaConf.from_cli");
		if (python_is_path(lex, i, "OmegaConf.create") && lex_is(&lex->at[i + 1], "("))
			python_hydra_create(r, i + 1);
	}
	r->open = true; /* the configuration lies in other files */
	return found;
}

static bool python_read_env(struct reader *r)
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

static bool python_read_docopt(struct reader *r)
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
	{"hydra", SCRIPT_OVERRIDES, python_read_hydra},
	{"omegaconf", SCRIPT_OVERRIDES, python_read_hydra},
	{"transformers", SCRIPT_FLAGS, python_read_fields},
	{"typer", SCRIPT_FLAGS, python_read_fields},
	{"fire", SCRIPT_FLAGS, python_read_fields},
	{"tyro", SCRIPT_FLAGS, python_read_fields},
	{"tap", SCRIPT_FLAGS, python_read_fields},
	{"simple_parsing", SCRIPT_FLAGS, python_read_fields},
	{"jsonargparse", SCRIPT_FLAGS, python_read_fields},
	{"lightning", SCRIPT_FLAGS, python_read_fields},
	{"pytorch_lightning", SCRIPT_FLAGS, python_read_fields},
	{"click", SCRIPT_FLAGS, python_read_click},
	{"absl", SCRIPT_FLAGS, python_read_absl},
	{"simple_parsing", SCRIPT_FLAGS, python_read_argparse},
	{"jsonargparse", SCRIPT_FLAGS, python_read_argparse},
	{"configargparse", SCRIPT_FLAGS, python_read_argparse},
	{"argparse", SCRIPT_FLAGS, python_read_argparse},
	{NULL, SCRIPT_FLAGS, python_read_argparse}, /* a parser that another module makes */
	{"getopt", SCRIPT_FLAGS, python_read_getopt},
	{"docopt", SCRIPT_FLAGS, python_read_docopt},
	{NULL, SCRIPT_ENVIRONMENT, python_read_env},
	{NULL, SCRIPT_POSITIONS, python_read_argv},
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
