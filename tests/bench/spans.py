"""What of a step its kernels take, by the spans of a run's profiled steps."""
import json
import shutil
import statistics
import subprocess
import tempfile

ATTENTION = ("attention", "attention_backward")
KERNELS = ("mm", "addmm_") + ATTENTION


def seconds_by_step(build, run_dir, kernels):
    """{(rank, step): seconds that these kernels took}."""
    folder = tempfile.mkdtemp(prefix="spans-")
    store = [f"{build}/heddle", "--store", f"{folder}/store.sqlite"]
    for command in (["import", run_dir], ["export", "1", "--to", f"{folder}/out"]):
        subprocess.run(store + command, check=True, capture_output=True)
    with open(f"{folder}/out/trace.json") as file:
        spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    shutil.rmtree(folder)
    sums = {}
    for span in spans:
        if span["name"].split()[0] in kernels:
            key = span["pid"], span["args"]["step"]
            sums[key] = sums.get(key, 0) + span["dur"] / 1e6
    return sums


def kernel_seconds(build, run_dir, warm_up=3):
    """Matrix products and attention: median over the ranks and the profiled steps behind the first `warm_up`."""
    sums = seconds_by_step(build, run_dir, KERNELS)
    return statistics.median(seconds for (_, step), seconds in sums.items() if step > warm_up)
