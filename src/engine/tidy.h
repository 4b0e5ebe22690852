/* What a settled attempt leaves in its batch folder. All of it after the commit. */
#ifndef ENGINE_TIDY_H
#define ENGINE_TIDY_H

#include <stdint.h>

struct engine;
struct engine_live;

/* An attempt whose end is committed: its files in the batch folder are no longer needed. */
struct engine_untidy {
	char *batch_dir;
	uint32_t index;
};

/* Puts the attempt on the list. */
void engine_add_untidy(struct engine *engine, const struct engine_live *live);
/* Removes the files of what is on the list, some each turn. */
void engine_tidy(struct engine *engine);
/* Frees the list; what it names stays on disk. */
void engine_forget_untidy(struct engine *engine);

#endif
