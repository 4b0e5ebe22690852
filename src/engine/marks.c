/* Tags, notes, stars and the archive: what people write about experiments and tasks. The engine never reads them. */

#include "engine/engine.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/load.h"
#include "engine/transact.h"
#include "base/limits.h"
#include "base/text.h"
#include "store/rows.h"

#include <errno.h>
#include <inttypes.h>

struct marks {
	struct engine_experiment *experiment;
	const struct node *body;
	const int64_t *numbers; /* NULL: the experiment itself */
	size_t count;
	char **tags; /* of each, as JSON; NULL: they stay */
};

/* Trimmed; the caller frees it. NULL with err. */
static char *marks_read_tag(const struct node *node, struct error *err)
{
	const char *text = node_string(node);
	while (text && *text == ' ')
		text++;
	size_t len = text ? strlen(text) : 0;
	while (len && text[len - 1] == ' ')
		len--;
	bool good = len > 0 && len <= LIMIT_TAG_BYTES;
	for (size_t i = 0; good && i < len; i++)
		good = (unsigned char)text[i] >= 0x20 && text[i] != 0x7f && text[i] != ',';
	if (!good) {
		(void)errorf(err, -EINVAL, "a tag is 1 to %d bytes of text without commas and control characters",
			     LIMIT_TAG_BYTES);
		return NULL;
	}
	return mem_copy(text, len);
}

static bool marks_has(const struct node *list, const char *tag)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (!strcmp(node_string(list->items[i]) ? node_string(list->items[i]) : "", tag))
			return true;
	return false;
}

/* Adds the tags of `from` that are not there. */
static int marks_add(struct node *tags, const struct node *from, struct error *err)
{
	for (size_t i = 0; from && i < from->count; i++) {
		char *tag = marks_read_tag(from->items[i], err);
		if (!tag)
			return -EINVAL;
		if (!marks_has(tags, tag))
			node_add(tags, NULL, node_new_string(tag));
		free(tag);
	}
	if (tags->count > LIMIT_TAGS)
		return errorf(err, -EINVAL, "at most %d tags", LIMIT_TAGS);
	return 0;
}

static char *marks_write(const struct node *tags)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&text);
	node_write_json(tags, &json);
	char *copy = mem_strdup(buf_text(&text));
	buf_free(&text);
	return copy;
}

/* The tags that one of them has afterwards, as JSON. */
static int marks_find_tags(struct engine *engine, const struct marks *marks, int64_t number, char **ret,
			   struct error *err)
{
	const struct node *all = node_get(marks->body, "tags"), *gone = node_get(marks->body, "remove_tags");
	struct buf text = buf_make(BUF_UNLIMITED);
	struct node *before = NULL, *after = node_new(NODE_LIST);
	int rc = store_read_tags(engine_store(engine), marks->experiment->id, number, &text);
	if (rc == -ENOENT)
		rc = errorf(err, rc, "there is no task e%" PRId64 "/%" PRId64, marks->experiment->id, number);
	if (rc == 0 && !all)
		rc = node_parse_json(buf_text(&text), text.len, &before, err);
	if (rc == 0)
		rc = marks_add(after, all ? all : before, err);
	if (rc == 0)
		rc = marks_add(after, node_get(marks->body, "add_tags"), err);
	struct node *left = node_new(NODE_LIST);
	for (size_t i = 0; rc == 0 && i < after->count; i++)
		if (!marks_has(gone, after->items[i]->string))
			node_add(left, NULL, node_new_string(after->items[i]->string));
	if (rc == 0)
		*ret = marks_write(left);
	node_free(before);
	node_free(after);
	node_free(left);
	buf_free(&text);
	return rc;
}

static int marks_set(struct engine *engine, const struct marks *marks, int64_t number, const char *tags)
{
	int64_t experiment = marks->experiment->id;
	const struct node *notes = node_get(marks->body, "notes"), *star = node_get(marks->body, "star");
	const struct node *archived = node_get(marks->body, "archived");
	int rc = store_set_tags(engine_store(engine), experiment, number, tags);
	if (rc == 0 && notes)
		rc = store_set_notes(engine_store(engine), experiment, number, node_string(notes));
	if (rc == 0 && star)
		rc = store_set_star(engine_store(engine), experiment, number, star->boolean);
	if (rc == 0 && archived)
		rc = store_set_archived(engine_store(engine), experiment, archived->boolean);
	return rc;
}

static int marks_write_all(struct engine *engine, void *ctx, struct error *err)
{
	const struct marks *marks = ctx;
	int rc = 0;
	(void)err;
	for (size_t i = 0; rc == 0 && i < marks->count; i++) {
		int64_t number = marks->numbers ? marks->numbers[i] : 0;
		rc = marks_set(engine, marks, number, marks->tags[i]);
		if (number)
			engine_task_changed(engine, marks->experiment->id, number);
	}
	if (!marks->numbers)
		marks->experiment->changed = true;
	return rc;
}

static int marks_check(const struct marks *marks, struct error *err)
{
	const char *notes = node_get_string(marks->body, "notes");
	if (notes && strlen(notes) > LIMIT_TEXT_BYTES)
		return errorf(err, -EINVAL, "notes have at most %d bytes", LIMIT_TEXT_BYTES);
	if (notes && marks->numbers && strlen(notes) * marks->count > LIMIT_MARKED_NOTES_BYTES)
		return errorf(
			err, -EINVAL,
			"notes of %zu bytes on %zu tasks are more than %u MB in one request: mark at most %zu tasks "
			"at once, or write a shorter note",
			strlen(notes), marks->count, LIMIT_MARKED_NOTES_BYTES >> 20,
			LIMIT_MARKED_NOTES_BYTES / strlen(notes));
	if (marks->numbers && node_get(marks->body, "archived"))
		return errorf(err, -EINVAL, "only experiments can be archived");
	return 0;
}

int engine_mark(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
		const struct node *body, struct error *err)
{
	struct marks marks = {.body = body, .numbers = numbers, .count = numbers ? count : 1};
	int rc = marks_check(&marks, err);
	if (rc == 0)
		rc = engine_open_experiment(engine, experiment, &marks.experiment, err);
	marks.tags = mem_array(marks.count, sizeof(*marks.tags));
	for (size_t i = 0; rc == 0 && i < marks.count; i++)
		rc = marks_find_tags(engine, &marks, numbers ? numbers[i] : 0, &marks.tags[i], err);
	if (rc == 0)
		rc = engine_transact(engine, marks_write_all, &marks, err);
	for (size_t i = 0; i < marks.count; i++)
		free(marks.tags[i]);
	free(marks.tags);
	return rc;
}
