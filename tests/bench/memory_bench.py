#!/usr/bin/env python3
"""Predicted against measured peak memory, for ten recipes; and what each kind of recomputation costs.

  memory_bench.py [--build build/release/bin] [--steps 4]

Prints a line a recipe: the plan's arena and states, the predicted and the measured resident peak of
rank 0 and their difference (bound 5 %), what operators allocated beyond the plan (bound 0); then a
table of recomputation at the shape of peer_bench.py: memory and step time.
"""
import argparse, json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--steps", type=int, default=4)
a = p.parse_args()


def train(shape, ranks, sets):
    keys = {"model.dim": 512, "model.n_layers": 8, "model.n_heads": 8, "model.n_kv_heads": 4,
            "model.ffn_dim": 1536, "data.seq_len": 512, "training.local_batch": 2,
            "training.steps": a.steps, "wrapping.mode": '"layers"', **shape}
    recipe = tempfile.NamedTemporaryFile("w", suffix=".toml")
    recipe.write(f'[data]\ntext = ["{ROOT}/resources/data/tinyshakespeare.txt"]\n'
                 f'tokenizer = "{ROOT}/resources/data/tokenizer.json"\n'
                 "[model]\ndim = 512\nn_layers = 8\nn_heads = 8\nffn_dim = 1536\n")
    recipe.flush()
    options = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    done = subprocess.run([f"{a.build}/heddle-engine", "train", recipe.name, "--ranks", str(ranks)] + options +
                          [word for each in sets for word in ("--set", each)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().split("\n")[-1])


small = {"model.dim": 256, "model.n_layers": 4, "model.ffn_dim": 768}
recipes = [
    ("default, 2 ranks", {}, 2, []),
    ("default, 1 rank", {}, 1, []),
    ("default, 4 ranks", {}, 4, []),
    ("each parameter by itself", {}, 2, ['wrapping.mode="none"']),
    ("parameters kept", {}, 2, ["wrapping.reshard_after_forward=false"]),
    ("full recomputation", {}, 2, ['recompute.mode="full"']),
    ("4 micro-batches", {"training.local_batch": 1, "training.global_batch": 8}, 2, []),
    ("bf16", {}, 2, ['precision.param="bf16"']),
    ("small, sequence 1,024", {**small, "data.seq_len": 1024}, 2, []),
    ("small, hsdp 2x2", small, 4, ["parallelism.dp_replicate=2"]),
]
missed = 0
for name, shape, ranks, sets in recipes:
    r = train(shape, ranks, sets)
    off = r["peak_bytes"] / r["predicted_peak_bytes"] - 1
    ok = abs(off) <= 0.05 and r["outside_bytes"] == 0
    missed += not ok
    print(f"{name:<26} arena {r['arena_bytes'] / 1e6:6.1f} MB  states {r['state_bytes'] / 1e6:6.1f} MB  predicted "
          f"{r['predicted_peak_bytes'] / 1e6:6.1f} MB  measured {r['peak_bytes'] / 1e6:6.1f} MB  {off:+.1%}  "
          f"outside {r['outside_bytes']} B  {'ok' if ok else 'MISSED'}", flush=True)

print("\nrecomputation              arena       peak     step")
for mode in ["none", "selective", "full"] + [f"budget {b}" for b in (0.0, 0.25, 0.5, 0.75, 1.0)]:
    sets = [f'recompute.mode="{mode.split()[0]}"']
    if " " in mode:
        sets.append("recompute.budget=" + mode.split()[1])
    r = train({"training.steps": max(a.steps, 6)}, 2, sets)
    print(f"{mode:<22} {r['arena_bytes'] / 1e6:8.1f} MB {r['peak_bytes'] / 1e6:7.1f} MB {r['step_seconds']:7.3f} s", flush=True)
sys.exit(1 if missed else 0)
