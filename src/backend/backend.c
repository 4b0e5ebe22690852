/* The table of backends: adding one is one file and one line here. */
#include "backend/backend.h"

#include "backend/external.h"
#include "backend/local.h"
#include "backend/slurm.h"

const struct backend_ops *const backend_table[] = {
	&backend_local,
	&backend_slurm,
	&backend_external,
	NULL,
};

bool backend_key_is_set(const struct backend_key *key, const struct backend_resources *resources)
{
	const char *field = (const char *)resources + key->offset;
	switch (key->kind) {
	case BACKEND_KEY_WORD:
	case BACKEND_KEY_TEXT: return *(char *const *)field != NULL;
	case BACKEND_KEY_WORDS: return *(char **const *)field != NULL;
	case BACKEND_KEY_COUNT: return *(const int64_t *)field != 0;
	case BACKEND_KEY_FLAG: return *(const bool *)field;
	}
	return false;
}

void backend_write_keys(const struct backend_ops *ops, struct json *out)
{
	static const char *const kinds[] = {[BACKEND_KEY_WORD] = "word",
					    [BACKEND_KEY_TEXT] = "text",
					    [BACKEND_KEY_WORDS] = "words",
					    [BACKEND_KEY_COUNT] = "count",
					    [BACKEND_KEY_FLAG] = "flag"};
	json_list(out);
	for (const struct backend_key *key = ops->keys; key && key->name; key++) {
		json_map(out);
		json_key_string(out, "name", key->name);
		json_key_string(out, "kind", kinds[key->kind]);
		json_key_string(out, "title", key->title);
		json_key_string(out, "help", key->help);
		json_end(out);
	}
	json_end(out);
}
