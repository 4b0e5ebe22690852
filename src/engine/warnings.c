/* See warnings.h. */
#include "engine/warnings.h"

#include "space/space_hint.h"
#include "store/rows.h"

/* Keys that only another backend understands, where the backend was chosen by name. */
static void warnings_of_keys(const struct spec *spec, warnings_f each, struct json *out)
{
	for (size_t i = 0; strcmp(spec->backend, "auto") != 0 && backend_table[i]; i++) {
		const struct backend_key *key = backend_table[i]->keys;
		for (; strcmp(spec->backend, backend_table[i]->name) != 0 && key && key->name; key++) {
			if (!backend_key_is_set(key, &spec->resources))
				continue;
			char *text = mem_printf("%s has no effect: only the backend %s understands it", key->name,
						backend_table[i]->name);
			each(out, STORE_WARNS_SETTING, text);
			free(text);
		}
	}
}

void warnings_each(const struct spec *spec, warnings_f each, struct json *out)
{
	if (!spec->objective_count)
		each(out, STORE_WARNS_UNSET,
		     "no objective is set: sluice takes val_loss, or else the first metric that appears");
	for (size_t i = 0; i < spec->cautions.len; i++)
		each(out, STORE_WARNS_SETTING, spec->cautions.at[i]);
	if (spec->resources.gpu_type && !spec->resources.gpus)
		each(out, STORE_WARNS_SETTING, "gpu_type has no effect without gpus");
	warnings_of_keys(spec, each, out);
	for (size_t i = 0; i < spec->space->count; i++) {
		const struct space_param *param = &spec->space->params[i];
		if (param->kind != SPACE_CONSTANT || param->choices[0].kind != SPACE_VALUE_TEXT ||
		    !space_looks_like_values(param->choices[0].text))
			continue;
		char *text = mem_printf(
			"%s is a single text, '%.60s'; in a file, write a list as [64, 32] and a range as {min: 1, max: 9}",
			param->name, param->choices[0].text);
		each(out, STORE_WARNS_SETTING, text);
		free(text);
	}
}
