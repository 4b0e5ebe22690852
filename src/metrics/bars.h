/* The bars of tqdm that a script draws. Of a bar over the batches of an epoch the last state counts. A bar over the epochs
 * or the steps themselves ("Epochs: 20%|...", "Steps: 20%|...") has a state for each that is drawn. So has the only bar of a
 * script: it is over what the script counts; that is known at the end. */
#ifndef METRICS_BARS_H
#define METRICS_BARS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a bar showed; epoch, step: the count that the bar stands for, or NAN. */
typedef void (*bars_give_f)(void *ctx, const char *text, size_t len, double epoch, double step);

struct bars {
	bars_give_f give;
	void *ctx;
	struct buf end; /* of a bar that is through, and was not given yet; empty: none */
	uint32_t key;
	double at;
	struct buf counted; /* the last state of a bar over epochs or steps; empty: none */
	bool by_step, lead; /* lead: at 0 it showed the first one already */
	double counted_at, given; /* where that was; the last that was given */
	struct buf lone; /* the states of the first bar: lines with where it was and what it showed */
	bool several; /* it is not the only one */
};

void bars_open(struct bars *bars, size_t max, bars_give_f give, void *ctx);
/* True when the piece of a line is a bar. */
bool bars_take(struct bars *bars, const char *text, size_t len);
/* Gives what the bar showed at its end, if it is through: what follows is not of it. */
void bars_end(struct bars *bars);
/* The output has ended. `counts`: lines besides the bars said when. */
void bars_finish(struct bars *bars, bool counts);
void bars_clear(struct bars *bars);
void bars_free(struct bars *bars);

#endif
