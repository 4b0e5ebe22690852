/* What scripts print: lines as real frameworks and people print them, and lines that must give nothing. Each case begins
 * with a fresh reader. */
#include "../unit.h"
#include "printed_formats.h"

#include "base/buf.h"
#include "base/num.h"
#include "metrics/metrics.h"

#include <inttypes.h>
#include <stdio.h>

static struct buf rows;

static void write_row(void *ctx, const struct metrics_row *row)
{
	(void)ctx;
	buf_addf(&rows, "%s%s %" PRId64, rows.len ? "; " : "", row->step_name, row->step);
	for (size_t i = 0; i < row->count; i++) {
		char value[NUM_REAL_CHARS];
		num_format_real(row->metrics[i].value, value);
		buf_addf(&rows, ", %s=%s", row->metrics[i].name, value);
	}
}

static char complained[256]; /* the complaint */

static const char *read_pieces(const char *text, size_t len, size_t piece)
{
	struct metrics_reader *reader = metrics_open(metrics_format_printed(), write_row, NULL);
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, text + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	snprintf(complained, sizeof(complained), "%s", metrics_complaint(reader) ? metrics_complaint(reader) : "");
	metrics_free(reader);
	return buf_text(&rows);
}

static const struct {
	const char *text, *wanted;
} reports[] = {
	/* Keras */
	{"Epoch 1/4\n6/6 - 4s - 687ms/step - accuracy: 0.4896 - loss: 0.6982 - val_accuracy: 0.5469 - val_loss: 0.6957\n",
	 "epoch 1, accuracy=0.4896, loss=0.6982, val_accuracy=0.5469, val_loss=0.6957"},
	{"Epoch 2/4\n\r\x1b[1m1/6\x1b[0m \x1b[32m━━━\x1b[0m\x1b[37m━━━\x1b[0m \x1b[1m12s\x1b[0m 3s/step - accuracy: 0.4062 - "
	 "loss: 0.7154\b\b\b\b\b\r\x1b[1m6/6\x1b[0m \x1b[32m━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m4s\x1b[0m 200ms/step - accuracy: "
	 "0.4896 - loss: 0.6982 - val_accuracy: 0.5469 - val_loss: 0.6957\n",
	 "epoch 2, accuracy=0.4896, loss=0.6982, val_accuracy=0.5469, val_loss=0.6957"},
	{"Epoch 3/10\n 32/100 [========>.....................] - ETA: 0s - loss: 0.5\b\b\b\b\r100/100 "
	 "[==============================] - 1s 3ms/step - loss: 0.3000 - val_loss: 0.2000\n",
	 "epoch 3, loss=0.3, val_loss=0.2"},
	{"Epoch 1/2\n5/5 - 0s - loss: 1.5 - lr: 0.0010\nEpoch 2/2\n5/5 - 0s - loss: nan - lr: 0.0010\n",
	 "epoch 1, loss=1.5, lr=0.001; epoch 2, loss=nan, lr=0.001"},
	{"Epoch 1/1\n6/6 - 1s - loss: 0.7 - accuracy: 0.5\n2/2 - 0s - loss: 0.9 - accuracy: 0.4\n",
	 "epoch 1, loss=0.7, accuracy=0.5; epoch 1, evaluate loss=0.9, evaluate accuracy=0.4"},
	{"Epoch 00001: val_loss improved from inf to 0.52145, saving model to m.h5\nEpoch 1/9\n3/3 - 0s - loss: 2\n",
	 "epoch 1, loss=2"},
	{"[500/5,000] G_loss: +2.829 D_loss: -5.224\n[1,000/5,000] G_loss: +1.5 D_loss: +0.25\n",
	 "step 500, G_loss=2.829, D_loss=-5.224; step 1000, G_loss=1.5, D_loss=0.25"},
	/* PyTorch's examples and tutorials */
	{"Train Epoch: 1 [640/60000 (1%)]\tLoss: 0.512345\n", "step 640, Train Loss=0.512345"},
	{"Train Epoch: 2 [0/60000 (0%)]\tLoss: 0.5\n", "step 60000, Train Loss=0.5"},
	{"Train Epoch: 1 [0/100 (0%)]\tLoss: 2.3\n\nTest set: Average loss: 0.0500, Accuracy: 9876/10000 (99%)\n\n",
	 "step 0, Train Loss=2.3; epoch 1, Test set Average loss=0.05, Test set Accuracy=0.9876"},
	{"Epoch: [0][ 10/5005]\tTime  0.123 ( 0.345)\tData  0.001 ( 0.100)\tLoss 6.9e+00 (7.0e+00)\tAcc@1   0.39 (  0.21)\n",
	 "step 10, Loss=6.9, Acc@1=0.39"},
	{"[1,  2000] loss: 2.173\n[1,  4000] loss: 1.855\n", "epoch 1, loss=2.173; row 2, loss=1.855"},
	{"Epoch 1\n-------------------------------\nloss: 2.303494  [   64/60000]\n", "step 64, loss=2.303494"},
	{"Epoch 5\nTest Error: \n Accuracy: 45.6%, Avg loss: 2.156 \n", "epoch 5, Accuracy=45.6, Avg loss=2.156"},
	{"Epoch [3/10], Step [100/600], Loss: 0.1234\n", "step 1300, Loss=0.1234"},
	{"Epoch [1/5], Loss: 0.4321\n", "epoch 1, Loss=0.4321"},
	{"Epoch: 3 | train_loss: 0.5 | train_acc: 0.81 | test_loss: 0.6 | test_acc: 0.79\n",
	 "epoch 3, train_loss=0.5, train_acc=0.81, test_loss=0.6, test_acc=0.79"},
	{"Epoch 7 loss: tensor(0.3456, grad_fn=<MseLossBackward0>)\n", "epoch 7, loss=0.3456"},
	{"epoch 4 loss 0.25 acc 0.9\n", "epoch 4, loss=0.25, acc=0.9"},
	{"Epoch 10 \t Training Loss: 0.123 \t Validation Loss: 0.456\n",
	 "epoch 10, Training Loss=0.123, Validation Loss=0.456"},
	{"| epoch   1 |   200/ 2928 batches | lr 20.00 | ms/batch 12.34 | loss  7.63 | ppl  2058.13\n",
	 "step 200, loss=7.63, ppl=2058.13"},
	{"[Epoch 2/5] [Batch 10/938] [D loss: 0.512] [G loss: 1.234]\n", "step 948, D loss=0.512, G loss=1.234"},
	{"Epoch 3, Loss: 0.5000, Train: 0.9, Val: 0.8, Test: 0.81\n",
	 "epoch 3, Loss=0.5, Train=0.9, Val=0.8, Test=0.81"},
	{"Epoch: 005, Loss: 1.7, Acc: 0.5\n", "epoch 5, Loss=1.7, Acc=0.5"},
	{"[2/25][100/1583]\tLoss_D: 0.3\tLoss_G: 4.5\n", "step 1683, Loss_D=0.3, Loss_G=4.5"},
	{"Epoch 1/24\n----------\ntrain Loss: 0.6 Acc: 0.7\nval Loss: 0.5 Acc: 0.8\n",
	 "epoch 1, train Loss=0.6, train Acc=0.7; epoch 1, val Loss=0.5, val Acc=0.8"},
	{"Epoch 3 | Train: loss 0.5 acc 0.8 | Val: loss 0.6 acc 0.7 | lr 0.1\n",
	 "epoch 3, Train loss=0.5, Train acc=0.8, Val loss=0.6, Val acc=0.7"},
	{"epoch 2: train loss 0.5, acc 0.8, val loss 0.6, acc 0.7\n",
	 "epoch 2, train loss=0.5, train acc=0.8, val loss=0.6, val acc=0.7"},
	{"step 0: train loss 4.2874, val loss 4.2823\n", "step 0, train loss=4.2874, val loss=4.2823"},
	{"iter 10: loss 3.2454, time 105.56ms, mfu 12.30%\n", "step 10, loss=3.2454"},
	{"step=200, loss=0.75, grad_norm=1.5\n", "step 200, loss=0.75, grad_norm=1.5"},
	{"Iteration 300 / 1000: loss 1.75\n", "step 300, loss=1.75"},
	{"Epoch 3: train loss = 0.5, val loss = 0.6 (best: 0.55)\n", "epoch 3, train loss=0.5, val loss=0.6"},
	/* loggers */
	{"2024-01-01 12:00:00,123 - INFO - Epoch 3: loss=0.5 acc=0.9\n", "epoch 3, loss=0.5, acc=0.9"},
	{"INFO:root:epoch 3 loss 0.5\n", "epoch 3, loss=0.5"},
	{"[2024-01-01 12:00:00] train.py:34 INFO step 5 loss=0.3\n", "step 5, loss=0.3"},
	{"01/02 10:11:12 - mmengine - INFO - Epoch(train)  [1][ 50/391]  lr: 1.0000e-02  eta: 0:01:00  time: 0.1234  data_time: "
	 "0.01  memory: 500  loss: 2.3\n",
	 "step 50, lr=0.01, loss=2.3"},
	{"\x1b[32mepoch 2\x1b[0m \x1b[1mval_loss: 0.5\x1b[0m\n", "epoch 2, val_loss=0.5"},
	/* What stands between a number and the next name */
	{"epoch 1 loss: 0.5 nats acc: 0.9\n", "epoch 1, loss=0.5, acc=0.9"},
	{"epoch 1 loss=None acc=0.9\n", "epoch 1, acc=0.9"},
	{"epoch 1 loss: 1 234.5 acc: 0.9\n", "epoch 1, acc=0.9"},
	/* tqdm and Lightning */
	{"\rEpoch 0:   0%|          | 0/16 [00:00<?, ?it/s]\rEpoch 0: 100%|██████████| 16/16 [00:00<00:00, 57.39it/s, v_num=0, "
	 "train_loss=0.596, val_loss=0.493]\n",
	 "epoch 0, train_loss=0.596, val_loss=0.493"},
	{"\rEpoch 0: 100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.5]\rEpoch 1: 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.4]\r"
	 "Epoch 1: 100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.3]\n",
	 "epoch 0, loss=0.5; epoch 1, loss=0.3"},
	{"\r 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.4]\r100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.3]\n",
	 "step 1, loss=0.4; step 2, loss=0.3"},
	{"\r 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.5]\r100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.4]\n"
	 "\r 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.4]\r100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.3]\n",
	 "row 1, loss=0.4; row 2, loss=0.3"},
	{"\rloss 0.4:  50%|█ | 1/2 [00:00<00:00, 9it/s]\rloss 0.3: 100%|██| 2/2 [00:00<00:00, 9it/s]\n",
	 "step 1, loss=0.4; step 2, loss=0.3"},
	{"\rSteps: 50%|█ | 1/2 [00:00<00:00, 9it/s, step_loss=0.4]\rSteps: 100%|██| 2/2 [00:00<00:00, 9it/s, step_loss=0.3]\n",
	 "step 1, step_loss=0.4; step 2, step_loss=0.3"},
	{"\rEpochs 1/3. Running Loss:    0.5: 100%|██| 2/2 [00:00<00:00, 9it/s]\n", "epoch 1, Running Loss=0.5"},
	{"\rEpochs: 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.4]\rEpochs: 100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.3]\n",
	 "epoch 1, loss=0.4; epoch 2, loss=0.3"},
	{"\rEpochs: 0%|  | 0/2 [00:00<?, ?it/s]\rEpochs: 0%|  | 0/2 [00:00<?, ?it/s, loss=0.5]\r"
	 "Epochs: 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.5]\rEpochs: 50%|█ | 1/2 [00:00<00:00, 9it/s, loss=0.3]\r"
	 "Epochs: 100%|██| 2/2 [00:00<00:00, 9it/s, loss=0.3]\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.3"},
	{"train: 100%|██| 4/4 [00:00<00:00, 9it/s, loss=2]\nEpochs: 50%|█ | 1/2 [00:00<00:00, 9it/s, val_loss=1]\n"
	 "train: 100%|██| 4/4 [00:00<00:00, 9it/s, loss=3]\nEpochs: 100%|█ | 2/2 [00:00<00:00, 9it/s, val_loss=4]\n",
	 "row 1, train loss=2; row 2, train loss=3; epoch 1, val_loss=1; epoch 2, val_loss=4"},
	{"Epoch 2/2  ━━━━━ 16/16 0:00:00 • 0:00:00 57.39it/s train_loss: 0.596\n      val_loss: 0.493\n",
	 "epoch 2, train_loss=0.596; epoch 2, val_loss=0.493"},
	{"\rEpoch 1/3 loss: 0.5\rEpoch 2/3 loss: 0.4\rEpoch 3/3 loss: 0.3\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.4; epoch 3, loss=0.3"},
	/* Hugging Face */
	{"{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 1.0}\n",
	 "epoch 1, loss=0.5, grad_norm=1.25, learning_rate=1e-05"},
	{"{'loss': '0.6912', 'grad_norm': '0.2071', 'learning_rate': '0.0009167', 'epoch': '0.375'}\n"
	 "{'loss': '0.6', 'grad_norm': '0.2', 'learning_rate': '0.0007', 'epoch': '0.75'}\n",
	 "row 1, loss=0.6912, grad_norm=0.2071, learning_rate=0.0009167; row 2, loss=0.6, grad_norm=0.2, learning_rate=0.0007"},
	{"{'eval_loss': 0.25, 'eval_accuracy': np.float64(0.875), 'epoch': 2.0}\n",
	 "epoch 2, eval_loss=0.25, eval_accuracy=0.875"},
	{"{'loss': nan, 'epoch': 3}\n", "epoch 3, loss=nan"},
	{"{\"step\": 10, \"loss\": 0.5}\n", "step 10, loss=0.5"},
	/* boosting */
	{"[0]\ttrain-rmse:1.63919\tvalid-rmse:1.67225\n[1]\ttrain-rmse:1.2\tvalid-rmse:1.3\n",
	 "step 0, train-rmse=1.63919, valid-rmse=1.67225; step 1, train-rmse=1.2, valid-rmse=1.3"},
	{"[0]\tvalidation_0-my_own:0.5\n", "step 0, validation_0-my_own=0.5"},
	{"[10]\tvalid_0's l2: 0.3\tvalid_0's auc: 0.9\n", "step 10, valid_0-l2=0.3, valid_0-auc=0.9"},
	{"[20]\tcv_agg's binary_logloss: 0.35 + 0.012\n", "step 20, cv_agg-binary_logloss=0.35"},
	{"0:\tlearn: 0.6931\ttest: 0.6930\ttotal: 50ms\tremaining: 5s\n", "step 0, learn=0.6931, test=0.693"},
	/* scikit-learn */
	{"Iteration 1, loss = 1.03105226\nIteration 2, loss = 0.9\naccuracy 0.3\n",
	 "step 1, loss=1.03105226; step 2, loss=0.9; step 2, accuracy=0.3"},
	{"Iteration 1, loss = 0.5\nValidation score: 0.93\n", "step 1, loss=0.5; step 1, Validation score=0.93"},
	{"      Iter       Train Loss      OOB Improve   Remaining Time \n         1           3.9875           0.5923            "
	 "0.02s\n         2           3.5160          -0.8723            0.04s\n",
	 "step 1, Train Loss=3.9875, OOB Improve=0.5923; step 2, Train Loss=3.516, OOB Improve=-0.8723"},
	{"[1/100] 1 tree, 31 leaves, max depth = 10, train loss: 0.33, val loss: 0.35, in 0.013s\n",
	 "step 1, max depth=10, train loss=0.33, val loss=0.35"},
	/* one score */
	{"accuracy 0.93\n", "row 1, accuracy=0.93"},
	{"Test accuracy: 0.94\n", "row 1, Test accuracy=0.94"},
	{"Accuracy: 93.5%\n", "row 1, Accuracy=93.5"},
	{"Final test loss = 1e-3", "row 1, Final test loss=0.001"},
	{"RMSE: 3.25\nR2: 0.8\n", "row 1, RMSE=3.25; row 1, R2=0.8"},
	{"Best score: 0.97\n", "row 1, Best score=0.97"},
	{"loss: 3\nloss: 2\nloss: 1\n", "row 1, loss=3; row 2, loss=2; row 3, loss=1"},
	{"test loss is 0.5\n", "row 1, test loss=0.5"},
	{"Mean squared error: 12.5\n", "row 1, Mean squared error=12.5"},
	{"Train loss: 0.5, Test loss: 0.6\n", "row 1, Train loss=0.5, Test loss=0.6"},
	/* the same name counted in two ways is two curves */
	{"Epoch 1 step 10 loss 0.5\nEpoch 1 loss 0.45\n", "step 10, loss=0.5; epoch 1, loss (epoch)=0.45"},
	/* a second training goes on */
	{"epoch 1 loss 3\nepoch 2 loss 2\nepoch 1 loss 5\n", "epoch 1, loss=3; epoch 2, loss=2; epoch 3, loss=5"},
	/* four processes print the same line */
	{"epoch 1 loss 3\nepoch 1 loss 3\nepoch 2 loss 2\nepoch 2 loss 2\n", "epoch 1, loss=3; epoch 2, loss=2"},
	{"epoch 1 loss 3\r\nepoch 2 loss 2\r\n", "epoch 1, loss=3; epoch 2, loss=2"},
};

static const char *const nothing[] = {
	"",
	"\n\n\n",
	"Hello",
	"Using 4 workers",
	"CUDA 12.1",
	"CUDA version: 12.1",
	"torch 2.5.0+cu121, python 3.11.7",
	"Listening on port 8080",
	"Serving at http://localhost:6006/ (Press CTRL+C to quit)",
	"TensorBoard 2.17.0 at http://localhost:6006/",
	"GPU 0: NVIDIA A100-SXM4-80GB, 81251 MiB",
	"Memory: 16.5 GB used of 64 GB",
	"Total params: 1,234,567 (4.71 MB)",
	"Trainable params: 1,234,567",
	"Number of parameters: 124439808",
	" dense (Dense)               (None, 8)                 72        ",
	"| Name  | Type       | Params | Mode ",
	"0 | layer | Sequential | 90     | train",
	"90        Trainable params",
	"Seed set to 3",
	"seed: 42",
	"batch_size: 32, lr: 0.001, epochs: 10",
	"Namespace(batch_size=32, epochs=10, lr=0.001, seed=1)",
	"{'batch_size': 32, 'lr': 0.001, 'optimizer': 'adam'}",
	"Loading checkpoint from epoch 5",
	"Resuming from epoch 5 with loss 0.3",
	"Best epoch: 3, val_loss: 0.2",
	"Early stopping at epoch 12, loss 0.4",
	"Restoring model weights from the end of the best epoch: 3.",
	"Epoch 5: val_loss did not improve from 0.41234",
	"Epoch 5: val_loss improved from 0.52145 to 0.41, saving model to model-05-0.41.keras",
	"Epoch 00010: reducing learning rate of group 0 to 1.0000e-03.",
	"Epoch 12: early stopping",
	"Epoch 3/10",
	"Epoch 3 finished in 12.3s",
	"Epoch 1: 100%|##########| 10/10 [00:01<00:00,  9.5it/s]",
	"  4%|4         | 1/24 [00:00<00:05,  4.51it/s]",
	"Downloading data: 100%|##########| 1.2G/1.2G [00:10<00:00, 120MB/s]",
	"Map: 100%|##########| 64/64 [00:00<00:00, 1234.5 examples/s]",
	"Writing model shards: 100%|###| 1/1 [00:00<00:00, 99.33it/s]",
	"Saved model to out/epoch=2-step=48-val_loss=0.31.ckpt",
	"model saved at step 500 (loss_0.31.pt)",
	"Traceback (most recent call last):\n  File \"train.py\", line 10, in <module>\n    loss = model(x)\nValueError: bad loss: 3",
	"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
	"ConnectionError: 111",
	"error: 2",
	"Error: 5",
	"exit code: 1",
	"return: 0",
	"WARNING:tensorflow:loss 0.5 at step 3 is large",
	"UserWarning: The loss is 0.5 at epoch 3",
	"2024-01-01 12:00:00 INFO starting",
	"12:30:05 started",
	"I0000 00:00:1794945421.258189    1135 cpu_feature_guard.cc:227] This TensorFlow binary is optimized",
	"[LightGBM] [Info] Number of positive: 117, number of negative: 83",
	"[LightGBM] [Info] [binary:BoostFromScore]: pavg=0.585000 -> initscore=0.343333",
	"[LightGBM] [Info] Start training from score 0.343333",
	"[LightGBM] [Warning] No further splits with positive gain, best gain: -inf",
	"[12] retries: 3",
	"[11:40:22] WARNING: src/learner.cc:740: Parameters: { \"x\" } are not used.",
	"[1/10] Downloading part 3",
	"The loss function has 3 terms",
	"Using loss weight: 0.5",
	"loss_weight: 0.5",
	"accuracy threshold: 0.9",
	"We expect an accuracy of about 0.9 here",
	"              precision    recall  f1-score   support",
	"           0       0.95      0.90      0.92        50",
	"step 5 of 10 done",
	"Step 1: install the package",
	"Time: 12.5",
	"Elapsed: 3 s",
	"time per epoch: 12.5",
	"learning_rate: 0.001",
	"192.168.0.1 - - [01/Jan/2024:12:00:00] \"GET / HTTP/1.1\" 200 512",
	"job 12345 on node gpu07 started",
	"SLURM_JOB_ID=12345 loss_file=out.txt",
	"x = 3",
	"version: 1.2.3 loss: 4.5.6",
	"3.14159",
	"[CV 4/5] END .......C=1, kernel='linear'; score: (test=0.967) total time=   0.0s",
	"[I 2021-01-01 10:00:00,123] Trial 0 finished with value: 0.93 and parameters: {'lr': 0.01}. Best is trial 0 with value: 0.93.",
	"--------------------------\n| learning_rate | 0.001  |\n| epochs        | 10     |\n--------------------------",
	"      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n       1/30      6.73G      1.235     0.5911       1.14         11        640: 100%|###| 16/16 [00:05<00:00,  2.83it/s]\n                   all        722       1444      0.939",
	"Test: [ 10/196]\tTime  0.233 ( 0.945)\tLoss 5.0e+00 (5.5e+00)\tAcc@1   3.91 (  4.14)",
	"Epoch time: 137.13 s, batch_cost: 0.5",
	"0.5 0.6 0.7",
};

/* However the text arrives in pieces. */
static int is_wrong(const char *text, const char *wanted)
{
	for (size_t piece = strlen(text) + 1; piece; piece = piece > 3 ? 3 : piece > 1 ? 1 : 0) {
		const char *found = read_pieces(text, strlen(text), piece);
		if (strcmp(found, wanted) == 0)
			continue;
		print_error("%s\n  gave   %s\n  wanted %s\n", text, found, wanted);
		return 1;
	}
	return 0;
}

static void test_reports_are_read(void **state)
{
	(void)state;
	int wrong = 0;
	for (size_t i = 0; i < COUNT_OF(reports); i++)
		wrong += is_wrong(reports[i].text, reports[i].wanted);
	assert_int_equal(wrong, 0);
}

static void test_formats_of_libraries_are_read(void **state)
{
	(void)state;
	int wrong = 0;
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		wrong += is_wrong(formats[i].text, formats[i].wanted);
	assert_int_equal(wrong, 0);
}

/* What is printed before the training and behind it is no part of the curve, which has the plain name. */
static void test_values_without_a_count_are_no_part_of_a_counted_curve(void **state)
{
	(void)state;
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"val_loss: 5.0\nepoch 1: val_loss 0.4\nepoch 2: val_loss 0.3\n",
		 "row 1, val_loss (row)=5; epoch 1, val_loss=0.4; epoch 2, val_loss=0.3"},
		/* before and behind: two rows of one other name */
		{"val_loss: 5.0\nepoch 1: val_loss 0.4\nepoch 2: val_loss 0.3\nval_loss=0.2\n",
		 "row 1, val_loss (row)=5; epoch 1, val_loss=0.4; epoch 2, val_loss=0.3; row 2, val_loss (row)=0.2"},
		/* counted line by line; what never is counted is a score */
		{"val_loss: 5.0, val_acc: 0.1, f1: 0.2\nstep 1: val_loss 4\nstep 1: val_acc 0.3\n",
		 "row 1, val_loss (row)=5; step 1, val_loss=4; row 1, val_acc (row)=0.1; step 1, val_acc=0.3; row 1, f1=0.2"},
		{"val_loss: 5.0\nEpoch 1/2\n5/5 - 0s - loss: 1.5 - val_loss: 0.4\n",
		 "row 1, val_loss (row)=5; epoch 1, loss=1.5, val_loss=0.4"},
		/* series of rows, and scores */
		{"loss: 3\nloss: 2\nloss: 1\n", "row 1, loss=3; row 2, loss=2; row 3, loss=1"},
		{"loss: 3\nacc: 0.5\nloss: 2\n", "row 1, loss=3; row 2, loss=2; row 1, acc=0.5"},
		{"loss: 3, acc: 0.5\nacc: 0.6\n", "row 1, loss=3, acc=0.5; row 1, acc=0.6"},
		/* a summary */
		{"epoch 2 train_loss=0.5 val_loss=0.04\nepoch 3 train_loss=0.4 val_loss=0.03\nval_loss=0.0200\n",
		 "epoch 2, train_loss=0.5, val_loss=0.04; epoch 3, train_loss=0.4, val_loss=0.03; row 1, val_loss (row)=0.02"},
		{"step 10 loss 0.5\nloss: 0.4, acc: 0.9\n", "step 10, loss=0.5; row 1, loss (row)=0.4, acc=0.9"},
		/* no summary: other names, and lines below a heading that counts */
		{"Epoch 1 loss 0.5\nval_loss: 0.6\n", "epoch 1, loss=0.5; epoch 1, val_loss=0.6"},
	};
	int wrong = 0;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		wrong += is_wrong(cases[i].text, cases[i].wanted);
	assert_int_equal(wrong, 0);
}

/* latency_ms looks like a time, and foo like nothing: they count because the user named them. */
static void test_names_of_objectives_are_metrics_whatever_they_look_like(void **state)
{
	(void)state;
	static const char text[] = "epoch 1 val_acc 0.5 latency_ms 13.2 foo 2 bar 7\nstarting foo\nfoo: 3\n"
				   "epoch 2 qux (macro): 4\n";
	static const char *const names[] = {"latency_ms", "foo", "qux macro"};
	assert_string_equal(read_pieces(text, sizeof(text) - 1, 1000), "epoch 1, val_acc=0.5");
	struct metrics_reader *reader = metrics_open(metrics_format_printed(), write_row, NULL);
	buf_free(&rows);
	rows = buf_make(BUF_UNLIMITED);
	metrics_want(reader, names, COUNT_OF(names));
	metrics_feed(reader, text, sizeof(text) - 1);
	metrics_finish(reader);
	metrics_free(reader);
	assert_non_null(strstr(buf_text(&rows), "epoch 1, val_acc=0.5, latency_ms=13.2, foo=2"));
	assert_non_null(strstr(buf_text(&rows), "epoch 2, qux macro=4"));
}

static void test_what_is_no_report_gives_nothing(void **state)
{
	(void)state;
	int wrong = 0;
	for (size_t i = 0; i < COUNT_OF(nothing); i++) {
		/* on its own, and in the middle of a training */
		char *within = mem_printf("epoch 1 loss 3\n%s\n", nothing[i]);
		const char *found = read_pieces(nothing[i], strlen(nothing[i]), 4096);
		if (*found) {
			print_error("%s\n  gave %s\n", nothing[i], found);
			wrong++;
		} else if (strcmp(found = read_pieces(within, strlen(within), 4096), "epoch 1, loss=3") != 0) {
			print_error("%s\n  gave %s\n", within, found);
			wrong++;
		}
		free(within);
	}
	assert_int_equal(wrong, 0);
}

/* A line that only looks like the beginning of a dictionary does not swallow those behind it. */
/* A dictionary with a number for every layer. */
static void test_long_dictionaries_are_read_or_named(void **state)
{
	static const int counts[] = {100, 300, 2000};
	(void)state;
	for (size_t k = 0; k < COUNT_OF(counts); k++)
		for (int lines = 0; lines < 2; lines++) {
			struct buf text = buf_make(BUF_UNLIMITED);
			buf_add_text(&text, "{'epoch': 1, 'loss': 0.5");
			for (int i = 0; i < counts[k]; i++)
				buf_addf(&text, ",%s'layer%d/norm': %d", lines ? "\n" : " ", i, i);
			buf_add_text(&text, "}\n");
			const char *read = read_pieces(text.data, text.len, 1000);
			if (k == 0)
				assert_non_null(strstr(read, "layer99/norm=99"));
			if (k == 1)
				assert_non_null(strstr(read, "epoch 1, loss=0.5, layer0/norm=0"));
			assert_string_equal(complained,
					    k == 0 ? ""
						    : k == 1
						    ? "a dictionary has more than 256 numbers; the others are left out"
						    : "a dictionary of more than 16384 bytes is not read; it begins "
						      "{'epoch': 1, 'loss':");
			buf_free(&text);
		}
}

static void test_lines_behind_a_brace_that_stays_open_are_read(void **state)
{
	(void)state;
	static const char cut[] = "{'model': 'resnet', 'lr': 0.1, ... (truncated)\n";
	static const char *const ends[] = {"", "done\n", "1000/1000 loss 3\n"};
	for (int count = 2; count <= 100; count += 98) /* the second is more than is kept of a dictionary */
		for (size_t k = 0; k < COUNT_OF(ends); k++) {
			struct buf text = buf_make(BUF_UNLIMITED), bare = buf_make(BUF_UNLIMITED);
			for (int i = 1; i <= count; i++)
				buf_addf(&bare, "[%d] loss %g, val_loss %g\n", i, 1.0 / i, 1.5 / i);
			buf_add_text(&bare, ends[k]);
			buf_add_text(&text, cut);
			buf_add_text(&text, buf_text(&bare));
			char *wanted = mem_strdup(read_pieces(bare.data, bare.len, 4096));
			assert_non_null(strstr(wanted, "; step 2, loss=0.5"));
			assert_string_equal(read_pieces(text.data, text.len, 100), wanted);
			free(wanted);
			buf_free(&text);
			buf_free(&bare);
		}
}

static void expect_complaint(const char *text, const char *wanted)
{
	struct metrics_reader *reader = metrics_open(metrics_format_printed(), write_row, NULL);
	metrics_feed(reader, text, strlen(text));
	metrics_finish(reader);
	const char *said = metrics_complaint(reader);
	assert_string_equal(said ? said : "", wanted);
	metrics_free(reader);
}

static void test_numbers_that_are_left_out_or_doubtful_are_named(void **state)
{
	(void)state;
	expect_complaint("step 1 reward: 1.2k\n",
			 "numbers are printed shortened (1.2k is read as 1200): \"step 1 reward: 1.2k\"");
	expect_complaint("epoch 1 loss: 1 234.5\n",
			 "a number such as 1 234 is left out, since it may be two: \"epoch 1 loss: 1 234.5\"");
	expect_complaint("epoch 1 loss 1,234\nepoch 2 loss 0,987\n",
			 "numbers have decimal commas, but one such as 1,234 was read as 1234");
	expect_complaint("epoch 1 loss 1,234\nepoch 2 loss 987 (12M parameters, 3k/s)\n", "");
}

static void write_epochs(void *ctx, const struct metrics_row *row)
{
	buf_addf(ctx, "%" PRId64 " ", row->epochs);
}

static void test_the_number_of_epochs_is_given_with_the_rows(void **state)
{
	(void)state;
	static const struct {
		const char *text, *wanted;
	} list[] = {
		{"Epoch 1/4\n6/6 - 4s - loss: 0.6\nEpoch 2/4\n6/6 - 4s - loss: 0.5\n", "4 4 "},
		{"Epoch [3/20], Loss: 0.5\n", "20 "},
		{"epoch 3 loss 0.5\n", "0 "},
		{"Epoch 7/5 loss 0.5\n", "0 "}, /* that is something else */
	};
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		struct buf out = buf_make(200);
		struct metrics_reader *reader = metrics_open(metrics_format_printed(), write_epochs, &out);
		metrics_feed(reader, list[i].text, strlen(list[i].text));
		metrics_finish(reader);
		assert_string_equal(buf_text(&out), list[i].wanted);
		metrics_free(reader);
		buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_are_read),
		cmocka_unit_test(test_formats_of_libraries_are_read),
		cmocka_unit_test(test_values_without_a_count_are_no_part_of_a_counted_curve),
		cmocka_unit_test(test_the_number_of_epochs_is_given_with_the_rows),
		cmocka_unit_test(test_names_of_objectives_are_metrics_whatever_they_look_like),
		cmocka_unit_test(test_what_is_no_report_gives_nothing),
		cmocka_unit_test(test_long_dictionaries_are_read_or_named),
		cmocka_unit_test(test_lines_behind_a_brace_that_stays_open_are_read),
		cmocka_unit_test(test_numbers_that_are_left_out_or_doubtful_are_named),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_free(&rows);
	return failed;
}
