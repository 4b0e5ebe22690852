/* Small readers for the experiment file, and its sections about resources: see spec_part.h. */
#include "engine/spec_part.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

/* No script runs in less. */
/* Thousandths of a GPU. */
#define SPEC_SHARE_MIN 20
#define SPEC_MEMORY_MIN (1 << 20)

char *spec_part_text(const struct node *node, size_t max, struct problems *problems)
{
	const char *text = node_string(node);
	if (!text) {
		problem_add(problems, node, "put it in quotes if it is meant as text", "'%s' must be a text, not %s",
			    node->key ? node->key : "an entry", node_type_name(node));
		return NULL;
	}
	if (strlen(text) > max) {
		problem_add(problems, node, "shorten it", "%zu bytes long; at most %zu", strlen(text), max);
		return NULL;
	}
	return mem_strdup(text);
}

char *spec_part_scalar(const struct node *node, size_t max, struct problems *problems)
{
	if (node_is_number(node))
		return mem_strdup(node->string);
	if (node->type == NODE_BOOL)
		return mem_strdup(node->boolean ? "true" : "false");
	return spec_part_text(node, max, problems);
}

char **spec_part_texts(const struct node *node, const char *example, struct problems *problems)
{
	VEC(char *) texts = {0};
	char remedy[200];
	snprintf(remedy, sizeof(remedy), "write a list: %s", example);
	if (node->type != NODE_LIST)
		problem_add(problems, node, remedy, "'%s' must be a list, not %s", node->key, node_type_name(node));
	for (size_t i = 0; node->type == NODE_LIST && i < node->count; i++) {
		char *text = spec_part_scalar(node->items[i], LIMIT_TEXT_BYTES, problems);
		if (text)
			vec_push(&texts, text);
	}
	vec_push(&texts, NULL);
	return texts.at;
}

int64_t spec_part_int(const struct node *node, int64_t min, int64_t max, int64_t fallback, struct problems *problems)
{
	char remedy[100];
	snprintf(remedy, sizeof(remedy), "give a whole number from %" PRId64 " to %" PRId64, min, max);
	if (node->type == NODE_INT && node->integer >= min && node->integer <= max)
		return node->integer;
	if (node->type == NODE_INT)
		problem_add(problems, node, remedy, "%" PRId64 " is out of range", node->integer);
	else
		problem_add(problems, node, remedy, "'%s' must be a whole number, not %s",
			    node->key ? node->key : "an entry", node_type_name(node));
	return fallback;
}

int spec_part_word(const struct node *node, const char *const *words, struct problems *problems)
{
	const char *text = node_string(node);
	struct buf list = buf_make(1000);
	for (int i = 0; words[i]; i++) {
		if (text && strcmp(words[i], text) == 0) {
			buf_free(&list);
			return i;
		}
		buf_addf(&list, "%s%s", i ? ", " : "use one of: ", words[i]);
	}
	problem_add(problems, node, buf_text(&list), "'%.100s' is not known here", text ? text : node_type_name(node));
	buf_free(&list);
	return 0;
}

/* A number without a unit. */
static bool spec_part_is_bare(const char *text)
{
	return *text && !text[strspn(text, "0123456789.")];
}

int64_t spec_part_duration(const struct node *node, struct problems *problems)
{
	char *text = spec_part_scalar(node, 100, problems);
	int64_t ms = 0;
	if (text && (text_parse_duration(text, &ms) < 0 || ms <= 0)) {
		problem_add(problems, node, "write for example 90s, 30m, 2h, 1d or 02:30:00",
			    "'%.100s' is not a duration", text);
		ms = 0;
	} else if (text && !problems->stored && spec_part_is_bare(text)) {
		char *remedy = mem_printf("write %ss, %sm or %sh", text, text, text);
		problem_add(problems, node, remedy, "'%.100s' has no unit", text);
		free(remedy);
	}
	free(text);
	return ms;
}

int64_t spec_part_bytes(const struct node *node, struct problems *problems)
{
	char *text = spec_part_scalar(node, 100, problems);
	int64_t bytes = 0;
	if (text && (text_parse_bytes(text, &bytes) < 0 || bytes <= 0)) {
		problem_add(problems, node, "write for example 512M or 16G", "'%.100s' is not a size", text);
		bytes = 0;
	}
	free(text);
	return bytes;
}

void spec_part_unknown(const struct node *node, const char *const *known, const struct space_hint *hints,
		       struct problems *problems)
{
	const char *nearest = NULL, *hint = space_find_hint(hints, node->key);
	unsigned least = 3; /* further away it is not a slip of the finger */
	struct buf remedy = buf_make(1000);
	for (int i = 0; known[i]; i++) {
		unsigned distance = text_distance(node->key, known[i]);
		if (distance < least) {
			least = distance;
			nearest = known[i];
		}
		buf_addf(&remedy, "%s%s", i ? ", " : "known here: ", known[i]);
	}
	if (hint || nearest)
		buf_clear(&remedy);
	if (hint)
		buf_add_text(&remedy, hint);
	else if (nearest)
		buf_addf(&remedy, "did you mean '%s'?", nearest);
	problem_add(problems, node, buf_text(&remedy), "the key '%.100s' is not known", node->key);
	buf_free(&remedy);
}

bool spec_part_map(const struct node *node, const char *const *known, struct problems *problems)
{
	return spec_part_map_hinted(node, known, NULL, problems);
}

bool spec_part_map_hinted(const struct node *node, const char *const *known, const struct space_hint *hints,
			  struct problems *problems)
{
	if (node->type != NODE_MAP) {
		problem_add(problems, node, "write a map: {key: value, …}", "'%s' must be a map, not %s",
			    node->key ? node->key : "an entry", node_type_name(node));
		return false;
	}
	for (size_t i = 0; known && i < node->count; i++) {
		bool found = false;
		for (int k = 0; known[k]; k++)
			found |= strcmp(known[k], node->items[i]->key) == 0;
		if (!found)
			spec_part_unknown(node->items[i], known, hints, problems);
	}
	return true;
}

/* 16 without a unit would be 16 bytes; Slurm takes such a number for megabytes. */
static int64_t spec_part_memory(const struct node *node, struct problems *problems)
{
	size_t before = problems->list.len;
	int64_t bytes = spec_part_bytes(node, problems);
	if (problems->list.len == before && !problems->stored && bytes < SPEC_MEMORY_MIN) {
		char *text = spec_part_scalar(node, 100, problems);
		char *remedy = mem_printf("did you mean %" PRId64 "%c?", bytes, bytes < 1024 ? 'G' : 'M');
		problem_add(problems, node, remedy, "'%.100s' is less than a megabyte", text);
		free(remedy);
		free(text);
	}
	return bytes;
}

/* gpus: 0.25. Thousandths, downwards: three thirds fit. */
static void spec_part_share(struct backend_resources *r, const struct node *node, struct problems *problems)
{
	r->gpus = 1;
	r->gpu_share = (int64_t)(node->real * 1000 + 1e-9);
	if (r->gpu_share < SPEC_SHARE_MIN || r->gpu_share > 500)
		problem_add(problems, node, "write 0.5, 0.25, 0.125 or another part down to 0.02, or a whole number",
			    "%g is not a part of a GPU that tasks can share", node->real);
}

/* share: auto. */
static void spec_part_auto(struct backend_resources *r, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"off", "auto", NULL};
	r->share_auto = spec_part_word(node, words, problems) == 1;
	if (r->share_auto && (r->gpus > 1 || r->gpu_share))
		problem_add(problems, node, "leave gpus out, or write gpus: 1",
			    "share: auto is for tasks that want one GPU, and finds out which part of it");
	r->gpus = r->share_auto ? 1 : r->gpus;
}

/* gpus: 2, or gpus: volta:2 */
static void spec_part_gpus(struct backend_resources *r, const struct node *node, struct problems *problems)
{
	const char *text = node_string(node);
	const char *colon = text ? strrchr(text, ':') : NULL;
	if (!colon && node->type == NODE_REAL && node->real > 0 && node->real < 1) {
		spec_part_share(r, node, problems);
		return;
	}
	if (!colon) {
		r->gpus = spec_part_int(node, 0, 4096, 0, problems);
		return;
	}
	struct node *count = node_new_scalar(colon + 1, strlen(colon + 1));
	if (count->type != NODE_INT || count->integer < 1 || count->integer > 4096 || colon == text)
		problem_add(problems, node, "write a number or TYPE:NUMBER, for example a100:2",
			    "'%.100s' is not a number of GPUs", text);
	r->gpus = count->type == NODE_INT ? count->integer : 0;
	r->gpu_type = mem_copy(text, (size_t)(colon - text));
	node_free(count);
}

/* A word that becomes part of an option of sbatch. */
static void spec_part_name(const struct node *node, char **ret, struct problems *problems)
{
	char *text = spec_part_scalar(node, 200, problems);
	for (const char *p = text; p && *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f) {
			problem_add(problems, node, "use the name as the cluster spells it",
				    "'%s' holds blanks or control characters", node->key);
			break;
		}
	free(*ret);
	*ret = text;
}

/* A key that only one backend understands. */
static void spec_part_key(struct backend_resources *r, const struct backend_key *key, const struct node *item,
			  struct problems *problems)
{
	void *field = (char *)r + key->offset;
	switch (key->kind) {
	case BACKEND_KEY_WORD: spec_part_name(item, field, problems); break;
	case BACKEND_KEY_TEXT: *(char **)field = spec_part_text(item, LIMIT_TEXT_BYTES, problems); break;
	case BACKEND_KEY_WORDS: *(char ***)field = spec_part_texts(item, "[\"--account=ml\", …]", problems); break;
	case BACKEND_KEY_COUNT: *(int64_t *)field = spec_part_int(item, 1, 100000, 0, problems); break;
	case BACKEND_KEY_FLAG:
		if (item->type != NODE_BOOL)
			problem_add(problems, item, "write true or false", "'%s' must be true or false", key->name);
		*(bool *)field = item->boolean;
		break;
	}
}

/* Names of all backends, after "auto"; NULL-terminated. The caller frees the list. */
static const char **spec_part_backends(void)
{
	VEC(const char *) names = {0};
	vec_push(&names, "auto");
	for (size_t i = 0; backend_table[i]; i++)
		vec_push(&names, backend_table[i]->name);
	vec_push(&names, NULL);
	return names.at;
}

/* Every key that may stand under `resources:`; NULL-terminated. The caller frees the list. */
static const char **spec_part_resource_keys(void)
{
	static const char *const common[] = {"backend", "gpus", "share", "gpu_type", "cpus", "memory", "time"};
	VEC(const char *) names = {0};
	for (size_t i = 0; i < COUNT_OF(common); i++)
		vec_push(&names, common[i]);
	for (size_t i = 0; backend_table[i]; i++)
		for (const struct backend_key *key = backend_table[i]->keys; key && key->name; key++)
			vec_push(&names, key->name);
	vec_push(&names, NULL);
	return names.at;
}

static void spec_part_backend(struct spec *spec, const struct node *item, struct problems *problems)
{
	const char **names = spec_part_backends();
	spec->backend = mem_strdup(names[spec_part_word(item, names, problems)]);
	free(names);
}

void spec_part_resources(struct spec *spec, const struct node *node, struct problems *problems)
{
	struct backend_resources *r = &spec->resources;
	const char **known = spec_part_resource_keys();
	bool is_map = spec_part_map(node, known, problems);
	free(known);
	if (!is_map)
		return;
	const struct node *item;
	spec->cpus_asked = node_get(node, "cpus") != NULL;
	if ((item = node_get(node, "backend")))
		spec_part_backend(spec, item, problems);
	if ((item = node_get(node, "gpus")))
		spec_part_gpus(r, item, problems);
	if ((item = node_get(node, "share")))
		spec_part_auto(r, item, problems);
	if ((item = node_get(node, "gpu_type")))
		spec_part_name(item, &r->gpu_type, problems);
	if ((item = node_get(node, "cpus")))
		r->cpus = spec_part_int(item, 1, 100000, 1, problems);
	if ((item = node_get(node, "memory")))
		r->memory_bytes = spec_part_memory(item, problems);
	if ((item = node_get(node, "time")))
		r->time_ms = spec_part_duration(item, problems);
	for (size_t i = 0; backend_table[i]; i++)
		for (const struct backend_key *key = backend_table[i]->keys; key && key->name; key++)
			if ((item = node_get(node, key->name)))
				spec_part_key(r, key, item, problems);
}

void spec_part_checkpoint(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"signal", "before_limit", NULL};
	static const char *const signals[] = {"USR1", "USR2", "TERM", "INT", "HUP", NULL};
	static const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP};
	if (!spec_part_map(node, known, problems))
		return;
	const struct node *signal = node_get(node, "signal"), *before = node_get(node, "before_limit");
	spec->resources.checkpoint_signal = signal ? numbers[spec_part_word(signal, signals, problems)] : SIGUSR1;
	spec->resources.signal_before_ms = before ? spec_part_duration(before, problems) : 120000;
}
