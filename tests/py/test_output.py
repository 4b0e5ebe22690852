"""What a task wrote: its files and its whole output, searched and as a file."""
import os
import threading
import time
import urllib.parse

import pytest

from contract import Contract

SCRIPT = """
    import os, sys
    os.makedirs("out/deep", exist_ok=True)
    open("out/deep/notes.txt", "w").write("héllo\\n" * 3)
    open("curve.csv", "w").write("a,b\\n1,2\\n")
    open("page.html", "w").write("<script>alert(1)</script>")
    open("big.bin", "wb").write(b"x" * 600000)
    os.symlink("/etc/passwd", "secret")
    os.symlink("out", "linked")
    os.symlink("..", "above")
    os.mkfifo("pipe")
    for i in range(20000):
        print("line", i, "Needle" if i % 5000 == 7 else "")
    print("x" * 300000 + "NEEDLE" + "y" * 300000)
    sys.stdout.write("last needle, without an end")
    sys.stdout.flush()
    raise ValueError("the end")
"""


@pytest.fixture
def task(daemon):
    experiment = daemon.submit(SCRIPT, {"name": "writes", "parameters": {"n": [1]}})
    daemon.wait_ended(experiment)
    return f"/experiments/{experiment}/tasks/1"


def find(daemon, task, words, **query):
    answer = daemon.get(f"{task}/log/find?" + urllib.parse.urlencode({"q": words, **query}))
    Contract(daemon.get("/openapi.json")["components"]).check("LogHits", answer)
    return answer


def test_the_whole_output_is_searched(daemon, task):
    whole = daemon.request("GET", f"{task}/log/file")
    assert whole.status == 200 and whole.headers["Content-Type"].startswith("text/plain")
    assert whole.headers["Content-Disposition"] == "attachment"
    text = whole.body
    lines = text.split(b"\n")
    answer = find(daemon, task, "needle")
    assert answer["lines"] == len(lines) == 20002 and answer["size"] == len(text)
    assert answer["total"] == 6
    for hit in answer["items"]:
        line = lines[hit["line"] - 1]
        assert b"needle" in line.lower()
        if len(line) < 500:
            assert text[hit["offset"]:].startswith(line) and hit["text"].encode() == line
    few = find(daemon, task, "line", limit=3)
    assert [hit["line"] for hit in few["items"]] == [1, 2, 3] and few["total"] == 20000
    assert find(daemon, task, "nothing like it")["total"] == 0
    assert find(daemon, task, "ValueError: the end", stream="stderr")["total"] == 1
    assert daemon.request("GET", f"{task}/log/find").status == 400
    assert daemon.request("GET", f"{task}/log/find?q=x&attempt=7").status == 404


def test_text_that_is_not_ascii_is_found(daemon):
    experiment = daemon.submit("print('Größe ✓ 日本語 Loss')\nprint('grosse')", {"parameters": {"n": [1]}})
    daemon.wait_ended(experiment)
    for words in "Größe", "größe", "GRößE", "日本", "✓", "語 loss":
        answer = find(daemon, f"/experiments/{experiment}/tasks/1", words)
        assert (answer["total"], answer["items"][0]["text"]) == (1, "Größe ✓ 日本語 Loss"), words
    # Only ASCII letters are the same in both cases.
    assert find(daemon, f"/experiments/{experiment}/tasks/1", "GRÖSSE")["total"] == 0


def test_a_word_across_the_parts_of_a_long_line_is_found_once(daemon):
    experiment = daemon.submit("""
        import sys
        for at in range(131072 - 12, 131072 + 12):
            sys.stdout.write("a" * at + "needle" + "b" * 300000 + "needle\\n")
    """, {"parameters": {"n": [1]}})
    daemon.wait_ended(experiment)
    answer = find(daemon, f"/experiments/{experiment}/tasks/1", "needle")
    assert answer["total"] == 24 and [hit["line"] for hit in answer["items"]] == list(range(1, 25))


def test_a_search_in_very_many_lines_holds_no_other_request(daemon):
    experiment = daemon.submit("import sys\nsys.stdout.write('x\\n' * 1000000 + 'needle\\n' + 'z' * 200000)", {"parameters": {"n": [1]}})
    daemon.wait_ended(experiment)
    answers, waits = [], []
    search = threading.Thread(target=lambda: answers.extend(
        find(daemon, f"/experiments/{experiment}/tasks/1", word) for word in ("needle", "z")))
    search.start()
    while search.is_alive():
        begun = time.monotonic()
        daemon.get("/health")
        waits.append(time.monotonic() - begun)
    search.join()
    assert [(answer["total"], answer["lines"], answer["size"]) for answer in answers] == 2 * [(1, 1000002, 2200007)]
    assert (answers[0]["items"][0]["line"], answers[0]["items"][0]["offset"]) == (1000001, 2000000)
    assert answers[1]["items"][0]["line"] == 1000002
    assert max(waits) < 0.2, sorted(waits)[-5:]


def test_the_files_of_a_task_are_what_it_wrote(daemon):
    """The copies of what was submitted are not, unless the task changed them."""
    created = daemon.post("/experiments", {
        "experiment": {"script": "train.py", "parameters": {"n": [1, 2]}},
        "files": [{"path": "train.py", "text": "import sys\nopen('new', 'w').write('x')\n"
                   "if sys.argv[1:] == ['--n=2']: open('sub/data.txt', 'w').write('b')\n"},
                  {"path": "sub/data.txt", "text": "a"}]})
    daemon.wait_ended(created["id"])
    listed = [{file["path"] for file in daemon.get(f"/experiments/{created['id']}/tasks/{n}")["files"]} for n in (1, 2)]
    assert listed == [{"new"}, {"new", "sub/data.txt"}]


def test_files_of_a_task_are_read_and_nothing_else(daemon, task):
    listed = {file["path"] for file in daemon.get(task)["files"]}
    assert {"curve.csv", "out/deep/notes.txt", "page.html", "big.bin"} <= listed and "secret" not in listed

    def get(path, **more):
        return daemon.request("GET", f"{task}/file?" + urllib.parse.urlencode({"path": path, **more}))
    assert get("out/deep/notes.txt").body.decode() == "héllo\n" * 3
    page = get("page.html")
    assert page.headers["Content-Type"] == "application/octet-stream" and page.headers["Content-Disposition"] == "attachment"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert len(get("big.bin").body) == 600000 and len(get("big.bin", bytes=1000).body) == 1000
    assert get("linked/deep/notes.txt").status == 200  # a link that stays in the folder
    for path in ("secret", "above/journal", "above/work/curve.csv", "pipe", "out", "../task.json", "../../../../sluice.db", "/etc/passwd",
                 "out/../../1", "out/./../curve.csv/..", "", ".", "no such", "curve.csv/", "\u202ecurve.csv", "a" * 5000):
        answer = get(path)
        assert answer.status in (400, 404), (path, answer.status)
        assert b"root:" not in answer.body
    # A link that is swapped in place of a listed file.
    work = os.path.join(daemon.get(task)["folder"], "work")
    os.remove(os.path.join(work, "curve.csv"))
    os.symlink("/etc/passwd", os.path.join(work, "curve.csv"))
    assert get("curve.csv").status == 404
    assert daemon.request("GET", task.replace("/1", "/99") + "/file?path=curve.csv").status == 404
