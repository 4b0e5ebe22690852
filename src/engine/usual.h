/* What a metric is by its name: a result on data that the training does not see, or one of the training itself. Case does
 * not matter, nor what stands between words: "Val Loss", eval_loss and validation/loss are the same. */
#ifndef ENGINE_USUAL_H
#define ENGINE_USUAL_H

#include "base/metric.h"

#include <stdbool.h>
#include <stddef.h>

/* The order in which an objective is chosen where the user names none. */
enum usual {
	USUAL_VAL_LOSS,
	USUAL_TEST_LOSS,
	USUAL_VAL_ACCURACY,
	USUAL_VAL_OTHER,
	USUAL_TEST_OTHER,
	USUAL_REWARD, /* from here on the training's own */
	USUAL_LOSS,
	USUAL_TRAIN_LOSS,
	USUAL_ACCURACY,
	USUAL_OTHER, /* another metric: reward, train_acc */
	USUAL_NONE, /* lr, length: nothing says that it is a result */
};
enum usual usual_of(const char *name);
/* The metric that comes first in that order, else the first that does not count; NULL: there is none. */
const char *usual_choose(const struct metric *metrics, size_t count);

#endif
