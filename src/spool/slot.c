/* See slot.h. */
#include "spool/slot.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/node.h"
#include "base/num.h"
#include "spool/paths.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct spool_slot slot_none = {.cpus = 1};

int spool_slot_write(const char *batch_dir, uint32_t index, const struct spool_slot *slot, struct error *err)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_SLOT);
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_int(&out, "cpus", slot->cpus);
	json_key_int(&out, "memory_bytes", slot->memory_bytes);
	json_key_string(&out, "cores", slot->cores[0] ? slot->cores : NULL);
	json_key_string(&out, "gpus", slot->gpus[0] ? slot->gpus : NULL);
	json_key_int(&out, "gpu_share", slot->gpu_share);
	json_key_bool(&out, "mps", slot->mps);
	json_key_int(&out, "gpus_hidden", slot->gpus_hidden);
	json_key_int(&out, "time_ms", slot->time_ms);
	json_key_int(&out, "signal_before_ms", slot->signal_before_ms);
	json_key_int(&out, "checkpoint_signal", slot->checkpoint_signal);
	json_end(&out);
	buf_add_char(&text, '\n');
	int rc = fs_write(path, text.data, text.len, SPOOL_FILE_MODE, false, err);
	buf_free(&text);
	free(path);
	return rc;
}

static int64_t slot_get(const struct node *tree, const char *key, int64_t usual)
{
	int64_t value = node_get_int(tree, key, usual);
	return value < 0 ? usual : value;
}

bool spool_slot_parse(const char *text, size_t len, struct spool_slot *ret)
{
	struct node *tree = NULL;
	*ret = slot_none;
	if (node_parse_json(text, len, &tree, NULL) < 0)
		return false;
	bool good = tree->type == NODE_MAP;
	const char *gpus = node_get_string(tree, "gpus");
	int64_t signal = slot_get(tree, "checkpoint_signal", 0);
	*ret = (struct spool_slot){
		.cpus = slot_get(tree, "cpus", 1),
		.memory_bytes = slot_get(tree, "memory_bytes", 0),
		.time_ms = slot_get(tree, "time_ms", 0),
		.signal_before_ms = slot_get(tree, "signal_before_ms", 0),
		.checkpoint_signal = signal < NSIG ? (int)signal : 0,
		.gpu_share = slot_get(tree, "gpu_share", 0),
		.mps = node_get_bool(tree, "mps", false),
		.gpus_hidden = slot_get(tree, "gpus_hidden", 0),
	};
	const char *cores = node_get_string(tree, "cores");
	if (cores && strlen(cores) < sizeof(ret->cores))
		snprintf(ret->cores, sizeof(ret->cores), "%s", cores);
	if (gpus && strlen(gpus) < sizeof(ret->gpus))
		snprintf(ret->gpus, sizeof(ret->gpus), "%s", gpus);
	node_free(tree);
	return good;
}

bool spool_slot_read(const char *batch_dir, uint32_t index, struct spool_slot *ret)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_SLOT);
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	*ret = slot_none;
	bool there = fs_read(path, LIMIT_DOCUMENT_BYTES, &text, NULL) == 0 &&
		spool_slot_parse(buf_text(&text), text.len, ret);
	buf_free(&text);
	free(path);
	return there;
}

bool spool_slot_add_cores(const struct spool_slot *slot, cpu_set_t *set)
{
	bool some = false;
	uint64_t core;
	for (const char *at = slot->cores; *at;) {
		size_t len = strcspn(at, ",");
		if (num_parse_unsigned(at, len, CPU_SETSIZE - 1, &core) == 0) {
			CPU_SET(core, set);
			some = true;
		}
		at += len + (at[len] == ',');
	}
	return some;
}
