/* What people who come from Optuna, Ray Tune, W&B or scikit-optimize write, and what to write here. */
#include "space/space_hint.h"

#include "base/num.h"

#include <ctype.h>
#include <string.h>

#define LIST "give the list itself: name: [a, b, c]"
#define LOG "write scale: log beside min and max"
#define WHEN "write when: {optimizer: sgd}"
#define NO_NORMAL "normal distributions are not supported: give a range {min: 1, max: 10}, with scale: log if it fits"

const struct space_hint space_key_hints[] = {
	{"low", "write min"},
	{"lower", "write min"},
	{"minimum", "write min"},
	{"from", "write min"},
	{"start", "write min"},
	{"high", "write max"},
	{"upper", "write max"},
	{"maximum", "write max"},
	{"to", "write max"},
	{"end", "write max"},
	{"stop", "write max"},
	{"log", "write scale: log"},
	{"log_scale", "write scale: log"},
	{"base", "leave it out: scale: log needs no base"},
	{"q", "write step"},
	{"quantum", "write step"},
	{"num", "write points"},
	{"count", "write points"},
	{"num_points", "write points"},
	{"grid_points", "write points"},
	{"choices", LIST},
	{"options", LIST},
	{"categories", LIST},
	{"items", LIST},
	{"bounds", "write min and max"},
	{"range", "write min and max"},
	{"dtype", "write type: int or type: real"},
	{"prior", "write scale: log, or leave it out"},
	{"mu", NO_NORMAL},
	{"sigma", NO_NORMAL},
	{"mean", NO_NORMAL},
	{"std", NO_NORMAL},
	{"probabilities",
	 "leave it out: all choices are equally likely at first, and the search learns which are good"},
	{"if", WHEN},
	{"condition", WHEN},
	{"depends_on", WHEN},
	{"name", "leave it out: the name is the key before the colon"},
	{0},
};

const struct space_hint space_type_hints[] = {
	{"double", "write type: real, or leave it out"},
	{"number", "write type: real, or leave it out"},
	{"integer", "write type: int, or leave it out where min and max are whole"},
	{"int_uniform", "write type: int, or leave it out where min and max are whole"},
	{"randint", "write type: int, or leave it out where min and max are whole"},
	{"uniform", "leave it out: {min: 1, max: 10} means the same"},
	{"loguniform", LOG},
	{"log_uniform", LOG},
	{"log-uniform", LOG},
	{"log_uniform_values", LOG},
	{"reciprocal", LOG},
	{"lograndint", "write type: int and scale: log beside min and max"},
	{"inv_log_uniform_values", LOG},
	{"q_uniform", "leave it out, and write step"},
	{"quniform", "leave it out, and write step"},
	{"q_uniform_values", "leave it out, and write step"},
	{"q_log_uniform_values", "write scale: log and step beside min and max"},
	{"qloguniform", "write scale: log and step beside min and max"},
	{"normal", NO_NORMAL},
	{"randn", NO_NORMAL},
	{"q_normal", NO_NORMAL},
	{"log_normal", NO_NORMAL},
	{"choice", LIST},
	{"categorical", LIST},
	{"grid_search", LIST},
	{"constant", "give the value itself: name: 0.1"},
	{0},
};

const struct space_hint space_scale_hints[] = {
	{"logarithmic", "write scale: log"},
	{"log10", "write scale: log"},
	{"log2", "write scale: log"},
	{"ln", "write scale: log"},
	{"loguniform", "write scale: log"},
	{"uniform", "write scale: linear, or leave it out"},
	{0},
};

const char *space_find_hint(const struct space_hint *hints, const char *word)
{
	for (; hints && hints->word; hints++)
		if (strcmp(hints->word, word) == 0)
			return hints->remedy;
	return NULL;
}

static bool hint_is_number(const char *text, size_t len)
{
	double ignored;
	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return len && num_parse_real(text, len, &ignored) == 0;
}

bool space_looks_like_values(const char *text)
{
	const char *dots = strstr(text, "..");
	if (dots)
		return hint_is_number(text, (size_t)(dots - text)) && hint_is_number(dots + 2, strcspn(dots + 2, ":"));
	if (!strchr(text, ','))
		return false;
	for (;; text++) {
		size_t len = strcspn(text, ",");
		if (!hint_is_number(text, len))
			return false;
		text += len;
		if (!*text)
			return true;
	}
}
