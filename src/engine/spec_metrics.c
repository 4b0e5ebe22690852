/* See spec_metrics.h. */
#include "engine/spec_metrics.h"

#include "base/fs.h"
#include "engine/spec_part.h"
#include "metrics/metrics.h"
#include "metrics/place.h"

#include <string.h>

#define SPEC_METRICS_TEXT_MAX 1024
#define SPEC_METRICS_WORDS_MAX 16

/* The names of the formats of files; with the places that are no files when `places`. Ends with NULL. */
static void spec_metrics_words(bool places, const char *ret[SPEC_METRICS_WORDS_MAX])
{
	size_t count = 0;
	for (const struct metrics_format *format = metrics_formats; format->name; format++)
		if (format->files && count < SPEC_METRICS_WORDS_MAX - 4)
			ret[count++] = format->name;
	for (size_t i = 0; places && i < COUNT_OF(place_printed); i++)
		ret[count++] = place_printed[i];
	if (places)
		ret[count++] = place_report;
	ret[count] = NULL;
}

static bool spec_metrics_is_printed(const char *word)
{
	return strcmp(word, place_printed[0]) == 0 || strcmp(word, place_printed[1]) == 0;
}

/* One pattern of files, or a list of them. */
static void spec_metrics_read_files(struct spec *spec, const char *format, const struct node *node,
				    struct problems *problems)
{
	for (size_t i = 0; node->type == NODE_LIST && i < node->count; i++)
		spec_metrics_read_files(spec, format, node->items[i], problems);
	if (node->type == NODE_LIST)
		return;
	char *text = spec_part_text(node, SPEC_METRICS_TEXT_MAX, problems);
	if (!text)
		return;
	if (!fs_is_safe_relative(text))
		problem_add(problems, node, "give a path relative to the task's work folder, without '..'",
			    "'%.200s' is not a path below the work folder", text);
	struct node *list = node_get(spec->metrics, format);
	if (!list) {
		list = node_new(NODE_LIST);
		node_add(spec->metrics, format, list);
	}
	node_add(list, NULL, node_new_string(text));
	free(text);
}

/* The list of places; checks each. */
static struct node *spec_metrics_read_from(const struct node *node, struct problems *problems)
{
	const char *words[SPEC_METRICS_WORDS_MAX];
	struct node *list = node_new(NODE_LIST);
	spec_metrics_words(true, words);
	for (size_t i = 0; i < (node->type == NODE_LIST ? node->count : 1); i++) {
		const struct node *one = node->type == NODE_LIST ? node->items[i] : node;
		node_add(list, NULL, node_new_string(words[spec_part_word(one, words, problems)]));
	}
	if (!list->count)
		problem_add(problems, node, "name a place, or leave it out", "'from' is empty");
	return list;
}

/* (?P<name>...) makes it an expression for printed lines. */
static bool spec_metrics_is_expression(const char *text)
{
	return strstr(text, "(?P<") || strstr(text, "(?<");
}

static void spec_metrics_read_expression(struct spec *spec, const struct node *node, const char *text,
					 struct problems *problems)
{
	struct error why;
	if (metrics_check_pattern(text, &why) < 0)
		problem_add(problems, node, "see sluice-experiment(5), metrics", "%s", why.text);
	node_add(spec->metrics, "pattern", node_new_string(text));
}

/* `from` says what the pattern is for; without it, the pattern itself does. */
static void spec_metrics_read_pattern(struct spec *spec, const struct node *node, struct node *from,
				      struct problems *problems)
{
	char *text = spec_part_text(node, SPEC_METRICS_TEXT_MAX, problems);
	bool printed = from && from->count;
	for (size_t i = 0; from && i < from->count; i++)
		printed &= spec_metrics_is_printed(node_string(from->items[i]));
	const char *place = from && from->count == 1 ? node_string(from->items[0]) : NULL;
	const struct metrics_format *by_name = text && !from ? metrics_format_for(text, NULL, 0) : NULL;
	if (!text) {
		node_free(from);
		return;
	}
	if (printed || (!from && spec_metrics_is_expression(text)))
		spec_metrics_read_expression(spec, node, text, problems);
	else if (by_name)
		spec_metrics_read_files(spec, by_name->name, node, problems);
	else if (!from)
		problem_add(
			problems, node,
			"name the metric, as in 'loss is (?P<loss>[0-9.]+)', or say which kind of files is meant, as in "
			"from: csv",
			"the pattern '%.200s' names no metric (?P<name>...) and no files of a known kind (*.csv, *.jsonl, "
			"*.json, *tfevents*, *.log)",
			text);
	else if (place && strcmp(place, place_report) != 0)
		spec_metrics_read_files(spec, place, node, problems);
	else
		problem_add(problems, node, "name one kind of files, or stdout and stderr",
			    "a pattern does not fit what 'from' names");
	if (printed) {
		node_add(spec->metrics, "from", from);
		from = NULL;
	}
	node_free(from);
	free(text);
}

void spec_metrics_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const struct space_hint hints[] = {{"printed", "write from: stdout, or from: [stdout, stderr]"},
						  {"stdout", "write from: stdout"},
						  {"stderr", "write from: stderr"},
						  {"report", "write from: report"},
						  {"files", "write pattern: 'logs/*.csv'"},
						  {"regex", "write pattern"},
						  {0}};
	const char *words[SPEC_METRICS_WORDS_MAX], *known[SPEC_METRICS_WORDS_MAX];
	const struct node *pattern = node_get(node, "pattern"), *from = node_get(node, "from");
	size_t count = 0;

	spec_metrics_words(false, words);
	for (; words[count]; count++)
		known[count] = words[count];
	known[count] = "pattern";
	known[count + 1] = "from";
	known[count + 2] = NULL;
	if (!spec_part_map_hinted(node, known, hints, problems))
		return;
	node_free(spec->metrics);
	spec->metrics = node_new(NODE_MAP);
	for (size_t i = 0; words[i]; i++)
		if (node_get(node, words[i]))
			spec_metrics_read_files(spec, words[i], node_get(node, words[i]), problems);
	if (spec->metrics->count && (pattern || from))
		problem_add(problems, pattern ? pattern : from, "keep one of them",
			    "files are named already, so '%s' does not fit", pattern ? "pattern" : "from");
	else if (pattern)
		spec_metrics_read_pattern(spec, pattern, from ? spec_metrics_read_from(from, problems) : NULL,
					  problems);
	else if (from)
		node_add(spec->metrics, "from", spec_metrics_read_from(from, problems));
	if (!spec->metrics->count) {
		node_free(spec->metrics);
		spec->metrics = NULL;
	}
}
