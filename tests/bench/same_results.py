#!/usr/bin/env python3
"""Whether two builds of heddle-engine plan and train alike, bit for bit: after a change that must not matter.

    same_results.py OLD_BIN_FOLDER NEW_BIN_FOLDER [NAME...]

Each of 25 recipes is planned for hardware of the catalogue (hash of the plan, and the whole document) and trained for a few
steps on this machine (hash of each run's plan, all losses). Prints a line a recipe; exits with 1 where anything differs.
Builds before commit 4bcf49bb list no `transfers` in a timeline: compared with one of them, that key is left out.
"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXT = os.path.join(ROOT, "resources/data/tinyshakespeare.txt")
TOKENIZER = os.path.join(ROOT, "resources/data/tokenizer.json")
BASE = ['model.preset="llama3-debug"', "model.dim=64", "model.n_layers=4", "model.n_heads=8", "model.n_kv_heads=4",
        "model.ffn_dim=192", f'data.text=["{TEXT}"]', f'data.tokenizer="{TOKENIZER}"', "data.seq_len=64",
        "training.steps=4", "training.local_batch=4", 'hardware.device="cpu"']
RECIPES = {
    "one rank": (1, []),
    "two ranks, layers": (2, ['wrapping.mode="layers"']),
    "two ranks, auto": (2, ['wrapping.mode="auto"']),
    "no wrapping": (2, ['wrapping.mode="none"']),
    "manual buckets": (2, ['wrapping.mode="manual"',
                           'wrapping.buckets=[["tok_embeddings","layers.0"],["layers.1","layers.2"],["layers.3","norm","output"]]']),
    "kept after forward": (2, ['wrapping.mode="layers"', "wrapping.reshard_after_forward=false"]),
    "two replicas": (2, ["parallelism.dp_replicate=2"]),
    "replicas of shards": (4, ["parallelism.dp_replicate=2", 'wrapping.mode="layers"']),
    "tp": (2, ["parallelism.tp=2"]),
    "tp without sequences": (2, ["parallelism.tp=2", "parallelism.sequence_parallel=false"]),
    "tp and data": (4, ["parallelism.tp=2", 'wrapping.mode="layers"']),
    "cp by gathers": (2, ["parallelism.cp=2"]),
    "cp in a ring": (2, ["parallelism.cp=2", 'parallelism.cp_mode="ring"']),
    "cp ulysses": (2, ["parallelism.cp=2", 'parallelism.cp_mode="ulysses"']),
    "pp": (2, ["parallelism.pp=2", "parallelism.microbatches=4"]),
    "pp gpipe": (2, ["parallelism.pp=2", 'parallelism.pp_schedule="gpipe"', "parallelism.microbatches=4"]),
    "pp interleaved": (2, ["parallelism.pp=2", 'parallelism.pp_schedule="interleaved"', "parallelism.microbatches=4"]),
    "pp zero-bubble": (2, ["parallelism.pp=2", 'parallelism.pp_schedule="zero-bubble"', "parallelism.microbatches=4"]),
    "pp and tp": (4, ["parallelism.pp=2", "parallelism.tp=2"]),
    "recompute all": (2, ['recompute.mode="full"']),
    "recompute some": (2, ['recompute.mode="selective"']),
    "recompute by budget": (2, ['recompute.mode="budget"', "recompute.budget=0.5"]),
    "accumulated": (2, ["training.global_batch=16"]),
    "bf16": (2, ['precision.param="bf16"']),
    "tied, no clipping, mask": (2, ["model.tied_embeddings=true", "training.max_norm=0", "data.document_mask=true"]),
}


def run(bin_folder, cache, words):
    environment = dict(os.environ, XDG_CACHE_HOME=cache, XDG_DATA_HOME=cache)
    done = subprocess.run([os.path.join(bin_folder, "heddle-engine"), *words], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def facts(bin_folder, ranks, sets):
    """The plan for the catalogue's hardware, and what a run gives: hash and losses."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "recipe.toml")
        open(recipe, "w").close()
        options = [word for each in BASE + sets for word in ("--set", each)] + ["--ranks", str(ranks)]
        plan = json.loads(run(bin_folder, folder, ["plan", recipe, *options, "--hardware", "h100-sxm", "--json"]))
        for seconds in ("capture_seconds", "plan_seconds"):
            plan.pop(seconds, None)
        for exposed in plan.get("exposed", []):
            exposed.pop("why", None)  # words, not figures
        last = json.loads(run(bin_folder, folder, ["train", recipe, *options]).splitlines()[-1])
        return {"plan": plan, "plan_hash": plan.get("plan_hash"), "run_hash": last.get("plan_hash"),
                "losses": last["losses"]}


def drop_transfers_of_one(before, after):
    timelines = [facts["plan"].get("timelines", []) for facts in (before, after)]
    if all(any("transfers" in each for each in plan) for plan in timelines):
        return
    for each in timelines[0] + timelines[1]:
        each.pop("transfers", None)


def main():
    old, new, names = sys.argv[1], sys.argv[2], sys.argv[3:] or list(RECIPES)
    differing = 0
    for name in names:
        ranks, sets = RECIPES[name]
        before, after = facts(old, ranks, sets), facts(new, ranks, sets)
        drop_transfers_of_one(before, after)
        different = [key for key in before if before[key] != after[key]]
        differing += bool(different)
        print(f"{name:26} {before['run_hash']} {before['losses'][-1]:.6f} "
              f"{'same' if not different else 'DIFFERS: ' + ', '.join(different)}", flush=True)
    print(f"{len(names) - differing} of {len(names)} the same")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
