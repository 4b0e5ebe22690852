/* The functions of search-compare: see functions.h. */
#include "functions.h"

#include <math.h>
#include <string.h>

#define SQUARE(x) ((x) * (x))
#define R(i) (v[i].real)

static double sphere(const struct space_value *v)
{
	return SQUARE(R(0) - .3) + SQUARE(R(1) - .7) + SQUARE(R(2) - .2) + SQUARE(R(3) - .6);
}

static double branin(const struct space_value *v)
{
	double x = R(0), y = R(1), b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI;
	return SQUARE(y - b * x * x + c * x - 6) + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10 - 0.397887;
}

static double rastrigin(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 5; i++)
		sum += SQUARE(R(i)) + 10 - 10 * cos(2 * M_PI * R(i));
	return sum;
}

static double rosenbrock(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 5; i++)
		sum += 100 * SQUARE(R(i + 1) - SQUARE(R(i))) + SQUARE(1 - R(i));
	return sum;
}

/* A validation loss: a bowl in the logarithm of the learning rate whose place depends on the optimizer
 * and the batch size, a little for everything else, and divergence far to the right. */
static double training(const struct space_value *v)
{
	bool sgd = v[3].text[0] == 's';
	double lr = log10(R(0)), best = (sgd ? -1.5 : -3) + 0.3 * log2(R(1) / 64);
	if (lr > best + 1.5)
		return NAN;
	double loss = 0.25 * SQUARE(lr - best) + 0.02 * SQUARE(log2(R(2)) - 7) + 0.5 * SQUARE(R(5) - 0.2);
	loss += sgd ? 0.4 * SQUARE(R(4) - 0.9) : v[3].text[0] == 'r' ? 0.05 : 0.02;
	loss += v[6].text[0] == 'g' ? 0 : v[6].text[0] == 'r' ? 0.01 : 0.1;
	return loss;
}

static double categories(const struct space_value *v)
{
	static const char best[] = "cabdacbd";
	double sum = 0;
	for (int i = 0; i < 8; i++)
		sum += v[i].text[0] != best[i];
	for (int i = 0; i + 1 < 8; i++)
		sum += 0.5 * (v[i].text[0] != best[i] && v[i + 1].text[0] != best[i + 1]);
	return sum;
}

/* Rastrigin's and Ackley's with many local optima, Rosenbrock's valley, in twenty dimensions. */
static double rastrigin20(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 20; i++)
		sum += SQUARE(R(i)) + 10 - 10 * cos(2 * M_PI * R(i));
	return sum;
}

static double ackley20(const struct space_value *v)
{
	double squares = 0, waves = 0;
	for (int i = 0; i < 20; i++) {
		squares += SQUARE(R(i) - 1) / 20;
		waves += cos(2 * M_PI * (R(i) - 1)) / 20;
	}
	return 20 - 20 * exp(-0.2 * sqrt(squares)) + exp(1) - exp(waves);
}

static double rosenbrock20(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 19; i++)
		sum += 100 * SQUARE(R(i + 1) - SQUARE(R(i))) + SQUARE(1 - R(i));
	return sum;
}

/* A real, a logarithmic, a whole, a stepped and a categorical parameter; the best place of the first depends on the
 * category, and ripples lie over the second. `many` of them, with other best places. */
static double mixture(const struct space_value *v, int many)
{
	double sum = 0;
	for (int k = 0; k < many; k++, v += 5) {
		double shift = 0.1 * k, rate = log10(R(1)) + 3 - 0.3 * k;
		bool wrong = v[4].text[0] != "cabd"[k];
		sum += SQUARE(R(0) - 0.3 - shift - (wrong ? 0.2 : 0)) + 0.1 * SQUARE(rate) +
			0.02 * (1 - cos(6 * M_PI * rate));
		sum += 0.002 * SQUARE(R(2) - 20 - 5 * k) + SQUARE(R(3) - 0.4 - shift);
		sum += wrong ? 0.1 : 0;
	}
	return sum;
}

static double mixed5(const struct space_value *v)
{
	return mixture(v, 1);
}

static double mixed20(const struct space_value *v)
{
	return mixture(v, 4);
}

/* A bowl in forty dimensions, a hundred times as steep along the last as along the first. */
static double bowl40(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 40; i++)
		sum += pow(100, i / 39.0) * SQUARE(R(i) - 0.5 - 0.4 * sin(i + 1));
	return sum;
}

/* The least lies at an edge beyond which everything fails: two thirds of the space. */
static double failing5(const struct space_value *v)
{
	if (R(0) + R(1) > 1.1 || R(2) < 0.3 || SQUARE(R(3) - 0.2) + SQUARE(R(4) - 0.2) > 0.36)
		return NAN;
	return 1.1 - R(0) - R(1) + SQUARE(R(0) - 0.4) + 2 * (R(2) - 0.3) + SQUARE(R(3) - 0.3) + SQUARE(R(4) - 0.6);
}

/* Fourteen places with five choices each; what one is worth depends on its neighbour. */
static double places14(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 14; i++) {
		unsigned own = (unsigned)v[i].text[0] - 'a', next = (unsigned)v[(i + 1) % 14].text[0] - 'a';
		unsigned mixed = (own * 7919u + (unsigned)i * 104729u) % 97u;
		sum += mixed / 97.0 + ((own * 5u + next + (unsigned)i) * 2654435761u % 89u) / 178.0;
	}
	return sum;
}

#define UNIT(name) name ": {min: 0.0, max: 1.0}\n"
#define FIVE(name) name ": {min: -5.12, max: 5.12}\n"
#define LETTER(name) name ": [a, b, c, d]\n"
#define TWENTY(x)                                                                                                      \
	x("a") x("b") x("c") x("d") x("e") x("f") x("g") x("h") x("i") x("j") x("k") x("l") x("m") x("n") x("o")       \
		x("p") x("q") x("r") x("s") x("t")
#define FORTY(x)                                                                                                       \
	TWENTY(x)                                                                                                      \
	x("a1") x("b1") x("c1") x("d1") x("e1") x("f1") x("g1") x("h1") x("i1") x("j1") x("k1") x("l1") x("m1")        \
		x("n1") x("o1") x("p1") x("q1") x("r1") x("s1") x("t1")
#define OPERATION(name) name ": [a, b, c, d, e]\n"
#define TWO(name) name ": {min: -2.0, max: 2.0}\n"
#define MIXED(k)                                                                                                       \
	"r" k ": {min: 0.0, max: 1.0}\nl" k ": {min: 1e-6, max: 1.0, scale: log}\nn" k                                 \
	": {min: 0, max: 63, type: int}\n"                                                                             \
	"s" k ": {min: 0.0, max: 1.0, step: 0.05}\nc" k ": [a, b, c, d]\n"

const struct function functions[] = {
	{"sphere4", UNIT("a") UNIT("b") UNIT("c") UNIT("d"), sphere, 0},
	{"branin", "a: {min: -5.0, max: 10.0}\nb: {min: 0.0, max: 15.0}\n", branin, 0},
	{"rastrigin5", FIVE("a") FIVE("b") FIVE("c") FIVE("d") FIVE("e"), rastrigin, 0},
	{"rosenbrock6", FIVE("a") FIVE("b") FIVE("c") FIVE("d") FIVE("e") FIVE("f"), rosenbrock, 0},
	{"training7",
	 "lr: {min: 1e-6, max: 1.0, scale: log}\nbatch: [8, 16, 32, 64, 128, 256]\nunits: {min: 16, max: 512, step: 16}\n"
	 "optimizer: [adam, sgd, rmsprop]\nmomentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\n"
	 "dropout: {min: 0.0, max: 0.6}\nact: [relu, gelu, tanh]\n",
	 training, 0},
	{"categories8", LETTER("a") LETTER("b") LETTER("c") LETTER("d") LETTER("e") LETTER("f") LETTER("g") LETTER("h"),
	 categories, 0},
	{"mixed5", MIXED("0"), mixed5, 0},
	{"noisy5", MIXED("0"), mixed5, 0.05},
	{"mixed20", MIXED("0") MIXED("1") MIXED("2") MIXED("3"), mixed20, 0},
	{"noisy20", MIXED("0") MIXED("1") MIXED("2") MIXED("3"), mixed20, 0.1},
	{"rastrigin20", TWENTY(FIVE), rastrigin20, 0},
	{"ackley20", TWENTY(FIVE), ackley20, 0},
	{"rosenbrock20", TWENTY(TWO), rosenbrock20, 0},
	{"bowl40", FORTY(UNIT), bowl40, 0},
	{"failing5", UNIT("a") UNIT("b") UNIT("c") UNIT("d") UNIT("e"), failing5, 0},
	{"places14",
	 OPERATION("a") OPERATION("b") OPERATION("c") OPERATION("d") OPERATION("e") OPERATION("f") OPERATION("g")
		 OPERATION("h") OPERATION("i") OPERATION("j") OPERATION("k") OPERATION("l") OPERATION("m")
			 OPERATION("n"),
	 places14, 0},
	{0},
};
