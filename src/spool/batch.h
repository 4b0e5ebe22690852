/* The end of an item of a batch: the files that were needed to run it exactly once go. */
#ifndef SPOOL_BATCH_H
#define SPOOL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Removes descriptor, slot and claim of an attempt whose end is on disk in the store, its runner's output where that is
 * empty, and the folder with the last item of the batch. A runner that comes later finds no descriptor and runs nothing.
 * A second call is harmless; a file that cannot be removed is left. */
void spool_batch_forget(const char *batch_dir, uint32_t index);
/* Can this machine see the folder that batches are in? Then a batch or an item that is missing there is over. */
bool spool_batch_is_visible(const char *batch_dir);

#endif
