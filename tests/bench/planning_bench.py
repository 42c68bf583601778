#!/usr/bin/env python3
"""Capture and planning on one core: the 8B and 405B presets, and how the time grows with the layers.

  planning_bench.py [--rounds 15] [--build build/release/bin]

Takes all sizes in turn, round after round, and prints medians: of seconds, and of what twice the layers cost
in one round, a second apart, since a machine's speed wanders over minutes. Bounds: 0.3 s for 8B, 1 s for
405B, 2.2 times for twice the layers.
"""
import argparse
import json
import statistics
import subprocess
import sys

from default_shape import ROOT

LAYERS = (32, 64, 128, 256, 512, 1024)


def seconds(build, preset, layers=None):
    """Of capture and of planning."""
    done = subprocess.run(["taskset", "-c", "0", f"{build}/heddle-engine", "graph",
                           f"{ROOT}/resources/recipes/{preset}.toml", "--stats"] +
                          (["--set", f"model.n_layers={layers}"] if layers else []), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-2000:])
    stats = json.loads(done.stdout)
    return stats["capture_seconds"], stats["plan_seconds"]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--build", default=f"{ROOT}/build/release/bin")
    a = p.parse_args()
    seen = {case: [] for case in [("llama3-8b-8xh100", layers) for layers in LAYERS] + [("llama3-405b-512xh100", None)]}
    for _ in range(a.rounds):
        for case, times in seen.items():
            times.append(seconds(a.build, *case))
    missed, half = False, None
    for (preset, layers), times in seen.items():
        whole = [capture + plan for capture, plan in times]
        if half and layers:
            measure, bound = statistics.median(twice / once for twice, once in zip(whole, half)), 2.2
        else:
            measure, bound = statistics.median(whole), 1.0 if half else 0.3
        missed |= measure > bound
        print(f"{preset:<20} {f'{layers} layers' if layers else '':<11}"
              f"  capture {statistics.median(c for c, _ in times):.3f} s"
              f"  planning {statistics.median(p for _, p in times):.3f} s  {measure:5.3f} of {bound}"
              f" {'times' if half and layers else 's'}{'  MISSED' if measure > bound else ''}")
        half = whole
    sys.exit(1 if missed else 0)
