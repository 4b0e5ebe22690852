/* The end of an item of a batch: the files that were needed to run it exactly once go. */
#ifndef SPOOL_BATCH_H
#define SPOOL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Removes descriptor, slot and claim of an attempt whose end is on disk in the store, its runner's output where that is
 * empty, and the folder with the last item of the batch. A runner that comes later finds no descriptor and runs nothing.
 * A second call is harmless; a file that cannot be removed is left. */
void spool_batch_forget(const char *batch_dir, uint32_t index);
/* Goes through the files in the folder of a batch that spool_batch_forget would remove. over: is this item over? It is
 * called for each file, so several times for an item. Where it is over, what a killed writer left half-written is removed
 * here; the caller forgets the item. */
typedef bool (*spool_over_f)(void *ctx, uint32_t index);
void spool_batch_look(const char *batch_dir, spool_over_f over, void *ctx);
/* Can this machine see the folder that batches are in? Then a batch or an item that is missing there is over. */
bool spool_batch_is_visible(const char *batch_dir);

#endif
