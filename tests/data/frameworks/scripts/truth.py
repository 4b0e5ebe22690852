"""Where these scripts keep what their framework says itself: in $TRUTH, or truth.bin, which sluice does not read."""

import json
import math
import os


def point(step, value):
    """JSON has no word for nan and inf, so they are texts."""
    return [step, float(value) if math.isfinite(value) else str(float(value))]


def write(series):
    """series: {name: [(step, value), ...]}"""
    with open(os.environ.get("TRUTH", "truth.bin"), "w") as file:
        lines = [f"{json.dumps(name)}: {json.dumps([point(*p) for p in series[name]])}" for name in sorted(series)]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def of_history(history, start=0):
    return {name: [(start + i, value) for i, value in enumerate(values)] for name, values in history.items()}


def of_events(folder):
    """Every scalar of the event files below folder, as TensorBoard's own reader sees them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    series = {}
    for path, _, files in sorted(os.walk(folder)):
        if not any("tfevents" in name for name in files):
            continue
        events = EventAccumulator(path, size_guidance={"scalars": 0, "tensors": 0})
        events.Reload()
        run = os.path.relpath(path, folder)
        prefix = "" if run == "." else run + "/"
        for tag in events.Tags()["scalars"]:
            series[prefix + tag] = [(e.step, e.value) for e in events.Scalars(tag)]
        for tag in events.Tags()["tensors"]:
            if events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
                from tensorboard.util import tensor_util

                series[prefix + tag] = [
                    (e.step, tensor_util.make_ndarray(e.tensor_proto).item()) for e in events.Tensors(tag)
                ]
    return series
