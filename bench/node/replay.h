/* Replays a recorded run through the rules for runs that hang (model/stall.h): the rows and samples of its journal, at the
 * times at which they came. A short run stands for a long one when its times are stretched. */
#ifndef BENCH_NODE_REPLAY_H
#define BENCH_NODE_REPLAY_H

#include "model/stall.h"

struct replay {
	size_t rows, samples, judged; /* judged: samples at which a verdict was possible */
	int64_t length_ms; /* stretched */
	enum stall_kind kind; /* the first alarm; STALL_NONE: none */
	int64_t alarm_ms; /* when, since its start */
};

/* 0 or a negative errno. */
int replay_journal(const char *path, double stretch, struct replay *ret);

#endif
