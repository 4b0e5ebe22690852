/* See spec_power.h. */
#include "engine/spec_power.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/spec_part.h"

#include <math.h>

/* No card draws less or more. */
#define POWER_LEAST_W 10
#define POWER_MOST_W 10000

static void spec_power_read_limit(struct spec *spec, const struct node *node, struct problems *problems)
{
	double watts = 0;
	char *text = spec_part_scalar(node, 100, problems);
	if (text && (text_parse_power(text, &watts) < 0 || !(watts >= POWER_LEAST_W && watts <= POWER_MOST_W)))
		problem_add(problems, node, "write for example 300W", "'%.100s' is not a power limit for a GPU", text);
	else if (text)
		spec->power_limit = mem_printf("%.0f", round(watts));
	free(text);
}

void spec_power_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"limit", "cap", NULL}, *const caps[] = {"auto", "off", NULL};
	if (!spec_part_map(node, known, problems))
		return;
	const struct node *limit = node_get(node, "limit"), *cap = node_get(node, "cap");
	if (limit && cap)
		problem_add(problems, cap, "keep one of them", "power has both a limit and a cap");
	else if (limit)
		spec_power_read_limit(spec, limit, problems);
	else if (cap && spec_part_word(cap, caps, problems) == 0)
		spec->power_limit = mem_strdup("auto");
}
