#!/usr/bin/env python3
"""What `convert` writes, loaded by transformers from the folder alone: greedy text as Heddle's own.

  <python> export_bench.py [--build build/release/bin] [--steps 60]

Needs a Python with transformers. Trains small models on Shakespeare (a Llama; one with biases, other
heads and YaRN; a Qwen 2; a Qwen 3), each with a sample of 50 tokens at temperature 0, exports each as fp32 in
one file and in shards, and as bf16, and has AutoTokenizer and AutoModelForCausalLM continue the same
prompt. The text must be the same in fp32; in bf16 it prints the share of equal tokens. Minutes.
"""
import argparse, json, os, subprocess, sys, tempfile

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--steps", type=int, default=60)
a = p.parse_args()
PROMPT, TOKENS = "First Citizen:\nBefore we", 50
SHAPE = ["model.dim=64", "model.n_layers=2", "model.n_heads=4", "model.n_kv_heads=2", "model.ffn_dim=192"]
MODELS = {
    "llama": [],
    "biases, head_dim, yarn": ["model.attention_bias=true", "model.mlp_bias=true", "model.head_dim=24",
                               'model.rope_scaling={type="yarn", factor=4.0, original_max_position=64}'],
    "qwen2": ["model.qkv_bias=true"],
    "qwen3": ["model.qk_norm=true", "model.head_dim=32", "model.tied_embeddings=true"],
}


def engine(*words):
    done = subprocess.run([f"{a.build}/heddle-engine", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done


def train(sets, folder):
    recipe = f"{folder}/recipe.toml"
    with open(recipe, "w") as file:
        file.write(f"""[data]
text = ["{ROOT}/resources/data/tinyshakespeare.txt"]
tokenizer = "{ROOT}/resources/data/tokenizer.json"
seq_len = 128
[training]
steps = {a.steps}
[optimizer]
lr = 3e-3
[validation]
text = ["{ROOT}/resources/data/tinyshakespeare.txt"]
every = {a.steps}
batches = 1
tokens = {TOKENS}
prompt = {json.dumps(PROMPT)}
[checkpoint]
folder = "{folder}/checkpoints"
[hardware]
ranks = 1
""")
    words = [word for each in SHAPE + sets for word in ("--set", each)]
    engine("train", recipe, "--run-dir", f"{folder}/run", *words)
    marker = f"sample (the likeliest tokens): {PROMPT}"
    log = engine("log", f"{folder}/run").stdout
    return log[log.rindex(marker) + len(marker):]


def continued(folder):
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    ids = tokenizer(PROMPT, return_tensors="pt")
    with torch.no_grad():
        out = model.generate(**ids, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False)
    return model.dtype, tokenizer.decode(out[0, ids["input_ids"].shape[1]:])


missed = 0
for name, sets in MODELS.items():
    with tempfile.TemporaryDirectory() as folder:
        log = train(sets, folder)
        for kind, words in (("fp32", []), ("fp32 in shards", ["--shard-size", "200 KiB"]),
                            ("bf16", ["--dtype", "bf16"])):
            to = f"{folder}/{kind}"
            engine("convert", f"{folder}/checkpoints", to, *words)
            dtype, text = continued(to)
            same = log.startswith(text)
            ok = same or kind == "bf16"
            missed += not ok
            files = len([f for f in os.listdir(to) if f.endswith(".safetensors")])
            print(f"{name:<24} {kind:<15} {str(dtype):<15} {files:>2} files  "
                  f"{'the same text' if same else 'other text'}  {'ok' if ok else 'MISSED'}", flush=True)
sys.exit(1 if missed else 0)
