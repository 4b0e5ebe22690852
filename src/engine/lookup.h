/* What the tasks of an experiment will find on this machine: their Python, and which modules it lacks. Only files are read,
 * but these may lie on a file system that takes long or does not answer: never call it in the loop. */
#ifndef ENGINE_LOOKUP_H
#define ENGINE_LOOKUP_H

#include "base/json.h"

struct node;
struct spec;

struct lookup {
	const struct spec *spec;
	const struct node *files; /* those that came along */
	const struct node *beside; /* paths of more that will; NULL */
	const struct node *caller; /* of the request; NULL */
	const char *state_dir;
	bool elsewhere; /* the tasks run where others start them: what they find is not known here */
};

/* Adds warnings to the open list, ends the list, and writes the members "lacks" and "environment" of the map around it. May
 * be called on any thread while nothing of the lookup changes. */
void lookup_write(const struct lookup *lookup, struct json *out);

#endif
