/* A script as JSON, for the form and for `sluice check --json`. */
#include "script/script.h"

#include "base/text.h"

static const char *const script_type_names[] = {NULL, "int", "real", "text", "bool"};

const char *script_type_name(enum script_type type)
{
	return script_type_names[type];
}

static void script_write_node(const char *key, const struct node *node, struct json *out)
{
	json_key(out, key);
	if (node)
		node_write_json(node, out);
	else
		json_put_null(out);
}

static void script_write_argument(const struct script_argument *argument, struct json *out)
{
	json_map(out);
	json_key_string(out, "name", argument->name);
	json_key_string(out, "flag", argument->flag ? argument->flag : argument->off);
	json_key_string(out, "type", script_type_names[argument->type]);
	json_key_bool(out, "switch", argument->shape == SCRIPT_SWITCH);
	json_key_bool(out, "several", argument->shape == SCRIPT_SEVERAL || argument->shape == SCRIPT_REPEATED);
	json_key_bool(out, "required", argument->required);
	script_write_node("default", argument->fallback, out);
	script_write_node("choices", argument->choices, out);
	json_key_string(out, "help", argument->help);
	json_key_string(out, "command", argument->command);
	json_key_bool(out, "before", argument->before);
	json_key_int(out, "place", argument->place);
	json_key_int(out, "line", argument->line);
	json_end(out);
}

static void script_write_notes(const struct script *script, struct json *out)
{
	json_list(out);
	if (!script->checkpoint)
		json_put_string(out, "no checkpoint found: a task that is run again starts from its first epoch");
	json_end(out);
}

void script_write(const struct script *script, struct json *out)
{
	json_map(out);
	json_key(out, "arguments");
	json_list(out);
	for (size_t i = 0; i < script->arguments.len; i++)
		script_write_argument(&script->arguments.at[i], out);
	json_end(out);
	json_key(out, "commands");
	json_list(out);
	for (size_t i = 0; i < script->commands.len; i++)
		json_put_string(out, script->commands.at[i]);
	json_end(out);
	json_key_string(out, "parser", script->parser);
	json_key_int(out, "line", script->parser_line);
	json_key_bool(out, "sure", script->sure);
	json_key(out, "metrics");
	json_list(out);
	for (size_t i = 0; i < script->writers.len; i++)
		json_put_string(out, script->writers.at[i]);
	json_end(out);
	json_key(out, "columns");
	json_list(out);
	for (size_t i = 0; i < script->columns.len; i++)
		json_put_string(out, script->columns.at[i]);
	json_end(out);
	json_key_string(out, "metric", script->metric);
	json_key_string(out, "goal", script->goal);
	json_key_string(out, "metric_from", script->metric_from);
	json_key_bool(out, "checkpoint", script->checkpoint);
	json_key_string(out, "pass", script_pass(script));
	json_key_string(out, "wrong", script->wrong);
	json_key_int(out, "wrong_line", script->wrong_line);
	json_key(out, "notes");
	script_write_notes(script, out);
	json_end(out);
}
