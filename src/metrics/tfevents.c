/* TensorBoard's event files: the scalars of TensorFlow 1 and 2, Keras, PyTorch and Lightning. Every scalar of a
 * record is a row of its own, since each has its own steps: Keras counts epochs in one and batches in another. Several
 * files of one folder are one run (a writer begins a new file when it is opened again) and share what is known of
 * their scalars. */
#include "base/limits.h"
#include "base/mem.h"
#include "metrics/reader.h"
#include "metrics/tfmessage.h"
#include "metrics/tfrecord.h"

#include <inttypes.h>

struct tfevents_tag {
	char *tag; /* as in the file */
	size_t len;
	char *name; /* as it is kept */
	bool has_step, counted; /* counted: it has no steps, so its values are numbered */
	int64_t last_step, offset;
	double last_value;
};

/* What the files of one folder share. */
struct tfevents_run {
	unsigned users;
	char *prefix;
	VEC(struct tfevents_tag) tags;
	size_t last; /* where the one before was found: scalars come in the same order again and again */
};

struct tfevents {
	struct metrics_reader reader;
	struct tfrecord record;
	struct tfevents_run *run;
	uint64_t number; /* of the record being read */
};

static struct tfevents_run *tfevents_run_new(void)
{
	struct tfevents_run *run = mem_alloc(sizeof(*run));
	run->users = 1;
	run->prefix = mem_strdup("");
	return run;
}

static void tfevents_run_drop(struct tfevents_run *run)
{
	if (!run || --run->users)
		return;
	for (size_t i = 0; i < run->tags.len; i++) {
		free(run->tags.at[i].tag);
		free(run->tags.at[i].name);
	}
	free(run->tags.at);
	free(run->prefix);
	free(run);
}

static struct tfevents_tag *tfevents_find(struct tfevents_run *run, const struct tfmessage_value *value)
{
	for (size_t i = 0; i < run->tags.len; i++) {
		size_t at = (run->last + 1 + i) % run->tags.len;
		struct tfevents_tag *tag = &run->tags.at[at];
		if (tag->len == value->tag_len && memcmp(tag->tag, value->tag, tag->len) == 0) {
			run->last = at;
			return tag;
		}
	}
	return NULL;
}

static struct tfevents_tag *tfevents_add(struct tfevents *events, const struct tfmessage_value *value)
{
	struct tfevents_run *run = events->run;
	if (run->tags.len == LIMIT_TFEVENTS_TAGS) {
		metrics_complain(&events->reader, "record %" PRIu64 ": there are more than %d different scalars",
				 events->number, LIMIT_TFEVENTS_TAGS);
		return NULL;
	}
	struct buf name = buf_make(BUF_UNLIMITED);
	buf_add_text(&name, run->prefix);
	buf_add(&name, value->tag, value->tag_len);
	struct tfevents_tag tag = {.tag = mem_copy(value->tag, value->tag_len),
				   .len = value->tag_len,
				   .name = metrics_clean_name(buf_text(&name), name.len)};
	buf_free(&name);
	vec_push(&run->tags, tag);
	run->last = run->tags.len - 1;
	return &run->tags.at[run->last];
}

/* The step under which a value is kept. A scalar that goes back was written by a second fit() into the same folder:
 * counting goes on, so that the first curve stays. One that was logged without a step has step 0 all the time: its
 * values are numbered. The same value again is no new one: Lightning writes some twice. Of two different values at one
 * step the later one counts. */
static int64_t tfevents_step(struct metrics_reader *reader, struct tfevents_tag *tag, int64_t step, double value)
{
	bool same = memcmp(&value, &tag->last_value, sizeof(value)) == 0;
	int64_t said = step, before = tag->last_step - tag->offset;
	if (!tag->has_step) {
		tag->counted = step == 0;
	} else if (tag->counted && step == 0 && !tag->offset) {
		step = same ? tag->last_step : tag->last_step + 1;
		if (!same)
			metrics_remark(reader, STEP_ROWS, "%.80s has step 0 again and again: its values are numbered",
				       tag->name);
	} else {
		tag->counted = false;
		if (step > INT64_MAX / 4 || step < INT64_MIN / 4 || tag->offset > INT64_MAX / 4)
			return tag->last_step; /* nonsense that goes up and down */
		step += tag->offset;
		if (step < tag->last_step) {
			tag->offset += tag->last_step + 1 - step;
			step = tag->last_step + 1;
			metrics_remark(reader, STEP_BACK,
				       "%.80s: step %" PRId64 " comes after %" PRId64 "; it is shown as step %" PRId64
				       ", and the values behind it count on from there",
				       tag->name, said, before, step);
		} else if (step == tag->last_step && !same) {
			metrics_remark(reader, STEP_AGAIN,
				       "%.80s has different values at step %" PRId64 "; the later one counts",
				       tag->name, said);
		}
	}
	tag->has_step = true;
	tag->last_step = step;
	tag->last_value = value;
	return step;
}

static void tfevents_value_cb(void *ctx, const struct tfmessage_value *value)
{
	struct tfevents *events = ctx;
	if (value->described && !value->scalar)
		return;
	struct tfevents_tag *tag = tfevents_find(events->run, value);
	if (!tag && value->described)
		tag = tfevents_add(events, value);
	if (!tag || !*tag->name)
		return;
	metrics_add(&events->reader, tag->name, value->value);
	metrics_give_at(&events->reader, tfevents_step(&events->reader, tag, value->step, value->value), "step", 0);
}

/* TensorBoard reads no further after damage of either kind. A damaged record with a good length is passed over here:
 * the next record has its own sums. */
static void tfevents_record_cb(void *ctx, uint64_t number, enum tfrecord_verdict verdict, const char *data, size_t len,
			       uint64_t size)
{
	struct tfevents *events = ctx;
	struct metrics_reader *reader = &events->reader;
	events->number = number;
	switch (verdict) {
	case TFRECORD_GOOD:
		if (!tfmessage_read(data, len, tfevents_value_cb, events))
			metrics_complain(reader, "record %" PRIu64 " is not an event of TensorBoard", number);
		break;
	case TFRECORD_LARGE:
		if (tfmessage_is_summary(data, len))
			metrics_complain(reader, "record %" PRIu64 " has %" PRIu64 " bytes and was not read", number,
					 size);
		break;
	case TFRECORD_DAMAGED:
		metrics_complain(reader, "record %" PRIu64 " is damaged (its checksum is wrong) and was not read",
				 number);
		break;
	case TFRECORD_LOST:
		metrics_complain(reader, "record %" PRIu64 " is damaged: the file was not read further", number);
		break;
	}
}

static void tfevents_feed(struct metrics_reader *reader, const char *data, size_t len)
{
	struct tfevents *events = (struct tfevents *)reader;
	tfrecord_feed(&events->record, data, len, tfevents_record_cb, events);
}

static void tfevents_resume(struct metrics_reader *reader)
{
	struct tfevents_run *run = ((struct tfevents *)reader)->run;
	for (size_t i = 0; i < run->tags.len; i++) {
		run->tags.at[i].has_step = false;
		run->tags.at[i].offset = 0;
	}
}

static void tfevents_restart(struct metrics_reader *reader)
{
	struct tfevents *events = (struct tfevents *)reader;
	tfrecord_restart(&events->record);
	tfevents_resume(reader);
}

static void tfevents_join(struct metrics_reader *reader, const char *prefix, struct metrics_reader *other)
{
	struct tfevents *events = (struct tfevents *)reader;
	if (other) {
		struct tfevents_run *run = ((struct tfevents *)other)->run;
		run->users++;
		tfevents_run_drop(events->run);
		events->run = run;
		return;
	}
	free(events->run->prefix);
	events->run->prefix = mem_strdup(prefix);
}

static void tfevents_free(struct metrics_reader *reader)
{
	struct tfevents *events = (struct tfevents *)reader;
	tfrecord_free(&events->record);
	tfevents_run_drop(events->run);
}

bool metrics_tfevents_begins(const char *head, size_t len)
{
	uint32_t sum = 0;
	for (size_t i = 4; i-- && len >= 12;)
		sum = sum << 8 | (unsigned char)head[8 + i];
	return len >= 12 && tfrecord_sum(head, 8) == sum;
}

struct metrics_reader *metrics_tfevents_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {.feed = tfevents_feed,
					       .restart = tfevents_restart,
					       .resume = tfevents_resume,
					       .join = tfevents_join,
					       .free = tfevents_free};
	struct tfevents *events = metrics_reader_new(sizeof(*events), &ops, row, ctx);
	events->record = tfrecord_make();
	events->run = tfevents_run_new();
	return &events->reader;
}
