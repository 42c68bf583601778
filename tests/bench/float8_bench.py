#!/usr/bin/env python3
"""Shakespeare in bf16 and in 8 bits: final loss, step time, planned against measured memory.

  float8_bench.py [--build build/release/bin] [--steps 300] [--minutes 45]

Prints a line a run: the last loss and how far it is from bf16's (bound 1 %), seconds a step, the
predicted and the measured resident peak of rank 0 and their difference (bound 5 %), what operators
allocated beyond the plan (bound 0). Half an hour on two cores; a run that takes more than --minutes is ended.
"""
import argparse, json, os, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--steps", type=int, default=300)
p.add_argument("--minutes", type=float, default=45)
a = p.parse_args()


def train(float8):
    sets = ['precision.param="bf16"', f'precision.float8="{float8}"', f"training.steps={a.steps}",
            f"schedule.warmup_steps={min(30, a.steps)}", "checkpoint.enabled=false"]
    command = [f"{a.build}/heddle-engine", "train", f"{ROOT}/resources/recipes/shakespeare.toml"]
    try:
        done = subprocess.run(command + [word for each in sets for word in ("--set", each)], capture_output=True,
                              text=True, timeout=60 * a.minutes)
    except subprocess.TimeoutExpired:
        sys.exit(f"precision.float8 = {float8}: not done after {a.minutes:g} minutes")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().split("\n")[-1])


missed, of_bf16 = 0, None
for float8 in ("none", "tensorwise", "rowwise"):
    r = train(float8)
    loss = r["losses"][-1]
    of_bf16 = of_bf16 or loss
    worse, off = loss / of_bf16 - 1, r["peak_bytes"] / r["predicted_peak_bytes"] - 1
    ok = abs(worse) <= 0.01 and abs(off) <= 0.05 and r["outside_bytes"] == 0
    missed += not ok
    print(f"{'bf16' if float8 == 'none' else float8:<11} loss {loss:.4f} {worse:+.2%}  step {r['step_seconds']:.3f} s  "
          f"predicted {r['predicted_peak_bytes'] / 1e6:6.1f} MB  measured {r['peak_bytes'] / 1e6:6.1f} MB  {off:+.1%}  "
          f"outside {r['outside_bytes']} B  {'ok' if ok else 'MISSED'}", flush=True)
sys.exit(1 if missed else 0)
