#!/usr/bin/env python3
"""Runs the inputs that users' reports brought, each against its right value.

  field_check.py FIELD [--build build/release/bin]

FIELD holds a folder an input (not in this repository). Each input that a command can show is run here; the others,
which need a window or a host's sshd, are the tests named next to them. A line an input; exit code 1 if one fails. Runs are made with
Python's cbor2 and xxhash.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "resources/data/tokenizer.json"
TEXT = ROOT / "resources/data/tinyshakespeare.txt"

p = argparse.ArgumentParser()
p.add_argument("field", type=Path)
p.add_argument("--build", type=Path, default=ROOT / "build/release/bin")
a = p.parse_args()
field = a.field.resolve()


def run(*words, stdin=None, may_fail=False):
    done = subprocess.run([str(word) for word in words], input=stdin, capture_output=True, text=True, timeout=600)
    if done.returncode and not may_fail:
        raise AssertionError(f"{Path(str(words[0])).name} {words[1]} ended with {done.returncode}: {done.stderr[-400:]}")
    return done


def engine(*words, **more):
    return run(a.build / "heddle-engine", *words, **more)


def last_json(text):
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def loss(recipe, *sets):
    arguments = [word for each in sets for word in ("--set", each)]
    return last_json(engine("train", recipe, "--json", *arguments).stdout)["losses"][0]


def copied(scratch, name):
    """The input in a folder of its own: a run writes beside its recipe."""
    to = scratch / name
    shutil.copytree(field / name, to)
    for path in [to, *to.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return to


def ids(tokenizer, text):
    done = engine("tokenize", "--tokenizer", tokenizer, stdin=text, may_fail=True)
    return done.stdout.split(), done.stderr


def corpus(scratch, texts, tokenizer=TOKENIZER):
    """Tokens and documents of a corpus, and everything that was said."""
    recipe = scratch / "corpus.toml"
    recipe.write_text(f"""[model]
preset = "llama3-debug"
[data]
text = [{json.dumps(str(texts))}]
tokenizer = {json.dumps(str(tokenizer))}
cache = "{scratch}/cache"
seq_len = 16
""")
    done = engine("tokenize-corpus", recipe)
    whole = list((scratch / "cache").glob("*/whole.json"))
    return json.loads(whole[-1].read_text()), done.stdout + done.stderr


def expect(found, right, what):
    if found != right:
        raise AssertionError(f"{what}: {found}, right: {right}")


def near(found, right, what):
    if abs(found - right) > 2e-5:
        raise AssertionError(f"{what}: {found:.6f}, right: {right:.6f}")


def megatron_documents(scratch):
    at = copied(scratch, "E09-megatron-documents")
    two = at / "same-documents.bin"
    near(loss(at / "r.toml", "checkpoint.enabled=false"), 6.356022, "loss of 5 sequences")
    near(loss(at / "r.toml", "checkpoint.enabled=false", f'data.token_ids="{two}"'), 6.356022, "loss of 2 sequences")


def tied_own_head(scratch):
    done = engine("train", copied(scratch, "E22-tied-own-head") / "r.toml", "--json", may_fail=True)
    if done.returncode == 2:
        expect("lm_head" in done.stderr, True, "the refusal names lm_head")
        return
    near(last_json(done.stdout)["losses"][0], 6.127144, "loss")
    expect("lm_head" in done.stdout + done.stderr, True, "a word on lm_head")


def declared_ids(_):
    for name, text, right in (("tokenizer-gap", "a<gap>b", "66 900 67"),
                              ("tokenizer-in-vocabulary", "He Hello He'd", "460 692 420 80 222 460 343")):
        expect(" ".join(ids(field / f"E30-declared-ids/{name}.json", text)[0]), right, name)


def bytes_utf8_lacks(_):
    found, said = ids(field / "E31-bytes-utf8-lacks/tokenizer.json", "Việt Nam, 日本 and é")
    expect(" ".join(found), "55 74 159 121 231 85 222 47 392 13 222 164 247 100 164 252 107 303 222 129 104", said)


def bos_eos(scratch):
    for name, right in (("one-token-for-both", 120), ("other-names", 128)):
        at = scratch / name
        at.mkdir()
        shutil.copy(field / f"E34-bos-eos/{name}.json", at / "tokenizer.json")
        shutil.copy(field / f"E34-bos-eos/{name}.tokenizer_config.json", at / "tokenizer_config.json")
        expect(corpus(at, field / "E34-bos-eos/a.jsonl", at / "tokenizer.json")[0]["tokens"], right, name)


def nan_in_json(scratch):
    expect(corpus(scratch, field / "E38-nan-in-json/a.jsonl")[0]["documents"], 8, "documents")


def hidden_files(scratch):
    expect(corpus(scratch, field / "E41-hidden-files/x")[0]["documents"], 8, "documents")


def export_tokenizer(scratch):
    at = scratch / "tokenizer"
    at.mkdir()
    shutil.copy(TOKENIZER, at / "tokenizer.json")
    shutil.copy(field / "E44-export-tokenizer/tokenizer_config.json", at / "tokenizer_config.json")
    recipe = scratch / "r.toml"
    recipe.write_text(f"""[model]
preset = "llama3-debug"
n_layers = 1
[data]
text = ["{TEXT}"]
tokenizer = "{at}/tokenizer.json"
cache = "{scratch}/cache"
seq_len = 32
[training]
steps = 1
[hardware]
ranks = 1
""")
    engine("train", recipe, "--run-dir", scratch / "run")
    checkpoint = next((scratch / "run/checkpoints").glob("step-*"))
    engine("convert", checkpoint, scratch / "out", "--tokenizer", at / "tokenizer.json")
    kept = json.loads((scratch / "out/tokenizer_config.json").read_text())
    source = json.loads((at / "tokenizer_config.json").read_text())
    for key in ("chat_template", "pad_token", "bos_token", "eos_token"):
        expect(kept.get(key), source[key], key)


def runs_by_hand(scratch):
    folder = scratch / "runs"
    run(sys.executable, field / "make_runs.py", folder)
    store = scratch / "store.sqlite"
    run(a.build / "heddle", "--store", store, "import", *sorted(folder.iterdir()))
    return store


def clock_back(scratch):
    store = runs_by_hand(scratch)
    for name in ("clock-back", "no-end"):
        said = run(a.build / "heddle", "--store", store, "show", name).stdout
        expect(re.search(r"took +[-−]\d|took +\d+(\.\d+)? d", said), None, f"{name}: {said[:200]}")


def names_in_tables(scratch):
    store = runs_by_hand(scratch)
    said = run(a.build / "heddle", "--store", store, "runs").stdout
    runs = json.loads(run(a.build / "heddle", "--store", store, "runs", "--json").stdout)
    expect(len(said.splitlines()) - 1, len(runs), "rows of the table")
    expect("\u202e" in said or "\t" in said, False, "a control or bidirectional character on the terminal")


def read_only_place(scratch):
    store = runs_by_hand(scratch)
    place = scratch / "place"
    place.mkdir()
    shutil.copy(store, place)
    run("mount", "--bind", place, place)
    try:
        run("mount", "-o", "remount,ro,bind", place)
        expect("fifty" in run(a.build / "heddle", "--store", place / store.name, "runs").stdout, True, "its runs")
    finally:
        run("umount", place)


HERE = {
    "E09-megatron-documents": megatron_documents,
    "E22-tied-own-head": tied_own_head,
    "E30-declared-ids": declared_ids,
    "E31-bytes-utf8-lacks": bytes_utf8_lacks,
    "E34-bos-eos": bos_eos,
    "E38-nan-in-json": nan_in_json,
    "E41-hidden-files": hidden_files,
    "E44-export-tokenizer": export_tokenizer,
    "clock-back": clock_back,
    "names-in-tables": names_in_tables,
    "read-only-place": read_only_place,
}
TESTS = {
    "agent-many-keys": "field_hosts_test",
    "filter-silent": "runs_page_test",
    "maxsessions-1": "field_hosts_test",
    "second-factor": "field_hosts_test",
    "slow-login-shell": "field_hosts_test",
}

failed = 0
for folder in sorted(each.name for each in field.iterdir() if each.is_dir()):
    with tempfile.TemporaryDirectory(prefix="field-") as scratch:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = f"{scratch}/home"
        try:
            if folder in HERE:
                HERE[folder](Path(scratch))
                print(f"ok      {folder}", flush=True)
            elif folder in TESTS:
                run("ctest", "--test-dir", a.build.parent, "-R", f"^{TESTS[folder]}$", "--no-tests=error")
                print(f"ok      {folder}: {TESTS[folder]}", flush=True)
            else:
                raise AssertionError("nothing here knows this input")
        except (AssertionError, OSError, KeyError, IndexError, StopIteration, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"FAILED  {folder}: {type(error).__name__}: {error}", flush=True)
sys.exit(1 if failed else 0)
