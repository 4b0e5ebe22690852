/* Functions of the CEC 2013 and CEC 2014 competitions on real-parameter optimization, written from
 * their technical reports (Liang, Qu, Suganthan, Hernández-Díaz 2013; Liang, Qu, Suganthan 2013). */
#ifndef CEC_H
#define CEC_H

#include <stdbool.h>

#ifndef CEC_DIMS
#define CEC_DIMS 10 /* search-verify-30 is built with 30 */
#endif

struct cec {
	int year, function;
	double bias; /* the value at the optimum */
	double shift[CEC_DIMS];
	double rotation[2][CEC_DIMS][CEC_DIMS];
};

/* Reads shift and rotation from the folder of the suites' data. 0, or -1 with a line on stderr. */
int cec_open(struct cec *f, const char *data, int year, int function);
double cec_value(const struct cec *f, const double *x);
/* Compares with the values in YEAR/vectors_dN.txt, N dimensions; the largest relative difference, or -1. */
double cec_check(const char *data, int year, int *ret_count);

#endif
