/* The metric readers, with what real programs write and with what goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/num.h"
#include "metrics/metrics.h"
#include "metrics/reader.h"

#include <inttypes.h>
#include <math.h>

/* Every row as "step_name step@epoch name=value …\n", without the epoch where it is not known. */
static void write_row(void *ctx, const struct metrics_row *row)
{
	struct buf *out = ctx;
	char epoch[NUM_REAL_CHARS];
	num_format_real(row->epoch, epoch);
	buf_addf(out, "%s %" PRId64 "%s%s", row->step_name, row->step, isnan(row->epoch) ? "" : "@",
		 isnan(row->epoch) ? "" : epoch);
	for (size_t i = 0; i < row->count; i++) {
		char value[NUM_REAL_CHARS];
		num_format_real(row->metrics[i].value, value);
		buf_addf(out, " %s=%s", row->metrics[i].name, value);
	}
	buf_add_char(out, '\n');
}

static struct buf rows;
static char complaint[256], remarks[METRICS_REMARKS * 256];

static const char *read_as(const char *path, const char *text, size_t len, size_t piece)
{
	struct metrics_reader *reader = metrics_open(metrics_format_for(path, NULL, 0), write_row, &rows);
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, text + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	const char *said = metrics_complaint(reader);
	snprintf(complaint, sizeof(complaint), "%s", said ? said : "");
	*remarks = '\0';
	for (size_t i = 0; i < METRICS_REMARKS; i++)
		if ((said = metrics_remark_of(reader, i)))
			snprintf(remarks + strlen(remarks), sizeof(remarks) - strlen(remarks), "%s\n", said);
	metrics_free(reader);
	return buf_text(&rows);
}

/* The same whether it arrives at once or byte by byte. */
static void expect(const char *path, const char *text, const char *wanted)
{
	assert_string_equal(read_as(path, text, strlen(text), strlen(text) + 1), wanted);
	assert_string_equal(read_as(path, text, strlen(text), 1), wanted);
}

static void test_a_keras_log_is_read(void **state)
{
	(void)state;
	expect("7.csv", "epoch,accuracy,loss,val_loss\n0,0.5,1.25,nan\n1,0.75,1e-05,inf\n",
	       "epoch 0 accuracy=0.5 loss=1.25 val_loss=nan\n"
	       "epoch 1 accuracy=0.75 loss=1e-05 val_loss=inf\n");
	assert_string_equal(complaint, "");
}

static void test_cells_without_a_number_are_passed_over(void **state)
{
	(void)state;
	expect("7.csv", "epoch,a,b,note\n0,NA,1,best\n1,,2,\n2,\"[0.1, 0.2]\",3,None\n3,NA,NA,x\n",
	       "epoch 0 b=1\nepoch 1 b=2\nepoch 2 b=3\n");
	assert_string_equal(complaint, "");
}

static void test_parts_of_the_data_in_one_file_are_curves_of_their_own(void **state)
{
	(void)state;
	expect("log.csv", "epoch,split,loss\n0,train,4\n0,val,5\n1,train,2\n1,val,3\n",
	       "epoch 0 train/loss=4\nepoch 0 val/loss=5\nepoch 1 train/loss=2\nepoch 1 val/loss=3\n");
	/* One after the other: each part has steps of its own. */
	expect("log.csv", "phase,epoch,loss\ntrain,0,4\ntrain,1,2\nval,0,5\nval,1,3\n",
	       "epoch 0 train/loss=4\nepoch 1 train/loss=2\nepoch 0 val/loss=5\nepoch 1 val/loss=3\n");
	expect("log.jsonl", "{\"mode\":\"train\",\"epoch\":0,\"loss\":4}\n{\"loss\":5,\"epoch\":0,\"mode\":\"a/b\"}\n",
	       "epoch 0 train/loss=4\nepoch 0 a_b/loss=5\n");
	/* A row without a word, and a part that is a number: as ever. */
	expect("log.csv", "epoch,split,loss\n0,,4\n1,2,3\n", "epoch 0 loss=4\nepoch 1 split=2 loss=3\n");
	assert_string_equal(complaint, "");
	expect("log.csv",
	       "epoch,split,loss\n0,a,1\n0,b,1\n0,c,1\n0,d,1\n0,e,1\n0,f,1\n0,g,1\n0,h,1\n0,i,1\n0,j,1\n0,k,1\n"
	       "0,l,1\n0,m,1\n0,n,1\n0,o,1\n0,p,1\n0,q,1\n",
	       "epoch 0 a/loss=1\nepoch 0 b/loss=1\nepoch 0 c/loss=1\nepoch 0 d/loss=1\nepoch 0 e/loss=1\n"
	       "epoch 0 f/loss=1\nepoch 0 g/loss=1\nepoch 0 h/loss=1\nepoch 0 i/loss=1\nepoch 0 j/loss=1\n"
	       "epoch 0 k/loss=1\nepoch 0 l/loss=1\nepoch 0 m/loss=1\nepoch 0 n/loss=1\nepoch 0 o/loss=1\n"
	       "epoch 0 p/loss=1\n");
	assert_string_equal(complaint, "line 18: too many parts of the data; 'q' is left out");
}

/* The name of the metric stands in a column of its own: every name is a curve, and none is called "value". */
static void test_a_long_table_has_a_curve_for_every_name(void **state)
{
	(void)state;
	expect("m.csv", "epoch,metric,value\n1,loss,0.5\n1,acc,0.8\n2,loss,0.25\n2,acc,0.9\n",
	       "epoch 1 loss=0.5\nepoch 1 acc=0.8\nepoch 2 loss=0.25\nepoch 2 acc=0.9\n");
	assert_string_equal(remarks, "");
	expect("m.jsonl",
	       "{\"step\":5,\"name\":\"loss\",\"value\":4,\"split\":\"val\"}\n{\"step\":5,\"name\":\"loss\",\"value\":3}\n",
	       "step 5 val/loss=4\nstep 5 loss=3\n");
	/* Without a column of values, or without a text, it is a table like any other. */
	expect("m.csv", "name,epoch,loss\na,1,0.5\nb,2,0.25\n", "epoch 1 loss=0.5\nepoch 2 loss=0.25\n");
	expect("m.csv", "epoch,metric,value\n1,7,0.5\n2,8,0.25\n",
	       "epoch 1 metric=7 value=0.5\nepoch 2 metric=8 value=0.25\n");
}

static void test_ranks_and_folds_in_one_file_are_curves_of_their_own(void **state)
{
	(void)state;
	expect("l.csv", "rank,epoch,loss\n0,1,0.5\n1,1,0.6\n0,2,0.25\n1,2,0.3\n",
	       "epoch 1 rank=0 loss=0.5\nepoch 1 rank 1/loss=0.6\nepoch 2 rank=0 loss=0.25\nepoch 2 rank 1/loss=0.3\n");
	expect("l.jsonl",
	       "{\"fold\":0,\"epoch\":1,\"loss\":4}\n{\"fold\":0,\"epoch\":2,\"loss\":3}\n{\"fold\":1,\"epoch\":1,\"loss\":2}\n"
	       "{\"fold\":1,\"epoch\":2,\"loss\":1}\n",
	       "epoch 1 fold=0 loss=4\nepoch 2 fold=0 loss=3\nepoch 1 fold 1/loss=2\nepoch 2 fold 1/loss=1\n");
	assert_string_equal(
		remarks,
		"loss is that of fold 0 alone; fold 1 is shown as fold 1/loss. An objective is one of these names: "
		"to compare by all, report their mean\n");
	/* MMEngine: the score has the epoch as its step, the loss the iteration. */
	expect("l.json",
	       "{\"loss\":4,\"step\":50}\n{\"loss\":3,\"step\":100}\n{\"mAP\":0.1,\"step\":1}\n{\"loss\":2,\"step\":150}\n"
	       "{\"mAP\":0.2,\"step\":2}\n",
	       "step 50 loss=4\nstep 100 loss=3\nstep 1 mAP=0.1\nstep 150 loss=2\nstep 2 mAP=0.2\n");
	assert_string_equal(remarks, "");
	/* A column is never counted by two steps: a third kind of row that has the score goes on with it, and one with both
	 * makes all count by one step from there on. */
	expect("l.json",
	       "{\"loss\":4,\"step\":50}\n{\"mAP\":0.1,\"step\":1}\n{\"mAP\":0.2,\"AR\":0.5,\"step\":2}\n"
	       "{\"loss\":3,\"step\":100}\n{\"loss\":2,\"mAP\":0.3,\"step\":150}\n{\"AR\":0.6,\"step\":160}\n",
	       "step 50 loss=4\nstep 1 mAP=0.1\nstep 2 mAP=0.2 AR=0.5\nstep 100 loss=3\nstep 150 loss=2 mAP=0.3\n"
	       "step 160 AR=0.6\n");
	expect("l.json",
	       "{\"loss\":4,\"step\":2}\n{\"mAP\":0.1,\"step\":1}\n{\"mAP\":0.2,\"step\":900}\n"
	       "{\"loss\":3,\"mAP\":0.3,\"step\":3}\n",
	       "step 2 loss=4\nstep 1 mAP=0.1\nstep 900 mAP=0.2\nstep 901 loss=3 mAP=0.3\n");
	assert_non_null(strstr(remarks, "is shown as step 901"));
	/* So are runs with other seeds, and of other models. */
	expect("l.csv", "seed,epoch,loss\n1,1,0.5\n1,2,0.4\n7,1,0.9\n7,2,0.8\n",
	       "epoch 1 seed=1 loss=0.5\nepoch 2 seed=1 loss=0.4\nepoch 1 seed 7/loss=0.9\nepoch 2 seed 7/loss=0.8\n");
	assert_non_null(strstr(remarks, "loss is that of seed 1 alone; seed 7 is shown as seed 7/loss"));
	expect("l.csv", "model,epoch,loss\nvgg,1,0.5\nvgg,2,0.4\na/b,1,0.9\na/b,2,0.8\nvgg,3,0.3\n",
	       "epoch 1 loss=0.5\nepoch 2 loss=0.4\nepoch 1 model a_b/loss=0.9\nepoch 2 model a_b/loss=0.8\nepoch 3 loss=0.3\n");
	assert_non_null(strstr(remarks, "loss is that of model vgg alone; model a_b is shown as model a_b/loss"));
	expect("l.csv", "epoch,model,loss\n1,small,0.5\n2,large,0.4\n", "epoch 1 loss=0.5\nepoch 2 loss=0.4\n");
	assert_string_equal(remarks, "");
	struct buf many = buf_make(BUF_UNLIMITED);
	buf_add_text(&many, "seed,epoch,loss\n");
	for (int seed = 0; seed < 66; seed++)
		buf_addf(&many, "%d,1,%d\n", seed, seed);
	const char *read = read_as("l.csv", buf_text(&many), many.len, many.len);
	assert_non_null(strstr(read, "epoch 1 seed 64/loss=64\n"));
	assert_null(strstr(read, "=65"));
	assert_string_equal(complaint, "line 67: too many parts of the data; 'seed 65' is left out");
	buf_free(&many);
	/* The rank of an adapter, also one that changes, is a number like others. */
	expect("l.csv", "epoch,loss,rank\n1,0.5,8\n2,0.25,16\n",
	       "epoch 1 loss=0.5 rank=8\nepoch 2 loss=0.25 rank=16\n");
}

static void test_numbers_in_quotes_count_where_their_name_says_so(void **state)
{
	(void)state;
	expect("l.jsonl", "{\"epoch\":\"5\",\"loss\":\"0.5\",\"id\":\"77\"}\n{\"epoch\":\"7\",\"loss\":0.25}\n",
	       "epoch 5 loss=0.5\nepoch 7 loss=0.25\n");
	expect("l.jsonl", "{\"_step\":0,\"loss\":2}\n{\"_step\":10,\"loss\":1}\n", "step 0 loss=2\nstep 10 loss=1\n");
}

static void test_every_sparse_row_of_lightning_is_kept(void **state)
{
	(void)state;
	expect("metrics.csv", "epoch,step,train_loss,val_loss\n0,49,0.5,\n0,49,,0.25\n,99,,0.2\n1,99,0.4,\n",
	       "step 49@0 train_loss=0.5\nstep 49@0 val_loss=0.25\nstep 99@0 val_loss=0.2\nstep 99@1 train_loss=0.4\n");
	/* One epoch with val_check_interval: five points. */
	expect("metrics.csv", "epoch,step,val_loss\n0,1,5\n0,3,4\n0,5,3\n0,7,2\n0,9,1\n",
	       "step 1@0 val_loss=5\nstep 3@0 val_loss=4\nstep 5@0 val_loss=3\nstep 7@0 val_loss=2\n"
	       "step 9@0 val_loss=1\n");
}

static void test_the_finest_column_that_grows_is_the_step(void **state)
{
	(void)state;
	expect("progress.csv", "time/iterations,time/total_timesteps,rollout/ep_rew_mean\n1,2048,9\n2,4096,10\n",
	       "total_timesteps 2048 time/iterations=1 rollout/ep_rew_mean=9\n"
	       "total_timesteps 4096 time/iterations=2 rollout/ep_rew_mean=10\n");
	/* A batch is counted anew in every epoch. */
	expect("x.csv", "epoch,batch,loss\n0,0,4\n0,1,3\n1,0,2\n1,1,1\n",
	       "batch 0@0 loss=4\nbatch 1@0 loss=3\nbatch 2@1 loss=2\nbatch 3@1 loss=1\n");
	/* A column that stands still counts nothing when the epoch grows. */
	expect("x.csv", "epoch,step,loss\n0,0,3\n1,0,2\n2,0,1\n", "step 0@0 loss=3\nepoch 1 loss=2\nepoch 2 loss=1\n");
	/* Finer columns may come later. */
	expect("x.jsonl", "{\"epoch\": 0, \"lr\": 1}\n{\"epoch\": 0, \"step\": 5, \"loss\": 2}\n",
	       "epoch 0 lr=1\nstep 5@0 loss=2\n");
}

static void test_rows_within_an_epoch_are_all_kept(void **state)
{
	(void)state;
	expect("x.csv", "epoch,loss\n0,6\n0,5\n1,4\n1,3\n",
	       "epoch 0 loss=6\nrow 1@0 loss=5\nrow 2@1 loss=4\nrow 3@1 loss=3\n");
	expect("x.csv", "epoch,loss\n0,6\n0.25,5\n0.5,4\n", "epoch 0 loss=6\nrow 1@0.25 loss=5\nrow 2@0.5 loss=4\n");
	expect("x.csv", "epoch,loss\n0.5,6\n1,5\n", "row 1@0.5 loss=6\nrow 2@1 loss=5\n");
	expect("x.csv", "step,loss\n100,4\n100,3\n200,2\n200,1\n",
	       "step 100 loss=4\nstep 101 loss=3\nstep 200 loss=2\nstep 201 loss=1\n");
	/* Sparse rows share a step. */
	expect("x.csv", "epoch,loss,val_loss\n0,6,\n0,,5\n1,4,\n1,,3\n",
	       "epoch 0 loss=6\nepoch 0 val_loss=5\nepoch 1 loss=4\nepoch 1 val_loss=3\n");
}

static void test_rows_count_where_no_column_does(void **state)
{
	(void)state;
	expect("x.csv", "loss,acc\n1,2\n3,4\n", "row 1 loss=1 acc=2\nrow 2 loss=3 acc=4\n");
	expect("x.csv", ",loss\n0,1\n1,2\n", "row 1 loss=1\nrow 2 loss=2\n"); /* pandas' index */
}

static void test_other_columns_can_count(void **state)
{
	(void)state;
	expect("x.csv", "Step,loss\n10,1\n20.0,2\n", "step 10 loss=1\nstep 20 loss=2\n");
	expect("x.csv", "loss,iteration\n1,5\n", "iteration 5 loss=1\n");
	/* A fraction of an epoch does not count; the step beside it does. */
	expect("x.csv", "epoch,step,loss\n0.5,100,1\n", "step 100@0.5 loss=1\n");
}

static void test_separators_and_line_ends_are_recognised(void **state)
{
	(void)state;
	expect("x.csv",
	       "\xef\xbb\xbf"
	       "epoch;loss\r\n0;0,5\r\n1;0.25\r\n",
	       "epoch 0 loss=0.5\nepoch 1 loss=0.25\n");
	expect("x.csv", "epoch\tloss\n0\t1\n", "epoch 0 loss=1\n");
	expect("x.csv", "epoch, loss \n 0 , 1 \n", "epoch 0 loss=1\n");
}

static void test_quotes_may_hold_anything(void **state)
{
	(void)state;
	expect("x.csv", "epoch,\"a \"\"b\"\"\",\"c,d\"\n0,1,\"2\"\n1,\"x\ny\",3\n",
	       "epoch 0 a \"b\"=1 c,d=2\nepoch 1 c,d=3\n");
}

static void test_a_quote_that_is_not_closed_costs_one_row(void **state)
{
	(void)state;
	expect("x.csv", "epoch,note,loss\n0,\"a\",1\n1,\"b,2\n2,c,3\n3,d,4\n",
	       "epoch 0 loss=1\nepoch 2 loss=3\nepoch 3 loss=4\n");
	assert_string_equal(complaint, "line 3 opens a quote that is not closed");
	/* Also while the task runs, once more lines came than any record has. */
	struct buf text = buf_make(BUF_UNLIMITED), wanted = buf_make(BUF_UNLIMITED);
	buf_add_text(&text, "epoch,note,loss\n0,\"a,1\n");
	for (int i = 1; i < 20000; i++) {
		buf_addf(&text, "%d,x,2\n", i);
		buf_addf(&wanted, "epoch %d loss=2\n", i);
	}
	expect("x.csv", buf_text(&text), buf_text(&wanted));
	buf_free(&text);
	buf_free(&wanted);
}

static void test_a_broken_row_is_skipped_and_named(void **state)
{
	(void)state;
	expect("x.csv", "epoch,loss\n0,1\n1\n2,3,4\n3,5\n4,6,\n", "epoch 0 loss=1\nepoch 3 loss=5\nepoch 4 loss=6\n");
	assert_string_equal(complaint, "line 3 has 1 fields, the header 2");
	expect("x.csv", "epoch,loss,note\n0,1.2k,2nd\n1,0.5,3rd\n", "epoch 1 loss=0.5\n");
	assert_string_equal(complaint, "line 2: '1.2k' in the column 'loss' is not a number");
	expect("x.csv", "epoch,loss,note\n0,NA,2nd\n1,0.5,3rd\n", "epoch 1 loss=0.5\n");
	assert_string_equal(complaint, "");
	expect("x.csv", "epoch,loss\nEpoch 5,2\nEpoch 6,1\n", "row 1 loss=2\nrow 2 loss=1\n");
	assert_string_equal(complaint,
			    "line 2: 'Epoch 5' in the column 'epoch' is not a number; without it the rows are counted");
	expect("x.csv", "epoch,loss,loss\n1,2,3\n", "epoch 1 loss=2\n");
	assert_string_equal(complaint, "the column 'loss' is there twice: the first one counts");
	expect("x.csv", "epoch;a;b;c\n1;tensor(0.5, device='cuda:0');[2];np.float64(3.5)\n2;[1, 2];f(3);[]\n",
	       "epoch 1 a=0.5 b=2 c=3.5\n");
	assert_string_equal(complaint, "");
}

static void test_a_last_line_without_its_end_counts_at_the_end_only(void **state)
{
	(void)state;
	struct metrics_reader *reader = metrics_open(metrics_format_for("x.csv", NULL, 0), write_row, &rows);
	buf_clear(&rows);
	metrics_feed(reader, "epoch,loss\n0,0.12", 17);
	assert_string_equal(buf_text(&rows), "");
	metrics_feed(reader, "5", 1);
	metrics_finish(reader);
	assert_string_equal(buf_text(&rows), "epoch 0 loss=0.125\n");
	metrics_free(reader);
}

static void test_steps_never_go_backwards(void **state)
{
	(void)state;
	expect("x.csv", "epoch,loss\n0,1\n1,2\n0,3\n1,4\n0,5\n",
	       "epoch 0 loss=1\nepoch 1 loss=2\nepoch 2 loss=3\nepoch 3 loss=4\nepoch 4 loss=5\n");
	expect("x.csv", "epoch,loss\n0,1\nepoch,loss\n0,3\n", "epoch 0 loss=1\nepoch 1 loss=3\n");
}

/* No row is lost, and none is shown under another step than its own without a remark. */
static void test_steps_that_are_not_those_of_the_file_are_remarked(void **state)
{
	(void)state;
	expect("b.csv", "step,loss\n10,1.5\n20,1.25\n20,1\n15,3\n16,4\n",
	       "step 10 loss=1.5\nstep 20 loss=1.25\nstep 21 loss=1\nstep 22 loss=3\nstep 23 loss=4\n");
	assert_string_equal(remarks,
			    "line 4: step 20 is there already; the row is shown as step 21, the next free one\n"
			    "line 5: step 15 comes after 20; it is shown as step 22, and the rows behind it "
			    "count on from there\n");
	expect("x.jsonl", "{\"epoch\": 1, \"loss\": 3}\n{\"epoch\": 2, \"loss\": 2}\n{\"epoch\": 1, \"loss\": 1}\n",
	       "epoch 1 loss=3\nepoch 2 loss=2\nepoch 3 loss=1\n");
	assert_string_equal(remarks,
			    "line 3: epoch 1 comes after 2; it is shown as epoch 3, and the rows behind it count "
			    "on from there\n");
	/* A batch that begins anew in every epoch is shown under other numbers, too. */
	expect("x.csv", "epoch,batch,loss\n0,0,4\n0,1,3\n1,0,2\n1,1,1\n",
	       "batch 0@0 loss=4\nbatch 1@0 loss=3\nbatch 2@1 loss=2\nbatch 3@1 loss=1\n");
	assert_non_null(strstr(remarks, "line 4: batch 0 comes after 1; it is shown as batch 2"));
	expect("x.csv", "epoch,loss\n0,6\n0,5\n1,4\n", "epoch 0 loss=6\nrow 1@0 loss=5\nrow 2@1 loss=4\n");
	assert_string_equal(
		remarks, "line 3: epoch 0 comes again; rows are counted from there on, with the epoch beside them\n");
	expect("x.csv", "step,loss\n1,6\n1.5,5\n2,4\n", "step 1 loss=6\nrow 2 loss=5\nrow 3 loss=4\n");
	assert_string_equal(remarks, "line 3: step 1.5 is not a whole number; rows are counted from there on\n");
	expect("x.csv", "step,loss\n1,6\n,5\n2,4\n", "step 1 loss=6\nstep 2 loss=5\nstep 3 loss=4\n");
	assert_string_equal(remarks,
			    "line 4: step 2 is there already; the row is shown as step 3, the next free one\n"
			    "line 3: the row has no step and brings values again; it is shown as step 2\n");
	/* What is as it was written has none: sparse rows, fractions of an epoch, rows that nothing counts. */
	expect("m.csv", "epoch,step,train_loss,val_loss\n0,49,0.5,\n0,49,,0.25\n,99,,0.2\n1,99,0.4,\n",
	       "step 49@0 train_loss=0.5\nstep 49@0 val_loss=0.25\nstep 99@0 val_loss=0.2\nstep 99@1 train_loss=0.4\n");
	assert_string_equal(remarks, "");
	expect("x.csv", "epoch,loss\n0.5,6\n1,5\n1.5,4\n", "row 1@0.5 loss=6\nrow 2@1 loss=5\nrow 3@1.5 loss=4\n");
	assert_string_equal(remarks, "");
	expect("x.csv", "epoch,loss\n0,6\n0.25,5\n0.5,4\n", "epoch 0 loss=6\nrow 1@0.25 loss=5\nrow 2@0.5 loss=4\n");
	assert_string_equal(remarks, "");
	expect("x.csv", "loss\n6\n6\n", "row 1 loss=6\nrow 2 loss=6\n");
	assert_string_equal(remarks, "");
	assert_string_equal(complaint, "");
}

static void test_whole_numbers_that_do_not_fit_are_remarked(void **state)
{
	(void)state;
	expect("x.csv", "step,samples,loss\n1,9007199254740993,1e300\n2,9007199254740994,0.5\n",
	       "step 1 samples=9007199254740992 loss=1e+300\nstep 2 samples=9007199254740994 loss=0.5\n");
	assert_string_equal(remarks,
			    "line 2: samples 9007199254740993 is kept as 9007199254740992: whole numbers are "
			    "exact up to 2^53\n");
	expect("x.jsonl", "{\"step\": 1, \"n\": -12345678901234567890}\n", "step 1 n=-1.2345678901234567e+19\n");
	assert_non_null(strstr(remarks, "line 1: n -12345678901234567890 is kept as -12345678901234567168:"));
	expect("x.csv", "step,n\n1,9007199254740992\n2,18014398509481984\n3,10000000000000000000\n",
	       "step 1 n=9007199254740992\nstep 2 n=18014398509481984\nstep 3 n=1e+19\n");
	assert_string_equal(remarks, "");
}

static void test_a_resumed_file_counts_by_itself_again(void **state)
{
	(void)state;
	struct metrics_reader *reader = metrics_open(metrics_format_for("x.csv", NULL, 0), write_row, &rows);
	buf_clear(&rows);
	metrics_feed(reader, "epoch,loss\n0,1\n1,2\n2,3\n", 23);
	metrics_resume(reader);
	metrics_feed(reader, "1,20\n2,30\n3,40\n", 15);
	assert_string_equal(buf_text(&rows),
			    "epoch 0 loss=1\nepoch 1 loss=2\nepoch 2 loss=3\n"
			    "epoch 1 loss=20\nepoch 2 loss=30\nepoch 3 loss=40\n");
	metrics_free(reader);
}

static void test_a_file_that_begins_anew_has_a_new_header(void **state)
{
	(void)state;
	struct metrics_reader *reader = metrics_open(metrics_format_for("x.csv", NULL, 0), write_row, &rows);
	buf_clear(&rows);
	metrics_feed(reader, "epoch,loss\n5,1\n6,\"half", 22);
	metrics_restart(reader);
	metrics_feed(reader, "step,acc\n0,2\n", 13);
	assert_string_equal(buf_text(&rows), "epoch 5 loss=1\nstep 0 acc=2\n");
	metrics_free(reader);
}

static void test_a_file_of_bare_numbers_is_refused_in_words(void **state)
{
	(void)state;
	expect("x.csv", "0.1,0.2\n0.3,0.4\n", "");
	assert_non_null(strstr(complaint, "header"));
}

static void test_names_are_cleaned_and_bounded(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	buf_add_text(&text, "bad\xff name,");
	for (int i = 0; i < 300; i++)
		buf_add_text(&text, "\xc3\xa9");
	buf_add_text(&text, ",same,same\n1,2,3,4\n");
	read_as("x.csv", text.data, text.len, 1000);
	assert_true(strncmp(buf_text(&rows), "row 1 bad\xc3\xbf name=1 \xc3\xa9", 21) == 0);
	assert_true(rows.len < 200);
	assert_non_null(strstr(buf_text(&rows), " same=3\n"));
	buf_free(&text);
}

static void test_wide_and_long_lines_are_bounded(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	for (int i = 0; i < 400; i++)
		buf_addf(&text, "%sm%d", i ? "," : "", i);
	buf_add_char(&text, '\n');
	for (int i = 0; i < 400; i++)
		buf_addf(&text, "%s%d", i ? "," : "", i);
	buf_add_char(&text, '\n');
	for (int i = 0; i < LIMIT_METRIC_LINE_BYTES + 10; i++)
		buf_add_char(&text, '1');
	buf_add_char(&text, '\n');
	read_as("x.csv", text.data, text.len, 4096);
	assert_non_null(strstr(buf_text(&rows), " m255=255\n"));
	assert_null(strstr(buf_text(&rows), "m256"));
	assert_non_null(strstr(complaint, "more than 256"));
	assert_null(strchr(strchr(buf_text(&rows), '\n') + 1, '\n'));
	buf_free(&text);
}

static void test_json_lines_are_read(void **state)
{
	(void)state;
	expect("x.jsonl",
	       "{\"epoch\": 1, \"loss\": 0.5, \"name\": \"x\", \"ok\": true}\n"
	       "{\"epoch\": 2, \"loss\": NaN, \"more\": [1, {\"deep\": \"]}\"}], \"up\": Infinity, \"d\": \"-Infinity\"}\r\n"
	       "\n{}\n",
	       "epoch 1 loss=0.5\nepoch 2 loss=nan up=inf d=-inf\n");
	assert_string_equal(complaint, "");
	expect("x.jsonl", "{\"loss\": 1}\n[1]\n{\"loss\": 2\n{\"loss\": 3} x\n{\"loss\": 4}",
	       "row 1 loss=1\nrow 2 loss=4\n");
	assert_string_equal(complaint, "line 2 is not a JSON object");
}

static void test_json_lines_may_be_nested(void **state)
{
	(void)state;
	expect("x.jsonl", "{\"step\": 1, \"train\": {\"loss\": 2, \"more\": {\"acc\": 3}}, \"l\": [1, 2]}\n",
	       "step 1 train/loss=2 train/more/acc=3\n");
}

static void test_json_files_are_read_in_all_their_shapes(void **state)
{
	(void)state;
	expect("results.json", "{\n  \"val_loss\": 0.5,\n  \"test\": {\"acc\": 0.75},\n  \"model\": \"x\"\n}\n",
	       "row 1 val_loss=0.5 test/acc=0.75\n");
	expect("metrics.json", "{\"iteration\": 19, \"total_loss\": 2}\n{\"iteration\": 39, \"total_loss\": 1}\n",
	       "iteration 19 total_loss=2\niteration 39 total_loss=1\n");
	expect("history.json", "{\"loss\": [3, 2, 1], \"val_loss\": [6, NaN, 4], \"params\": [\"a\"]}",
	       "row 1 loss=3 val_loss=6\nrow 2 loss=2 val_loss=nan\nrow 3 loss=1 val_loss=4\n");
	/* Two objects with the same names are two parts of the data, with steps of their own. */
	expect("history.json",
	       "{\"train\": {\"epoch\": [1, 2], \"loss\": [4, 3]}, \"val\": {\"epoch\": [2], \"loss\": [5]}, \"test_acc\": 0.5}",
	       "epoch 1 train/loss=4\nepoch 2 train/loss=3\nepoch 2 val/loss=5\nrow 1 test_acc=0.5\n");
	assert_string_equal(remarks, "");
	expect("trainer_state.json",
	       "{\"best_metric\": null, \"epoch\": 1.0, \"global_step\": 2, \"log_history\": [\n"
	       " {\"epoch\": 0.5, \"loss\": 2.5, \"step\": 1},\n {\"epoch\": 1.0, \"eval_loss\": 2, \"step\": 2}\n],"
	       " \"max_steps\": 2}",
	       "step 1@0.5 loss=2.5\nstep 2@1 eval_loss=2\n");
	expect("list.json", "[{\"epoch\": 0, \"loss\": 2}, 7, {\"epoch\": 1, \"loss\": 1}]",
	       "epoch 0 loss=2\nepoch 1 loss=1\n");
	assert_string_equal(complaint, "");
	expect("cut.json", "{\"loss\": 1}\n{\"loss\": ", "row 1 loss=1\n");
	assert_string_equal(complaint, "line 2 begins a value that has no end");
}

static void test_any_separator_and_a_header_that_changes(void **state)
{
	(void)state;
	expect("x.tsv", "epoch\tloss\n0\t1\n", "epoch 0 loss=1\n");
	expect("x.csv", "epoch|loss\n0|1\n", "epoch 0 loss=1\n");
	expect("x.csv", "  epoch   loss\n      0    1.5\n      1   0.5\n", "epoch 0 loss=1.5\nepoch 1 loss=0.5\n");
	expect("x.csv", "Unnamed: 0,epoch,loss\n0,5,1\n", "epoch 5 loss=1\n");
	expect("x.csv", "epoch,loss\n0,3\nepoch,loss,acc\n1,2,0.5\n", "epoch 0 loss=3\nepoch 1 loss=2 acc=0.5\n");
	assert_string_equal(complaint, "");
}

/* A format without lines: every byte is a step, and the end is one more. */
static void feed_bytes(struct metrics_reader *reader, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		metrics_add(reader, "epoch", 7);
		metrics_give_at(reader, data[i] - '0', "step", 1000);
	}
}

static void finish_bytes(struct metrics_reader *reader)
{
	metrics_add(reader, "end", 1);
	metrics_give_at(reader, 0, "step", 0);
}

static void test_a_format_without_lines_gives_steps_as_they_are(void **state)
{
	static const struct metrics_ops ops = {.feed = feed_bytes, .finish = finish_bytes};
	(void)state;
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	struct metrics_reader *reader = metrics_reader_new(sizeof(*reader), &ops, write_row, &rows);
	metrics_feed(reader, "31", 2);
	metrics_finish(reader);
	metrics_free(reader);
	assert_string_equal(buf_text(&rows), "step 3 epoch=7\nstep 1 epoch=7\nstep 0 end=1\n");
}

static void test_formats_are_recognised_by_name(void **state)
{
	(void)state;
	assert_string_equal(metrics_format_for("a/b.csv", NULL, 0)->name, "csv");
	assert_string_equal(metrics_format_for("log.jsonl", NULL, 0)->name, "jsonl");
	static const char table[] = "step loss\n1 2\n", lines[] = "{\"loss\": 1}\n",
			  prose[] = "Training, epoch 1\nloss, 2\n";
	assert_string_equal(metrics_format_for("log.txt", table, strlen(table))->name, "csv");
	assert_string_equal(metrics_format_for("train.log", lines, strlen(lines))->name, "jsonl");
	assert_string_equal(metrics_format_for("train.log", prose, strlen(prose))->name, "log");
	assert_null(metrics_format_for("notes.txt", prose, strlen(prose)));
	assert_string_equal(metrics_format_for("results.json", NULL, 0)->name, "json");
	assert_null(metrics_format_for("a.csv.tmp", NULL, 0));
	assert_null(metrics_format_for("", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_keras_log_is_read),
		cmocka_unit_test(test_cells_without_a_number_are_passed_over),
		cmocka_unit_test(test_parts_of_the_data_in_one_file_are_curves_of_their_own),
		cmocka_unit_test(test_a_long_table_has_a_curve_for_every_name),
		cmocka_unit_test(test_ranks_and_folds_in_one_file_are_curves_of_their_own),
		cmocka_unit_test(test_numbers_in_quotes_count_where_their_name_says_so),
		cmocka_unit_test(test_every_sparse_row_of_lightning_is_kept),
		cmocka_unit_test(test_the_finest_column_that_grows_is_the_step),
		cmocka_unit_test(test_rows_within_an_epoch_are_all_kept),
		cmocka_unit_test(test_rows_count_where_no_column_does),
		cmocka_unit_test(test_other_columns_can_count),
		cmocka_unit_test(test_separators_and_line_ends_are_recognised),
		cmocka_unit_test(test_quotes_may_hold_anything),
		cmocka_unit_test(test_a_quote_that_is_not_closed_costs_one_row),
		cmocka_unit_test(test_a_broken_row_is_skipped_and_named),
		cmocka_unit_test(test_a_last_line_without_its_end_counts_at_the_end_only),
		cmocka_unit_test(test_steps_never_go_backwards),
		cmocka_unit_test(test_steps_that_are_not_those_of_the_file_are_remarked),
		cmocka_unit_test(test_whole_numbers_that_do_not_fit_are_remarked),
		cmocka_unit_test(test_a_resumed_file_counts_by_itself_again),
		cmocka_unit_test(test_a_file_that_begins_anew_has_a_new_header),
		cmocka_unit_test(test_a_file_of_bare_numbers_is_refused_in_words),
		cmocka_unit_test(test_names_are_cleaned_and_bounded),
		cmocka_unit_test(test_wide_and_long_lines_are_bounded),
		cmocka_unit_test(test_json_lines_are_read),
		cmocka_unit_test(test_a_format_without_lines_gives_steps_as_they_are),
		cmocka_unit_test(test_json_lines_may_be_nested),
		cmocka_unit_test(test_json_files_are_read_in_all_their_shapes),
		cmocka_unit_test(test_any_separator_and_a_header_that_changes),
		cmocka_unit_test(test_formats_are_recognised_by_name),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_free(&rows);
	return failed;
}
