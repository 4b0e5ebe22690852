/* Values that may be of the epoch behind them: "val loss: 0.6", "epoch 1 loss 0.5", "val loss: 0.5", "epoch 2 loss 0.4".
 * Whether the first one is of before the training, and each of the others of the epoch before it, or each of the epoch
 * behind it, is not known before the end. */
#ifndef METRICS_EARLY_H
#define METRICS_EARLY_H

#include "metrics/counted.h"
#include "metrics/phrase.h"

struct early {
	char name[LIMIT_METRIC_NAME_BYTES + 1]; /* came without a count before the first one already; "": none did */
	struct counted_at at; /* under which count it was shown last */
	size_t rows; /* under counts */
	size_t counts; /* different ones so far */
};

/* Another count begins, or the same goes on. */
void early_count(struct early *early, struct counted_at before, struct counted_at now);
/* A line without a count is shown under this one. begins: its first name came before any count, too. */
void early_see(struct early *early, const struct phrase *phrase, struct counted_at at, bool begins);
/* At the end: is each of these values perhaps of the count behind it? */
bool early_is_behind(const struct early *early, struct counted_at last);
void early_clear(struct early *early);

#endif
