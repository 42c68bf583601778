"""What of a step its kernels take, by the spans of a run's profiled steps."""
import csv
import json
import shutil
import statistics
import subprocess
import tempfile

ATTENTION = ("attention", "attention_backward")
KERNELS = ("mm", "addmm_") + ATTENTION


def seconds_by_step(build, run_dir, kernels):
    """{(rank, step): seconds that these kernels took}."""
    return exported(build, run_dir, kernels)[0]


def step_and_kernel_seconds(build, run_dir, warm_up=3):
    """One rank's profiled steps behind the first `warm_up`: (the step, its products and attention) of each."""
    sums, steps = exported(build, run_dir, KERNELS)
    return [(steps[rank, step], seconds) for (rank, step), seconds in sums.items() if step > warm_up]


def kernel_seconds(build, run_dir, warm_up=3):
    """Matrix products and attention: median over the ranks and the profiled steps behind the first `warm_up`."""
    sums = seconds_by_step(build, run_dir, KERNELS)
    return statistics.median(seconds for (_, step), seconds in sums.items() if step > warm_up)


def exported(build, run_dir, kernels):
    """By (rank, step): seconds of these kernels in the profiled steps, and of every step."""
    folder = tempfile.mkdtemp(prefix="spans-")
    store = [f"{build}/heddle", "--store", f"{folder}/store.sqlite"]
    for command in (["import", run_dir], ["export", "1", "--to", f"{folder}/out"]):
        subprocess.run(store + command, check=True, capture_output=True)
    with open(f"{folder}/out/trace.json") as file:
        trace = json.load(file)["traceEvents"]
    with open(f"{folder}/out/metrics.csv") as file:
        steps = {(int(row["rank"]), int(row["step"])): float(row["step_seconds"])
                 for row in csv.DictReader(file) if row["step_seconds"]}
    shutil.rmtree(folder)
    sums = {}
    for span in trace:
        if span["ph"] == "X" and span["name"].split()[0] in kernels:
            key = span["pid"], span["args"]["step"]
            sums[key] = sums.get(key, 0) + span["dur"] / 1e6
    return sums, steps
