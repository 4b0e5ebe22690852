/* See fit.h. */
#include "engine/fit.h"

#include "engine/call.h"
#include "engine/spec.h"

#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"
#include "script/script.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void fit_choose(struct fit *fit, char *give)
{
	vec_push(&fit->chosen, give);
}

/* [[64, 64], [128]]: several values for one argument are one text, "64 64"; hydra has [64,64]. */
static void fit_lists(struct node *values, bool overrides)
{
	for (size_t i = 0; values && values->type == NODE_LIST && i < values->count; i++) {
		struct node *item = values->items[i];
		struct buf text = buf_make(LIMIT_TEXT_BYTES);
		bool scalars = item->type == NODE_LIST && item->count;
		for (size_t k = 0; scalars && k < item->count; k++) {
			const struct node *one = item->items[k];
			scalars = one->type == NODE_BOOL || (one->string && !strchr(one->string, ' '));
			char *word = call_text(one);
			buf_addf(&text, "%s%s", !k ? "" : overrides ? "," : " ", word);
			free(word);
		}
		if (scalars && !text.full) {
			for (size_t k = 0; k < item->count; k++)
				node_free(item->items[k]);
			free(item->items);
			item->items = NULL;
			item->count = item->capacity = 0;
			item->type = NODE_STRING;
			item->string = overrides ? mem_printf("[%s]", buf_text(&text)) : mem_strdup(buf_text(&text));
		}
		buf_free(&text);
	}
}

/* Does another parameter apply only for some values of this one? Then it has single values. */
static bool fit_is_condition(const struct node *parameters, const char *name)
{
	for (size_t i = 0; i < parameters->count; i++)
		if (node_get(node_get(parameters->items[i], "when"), name))
			return true;
	return false;
}

/* Two whole ends: whole numbers where the script takes them; real ones where it says so, and from 0 to 1 (two whole
 * numbers are no range). */
static void fit_range(struct node *range, const struct script *script, struct fit *fit)
{
	const struct node *min = node_get(range, "min"), *max = node_get(range, "max");
	if (!min || !max || min->type != NODE_INT || max->type != NODE_INT || node_get(range, "type") ||
	    node_get(range, "step") || node_get(range, "points") || node_get(range, "scale") ||
	    max->integer <= min->integer)
		return;
	const struct script_argument *argument = script_find(script, range->key);
	enum script_type type = argument ? argument->type : SCRIPT_ANY;
	bool narrow = max->integer - min->integer == 1;
	bool real = type == SCRIPT_REAL || (type != SCRIPT_INT && narrow);
	char *why = type == SCRIPT_REAL || type == SCRIPT_INT
		? mem_printf("as line %u of the script takes it", argument->line)
		: mem_strdup(narrow ? "write type: int for 0 and 1 only"
				    : "both ends are whole; type: real for others");
	fit_choose(fit,
		   mem_printf("%s: %s numbers from %s to %s (%s)", range->key, real ? "real" : "whole", min->string,
			      max->string, why));
	free(why);
	if (real)
		node_add(range, "type", node_new_string("real"));
}

static void fit_parameters(struct node *parameters, const struct script *script, bool overrides, struct fit *fit)
{
	for (size_t i = 0; i < parameters->count; i++) {
		struct node *one = parameters->items[i];
		if (one->type == NODE_MAP && !fit_is_condition(parameters, one->key))
			fit_range(one, script, fit);
		fit_lists(one->type == NODE_MAP ? node_get(one, "values") : one, overrides);
	}
}

char *fit_how(const struct script_argument *argument, const char *name)
{
	const char *flag = argument->flag, *off = argument->off;
	bool is_short = flag && !text_starts(flag, "--");
	switch (argument->shape) {
	case SCRIPT_SWITCH:
		if (script_means_off(argument, name))
			return mem_printf("%s%s%s", off, flag ? "/" : "", flag ? flag : "");
		return mem_printf("%s%s%s", flag ? flag : "", off ? "/" : "", off ? off : "");
	case SCRIPT_TRUTH: return mem_printf("%s=true/%s=", flag, flag);
	case SCRIPT_SEVERAL: return mem_printf("%s {}...", flag);
	case SCRIPT_REPEATED: return mem_printf("%s%s{} ...", flag, is_short ? " " : "=");
	case SCRIPT_PLACE: return mem_strdup("{}");
	case SCRIPT_SPACED: return mem_printf("%s {}", flag);
	case SCRIPT_VALUE: break;
	}
	return mem_printf("%s%s{}", flag, is_short ? " " : "=");
}

static void fit_add_argument(struct node *document, const char *name, const char *how)
{
	struct node *arguments = node_get(document, "arguments");
	if (!arguments) {
		arguments = node_new(NODE_MAP);
		node_add(document, "arguments", arguments);
	}
	if (arguments->type == NODE_MAP && !node_get(arguments, name))
		node_add(arguments, name, node_new_string(how));
}

/* What is spelled with dashes and = needs no word in the document. */
static bool fit_is_usual(const char *how, const char *name)
{
	if (!text_starts(how, "--") || !text_ends(how, "={}") || strlen(how) != strlen(name) + 5)
		return false;
	for (size_t i = 0; name[i]; i++)
		if (how[2 + i] != (name[i] == '_' ? '-' : name[i]))
			return false;
	return true;
}

static void fit_flags(struct node *document, const struct node *parameters, const struct script *script)
{
	for (size_t i = 0; i < parameters->count; i++) {
		const char *name = parameters->items[i]->key;
		const struct script_argument *argument = script_find(script, name);
		char *how = argument ? fit_how(argument, name) : NULL;
		if (!how && !script->dashes && strchr(name, '_'))
			how = mem_printf("--%s={}", name);
		if (how && !fit_is_usual(how, name))
			fit_add_argument(document, name, how);
		free(how);
	}
}

/* Is the first value of the script's sys.argv the first parameter, and so on to the last? */
static bool fit_is_in_places(const struct node *parameters, const struct script *script)
{
	for (size_t i = 0; i < script->arguments.len; i++) {
		const struct script_argument *argument = &script->arguments.at[i];
		size_t at = (size_t)argument->place - 1;
		if (argument->place < 1 || at >= parameters->count ||
		    strcmp(parameters->items[at]->key, argument->name) != 0)
			return false;
	}
	return parameters->count && script->arguments.len == parameters->count;
}

/* sys.argv without the ids that `pass: positional` puts in front, where the names of the script leave no doubt. */
static void fit_places(struct node *document, const struct node *parameters, const struct script *script,
		       struct fit *fit)
{
	/* Where it does not name them, as many places as values are enough. */
	bool count = !script->arguments.len && parameters->count && script->places == (int)parameters->count;
	if (!count && !fit_is_in_places(parameters, script))
		return;
	for (size_t i = 0; i < parameters->count; i++)
		fit_add_argument(document, parameters->items[i]->key, "{}");
	fit_choose(fit,
		   mem_strdup(count ? "values by their places, in the order in which they were given"
				    : "values by their places, in the order in which the script reads them"));
}

/* {name} in command: belongs to the parameter; another name is a mistake. */
static void fit_command(struct node *document, const struct node *parameters, struct problems *problems)
{
	const struct node *command = node_get(document, "command");
	for (size_t i = 0; command && command->type == NODE_LIST && i < command->count; i++) {
		const char *word = node_string(command->items[i]), *begin, *end;
		for (char *name; word && (name = call_next_placeholder(word, &begin, &end)); word = end) {
			if (node_get(parameters, name) || strcmp(name, CALL_SEED) == 0) {
				fit_add_argument(document, name, CALL_IN_COMMAND);
			} else {
				const char *names[LIMIT_PARAMETERS + 1];
				size_t count = 0;
				for (; parameters && count < parameters->count && count < LIMIT_PARAMETERS; count++)
					names[count] = parameters->items[count]->key;
				names[count] = NULL;
				char *near = space_unknown_remedy(name, names);
				bool asks = near[strlen(near) - 1] == '?';
				char *remedy = mem_printf("%s%s {{%s}} passes the text itself", near, asks ? "" : ";",
							  name);
				problem_add(problems, command->items[i], remedy, "there is no parameter for {%s}",
					    name);
				free(remedy);
				free(near);
			}
			free(name);
		}
	}
}

void fit_document(struct node *document, const struct script *script, struct fit *fit, struct problems *problems)
{
	struct node *parameters = node_get(document, "parameters");
	if (!document || document->type != NODE_MAP)
		return;
	if (parameters && parameters->type != NODE_MAP)
		return;
	if (node_get(document, "arguments"))
		fit->said = node_clone(node_get(document, "arguments"));
	fit_command(document, parameters, problems);
	fit_objective(document, script, fit);
	if (!parameters)
		return;
	const char *style = node_get_string(document, "style"), *pass = node_get_string(document, "pass");
	bool automatic = (!node_get(document, "style") || (style && strcmp(style, "auto") == 0)) &&
		!node_get(document, "separator");
	if (!node_get(document, "pass") && script->reads == SCRIPT_OVERRIDES) {
		node_add(document, "pass", node_new_string("overrides"));
		pass = "overrides";
		fit_choose(fit,
			   mem_printf("pass: overrides (name=value, as %s takes them, line %u)", script->parser,
				      script->parser_line));
	} else if (!node_get(document, "pass") && automatic && script->reads == SCRIPT_POSITIONS) {
		fit_places(document, parameters, script, fit);
	}
	bool flags = !node_get(document, "pass") || (pass && strcmp(pass, "flags") == 0);
	if (flags && automatic && script->reads == SCRIPT_FLAGS) {
		fit_flags(document, parameters, script);
		fit_choose(fit,
			   script->parser_line ? mem_printf("flags as %s takes them (line %u of the script)",
							    script->parser, script->parser_line)
					       : mem_printf("flags as the script's %s takes them", script->parser));
	}
	const struct script_argument *seed = NULL;
	char *how = fit_seed(document, script, &seed);
	if (how) {
		fit_add_argument(document, CALL_SEED, how);
		fit_choose(
			fit,
			mem_printf("%s gets the seed of the task, so that repeats differ (line %u; give %s yourself to "
				   "fix it)",
				   seed->flag ? seed->flag : seed->name, seed->line, seed->name));
	}
	free(how);
	fit_parameters(parameters, script, pass && strcmp(pass, "overrides") == 0, fit);
}

struct check {
	struct spec *spec;
	const struct script *script;
	struct problems *problems;
	bool sure;
};

/* Sure: an error at the node; else a warning. */
static void check_say(const struct check *check, const struct node *at, const char *remedy, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

static void check_say(const struct check *check, const struct node *at, const char *remedy, const char *fmt, ...)
{
	char text[600];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (check->sure)
		problem_add(check->problems, at, remedy, "%s", text);
	else
		vec_push(&check->spec->cautions, mem_printf("%s; %s", text, remedy));
}

static bool check_fits_type(const char *text, enum script_type type)
{
	double real;
	if (type == SCRIPT_INT) { /* of any size: 12345678901234567890, 007 */
		text += *text == '-' || *text == '+';
		return *text && !text[strspn(text, "0123456789")];
	}
	return type != SCRIPT_REAL || num_parse_real(text, strlen(text), &real) == 0;
}

static bool check_is_choice(const struct node *choices, const char *text)
{
	for (size_t i = 0; i < choices->count; i++) {
		char *one = call_text(choices->items[i]);
		bool same = strcmp(one, text) == 0;
		free(one);
		if (same)
			return true;
	}
	return false;
}

static char *check_list(const struct node *choices)
{
	struct buf text = buf_make(300);
	for (size_t i = 0; i < choices->count; i++) {
		char *one = call_text(choices->items[i]);
		buf_addf(&text, "%s%s", i ? ", " : "", one);
		free(one);
	}
	return text.len ? buf_take(&text) : mem_strdup("");
}

/* One value as the script gets it. False: it was named, and one of a parameter is enough. */
static bool check_word(const struct check *check, const struct node *at, const struct script_argument *argument,
		       const char *name, const char *text)
{
	const char *type = argument->type == SCRIPT_INT ? "whole numbers" : "numbers";
	if (argument->choices && !check_is_choice(argument->choices, text)) {
		char *list = check_list(argument->choices);
		char *remedy = mem_printf("the script takes %s (line %u)", list, argument->line);
		check_say(check, at, remedy, "the script refuses '%.60s' for %s", text, name);
		free(remedy);
		free(list);
		return false;
	}
	if (!argument->untyped && !check_fits_type(text, argument->type)) {
		char *remedy = mem_printf("it takes %s there (line %u)", type, argument->line);
		check_say(check, at, remedy, "the script refuses '%.60s' for %s", text, name);
		free(remedy);
		return false;
	}
	return true;
}

static bool check_value(const struct check *check, const struct node *at, const struct script_argument *argument,
			const char *name, const struct space_value *value)
{
	struct buf text = buf_make(LIMIT_TEXT_BYTES);
	bool good = true, several = argument->shape == SCRIPT_SEVERAL || argument->shape == SCRIPT_REPEATED;
	space_format_value(value, &text);
	if (argument->shape == SCRIPT_SWITCH || argument->shape == SCRIPT_TRUTH) {
		good = value->kind == SPACE_VALUE_BOOL ||
			(value->kind == SPACE_VALUE_INT && (value->integer == 0 || value->integer == 1));
		if (!good)
			check_say(check, at, "write true or false",
				  "%s is a switch of the script, and '%.60s' is neither on nor off", name,
				  buf_text(&text));
	} else if (several) {
		char *words = mem_strdup(buf_text(&text));
		for (char *p = words + strspn(words, " "); good && *p;) {
			size_t len = strcspn(p, " ");
			bool more = p[len];
			p[len] = 0;
			good = check_word(check, at, argument, name, p);
			p += len + more;
			p += strspn(p, " ");
		}
		free(words);
	} else {
		good = check_word(check, at, argument, name, buf_text(&text));
	}
	buf_free(&text);
	return good;
}

static void check_parameter(const struct check *check, const struct node *at, const struct space_param *param,
			    const struct script_argument *argument)
{
	for (size_t i = 0; i < param->choice_count; i++)
		if (!check_value(check, at, argument, param->name, &param->choices[i]))
			return;
	if (param->choice_count)
		return;
	if (argument->shape == SCRIPT_SWITCH || argument->shape == SCRIPT_TRUTH)
		check_say(check, at, "write [true, false]", "%s is a switch of the script, not a range", param->name);
	else if (argument->choices)
		check_say(check, at, "give some of its choices as a list",
			  "%s has a fixed list of choices in the script (line %u)", param->name, argument->line);
	else if (!argument->untyped && argument->type == SCRIPT_INT && param->kind == SPACE_REAL)
		check_say(check, at, "write whole numbers with type: int",
			  "%s gives numbers such as %g, and the script takes whole numbers (line %u)", param->name,
			  param->min + 0.37 * (param->max - param->min), argument->line);
}

/* Further ones are counted. */
#define UNKNOWN_NAMED 5

/* Parameters that the script does not know, where that is a warning: one text for all. */
struct unknown {
	struct buf list;
	size_t count;
	char *remedy; /* what the script has, which is the same for all */
};

static void check_unknown(const struct check *check, const struct node *at, const char *name, struct unknown *unknown)
{
	const char *names[LIMIT_SCRIPT_ARGUMENTS + 1];
	size_t count = 0;
	for (size_t i = 0; i < check->script->arguments.len; i++)
		names[count++] = check->script->arguments.at[i].name;
	names[count] = NULL;
	char *remedy = space_unknown_remedy(name, names);
	if (check->sure || text_starts(remedy, "did you mean")) {
		check_say(check, at, remedy, "the script has no argument '%.60s'", name);
	} else if (unknown->count++ < UNKNOWN_NAMED) {
		buf_addf(&unknown->list, "%s'%.60s'", unknown->list.len ? ", " : "", name);
		free(unknown->remedy);
		unknown->remedy = mem_strdup(remedy);
	}
	free(remedy);
}

static void check_say_unknown(const struct check *check, const struct node *at, struct unknown *unknown)
{
	if (unknown->count > UNKNOWN_NAMED)
		buf_addf(&unknown->list, " and %zu more", unknown->count - UNKNOWN_NAMED);
	if (unknown->count)
		check_say(check, at, unknown->remedy, "the script has no argument%s %s", unknown->count > 1 ? "s" : "",
			  buf_text(&unknown->list));
	buf_free(&unknown->list);
	free(unknown->remedy);
}

static void check_required(const struct check *check, const struct node *document)
{
	const struct node *parameters = node_get(document, "parameters");
	for (size_t i = 0; i < check->script->arguments.len; i++) {
		const struct script_argument *argument = &check->script->arguments.at[i];
		bool given = !argument->required || (fit_is_seed(argument->name) && call_said(check->spec, CALL_SEED));
		for (size_t k = 0; !given && k < check->spec->space->count; k++)
			given = script_find(check->script, check->spec->space->params[k].name) == argument;
		if (given)
			continue;
		char *remedy = mem_printf("add the parameter %s", argument->name);
		check_say(check, parameters ? parameters : document, remedy, "the script requires '%s' (line %u)",
			  argument->flag ? argument->flag : argument->name, argument->line);
		free(remedy);
	}
}

/* An option of the script stands before its subcommand; all values are written behind it. */
static void check_place(const struct check *check, const struct node *at, const struct script_argument *argument)
{
	if (!check->spec->subcommand || !check->script->commands.len || !argument->before)
		return;
	char *remedy = mem_printf("remove it, or write the whole call: command: [python3, %s, \"%s={%s}\", %s]",
				  check->spec->script, argument->flag ? argument->flag : "--", argument->name,
				  check->spec->subcommand);
	check_say(check, at, remedy, "the script takes %s before its subcommand, and would get it behind",
		  argument->name);
	free(remedy);
}

/* Two parameters that are names of one argument: the script would take the one that comes last. Where they depend on
 * others, no task may have both. */
static void check_names(const struct check *check, const struct node *parameters, size_t i,
			const struct script_argument *argument)
{
	const struct space_param *params = check->spec->space->params;
	for (size_t k = 0; k < i; k++) {
		if (params[i].condition_count || params[k].condition_count ||
		    script_find(check->script, params[k].name) != argument)
			continue;
		check_say(check, node_get(parameters, params[i].name), "remove one of them",
			  "'%.60s' and '%.60s' are one argument of the script (line %u)", params[k].name,
			  params[i].name, argument->line);
		return;
	}
}

static void check_flags(const struct check *check, const struct node *document, const struct fit *fit)
{
	const struct node *parameters = node_get(document, "parameters");
	struct unknown unknown = {.list = buf_make(BUF_UNLIMITED)};
	for (size_t i = 0; i < check->spec->space->count; i++) {
		const struct space_param *param = &check->spec->space->params[i];
		const struct node *at = node_get(parameters, param->name);
		if (node_get(fit->said, param->name))
			continue;
		const struct script_argument *argument = script_find(check->script, param->name);
		if (argument) {
			check_parameter(check, at, param, argument);
			check_place(check, at, argument);
			check_names(check, parameters, i, argument);
		} else {
			check_unknown(check, at, param->name, &unknown);
		}
		if (script_is_abbreviation(check->script, param->name))
			vec_push(&check->spec->chosen,
				 mem_printf("%s: the beginning of %s of the script, which argparse takes for it",
					    param->name, argument->flag));
		if (argument && argument->shape == SCRIPT_TRUTH)
			vec_push(
				&check->spec->chosen,
				mem_printf(
					"%s: type=bool of argparse takes 'false' for true, so false is passed as the empty text",
					param->name));
	}
	check_say_unknown(check, parameters, &unknown);
	check_required(check, document);
}

/* Without its subcommand the script ends with a usage message. */
static void fit_check_command(const struct check *check, const struct node *document)
{
	struct spec *spec = check->spec;
	const struct script *script = check->script;
	struct buf names = buf_make(300);
	for (size_t i = 0; i < script->commands.len; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", script->commands.at[i]);
	if (script->commands.len && !spec->subcommand)
		vec_push(&spec->cautions,
			 mem_printf(
				 "the script has subcommands (%s); name one, as in `sluice run %s %s name=values`, or "
				 "subcommand: %s in the file",
				 buf_text(&names), spec->script, script->commands.at[0], script->commands.at[0]));
	bool known = !spec->subcommand;
	size_t word = known ? 0 : strcspn(spec->subcommand, " ");
	for (size_t i = 0; !known && i < script->commands.len; i++)
		known = strlen(script->commands.at[i]) == word &&
			memcmp(spec->subcommand, script->commands.at[i], word) == 0;
	if (!known && script->reads == SCRIPT_UNKNOWN) /* it takes nothing that could be seen: mostly a slip */
		problem_add(
			check->problems, node_get(document, "subcommand"),
			"give values as name=values; a command with further words is `command: [python3, ...]` in a file",
			"'%.60s' is not name=values, and the script has no subcommands that could be found",
			spec->subcommand);
	if (!known && script->reads == SCRIPT_FLAGS && script->parser) {
		char *remedy = script->commands.len
			? mem_printf("it has %s", buf_text(&names))
			: mem_printf("give values as name=values: %s=0.1,0.01", spec->subcommand);
		check_say(check, node_get(document, "subcommand"), remedy, "the script has no subcommand '%.60s'",
			  spec->subcommand);
		free(remedy);
	}
	buf_free(&names);
}

/* Values that nothing reads: each task would do the same, and one would still be called the best. A command or lines of
 * setup may pass them in a way of their own. */
static void fit_check_deaf(struct spec *spec, const struct script *script)
{
	if (!script->deaf || spec->command || !spec->space->dim_count || (spec->setup && spec->setup[0]))
		return;
	const char *slash = strrchr(spec->script, '/'), *name = slash ? slash + 1 : spec->script;
	const char *param = spec->space->params[spec->space->dims[0]].name;
	bool shell = text_ends(name, ".sh") || text_ends(name, ".bash");
	char *variable = mem_printf("SLUICE_PARAM_%s", param);
	for (char *p = variable; *p; p++)
		*p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
	if (script->variable)
		vec_push(&spec->cautions,
			 mem_printf(
				 "%s reads %s from the environment (line %u), but no arguments, nor SLUICE_PARAM_...: "
				 "every task would compute the same; parameters come as os.environ[\"%s\"]",
				 name, script->variable, script->variable_line, variable));
	else
		vec_push(&spec->cautions,
			 mem_printf(
				 "%s reads no arguments, nor SLUICE_PARAM_...: every task would compute the same; let "
				 "it take --%s with %s, or read %s%s%s",
				 name, param, shell ? "\"$@\"" : "argparse", shell ? "$" : "os.environ[\"", variable,
				 shell ? "" : "\"]"));
	free(variable);
}

void fit_check(struct spec *spec, const struct node *document, const struct script *script, struct fit *fit,
	       struct problems *problems)
{
	for (size_t i = 0; i < fit->chosen.len; i++)
		vec_push(&spec->chosen, fit->chosen.at[i]);
	fit->chosen.len = 0;
	struct check check = {.spec = spec,
			      .script = script,
			      .problems = problems,
			      .sure = script->sure && spec->style == SPEC_STYLE_AUTO};
	if (script->reads == SCRIPT_FLAGS && script->arguments.len && spec->pass == SPEC_PASS_FLAGS)
		check_flags(&check, document, fit);
	else if (script->reads == SCRIPT_FLAGS && script->arguments.len && spec_passes_places(spec))
		check_say(&check, node_get(document, "pass"), "pass: flags gives it --name=value",
			  "the script reads flags (%s) and would get the values by position", script->parser);
	fit_check_seed(spec, script);
	fit_check_command(&check, document);
	fit_check_deaf(spec, script);
	bool placed = spec->argument_count && strcmp(spec->arguments[0].how, "{}") == 0;
	if (script->reads == SCRIPT_POSITIONS && spec->pass == SPEC_PASS_FLAGS && spec->space->count && !placed)
		vec_push(
			&spec->cautions,
			mem_strdup(
				"the script reads its arguments by position, but gets them as --name=value; `pass: values` gives "
				"it the values in order, `pass: positional` the experiment, the task and then the values"));
}

void fit_free(struct fit *fit)
{
	node_free(fit->said);
	for (size_t i = 0; i < fit->chosen.len; i++)
		free(fit->chosen.at[i]);
	free(fit->chosen.at);
}
