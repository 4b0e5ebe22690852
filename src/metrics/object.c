/* See object.h. */
#include "metrics/object.h"

#include <string.h>

struct object object_make(size_t max)
{
	return (struct object){.lines = buf_make(max)};
}

void object_clear(struct object *object)
{
	buf_clear(&object->lines);
	object->lines.full = false;
	object->braces = (struct phrase_braces){0};
}

void object_free(struct object *object)
{
	buf_free(&object->lines);
}

enum object_answer object_take(struct object *object, const char *text, size_t len)
{
	bool open = object->lines.len > 0;
	while (len && (unsigned char)*text <= ' ')
		text++, len--;
	if (!len || (!open && *text != '{'))
		return OBJECT_NONE;
	struct phrase_braces braces = object->braces;
	phrase_count_braces(&braces, text, len);
	phrase_count_braces(&braces, "\n", 1);
	if (!open && braces.depth <= 0)
		return OBJECT_NONE;
	if (open && !strchr("\"'{}[]-0123456789", *text))
		return OBJECT_BROKEN;
	size_t before = object->lines.len;
	object->braces = braces;
	buf_add(&object->lines, text, len);
	buf_add_char(&object->lines, '\n');
	if (object->lines.full) {
		object->lines.len = before;
		return OBJECT_LONG;
	}
	if (braces.depth > 0)
		return OBJECT_KEPT;
	for (size_t i = 0; i < object->lines.len; i++)
		if (object->lines.data[i] == '\n')
			object->lines.data[i] = ' ';
	return OBJECT_WHOLE;
}
