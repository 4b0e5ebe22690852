/* See spec_stall.h. */
#include "engine/spec_stall.h"

#include "base/num.h"
#include "base/text.h"
#include "engine/spec_part.h"

#define STALL_TIMES_LEAST 1.5
#define STALL_TIMES_MOST 1000
#define STALL_AFTER_LEAST_MS 5000
/* With `do: restart`, unless retry says otherwise: what hangs three times hangs again. */
#define STALL_RESTARTS 2

static void spec_stall_read_after(struct spec *spec, const struct node *node, struct problems *problems)
{
	char *text = spec_part_scalar(node, 60, problems);
	size_t len = text ? strlen(text) : 0;
	double times = 0;
	int64_t after_ms = 0;
	if (!text)
		return;
	if (len > 1 && text[len - 1] == 'x' && num_parse_real(text, len - 1, &times) == 0 &&
	    times >= STALL_TIMES_LEAST && times <= STALL_TIMES_MOST)
		spec->stall.times = times;
	else if (strspn(text, "0123456789.") != len && text_parse_duration(text, &after_ms) == 0 &&
		 after_ms >= STALL_AFTER_LEAST_MS)
		spec->stall.after_ms = after_ms;
	else
		problem_add(problems, node,
			    "write 3x (times the longest pause between metrics, 1.5 or more) or a time, 10m",
			    "'%.60s' does not say after how long a task makes no progress", text);
	free(text);
}

void spec_stall_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"after", "do", NULL}, *const words[] = {"warn", "restart", "stop", NULL};
	if (!spec_part_map(node, known, problems))
		return;
	const struct node *after = node_get(node, "after"), *act = node_get(node, "do");
	int word = act ? spec_part_word(act, words, problems) : 0;
	if (after)
		spec_stall_read_after(spec, after, problems);
	spec->stall.ends = word > 0;
	spec->stall.restarts = word == 1 ? STALL_RESTARTS : 0;
}
