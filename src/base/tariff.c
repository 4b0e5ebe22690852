/* See tariff.h. */
#include "base/tariff.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TARIFF_HOUR_MS 3600000
/* A task that runs for longer sees every hour of the day: the mean of a week is the mean of the table. */
#define TARIFF_LONGEST_HOURS (7 * 24)

static bool tariff_is_value(const struct node *node)
{
	return node_is_number(node) && isfinite(node->real) && node->real >= 0;
}

static int tariff_parse_table(const struct node *map, const char *key, struct tariff_table *ret, struct error *err)
{
	const struct node *node = node_get(map, key);
	bool list = node && node->type == NODE_LIST && node->count == TARIFF_HOURS;
	if (!node)
		return 0;
	for (size_t hour = 0; hour < TARIFF_HOURS; hour++) {
		const struct node *value = list ? node->items[hour] : node;
		if (!tariff_is_value(value))
			return errorf(err, -EINVAL,
				      "energy.%s must be a number, or a list of 24 numbers, one for each hour", key);
		ret->value[hour] = value->real;
		ret->by_hour |= value->real != ret->value[0];
	}
	ret->known = true;
	return 0;
}

int tariff_parse(const struct node *document, struct tariff *ret, struct error *err)
{
	const struct node *energy = node_get(document, "energy");
	const char *currency = node_get_string(energy, "currency");
	struct tariff tariff = {.currency = ""};
	if (energy && energy->type != NODE_MAP)
		return errorf(err, -EINVAL, "energy must be a map: {intensity: 380, price: 0.30, currency: EUR}");
	static const char *const keys[] = {"intensity", "price", "currency", NULL};
	int rc = settings_check_keys(energy, "energy", keys, err);
	snprintf(tariff.currency, sizeof(tariff.currency), "%.15s", currency ? currency : "");
	if (rc == 0)
		rc = tariff_parse_table(energy, "intensity", &tariff.intensity, err);
	if (rc == 0)
		rc = tariff_parse_table(energy, "price", &tariff.price, err);
	if (rc == 0)
		*ret = tariff;
	return rc;
}

int tariff_read(const char *state_dir, struct tariff *ret, struct error *err)
{
	struct node *document = NULL;
	struct error why = {0};
	int rc = settings_read(state_dir, &document, err);
	if (rc < 0)
		return rc;
	rc = tariff_parse(document, ret, &why);
	if (rc < 0)
		(void)errorf(err, rc, "%s/settings.yaml: %s", state_dir, why.text);
	node_free(document);
	return rc;
}

static size_t tariff_hour_of(int64_t ms)
{
	time_t at = (time_t)(ms / 1000);
	struct tm local;
	return localtime_r(&at, &local) ? (size_t)local.tm_hour % TARIFF_HOURS : 0;
}

double tariff_mean(const struct tariff_table *table, int64_t from_ms, int64_t to_ms)
{
	if (!table->known)
		return NAN;
	if (!table->by_hour || to_ms <= from_ms)
		return table->value[table->by_hour ? tariff_hour_of(from_ms) : 0];
	int64_t most = from_ms + (int64_t)TARIFF_LONGEST_HOURS * TARIFF_HOUR_MS;
	int64_t end = to_ms < most ? to_ms : most;
	double sum = 0;
	for (int64_t at = from_ms; at < end;) {
		int64_t next = (at / TARIFF_HOUR_MS + 1) * TARIFF_HOUR_MS;
		next = next < end ? next : end;
		sum += table->value[tariff_hour_of(at)] * (double)(next - at);
		at = next;
	}
	return sum / (double)(end - from_ms);
}
