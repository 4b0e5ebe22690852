/* See place.h. */
#include "metrics/place.h"

#include "base/buf.h"
#include "metrics/metrics.h"

#include <string.h>

const char *const place_printed[2] = {"stdout", "stderr"}, *const place_report = "report";

bool place_is_wanted(const struct node *places, const char *word)
{
	const struct node *from = node_get(places, "from");
	for (size_t i = 0; from && i < from->count; i++)
		if (node_string(from->items[i]) && strcmp(node_string(from->items[i]), word) == 0)
			return true;
	return !from;
}

bool place_is_named(const struct node *places)
{
	for (const struct metrics_format *format = metrics_formats; format->name; format++)
		if (node_get(places, format->name))
			return true;
	return node_get(places, "pattern") != NULL;
}

static void place_add_list(const struct node *list, struct buf *out)
{
	for (size_t i = 0; i < list->count; i++)
		buf_addf(out, "%s%s", i ? " or " : "", node_string(list->items[i]) ? node_string(list->items[i]) : "");
	if (node_string(list))
		buf_add_text(out, node_string(list));
}

char *place_say_nothing(const struct node *places)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	const struct node *from = node_get(places, "from");
	if (node_get_string(places, "pattern")) {
		buf_add_text(&out, "no printed line matched ");
		place_add_list(node_get(places, "pattern"), &out);
	} else if (from) {
		buf_add_text(&out, "no metrics were found in ");
		place_add_list(from, &out);
	} else {
		buf_add_text(&out, "no file with metrics matched ");
		for (size_t i = 0; i < places->count; i++) {
			buf_add_text(&out, i ? " or " : "");
			place_add_list(places->items[i], &out);
		}
	}
	return buf_take(&out);
}
