#!/usr/bin/env python3
"""Why is this run slower than that one: wrapping none and auto across a slow link, by `heddle compare` (root).

  compare_bench.py --slow-link slow_link.sh [--rate 400mbit] [--steps 16] [--store FILE]

Trains the default shape of the benches twice, a rank and a core on each side of a link of that rate, and imports
both. Bounds, each 2 %:
- Each measured step: compute + exposed + bubble + idle against what the rank's own clock said of it. All of it is
  counted again here from the exported spans, by intervals, apart from Heddle's code. Copies between devices are
  spans of the compute stream: on a CPU there are none.
- The newest step: Heddle's parts against those.
- The differences of exposed time by bucket, and by module, add up to the steps' difference of exposed time.
The report of the two is written too; its path with --store.
"""
import argparse, json, os, subprocess, sys, tempfile

from across import across
from default_shape import recipe

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--slow-link", required=True, help="the script that joins two namespaces")
p.add_argument("--rate", default="400mbit")
p.add_argument("--steps", type=int, default=16)
p.add_argument("--store", default="", help="kept, to look at in the window")
a = p.parse_args()

BOUND = 0.02
PARTS = ("compute", "exposed", "bubble", "idle")
COMPUTE, BUBBLE = 0, 3  # streams of spans; 1 transfers, 2 waits for other ranks


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def union(spans):
    """Spans as disjoint intervals, ascending."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in intervals) / 1e6


def measured_steps(store, run_id):
    """{step: (the clock's seconds, parts from spans, the time from the first span to the last)} of rank 0."""
    with tempfile.TemporaryDirectory() as folder:
        run(f"{a.build}/heddle", "--store", store, "export", run_id, "--to", f"{folder}/out")
        with open(f"{folder}/out/trace.json") as file:
            trace = json.load(file)["traceEvents"]
        with open(f"{folder}/out/metrics.csv") as file:
            head, *rows = [line.rstrip("\n").split(",") for line in file]
    at = {name: head.index(name) for name in ("rank", "step", "step_seconds")}
    clock = {int(row[at["step"]]): float(row[at["step_seconds"]]) for row in rows
             if row[at["rank"]] == "0" and row[at["step_seconds"]]}
    spans = {}
    for event in trace:
        if event["ph"] == "X" and event["pid"] == 0 and "step" in event.get("args", {}):
            spans.setdefault(event["args"]["step"], []).append(
                (event["tid"], event["ts"], event["ts"] + event["dur"]))
    steps = {}
    for step, of in spans.items():
        compute = union([(begin, end) for tid, begin, end in of if tid == COMPUTE])
        busy = union([(begin, end) for tid, begin, end in of if tid != BUBBLE])
        every = union([(begin, end) for _, begin, end in of])
        extent = (every[-1][1] - every[0][0]) / 1e6
        parts = {"compute": length(compute), "exposed": length(busy) - length(compute),
                 "bubble": length(every) - length(busy), "idle": extent - length(every)}
        steps[step] = (clock[step], parts, extent)
    return steps


def check(words, value, against, of):
    """Prints it; whether it is off by more than the bound."""
    off = abs(value - against) / of
    print(f"  {words}: {value * 1e3:9.2f} against {against * 1e3:9.2f} ms ({off:.2%})")
    return off > BOUND


failures = 0
with tempfile.TemporaryDirectory(prefix="compare-bench-") as folder:
    store = a.store or f"{folder}/store.sqlite"
    heddle = [f"{a.build}/heddle", "--store", store]
    for mode in ("none", "auto"):
        os.mkdir(f"{folder}/{mode}")
        text = recipe(a.steps, f'mode = "{mode}"', 4)
        across(a.build, a.slow_link, a.rate, f"{folder}/{mode}", text)
        os.rename(f"{folder}/{mode}/0", f"{folder}/wrapping-{mode}")
        run(*heddle, "import", f"{folder}/wrapping-{mode}")
    runs = sorted(json.loads(run(*heddle, "runs", "--json")), key=lambda each: each["id"])[-2:]
    names = [str(each["id"]) for each in runs]
    steps = [measured_steps(store, name) for name in names]
    for entry, of in zip(runs, steps):
        print(f"{entry['name']}: parts of each measured step against the rank's clock")
        for step, (clock, parts, _) in sorted(of.items()):
            failures += check(f"step {step}", sum(parts.values()), clock, clock)
    left_right = [each for each in json.loads(run(*heddle, "compare", *names, "--json"))["breakdown"]
                  if each["rank"] == 0][0]
    for side, of in zip(("left", "right"), steps):
        clock, parts, _ = of[max(of)]
        print(f"{side}, step {max(of)}: Heddle's parts against those of the spans")
        for part in PARTS:
            failures += check(part, left_right[side][f"{part}_seconds"], parts[part], clock)
    change = left_right["right"]["exposed_seconds"] - left_right["left"]["exposed_seconds"]
    print("exposed time, auto against none: the rows' differences against the steps'")
    for grouping in ("by_bucket", "by_module"):
        total = sum(row["right"]["exposed_seconds"] - row["left"]["exposed_seconds"] for row in left_right[grouping])
        failures += check(grouping, total, change, abs(change))
    for words in left_right["surprises"]:
        print(f"  {words}")
    report = f"{os.path.splitext(store)[0]}-report.html"
    run(*heddle, "compare", *names, "--report", report)
    print(f"report: {os.path.getsize(report) / 1024:.0f} KiB" + (f", {report}" if a.store else ""))
print(f"{failures} of these are off by more than {BOUND:.0%}")
sys.exit(failures > 0)
