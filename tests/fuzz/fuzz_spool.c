/* What the runner reads from its batch: any bytes as a descriptor, as a slot, as what a shell looked like or as a script. A descriptor that is accepted has what
 * the runner cannot do without, and is the same when it is written and read again. */
#include "spool/caller.h"
#include "spool/descriptor.h"
#include "spool/interpreter.h"
#include "spool/slot.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_descriptor(const struct spool_descriptor *d)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	struct spool_descriptor again;
	if (!d->argv->count || d->task_dir[0] != '/' || d->attempt < 1 || d->grace_ms < 0 ||
	    (d->results && !fs_is_safe_relative(d->results)))
		abort();
	spool_descriptor_put(d, &out);
	if (spool_descriptor_parse("again", buf_text(&text), text.len, &again, NULL) < 0 ||
	    !node_equal(d->argv, again.argv) || again.index != d->index || again.task != d->task)
		abort();
	spool_descriptor_free(&again);
	buf_free(&text);
}

static void check_caller(const char *text, size_t size)
{
	struct problems problems = {0};
	struct node *tree = NULL;
	if (node_parse_json(text, size, &tree, NULL) < 0)
		return;
	spool_caller_check(tree, &problems);
	struct spool_caller caller = spool_caller_of(tree);
	for (size_t i = 0; caller.modules && i < caller.modules->count; i++)
		if (strpbrk(node_string(caller.modules->items[i]), " ;$`\n'\"&|"))
			abort();
	problems_free(&problems);
	node_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool_descriptor d;
	struct spool_slot slot;
	char *text = mem_copy(data, size);
	if (spool_descriptor_parse("it", text, size, &d, NULL) == 0) {
		check_descriptor(&d);
		spool_descriptor_free(&d);
	}
	spool_slot_parse(text, size, &slot);
	if (slot.cpus < 0 || slot.time_ms < 0 || slot.checkpoint_signal < 0)
		abort();
	check_caller(text, size);
	struct node *words = spool_read_shebang(text, size);
	if (words && (!words->count || !node_string(words->items[0])[0]))
		abort();
	node_free(words);
	free(text);
	return 0;
}
