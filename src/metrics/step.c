/* The step of a row: the finest column that counts. Every row keeps its place: if that column does not grow or goes
 * back, the step still counts up, and `moved` says why: what is shown is not what the file has. */
#include "metrics/step.h"

#include "metrics/metrics.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Columns that count, the finest first. */
static const char *const step_names[] = {
	"total_timesteps",    "timesteps", "timestep", "global_step", "step",   "steps", "iteration", "iterations",
	"training_iteration", "iter",      "batch",    "batch_idx",   "update", "round", "episode",   "epoch",
	"generation",
};
/* From this one on a count is coarse: several rows may have the same. */
#define STEP_COARSE 13

/* A step beyond this is no count, and would not be exact in a double. */
#define STEP_MAX 9007199254740992.0
#define STEP_COUNT_MAX (INT64_MAX / 4)

static const char step_rows[] = "row";

/* The place in step_names; "time/total_timesteps" counts as what follows its last slash, "_step" of W&B as step. */
static size_t step_rank(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t rank = 0;
	if (slash)
		name = slash + 1;
	name += *name == '_';
	if (strcasecmp(name, "epoche") == 0) /* German */
		name = "epoch";
	while (rank < COUNT_OF(step_names) && strcasecmp(name, step_names[rank]) != 0)
		rank++;
	return rank;
}

bool metrics_is_count(const char *name)
{
	return step_rank(name) < COUNT_OF(step_names);
}

static bool step_is_whole(double value)
{
	return fabs(value) <= STEP_MAX && value == floor(value);
}

static uint32_t step_hash(const char *name)
{
	uint32_t hash = 2166136261u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

void metrics_step_restart(struct metrics_step *s)
{
	free(s->given.at);
	*s = (struct metrics_step){.rank = COUNT_OF(step_names), .still = SIZE_MAX, .epoch = NAN, .first_epoch = NAN};
}

void metrics_step_resume(struct metrics_step *s)
{
	s->begun = s->anew = false;
	s->offset = 0;
	s->given.len = 0;
}

/* What the columns that count say in this row. The finest one is the step; the epoch is kept beside it. Both go out of
 * the cells; a coarser count stays, as a metric. */
struct step_row {
	bool found; /* the row has the step's column */
	double value; /* what it says */
	double epoch; /* NAN: the row has none */
};

static size_t step_finest(const struct metrics_step *s, const struct metric *cells, size_t count)
{
	size_t best = s->rank;
	for (size_t i = 0; i < count; i++) {
		size_t rank = step_rank(cells[i].name);
		double value = cells[i].value;
		bool fits = !s->begun || (s->counts_rows ? rank < STEP_COARSE : value >= (double)s->last);
		if (rank < best && rank != s->still && fits && step_is_whole(value))
			best = rank;
	}
	return best;
}

static struct step_row step_take_out(struct metrics_step *s, struct metric *cells, size_t *count)
{
	struct step_row row = {.epoch = NAN};
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		size_t rank = step_rank(cells[i].name);
		bool epoch = rank < COUNT_OF(step_names) && strcmp(step_names[rank], "epoch") == 0;
		if (epoch && isnan(row.epoch))
			row.epoch = cells[i].value;
		if (rank == s->rank && rank < COUNT_OF(step_names) && !row.found && fabs(cells[i].value) <= STEP_MAX) {
			row.found = true;
			row.value = cells[i].value;
		} else if (!epoch && rank != s->still) {
			cells[kept++] = cells[i];
		}
	}
	*count = kept;
	return row;
}

/* Was one of these columns given at the last step already? */
static bool step_is_repeated(const struct metrics_step *s, const struct metric *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t hash = step_hash(cells[i].name);
		for (size_t k = 0; k < s->given.len; k++)
			if (s->given.at[k] == hash)
				return true;
	}
	return false;
}

static void step_remember(struct metrics_step *s, int64_t step, const struct metric *cells, size_t count)
{
	if (!s->begun || step != s->last)
		s->given.len = 0;
	for (size_t i = 0; i < count; i++)
		vec_push(&s->given, step_hash(cells[i].name));
	s->last = step;
	s->begun = true;
	s->anew = false;
}

/* The rows are counted from here on: the column that was chosen cannot tell them apart. An epoch that has a fraction says
 * by itself where the row belongs. */
static int64_t step_count(struct metrics_step *s, const struct step_row *row)
{
	bool fraction = row->found && !step_is_whole(row->value) && row->value == row->epoch;
	if (!s->counts_rows && s->name && !fraction)
		s->moved = STEP_ROWS;
	s->counts_rows = true;
	s->name = step_rows;
	return s->last + 1;
}

static int64_t step_next(struct metrics_step *s, enum step_moved why)
{
	s->moved = why;
	return s->last + 1;
}

/* A row whose count is the same as the last one's. */
static int64_t step_stands_still(struct metrics_step *s, const struct step_row *row)
{
	if (s->rank >= STEP_COARSE)
		return step_count(s, row);
	/* A column that never grew is no count, when the epoch does grow. */
	if (!s->grown && step_is_whole(row->epoch) && row->epoch > s->first_epoch && row->epoch > (double)s->last) {
		s->still = s->rank;
		while (strcmp(step_names[s->rank], "epoch") != 0)
			s->rank++;
		s->name = step_names[s->rank];
		s->raw = row->epoch;
		return (int64_t)row->epoch;
	}
	return step_next(s, STEP_AGAIN);
}

static int64_t step_of_row(struct metrics_step *s, const struct step_row *row, const struct metric *cells, size_t count)
{
	if (s->counts_rows || (row->found && !step_is_whole(row->value))) {
		s->raw = row->found ? row->value : s->raw;
		return step_count(s, row);
	}
	if (!row->found) /* sparse rows: it belongs to the step before */
		return !s->begun ? 0 : step_is_repeated(s, cells, count) ? step_next(s, STEP_BARE) : s->last;
	bool again = s->begun && row->value == s->raw && !s->anew, back = s->begun && row->value < s->raw;
	s->before = s->raw;
	s->raw = row->value;
	if (again)
		return step_is_repeated(s, cells, count) ? step_stands_still(s, row) : s->last;
	s->grown |= s->begun && row->value > s->before;
	int64_t step = (int64_t)row->value + s->offset;
	if (step > STEP_COUNT_MAX) { /* nonsense that goes up and down: no more counting on */
		s->offset = 0;
		return s->last;
	}
	if (s->begun && step <= s->last) {
		if (back || s->anew) /* a second fit() in the same file */
			s->offset += s->last + 1 - step;
		return step_next(s, back || s->anew ? STEP_BACK : STEP_AGAIN);
	}
	return step;
}

int64_t metrics_step_take(struct metrics_step *s, struct metric *cells, size_t *count)
{
	bool uncounted = s->rank == COUNT_OF(step_names);
	size_t finest = s->counts_rows && !uncounted ? s->rank : step_finest(s, cells, *count);
	if (finest < s->rank) {
		s->counts_rows = false;
		s->rank = finest;
		s->name = step_names[finest];
		s->grown = false;
		s->offset = 0;
		s->raw = -INFINITY;
	}
	struct step_row row = step_take_out(s, cells, count);
	if (!isnan(row.epoch))
		s->epoch = row.epoch;
	if (isnan(s->first_epoch))
		s->first_epoch = row.epoch;
	if (!*count)
		return s->last;
	s->moved = STEP_AS_WRITTEN;
	if (!s->name)
		step_count(s, &row);
	int64_t step = step_of_row(s, &row, cells, *count);
	step_remember(s, step, cells, *count);
	return step;
}

bool metrics_step_goes_on(const struct metrics_step *s, const struct metric *cells, size_t count)
{
	for (size_t i = 0; s->begun && s->rank < COUNT_OF(step_names) && i < count; i++)
		if (step_rank(cells[i].name) == s->rank)
			return cells[i].value > s->raw;
	return true;
}

bool metrics_step_goes_back(const struct metrics_step *s, const struct metric *cells, size_t count)
{
	for (size_t i = 0; s->begun && s->rank < COUNT_OF(step_names) && i < count; i++)
		if (step_rank(cells[i].name) == s->rank)
			return cells[i].value < s->raw;
	return false;
}

void metrics_step_absorb(struct metrics_step *s, const struct metrics_step *other)
{
	if (!other->begun || (s->begun && s->last >= other->last))
		return;
	s->last = other->last;
	s->begun = true;
	s->given.len = 0;
}

const char *metrics_step_column(const struct metrics_step *s)
{
	return s->rank < COUNT_OF(step_names) ? step_names[s->rank] : NULL;
}

double metrics_step_epoch(const struct metrics_step *s)
{
	return s->name && strcmp(s->name, "epoch") == 0 ? NAN : s->epoch;
}
