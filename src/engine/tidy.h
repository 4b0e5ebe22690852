/* Removes what settled attempts left in their batch folders. All of it happens after the commit. */
#ifndef ENGINE_TIDY_H
#define ENGINE_TIDY_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_live;

/* An attempt whose end is committed: its files in the batch folder are no longer needed. */
struct engine_untidy {
	char *batch_dir;
	uint32_t index;
};

/* A folder that may have files of attempts that ended before the daemon started. */
struct engine_unlooked {
	char *dir;
	bool is_batch; /* else the folder of an experiment */
};

/* Puts the attempt on the list. */
void engine_add_untidy(struct engine *engine, const struct engine_live *live);
/* At the start: puts the folders of all experiments on the list. A daemon that was killed between a commit and the removal
 * left the files of a few attempts in some of them. */
void engine_find_untidy(struct engine *engine);
/* Removes the files of what is on the lists, some each turn. */
void engine_tidy(struct engine *engine);
/* Frees the lists; what they name stays on disk. */
void engine_forget_untidy(struct engine *engine);

#endif
