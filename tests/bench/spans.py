"""What of a step its matrix products and attention take, by the spans of a run's profiled steps."""
import json
import shutil
import statistics
import subprocess
import tempfile

KERNELS = ("mm", "addmm_", "attention", "attention_backward")


def kernel_seconds(build, run_dir, warm_up=3):
    """Median over the ranks and the profiled steps behind the first `warm_up`."""
    folder = tempfile.mkdtemp(prefix="spans-")
    store = [f"{build}/heddle", "--store", f"{folder}/store.sqlite"]
    for command in (["import", run_dir], ["export", "1", "--to", f"{folder}/out"]):
        subprocess.run(store + command, check=True, capture_output=True)
    with open(f"{folder}/out/trace.json") as file:
        spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    shutil.rmtree(folder)
    sums = {}
    for span in spans:
        if span["name"].split()[0] in KERNELS and span["args"]["step"] > warm_up:
            key = span["pid"], span["args"]["step"]
            sums[key] = sums.get(key, 0) + span["dur"] / 1e6
    return statistics.median(sums.values())
