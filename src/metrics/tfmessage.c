/* See tfmessage.h. Field numbers are those of tensorflow/core/util/event.proto and framework/summary.proto,
 * tensor.proto and types.proto; the encoding is https://protobuf.dev/programming-guides/encoding. Messages are read
 * to a fixed depth, so nothing recurses. */
#include "metrics/tfmessage.h"

#include <math.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct span {
	const char *at, *end;
};

struct field {
	uint64_t number;
	enum wire wire;
	uint64_t value; /* of a varint, or the bits of a fixed number */
	struct span bytes; /* of WIRE_BYTES */
};

static bool span_take_varint(struct span *span, uint64_t *ret)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64 && span->at < span->end; shift += 7) {
		unsigned char byte = (unsigned char)*span->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool span_take_fixed(struct span *span, size_t bytes, uint64_t *ret)
{
	if ((size_t)(span->end - span->at) < bytes)
		return false;
	uint64_t value = 0;
	for (size_t i = bytes; i--;)
		value = value << 8 | (unsigned char)span->at[i];
	span->at += bytes;
	*ret = value;
	return true;
}

static bool span_take_bytes(struct span *span, struct span *ret)
{
	uint64_t len;
	if (!span_take_varint(span, &len) || len > (uint64_t)(span->end - span->at))
		return false;
	*ret = (struct span){span->at, span->at + len};
	span->at += len;
	return true;
}

/* 1 and *ret set, 0 at the end, -1 when this is no field. */
static int span_take_field(struct span *span, struct field *ret)
{
	uint64_t key;
	bool good = false;
	if (span->at == span->end)
		return 0;
	*ret = (struct field){0};
	if (!span_take_varint(span, &key))
		return -1;
	ret->number = key >> 3;
	ret->wire = (enum wire)(key & 7);
	switch (ret->wire) {
	case WIRE_VARINT: good = span_take_varint(span, &ret->value); break;
	case WIRE_64: good = span_take_fixed(span, 8, &ret->value); break;
	case WIRE_BYTES: good = span_take_bytes(span, &ret->bytes); break;
	case WIRE_32: good = span_take_fixed(span, 4, &ret->value); break;
	}
	return good ? 1 : -1;
}

static double tfmessage_real_of_float(uint64_t bits)
{
	uint32_t narrow = (uint32_t)bits;
	float value;
	memcpy(&value, &narrow, sizeof(value));
	return value;
}

static double tfmessage_real_of_double(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* IEEE 754 binary16. */
static double tfmessage_real_of_half(uint64_t bits)
{
	unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent == 31 ? (fraction ? NAN : INFINITY)
		: exponent            ? ldexp(1024 + fraction, (int)exponent - 25)
				      : ldexp(fraction, -24);
	return bits & 0x8000 ? -value : value;
}

static double tfmessage_real_of_bfloat(uint64_t bits)
{
	return tfmessage_real_of_float(bits << 16);
}

static double tfmessage_real_of_int64(uint64_t bits)
{
	return (double)(int64_t)bits;
}

static double tfmessage_real_of_int32(uint64_t bits)
{
	return (double)(int32_t)(uint32_t)bits;
}

static double tfmessage_real_of_int16(uint64_t bits)
{
	return (double)(int16_t)(uint16_t)bits;
}

static double tfmessage_real_of_int8(uint64_t bits)
{
	return (double)(int8_t)(uint8_t)bits;
}

static double tfmessage_real_of_unsigned(uint64_t bits)
{
	return (double)bits;
}

/* A type of tensor that holds a number: how many bytes one takes in tensor_content, in which field it stands
 * otherwise, and how that field is encoded. */
static const struct dtype {
	unsigned code, bytes, field;
	enum wire wire;
	double (*real)(uint64_t bits);
} dtypes[] = {
	{1, 4, 5, WIRE_32, tfmessage_real_of_float}, /* DT_FLOAT, float_val */
	{2, 8, 6, WIRE_64, tfmessage_real_of_double}, /* DT_DOUBLE, double_val */
	{3, 4, 7, WIRE_VARINT, tfmessage_real_of_int32}, /* DT_INT32, int_val */
	{4, 1, 7, WIRE_VARINT, tfmessage_real_of_unsigned}, /* DT_UINT8 */
	{5, 2, 7, WIRE_VARINT, tfmessage_real_of_int16}, /* DT_INT16 */
	{6, 1, 7, WIRE_VARINT, tfmessage_real_of_int8}, /* DT_INT8 */
	{9, 8, 10, WIRE_VARINT, tfmessage_real_of_int64}, /* DT_INT64, int64_val */
	{10, 1, 11, WIRE_VARINT, tfmessage_real_of_unsigned}, /* DT_BOOL, bool_val */
	{14, 2, 13, WIRE_VARINT, tfmessage_real_of_bfloat}, /* DT_BFLOAT16, half_val */
	{17, 2, 7, WIRE_VARINT, tfmessage_real_of_unsigned}, /* DT_UINT16 */
	{19, 2, 13, WIRE_VARINT, tfmessage_real_of_half}, /* DT_HALF, half_val */
	{22, 4, 16, WIRE_VARINT, tfmessage_real_of_unsigned}, /* DT_UINT32, uint32_val */
	{23, 8, 17, WIRE_VARINT, tfmessage_real_of_unsigned}, /* DT_UINT64, uint64_val */
	{0},
};

static const struct dtype *tfmessage_dtype_of(uint64_t code)
{
	const struct dtype *type = dtypes;
	while (type->code && type->code != code)
		type++;
	return type->code ? type : NULL;
}

/* The only number of a repeated field, packed or not. */
static bool tfmessage_read_one(const struct field *field, const struct dtype *type, double *ret)
{
	uint64_t bits = field->value;
	if (field->wire == WIRE_BYTES) {
		struct span span = field->bytes;
		bool good = type->wire == WIRE_VARINT ? span_take_varint(&span, &bits)
						      : span_take_fixed(&span, type->bytes, &bits);
		if (!good || span.at != span.end)
			return false;
	} else if (field->wire != type->wire) {
		return false;
	}
	*ret = type->real(bits);
	return true;
}

/* A TensorProto with one element. */
static bool tfmessage_read_tensor(struct span tensor, double *ret)
{
	struct span rest = tensor;
	const struct dtype *type = NULL;
	struct field field;
	bool found = false;

	while (span_take_field(&rest, &field) > 0)
		if (field.number == 1 && field.wire == WIRE_VARINT)
			type = tfmessage_dtype_of(field.value);
	rest = tensor;
	while (type && span_take_field(&rest, &field) > 0) {
		bool content = field.number == 4 && field.wire == WIRE_BYTES && field.bytes.at < field.bytes.end;
		if (!content && field.number != type->field)
			continue;
		uint64_t bits;
		if (found) /* more than one element: a curve of tensors */
			return false;
		if (content)
			found = (size_t)(field.bytes.end - field.bytes.at) == type->bytes &&
				span_take_fixed(&field.bytes, type->bytes, &bits);
		else
			found = tfmessage_read_one(&field, type, ret);
		if (!found)
			return false;
		if (content)
			*ret = type->real(bits);
	}
	return found;
}

static bool span_is(struct span span, const char *text)
{
	return (size_t)(span.end - span.at) == strlen(text) && memcmp(span.at, text, strlen(text)) == 0;
}

/* The first field with this number that holds bytes. */
static bool tfmessage_find_bytes(struct span message, uint64_t number, struct span *ret)
{
	struct field field;
	while (span_take_field(&message, &field) > 0)
		if (field.number == number && field.wire == WIRE_BYTES) {
			*ret = field.bytes;
			return true;
		}
	return false;
}

/* SummaryMetadata: the name of the plugin says what the value is. */
static void tfmessage_read_metadata(struct span metadata, struct tfmessage_value *value)
{
	struct span plugin, name;
	if (!tfmessage_find_bytes(metadata, 1, &plugin) || !tfmessage_find_bytes(plugin, 1, &name))
		return;
	value->described = true;
	value->scalar = span_is(name, "scalars");
}

/* Summary.Value. False when it is damaged. */
static bool tfmessage_read_value(struct span span, int64_t step, tfmessage_value_f give, void *ctx)
{
	struct tfmessage_value value = {.step = step};
	struct field field;
	bool has = false, simple = false;
	int rc;

	while ((rc = span_take_field(&span, &field)) > 0) {
		if (field.number == 1 && field.wire == WIRE_BYTES) {
			value.tag = field.bytes.at;
			value.tag_len = (size_t)(field.bytes.end - field.bytes.at);
		} else if (field.number == 2 && field.wire == WIRE_32) {
			value.value = tfmessage_real_of_float(field.value);
			has = simple = true;
		} else if (field.number == 8 && field.wire == WIRE_BYTES) {
			has = tfmessage_read_tensor(field.bytes, &value.value);
		} else if (field.number == 9 && field.wire == WIRE_BYTES) {
			tfmessage_read_metadata(field.bytes, &value);
		}
	}
	if (simple) /* of TensorFlow 1 and PyTorch: a scalar by its field, whatever metadata it has */
		value.described = value.scalar = true;
	if (rc == 0 && has && value.tag_len)
		give(ctx, &value);
	return rc == 0;
}

bool tfmessage_read(const char *data, size_t len, tfmessage_value_f give, void *ctx)
{
	struct span event = {data, data + len}, rest = event;
	struct field field;
	int64_t step = 0;
	int rc;

	while ((rc = span_take_field(&rest, &field)) > 0)
		if (field.number == 2 && field.wire == WIRE_VARINT)
			step = (int64_t)field.value;
	if (rc < 0)
		return false;
	for (rest = event; span_take_field(&rest, &field) > 0;) {
		struct span summary = field.bytes;
		struct field value;
		if (field.number != 5 || field.wire != WIRE_BYTES)
			continue;
		while ((rc = span_take_field(&summary, &value)) > 0)
			if (value.number == 1 && value.wire == WIRE_BYTES &&
			    !tfmessage_read_value(value.bytes, step, give, ctx))
				return false;
		if (rc < 0)
			return false;
	}
	return true;
}

bool tfmessage_is_summary(const char *data, size_t len)
{
	struct span event = {data, data + len};
	struct field field;
	uint64_t key = 0;
	do {
		struct span ahead = event;
		if (span_take_varint(&ahead, &key) && key == (5 << 3 | WIRE_BYTES))
			return true;
	} while (span_take_field(&event, &field) > 0);
	return false;
}
