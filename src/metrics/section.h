/* Lines that say whose the numbers below them are: "[TRAIN]", "--- Validation ---", "Evaluating...". */
#ifndef METRICS_SECTION_H
#define METRICS_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#define SECTION_BYTES 24

/* True: the line is such a heading, and *ret is its word for the part of the data ("TRAIN"). */
bool section_read(const char *text, size_t len, char ret[SECTION_BYTES]);

#endif
