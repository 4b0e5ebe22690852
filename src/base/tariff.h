/* What energy costs: grams of CO2 and money for a kilowatt hour, as one value or one for each hour of the day. Pure but
 * for the time zone. */
#ifndef BASE_TARIFF_H
#define BASE_TARIFF_H

#include "base/error.h"
#include "base/node.h"

#include <stdbool.h>
#include <stdint.h>

#define TARIFF_HOURS 24

/* One value for each hour of the day, local time. */
struct tariff_table {
	bool known;
	bool by_hour; /* the hours differ */
	double value[TARIFF_HOURS];
};

struct tariff {
	struct tariff_table intensity; /* g of CO2 for a kWh */
	struct tariff_table price; /* for a kWh */
	char currency[16];
};

/* From the document `energy: {intensity: 380, price: 0.30, currency: EUR}`; intensity and price may be lists of 24. A
 * document without `energy` is an empty tariff. -EINVAL with what is wrong. */
int tariff_parse(const struct node *document, struct tariff *ret, struct error *err) MUST_USE;
/* Reads STATE/settings.yaml. No such file: an empty tariff, and 0. */
int tariff_read(const char *state_dir, struct tariff *ret, struct error *err) MUST_USE;
/* The mean of the table over that time; NAN: not known. */
double tariff_mean(const struct tariff_table *table, int64_t from_ms, int64_t to_ms);

#endif
