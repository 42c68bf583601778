#!/usr/bin/env python3
"""Predicted against measured, part by part: compute, exposed, bubble and idle of a profiled step add up to it.

  breakdown_bench.py [--build build/release/bin] [--steps 12] [--also RUN_DIR...] [--store FILE]

Trains three runs on two ranks of this machine (shards, a pipeline, tensors), imports them and those of
--also (a folder that peer_bench.py --link ... --keep has made, say) into a store, and prints what `heddle show
--json` says of each stage: both sides, and their largest surprises. A part's sum may miss the step by 2 %:
the predicted one that of the plan, the measured one what the rank's own clock said of that step.
"""
import argparse, json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--steps", type=int, default=12)
p.add_argument("--also", nargs="*", default=[])
p.add_argument("--store", default="", help="kept, to look at in the window")
a = p.parse_args()

RUNS = {"shards": [], "pipeline": ["parallelism.pp=2", "parallelism.microbatches=4", "training.local_batch=4"],
        "tensors": ["parallelism.tp=2"]}
PARTS = ("compute", "exposed", "bubble", "idle")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def train(name, sets, folder):
    """The run's directory, named as the run is to be."""
    path = f"{folder}/{name}"
    keys = sets + [f"training.steps={a.steps}", "telemetry.profile_every=4", "checkpoint.enabled=false"]
    run(f"{a.build}/heddle-engine", "train", f"{ROOT}/resources/recipes/debug.toml", "--run-dir", path,
        *[word for key in keys for word in ("--set", key)])
    return path


def steps_of(store, run_id, step):
    """What each rank's clock said of the step, by rank."""
    with tempfile.TemporaryDirectory() as folder:
        run(f"{a.build}/heddle", "--store", store, "export", run_id, "--to", f"{folder}/out")
        with open(f"{folder}/out/metrics.csv") as file:
            head, *rows = [line.rstrip("\n").split(",") for line in file]
    at = {name: head.index(name) for name in ("rank", "step", "step_seconds")}
    return {int(row[at["rank"]]): float(row[at["step_seconds"]]) for row in rows if int(row[at["step"]]) == step}


with tempfile.TemporaryDirectory(prefix="breakdown-bench-") as folder:
    store = a.store or f"{folder}/store.sqlite"
    heddle = [f"{a.build}/heddle", "--store", store]
    for path in [train(name, sets, folder) for name, sets in RUNS.items()] + a.also:
        run(*heddle, "import", path)
    worst = 0.0
    for entry in reversed(json.loads(run(*heddle, "runs", "--json"))):
        shown = json.loads(run(*heddle, "show", str(entry["id"]), "--json"))["prediction"]
        if shown is None:
            sys.exit(f"{entry['name']}: has no prediction next to a measured step")
        clock = steps_of(store, str(entry["id"]), shown["step"])
        for stage in shown["ranks"]:
            print(f"{entry['name']}, step {shown['step']}, rank {stage['rank']} (stage {stage['stage']})")
            for side in ("predicted", "measured"):
                spent = stage[side]
                step = clock[stage["rank"]] if side == "measured" else spent["step_seconds"]
                total = sum(spent[f"{part}_seconds"] for part in PARTS)
                off = total / step - 1
                worst = max(worst, abs(off))
                print(f"  {side:<10}" + "".join(f" {part} {spent[f'{part}_seconds'] * 1e3:8.2f}" for part in PARTS) +
                      f"   sum {total * 1e3:8.2f} of {step * 1e3:8.2f} ms ({off:+.2%})")
            for words in stage["surprises"]:
                print(f"    {words}")
    print(f"worst sum {worst:.2%} off (bound 2 %)")
    sys.exit(worst > 0.02)
