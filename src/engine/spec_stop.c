/* See spec_stop.h. */
#include "engine/spec_stop.h"

#include "base/limits.h"
#include "base/text.h"
#include "engine/spec_part.h"

#include <math.h>

static void spec_stop_read_when(struct spec *spec, const struct node *node, struct problems *problems)
{
	char *text = spec_part_text(node, 400, problems);
	if (!text)
		return;
	/* METRIC < NUMBER, with <, <=, > or >= */
	size_t at = strcspn(text, "<>");
	size_t op = text[at] ? 1 + (text[at + 1] == '=') : 0;
	size_t name = at;
	while (name && text[name - 1] == ' ')
		name--;
	const char *number = text + at + op + strspn(text + at + op, " ");
	struct node *value = node_new_scalar(number, strlen(number));
	if (!op || !name || !node_is_number(value) || !isfinite(value->real)) {
		problem_add(problems, node, "write METRIC < NUMBER, for example \"val_loss < 0.05\"",
			    "'%.100s' is not a condition", text);
	} else {
		spec->stop.metric = mem_copy(text, name);
		memcpy(spec->stop.op, text + at, op);
		spec->stop.value = value->real;
	}
	node_free(value);
	free(text);
}

void spec_stop_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"when", "gpu_hours", "energy", "wall", "failures", NULL};
	if (!spec_part_map(node, known, problems))
		return;
	const struct node *when = node_get(node, "when"), *hours = node_get(node, "gpu_hours");
	const struct node *failures = node_get(node, "failures");
	const struct node *energy = node_get(node, "energy"), *wall = node_get(node, "wall");
	if (when)
		spec_stop_read_when(spec, when, problems);
	if (hours && (!node_is_number(hours) || !(hours->real > 0) || !isfinite(hours->real)))
		problem_add(problems, hours, "give a number above 0", "gpu_hours must be above 0");
	else if (hours)
		spec->stop.gpu_hours = hours->real;
	if (failures && node_string(failures) && strcmp(node_string(failures), "off") == 0)
		spec->stop.failures = 0;
	else if (failures)
		spec->stop.failures = spec_part_int(failures, 1, LIMIT_TASKS, -1, problems);
	if (wall)
		spec->stop.wall_ms = spec_part_duration(wall, problems);
	if (energy) {
		char *text = spec_part_scalar(energy, 100, problems);
		if (text && (text_parse_energy(text, &spec->stop.energy_j) < 0 || spec->stop.energy_j <= 0))
			problem_add(problems, energy, "write for example 20MJ or 5kWh", "'%.100s' is not an energy",
				    text);
		free(text);
	}
}
