/* A printed line as text: where it ends, what a terminal or a logger added, and what tells it from another. */
#ifndef METRICS_LINE_H
#define METRICS_LINE_H

#include "base/buf.h"

#include <stdint.h>

uint32_t line_hash(const char *text, size_t len);
/* What tells one redrawn line from another: all up to its first number. */
uint32_t line_key(const char *text, size_t len);
/* How many bytes there are before the first newline, carriage return or backspace. */
size_t line_find_end(const char *data, size_t len);
bool line_is_blank(const char *text, size_t len);
/* Removes what colours a terminal and writes minus signs as such; other control characters become spaces, tabs stay. */
void line_clean(const char *text, size_t len, struct buf *out);
/* "I1002 21:43:14.805023 139917864867392 logging_writer.py:35] ": what glog and absl print before a message. */
size_t line_skip_glog(const char *text, size_t len);
/* How R prints a text: [1] "epoch 3 loss 0.5". Returns the length of what stands before the text, with *len as that up to
 * the closing quote; else 0. */
size_t line_skip_r(const char *text, size_t *len);
/* "[1,3]<stdout>:", which mpirun prints before what process 3 prints. */
size_t line_skip_tag(const char *text, size_t len, double *ret_rank);

#endif
