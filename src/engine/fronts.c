/* Pareto fronts, with the tasks that no other task beats in every respect: for several objectives, and for the first
 * objective against the time that a task took. */
#include "engine/analysis.h"

#include "search/pareto.h"

#include <math.h>

/* One picture of two or more axes. */
struct analysis_front {
	size_t axes;
	const char **names;
	bool *maximise;
	VEC(double) rows; /* minimised */
	VEC(const struct analysis_run *) runs;
};

static void front_add(struct analysis_front *f, const struct analysis_run *run, const double *values)
{
	for (size_t i = 0; i < f->axes; i++)
		if (!isfinite(values[i]))
			return;
	for (size_t i = 0; i < f->axes; i++)
		vec_push(&f->rows, f->maximise[i] ? -values[i] : values[i]);
	vec_push(&f->runs, run);
}

/* The hypervolume below a point a tenth beyond the worst of either of two axes, which is said with it. */
static void front_write_volume(const struct analysis_front *f, const struct pareto_front *front, struct json *out)
{
	double reference[2];
	if (f->axes != 2 || !f->runs.len) {
		json_key_null(out, "hypervolume");
		json_key_null(out, "reference");
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		double least = INFINITY, most = -INFINITY;
		for (size_t k = 0; k < f->runs.len; k++) {
			least = fmin(least, f->rows.at[2 * k + i]);
			most = fmax(most, f->rows.at[2 * k + i]);
		}
		reference[i] = most + (most > least ? (most - least) / 10 : 1);
	}
	json_key_real(out, "hypervolume", pareto_hypervolume(front->scores.at, front->ids.len, 2, reference));
	json_key(out, "reference");
	json_list(out);
	for (size_t i = 0; i < 2; i++)
		json_put_real(out, f->maximise[i] ? -reference[i] : reference[i]);
	json_end(out);
}

static void front_write_points(const struct analysis_front *f, const bool *on_front, struct json *out)
{
	size_t stride = (f->runs.len + ANALYSIS_POINTS - 1) / ANALYSIS_POINTS;
	json_key(out, "points");
	json_list(out);
	for (size_t i = 0; i < f->runs.len; i++) {
		if (!on_front[i] && i % stride)
			continue;
		json_map(out);
		json_key_int(out, "task", f->runs.at[i]->number);
		json_key(out, "values");
		json_list(out);
		for (size_t k = 0; k < f->axes; k++) {
			double value = f->rows.at[f->axes * i + k];
			json_put_real(out, f->maximise[k] && value != 0 ? -value : value);
		}
		json_end(out);
		json_key_bool(out, "front", on_front[i]);
		if (f->runs.at[i]->beyond)
			json_key_bool(out, "beyond", true);
		if (on_front[i])
			json_key_raw(out, "parameters", f->runs.at[i]->parameters);
		json_end(out);
	}
	json_end(out);
}

static void front_write(const struct analysis_front *f, struct json *out)
{
	struct pareto_front front = {.objectives = f->axes};
	bool *on_front = mem_alloc(f->runs.len + 1);
	for (size_t i = 0; i < f->runs.len; i++)
		if (!f->runs.at[i]->beyond)
			pareto_add(&front, &f->rows.at[f->axes * i], i);
	for (size_t i = 0; i < front.ids.len; i++)
		on_front[front.ids.at[i]] = true;
	json_map(out);
	json_key(out, "axes");
	json_list(out);
	for (size_t i = 0; i < f->axes; i++) {
		json_map(out);
		json_key_string(out, "name", f->names[i]);
		json_key_string(out, "goal", f->maximise[i] ? "max" : "min");
		json_end(out);
	}
	json_end(out);
	json_key_int(out, "runs", (int64_t)f->runs.len);
	front_write_volume(f, &front, out);
	front_write_points(f, on_front, out);
	json_end(out);
	pareto_clear(&front);
	free(on_front);
}

static struct analysis_front front_new(size_t axes)
{
	return (struct analysis_front){
		.axes = axes,
		.names = mem_array(axes, sizeof(char *)),
		.maximise = mem_array(axes, sizeof(bool)),
	};
}

static void front_free(struct analysis_front *f)
{
	free(f->names);
	free(f->maximise);
	free(f->rows.at);
	free(f->runs.at);
}

static int compare_configurations(const void *a, const void *b)
{
	const struct analysis_run *x = a, *y = b;
	int order = strcmp(x->parameters, y->parameters);
	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct analysis_run *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The repeats of a configuration as one run: the means, under the number of the first. A lucky seed is no better
 * configuration. The caller frees the list and its scores; the rest belongs to `runs`. */
static struct analysis_run *front_merge(const struct analysis_run *runs, size_t count, size_t objectives, size_t *ret)
{
	struct analysis_run *merged = mem_array(count + 1, sizeof(*merged));
	size_t used = 0;
	if (count)
		memcpy(merged, runs, count * sizeof(*merged));
	qsort(merged, count, sizeof(*merged), compare_configurations);
	for (size_t i = 0, next; i < count; i = next) {
		struct analysis_run one = merged[i];
		one.scores = mem_array(objectives + 1, sizeof(double));
		one.time_s = 0;
		for (next = i; next < count && strcmp(merged[next].parameters, one.parameters) == 0; next++) {
			for (size_t k = 0; k < objectives; k++)
				one.scores[k] += merged[next].scores[k];
			one.time_s += merged[next].time_s;
			one.beyond = one.beyond || merged[next].beyond;
		}
		for (size_t k = 0; k < objectives; k++)
			one.scores[k] /= (double)(next - i);
		one.time_s /= (double)(next - i);
		merged[used++] = one;
	}
	qsort(merged, used, sizeof(*merged), compare_numbers);
	*ret = used;
	return merged;
}

static void front_write_objectives(const struct spec *spec, const struct analysis_run *runs, size_t count,
				   struct json *out)
{
	struct analysis_front f = front_new(spec->objective_count);
	for (size_t i = 0; i < f.axes; i++) {
		f.names[i] = spec->objectives[i].metric;
		f.maximise[i] = spec->objectives[i].maximise;
	}
	for (size_t i = 0; i < count; i++)
		front_add(&f, &runs[i], runs[i].scores);
	front_write(&f, out);
	front_free(&f);
}

static void front_write_time(const struct spec *spec, const struct analysis_run *runs, size_t count, struct json *out)
{
	struct analysis_front f = front_new(2);
	f.names[0] = spec->objectives[0].metric;
	f.names[1] = "time_s";
	f.maximise[0] = spec->objectives[0].maximise;
	for (size_t i = 0; i < count; i++)
		front_add(&f, &runs[i], (double[]){runs[i].scores[0], runs[i].time_s});
	front_write(&f, out);
	front_free(&f);
}

bool analysis_write_front(const struct spec *spec, const struct analysis_run *runs, size_t count, size_t which,
			  struct json *out)
{
	size_t first = spec->objective_count > 1 ? 0 : 1; /* one objective has no front of its own */
	if (!spec->objective_count || which + first > 1)
		return false;
	struct analysis_run *merged = NULL;
	if (spec->repeats > 1)
		runs = merged = front_merge(runs, count, spec->objective_count, &count);
	(which + first ? front_write_time : front_write_objectives)(spec, runs, count, out);
	for (size_t i = 0; merged && i < count; i++)
		free(merged[i].scores);
	free(merged);
	return true;
}
