/* Samples: joined, packed and written without losing what is known. */
#include "base/sample.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"

#include "../unit.h"

#include <math.h>

static struct sample make(int64_t time_ms, double cpu, double memory, double util)
{
	struct sample sample;
	sample_init(&sample, time_ms, 1);
	sample.host[SAMPLE_HOST_CPU] = cpu;
	sample.host[SAMPLE_HOST_MEMORY] = memory;
	sample.gpu[0][SAMPLE_GPU_UTIL] = util;
	sample.gpu[0][SAMPLE_GPU_THROTTLE] = util > 50 ? 4 : 32;
	return sample;
}

static void joined_samples_are_the_mean_by_weight_or_the_peak(void **state)
{
	(void)state;
	struct sample all = make(1000, 1, 500, 10), second = make(2000, 3, 400, 90), third = make(3000, 5, 100, NAN);
	sample_join(&all, &second);
	sample_join(&all, &third);
	assert_true(all.weight == 3 && all.time_ms == 3000);
	assert_true(all.host[SAMPLE_HOST_CPU] == 3 && all.host[SAMPLE_HOST_MEMORY] == 500);
	assert_true(all.gpu[0][SAMPLE_GPU_UTIL] == 50); /* the third does not know */
	assert_true(all.gpu[0][SAMPLE_GPU_THROTTLE] == 36);
	assert_true(isnan(all.host[SAMPLE_HOST_POWER]));
}

static void packed_samples_come_back_the_same(void **state)
{
	(void)state;
	unsigned char data[SAMPLE_PACKED_MAX];
	struct sample sample = make(1000, 1.5, 1 << 20, 37), back;
	size_t len = sample_pack(&sample, data);
	assert_true(sample_unpack(data, len, &back));
	assert_int_equal(back.gpu_count, 1);
	assert_true(back.host[SAMPLE_HOST_CPU] == 1.5 && back.host[SAMPLE_HOST_MEMORY] == 1 << 20);
	assert_true(back.gpu[0][SAMPLE_GPU_UTIL] == 37 && isnan(back.gpu[0][SAMPLE_GPU_POWER]));
	for (size_t cut = 0; cut < len; cut++)
		assert_false(sample_unpack(data, cut, &back));
	data[0] = 9;
	assert_false(sample_unpack(data, len, &back));
}

static void samples_of_an_earlier_version_know_fewer_figures(void **state)
{
	(void)state;
	unsigned char data[4 + 4 * 3] = {1, 1, 2, 1};
	struct sample back;
	assert_true(sample_unpack(data, sizeof(data), &back));
	assert_true(back.host[0] == 0 && isnan(back.host[1]) && back.gpu[0][1] == 0 && isnan(back.gpu[0][2]));
}

static void no_number_of_gpus_costs_more_than_the_limit(void **state)
{
	(void)state;
	for (size_t gpus = 0; gpus <= SAMPLE_GPUS_MAX; gpus++) {
		struct sample sample;
		unsigned char data[SAMPLE_PACKED_MAX];
		sample_init(&sample, 0, gpus);
		size_t rows = sample_most_rows(gpus);
		assert_true(rows >= 64 && rows % 2 == 0);
		assert_true(rows * (sample_pack(&sample, data) + 24) <= LIMIT_SAMPLES_BYTES);
	}
}

static void throttling_is_said_in_words(void **state)
{
	(void)state;
	struct buf words = buf_make(1000);
	sample_throttle_words(0x4 | 0x20 | 0x1, &words);
	assert_string_equal(buf_text(&words), "power limit, temperature (software)");
	buf_clear(&words);
	sample_throttle_words(NAN, &words);
	assert_string_equal(buf_text(&words), "");
	buf_free(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_samples_are_the_mean_by_weight_or_the_peak),
		cmocka_unit_test(packed_samples_come_back_the_same),
		cmocka_unit_test(samples_of_an_earlier_version_know_fewer_figures),
		cmocka_unit_test(no_number_of_gpus_costs_more_than_the_limit),
		cmocka_unit_test(throttling_is_said_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
