/* A state of a bar of tqdm: "Epoch 3:  50%|##   | 5/10 [00:01<00:01, 4.2it/s, loss=0.5]". */
#ifndef METRICS_BAR_H
#define METRICS_BAR_H

#include <stdbool.h>
#include <stddef.h>

struct bar {
	const char *desc, *shown; /* "Epoch 3", " loss=0.5" */
	size_t desc_len, shown_len;
	double at, of; /* NAN: not known */
};

/* False: the line is no bar. The texts are within the line. */
bool bar_read(const char *text, size_t len, struct bar *ret);

#endif
