/* See sample.h. */
#include "base/sample.h"

#include "base/buf.h"
#include "base/cost.h"
#include "base/json.h"
#include "base/limits.h"

#include <math.h>
#include <string.h>

#define SAMPLE_ROW(name, key, join, unit, label) {key, SAMPLE_##join, unit, label},
const struct sample_figure sample_host_figures[SAMPLE_HOST_COUNT] = {SAMPLE_HOST_FIGURES(SAMPLE_ROW)};
const struct sample_figure sample_gpu_figures[SAMPLE_GPU_COUNT] = {SAMPLE_GPU_FIGURES(SAMPLE_ROW)};

/* What SQLite needs for a row beside its data: key, time, weight and the cell. */
#define SAMPLE_ROW_BYTES 32
/* More than the screen shows gives no better picture. */
#define SAMPLE_ROWS_MAX 512
#define SAMPLE_PACKED_VERSION 1

void sample_init(struct sample *sample, int64_t time_ms, size_t gpu_count)
{
	*sample = (struct sample){.time_ms = time_ms, .weight = 1};
	sample->gpu_count = (uint32_t)(gpu_count < SAMPLE_GPUS_MAX ? gpu_count : SAMPLE_GPUS_MAX);
	for (size_t i = 0; i < SAMPLE_HOST_COUNT; i++)
		sample->host[i] = NAN;
	for (size_t g = 0; g < SAMPLE_GPUS_MAX; g++)
		for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
			sample->gpu[g][i] = NAN;
}

static double sample_join_figure(enum sample_join join, double a, double a_weight, double b, double b_weight)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	switch (join) {
	case SAMPLE_MOST: return a > b ? a : b;
	case SAMPLE_BITS: return (double)((uint32_t)a | (uint32_t)b);
	case SAMPLE_MEAN: break;
	}
	return (a * a_weight + b * b_weight) / (a_weight + b_weight);
}

void sample_join(struct sample *sample, const struct sample *later)
{
	double mine = sample->weight, theirs = later->weight;
	for (size_t i = 0; i < SAMPLE_HOST_COUNT; i++)
		sample->host[i] = sample_join_figure(sample_host_figures[i].join, sample->host[i], mine, later->host[i],
						     theirs);
	for (size_t g = 0; g < SAMPLE_GPUS_MAX; g++)
		for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
			sample->gpu[g][i] = sample_join_figure(sample_gpu_figures[i].join, sample->gpu[g][i], mine,
							       later->gpu[g][i], theirs);
	if (later->gpu_count > sample->gpu_count)
		sample->gpu_count = later->gpu_count;
	sample->weight += later->weight;
	sample->time_ms = later->time_ms;
}

/* Single precision, the lowest byte first: a database may be copied to another machine. */
static unsigned char *sample_put(unsigned char *out, double value)
{
	float single = (float)value;
	uint32_t bits;
	memcpy(&bits, &single, sizeof(bits));
	for (int i = 0; i < 4; i++)
		*out++ = (unsigned char)(bits >> (8 * i));
	return out;
}

static double sample_get(const unsigned char *data)
{
	uint32_t bits = 0;
	float single;
	for (int i = 0; i < 4; i++)
		bits |= (uint32_t)data[i] << (8 * i);
	memcpy(&single, &bits, sizeof(single));
	return single;
}

size_t sample_pack(const struct sample *sample, unsigned char *out)
{
	unsigned char *p = out;
	*p++ = SAMPLE_PACKED_VERSION;
	*p++ = SAMPLE_HOST_COUNT;
	*p++ = SAMPLE_GPU_COUNT;
	*p++ = (unsigned char)sample->gpu_count;
	for (size_t i = 0; i < SAMPLE_HOST_COUNT; i++)
		p = sample_put(p, sample->host[i]);
	for (size_t g = 0; g < sample->gpu_count; g++)
		for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
			p = sample_put(p, sample->gpu[g][i]);
	return (size_t)(p - out);
}

bool sample_unpack(const unsigned char *data, size_t len, struct sample *ret)
{
	if (!data || len < 4 || data[0] != SAMPLE_PACKED_VERSION || data[3] > SAMPLE_GPUS_MAX)
		return false;
	size_t host = data[1], gpu = data[2], gpus = data[3];
	if (len != 4 + 4 * (host + gpu * gpus))
		return false;
	sample_init(ret, 0, gpus);
	for (size_t i = 0; i < host && i < SAMPLE_HOST_COUNT; i++)
		ret->host[i] = sample_get(data + 4 + 4 * i);
	for (size_t g = 0; g < gpus; g++)
		for (size_t i = 0; i < gpu && i < SAMPLE_GPU_COUNT; i++)
			ret->gpu[g][i] = sample_get(data + 4 + 4 * (host + g * gpu + i));
	return true;
}

size_t sample_most_rows(size_t gpu_count)
{
	size_t bytes = SAMPLE_ROW_BYTES + 4 + 4 * (SAMPLE_HOST_COUNT + gpu_count * SAMPLE_GPU_COUNT);
	size_t rows = LIMIT_SAMPLES_BYTES / bytes;
	rows = rows < SAMPLE_ROWS_MAX ? rows : SAMPLE_ROWS_MAX;
	return rows & ~(size_t)1; /* pairs are joined */
}

static void sample_write_figures(const double *values, const struct sample_figure *figures, size_t count,
				 struct json *out)
{
	json_map(out);
	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		json_key(out, figures[i].key);
		/* Four digits are more than any of these is measured with. */
		double scale = values[i] >= 1000 ? 1 : 1000;
		cost_write_value(round(values[i] * scale) / scale, out);
	}
	json_end(out);
}

void sample_write(const struct sample *sample, struct json *out)
{
	json_key(out, "host");
	sample_write_figures(sample->host, sample_host_figures, SAMPLE_HOST_COUNT, out);
	if (!sample->gpu_count)
		return;
	json_key(out, "gpus");
	json_list(out);
	for (size_t g = 0; g < sample->gpu_count; g++)
		sample_write_figures(sample->gpu[g], sample_gpu_figures, SAMPLE_GPU_COUNT, out);
	json_end(out);
}

void sample_throttle_words(double bits, struct buf *out)
{
	static const struct {
		uint32_t bit;
		const char *words;
	} reasons[] = {
		{0x4, "power limit"},
		{0x8, "hardware slowdown"},
		{0x20, "temperature (software)"},
		{0x40, "temperature (hardware)"},
		{0x80, "power brake"},
	};
	uint32_t set = bits > 0 && bits < 4294967296.0 ? (uint32_t)bits : 0;
	size_t before = out->len;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (set & reasons[i].bit)
			buf_addf(out, "%s%s", out->len > before ? ", " : "", reasons[i].words);
}
