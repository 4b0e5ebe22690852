/* The folders of this machine from which the form may take scripts: `scripts: {folders: [~/work]}` in settings.yaml.
 * Nothing outside them is read, no link is followed below them, and nothing is shown that is no script: no hidden file,
 * no file of sluice's own state, no data. Everything here may wait for a disk: call it on libuv's pool. */
#ifndef HTTP_FOLDERS_H
#define HTTP_FOLDERS_H

#include "base/buf.h"
#include "base/error.h"

#define FOLDERS_MAX 32
#define FOLDERS_SCRIPT_BYTES (1u << 20) /* as much as the form accepts */
#define FOLDERS_ENTRIES 2000 /* of one folder: more than anyone looks through */

struct folders {
	char *list[FOLDERS_MAX]; /* absolute, without a slash at the end */
	size_t count;
};

/* Reads the setting; "~/" is `home`. No such setting: none. -EINVAL with a text. */
struct node;
int folders_parse(const struct node *settings, const char *home, struct folders *ret, struct error *err) MUST_USE;
void folders_free(struct folders *folders);
bool folders_has(const struct folders *folders, const char *folder);

/* Opens `path` below an allowed folder; "" is the folder itself. No part may be hidden or a link, and neither the
 * folder nor a part may be or lie in `state_dir`. A descriptor, or a negative errno with a text. */
int folders_open(const char *folder, const char *path, bool is_folder, const char *state_dir,
		 struct error *err) MUST_USE;
/* {"folder","path","items":[{"name","kind","bytes"}],"more"}: the folders and scripts in a folder, the first
 * FOLDERS_ENTRIES by name. */
struct json;
int folders_write_list(const char *folder, const char *path, const char *state_dir, struct json *out,
		       struct error *err) MUST_USE;
/* {"name","text","mode","files":[{"path","text"}]}: a script, and the modules beside it that it imports. -E2BIG when they
 * are too many. */
int folders_write_script(const char *folder, const char *path, const char *state_dir, struct json *out,
			 struct error *err) MUST_USE;

#endif
