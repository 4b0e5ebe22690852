"""Logs as different people write them: each script is run unchanged, and every value that sluice shows is the one that the
script reported, under its name and at its step. What is not in the row must not be there either."""

import json

THREE = (1, 2, 3)


def curve(value, steps=THREE):
    return [(step, value(step)) for step in steps]


def printed(form, **names):
    """A loop over three epochs `e` that prints the form, and its curves."""
    return f"for e in (1, 2, 3): print(f{form!r})\n", names


HALVES = curve(lambda e: round(1 / e, 4))
DOUBLES = curve(lambda e: round(2 / e, 4))
TENTHS = curve(lambda e: round(0.5 + e / 10, 2))
# What, the script (Python, or bash after #!), its curves.
LOGS = [
    ("PyTorch with print", *printed("Epoch [{e}/3], Train Loss: {1/e:.4f}, Val Loss: {2/e:.4f}, Val Acc: {90+e:.2f}%",
                                    **{"Train Loss": HALVES, "Val Loss": DOUBLES, "Val Acc": curve(lambda e: 90 + e)})),
    ("a part before every name", *printed("epoch {e}: train acc = 9{e}.5%, val acc = 8{e}.25 %, loss = {1/e:.4f}",
                                          **{"train acc": curve(lambda e: 90.5 + e), "val acc": curve(lambda e: 80.25 + e), "loss": HALVES})),
    ("two parts, names of both", *printed("epoch {e}: train loss {1/e:.4f}, val loss {2/e:.4f}, acc 0.7{e}, val acc 0.6{e}",
                                          **{"train loss": HALVES, "val loss": DOUBLES, "acc": curve(lambda e: round(0.7 + e / 100, 2)),
                                             "val acc": curve(lambda e: round(0.6 + e / 100, 2))})),
    ("absl with steps in brackets", *printed("I1118 05:00:0{e}.123456 140 train.py:88] [{e}] train_loss={1/e:.4f}, steps_per_second=12.3",
                                             train_loss=HALVES)),
    ("a logger with name and line", *printed("2026-11-18 05:00:00,1 | INFO | root:88 - Epoch {e} done in 1.3s. loss={1/e:.4f}; val_loss={2/e:.4f}",
                                             loss=HALVES, val_loss=DOUBLES)),
    ("numbers in brackets", *printed("[{e:03d}/003] loss: [{1/e:.4f}] acc: ({0.5+e/10:.2f})", loss=HALVES, acc=TENTHS)),
    ("arrows", *printed("[{e}] loss -> {1/e:.4f} | acc => {0.5+e/10:.2f} | lr ~ 0.001", loss=HALVES, acc=TENTHS)),
    ("iterations of a solver", *printed("it={e}  obj={1/e:.3E}  gap={-2/e:+.3e}  t=0.5s", obj=HALVES, gap=curve(lambda e: -float(f"{2/e:.3e}")))),
    ("letters of other languages", *printed("epoch {e}: loss = {1/e:.4f}, précision = {0.5+e/10:.2f}, R²: 0.8{e}, 损失: {e}.5",
                                            loss=HALVES, précision=TENTHS, **{"R²": curve(lambda e: round(0.8 + e / 100, 2)), "损失": curve(lambda e: e + 0.5)})),
    ("a block for each epoch", "for e in (1, 2, 3): print(f'--- Epoch {e} ---\\n  loss     : {1/e:.4f}\\n  accuracy : {50+e}%')\n",
     {"loss": HALVES, "accuracy": curve(lambda e: 50 + e)}),
    ("Fortran", "#!printf ' Iteration: %d  Residual: 0.%d5D-01\\n' 1 1 2 2 3 3\n", {"Residual": curve(lambda e: round(0.01 * e + 0.005, 3))}),
    ("shortened numbers", *printed("epoch {e} reward: 1.{e}k", reward=curve(lambda e: 1000 + 100 * e))),
    ("gbm of R", "#!echo 'Iter   TrainDeviance   StepSize'; for e in 1 2 3; do echo \"     $e        1.2$e     0.1000\"; done\n",
     {"TrainDeviance": curve(lambda e: round(1.2 + e / 100, 2)), "StepSize": curve(lambda e: 0.1)}),
    ("JSON on several lines", "import json\nfor e in (1, 2, 3): print(json.dumps({'epoch': e, 'loss': 1 / e, 'val': {'loss': 2 / e}}, indent=2))\n",
     {"loss": curve(lambda e: 1 / e), "val/loss": curve(lambda e: 2 / e)}),
    ("JSON of a logger", "import json\nfor e in (1, 2, 3): print(json.dumps({'level': 'info', 'msg': 'done', 'epoch': e, 'train': {'loss': 1 / e}}))\n",
     {"train/loss": curve(lambda e: 1 / e)}),
    ("a table of rich", "print('┏━━━━━┳━━━━┓\\n┃ epoch ┃ loss ┃\\n┡━━━━━╇━━━━┩')\nfor e in (1, 2, 3): print(f'│ {e:5d} │ {1/e:8.4f} │')\nprint('└─────┴────┘')\n",
     {"loss": HALVES}),
    ("a table of Markdown", "print('| epoch | loss | acc |\\n|------|-----|-----|')\nfor e in (1, 2, 3): print(f'| {e} | {1/e:.4f} | {50+e}% |')\n",
     {"loss": HALVES, "acc": curve(lambda e: 50 + e)}),
    ("a frame of pandas", "print('   epoch      loss  val_loss')\nfor e in (1, 2, 3): print(f'{e-1}      {e}  {1/e:.4f}  {2/e:.4f}')\n",
     {"loss": HALVES, "val_loss": DOUBLES}),
    ("several processes", "for e in (1, 2, 3):\n    for r in (1, 0): print(f'[rank{r}] epoch {e} loss {1/e + r:.4f}')\n",
     {"loss": HALVES, "rank 1 loss": curve(lambda e: round(1 / e + 1, 4))}),
    ("mpirun --tag-output", "#!for e in 1 2 3; do for r in 0 1; do echo \"[1,$r]<stdout>:epoch $e loss $r.$e\"; done; done\n",
     {"loss": curve(lambda e: e / 10), "rank 1 loss": curve(lambda e: 1 + e / 10)}),
    ("srun --label", "#!for e in 1 2 3; do for r in 0 1; do echo \"$r: epoch $e loss $r.$e\"; done; done\n",
     {"loss": curve(lambda e: e / 10), "rank 1 loss": curve(lambda e: 1 + e / 10)}),
    ("CSV with comments", "open('log.csv', 'w').write('# today\\n# lr=0.1\\nepoch;loss\\n1;0,5\\n2;0,25\\n')\n", {"loss": [(1, 0.5), (2, 0.25)]}),
    ("CSV in percent", "open('log.csv', 'w').write('epoch,accuracy\\n1,91.5%\\n2,92.25 %\\n')\n", {"accuracy": [(1, 91.5), (2, 92.25)]}),
    ("numpy.savetxt", "open('hist.txt', 'w').write('# epoch loss\\n' + ''.join(f'{e} {1/e:.18e}\\n' for e in (1, 2, 3)))\n",
     {"loss": curve(lambda e: 1 / e)}),
    ("a score beside a history", "import json\njson.dump({'config': {'lr': 0.1}, 'test_accuracy': 0.93, 'best_loss': 9, 'history': {'loss': [3, 2, 1]}}, open('r.json', 'w'))\n",
     {"loss": [(1, 3), (2, 2), (3, 1)], "test_accuracy": [(3, 0.93)]}),
    ("a score beside rows", "import json\njson.dump({'test_acc': 0.9, 'log': [{'epoch': e, 'loss': 4 - e} for e in (1, 2, 3)]}, open('metrics.json', 'w'))\n",
     {"loss": [(1, 3), (2, 2), (3, 1)], "test_acc": [(3, 0.9)]}),
    ("a bar that is redrawn", "import sys\nfor e in (1, 2, 3):\n    for i in range(11):\n        print(f'\\rEpoch {e}: {i*10:3d}%|{\"#\"*i}| {i}/10 [00:01<00:01, 9.8it/s, loss={1/e + 10 - i:.4g}]', end='', file=sys.stderr)\n    print(file=sys.stderr)\n",
     {"loss": HALVES}),
    ("two histories in one file", "import json\njson.dump({'train': {'loss': [3, 2, 1]}, 'val': {'epoch': [2], 'loss': [4]}}, open('h.json', 'w'))\n",
     {"train/loss": [(1, 3), (2, 2), (3, 1)], "val/loss": [(2, 4)]}),
    ("a long table", "open('m.csv', 'w').write('epoch,metric,value\\n' + ''.join(f'{e},loss,{1/e}\\n{e},acc,{e}\\n' for e in (1, 2, 3)))\n",
     {"loss": curve(lambda e: 1 / e), "acc": curve(lambda e: e)}),
    ("a bar over the epochs", "for e in (1, 2, 3): print(f'\\rEpochs: {e*33}%|##| {e}/3 [00:01<00:01, 9.8it/s, loss={1/e:.4f}]', end='')\n",
     {"loss": HALVES}),
    ("goes on in the middle", "import os, sys\np = os.environ['SLUICE_CHECKPOINT_DIR'] + '/e'\ns = int(open(p).read()) if os.path.exists(p) else 0\n"
     "for e in range(s + 1, 4):\n    print(f'epoch {e} loss {1/e:.4f}', flush=True)\n    open(p, 'w').write(str(e))\n    if e == 2 and not s: sys.exit(85)\n",
     {"loss": HALVES}),
    ("a logger that writes a file only", "import logging\nlogging.basicConfig(filename='train.log', level=20, format='%(asctime)s %(message)s')\n"
     "for e in (1, 2, 3): logging.info('Epoch %d loss %.4f', e, 1 / e)\n", {"loss": HALVES}),
    ("the same printed and in a log", "f = open('train.log', 'w')\nfor e in (1, 2, 3):\n    print(f'epoch {e} loss {1/e:.4f}')\n"
     "    print(f'12:00:00 epoch {e} loss {1/e:.4f} acc {0.5+e/10:.2f}', file=f)\n", {"loss": HALVES, "acc": TENTHS}),
    ("a result in a file for each epoch", "import json\nfor e in (1, 2, 3): json.dump({'epoch': e, 'training_loss': 1 / e}, open(f'metrics_epoch_{e}.json', 'w'))\n"
     "for e in (10, 20): json.dump({'val_loss': 1 / e}, open(f'step_{e}.json', 'w'))\n",
     {"training_loss": curve(lambda e: 1 / e), "val_loss": [(10, 0.1), (20, 0.05)]}),
    ("a plateau in files for each epoch", "import json\nfor e in (1, 2, 3, 4): json.dump({'accuracy': 0.6 + (e == 4) / 10}, open(f'metrics_epoch_{e}.json', 'w'))\n",
     {"accuracy": [(1, 0.6), (2, 0.6), (3, 0.6), (4, 0.7)]}),
    ("indented objects after each other", "import json, time\nf = open('metrics.json', 'w')\nfor e in (1, 2, 3):\n"
     "    f.write(json.dumps({'epoch': e, 'loss': 1 / e}, indent=2) + '\\n')\n    f.flush()\n    time.sleep(1.5)\n", {"loss": curve(lambda e: 1 / e)}),
    ("objects with a newline in front", "import json, time\nf = open('metrics.json', 'w')\nfor e in (1, 2, 3):\n"
     "    f.write('\\n' + json.dumps({'epoch': e, 'loss': 1 / e}))\n    f.flush()\n    time.sleep(1.5)\n", {"loss": curve(lambda e: 1 / e)}),
    ("MMEngine, with its times", "import json, os\nos.mkdir('vis')\nfor name in ('20261118_050000', 'scalars'):\n    f = open(f'vis/{name}.json', 'w')\n"
     "    for e in (1, 2, 3):\n        for i in (1, 2): print(json.dumps({'loss': 1 / e, 'time': 0.2, 'epoch': e, 'step': 2 * e - 2 + i}), file=f)\n"
     "        print(json.dumps({'acc/top1': 2 / e, 'time': 0.1, 'step': e}), file=f)\n",
     {"loss": [(i, 1 / ((i + 1) // 2)) for i in range(1, 7)], "time": [(i, 0.2) for i in range(1, 7)], "acc/top1": curve(lambda e: 2 / e)}),
    ("the monitor of Stable-Baselines", "open('0.monitor.csv', 'w').write('#{\"t_start\": 1700000000.0, \"env_id\": \"CartPole-v1\"}\\nr,l,t\\n12.5,12,0.5\\n20.0,20,1.25\\n')\n",
     {"r": [(1, 12.5), (2, 20)], "l": [(1, 12), (2, 20)], "t": [(1, 0.5), (2, 1.25)]}),
    ("a German table", "open('verlauf.csv', 'w', encoding='latin-1').write('Epoche;Verlust;Genauigkeit (%);Bemerkung\\n1;0,5;57,5;schön\\n2;0,25;60,5;\\n')\n",
     {"Verlust": [(1, 0.5), (2, 0.25)], "Genauigkeit (%)": [(1, 57.5), (2, 60.5)]}),
    ("a table for gnuplot", "open('train.dat', 'w').write('# epoch loss\\n1 0.5\\n2 0.25\\n')\n", {"loss": [(1, 0.5), (2, 0.25)]}),
    ("an evaluation before the training, and one behind it", "print('loss: 5.0')\nfor e in (1, 2, 3): print(f'epoch {e}: loss {1/e:.4f}')\nprint('loss=0.2')\n",
     {"loss": HALVES, "loss (row)": [(1, 5), (2, 0.2)]}),
    ("scores of regressions and pictures in files", "import json\njson.dump({'r2': 0.87, 'mape': 3.5}, open('results.json', 'w'))\n"
     "json.dump({'mAP': 0.35, 'top1': 76.1}, open('scores.json', 'w'))\nopen('eval.csv', 'w').write('psnr,ssim\\n30.125,0.91\\n')\n",
     {"r2": [(1, 0.87)], "mape": [(1, 3.5)], "mAP": [(1, 0.35)], "top1": [(1, 76.1)], "psnr": [(1, 30.125)], "ssim": [(1, 0.91)]}),
    ("a French table of Windows", "open('r.csv', 'w', encoding='cp1252', newline='').write('Essai;Perte;Précision\\r\\n' + ''.join(f'{e};0,{e}5;0,{e}\\r\\n' for e in (1, 2, 3)))\n",
     {"Essai": curve(lambda e: e), "Perte": curve(lambda e: float(f"0.{e}5")), "Précision": curve(lambda e: float(f"0.{e}"))}),
    ("episodes", "open('p.csv', 'w').write('episode,reward,length\\n' + ''.join(f'{10 * e},{e}.5,{e}\\n' for e in (1, 2, 3)))\n",
     {"reward": [(10 * e, e + 0.5) for e in THREE], "length": [(10 * e, e) for e in THREE]}),
    ("scalars of TensorFlow and JAX", "for e in (1, 2, 3): print(f'epoch {e} loss: tf.Tensor({1/e:.4f}, shape=(), dtype=float32) "
     "acc: <tf.Tensor: shape=(), dtype=float32, numpy={0.5+e/10:.2f}> val_loss: Array({2/e:.4f}, dtype=float32)')\n",
     {"loss": HALVES, "acc": TENTHS, "val_loss": DOUBLES}),
    ("a column that says what the script does", "open('m.csv', 'w').write('epoch,status,loss\\n1,training,3\\n2,training,2\\n3,finished,1\\n')\n",
     {"loss": curve(lambda e: 4 - e)}),
    ("parts in a column called type", "open('m.csv', 'w').write('epoch,type,loss\\n' + ''.join(f'{e},{t},{v/e}\\n' for e in (1, 2, 3) for t, v in (('train', 1), ('val', 2))))\n"
     "for e in (1, 2, 3):\n    for t, v in (('train', 1), ('val', 2)): print({'type': t, 'epoch': e, 'acc': round(v / e, 4)})\n",
     {"train/loss": curve(lambda e: 1 / e), "val/loss": curve(lambda e: 2 / e), "train/acc": HALVES, "val/acc": DOUBLES}),
    ("scores in a text", "open('results.txt', 'w').write('Accuracy: 0.93\\nF1: 0.9\\n')\n", {"Accuracy": [(1, 0.93)], "F1": [(1, 0.9)]}),
    ("the only bar", "for i in range(1, 4): print(f'\\r{i*33}%|##| {i}/3 [00:01<00:01, 9.8it/s, loss={1/i:.4f}]', end='')\n", {"loss": HALVES}),
]
# Steps that come again or go back: every row is kept, and the task says which are shown under another number.
ALONE = "is that of {} alone; {} is shown as {}. An objective is one of these names: to compare by all, report their mean"
MOVED = [
    ("seeds that are printed", "for s in (7, 8):\n    print(f'Seed: {s}')\n    for e in (1, 2, 3): print(f'epoch {e} loss {(s-6)/e:.4f}')\n",
     {"loss": HALVES, "seed 8 loss": DOUBLES}, ["stdout: loss " + ALONE.format("seed 7", "seed 8", "seed 8 loss")]),
    ("folds in one file", "open('m.csv', 'w').write('fold,epoch,loss\\n' + ''.join(f'{k},{e},{k+e}\\n' for k in (0, 1) for e in (1, 2, 3)))\n",
     {"fold": curve(lambda e: 0), "loss": curve(lambda e: e), "fold 1/loss": curve(lambda e: e + 1)},
     ["m.csv: loss " + ALONE.format("fold 0", "fold 1", "fold 1/loss")]),
    ("folds that have a score each", "for k in (1, 2, 3): print(f'Fold {k}: accuracy = 0.8{k}')\nprint('Mean accuracy: 0.82 (+/- 0.01)')\n",
     {"accuracy": [(1, 0.81), (2, 0.82), (3, 0.83)], "Mean accuracy": [(1, 0.82)]},
     ["stdout: every fold is a row of accuracy: its best value is that of one fold. To compare by all, take their mean: "
      "objective: {metric: accuracy, take: mean, of: N}"]),
    ("a name twice in one object", "open('m.jsonl', 'w').write(''.join('{\"epoch\": %d, \"loss\": 9, \"loss\": %d}\\n' % (e, e) for e in (1, 2, 3)))\n",
     {"loss": curve(lambda e: e)}, ["m.jsonl: line 1: loss is there twice in one object: the last value counts"]),
    ("numbers that are none", "open('m.jsonl', 'w').write('{\"epoch\": 1, \"loss\": \"0,25\"}\\n{\"epoch\": 2, \"loss\": 0.5}\\n')\nprint('epoch 1 acc 1.5x')\nprint('epoch 2 acc 0.5')\n",
     {"loss": [(2, 0.5)], "acc": [(2, 0.5)]},
     ["m.jsonl: line 1: loss is '0,25', which is not a number, and is left out",
      'stdout: what stands behind the name of a metric is not a number, and is left out: "epoch 1 acc 1.5x"']),
    ("a validation in front of its epoch", "for e in (1, 2, 3): print(f'Validation loss: {2/e:.4f}\\nEpoch {e} done, training loss: {1/e:.4f}')\n",
     {"training loss": HALVES, "Validation loss (row)": [(1, 2.0)], "Validation loss": [(1, 1.0), (2, 0.6667)]},
     ["stdout: Validation loss is printed without an epoch, before a line that has one: it is shown in the epoch before that. "
      "If it is of that line's epoch, print both on one line"]),
    ("a table that is renamed", "import os, time\nf = open('part.csv', 'w')\nprint('epoch,loss\\n1,1\\n2,2', file=f, flush=True)\n"
     "time.sleep(2.5)\nos.rename('part.csv', 'final.csv')\nprint('3,3', file=f, flush=True)\ntime.sleep(1.5)\n", {"loss": curve(lambda e: e)}, []),
    ("a table that is rotated", "import os, time\nopen('m.csv', 'w').write('epoch,loss\\n1,1\\n2,2\\n')\ntime.sleep(2.5)\n"
     "os.rename('m.csv', 'm.1.csv')\nopen('m.csv', 'w').write('epoch,loss\\n3,3\\n')\n", {"loss": curve(lambda e: e)}, []),
    ("a step twice, and one that falls", "open('b.csv', 'w').write('step,loss\\n10,1.5\\n20,1.25\\n20,1.0\\n15,3\\n')\n",
     {"loss": [(10, 1.5), (20, 1.25), (21, 1.0), (22, 3.0)]},
     ["b.csv: line 4: step 20 is there already; the row is shown as step 21, the next free one",
      "b.csv: line 5: step 15 comes after 20; it is shown as step 22, and the rows behind it count on from there"]),
    ("two phases", "for phase in (1, 2):\n    for e in (1, 2, 3): print(f'epoch {e} loss {phase / e:.4f}')\n",
     {"loss": HALVES + [(3 + step, value) for step, value in DOUBLES]},
     ["stdout: epoch 1 comes after 3; it is shown as epoch 4, and the rows behind it count on from there"]),
    ("several rows in an epoch", "open('m.csv', 'w').write('epoch,loss\\n' + ''.join(f'{i // 2},{i}\\n' for i in range(4)))\n",
     {"loss": [(0, 0), (1, 1), (2, 2), (3, 3)]},
     ["m.csv: line 3: epoch 0 comes again; rows are counted from there on, with the epoch beside them"]),
    ("a summary beside what is printed", "import json\nfor e in (1, 2, 3): print(f'epoch {e} loss {1/e:.4f}')\n"
     "json.dump({'loss': 1 / 3, 'epoch': 3, 'bleu': 0.5, '_step': 2}, open('wandb-summary.json', 'w'))\n", {"loss": HALVES, "bleu": [(2, 0.5)]},
     ["wandb-summary.json: loss is left out, since stdout gives it too"]),
    ("equal results", "import json\nfor s in (1, 2): json.dump({'accuracy': 0.6}, open(f'seed_{s}.json', 'w'))\n",
     {"seed_1/accuracy": [(1, 0.6)], "seed_2/accuracy": [(1, 0.6)]},
     ["seed_1.json and seed_2.json both have accuracy: shown as seed_1/accuracy and seed_2/accuracy"]),
    ("a state that is written over, and a line before the training", "import json, os, time\nprint('epoch 0 loss 9.5', flush=True)\nfor e in (1, 2, 3):\n"
     "    json.dump({'epoch': e, 'loss': 1 / e}, open('new', 'w'))\n    os.rename('new', 'state.json')\n    time.sleep(2.5)\n", {"loss": curve(lambda e: 1 / e)},
     ["stdout: loss is left out, since state.json gives it too"]),
    ("results beside the state of a trainer", "import json, os\nos.mkdir('out')\n"
     "rows = [{'step': 10 * e, 'epoch': e, 'eval_loss': 1 / e} for e in (1, 2, 3)]\n"
     "for name in ('all_results', 'eval_results'): json.dump({'epoch': 3.0, 'eval_loss': 1 / 3}, open(f'out/{name}.json', 'w'), indent=4)\n"
     "json.dump({'log_history': rows}, open('out/trainer_state.json', 'w'))\n", {"eval_loss": [(10 * e, 1 / e) for e in (1, 2, 3)]},
     [f"out/{name}_results.json: eval_loss is left out, since out/trainer_state.json gives it too" for name in ("all", "eval")]),
    ("a number of 54 bits", "open('n.csv', 'w').write('step,loss\\n1,9007199254740993\\n')\n", {"loss": [(1, 9007199254740992)]},
     ["n.csv: line 2: loss 9007199254740993 is kept as 9007199254740992: whole numbers are exact up to 2^53"]),
]
LOGS = [(*row, []) for row in LOGS] + MOVED


def remarks(daemon, experiment):
    """What the task's timeline says of rows that are shown otherwise than they were written."""
    said = [event["reason"] or "" for event in daemon.get(f"/experiments/{experiment}/tasks/1")["timeline"]]
    words = ("shown as", "kept as", "rows are counted", "is a row of", "twice in one", "is left out", "written over", "is shown in the epoch")
    return [text for text in said if any(word in text for word in words)]


def test_every_value_is_the_one_that_the_script_reported(daemon, tmp_path):
    ids = []
    for number, (what, text, *_) in enumerate(LOGS):
        name = f"log{number}.{'sh' if text.startswith('#!') else 'py'}"
        (tmp_path / name).write_text(text[2:] if text.startswith("#!") else text)
        done = daemon.cli("run", "--detach", "--json", name, cwd=tmp_path, status=None)
        assert done.returncode == 0, (what, done.stderr)
        ids.append(json.loads(done.stdout)["id"])
    wrong = []
    for experiment, (what, _, wanted, notes) in zip(ids, LOGS):
        daemon.wait_ended(experiment)
        found = {name: list(zip(c["step"], c["value"])) for name, c in daemon.metrics(experiment, 1).items()}
        if found != wanted:
            wrong.append(f"{what}: {found} instead of {wanted}")
        if sorted(remarks(daemon, experiment)) != sorted(notes):
            wrong.append(f"{what}: {remarks(daemon, experiment)} instead of {notes}")
        shown = daemon.cli("show", f"{experiment}/1").stdout if notes else ""
        wrong += [f"{what}: not in show: {note}" for note in notes if note not in " ".join(shown.split())]
    assert not wrong, "\n".join(wrong)


OVER = """
import json, os, time
def write(name, row):
    json.dump(row, open("new", "w"))
    os.rename("new", name)
write("slow.json", {"epoch": 1, "accuracy": 1})
for e in range(1, 61):
    write("fast.json", {"epoch": e, "loss": 1 / e})
    if e == 30:
        time.sleep(2.5)
        write("slow.json", {"epoch": 2, "accuracy": 2})
"""


# Files that were looked at and are not read: what is said of the experiment, and in the task.
UNREAD = {
    "utf16": ("open('log.csv', 'w', encoding='utf-16').write('epoch,loss\\n1,0.5\\n')\n",
              "log.csv is not read as metrics: its text is UTF-16; sluice reads UTF-8"),
    "names": ("open('table.csv', 'w').write('a,b\\n1,0.5\\n')\n",
              "table.csv is not read as metrics: no column of it counts, such as step or epoch, and none is named like a metric"),
}


def test_what_was_looked_at_is_named_where_nothing_was_found(daemon, tmp_path):
    for name, (text, said) in UNREAD.items():
        (tmp_path / f"{name}.py").write_text(text)
        experiment = json.loads(daemon.cli("run", "--detach", "--json", f"{name}.py", cwd=tmp_path).stdout)["id"]
        shown = daemon.wait_ended(experiment)["no_value"]
        assert f"in {experiment}/1 nothing was found: {said}" in shown, shown
    # Beside metrics, a table of something else is not worth a word.
    (tmp_path / "both.py").write_text(UNREAD["names"][0] + "print('accuracy: 0.75')\n")
    experiment = json.loads(daemon.cli("run", "--detach", "--json", "both.py", cwd=tmp_path).stdout)["id"]
    assert daemon.wait_ended(experiment)["best"]["value"] == 0.75
    assert not [e for e in daemon.get(f"/experiments/{experiment}/tasks/1")["timeline"] if "not read" in (e["reason"] or "")]


def test_the_objective_is_a_metric_and_no_rate_or_length(daemon, tmp_path):
    for name, line, wanted in (("rate", "lr: {0.1 / e:.4f} grad_norm: {e} train_acc: {0.5 + e / 10:.2f}", ("train_acc", "max", 0.8)),
                               ("length", "length: {e * 100} reward: {e * 1.5}", ("reward", "max", 4.5))):
        (tmp_path / f"{name}.py").write_text(f"for e in (1, 2, 3): print(f'epoch {{e}} {line}')\n")
        experiment = json.loads(daemon.cli("run", "--detach", "--json", f"{name}.py", cwd=tmp_path).stdout)["id"]
        ended = daemon.wait_ended(experiment)
        assert (ended["objective"][0]["metric"], ended["objective"][0]["goal"], ended["best"]["value"]) == wanted


def test_a_row_that_was_written_over_unseen_is_noted(daemon, tmp_path):
    """What was not seen cannot be shown; that it may have been there is said. A file that was seen each time has no note."""
    (tmp_path / "over.py").write_text(OVER)
    experiment = json.loads(daemon.cli("run", "--detach", "--json", "over.py", cwd=tmp_path).stdout)["id"]
    daemon.wait_ended(experiment)
    found = daemon.metrics(experiment, 1)
    assert found["accuracy"]["step"] == [1, 2]
    assert found["loss"]["step"][-1] == 60 and len(found["loss"]["step"]) < 60
    noted = remarks(daemon, experiment)
    assert [note.split()[0] for note in noted] == ["fast.json"] and "nothing was seen in it" in noted[0], noted


def test_the_objective_is_a_result_on_other_data_also_if_it_comes_later(daemon, tmp_path):
    """Without an objective: what is printed first is the training's loss; the same for a task that is still training."""
    (tmp_path / "later.py").write_text("import time\nfor e in (1, 2):\n"
                                       "    print({'loss': 1 / e, 'epoch': float(e)}, flush=True)\n    time.sleep(1)\n"
                                       "    print({'eval_loss': 3 / e, 'eval_runtime': 1.5, 'epoch': float(e)}, flush=True)\n")
    experiment = json.loads(daemon.cli("run", "--detach", "--json", "later.py", cwd=tmp_path).stdout)["id"]
    daemon.wait_ended(experiment)
    assert daemon.get(f"/experiments/{experiment}")["objective"][0]["metric"] == "eval_loss"
    assert daemon.get(f"/experiments/{experiment}/tasks/1")["best"]["value"] == 1.5


def test_the_best_epoch_of_the_export_is_an_epoch(daemon, tmp_path):
    """Rows within epochs are counted; the export says in which epoch the best one was, with its fraction."""
    (tmp_path / "half.py").write_text("open('m.csv', 'w').write('epoch,loss\\n0.5,3\\n1.0,2\\n1.5,1\\n2.0,4\\n')\n")
    experiment = json.loads(daemon.cli("run", "--detach", "--json", "half.py", "--objective", "loss", cwd=tmp_path).stdout)["id"]
    daemon.wait_ended(experiment)
    head, row = (line.split(",") for line in daemon.cli("export", experiment, "--format", "csv").stdout.splitlines())
    assert dict(zip(head, row))["best_epoch"] == "1.5"
