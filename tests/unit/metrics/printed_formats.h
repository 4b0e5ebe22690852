/* Lines in the formats of libraries and well-known scripts, as people show them in bug reports, with numbers of our own. */
#ifndef PRINTED_FORMATS_H
#define PRINTED_FORMATS_H

static const struct {
	const char *text, *wanted;
} formats[] = {
	/* thousands, the minus sign of Unicode, colours on both sides of a blank */
	{"epoch 1 reward: 900.0\nepoch 2 reward: 1,200.5\nepoch 3 reward: 1,234,567\n",
	 "epoch 1, reward=900; epoch 2, reward=1200.5; epoch 3, reward=1234567"},
	{"epoch 1 loss \xe2\x88\x92"
	 "0.5\n",
	 "epoch 1, loss=-0.5"},
	{"\x1b[32mepoch 1\x1b[0m \x1b[1mloss\x1b[0m: 0.1\n", "epoch 1, loss=0.1"},
	/* U2-Net */
	{"[epoch:   2/100, batch:   10/400, ite: 410] train loss: 1.5, tar: 0.17\n"
	 "l0: 0.1, l1: 0.2\n",
	 "step 410, train loss=1.5, tar=0.17"},
	/* MMDetection 2 and 3 */
	{"2024-05-08 18:56:16,649 - mmdet - INFO - Epoch [1][50/200]\tlr: 0.01, eta: 4:33:09, time: 0.5, data_time: 0.03, memory: 6836, loss_cls: 0.25, acc: 93.5, loss: 0.75\n"
	 "2024-05-08 18:57:16,649 - mmdet - INFO - Epoch [1][100/200]\tlr: 0.01, eta: 1 day, 4:33:09, time: 0.5, data_time: 0.03, memory: 6836, loss_cls: 0.2, acc: 94, loss: 0.5\n"
	 "2024-05-08 18:58:16,649 - mmdet - INFO - Epoch(val) [1][40]\tbbox_mAP: 0.3, bbox_mAP_50: 0.5\n",
	 "step 50, lr=0.01, loss_cls=0.25, acc=93.5, loss=0.75; step 100, lr=0.01, loss_cls=0.2, acc=94, loss=0.5; epoch 1, bbox_mAP=0.3, bbox_mAP_50=0.5"},
	/* Detectron2 */
	{"[11/01 11:23:38 d2.utils.events]:  eta: 8:08:27  iter: 19  total_loss: 1.25  loss_cls: 0.75  loss_box_reg: 0.5  time: 0.33  last_time: 0.33  data_time: 0.03  lr: 0.006  max_mem: 3961M\n"
	 "[11/01 11:24:00 d2.evaluation.testing]: copypaste: AP,AP50,AP75\n"
	 "[11/01 11:24:00 d2.evaluation.testing]: copypaste: 35.5,55.1,38.2\n"
	 " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.355\n",
	 "step 19, total_loss=1.25, loss_cls=0.75, loss_box_reg=0.5, lr=0.006"},
	/* maskrcnn-benchmark */
	{"2019-05-27 10:48:54,461 maskrcnn_benchmark.trainer INFO: eta: 0:17:37  iter: 20  loss: 0.5 (0.75)  loss_mask: 0.25 (0.3)  time: 0.5 (0.6)  data: 0.1 (0.2)  lr: 0.01  max mem: 4358\n",
	 "step 20, loss=0.5, loss_mask=0.25, lr=0.01"},
	/* Detectron 1 */
	{"json_stats: {\"accuracy_cls\": 0.5, \"eta\": \"0:21:51\", \"iter\": 20, \"loss\": 0.25, \"lr\": 0.01}\n",
	 "step 20, accuracy_cls=0.5, loss=0.25, lr=0.01"},
	/* fairseq: the summary of an epoch is another curve than the loss within it */
	{"| epoch 001:    100 / 500 loss=11.5, nll_loss=10.5, ppl=1886, num_updates=100, lr=8e-05\n"
	 "| epoch 001:    200 / 500 loss=10.5, nll_loss=9.5, ppl=900, num_updates=200, lr=9e-05\n"
	 "| epoch 001 | loss 9.5 | nll_loss 8.5 | ppl 500 | wps 12876 | num_updates 500\n"
	 "| epoch 001 | valid on 'valid' subset | valid_loss 8 | valid_ppl 118 | num_updates 500\n"
	 "| epoch 002 | valid on 'valid' subset | valid_loss 6 | valid_ppl 37 | num_updates 1000 | best 6\n",
	 "step 100, loss=11.5, nll_loss=10.5, ppl=1886, num_updates=100, lr=8e-05; step 200, loss=10.5, nll_loss=9.5, ppl=900, num_updates=200, lr=9e-05; epoch 1, loss (epoch)=9.5, nll_loss (epoch)=8.5, ppl (epoch)=500; epoch 1, valid_loss=8, valid_ppl=118; epoch 2, valid_loss=6, valid_ppl=37"},
	/* fairseq since 0.10 */
	{"2021-01-01 10:00:00 | INFO | train_inner | epoch 001:    100 / 500 loss=11.5, ppl=1886\n"
	 "2021-01-01 10:01:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8 | ppl 118 | wps 1000\n"
	 "2021-01-01 10:01:00 | INFO | train | epoch 001 | loss 9.5 | ppl 518 | wps 1000\n"
	 "2021-01-01 10:01:00 | INFO | fairseq.checkpoint_utils | Saved checkpoint checkpoint1.pt (epoch 1 @ 500 updates, score 8.1)\n",
	 "step 100, loss=11.5, ppl=1886; epoch 1, valid loss=8, valid ppl=118; epoch 1, train loss=9.5, train ppl=518"},
	/* Caffe */
	{"I0914 09:36:00.295799  6584 solver.cpp:228] Iteration 100, loss = 0.5\n"
	 "I0914 09:36:00.295799  6584 sgd_solver.cpp:106] Iteration 100, lr = 0.001\n",
	 "step 100, loss=0.5"},
	/* DeiT and others that print JSON */
	{"{\"train_lr\": 0.01, \"train_loss\": 3.5, \"epoch\": 24, \"n_parameters\": 100}\n",
	 "epoch 24, train_lr=0.01, train_loss=3.5, n_parameters=100"},
	/* nanoGPT */
	{"step 0: train loss 4.25, val loss 4.5\n"
	 "iter 0: loss 4.25, time 9371.81ms, mfu -100.00%\n"
	 "2023-03-22 09:32:32 step 250: train loss 1.5, val loss 1.75\n",
	 "step 0, train loss=4.25, val loss=4.5; step 0, loss=4.25; step 250, train loss=1.5, val loss=1.75"},
	/* a number, a bar and the loss */
	{"420 | loss 4.5 | lr 9.0e-04 | 7367.57ms\n"
	 "step 500: train loss 4.25, val loss 4\n"
	 "500 | loss 4.125 | lr 9.0e-04 | 54143.31ms\n",
	 "step 420, loss=4.5; step 500, train loss=4.25, val loss=4; step 500, loss=4.125"},
	/* Megatron */
	{" iteration      182/  250000 | consumed samples:       186368 | elapsed time per iteration (ms): 126995.3 | learning rate: 1.5E-05 | global batch size:  1024 | lm loss: 2.5E+00 | loss scale: 1.0 | grad norm: 0.25 | number of skipped iterations:   0 |\n",
	 "step 182, learning rate=1.5e-05, lm loss=2.5, loss scale=1, grad norm=0.25"},
	/* episodes */
	{"Episode: 59, Actions: 2351, reward: -18, Avg. reward: -19.5, Time: 4.28, T/A: 1.82ms\n",
	 "step 59, Actions=2351, reward=-18, Avg reward=-19.5"},
	/* Stable-Baselines3 */
	{"---------------------------------\n"
	 "| rollout/             |        |\n"
	 "|    ep_len_mean       | 200    |\n"
	 "|    ep_rew_mean       | -213   |\n"
	 "| time/                |        |\n"
	 "|    fps               | 26     |\n"
	 "|    total_timesteps   | 2048   |\n"
	 "---------------------------------\n"
	 "---------------------------------\n"
	 "| rollout/             |        |\n"
	 "|    ep_rew_mean       | -200   |\n"
	 "| time/                |        |\n"
	 "|    iterations        | 2      |\n"
	 "|    total_timesteps   | 4096   |\n"
	 "| train/               |        |\n"
	 "|    loss              | 18.5   |\n"
	 "---------------------------------\n",
	 "step 2048, rollout/ep_len_mean=200, rollout/ep_rew_mean=-213; step 4096, rollout/ep_rew_mean=-200, train/loss=18.5"},
	/* Stable-Baselines 2 and Spinning Up */
	{"--------------------------------------\n"
	 "| ep_rewmean         | 12.5          |\n"
	 "| total_timesteps    | 128           |\n"
	 "| value_loss         | 0.5           |\n"
	 "--------------------------------------\n",
	 "step 128, ep_rewmean=12.5, value_loss=0.5"},
	{"---------------------------------------\n"
	 "|             Epoch |               3 |\n"
	 "|      AverageEpRet |            22.5 |\n"
	 "|            LossPi |          -0.125 |\n"
	 "---------------------------------------\n",
	 "epoch 3, AverageEpRet=22.5, LossPi=-0.125"},
	/* fastai, skorch, spaCy: tables */
	{"epoch     train_loss  valid_loss  accuracy  time    \n"
	 "0         0.75        0.5         0.8       00:21    \n"
	 "1         0.5         0.4         0.9       00:21    \n",
	 "epoch 0, train_loss=0.75, valid_loss=0.5, accuracy=0.8; epoch 1, train_loss=0.5, valid_loss=0.4, accuracy=0.9"},
	{"  epoch    train_loss    valid_acc    valid_loss     dur\n"
	 "-------  ------------  -----------  ------------  ------\n"
	 "      1        0.7       0.6000        0.65  0.0522\n"
	 "      2        0.6       0.7000        0.55  0.0292\n",
	 "epoch 1, train_loss=0.7, valid_acc=0.6, valid_loss=0.65; epoch 2, train_loss=0.6, valid_acc=0.7, valid_loss=0.55"},
	{"E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE \n"
	 "---  ------  ------------  --------  ------  ------\n"
	 "  0       0          0.00     61.5    0.00    0.00\n"
	 "  1     200         35.5   20.25   65.5    0.65\n",
	 "step 0, LOSS TOK2VEC=0, LOSS NER=61.5, ENTS_F=0, SCORE=0; step 200, LOSS TOK2VEC=35.5, LOSS NER=20.25, ENTS_F=65.5, SCORE=0.65"},
	/* CatBoost with a test set */
	{"0:\tlearn: 0.75\ttest: 0.7\tbest: 0.7 (0)\ttotal: 4.4ms\tremaining: 1m 42s\n"
	 "1:\tlearn: 0.5\ttest: 0.6\tbest: 0.6 (1)\ttotal: 8.4ms\tremaining: 1m 42s\n"
	 "bestTest = 0.6\n"
	 "bestIteration = 1\n",
	 "step 0, learn=0.75, test=0.7; step 1, learn=0.5, test=0.6"},
	/* LightGBM prints the best iteration once more */
	{"[40]\tvalid_0's l2: 0.35\n"
	 "[41]\tvalid_0's l2: 0.36\n"
	 "Early stopping, best iteration is:\n"
	 "[31]\tvalid_0's l2: 0.3\n",
	 "step 40, valid_0-l2=0.35; step 41, valid_0-l2=0.36"},
	/* torchvision and timm: an evaluation counts at its end, with its averages */
	{"Epoch: [0]  [ 10/500]  eta: 4:43:31  lr: 0.1  loss: 6.5 (6.75)  acc1: 0.25 (0.5)  time: 2.5401  data: 0.0336  max mem: 3524\n"
	 "Epoch: [0] Total time: 0:00:07 (0.2276 s / it)\n"
	 "Test:  [ 0/98]  eta: 0:01:35  loss: 0.1 (0.1)  acc1: 80.1 (80.1)  time: 3.0721  data: 2.9815  max mem: 5990\n"
	 "Test:  [97/98]  eta: 0:00:00  loss: 0.3 (0.2)  acc1: 70 (75)  time: 0.1  data: 0.1  max mem: 5990\n",
	 "step 10, lr=0.1, loss=6.5, acc1=0.25; epoch 0, Test loss=0.2, Test acc1=75"},
	{"Train: 2 [  50/100 (  4%)]  Loss: 6.5 (6.75)  Time: 0.523s, 1957.86/s  (0.623s, 1643.86/s)  LR: 1.0e-03  Data: 0.012 (0.112)\n"
	 "Test: [   0/48]  Time: 2.345 (2.345)  Loss:   6.5 (6.5)  Acc@1:   0.25 ( 0.25)\n"
	 "Test: [  48/48]  Time: 0.345 (0.445)  Loss:   6.5 (6.25)  Acc@1:   0.25 ( 0.75)\n"
	 "*** Best metric: 0.75 (epoch 2)\n",
	 "step 150, Train Loss=6.5, LR=0.001; epoch 2, Test Loss=6.25, Test Acc@1=0.75"},
	{"Epoch: [0][  10/5005]\tTime  0.423 ( 0.945)\tLoss 7.0e+00 (7.5e+00)\tAcc@1   0.00 (  0.14)\n"
	 "Test: [ 10/196]\tTime  0.233 ( 0.945)\tLoss 5.0e+00 (5.5e+00)\tAcc@1   3.91 (  4.14)\n"
	 " *   Acc@1 4.5 Acc@5 13\n",
	 "step 10, Loss=7, Acc@1=0; epoch 0, Acc@1 (epoch)=4.5, Acc@5=13"},
	/* OpenNMT */
	{"Epoch  1, 12850/37527; acc:   4; ppl: 1279.5; xent:   9.5; 3438 src tok/s; 3517 tgt tok/s;   9823 s elapsed\n"
	 "Train perplexity: 8.5\n"
	 "Validation accuracy: 56.5\n"
	 "Decaying learning rate to 0.015625\n",
	 "step 12850, acc=4, ppl=1279.5, xent=9.5; epoch 1, Train perplexity=8.5; epoch 1, Validation accuracy=56.5"},
	{"[2018-11-26 14:47:26,759 INFO] Step 50/ 5000; acc:  51.25; ppl:  8.5; xent: nan; lr: 0.001; 1320/1445 tok/s;  19995 sec\n",
	 "step 50, acc=51.25, ppl=8.5, xent=nan, lr=0.001"},
	/* ESPnet */
	{"7epoch results: [train] iter_time=0.002, loss_ctc=17.5, loss=15.5, time=3 hours, 11 minutes and 16.97 seconds, total_count=527961, gpu_max_cached_mem_GB=13.770, [valid] loss_ctc=9.5, cer_ctc=nan, loss=9.25, total_count=5677\n",
	 "epoch 7, train loss_ctc=17.5, train loss=15.5, valid loss_ctc=9.5, valid cer_ctc=nan, valid loss=9.25"},
	{"iterations:57, train acc:0.5, train loss:616.5, train loss ctc:1156.5,\n",
	 "step 57, train acc=0.5, train loss=616.5, train loss ctc=1156.5"},
	/* AllenNLP: the epoch is announced by a logger */
	{"2017-10-14 16:48:27,962 - INFO - allennlp.training.trainer - Epoch 0/139\n"
	 "2017-10-14 16:48:27,962 - INFO - allennlp.training.trainer - Training\n"
	 "2017-10-14 16:48:48,950 - INFO - allennlp.training.trainer - Batch 1/17168: accuracy: 0.25, loss: 6.5 ||\n",
	 "step 1, accuracy=0.25, loss=6.5"},
	/* flair */
	{"2019-02-19 18:37:07,467 epoch 1 - iter 24/249 - loss 0.5 - time (sec): 2.45 - samples/sec: 2014.87 - lr: 0.001\n"
	 "2019-02-19 18:37:12,097 EPOCH 1 done: loss 0.25 - lr 0.1000 - bad epochs 0\n"
	 "2019-02-19 18:37:12,571 DEV  : loss 0.125 - f-score 0.5 - acc 0.75\n",
	 "step 24, loss=0.5, lr=0.001; epoch 1, loss (epoch)=0.25; epoch 1, DEV loss=0.125, DEV f-score=0.5, DEV acc=0.75"},
	/* Paddle */
	{"2021-03-30 06:55:57 [INFO]\t[TRAIN] epoch: 1, iter: 20/500, loss: 2.5, lr: 0.01, batch_cost: 0.5344, reader_cost: 0.07273, ips: 3.7425 samples/sec | ETA 00:04:16\n",
	 "step 20, TRAIN loss=2.5, lr=0.01"},
	{"[2024/08/06 18:03:31] openrec INFO: epoch: [1/2], global_step: 100, lr: 0.5, loss: 69.5, avg_reader_cost: 0.00971 s, avg_batch_cost: 0.18023 s, avg_samples: 64.0, ips: 355.10891 samples/s, eta: 0:32:33\n",
	 "step 100, lr=0.5, loss=69.5"},
	{"Pass 0, Batch 100, Cost 2.25, {'classification_error_evaluator': 0.5}\n",
	 "step 100, Cost=2.25, classification_error_evaluator=0.5"},
	{"2020-11-04 17:25:52 INFO: epoch:0  , train step:50  , loss: 6.5, top1: 0.25, top5: 0.5, lr: 0.1, batch_cost: 0.28419 s, ips: 225.20036 images/sec.\n",
	 "step 50, train loss=6.5, train top1=0.25, train top5=0.5, lr=0.1"},
	/* TensorFlow's estimators and slim */
	{"INFO:tensorflow:loss = 4.5, step = 100 (124.394 sec)\n"
	 "INFO:tensorflow:global_step/sec: 0.803899\n"
	 "INFO:tensorflow:Saving dict for global step 100: accuracy = 0.95, global_step = 100, loss = 0.5\n",
	 "step 100, loss=4.5; step 100, eval accuracy=0.95, eval loss=0.5"},
	{"INFO:tensorflow:Recording summary at step 0.\n"
	 "INFO:tensorflow:global step 1: loss = 79.5 (57.126 sec/step)\n"
	 "INFO:tensorflow:global step 1: loss = 79.5 (57.126 sec/step)\n",
	 "step 1, loss=79.5"},
	{"Epoch: 0001 cost= 0.357000000\n"
	 "Optimization Finished!\n"
	 "Accuracy: 0.91\n",
	 "epoch 1, cost=0.357; epoch 1, Accuracy=0.91"},
	/* MXNet */
	{"2019-08-21 14:56:44,024 INFO Epoch[101] Batch [250]\tSpeed: 581.56 samples/sec\taccuracy=0.75\n"
	 "2019-08-21 14:57:14,472 INFO Epoch[101] Train-accuracy=0.5\n"
	 "2019-08-21 14:57:14,472 INFO Epoch[101] Time cost=85.508\n"
	 "2019-08-21 14:57:18,638 INFO Epoch[101] Validation-accuracy=0.25\n",
	 "step 250, accuracy=0.75; epoch 101, Train-accuracy=0.5; epoch 101, Validation-accuracy=0.25"},
	/* darknet */
	{" 1813: 1.5, 1.25 avg loss, 0.001000 rate, 1.233000 seconds, 116032 images, 4.908666 hours left\n"
	 "v3 (iou loss, Normalizer: (iou: 0.07, cls: 1.00) Region 139 Avg (IOU: 0.5, GIOU: 0.5), Class: 1, Obj: 0.5, count: 1, class_loss = 0.5, total_loss = 0.5\n",
	 "step 1813, loss=1.5, avg loss=1.25"},
	/* Flax */
	{"I1002 21:43:14.804613 140411760846848 train.py:415] eval epoch: 2, loss: 6.5, accuracy: 0.5\n"
	 "I1002 21:43:51.424899 140400640460352 logging_writer.py:35] [1000] steps_per_second=1.75, train_accuracy=0.25, train_loss=6.5\n",
	 "epoch 2, eval loss=6.5, eval accuracy=0.5; step 1000, train_accuracy=0.25, train_loss=6.5"},
	{"Epoch... (39/116 | Loss: 0.1875)\n", "epoch 39, Loss=0.1875"},
	/* keras-rl */
	{" 43587/50000: episode: 588, duration: 0.930s, episode steps: 180, steps per second: 194, episode reward: 180.000, mean reward: 1.000 [1.000, 1.000], loss: 4.5, mean_q: 64.5\n",
	 "step 588, episode reward=180, mean reward=1, loss=4.5, mean_q=64.5"},
	/* a logger with file and line */
	{" 2020-10-26 10:46:15 train.py:215[27649] INFO Train epoch: 6 [200/1000]\tAccuracy: 50.5%\tLoss: 0.75\n"
	 " 2020-10-26 10:57:46 train.py:254[27649] INFO Test set: Loss: 0.5, Accuracy: 50%)\n"
	 " 2020-10-26 10:57:46 train.py:282[27649] INFO Best accuracy: 0.50125\n",
	 "step 5200, Train Accuracy=50.5, Train Loss=0.75; epoch 6, Test set Loss=0.5, Test set Accuracy=50"},
	/* networks against each other */
	{"Epoch: [ 2/200] [   1/   4] time: 111.8188, d_loss: 76.5, g_loss: 0.5\n", "step 5, d_loss=76.5, g_loss=0.5"},
	{"Elapsed [8:37:01.056768] batch: 37350  d_loss: 0.5  g_loss: 20.5\n", "step 37350, d_loss=0.5, g_loss=20.5"},
	/* nnU-Net */
	{"2022-02-11 09:32:44.207069: \n"
	 "epoch:  6\n"
	 "2022-02-11 09:34:49.625515: train loss : -0.5\n"
	 "2022-02-11 09:34:59.688008: validation loss: -0.75\n"
	 "2022-02-11 09:34:59.688808: Average global foreground Dice: [0.75, 0.5]\n"
	 "2022-02-11 09:35:01.343246: This epoch took 137.136132 s\n",
	 "epoch 6, train loss=-0.5; epoch 6, validation loss=-0.75"},
	/* TabNet */
	{"epoch 0  | loss: 0.5 | train_auc: 0.75 | valid_auc: 0.8 |  0:00:05s\n"
	 "Early stopping occurred at epoch 11 with best_epoch = 1 and best_valid_auc = 0.82234\n",
	 "epoch 0, loss=0.5, train_auc=0.75, valid_auc=0.8"},
	/* torchtune */
	{"Step 1 | loss:2.5 lr:2e-05 tokens_per_second_per_gpu:57.8\n", "step 1, loss=2.5, lr=2e-05"},
	/* Ignite: whose the results are */
	{"Training Results - Epoch: 1  Avg accuracy: 0.95 Avg loss: 0.18\n"
	 "Validation Results - Epoch: 1  Avg accuracy: 0.96 Avg loss: 0.15\n",
	 "epoch 1, Training Avg accuracy=0.95, Training Avg loss=0.18; epoch 1, Validation Avg accuracy=0.96, Validation Avg loss=0.15"},
	/* SpeechBrain */
	{"epoch: 1, lr: 1.00e+00 - train loss: 2.5 - valid loss: 1.75, valid CER: 35.5, valid WER: 70.5\n",
	 "epoch 1, lr=1, train loss=2.5, valid loss=1.75, valid CER=35.5, valid WER=70.5"},
	/* CleanRL */
	{"global_step=1234, episodic_return=[21.]\n"
	 "global_step=1299, episodic_return=19.0\n"
	 "SPS: 1234\n",
	 "step 1234, episodic_return=21; step 1299, episodic_return=19"},
	/* DGL */
	{"Epoch 00010 | Loss 1.75 | Accuracy 0.5 | Time 0.0123\n"
	 "Test accuracy 80.50%\n",
	 "epoch 10, Loss=1.75, Accuracy=0.5; epoch 10, Test accuracy=80.5"},
	/* sentences */
	{"Epoch 1 of 10. Loss: 0.31. Accuracy: 0.91.\n", "epoch 1, Loss=0.31, Accuracy=0.91"},
	/* the best so far does not hide the result before it */
	{"Epoch 1 loss 0.5 acc 0.8 (new best!)\n"
	 "Epoch 2 loss 0.4 acc 0.9 *** best so far ***\n"
	 "Epoch 3: val_loss 0.5, best val_loss 0.35 at epoch 2\n",
	 "epoch 1, loss=0.5, acc=0.8; epoch 2, loss=0.4, acc=0.9; epoch 3, val_loss=0.5"},
	/* xgboost.cv: the mean and its deviation; a text that R prints */
	{"[0]\ttrain-rmse:0.60000+0.00123\ttest-rmse:0.70000+0.00456\n[1]\ttrain-rmse:0.50000+0.00123\ttest-rmse:0.60000+0.00456\n",
	 "step 0, train-rmse=0.6, test-rmse=0.7; step 1, train-rmse=0.5, test-rmse=0.6"},
	{"[1] \"Epoch 1 loss 0.5\"\n[1] \"Epoch 2 loss 0.25\"\n", "epoch 1, loss=0.5; epoch 2, loss=0.25"},
	/* seeds are curves of their own where the count begins anew with them; "run" in a sentence changes nothing */
	{"random seed: 7\nseed 7 epoch 1 loss 0.5\nseed 7 epoch 2 loss 0.4\nseed 8 epoch 1 loss 0.6\nseed 8 epoch 2 loss 0.3\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.4; epoch 1, seed 8 loss=0.6; epoch 2, seed 8 loss=0.3"},
	{"=== Run 1/2 ===\nepoch 1 loss 0.5\n=== Run 2/2 ===\nepoch 1 loss 0.6\n",
	 "epoch 1, loss=0.5; epoch 1, run 2 loss=0.6"},
	{"epoch 1 loss 0.5\nnow at run 12\nepoch 2 loss 0.4\n", "epoch 1, loss=0.5; epoch 2, loss=0.4"},
	/* what a terminal is told and does not show: its title, a character set */
	{"\x1b]0;epoch 1 loss 99\x07"
	 "epoch 1 loss 0.5\n\x1b]2;epoch 2 loss 98\x1b\\\nepoch 2\x1b(B loss 0.4\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.4"},
	/* folds of a cross-validation are curves of their own */
	{"Fold 1, epoch 1, loss 0.5\n"
	 "Fold 1, epoch 2, loss 0.4\n"
	 "Fold 2, epoch 1, loss 0.6\n"
	 "Fold 2, epoch 2, loss 0.3\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.4; epoch 1, fold 2 loss=0.6; epoch 2, fold 2 loss=0.3"},
	{"===== Fold 1 =====\n"
	 "Epoch 1/1\n"
	 "train loss: 0.5\n"
	 "===== Fold 2 =====\n"
	 "Epoch 1/1\n"
	 "train loss: 0.7\n"
	 "Mean accuracy: 0.9\n",
	 "epoch 1, train loss=0.5; epoch 1, fold 2 train loss=0.7; epoch 1, Mean accuracy=0.9"},
	{"Fold 3/5 epoch 1 loss 0.5\n", "epoch 1, loss=0.5"},
	/* PyTorch's GAN: the place within the epoch */
	{"[0/2][0/30]\tLoss_D: 1.5\tLoss_G: 2\tD(x): 0.5\tD(G(z)): 0.4 / 0.3\n"
	 "[0/2][10/30]\tLoss_D: 1.25\tLoss_G: 3\tD(x): 0.5\tD(G(z)): 0.4 / 0.3\n"
	 "[1/2][0/30]\tLoss_D: 1\tLoss_G: 4\tD(x): 0.5\tD(G(z)): 0.4 / 0.3\n",
	 "step 0, Loss_D=1.5, Loss_G=2; step 10, Loss_D=1.25, Loss_G=3; step 30, Loss_D=1, Loss_G=4"},
	/* gbm of R */
	{"Iter   TrainDeviance   ValidDeviance   StepSize   Improve\n"
	 "     1        0.6931          0.7500     0.1000    0.0100\n"
	 "     2        0.5931          0.6500     0.1000    0.0090\n",
	 "step 1, TrainDeviance=0.6931, ValidDeviance=0.75, StepSize=0.1, Improve=0.01; "
	 "step 2, TrainDeviance=0.5931, ValidDeviance=0.65, StepSize=0.1, Improve=0.009"},
	/* decimal commas; what may be thousands or not is thousands */
	{"epoch 1 loss 0,25, acc: 90,5%\nepoch 2 loss: 0,125\n", "epoch 1, loss=0.25, acc=90.5; epoch 2, loss=0.125"},
	{"epoch 1,5 loss 1,2,3\n", ""},
	/* whose the numbers are stands beside them: in a dictionary, or at the end of the line */
	{"{'epoch': 1, 'split': 'train', 'loss': 0.5}\n{'epoch': 1, 'split': 'val', 'loss': 0.7}\n"
	 "{'epoch': 2, 'split': 'train', 'loss': 0.4}\n{'epoch': 2, 'split': 'val', 'loss': 0.6}\n",
	 "epoch 1, train/loss=0.5; epoch 1, val/loss=0.7; epoch 2, train/loss=0.4; epoch 2, val/loss=0.6"},
	{"{\"fold\": 0, \"epoch\": 1, \"loss\": 0.5}\n{\"fold\": 1, \"epoch\": 1, \"loss\": 0.7}\n",
	 "epoch 1, loss=0.5; epoch 1, fold 1 loss=0.7"},
	{"epoch 1 loss 0.5 (train)\nepoch 1 loss 0.7 (val)\nepoch 2 loss 0.4 [train]\nepoch 2 loss 0.6 [val]\n",
	 "epoch 1, train/loss=0.5; epoch 1, val/loss=0.7; epoch 2, train/loss=0.4; epoch 2, val/loss=0.6"},
	/* PyTorch Geometric: scores without a name; sizes and times are none */
	{"Epoch: 001, Train: 0.25, Val: 0.5, Test: 0.75\nEpoch: 002, Train: 0.5, Val: 0.75, Test: 1.0\n",
	 "epoch 1, Train=0.25, Val=0.5, Test=0.75; epoch 2, Train=0.5, Val=0.75, Test=1"},
	{"train: 0.8, test: 0.2\nEpoch 1 train: 60000 val: 10000\nEpoch 1 train: 12.5 s, val: 2.5 s\n", ""},
	/* headings within an epoch */
	{"=== EPOCH 001 ===\n[TRAIN]\n  Loss: 0.5\n  Accuracy: 0.8\n[VALID]\n  Loss: 0.6\n  Accuracy: 0.7\n"
	 "=== EPOCH 002 ===\n[TRAIN]\n  Loss: 0.4\n  Accuracy: 0.9\n[VALID]\n  Loss: 0.5\n  Accuracy: 0.8\n",
	 "epoch 1, Loss=0.5; epoch 1, Accuracy=0.8; epoch 1, VALID Loss=0.6; epoch 1, VALID Accuracy=0.7; "
	 "epoch 2, Loss=0.4; epoch 2, Accuracy=0.9; epoch 2, VALID Loss=0.5; epoch 2, VALID Accuracy=0.8"},
	{"Epoch 1\nTraining...\nloss: 0.5\nEvaluating...\nloss: 0.6, accuracy: 0.7\n"
	 "Epoch 2\nTraining...\nloss: 0.4\nEvaluating...\nloss: 0.5, accuracy: 0.8\n",
	 "epoch 1, loss=0.5; epoch 1, Evaluating loss=0.6, accuracy=0.7; epoch 2, loss=0.4; epoch 2, Evaluating loss=0.5, accuracy=0.8"},
	{"Training...\nepoch 1 loss 0.5\nValidating...\nepoch 2 loss 0.4\nTesting...\naccuracy: 0.9\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.4; epoch 2, accuracy=0.9"},
	/* the average in brackets right behind the number; a list of one; Julia's short numbers */
	{"Epoch: [1][40/80] Elapsed 0m 2s (remain 3m 1s) Loss: 0.5(0.6) LR: 0.00002000  \n",
	 "step 40, Loss=0.5, LR=2e-05"},
	{"Epoch 1 acc: tensor([0.5], device='cuda:0')\n", "epoch 1, acc=0.5"},
	{"[ Info: epoch 1: loss = 0.5f0\n[ Info: epoch 2: loss = 2.5f-1\n", "epoch 1, loss=0.5; epoch 2, loss=0.25"},
	/* the words of a logger in JSON */
	{"{\"asctime\": \"2026-11-18 05:00:00,123\", \"lineno\": 12, \"message\": \"Epoch 1 \\\"a\\\" loss 0.5\"}\n",
	 "epoch 1, loss=0.5"},
	/* and when it was, where only the logger says so */
	{"{\"level\": \"INFO\", \"epoch\": 1, \"message\": \"loss: 1 acc: 0\"}\n"
	 "{\"level\": \"INFO\", \"epoch\": 2, \"message\": \"loss: 0.5 acc: 0.75\"}\n",
	 "epoch 1, loss=1, acc=0; epoch 2, loss=0.5, acc=0.75"},
	{"{\"step\": 100, \"epoch\": 1, \"message\": \"loss: 0.5\"}\n{\"step\": 200, \"epoch\": 1, \"message\": \"loss: 0.25\"}\n",
	 "step 100, loss=0.5; step 200, loss=0.25"},
	{"{\"epoch\": 1763500000.5, \"step\": 7, \"message\": \"epoch 1 loss: 0.5\"}\n", "epoch 1, loss=0.5"},
	/* German */
	{"Epoche 1/4 - Verlust: 0,5 - Genauigkeit: 57,5 % - Val-Verlust: 0,75\n",
	 "epoch 1, Verlust=0.5, Genauigkeit=57.5, Val-Verlust=0.75"},
	/* tables: bars without borders, a header in two lines (MATLAB), a frame that R prints */
	{" ep |   loss   |   auc    | time\n----+----------+----------+------\n  1 | 5.0e-01 | 0.75 | 1.2s\n  2 | 2.5e-01 | 0.8 | 1.2s\n",
	 "epoch 1, loss=0.5, auc=0.75; epoch 2, loss=0.25, auc=0.8"},
	{"|======================================================================================|\n"
	 "|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Mini-batch  |  Base Learning  |\n"
	 "|         |             |   (hh:mm:ss)   |   Accuracy   |     Loss     |      Rate       |\n"
	 "|======================================================================================|\n"
	 "|       1 |           1 |       00:00:00 |        9.38% |       2.3125 |          0.0100 |\n"
	 "|       2 |          50 |       00:00:02 |       59.38% |       0.5000 |          0.0100 |\n",
	 "step 1, Mini-batch Accuracy=9.38, Mini-batch Loss=2.3125, Base Learning Rate=0.01; "
	 "step 50, Mini-batch Accuracy=59.38, Mini-batch Loss=0.5, Base Learning Rate=0.01"},
	{"  epoch  loss  acc\n1     1 0.500 0.75\n2     2 0.250 0.80\n",
	 "epoch 1, loss=0.5, acc=0.75; epoch 2, loss=0.25, acc=0.8"},
	{"  epoch loss\n1     1  0.5\n2     2  0.4\n", "epoch 1, loss=0.5; epoch 2, loss=0.4"},
	/* words in a row of a table that belong together, a mark behind a number, what is missing */
	{"epoch  loss  time\n1  0.9  3 s\n2  0.8  2 min\n", "epoch 1, loss=0.9; epoch 2, loss=0.8"},
	{"epoch  reward  time\n1  200  3 s\n2  300  3 s\n", "epoch 1, reward=200; epoch 2, reward=300"},
	{"Epoch  Train loss  Val loss  Speed\n1  0.9  0.8  12 it/s\n2  0.7  0.6  13 it/s\n",
	 "epoch 1, Train loss=0.9, Val loss=0.8; epoch 2, Train loss=0.7, Val loss=0.6"},
	{"Epoch  Train loss  Val loss\n1  0.9  0.8 *\n2  0.7  0.9\n",
	 "epoch 1, Train loss=0.9, Val loss=0.8; epoch 2, Train loss=0.7, Val loss=0.9"},
	{"epoch  loss  date\n1  0.9  2026-11-18 12:00:01\n2  0.8  2026-11-18 12:00:02\n",
	 "epoch 1, loss=0.9; epoch 2, loss=0.8"},
	{"epoch  date  loss\n1  2026-11-18 12:00:01  0.9\n2  2026-11-18 12:00:02  0.8\n",
	 "epoch 1, loss=0.9; epoch 2, loss=0.8"},
	{"epoch loss time\n1 0.9 3s\n2 0.8 3s\n", "epoch 1, loss=0.9; epoch 2, loss=0.8"},
	{"  epoch  loss  acc\n1     1 0.500   NA\n2     2 0.250 0.80\n",
	 "epoch 1, loss=0.5; epoch 2, loss=0.25, acc=0.8"},
	/* the count stands between the name and the number; remarks in brackets */
	{"Cost after iteration 0: 0.75\nCost after iteration 100: 0.5\n", "step 0, Cost=0.75; step 100, Cost=0.5"},
	{"Loss after epoch 1: 0.5\nAccuracy at epoch 1: 0.75\nTime for epoch 1: 12.5\n",
	 "epoch 1, Loss=0.5; epoch 1, Accuracy=0.75"},
	{"Epoch: 1 \tTraining Loss: 0.5\nTest Accuracy (Overall): 98% (9812/10000)\n",
	 "epoch 1, Training Loss=0.5; epoch 1, Test Accuracy=98"},
	{"Epoch 1\nRecall (macro): 0.5\nRecall (micro): 0.8\nEpoch 2\nRecall (macro): 0.6\nRecall (micro): 0.9\n",
	 "epoch 1, Recall macro=0.5; epoch 1, Recall micro=0.8; epoch 2, Recall macro=0.6; epoch 2, Recall micro=0.9"},
	{"Epoch 1 Accuracy (top1): 50 Accuracy (top5): 80\n", "epoch 1, Accuracy top1=50, Accuracy top5=80"},
	{"epoch 1 loss (smoothed): 0.9 loss: 0.8\n", "epoch 1, loss smoothed=0.9, loss=0.8"},
	{"epoch 1 loss (train): 0.9 loss (val): 0.8\n", "epoch 1, train loss=0.9, val loss=0.8"},
	{"epoch 1 Test loss (a): 0.9 Test loss (val): 0.8 Test loss (train): 0.7\n",
	 "epoch 1, Test loss a=0.9, Test loss val=0.8, Test loss train=0.7"},
	{"epoch 1 acc (%): 80 loss (Mean): 0.5 time (s): 12.5\n", "epoch 1, acc=80, loss=0.5"},
	{"Test set: Recall (macro): 0.5, Recall (micro): 0.8\n",
	 "row 1, Test set Recall macro=0.5, Test set Recall micro=0.8"},
	{"Epoch 1 completed. Average loss: 0.5\n", "epoch 1, Average loss=0.5"},
	/* two scores with a stroke between them are no fraction */
	{"Epoch 1: loss 0.5, train/val acc: 0.80/0.75\nEpoch 2: acc: 90/100\n", "epoch 1, loss=0.5; epoch 2, acc=0.9"},
	/* the tutorials of PyTorch: the place in the epoch behind the loss, a sentence as a name */
	{"Epoch 1\n-------------------------------\nloss: 2.5  [    0/60000]\nloss: 2.25  [ 6400/60000]\n"
	 "Test Error: \n Accuracy: 44.1%, Avg loss: 2.125 \n\nEpoch 2\n-------------------------------\nloss: 2  [    0/60000]\n",
	 "step 0, loss=2.5; step 6400, loss=2.25; epoch 1, Accuracy=44.1, Avg loss=2.125; step 60000, loss=2"},
	{"Accuracy of the network on the 10000 test images: 54 %\n", "row 1, Accuracy=54"},
	/* a place in a whole, where nothing else counts */
	{"1/3 loss: 0.5\n2/3 loss: 0.4\n3/3 loss: 0.3\n", "step 1, loss=0.5; step 2, loss=0.4; step 3, loss=0.3"},
	/* a table as it would be in a file */
	{"epoch,loss,val_loss\n1,0.5,0.6\n2,0.4,0.5\n",
	 "epoch 1, loss=0.5, val_loss=0.6; epoch 2, loss=0.4, val_loss=0.5"},
	{"epoch\tloss\tacc\n1\t0.5\t0.75\n", "epoch 1, loss=0.5, acc=0.75"},
	/* what TensorFlow and JAX show of a scalar */
	{"epoch 1 loss: tf.Tensor(0.5, shape=(), dtype=float32) acc: tf.Tensor(0.75, shape=(), dtype=float32)\n"
	 "Test accuracy: tf.Tensor(0.8, shape=(), dtype=float32)\n",
	 "epoch 1, loss=0.5, acc=0.75; epoch 1, Test accuracy=0.8"},
	{"epoch 1 loss: <tf.Tensor: shape=(), dtype=float32, numpy=0.5> lr: 0.1\n", "epoch 1, loss=0.5, lr=0.1"},
	{"epoch 1 loss <tf.Variable 'loss:0' shape=() dtype=float32, numpy=0.5>\n", "epoch 1, loss=0.5"},
	{"step 100, loss=Array(0.5, dtype=float32), acc=Array([0.75], dtype=float32)\n",
	 "step 100, loss=0.5, acc=0.75"},
	{"{'epoch': 1, 'loss': Array(0.5, dtype=float32)}\n", "epoch 1, loss=0.5"},
	/* a bar over the epochs that is called after what it does */
	{"Training:  50%|##   | 1/2 [00:02<00:02,  2.01s/epoch, train_loss=0.5, val_loss=0.6]\r"
	 "Training: 100%|#####| 2/2 [00:04<00:00,  2.01s/epoch, train_loss=0.4, val_loss=0.5]\n",
	 "step 1, train_loss=0.5, val_loss=0.6; step 2, train_loss=0.4, val_loss=0.5"},
	/* of numbers, no result */
	{"Machine precision = 2.220D-16\nUsing matmul precision: 32\n", ""},
	/* a dictionary behind a logger's words */
	{"2024-01-01 10:00:00 INFO {'loss': 0.5, 'epoch': 1.0}\n", "epoch 1, loss=0.5"},
};

#endif
