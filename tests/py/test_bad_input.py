"""Wrong experiment files, one after another: each is refused by `sluice check` with exit status 2 and a message
that says where and what, and by POST /experiments with a problem document; nothing gets into the store."""

import json
import os
import re
import shutil
import tempfile

import pytest

from conftest import Daemon, sweep

GOOD = "script: s.py\n"


def with_parameters(text):
    return f"script: s.py\nparameters:\n  {text}\n"


# name: (text of the file, what the message must say (a regular expression), the line it names or None)
CASES = {
    # not a document
    "empty": ("", "empty", None),
    "only_a_comment": ("# nothing\n", "empty", None),
    "only_blanks": ("   \n\n", "empty", None),
    "a_list": ("- script: s.py\n", "map|keys", None),
    "a_number": ("42\n", "map|keys", None),
    "a_text": ("script\n", "map|keys", None),
    "unclosed_list": ("script: s.py\nfiles: [a, b\n", "YAML", None),
    "unclosed_quote": ('script: "s.py\n', "YAML", None),
    "tab_indent": ("script: s.py\nparameters:\n\ta: 1\n", "YAML", 3),
    "bad_indent": ("script: s.py\n  name: x\n", "YAML", 2),
    "two_documents": ("script: s.py\n---\nscript: t.py\n", "second document", 2),
    "duplicate_key": ("script: s.py\nname: a\nname: b\n", "twice", 3),
    "duplicate_parameter": (with_parameters("a: 1\n  b: 2\n  a: 3"), "twice", 5),
    "anchor_and_alias": ("script: s.py\nparameters:\n  a: &x [1, 2]\n  b: *x\n", "alias", 3),
    "tag": ("script: !!python/object/apply:os.system [id]\n", "tag", 1),
    "merge_key": ("<<: {script: s.py}\n", "not allowed", 1),
    "list_as_key": ("? [a, b]\n: 1\n", "key", 1),
    "nul_byte": (b"script: s.py\nname: a\0b\n", "NUL", 2),
    "invalid_utf8": (b"script: s.py\nname: \xff\xfe\n", "UTF-8", 2),
    "binary_rubbish": (bytes(range(256)) * 40, "NUL|UTF-8|control", None),
    "utf16": ("script: s.py\n".encode("utf-16"), "NUL|UTF-8", None),
    "ten_megabytes_of_brackets": (b"[" * (10 << 20), "bytes|large", None),
    "a_megabyte_of_brackets": (b"[" * (1 << 20), "deep|bytes|large", None),
    "billion_laughs": ("a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nscript: s.py\n", "alias", 1),
    "deep_maps": ("script: s.py\nparameters: " + "{a: " * 100 + "1" + "}" * 100 + "\n", "deep", 2),
    "many_values": ("script: s.py\nparameters:\n  a: [" + "0," * 210000 + "0]\n", "many|more than|at most", None),
    "very_long_key": ("script: s.py\n" + "k" * 5000 + ": 1\n", "key|YAML", None),
    # keys
    "unknown_key": ("script: s.py\nscrpt: x\n", "scrpt", 2),
    "unknown_key_is_suggested": ("script: s.py\nparamters: {a: 1}\n", "parameters", 2),
    "unknown_key_in_search": ("script: s.py\nsearch: {strategy: grid, taks: 4}\n", "taks", 2),
    "unknown_key_in_resources": ("script: s.py\nresources: {gpu: 1}\n", "gpu", 2),
    "unknown_key_in_range": (with_parameters("a: {min: 1, max: 2, scael: log}"), "scael", 3),
    "key_without_value": ("script: s.py\nname:\n", "name", 2),
    "no_script": ("name: x\n", "script", 1),
    "script_and_command": ("script: s.py\ncommand: [a]\n", "command", 2),
    # types
    "script_is_a_list": ("script: [s.py]\n", "script|text", 1),
    "script_is_a_number": ("script: 7\n", "script|text", 1),
    "name_is_a_map": ("script: s.py\nname: {a: 1}\n", "name|text", 2),
    "name_too_long": ("script: s.py\nname: " + "x" * 5000 + "\n", "name|long", 2),
    "name_with_line_break": ('script: s.py\nname: "a\\nb"\n', "line", 2),
    "empty_name": ('script: s.py\nname: ""\n', "empty", 2),
    "parameters_is_a_list": ("script: s.py\nparameters: [1, 2]\n", "parameters|map", 2),
    "parameters_is_a_text": ("script: s.py\nparameters: lots\n", "parameters|map", 2),
    "command_is_a_text": ("command: python3 s.py\n", "command|list", 1),
    "empty_command": ("command: []\n", "empty|command", 1),
    "repeats_is_a_text": ("script: s.py\nrepeats: often\n", "repeats|number", 2),
    "repeats_zero": ("script: s.py\nrepeats: 0\n", "repeats|1", 2),
    "repeats_negative": ("script: s.py\nrepeats: -3\n", "repeats|1", 2),
    "repeats_fraction": ("script: s.py\nrepeats: 1.5\n", "repeats|whole", 2),
    "repeats_huge": ("script: s.py\nrepeats: 99999999999999999999\n", "repeats|whole number", 2),
    "pass_unknown": ("script: s.py\npass: telepathy\n", "positional", 2),
    "constraints_is_a_map": ("script: s.py\nparameters: {a: [1, 2]}\nconstraints: {a: 1}\n", "constraints|list", 3),
    # paths
    "script_outside": ("script: ../s.py\n", r"\.\.|below", 1),
    "file_outside": ("script: s.py\nfiles: [../../etc/shadow]\n", r"\.\.|below", 2),
    "metrics_outside": ("script: s.py\nmetrics: {csv: ../x.csv}\n", r"\.\.|below", 2),
    "metrics_printed": ("script: s.py\nmetrics: {printed: loss}\n", "from: stdout", 2),
    # parameters
    "empty_choices": (with_parameters("a: []"), "empty|no value", 3),
    "choice_is_a_map": (with_parameters("a: [1, {b: 2}]"), "a", 3),
    "duplicate_choice": (with_parameters("a: [1, 2, 1]"), "twice|same", 3),
    "min_above_max": (with_parameters("a: {min: 5, max: 1}"), "min", 3),
    "min_without_max": (with_parameters("a: {min: 5}"), "max", 3),
    "log_with_zero": (with_parameters("a: {min: 0, max: 1, scale: log}"), "log|above 0", 3),
    "log_with_negative": (with_parameters("a: {min: -1, max: 1, scale: log}"), "log|above 0", 3),
    "scale_unknown": (with_parameters("a: {min: 1, max: 2, scale: cubic}"), "scale|linear", 3),
    "step_zero": (with_parameters("a: {min: 1, max: 2, step: 0}"), "step", 3),
    "step_negative": (with_parameters("a: {min: 1, max: 9, step: -1}"), "step", 3),
    "min_is_a_text": (with_parameters("a: {min: low, max: 2}"), "number", 3),
    "range_to_infinity": (with_parameters("a: {min: 0, max: .inf}"), "number|finite|infinite", 3),
    "range_is_nan": (with_parameters("a: {min: .nan, max: 1}"), "number|nan|finite", 3),
    "parameter_with_a_blank": (with_parameters("'batch size': 1"), "batch size", 3),
    "parameter_with_a_newline": (with_parameters('"a\\nb": 1'), "name|letters", 3),
    "when_names_nobody": (with_parameters("a: {min: 1, max: 2, when: {nobody: 1}}"), "nobody", 3),
    "when_never_true": (with_parameters("o: [adam, sgd]\n  a: {min: 1, max: 2, when: {o: lion}}"), "lion|never", 4),
    "when_itself": (with_parameters("a: {min: 1, max: 2, when: {a: 1}}"), "a", 3),
    "cyclic_condition": (with_parameters("a: {min: 0, max: 1, when: {b: 1}}\n  b: {min: 0, max: 1, when: {a: 1}}"),
                         "circle|cycl|each other|lean", None),
    "too_many_tasks": (with_parameters("a: {min: 1, max: 1000, step: 1}\n  b: {min: 1, max: 1000, step: 1}")
                       + "search: {strategy: grid}\n", "tasks", None),
    "grid_over_a_range": (with_parameters("a: {min: 0.0, max: 1.0}") + "search: {strategy: grid}\n", "grid|step|finite", None),
    # words of Optuna, Ray Tune, W&B and scikit-optimize: what to write here
    "optuna_low": (with_parameters("a: {low: 1, max: 2}"), "write min", 3),
    "optuna_high": (with_parameters("a: {min: 1, high: 2}"), "write max", 3),
    "optuna_log": (with_parameters("a: {min: 1, max: 2, log: true}"), "write scale: log", 3),
    "ray_loguniform": (with_parameters("a: {type: loguniform, min: 1, max: 2}"), "write scale: log", 3),
    "ray_loguniform_with_low": (with_parameters("a: {type: loguniform, low: 1, high: 2}"),
                                r"write min[\s\S]*write max[\s\S]*write scale: log", 3),
    "ray_choice": (with_parameters("a: {type: choice, choices: [1, 2]}"), r"name: \[a, b, c\]", 3),
    "type_double": (with_parameters("a: {type: double, min: 0, max: 1}"), "write type: real", 3),
    "type_categorical": (with_parameters("a: {type: categorical, values: [1, 2]}"), "belongs to a range", 3),
    "wandb_distribution": (with_parameters("a: {distribution: log_uniform_values, min: 1, max: 2}"), "write scale: log", 3),
    "wandb_uniform": (with_parameters("a: {distribution: uniform, min: 1, max: 2}"), "leave it out", 3),
    "wandb_normal": (with_parameters("a: {distribution: normal, mu: 1, sigma: 2}"), "normal distributions are not supported", 3),
    "quantised": (with_parameters("a: {min: 1, max: 9, q: 2}"), "write step", 3),
    "skopt_prior": (with_parameters("a: {min: 1, max: 9, prior: log-uniform}"), "write scale: log", 3),
    "scale_logarithmic": (with_parameters("a: {min: 1, max: 9, scale: logarithmic}"), "write scale: log", 3),
    "wandb_program": ("program: s.py\n", "write script: model.py", 1),
    "wandb_method": ("script: s.py\nmethod: bayes\n", r"write search: \{strategy", 2),
    "wandb_metric": ("script: s.py\nmetric: {name: loss, goal: minimize}\n", r"write objective: \{metric", 2),
    "objective_name": ("script: s.py\nobjective: {name: loss, goal: minimize}\n", "write metric", 2),
    "optuna_trials": ("script: s.py\nn_trials: 10\n", r"write search: \{tasks", 2),
    "ray_samples": ("script: s.py\nnum_samples: 10\n", r"write search: \{tasks", 2),
    "gpus_on_top": ("script: s.py\ngpus: 1\n", r"write resources: \{", 2),
    # where the mistake is, not where the reader gave up
    "list_not_closed": ("script: s.py\nparameters:\n  x: [1, 2\nobjective: loss\n", "the list that begins here has no ]", 3),
    "map_not_closed": ("script: s.py\nsearch: {tasks: 3\nobjective: loss\n", "the map that begins here has no }", 2),
    "quote_not_closed": ('script: s.py\nname: "abc\nobjective: loss\n', "the text that begins here has no closing quote", 2),
    "key_without_colon": ("script: s.py\nparameters\n  x: 1\n", "there is no ':' behind this key", 2),
    "indented_less": ("script: s.py\nparameters:\n  x: 1\n y: 2\n", "this line is indented otherwise", 4),
    "indented_more": ("script: s.py\nparameters:\n x: 1\n  y: 2\n", "a line is indented too far", 4),
    "a_tab": ("script: s.py # ä\nparameters:\n\tx: 1\n", "a tab; indent with spaces", 3),
    "an_at_sign": ("script: s.py\nname: @x\n", "needs quotes", 2),
    # constraints, search, objective and the rest
    "constraint_syntax": (with_parameters("a: [1, 2]") + 'constraints: ["a <"]\n', "a <|constraint|expected", 4),
    "constraint_names_nobody": (with_parameters("a: [1, 2]") + 'constraints: ["zz < 1"]\n', "zz", 4),
    "constraint_leaves_nothing": (with_parameters("a: [1, 2]") + 'constraints: ["a > 5"]\n', "no configuration|nothing", 4),
    "constraint_calls": (with_parameters("a: [1, 2]") + "constraints: [\"__import__('os').system('id')\"]\n", "constraints|expected|not", 4),
    "search_beside_a_wrong_parameter": (with_parameters("a: {min: 5, max: 1}") + "search: {strategy: psychic, tasks: 0}\n",
                                        r"min 5 is above max 1[\s\S]*'tasks' cannot be 0[\s\S]*psychic", None),
    "option_beside_a_wrong_parameter": (with_parameters("a: []") + "search: {strategy: grid, taks: 4}\n",
                                        r"empty[\s\S]*taks", None),
    "strategy_unknown": ("script: s.py\nsearch: {strategy: psychic}\n", "psychic", 2),
    "tasks_zero": ("script: s.py\nsearch: {strategy: random, tasks: 0}\n", "tasks", 2),
    "tasks_negative": ("script: s.py\nsearch: {strategy: random, tasks: -1}\n", "tasks", 2),
    "tasks_absurd": (with_parameters("a: {min: 0.0, max: 1.0}") + "search: {strategy: random, tasks: 1000000000000}\n", "tasks", None),
    "seed_is_a_text": ("script: s.py\nsearch: {seed: lucky}\n", "seed", 2),
    "parallel_zero": ("script: s.py\nsearch: {parallel: 0}\n", "parallel", 2),
    "goal_unknown": ("script: s.py\nobjective: {metric: loss, goal: sideways}\n", "goal|sideways", 2),
    "objective_without_metric": ("script: s.py\nobjective: {goal: min}\n", "metric", 2),
    "objective_empty_list": ("script: s.py\nobjective: []\n", "objective", 2),
    "stop_condition": ('script: s.py\nstop: {when: "loss is low"}\n', "condition|METRIC", 2),
    "stop_energy": ("script: s.py\nstop: {energy: 20 bananas}\n", "energy", 2),
    "gpu_hours_negative": ("script: s.py\nstop: {gpu_hours: -1}\n", "gpu_hours", 2),
    "memory_unit": ("script: s.py\nresources: {memory: 16Q}\n", "memory|16Q", 2),
    "memory_negative": ("script: s.py\nresources: {memory: -1G}\n", "memory|-1G", 2),
    "time_rubbish": ("script: s.py\nresources: {time: soon}\n", "time|soon", 2),
    "cpus_zero": ("script: s.py\nresources: {cpus: 0}\n", "cpus|1", 2),
    "cpus_absurd": ("script: s.py\nresources: {backend: local, cpus: 1000000}\n", "cpus|CPU", 2),
    "backend_unknown": ("script: s.py\nresources: {backend: moon}\n", "moon", 2),
    "variable_name": ("script: s.py\nenvironment: {vars: {'A B': x}}\n", "A B", 2),
    "variable_taken": ("script: s.py\nenvironment: {vars: {SLUICE_TASK: x}}\n", "SLUICE_", 2),
    "retry_negative": ("script: s.py\nretry: {lost: -1}\n", "retry|lost|0", 2),
    "checkpoint_signal": ("script: s.py\ncheckpoint: {signal: KILL9}\n", "signal", 2),
    "fidelity_without_parameter": ("script: s.py\nfidelity: {min: 1, max: 9}\n", "parameter", 2),
    "fidelity_names_nobody": ("script: s.py\nfidelity: {parameter: nobody, min: 1, max: 9}\n", "nobody", 2),
}

JSON_CASES = {
    "json_trailing_comma": '{"script": "s.py",}',
    "json_single_quotes": "{'script': 's.py'}",
    "json_cut_short": '{"script": "s.py"',
    "json_duplicate": '{"script": "s.py", "script": "t.py"}',
    "json_too_big_number": '{"script": "s.py", "repeats": 1e999}',
    "json_nul": '{"script": "s\\u0000.py"}',
    "json_lone_surrogate": '{"script": "s.py", "name": "\\ud800"}',
}


@pytest.fixture(scope="module")
def shared():
    """One daemon for the whole table: it must come through all of it."""
    folder = tempfile.mkdtemp(prefix="sl-")
    daemon = Daemon(os.path.join(folder, "state")).start()
    yield daemon
    daemon.stop()
    sweep(folder)
    shutil.rmtree(folder, ignore_errors=True)


def total(shared):
    return shared.get("/experiments")["total"]


def refuse(shared, tmp_path, name, text, says, line):
    before = total(shared)
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "s.py").write_text("print(1)\n")
    for verb in (["check"], ["run", "--detach"]):
        done = shared.cli(*verb, path, status=None)
        assert done.returncode == 2, f"{verb}: exit {done.returncode}: {done.stdout}{done.stderr}"
        assert re.search(says, done.stderr, re.I), done.stderr
        assert name in done.stderr, f"the file is not named: {done.stderr}"
        if line:
            assert re.search(rf"{re.escape(name)}:{line}\b", done.stderr), f"line {line} is not named: {done.stderr}"
        assert len(done.stderr) < 5000
    assert total(shared) == before
    # The same through REST, where bytes that are no text cannot even be written into JSON.
    if isinstance(text, str):
        body = {"source": {"name": name, "text": text}, "files": [{"path": "s.py", "text": "print(1)"}]}
        for route in ("/check", "/experiments"):
            answer = shared.request("POST", route, body)
            assert answer.status == 400, f"{route}: {answer.status} {answer.body[:500]}"
            assert answer.headers["Content-Type"].startswith("application/problem+json")
            problem = answer.json
            assert problem["status"] == 400
            assert re.search(says, json.dumps(problem), re.I), problem
            if line:
                assert any(error.get("line") == line for error in problem["errors"]), problem
    assert total(shared) == before


@pytest.mark.parametrize("name", CASES)
def test_wrong_file_is_refused(shared, tmp_path, name):
    text, says, line = CASES[name]
    refuse(shared, tmp_path, f"{name}.yaml", text, says, line)


@pytest.mark.parametrize("name", JSON_CASES)
def test_wrong_json_is_refused(shared, tmp_path, name):
    refuse(shared, tmp_path, f"{name}.json", JSON_CASES[name], "JSON", 1)


def test_missing_script_is_named(shared, tmp_path):
    before = total(shared)
    path = tmp_path / "experiment.yaml"
    path.write_text("script: not-there.py\n")
    done = shared.cli("run", "--detach", path, status=None)
    assert done.returncode == 2 and "not-there.py" in done.stderr
    answer = shared.request("POST", "/experiments", {"experiment": {"script": "not-there.py"}})
    assert answer.status == 400 and "not-there.py" in answer.body.decode()
    assert total(shared) == before


def test_script_outside_the_sent_files_is_refused(shared):
    before = total(shared)
    for script in ("/etc/passwd", "../s.py", "a/../../s.py", ""):
        answer = shared.request("POST", "/experiments", {"experiment": {"script": script}, "files": []})
        assert answer.status == 400 and answer.json["errors"][0]["field"] == "/script", answer.body
    assert total(shared) == before


def test_missing_file_is_named(shared, tmp_path):
    done = shared.cli("check", tmp_path / "nothing.yaml", status=None)
    assert done.returncode == 2 and "nothing.yaml" in done.stderr


@pytest.mark.parametrize("arguments", [
    ["a=1", "a=2"], ["a=1,,2"], ["a="], ["a=1..x"], ["a=5..1"], ["a=0..1:log"], ["=1"], ["no-equals-sign"],
    ["a=1", "--tasks", "many"], ["a=1", "--pass", "telepathy"], ["a=1", "--strategy", "psychic"], ["a=1", "--nonsense"],
    ["a=1", "--time", "soon"], ["a=1", "--goal", "sideways", "--objective", "x"],
])
def test_wrong_arguments_are_refused(shared, tmp_path, arguments):
    before = total(shared)
    script = tmp_path / "s.py"
    script.write_text("print(1)\n")
    done = shared.cli("run", "--detach", script, *arguments, status=None)
    assert done.returncode == 2, f"exit {done.returncode}: {done.stdout}{done.stderr}"
    assert done.stderr.strip()
    assert total(shared) == before


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{}", b"{", b'{"experiment": 7}', b'{"experiment": {}, "source": {}}',
                                 b'{"experiment": {"script": "s.py"}, "files": 7}', b'{"experiment": {"script": "s.py"}, "files": [{}]}',
                                 b'{"experiment": {"script": "s.py"}, "files": [{"path": "../s.py", "text": "x"}]}',
                                 b'{"experiment": {"script": "s.py"}, "files": [{"path": "s.py", "base64": "!!"}]}',
                                 b'{"experiment": {"script": "s.py"}, "files": [{"path": "s.py", "upload": "u999"}]}',
                                 b'{"source": {"name": 7, "text": []}}', b"\xff\xfe\x00", b"[" * 100000])
def test_wrong_body_is_refused(shared, raw):
    before = total(shared)
    answer = shared.request("POST", "/experiments", raw=raw)
    assert 400 <= answer.status < 500, f"{answer.status} {answer.body[:300]}"
    assert answer.json["status"] == answer.status and answer.json["detail"]
    assert total(shared) == before


@pytest.mark.parametrize("paths, says", [
    (["n" * 256], "more than 255 bytes"), (["d", "d/e"], "both a file and a folder"), (["a.py/b", "a.py"], "both a file and a folder"),
    (["d", "d-x", "d/e"], "both a file and a folder"), (["a", "b", "a"], "there twice"), (["x/" * 33 + "y"], "nested too deep"),
])
def test_files_that_no_folder_can_hold_are_refused(shared, paths, says):
    before = total(shared)
    files = [{"path": path, "text": "x"} for path in paths]
    for route in ("/experiments", "/check"):
        answer = shared.request("POST", route, {"experiment": {"command": ["true"]}, "files": files})
        assert (answer.status == 400 or not answer.json["ok"]) and says in answer.body.decode(), answer.body
    assert total(shared) == before


@pytest.mark.parametrize("document, says", [
    ("script: \"a\\nb.py\"", "the script's name has a line break"), ("command: ['']", "the command's first word is empty"),
    ("command: ['true']\nstop: {when: loss < .nan}", "is not a condition"), ("command: ['true']\nstop: {gpu_hours: .inf}", "above 0"),
    ("command: ['true']\nparameters:\n" + "".join(f"  p{i}: '{'x' * 65000}'\n" for i in range(9)), "fit into a command line"),
])
def test_what_could_never_run_or_never_hold_is_refused(shared, document, says):
    before = total(shared)
    answer = shared.request("POST", "/experiments", {"source": {"name": "e.yaml", "text": document}})
    assert answer.status == 400 and says in answer.body.decode(), answer.body[:500]
    assert total(shared) == before


def test_a_file_of_windows_is_read(shared, tmp_path):
    (tmp_path / "-c.py").write_text("import sys; print(sys.argv)\n")  # no option of python3 either
    path = tmp_path / "experiment.yaml"
    path.write_bytes(b"\xef\xbb\xbfscript: -c.py\r\nparameters:\r\n  seed: [1]\r\n")
    experiment = shared.cli("run", "--detach", path).stdout.split(":")[0].split()[0]
    assert shared.wait_ended(experiment)["state"] == "finished"
    assert shared.get(f"/experiments/{experiment}/tasks/1/log")["text"] == "['./-c.py', '--seed=1']\n"


def test_a_list_written_as_on_the_command_line_is_warned_of(shared, tmp_path):
    (tmp_path / "s.py").write_text("print(1)\n")
    path = tmp_path / "experiment.yaml"
    path.write_text('script: s.py\nparameters:\n  batch: 64,32, 16\n  rate: 1e-5..1e-1:log\n  layers: "64x32"\n  tags: a,b\n  name: v1..v2\n')
    warnings = json.loads(shared.cli("check", "--json", path).stdout)["warnings"]
    said = " ".join(warnings)
    assert "batch is a single text, '64,32, 16'" in said and "rate is a single text, '1e-5..1e-1:log'" in said, warnings
    assert not re.search("layers is|tags is|name is", said), warnings


def test_the_table_is_large_enough():
    assert len(CASES) + len(JSON_CASES) >= 60


@pytest.mark.parametrize("line, warns", [
    ("batch_size = int(sys.argv[3])", True),
    ("experiment, task, batch_size = sys.argv[1:]", True),
    ("a, *rest = sys.argv", True),
    ("name = sys.argv[0]", False),
    ("args = parse(sys.argv[1:])", False),
    ("main(argv=sys.argv, x=1)", False),
    ("parser.add_argument('--batch-size'); print(sys.argv[1])", False)])
def test_a_script_that_counts_its_arguments_is_not_given_flags_without_a_word(shared, folder, line, warns):
    (folder / "model.py").write_text(f"import sys\n{line}\n")
    for how, expected in (((), warns), (("--pass", "positional"), False), (("--pass", "env"), False)):
        answer = json.loads(shared.cli("check", "--json", *how, folder / "model.py", "batch_size=64,32").stdout)
        assert any("`pass: positional`" in text for text in answer["warnings"]) == expected, (how, answer)
        assert answer["scan"]["pass"] == ("positional" if warns else "flags" if "add_argument" in line else None)
