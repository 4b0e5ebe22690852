/* Reads a record of a TensorBoard event file: the protocol buffers Event, Summary, TensorProto and SummaryMetadata, as
 * far as scalars need them. A cursor goes over the bytes; nothing is copied. */
#ifndef METRICS_TFMESSAGE_H
#define METRICS_TFMESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value of a summary that may be a scalar. */
struct tfmessage_value {
	int64_t step;
	const char *tag; /* not terminated */
	size_t tag_len;
	double value;
	/* From the value's own metadata. Writers may leave it out after the first value of a tag: `described` is false
	 * then, and a tensor counts when its tag was a scalar before. */
	bool described, scalar;
};

typedef void (*tfmessage_value_f)(void *ctx, const struct tfmessage_value *value);

/* Gives the values of an Event with one number each. False when the bytes are not an Event; values before the damage
 * were already given. */
bool tfmessage_read(const char *data, size_t len, tfmessage_value_f give, void *ctx);
/* Does the beginning of an Event say that it holds a summary (and no graph)? */
bool tfmessage_is_summary(const char *data, size_t len);

#endif
