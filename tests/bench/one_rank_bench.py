#!/usr/bin/env python3
"""One rank alone: a step against the matrix products and attention inside it, alternately, both with a thread a
core: Heddle's by the spans of the same step, Hugging Face's eager model's by PyTorch's profiler in steps of their
own, as it slows them down. Minutes.

  one_rank_bench.py --python PYTHON [--cores 1] [--rounds 3] [--steps 10] [--build build/release/bin]

PYTHON is a virtual environment's, with torch and transformers.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from default_shape import ROOT, recipe
from spans import step_and_kernel_seconds

PEER = r'''
import json, sys, time, torch
from torch.profiler import ProfilerActivity, profile
from transformers import LlamaConfig, LlamaForCausalLM
torch.set_num_threads(int(sys.argv[2]))
torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(hidden_size=512, intermediate_size=1536, num_hidden_layers=8,
    num_attention_heads=8, num_key_value_heads=4, vocab_size=4096, max_position_embeddings=512,
    rms_norm_eps=1e-5, rope_theta=500000.0, attn_implementation="sdpa", use_cache=False))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
def step():
    start = time.perf_counter()
    tokens = torch.randint(0, 4096, (2, 512))
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
    return time.perf_counter() - start
steps = [step() for _ in range(int(sys.argv[1]))][3:]
with profile(activities=[ProfilerActivity.CPU]) as seen:
    step(); step()
kernels = sum(e.self_cpu_time_total for e in seen.key_averages()
              if e.key in ("aten::mm", "aten::addmm", "aten::bmm") or "attention_for_cpu" in e.key) / 2e6
print(json.dumps({"steps": steps, "kernels": kernels}))
'''


def heddle(a):
    """Seconds of each profiled step and of the kernels in it."""
    folder = tempfile.mkdtemp(prefix="one-rank-bench-")
    with open(f"{folder}/recipe.toml", "w") as file:
        file.write(recipe(a.steps, profile_every=2).replace("ranks = 2", "ranks = 1"))
    run(a, [f"{a.build}/heddle-engine", "train", f"{folder}/recipe.toml", "--run-dir", f"{folder}/run"])
    steps = step_and_kernel_seconds(a.build, f"{folder}/run")
    shutil.rmtree(folder)
    return steps


def hugging_face(a):
    """The median step, and the kernels in a profiled one."""
    seen = json.loads(run(a, [a.python, "-c", PEER, str(a.steps), str(a.cores)]).strip().split("\n")[-1])
    return [(statistics.median(seen["steps"]), seen["kernels"])]


def run(a, command):
    done = subprocess.run(["taskset", "-c", f"0-{a.cores - 1}"] + command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--python", required=True, help="of an environment with torch and transformers")
    p.add_argument("--cores", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--build", default=f"{ROOT}/build/release/bin")
    a = p.parse_args()
    seen = {"Heddle": [], "Hugging Face, eager": []}
    for number in range(1, a.rounds + 1):
        for name, measure in (("Heddle", heddle), ("Hugging Face, eager", hugging_face)):
            for step, kernels in measure(a):
                seen[name].append((step, kernels))
                print(f"{number}  {name:<20} step {step:.3f} s  products and attention {kernels:.3f} s  "
                      f"{step / kernels:.3f}  load {os.getloadavg()[0]:.2f}", flush=True)
    print()
    for name, steps in seen.items():
        ratios = sorted(step / kernels for step, kernels in steps)
        print(f"{name:<20} step {statistics.median(s for s, _ in steps):.3f} s, products and attention in it "
              f"{statistics.median(k for _, k in steps):.3f} s: {statistics.median(ratios):.3f} "
              f"({ratios[0]:.3f} to {ratios[-1]:.3f})")
