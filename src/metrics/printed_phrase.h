/* One line of a script's output as a phrase, where it is more than a phrase: a dictionary, a logger's message, a line of a
 * boosting library. Only printed.c uses this. */
#ifndef METRICS_PRINTED_PHRASE_H
#define METRICS_PRINTED_PHRASE_H

#include "metrics/phrase.h"

#define PRINTED_EPOCHS_MAX 1e9 /* more are no plan, but a time */

/* Reads the line. False: it is no report. */
bool printed_read_phrase(struct phrase *phrase, const char *text, size_t len);
/* Does the line say itself where its numbers belong? */
bool printed_has_count(const struct phrase *phrase);
/* True when the line is one of the boosting libraries: "[12]\ttrain-rmse:0.1\tvalid-rmse:0.2". */
bool printed_is_boosting(const struct phrase *phrase, const char *text, size_t len);
/* LightGBM calls a metric "valid_0's auc"; XGBoost has "valid-auc". Both are kept as XGBoost writes them. */
void printed_name_boosting(struct phrase *phrase);

#endif
