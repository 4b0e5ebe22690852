"""The comparison: the same JSON from SQLite by Flask, as S-TFManager and its like do it. The tables hold one row an
experiment and one a task; members that are lists or maps are JSON texts."""

import json
import os
import sqlite3
import time

from flask import Flask, Response, g, jsonify, request

app = Flask(__name__)
app.json.sort_keys = False
DATABASE = os.environ["BENCH_DATABASE"]


def database():
    if "database" not in g:
        g.database = sqlite3.connect(DATABASE)
        g.database.row_factory = sqlite3.Row
    return g.database


@app.teardown_appcontext
def close(_):
    connection = g.pop("database", None)
    if connection is not None:
        connection.close()


def rows(query, *values):
    return [{name: json.loads(row[name]) for name in row.keys()} for row in database().execute(query, values)]


@app.get("/health")
def health():
    return jsonify(status="ok")


@app.get("/experiments")
def experiments():
    items = rows("SELECT * FROM experiment ORDER BY rowid DESC LIMIT ?", int(request.args.get("limit", 100)))
    return jsonify(items=items, next=None, total=len(items))


@app.get("/tasks")
def tasks():
    items = rows("SELECT * FROM task ORDER BY rowid LIMIT ?", int(request.args.get("limit", 100)))
    return jsonify(items=items, next=None, total=len(items))


@app.get("/events")
def events():
    def stream():
        yield ": begin\n\n"
        while True:
            time.sleep(15)
            yield ": ping\n\n"
    return Response(stream(), mimetype="text/event-stream")
