#!/usr/bin/env python3
"""Heddle on GPUs against PyTorch FSDP2 with torch.compile in bf16, alternately, and against its own CPU.

  gpu_bench.py --torchrun VENV/bin/torchrun [--peer fsdp2_llama.py] [--shapes 1b,8b-8] [--seq 8192]
               [--gpus 1] [--rounds 3] [--steps 12] [--build build/release/bin] [--steps-only DEVICE]

1b: the preset; 8b-8: eight layers of the 8b preset; both with an output matrix of its own, as the peer
has. Without --peer Heddle alone is measured. First the gradients of a small model in bf16 on the GPU and on
the CPU, then the steps; with --steps-only these alone, on that device. VENV needs torch and transformers; for
steps without a peer it is not used. The shape `tiny` tries the bench itself, without a GPU too: then both
compute on the CPU, and there is no MFU.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from default_shape import ROOT, TEXT

sys.path.insert(0, f"{ROOT}/packaging/lib")
from beside_plan import beside_plan  # noqa: E402

SHAPES = {  # preset, dim, layers, heads, kv heads, ffn
    "1b": ("llama3-1b", 2048, 16, 32, 8, 8192),
    "8b-8": ("llama3-8b", 4096, 8, 32, 8, 14336),
    "tiny": ("llama3-debug", 256, 2, 16, 16, 768),
}
VOCABULARY = {"tiny": 4096}  # else the presets' own
GRADIENTS = f"{ROOT}/packaging/lib/gradients.py"

p = argparse.ArgumentParser()
p.add_argument("--torchrun", required=True, help="of an environment with torch and transformers")
p.add_argument("--peer", help="the peer's script")
p.add_argument("--text", default=TEXT)
p.add_argument("--shapes", default="1b,8b-8", help=f"of {', '.join(SHAPES)}")
p.add_argument("--seq", type=int, default=8192)
p.add_argument("--gpus", type=int, default=1)
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--steps", type=int, default=12)
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--steps-only", metavar="DEVICE", help="cuda or cpu")
a = p.parse_args()
unknown = [shape for shape in a.shapes.split(",") if shape not in SHAPES]
if unknown:
    p.error(f"--shapes: {', '.join(unknown)}; valid: {', '.join(SHAPES)}")
python = os.path.join(os.path.dirname(a.torchrun), "python3")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def recipe(folder, shape, seq, device, ranks):
    preset, _, layers = SHAPES[shape][:3]
    vocabulary = f"vocab_size = {VOCABULARY[shape]}" if shape in VOCABULARY else ""
    path = f"{folder}/{shape}-{device}.toml"
    with open(path, "w") as file:
        file.write(f"""
[model]
preset = "{preset}"
n_layers = {layers}
tied_embeddings = false
max_seq_len = {seq}
{vocabulary}
[data]
text = ["{a.text}"]
tokenizer = "{ROOT}/resources/data/tokenizer.json"
seq_len = {seq}
[training]
steps = {a.steps}
local_batch = 1
[precision]
param = "bf16"
[checkpoint]
enabled = false
[telemetry]
profile_every = 4
[hardware]
ranks = {ranks}
device = "{device}"
""")
    return path


def bound(what, value, limit, at_least):
    met = value >= limit if at_least else value <= limit
    print(f"{what:<58} {value:.3f}  (bound {limit:g}) {'ok' if met else 'MISSED'}", flush=True)


def gradients(folder):
    files = []
    for which in ("cpu", device):
        files.append(f"{folder}/gradients-{len(files)}.safetensors")
        run([f"{a.build}/heddle-engine", "eval", recipe(folder, "tiny", 256, which, 1), "--to", files[-1]])
    away, worst, count = run([python, GRADIENTS] + files).split()
    print(f"gradients of {count} parameters, {device} against cpu; furthest: {worst}")
    bound("the difference's norm, of the gradient's", float(away), 0.02, False)


def heddle(folder, shape):
    out = run([f"{a.build}/heddle-engine", "train", recipe(folder, shape, a.seq, device, a.gpus)])
    results = json.loads(out.strip().split("\n")[-1])
    if beside := beside_plan(results):
        sys.exit(f"{shape}: {beside}")
    return results


def peer(shape):
    _, dim, layers, heads, kv_heads, ffn = SHAPES[shape]
    flags = {"dim": dim, "layers": layers, "heads": heads, "kv-heads": kv_heads, "ffn": ffn,
             "vocab": VOCABULARY.get(shape, 128256), "seq": a.seq, "batch": 1, "steps": a.steps}
    out = run([a.torchrun, "--nproc-per-node", str(a.gpus), a.peer, "--text", a.text, "--bf16", "--compile"] +
              [word for flag, value in flags.items() for word in (f"--{flag}", str(value))])
    return json.loads([line for line in out.split("\n") if line.startswith("{")][-1])


def compare(folder, shape):
    sides = {"Heddle": lambda: heddle(folder, shape)}
    if a.peer:
        sides["FSDP2 --compile"] = lambda: peer(shape)
    runs = {name: [] for name in sides}
    for number in range(1, a.rounds + 1):
        for name, measure in sides.items():
            result = measure()
            runs[name].append(result)
            mfu = f"  MFU {100 * result['mfu']:.1f} %" if result.get("mfu") else ""
            print(f"{number}  {shape:<5} {name:<16} step {result['step_seconds']:.3f} s  "
                  f"{result['tokens_per_second_per_rank']:.0f} tok/s a rank  peak {result['peak_bytes'] / 1e9:.2f} GB  "
                  f"first step {result['first_step_seconds']:.1f} s{mfu}", flush=True)

    def median(name, key):
        return statistics.median(result[key] for result in runs[name])

    def ratio(key):
        return median("Heddle", key) / median("FSDP2 --compile", key)

    if a.peer:
        bound(f"{shape}: tokens per second, of FSDP2 --compile's", ratio("tokens_per_second_per_rank"), 1.1, True)
        bound(f"{shape}: peak memory, of FSDP2 --compile's", ratio("peak_bytes"), 0.8, False)
        bound(f"{shape}: first step, of FSDP2 --compile's", ratio("first_step_seconds"), 1, False)
    if runs["Heddle"][0].get("mfu"):
        bound(f"{shape}: MFU", median("Heddle", "mfu"), 0.5, True)


device = a.steps_only or run(
    [python, "-c", "import torch; print('cuda' if torch.cuda.is_available() else 'cpu')"]).strip()
print(f"computing on: {device}", flush=True)
with tempfile.TemporaryDirectory(prefix="gpu-bench-") as scratch:
    if not a.steps_only:
        gradients(scratch)
    for each in a.shapes.split(","):
        compare(scratch, each)
