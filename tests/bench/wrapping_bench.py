#!/usr/bin/env python3
"""Automatic wrapping against every listed plan, alternately in one run: bound 2 % of the best.

  wrapping_bench.py [--rounds 5] [--steps 8] [--calibrate] [--link 1gbit --slow-link slow_link.sh]

The default shape of the peer (dim 512, 8 layers, vocabulary 4,096, 2 x 512 tokens a rank), two ranks:
of this machine, or one on each side of a link of that rate (root). Calibrate this machine first.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile

from default_shape import recipe as default_recipe

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--rounds", type=int, default=5)
p.add_argument("--steps", type=int, default=8)
p.add_argument("--calibrate", action="store_true", help="first, and keep it")
p.add_argument("--link", default="", help="rate between the two ranks, for instance 1gbit")
p.add_argument("--slow-link", help="the script that joins two namespaces")
a = p.parse_args()
if a.link and not a.slow_link:
    p.error("--link needs --slow-link")


def grouped(size):
    """Buckets of so many layers, the embedding and the head by themselves."""
    layers = [[f"layers.{i}" for i in range(at, min(at + size, 8))] for at in range(0, 8, size)]
    return "buckets = " + json.dumps([["tok_embeddings"]] + layers + [["norm", "output"]])


PLANS = {
    "auto": 'mode = "auto"',
    "none": 'mode = "none"',
    "layers": 'mode = "layers"',
    "pairs of layers": 'mode = "manual"\n' + grouped(2),
    "four layers": 'mode = "manual"\n' + grouped(4),
    "all in one": 'mode = "manual"\nbuckets = [["tok_embeddings", "layers.0-7", "norm", "output"]]',
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def on_one_host(folder, wrapping):
    with open(f"{folder}/recipe.toml", "w") as file:
        file.write(default_recipe(a.steps, wrapping))
    return json.loads(run([f"{a.build}/heddle-engine", "train", f"{folder}/recipe.toml"]).strip().split("\n")[-1])


def across_the_link(folder, wrapping):
    """A rank on each side, each with a run directory and a core of its own."""
    sides = []
    for rank in range(2):
        side = f"{folder}/{rank}"
        os.mkdir(side)
        with open(f"{side}/recipe.toml", "w") as file:
            file.write(default_recipe(a.steps, wrapping))
        with open(f"{side}/launch.json", "w") as file:
            json.dump({"run": "bench", "world_size": 2, "first_rank": rank, "local_ranks": 1,
                       "rendezvous_host": "10.77.0.1", "rendezvous_port": 4712}, file)
        engine = f"taskset -c {rank} {a.build}/heddle-engine supervise --run-dir {side}"
        sides.append(f"{engine} && until [ -e {side}/end.json ]; do sleep 0.2; done; cat {side}/rank-*.err >&2")
    run(["bash", a.slow_link, a.link] + sides)
    try:
        return json.load(open(f"{folder}/0/results.json"))
    except FileNotFoundError:
        sys.exit(f"the run ended without results: {open(f'{folder}/0/end.json').read()}")


def chosen(folder):
    """What auto has chosen, from rank 0's log; on one host from the graph."""
    if not a.link:
        out = run([f"{a.build}/heddle-engine", "graph", f"{folder}/recipe.toml", "--stats"])
        return json.loads(out)["plan"]
    log = open(f"{folder}/0/rank-0.0.hlog", "rb").read()
    start = log.find(b"plan: ") + 6
    return log[start:start + 160].decode("utf-8", "replace").split("\x00")[0]


def program(folder):
    """The planned step without what is said of it; across a link only its ranks know it."""
    if a.link:
        return None
    text = run([f"{a.build}/heddle-engine", "graph", f"{folder}/recipe.toml", "--after", "memory"])
    return "\n".join(line for line in text.split("\n") if not line.startswith("note"))


if a.calibrate:
    run([f"{a.build}/heddle-engine", "calibrate"])
steps = {name: [] for name in PLANS}
fastest = {name: [] for name in PLANS}
programs = {}
for number in range(a.rounds):
    for name, wrapping in PLANS.items():
        folder = tempfile.mkdtemp(prefix="wrapping-bench-")
        result = (across_the_link if a.link else on_one_host)(folder, wrapping)
        steps[name].append(result["step_seconds"])
        fastest[name].append(result["fastest_step_seconds"])
        print(f"{number + 1}  {name:<16} step {result['step_seconds']:.4f} s  peak {result['peak_bytes'] / 1e6:.0f} MB  "
              f"{result['collectives']} collectives  load {os.getloadavg()[0]:.2f}", flush=True)
        if name == "auto" and number == 0:
            print(f"   {chosen(folder)}", flush=True)
        if number == 0:
            programs[name] = program(folder)
        shutil.rmtree(folder)

# A plan of which auto has made the same program is auto: its rounds are more rounds of that.
same = [name for name in PLANS if programs[name] and name != "auto" and programs[name] == programs["auto"]]
for name in same:
    print(f"{name}: the same program as auto's, byte for byte; its rounds count as auto's")
    for kind in (steps, fastest):
        kind["auto"] += kind.pop(name)

print()
medians = {name: statistics.median(all) for name, all in steps.items()}
for name, all in steps.items():
    print(f"{name:<16} step {medians[name]:.4f} s ({min(all):.4f} to {max(all):.4f}), fastest {min(fastest[name]):.4f} s")


def against_best(seconds):
    best = min((name for name in steps if name != "auto"), key=seconds.get)
    return best, seconds["auto"] / seconds[best]


# Work beside the bench only ever adds time, so the fastest step of all rounds is the least disturbed.
best, ratio = against_best({name: min(all) for name, all in fastest.items()})
print(f"auto against the best ({best}), by the fastest step of each: {ratio:.3f}")
best, ratio = against_best(medians)
print(f"auto against the best ({best}): {ratio:.3f}  (bound 1.02) {'ok' if ratio <= 1.02 else 'MISSED'}")
