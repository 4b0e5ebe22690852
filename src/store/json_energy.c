/* What tasks have cost in energy, by state, strategy and source: see json.h. Where the tariff is one value the sums come
 * from the tally; where it differs by the hour, tasks are grouped by the hours in which they ran. */
#include "base/clock.h"
#include "base/tariff.h"
#include "store/json_row.h"
#include "store/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ?1 0: all experiments. Both give the same columns, in the order that energy_read_row expects. */
static const char sql_flat[] =
	"SELECT e.strategy, y.state, y.source, y.tasks, y.with_energy, y.energy_j, 0, 0, e.id, y.wall_ms, y.with_gpu, y.gpu_ms "
	"FROM tally y JOIN experiment e ON e.id = y.experiment AND e.removing = 0 "
	"WHERE y.tasks > 0 AND (?1 = 0 OR y.experiment = ?1) ORDER BY e.id DESC";
static const char sql_hours[] =
	"SELECT e.strategy, t.state, ifnull(t.energy_source, ''), count(*), count(t.energy_j), total(t.energy_j), "
	"min(t.started_ms), max(ifnull(t.finished_ms, ?2)), e.id, total(t.wall_ms), count(t.gpu_ms), total(t.gpu_ms) "
	"FROM task t JOIN experiment e ON e.id = t.experiment AND e.removing = 0 WHERE ?1 = 0 OR t.experiment = ?1 "
	"GROUP BY e.id, 2, 3, t.started_ms / 3600000, ifnull(t.finished_ms, ?2) / 3600000 ORDER BY e.id DESC";
/* Attempts that were not the last of their task, by how they ended. They are part of what the tasks cost. */
static const char sql_repeated[] =
	"SELECT NULL, a.state, '', count(*), count(a.energy_j), total(a.energy_j), min(a.started_ms), "
	"max(ifnull(a.finished_ms, ?2)), 0, total(a.wall_ms), count(a.gpu_ms), total(a.gpu_ms) "
	"FROM (SELECT DISTINCT task FROM attempt WHERE number > 1) r CROSS JOIN task t ON t.id = r.task "
	"JOIN experiment e ON e.id = t.experiment AND e.removing = 0 CROSS JOIN attempt a ON a.task = t.id AND a.number < t.attempt "
	"WHERE ?1 = 0 OR t.experiment = ?1 GROUP BY 2";
static const char sql_exists[] = "SELECT 1 FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_failed[] =
	"SELECT ifnull(sum(tasks), 0), sum(with_energy), total(energy_j), total(wall_ms), sum(with_gpu), total(gpu_ms) FROM tally "
	"WHERE experiment = ?1 AND state = " NUMBER(ERROR);

/* The newest experiments that are listed. */
#define ENERGY_EXPERIMENTS_MOST 100

struct energy_sum {
	int64_t tasks, measured, with_gpu;
	double joules, co2_g, price, wall_ms, gpu_ms;
};
/* What has the same name, and the failed tasks of it. */
struct energy_group {
	char name[100];
	struct energy_sum all, failed;
};
typedef VEC(struct energy_group) energy_groups;

static void energy_add_sum(struct energy_sum *sum, const struct energy_sum *more)
{
	sum->tasks += more->tasks;
	sum->measured += more->measured;
	sum->with_gpu += more->with_gpu;
	sum->joules += more->joules;
	sum->co2_g += more->co2_g;
	sum->price += more->price;
	sum->wall_ms += more->wall_ms;
	sum->gpu_ms += more->gpu_ms;
}

/* The newest is looked at first: rows of an experiment come in a row. */
static void energy_add(energy_groups *groups, const char *name, bool failed, const struct energy_sum *more)
{
	size_t i = groups->len;
	while (i > 0 && strcmp(groups->at[i - 1].name, name) != 0)
		i--;
	if (i == 0) {
		struct energy_group fresh = {0};
		snprintf(fresh.name, sizeof(fresh.name), "%.99s", name);
		vec_push(groups, fresh);
		i = groups->len;
	}
	energy_add_sum(&groups->at[i - 1].all, more);
	if (failed)
		energy_add_sum(&groups->at[i - 1].failed, more);
}

/* Rows come by experiment, the newest first: one that is not listed is not kept, nor looked for. */
static void energy_add_experiment(energy_groups *groups, int64_t experiment, bool failed, const struct energy_sum *more)
{
	char id[32];
	snprintf(id, sizeof(id), "e%" PRId64, experiment);
	if (groups->len < ENERGY_EXPERIMENTS_MOST || strcmp(groups->at[groups->len - 1].name, id) == 0)
		energy_add(groups, id, failed, more);
}

static void energy_put_real(struct json *out, const char *key, bool known, double value)
{
	if (known && isfinite(value))
		json_key_real(out, key, value);
	else
		json_key_null(out, key);
}

/* What was not measured is null, and never 0. */
static void energy_put_cost(const struct energy_sum *sum, struct json *out)
{
	json_key_int(out, "tasks", sum->tasks);
	json_key_int(out, "measured", sum->measured);
	energy_put_real(out, "wall_s", true, sum->wall_ms / 1000);
	energy_put_real(out, "gpu_s", sum->with_gpu > 0, sum->gpu_ms / 1000);
	energy_put_real(out, "energy_j", sum->measured > 0, sum->joules);
}

static void energy_put_sum(const struct energy_sum *sum, const struct tariff *tariff, struct json *out)
{
	energy_put_cost(sum, out);
	energy_put_real(out, "energy_kwh", sum->measured > 0, sum->joules / 3.6e6);
	energy_put_real(out, "co2_g", sum->measured > 0 && tariff->intensity.known, sum->co2_g);
	energy_put_real(out, "price", sum->measured > 0 && tariff->price.known, sum->price);
}

static void energy_put_failed(const struct energy_sum *failed, struct json *out)
{
	json_key(out, "failed");
	json_map(out);
	energy_put_cost(failed, out);
	json_end(out);
}

static void energy_put_group(const struct energy_group *group, const char *name, bool failed,
			     const struct tariff *tariff, struct json *out)
{
	json_map(out);
	if (name)
		json_key_string(out, name, group->name);
	energy_put_sum(&group->all, tariff, out);
	if (failed)
		energy_put_failed(&group->failed, out);
	json_end(out);
}

/* `failed`: with the cost of failed tasks apart. */
static void energy_put_list(const char *key, const char *name, bool failed, energy_groups *groups,
			    const struct tariff *tariff, struct json *out)
{
	json_key(out, key);
	json_list(out);
	for (size_t i = 0; i < groups->len && i < ENERGY_EXPERIMENTS_MOST; i++)
		energy_put_group(&groups->at[i], name, failed, tariff, out);
	json_end(out);
	free(groups->at);
}

static struct energy_sum energy_read_row(sqlite3_stmt *row, const struct tariff *tariff)
{
	struct energy_sum sum = {.tasks = row_int(row, 3),
				 .measured = row_int(row, 4),
				 .joules = row_real(row, 5),
				 .wall_ms = row_real(row, 9),
				 .with_gpu = row_int(row, 10),
				 .gpu_ms = row_real(row, 11)};
	double kwh = sum.joules / 3.6e6, from = row_real(row, 6), to = row_real(row, 7);
	int64_t from_ms = isnan(from) ? 0 : (int64_t)from, to_ms = isnan(to) ? 0 : (int64_t)to;
	double co2 = kwh * tariff_mean(&tariff->intensity, from_ms, to_ms);
	double price = kwh * tariff_mean(&tariff->price, from_ms, to_ms);
	sum.co2_g = isnan(co2) ? 0 : co2;
	sum.price = isnan(price) ? 0 : price;
	return sum;
}

static int energy_read_repeated(struct store *store, int64_t experiment, const struct tariff *tariff,
				energy_groups *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_repeated, "ii", experiment, clock_now_ms());
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct energy_sum more = energy_read_row(row, tariff);
		energy_add(ret, store_state_name((enum store_state)row_int(row, 1)), false, &more);
	}
	return rc;
}

int store_json_energy(struct store *store, int64_t experiment, const struct tariff *tariff, struct json *out)
{
	energy_groups all = {0}, states = {0}, strategies = {0}, sources = {0}, experiments = {0}, repeated = {0};
	bool by_hour = tariff->intensity.by_hour || tariff->price.by_hour;
	sqlite3_stmt *row = store_bind(store, sql_exists, "i", experiment);
	int rc = experiment ? store_one(store, row) : 0;
	if (rc < 0)
		return rc;
	store_end(row);
	energy_add(&all, "total", false, &(struct energy_sum){0});
	row = by_hour ? store_bind(store, sql_hours, "ii", experiment, clock_now_ms())
		      : store_bind(store, sql_flat, "i", experiment);
	while ((rc = store_step(store, row)) > 0) {
		struct energy_sum more = energy_read_row(row, tariff);
		const char *source = row_text(row, 2);
		bool failed = row_int(row, 1) == STORE_ERROR;
		energy_add(&all, "total", failed, &more);
		energy_add(&strategies, row_text(row, 0) ? row_text(row, 0) : "", failed, &more);
		energy_add(&states, store_state_name((enum store_state)row_int(row, 1)), failed, &more);
		energy_add(&sources, source && *source ? source : "not measured", failed, &more);
		energy_add_experiment(&experiments, row_int(row, 8), failed, &more);
	}
	if (rc == 0)
		rc = energy_read_repeated(store, experiment, tariff, &repeated);
	json_map(out);
	json_key(out, "total");
	energy_put_group(&all.at[0], NULL, true, tariff, out);
	energy_put_list("by_state", "state", false, &states, tariff, out);
	energy_put_list("by_strategy", "strategy", true, &strategies, tariff, out);
	energy_put_list("by_experiment", "experiment", true, &experiments, tariff, out);
	energy_put_list("by_source", "source", false, &sources, tariff, out);
	energy_put_list("repeated", "state", false, &repeated, tariff, out);
	json_key_bool(out, "co2_known", tariff->intensity.known);
	json_key_bool(out, "price_known", tariff->price.known);
	json_key_string(out, "currency", tariff->currency);
	json_end(out);
	free(all.at);
	return rc;
}

int store_json_failed(struct store *store, int64_t experiment, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_failed, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	struct energy_sum failed = {.tasks = row_int(row, 0),
				    .measured = row_int(row, 1),
				    .joules = row_real(row, 2),
				    .wall_ms = row_real(row, 3),
				    .with_gpu = row_int(row, 4),
				    .gpu_ms = row_real(row, 5)};
	store_end(row);
	energy_put_failed(&failed, out);
	return 0;
}
