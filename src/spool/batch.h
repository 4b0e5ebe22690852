/* Removes the files of an ended item of a batch, which were needed to run it exactly once. */
#ifndef SPOOL_BATCH_H
#define SPOOL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Removes the descriptor, slot and claim of an attempt whose end is in the store, and its runner's output if that is
 * empty. With the last item of the batch it also removes the folder. A runner that starts later finds no descriptor and
 * runs nothing. A second call is safe; a file that cannot be removed stays. */
void spool_batch_forget(const char *batch_dir, uint32_t index);
/* Goes through the files in the folder of a batch that spool_batch_forget would remove. over: returns true if this item
 * has ended. It is called for each file, so several times for an item. This function removes what another daemon, which
 * is dead, left unfinished, and for an ended item what its runner left; the caller forgets the item. */
typedef bool (*spool_over_f)(void *ctx, uint32_t index);
void spool_batch_look(const char *batch_dir, spool_over_f over, void *ctx);
/* True if this machine can see the folder with the batches. Then a batch or item that is missing there has ended. */
bool spool_batch_is_visible(const char *batch_dir);

#endif
