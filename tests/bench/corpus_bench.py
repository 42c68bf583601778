#!/usr/bin/env python3
"""Token stores at the sizes of real corpora. `text`: a text as .txt, .jsonl.gz and Parquet: the tokenizing rate on two
threads, a run's first step with a cold and a warm store, a rank's memory against that of a run on 1 MB, and the losses
of all forms and numbers of ranks (a quarter of an hour; needs a Python with pyarrow). `tokens`: a synthetic store of
200 GB in 2,000 sparse shards: a run's first step and memory, and what it takes to go on in the middle under another
layout.

  corpus_bench.py text|tokens [--megabytes 1000] [--ranks 1,2,8] [--build build/release/bin] [--folder DIR]
"""
import argparse
import array
import glob
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
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
{source}
tokenizer = "{folder}/tokenizer.json"
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


def recipe(a, text, cache, steps=5, key="text"):
    path = f"{a.folder}/{cache}.toml"
    source = f'text = ["{text}"]' if key == "text" else f'{key} = "{text}"'
    with open(path, "w") as file:
        file.write(RECIPE.format(source=source, folder=a.folder, cache=cache, steps=steps))
    return path


def make_tokenizer(a):
    """Without tokens that begin and end a text, so that it is the same cut into documents or not."""
    with open(f"{ROOT}/resources/data/tokenizer.json") as file:
        tokenizer = json.load(file)
    tokenizer.update(added_tokens=[], post_processor=None)
    with open(f"{a.folder}/tokenizer.json", "w") as file:
        json.dump(tokenizer, file)


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


class Readers(threading.Thread):
    """Which processes have had a file open. A run's first tokens come from `train`, the others from
    `tokenize-corpus`, which goes on where that one was; ranks read none of it."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.seen, self.ended = path, {}, False
        self.start()

    def run(self):
        while not self.ended:
            for link in glob.glob("/proc/[0-9]*/fd/*"):
                try:
                    if os.readlink(link) == self.path:
                        process = link.split("/")[2]
                        with open(f"/proc/{process}/cmdline") as words:
                            self.seen[process] = words.read().split("\0")[1]
                except OSError:
                    pass
            time.sleep(0.02)

    def commands(self):
        self.ended = True
        self.join()
        return sorted(self.seen.values())


class Checks:
    missed = 0

    def __call__(self, what, ok):
        self.missed += not ok
        print(f"  {'ok' if ok else 'MISSED'}: {what}", flush=True)


def make_texts(a):
    """The same text in three forms, cut where lines begin; the first megabyte of it by itself."""
    import pyarrow
    import pyarrow.parquet

    with open(f"{ROOT}/resources/data/tinyshakespeare.txt") as file:
        lines = file.readlines()
    # No token spans two of them.
    parts, part = [], ""
    for line in lines:
        if len(part) > 5000 and not line[0].isspace():
            parts.append(part)
            part = ""
        part += line
    parts.append(part)
    small, plain = f"{a.folder}/small.txt", f"{a.folder}/text.txt"
    packed, table = f"{a.folder}/text.jsonl.gz", f"{a.folder}/text.parquet"
    schema = pyarrow.schema([("text", pyarrow.string())])
    with open(plain, "w") as text, gzip.open(packed, "wt", compresslevel=6) as rows, \
            pyarrow.parquet.ParquetWriter(table, schema) as columns:
        written, copy = 0, 0
        while written < a.megabytes * 1_000_000:
            at = copy * 97 % len(parts)  # each copy begins elsewhere, so that no two samples are alike
            turned = parts[at:] + parts[:at]
            text.write("".join(turned))
            rows.writelines(json.dumps({"text": each}) + "\n" for each in turned)
            columns.write_table(pyarrow.table({"text": turned}, schema))
            written, copy = written + sum(map(len, turned)), copy + 1
    with open(small, "w") as text:
        text.write("".join(parts)[:1_000_000])
    return small, {"txt": plain, "jsonl.gz": packed, "parquet": table}


def without_a_store(a, small):
    """The small text's losses, its tokens made at once and read from a file of numbers."""
    with open(small) as text:
        ids = subprocess.run([f"{a.build}/heddle-engine", "tokenize", "--tokenizer", f"{a.folder}/tokenizer.json"],
                             stdin=text, capture_output=True, text=True, check=True).stdout.split()
    with open(f"{a.folder}/small.u16", "wb") as file:
        array.array("H", map(int, ids)).tofile(file)
    return train(a, recipe(a, f"{a.folder}/small.u16", "numbers", key="token_ids"), 1)["losses"]


def of_texts(a):
    check = Checks()
    small, texts = make_texts(a)
    rates = {}
    for name, text in texts.items():
        made = run(a, "tokenize-corpus", recipe(a, text, name), "--jobs", "2")
        rates[name] = made["bytes"] / made["seconds"] / 1e6
        print(f".{name}: {rates[name]:.1f} MB/s on two threads, {made['tokens']} tokens of "
              f"{made['documents']} documents, {made['seconds']:.1f} s", flush=True)
    check("25 MB/s of .txt", rates["txt"] >= 25)
    check(".jsonl.gz within 15 % of .txt", rates["jsonl.gz"] >= 0.85 * rates["txt"])
    run(a, "tokenize-corpus", recipe(a, small, "small"))
    expected, all_losses = without_a_store(a, small), []
    for ranks in a.ranks:
        least = train(a, recipe(a, small, "small"), ranks)
        say(f"{ranks} ranks, 1 MB, warm", least)
        check("the losses of the same tokens without a store", apart(least["losses"], expected) <= 1e-5)
        same = []
        for name, text in texts.items():
            for kind, limit, cache in (("warm", 3, name), ("cold", 8, f"cold-{ranks}-{name}")):
                readers = Readers(text)
                results = train(a, recipe(a, text, cache), ranks)
                say(f"{ranks} ranks, .{name}, {kind}", results)
                read_by, memory = readers.commands(), results["peak_bytes"] - least["peak_bytes"]
                check(f"first step within {limit} s", results["first_step_seconds"] <= limit)
                allowed = [[], ["train"], ["tokenize-corpus"], ["tokenize-corpus", "train"]][: 4 if kind == "cold" else 1]
                check(f"the text was read by {' and '.join(read_by) or 'nobody'}", read_by in allowed)
                check("a rank's memory within 100 MiB of that on 1 MB", memory <= 100 << 20)
                same.append(results["losses"])
        check("the same losses in all forms", all(each == same[0] for each in same))
        all_losses.append(same[0])
    furthest = max(apart(each, all_losses[0]) for each in all_losses)
    check(f"the losses of all numbers of ranks within 1e-5: {furthest:.1e}", furthest <= 1e-5)
    return check.missed


def apart(one, other):
    return max(abs(x - y) for x, y in zip(one, other, strict=True))


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
    parser.add_argument("--ranks", type=lambda words: [int(word) for word in words.split(",")], default=[1, 2, 8])
    parser.add_argument("--build", default=f"{ROOT}/build/release/bin")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    a = parser.parse_args()
    a.folder = tempfile.mkdtemp(prefix="corpus-bench-", dir=a.folder)
    try:
        make_tokenizer(a)
        missed = of_texts(a) if a.what == "text" else of_tokens(a)
    finally:
        shutil.rmtree(a.folder)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
