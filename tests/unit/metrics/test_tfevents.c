/* TensorBoard's event files, made here with everything that goes wrong. Recorded ones of real frameworks are in
 * tests/py/test_recorded.py, against what TensorBoard's own reader says. */
#include "../unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/num.h"
#include "metrics/metrics.h"
#include "metrics/tfrecord.h"

#include <inttypes.h>
#include <stdio.h>

static struct buf rows;
static char complaint[256], remarks[METRICS_REMARKS * 256];

static void write_row(void *ctx, const struct metrics_row *row)
{
	char value[NUM_REAL_CHARS];
	(void)ctx;
	assert_int_equal(row->count, 1);
	num_format_real(row->metrics[0].value, value);
	buf_addf(&rows, "%s %" PRId64 " %s=%s\n", row->step_name, row->step, row->metrics[0].name, value);
}

static struct metrics_reader *open_reader(void)
{
	return metrics_open(metrics_format_for("x/events.out.tfevents.1.host.2.0", NULL, 0), write_row, NULL);
}

static const char *read_pieces(const struct buf *file, size_t piece)
{
	struct metrics_reader *reader = open_reader();
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	for (size_t at = 0; at < file->len; at += piece)
		metrics_feed(reader, file->data + at, piece < file->len - at ? piece : file->len - at);
	metrics_finish(reader);
	snprintf(complaint, sizeof(complaint), "%s", metrics_complaint(reader) ? metrics_complaint(reader) : "");
	*remarks = '\0';
	for (size_t i = 0; i < METRICS_REMARKS; i++)
		if (metrics_remark_of(reader, i))
			snprintf(remarks + strlen(remarks), sizeof(remarks) - strlen(remarks), "%s\n",
				 metrics_remark_of(reader, i));
	metrics_free(reader);
	return buf_text(&rows);
}

static void expect(const struct buf *file, const char *wanted, const char *said)
{
	assert_string_equal(read_pieces(file, file->len + 1), wanted);
	assert_string_equal(read_pieces(file, 1), wanted);
	assert_string_equal(complaint, said);
}

static void put_little(struct buf *out, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		buf_add_char(out, (char)(value >> 8 * i & 0xff));
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_add_char(out, (char)(value | 0x80));
	buf_add_char(out, (char)value);
}

static void put_bytes(struct buf *out, unsigned field, const void *data, size_t len)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, len);
	buf_add(out, data, len);
}

static void put_record(struct buf *file, const struct buf *event)
{
	struct buf head = buf_make(8);
	put_little(&head, event->len, 8);
	buf_add(file, head.data, 8);
	put_little(file, tfrecord_sum(head.data, 8), 4);
	buf_add(file, event->data, event->len);
	put_little(file, tfrecord_sum(buf_text(event), event->len), 4);
	buf_free(&head);
}

/* An event with one value: `tensor` NULL gives a simple_value, `plugin` NULL no metadata. */
static void put_event(struct buf *file, int64_t step, const char *tag, float simple, const struct buf *tensor,
		      const char *plugin)
{
	struct buf value = buf_make(BUF_UNLIMITED), summary = value, event = value, metadata = value, data = value;
	uint32_t bits;
	put_bytes(&value, 1, tag, strlen(tag));
	if (plugin) {
		put_bytes(&data, 1, plugin, strlen(plugin));
		put_bytes(&metadata, 1, data.data, data.len);
		put_bytes(&value, 9, metadata.data, metadata.len);
	}
	memcpy(&bits, &simple, sizeof(bits));
	if (tensor) {
		put_bytes(&value, 8, tensor->data, tensor->len);
	} else {
		put_varint(&value, 2 << 3 | 5);
		put_little(&value, bits, 4);
	}
	put_bytes(&summary, 1, value.data, value.len);
	put_varint(&event, 1 << 3 | 1);
	put_little(&event, 0, 8);
	put_varint(&event, 2 << 3 | 0);
	put_varint(&event, (uint64_t)step);
	put_bytes(&event, 5, summary.data, summary.len);
	put_record(file, &event);
	buf_free(&value);
	buf_free(&summary);
	buf_free(&event);
	buf_free(&metadata);
	buf_free(&data);
}

static void put_simple(struct buf *file, int64_t step, const char *tag, float value)
{
	put_event(file, step, tag, value, NULL, NULL);
}

static void test_the_sum_is_the_published_one(void **state)
{
	(void)state;
	/* RFC 3720, B.4: 32 zeros give 8a9136aa; rotated by 15 and with the constant of TFRecord added. */
	char zeros[32] = {0};
	uint32_t crc = 0x8a9136aau;
	assert_int_equal(tfrecord_sum(zeros, 32), (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u));
}

static void test_a_tensor_counts_by_its_type_and_metadata(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *value; /* NULL: no scalar */
	} tensors[] = {
		{"\x08\x01\x22\x04\x00\x00\x00\x3f", 8, "0.5"}, /* float, tensor_content */
		{"\x08\x01\x2a\x04\x00\x00\x00\x3f", 8, "0.5"}, /* float_val, packed */
		{"\x08\x01\x2d\x00\x00\x00\x3f", 7, "0.5"}, /* float_val, not packed */
		{"\x2d\x00\x00\x00\x3f\x08\x01", 7, "0.5"}, /* the type comes last */
		{"\x08\x02\x22\x08\x00\x00\x00\x00\x00\x00\xe0\x3f", 12, "0.5"}, /* double */
		{"\x08\x02\x31\x00\x00\x00\x00\x00\x00\xe0\xbf", 11, "-0.5"}, /* double_val */
		{"\x08\x03\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, "-1"}, /* int_val */
		{"\x08\x03\x22\x04\xfe\xff\xff\xff", 8, "-2"}, /* int32, tensor_content */
		{"\x08\x09\x50\x07", 4, "7"}, /* int64_val */
		{"\x08\x0a\x58\x01", 4, "1"}, /* bool_val */
		{"\x08\x13\x68\x80\x70", 5, "0.5"}, /* half_val: 0x3800 */
		{"\x08\x13\x22\x02\x00\xbc", 6, "-1"}, /* half, tensor_content */
		{"\x08\x0e\x22\x02\x80\x3f", 6, "1"}, /* bfloat16 */
		{"\x08\x01\x22\x08\x00\x00\x00\x3f\x00\x00\x00\x3f", 12, NULL}, /* two elements */
		{"\x08\x01\x2a\x08\x00\x00\x00\x3f\x00\x00\x00\x3f", 12, NULL},
		{"\x08\x07\x42\x01x", 5, NULL}, /* a text */
		{"\x08\x01", 2, NULL}, /* nothing in it */
		{"\x08\x01\x22\x04\x00", 5, NULL}, /* cut off */
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(tensors); i++) {
		struct buf file = buf_make(BUF_UNLIMITED), tensor = buf_make(100);
		char wanted[64] = "";
		buf_add(&tensor, tensors[i].bytes, tensors[i].len);
		put_event(&file, 3, "a/b", 0, &tensor, "scalars");
		put_event(&file, 4, "other", 0, &tensor, "images");
		put_event(&file, 5, "unknown", 0, &tensor, NULL);
		if (tensors[i].value)
			snprintf(wanted, sizeof(wanted), "step 3 a/b=%s\n", tensors[i].value);
		expect(&file, wanted, "");
		buf_free(&file);
		buf_free(&tensor);
	}
}

static void test_metadata_of_the_first_value_stands_for_the_later_ones(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED), tensor = buf_make(100);
	(void)state;
	buf_add(&tensor, "\x08\x09\x50\x07", 4);
	put_event(&file, 1, "x", 0, &tensor, "scalars");
	put_event(&file, 2, "x", 0, &tensor, NULL);
	expect(&file, "step 1 x=7\nstep 2 x=7\n", "");
	buf_free(&file);
	buf_free(&tensor);
}

static void test_every_scalar_has_steps_of_its_own(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED);
	(void)state;
	put_simple(&file, 100, "batch", 1);
	put_simple(&file, 0, "epoch", 1);
	put_simple(&file, 200, "batch", 2);
	put_simple(&file, 1, "epoch", 2);
	/* a second fit() into the same file counts on; the same step twice is the same step */
	put_simple(&file, 0, "epoch", 3);
	put_simple(&file, 1, "epoch", 4);
	put_simple(&file, 200, "batch", 2.5f);
	expect(&file,
	       "step 100 batch=1\nstep 0 epoch=1\nstep 200 batch=2\nstep 1 epoch=2\nstep 2 epoch=3\nstep 3 epoch=4\n"
	       "step 200 batch=2.5\n",
	       "");
	assert_string_equal(remarks,
			    "batch has different values at step 200; the later one counts\n"
			    "epoch: step 0 comes after 1; it is shown as step 2, and the values behind it count "
			    "on from there\n");
	buf_free(&file);
}

static void test_scalars_that_were_logged_without_a_step_are_numbered(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED);
	(void)state;
	put_simple(&file, 0, "x", 1);
	put_simple(&file, 0, "x", 2);
	put_simple(&file, 0, "x", 2);
	put_simple(&file, 0, "x", 3);
	expect(&file, "step 0 x=1\nstep 1 x=2\nstep 1 x=2\nstep 2 x=3\n", "");
	assert_string_equal(remarks, "x has step 0 again and again: its values are numbered\n");
	buf_clear(&file);
	put_simple(&file, 1, "x", 1);
	put_simple(&file, 1, "x", 1);
	put_simple(&file, 2, "x", 2);
	expect(&file, "step 1 x=1\nstep 1 x=1\nstep 2 x=2\n", "");
	assert_string_equal(remarks, "");
	buf_free(&file);
}

static void test_files_of_one_folder_count_on(void **state)
{
	struct buf first = buf_make(BUF_UNLIMITED), second = first;
	struct metrics_reader *a = open_reader(), *b = open_reader();
	(void)state;
	put_simple(&first, 0, "loss", 1);
	put_simple(&first, 1, "loss", 2);
	put_simple(&second, 0, "loss", 3);
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	metrics_join(a, "train/", NULL);
	metrics_join(b, "train/", a);
	metrics_feed(a, first.data, first.len);
	metrics_free(a);
	metrics_feed(b, second.data, second.len);
	metrics_free(b);
	assert_string_equal(buf_text(&rows), "step 0 train/loss=1\nstep 1 train/loss=2\nstep 2 train/loss=3\n");
	buf_free(&first);
	buf_free(&second);
}

static void test_a_cut_end_waits_for_more(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED), whole = file;
	(void)state;
	put_simple(&file, 1, "x", 1);
	size_t first = file.len;
	put_simple(&file, 2, "x", 2);
	for (size_t cut = first; cut < file.len; cut++) {
		buf_clear(&whole);
		buf_add(&whole, file.data, cut);
		expect(&whole, "step 1 x=1\n", "");
	}
	buf_free(&file);
	buf_free(&whole);
}

static void test_damage_is_noted_and_never_read(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED);
	(void)state;
	put_simple(&file, 1, "x", 1);
	size_t second = file.len;
	put_simple(&file, 2, "x", 2);
	put_simple(&file, 3, "x", 3);
	file.data[second + 20] ^= 1;
	expect(&file, "step 1 x=1\nstep 3 x=3\n", "record 2 is damaged (its checksum is wrong) and was not read");
	file.data[second] ^= 1;
	expect(&file, "step 1 x=1\n", "record 2 is damaged: the file was not read further");
	buf_free(&file);
}

static void test_large_records_are_passed_over(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED), event = file;
	char *bytes = mem_alloc(LIMIT_TFRECORD_BYTES);
	(void)state;
	put_bytes(&event, 4, bytes, LIMIT_TFRECORD_BYTES); /* graph_def */
	put_record(&file, &event);
	put_simple(&file, 1, "x", 1);
	assert_string_equal(read_pieces(&file, 4096), "step 1 x=1\n");
	assert_string_equal(complaint, "");
	buf_clear(&event);
	put_bytes(&event, 5, bytes, LIMIT_TFRECORD_BYTES); /* summary */
	put_record(&file, &event);
	assert_string_equal(read_pieces(&file, 4096), "step 1 x=1\n");
	assert_string_equal(complaint, "record 3 has 1048580 bytes and was not read");
	free(bytes);
	buf_free(&file);
	buf_free(&event);
}

static void test_a_file_is_known_by_its_first_bytes(void **state)
{
	struct buf file = buf_make(BUF_UNLIMITED);
	(void)state;
	put_simple(&file, 1, "x", 1);
	const char *path = "events.out.tfevents.1";
	assert_non_null(metrics_format_for(path, file.data, 12));
	assert_null(metrics_format_for(path, file.data, 11));
	assert_null(metrics_format_for(path, "0,1,2,3,4,5,6,7", 15));
	buf_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sum_is_the_published_one),
		cmocka_unit_test(test_a_tensor_counts_by_its_type_and_metadata),
		cmocka_unit_test(test_metadata_of_the_first_value_stands_for_the_later_ones),
		cmocka_unit_test(test_every_scalar_has_steps_of_its_own),
		cmocka_unit_test(test_scalars_that_were_logged_without_a_step_are_numbered),
		cmocka_unit_test(test_files_of_one_folder_count_on),
		cmocka_unit_test(test_a_cut_end_waits_for_more),
		cmocka_unit_test(test_damage_is_noted_and_never_read),
		cmocka_unit_test(test_large_records_are_passed_over),
		cmocka_unit_test(test_a_file_is_known_by_its_first_bytes),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_free(&rows);
	return failed;
}
