/* One value of one metric, as it travels from a script's file through the journal to the store. */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

struct metric {
	const char *name;
	double value; /* may be NAN or infinite */
};

#endif
