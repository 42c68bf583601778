#!/usr/bin/env python3
"""Token stores at the sizes of real corpora. `text`: a text as .txt and as .jsonl.gz: the tokenizing rate on two
threads, a run's first step with a cold and a warm store, and a rank's memory against that of a run on 1 MB (ten
minutes). `tokens`: a synthetic store of 200 GB in 2,000 sparse shards: a run's first step and memory, and what it takes
to go on in the middle under another layout.

  corpus_bench.py text|tokens [--megabytes 1000] [--ranks 2,8] [--build build/release/bin] [--folder DIR]
"""
import argparse
import gzip
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECIPE = """[model]
preset = "llama3-debug"
dim = 64
n_layers = 2
n_heads = 4
n_kv_heads = 4
ffn_dim = 128
[data]
text = ["{text}"]
tokenizer = "{root}/resources/data/tokenizer.json"
cache = "{folder}/{cache}"
seq_len = 128
[training]
steps = {steps}
local_batch = 1
global_batch = 8
[wrapping]
mode = "layers"
[hardware]
device = "cpu"
overcommit = true
"""


def recipe(a, text, cache, steps=5):
    path = f"{a.folder}/{cache}.toml"
    with open(path, "w") as file:
        file.write(RECIPE.format(text=text, root=ROOT, folder=a.folder, cache=cache, steps=steps))
    return path


def run(a, *words):
    done = subprocess.run([f"{a.build}/heddle-engine", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def train(a, path, ranks, *more):
    begin = time.time()
    results = run(a, "train", path, "--ranks", str(ranks), *more)
    results["seconds"] = time.time() - begin
    return results


def say(what, results):
    print(f"{what}: first step {results['first_step_seconds']:.1f} s, {results['peak_bytes'] / 2**20:.0f} MiB a rank, "
          f"{results['seconds']:.1f} s in all, loss {results['losses'][-1]:.6f}", flush=True)


def make_texts(a):
    with open(f"{ROOT}/resources/data/tinyshakespeare.txt") as file:
        shakespeare = file.read()
    small = f"{a.folder}/small.txt"
    with open(small, "w") as file:
        file.write(shakespeare[:1_000_000])
    # Each copy begins elsewhere, so that no two samples are alike.
    plain, packed = f"{a.folder}/text.txt", f"{a.folder}/text.jsonl.gz"
    with open(plain, "w") as text, gzip.open(packed, "wt", compresslevel=1) as lines:
        written, copy = 0, 0
        while written < a.megabytes * 1_000_000:
            at = copy * 7919 % len(shakespeare)
            part = shakespeare[at:] + shakespeare[:at]
            text.write(part)
            for begin in range(0, len(part), 5000):
                lines.write(json.dumps({"text": part[begin:begin + 5000]}) + "\n")
            written, copy = written + len(part), copy + 1
    return small, plain, packed


def of_texts(a):
    small, plain, packed = make_texts(a)
    for name, text in (("txt", plain), ("jsonl.gz", packed)):
        made = run(a, "tokenize-corpus", recipe(a, text, name), "--jobs", "2")
        print(f".{name}: {made['bytes'] / made['seconds'] / 1e6:.1f} MB/s on two threads, {made['tokens']} tokens, "
              f"{made['seconds']:.1f} s", flush=True)
    for ranks in a.ranks:
        run(a, "tokenize-corpus", recipe(a, small, "small"))
        say(f"{ranks} ranks, 1 MB, warm", train(a, recipe(a, small, "small"), ranks))
        say(f"{ranks} ranks, .txt, warm", train(a, recipe(a, plain, "txt"), ranks))
        say(f"{ranks} ranks, .jsonl.gz, warm", train(a, recipe(a, packed, "jsonl.gz"), ranks))
        cold = recipe(a, plain, f"cold{ranks}")
        say(f"{ranks} ranks, .txt, cold", train(a, cold, ranks))


def of_tokens(a):
    """A small text's store, whose shards are then replaced by sparse ones: as an index of 2,000 shards has them."""
    source = f"{a.folder}/source.txt"
    with open(source, "w") as file:
        file.write("To be, or not to be. " * 2000)
    path = recipe(a, source, "sparse", steps=4)
    store = run(a, "tokenize-corpus", path)["store"]
    with open(f"{store}/000000.tokens", "rb") as file:
        header = bytearray(file.read(88))
    first, later, shards = 1 << 22, 1 << 26, 2000
    tokens = 0
    for shard in range(shards):
        count = first if shard < 16 else later
        struct.pack_into("<QQ", header, 8, 2, count)
        with open(f"{store}/{shard:06}.tokens", "wb") as file:
            file.write(header)
            file.truncate(len(header) + count * 2 + (count + 7) // 8)
        tokens += count
    with open(f"{store}/whole.json") as file:
        whole = json.load(file)
    whole.update(tokens=tokens, shards=shards)
    with open(f"{store}/whole.json", "w") as file:
        json.dump(whole, file)
    print(f"{shards} shards, {tokens * 2 / 1e9:.0f} GB of ids", flush=True)
    checkpoints = f'checkpoint.folder="{a.folder}/checkpoints"'
    say("2 ranks", train(a, path, 2, "--set", checkpoints))
    say("gone on as 4 ranks, tp 2", train(a, path, 4, "--set", checkpoints, "--set", "parallelism.tp=2",
                                         "--set", "training.steps=8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("text", "tokens"))
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--ranks", type=lambda words: [int(word) for word in words.split(",")], default=[2, 8])
    parser.add_argument("--build", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    a = parser.parse_args()
    a.folder = tempfile.mkdtemp(prefix="corpus-bench-", dir=a.folder)
    try:
        of_texts(a) if a.what == "text" else of_tokens(a)
    finally:
        shutil.rmtree(a.folder)


if __name__ == "__main__":
    main()
