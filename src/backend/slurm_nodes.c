/* See slurm_nodes.h. */
#include "backend/slurm_nodes.h"

#include "backend/slurm_text.h"
#include "base/num.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* The names of a group are for people: what is longer ends with "…". */
#define NODES_NAMES_BYTES 400

/* The value of " Key=value" in a line, which ends at a blank. The reason may hold anything; it stands behind everything
 * that is read here. The caller frees it. */
static char *nodes_get(const char *line, const char *key)
{
	size_t len = strlen(key);
	for (const char *at = line; (at = strstr(at, key)); at++)
		if ((at == line || at[-1] == ' ') && at[len] == '=') {
			const char *value = at + len + 1;
			return mem_copy(value, strcspn(value, " "));
		}
	return mem_strdup("");
}

static char *nodes_get_reason(const char *line)
{
	const char *at = strstr(line, " Reason=");
	if (!at)
		return mem_strdup("");
	at += strlen(" Reason=");
	/* "bad disk [root@2026-11-18T09:00:00]" */
	const char *by = strrchr(at, '[');
	size_t len = by && by > at ? (size_t)(by - at) : strlen(at);
	while (len && at[len - 1] == ' ')
		len--;
	return mem_copy(at, len);
}

static int64_t nodes_get_number(const char *line, const char *key)
{
	char *text = nodes_get(line, key);
	uint64_t value = 0;
	if (num_parse_unsigned(text, strspn(text, "0123456789"), 1ull << 30, &value) < 0)
		value = 0;
	free(text);
	return (int64_t)value;
}

const char *slurm_node_word(const char *state)
{
	char word[32];
	size_t len = strcspn(state, "+*~#!%$@^-");
	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 0), state);
	bool busy = strcmp(word, "ALLOCATED") == 0 || strcmp(word, "MIXED") == 0;
	if (strstr(state, "POWERED_DOWN") || strstr(state, "POWER_DOWN") || strchr(state, '~') || strchr(state, '%'))
		return "powered down";
	if (strstr(state, "POWERING_UP") || strchr(state, '#'))
		return "starting";
	if (strcmp(word, "DOWN") == 0 || strcmp(word, "ERROR") == 0 || strstr(state, "FAIL"))
		return "down";
	if (strstr(state, "NOT_RESPONDING") || strchr(state, '*'))
		return "not responding";
	if (strstr(state, "DRAIN"))
		return busy || strstr(state, "COMPLETING") ? "draining" : "drained";
	if (strstr(state, "RESERVED") || strstr(state, "MAINT"))
		return "reserved";
	if (busy)
		return word[0] == 'M' ? "mixed" : "allocated";
	if (strcmp(word, "IDLE") == 0)
		return strstr(state, "COMPLETING") ? "mixed" : "idle";
	return "other";
}

static bool nodes_read(const char *line, struct slurm_node *ret)
{
	struct buf types = buf_make(1024);
	char *name = nodes_get(line, "NodeName"), *state = nodes_get(line, "State"), *gres = nodes_get(line, "Gres");
	char *used = nodes_get(line, "GresUsed");
	bool good = *name && *state;
	if (good) {
		*ret = (struct slurm_node){
			.name = mem_strdup(name),
			.partitions = nodes_get(line, "Partitions"),
			.reason = nodes_get_reason(line),
			.state = slurm_node_word(state),
			.cpus = nodes_get_number(line, "CPUTot"),
			.cpus_busy = nodes_get_number(line, "CPUAlloc"),
			.memory_bytes = nodes_get_number(line, "RealMemory") << 20,
			.memory_busy_bytes = nodes_get_number(line, "AllocMem") << 20,
			.gpus = slurm_parse_gres(gres, &types),
			.gpus_busy = *used ? slurm_parse_gres(used, NULL) : -1,
		};
		ret->gpu_types = mem_strdup(buf_text(&types));
	}
	free(name);
	free(state);
	free(gres);
	free(used);
	buf_free(&types);
	return good;
}

/* The number at the end of a name: "gpu007" is "gpu", 7, of 3 digits. */
static size_t nodes_prefix(const char *name, uint64_t *ret_number, size_t *ret_digits)
{
	size_t len = strlen(name), at = len;
	while (at && name[at - 1] >= '0' && name[at - 1] <= '9' && len - at < 15)
		at--;
	*ret_digits = len - at;
	if (num_parse_unsigned(name + at, len - at, 1ull << 60, ret_number) < 0)
		*ret_number = 0;
	return at;
}

static int nodes_compare_names(const char *a, const char *b)
{
	uint64_t left, right;
	size_t digits_a, digits_b, len_a = nodes_prefix(a, &left, &digits_a),
				   len_b = nodes_prefix(b, &right, &digits_b);
	int by_prefix = strncmp(a, b, len_a < len_b ? len_a : len_b);
	if (by_prefix)
		return by_prefix;
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	if (digits_a != digits_b)
		return digits_a < digits_b ? -1 : 1;
	return (left > right) - (left < right);
}

/* 0: they may be in one group. */
static int nodes_compare_kind(const struct slurm_node *a, const struct slurm_node *b)
{
	int by = strcmp(a->partitions, b->partitions);
	by = by ? by : strcmp(a->state, b->state);
	by = by ? by : (a->cpus > b->cpus) - (a->cpus < b->cpus);
	by = by ? by : (a->memory_bytes > b->memory_bytes) - (a->memory_bytes < b->memory_bytes);
	by = by ? by : (a->gpus > b->gpus) - (a->gpus < b->gpus);
	by = by ? by : (a->gpus_busy < 0) - (b->gpus_busy < 0);
	by = by ? by : strcmp(a->gpu_types, b->gpu_types);
	return by ? by : strcmp(a->reason, b->reason);
}

static int nodes_compare(const void *a, const void *b)
{
	const struct slurm_node *left = a, *right = b;
	int by = nodes_compare_kind(left, right);
	return by ? by : nodes_compare_names(left->name, right->name);
}

void slurm_nodes_parse(const char *text, size_t len, struct slurm_nodes *ret)
{
	char *copy = slurm_copy_text(text, len);
	*ret = (struct slurm_nodes){0};
	for (char *line = copy, *next; *line; line = next) {
		size_t n = strcspn(line, "\n");
		struct slurm_node node;
		next = line + n + (line[n] == '\n');
		line[n] = '\0';
		if (nodes_read(line, &node))
			vec_push(&ret->list, node);
	}
	if (ret->list.len)
		qsort(ret->list.at, ret->list.len, sizeof(*ret->list.at), nodes_compare);
	free(copy);
}

void slurm_nodes_free(struct slurm_nodes *nodes)
{
	for (size_t i = 0; i < nodes->list.len; i++) {
		free(nodes->list.at[i].name);
		free(nodes->list.at[i].partitions);
		free(nodes->list.at[i].gpu_types);
		free(nodes->list.at[i].reason);
	}
	free(nodes->list.at);
	*nodes = (struct slurm_nodes){0};
}

/* "gpu1" and "gpu7" differ in their number only. */
static bool nodes_same_series(const char *a, const char *b)
{
	uint64_t number;
	size_t digits_a, digits_b, len = nodes_prefix(a, &number, &digits_a);
	return nodes_prefix(b, &number, &digits_b) == len && digits_a && digits_a == digits_b &&
		strncmp(a, b, len) == 0;
}

static uint64_t nodes_number(const char *name)
{
	uint64_t number;
	size_t digits;
	nodes_prefix(name, &number, &digits);
	return number;
}

/* "1-3,7": what stands behind the first `len` characters of sorted names. */
static void nodes_add_ranges(const struct slurm_node *first, size_t count, size_t len, struct buf *out)
{
	for (size_t i = 0, last; i < count; i = last + 1) {
		last = i;
		while (last + 1 < count && nodes_number(first[last + 1].name) == nodes_number(first[last].name) + 1)
			last++;
		if (out->len > NODES_NAMES_BYTES) {
			buf_add_text(out, ",…");
			return;
		}
		buf_addf(out, "%s%s", i ? "," : "", first[i].name + len);
		if (last > i)
			buf_addf(out, "-%s", first[last].name + len);
	}
}

/* "gpu[1-3,7],login": sorted names of one group. */
static void nodes_add_names(const struct slurm_node *first, size_t count, struct buf *out)
{
	for (size_t i = 0, end; i < count; i = end) {
		uint64_t number;
		size_t digits, len = nodes_prefix(first[i].name, &number, &digits);
		for (end = i + 1; end < count && nodes_same_series(first[i].name, first[end].name);)
			end++;
		if (out->len > NODES_NAMES_BYTES) {
			buf_add_text(out, ",…");
			return;
		}
		buf_addf(out, "%s%.*s", i ? "," : "", (int)len, first[i].name);
		if (end == i + 1) {
			buf_add_text(out, first[i].name + len);
			continue;
		}
		buf_add_char(out, '[');
		nodes_add_ranges(first + i, end - i, len, out);
		buf_add_char(out, ']');
	}
}

static bool nodes_is_ours(const char *name, const char *const *ours, size_t count)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int by = strcmp(ours[middle], name);
		if (by == 0)
			return true;
		if (by < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static void nodes_write_group(const struct slurm_node *first, size_t count, struct json *out)
{
	struct buf names = buf_make(BUF_UNLIMITED);
	int64_t cpus_busy = 0, memory_busy = 0, gpus_busy = 0;
	for (size_t i = 0; i < count; i++) {
		cpus_busy += first[i].cpus_busy;
		memory_busy += first[i].memory_busy_bytes;
		gpus_busy += first[i].gpus_busy;
	}
	nodes_add_names(first, count, &names);
	json_map(out);
	json_key_string(out, "names", buf_text(&names));
	json_key_int(out, "nodes", (int64_t)count);
	json_key_string(out, "state", first->state);
	json_key_string(out, "partitions", first->partitions);
	json_key_string(out, "reason", first->reason[0] ? first->reason : NULL);
	json_key_int(out, "cpus", first->cpus * (int64_t)count);
	json_key_int(out, "cpus_busy", cpus_busy);
	json_key_int(out, "memory_bytes", first->memory_bytes * (int64_t)count);
	json_key_int(out, "memory_busy_bytes", memory_busy);
	json_key_int(out, "gpus", first->gpus * (int64_t)count);
	json_key(out, "gpus_busy");
	if (first->gpus_busy < 0)
		json_put_null(out);
	else
		json_put_int(out, gpus_busy);
	json_key_string(out, "gpu_type", first->gpu_types[0] ? first->gpu_types : NULL);
	json_end(out);
	buf_free(&names);
}

void slurm_nodes_write(const struct slurm_nodes *nodes, const char *const *ours, size_t count, struct json *out)
{
	VEC(struct slurm_node) group = {0};
	json_key_int(out, "nodes", (int64_t)nodes->list.len);
	json_key(out, "groups");
	json_list(out);
	for (size_t i = 0; i < nodes->list.len; i++) {
		const struct slurm_node *node = &nodes->list.at[i];
		if (nodes_is_ours(node->name, ours, count)) {
			nodes_write_group(node, 1, out);
			continue;
		}
		if (group.len && nodes_compare_kind(&group.at[0], node) != 0) {
			nodes_write_group(group.at, group.len, out);
			group.len = 0;
		}
		vec_push(&group, *node);
	}
	if (group.len)
		nodes_write_group(group.at, group.len, out);
	free(group.at);
	json_end(out);
}
