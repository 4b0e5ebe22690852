/* Several trainings in one output: folds of cross-validation, seeds, trials. Their curves must not become one. Those of the
 * first have the plain names, those of the others are called "fold 2 loss", "seed 7 loss". */
#ifndef METRICS_RUNS_H
#define METRICS_RUNS_H

#include "metrics/phrase.h"
#include "metrics/reader.h"

struct runs {
	double fold, first_fold; /* NAN: none was named */
	struct phrase_run now, first, next; /* next: was named, but nothing that it counts has come yet */
	double epoch, step; /* of the last row that counted; NAN */
	bool begun; /* a row was counted */
};

void runs_clear(struct runs *runs);
/* Takes the fold and the run that a line names. True: the counts of the lines before do not hold any more. */
bool runs_see(struct runs *runs, const struct phrase *phrase);
/* Names the pairs of a row by whose it is, and remarks that there are several. epoch, step: NAN, or the row's count. */
void runs_name(struct runs *runs, struct phrase *phrase, double epoch, double step, struct metrics_reader *reader);
/* Puts the text before the name of every pair. */
void runs_prefix(struct phrase *phrase, const char *prefix);

#endif
