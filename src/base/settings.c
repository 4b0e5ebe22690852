/* See settings.h. */
#include "base/settings.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>

#define SETTINGS_BYTES 65536

/* The sections; each is checked where it is read. */
static const char *const settings_sections[] = {"energy", "scripts", "web", NULL};

int settings_check_keys(const struct node *map, const char *name, const char *const *known, struct error *err)
{
	for (size_t i = 0; map && map->type == NODE_MAP && i < map->count; i++) {
		const char *key = map->items[i]->key, *nearest = known[0];
		bool there = false;
		for (size_t k = 0; known[k]; k++) {
			there |= strcmp(known[k], key) == 0;
			if (text_distance(known[k], key) < text_distance(nearest, key))
				nearest = known[k];
		}
		if (!there)
			return errorf(err, -EINVAL, "there is no setting %s%s%.60s; did you mean %s?", name,
				      *name ? "." : "", key, nearest);
	}
	return 0;
}

int settings_read(const char *state_dir, struct node **ret, struct error *err)
{
	struct buf text = buf_make(SETTINGS_BYTES);
	struct node *document = NULL;
	struct error why = {0};
	char *path = mem_printf("%s/settings.yaml", state_dir);
	int rc = fs_read_regular(path, SETTINGS_BYTES, &text, &why);
	if (rc == 0)
		rc = node_parse_yaml(buf_text(&text), text.len, &document, &why);
	if (rc == 0)
		rc = settings_check_keys(document, "", settings_sections, &why);
	if (rc < 0 && rc != -ENOENT)
		(void)errorf(err, rc, "%s: %s", path, why.text);
	else
		rc = 0;
	if (rc == 0)
		*ret = document;
	else
		node_free(document);
	buf_free(&text);
	free(path);
	return rc;
}
