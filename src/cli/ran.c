/* See ran.h. */
#include "cli/ran.h"

#include "cli/view.h"

#include <inttypes.h>
#include <stdio.h>

/* A member whose parts follow each other on one line; nothing for null. */
static void ran_line(struct buf *out, const struct term *term, const char *name, const struct node *map,
		     const char *const keys[], size_t count)
{
	struct buf line = buf_make(65536);
	for (size_t i = 0; i < count; i++) {
		const char *text = node_get_string(map, keys[i]);
		if (text && *text)
			buf_addf(&line, "%s%s", line.len ? "  " : "", text);
	}
	view_line(out, term, name, buf_text(&line));
	buf_free(&line);
}

/* "name value", one on a line. */
static void ran_map(struct buf *out, const struct term *term, const char *name, const struct node *map,
		    const char *between)
{
	for (size_t i = 0; map && map->type == NODE_MAP && i < map->count; i++) {
		const char *value = node_string(map->items[i]);
		char *line = mem_printf("%s%s%s", map->items[i]->key, between, value ? value : "");
		view_line(out, term, i ? " " : name, line);
		free(line);
	}
}

static void ran_list(struct buf *out, const struct term *term, const char *name, const struct node *list)
{
	struct buf line = buf_make(65536);
	for (size_t i = 0; list && list->type == NODE_LIST && i < list->count; i++)
		if (node_string(list->items[i]))
			buf_addf(&line, "%s%s", i ? ", " : "", node_string(list->items[i]));
	view_line(out, term, name, buf_text(&line));
	buf_free(&line);
}

static void ran_git(struct buf *out, const struct term *term, const struct node *git)
{
	const char *commit = node_get_string(git, "commit");
	char *line = mem_printf("%s%s", commit ? commit : "",
				node_get_bool(git, "dirty", false) ? ", with changes that were not committed" : "");
	if (commit)
		view_line(out, term, "git commit", line);
	free(line);
}

void ran_show(const struct node *answer, const struct term *term, struct buf *out)
{
	static const char *const script[] = {"path", "sha256"}, *const python[] = {"version", "program"},
				 *const system[] = {"os", "kernel", "cpu"};
	const struct node *ran = node_get(answer, "ran");
	char number[32];
	if (!ran || ran->type != NODE_MAP) {
		view_line(
			out, term, "what ran",
			node_get_string(answer, "digest")
				? "the file that tells it could not be read"
				: "not known: no attempt has started, or a version of sluice ran it that does not record it");
		return;
	}
	snprintf(number, sizeof(number), "%" PRId64, node_get_int(answer, "attempt", 0));
	view_line(out, term, "attempt", number);
	ran_line(out, term, "script", node_get(ran, "script"), script, COUNT_OF(script));
	ran_git(out, term, node_get(ran, "git"));
	snprintf(number, sizeof(number), "%" PRId64, node_get_int(answer, "seed", 0));
	view_line(out, term, "seed", number);
	ran_line(out, term, "Python", node_get(ran, "python"), python, COUNT_OF(python));
	ran_list(out, term, "modules", node_get(ran, "modules"));
	view_line(out, term, "node", node_get_string(answer, "node"));
	view_line(out, term, "GPUs", node_get_string(answer, "gpus"));
	ran_list(out, term, "GPU models", node_get(node_get(ran, "gpu"), "models"));
	view_line(out, term, "GPU driver", node_get_string(node_get(ran, "gpu"), "driver"));
	ran_line(out, term, "system", node_get(ran, "system"), system, COUNT_OF(system));
	ran_map(out, term, "packages", node_get(ran, "packages"), " ");
	ran_map(out, term, "environment", node_get(ran, "environment"), "=");
}
