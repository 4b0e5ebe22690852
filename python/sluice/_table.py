"""Answers that a notebook shows well: maps that know how to draw themselves, and tables of tasks."""

import html
from typing import Any, Dict, Iterable, List, Mapping, Sequence


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _html_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(row.get(column)))}</td>" for column in columns) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Table(List[Dict[str, Any]]):
    """Rows as maps. A notebook shows a table; to_pandas() and to_polars() make frames where those are installed."""

    _SHOWN = 50

    @property
    def columns(self) -> List[str]:
        """Every name that a row has, in the order in which they first occur."""
        return list(dict.fromkeys(name for row in self for name in row))

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas
        return pandas.DataFrame(list(self), columns=self.columns)

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        import polars
        return polars.DataFrame([{name: row.get(name) for name in self.columns} for row in self], infer_schema_length=None)

    def _repr_html_(self) -> str:
        more = f"<p>{len(self) - self._SHOWN} more rows</p>" if len(self) > self._SHOWN else ""
        return _html_table(self.columns, self[:self._SHOWN]) + more


class Experiment(Dict[str, Any]):
    """An experiment as the REST interface describes it. A notebook shows its name, state, counts and best."""

    def _repr_html_(self) -> str:
        counts = self.get("tasks") or {}
        states = ", ".join(f"{n} {state}" for state, n in counts.items() if state != "total" and n)
        best = self.get("best")
        row = {"id": self.get("id"), "name": self.get("name"), "state": self.get("state"),
               "tasks": f"{counts.get('total', '')} ({states})" if states else counts.get("total", ""),
               "best": best and best["value"], "of task": best and best["task"],
               **((best or {}).get("parameters") or {})}
        return _html_table(list(row), [row])


def table_of(tasks: Iterable[Mapping[str, Any]]) -> Table:
    """One row a task: number, state, parameters, best and last value, times, costs, cause."""
    rows = Table()
    for task in tasks:
        best, last, cost = task.get("best") or {}, task.get("last") or {}, task.get("cost") or {}
        row: Dict[str, Any] = {"task": task["number"], "state": task["state"]}
        for name, value in task["parameters"].items():
            row[f"parameter {name}" if name in row else name] = value
        row.update(best=best.get("value"), best_epoch=best.get("epoch"), last=last.get("value"),
                   elapsed_s=task.get("elapsed_s"), attempts=task.get("attempt"),
                   cause=(task.get("cause") or {}).get("text"))
        row.update((key, value) for key, value in cost.items() if value is not None and key != "energy_source")
        rows.append(row)
    return rows
