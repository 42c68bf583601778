#!/usr/bin/env python3
"""Heddle against PyTorch FSDP2 on the same ranks, shapes and text, alternately in one run.

  peer_bench.py --torchrun VENV/bin/torchrun --peer fsdp2_llama.py --text corpus.txt [--rounds 5]
                [--link 1gbit --slow-link slow_link.sh] [--with compile,ac] [--only heddle]

The default shape of the peer (dim 512, 8 layers, vocabulary 4,096, 2 x 512 tokens a rank), two ranks:
of this machine, or one on each side of a link of that rate (root); then Heddle's step on one host,
whose communication is hidden, runs alternately too: compute alone. Heddle calibrates this machine first
and chooses the wrapping, its default. Prints a line a run and then medians with their spread, CPU
seconds and load, ratios, and the bounds that they are compared with.
"""
import argparse, ctypes, json, os, re, resource, shutil, statistics, subprocess, sys, tempfile

from across import across, with_sets
from default_shape import recipe as default_recipe
from spans import kernel_seconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

p = argparse.ArgumentParser()
p.add_argument("--torchrun", help="of an environment with torch and transformers")
p.add_argument("--peer", help="the peer's script")
p.add_argument("--text", default=f"{ROOT}/resources/data/tinyshakespeare.txt")
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--rounds", type=int, default=5)
p.add_argument("--steps", type=int, default=8)
p.add_argument("--link", default="", help="rate between the two ranks, for instance 1gbit")
p.add_argument("--keep", help="a folder for the run directories of Heddle's last run, for `heddle import`")
p.add_argument("--slow-link", help="the script that joins two namespaces")
p.add_argument("--with", dest="variants", default="", help="compile,ac: more of the peer's modes")
p.add_argument("--only", default="", help="run one of: heddle, peer")
p.add_argument("--set", action="append", default=[], help="more for Heddle's recipe")
a = p.parse_args()
if a.only != "heddle" and not (a.torchrun and a.peer):
    p.error("--torchrun and --peer are needed: an environment with torch and transformers")
if a.link and not a.slow_link:
    p.error("--link needs --slow-link")

RECIPE = default_recipe(a.steps, 'mode = "auto"', profile_every=4, text=a.text)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans():
    """Processes that detach themselves, as `supervise` does, become children of this one: their seconds count."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans():
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def run(command):
    """Standard output of a command, and the CPU seconds of it and all its processes."""
    before = cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    wait_for_orphans()
    return done.stdout, cpu_seconds() - before


def heddle(sets, link=a.link):
    folder = tempfile.mkdtemp(prefix="peer-bench-")
    recipe = f"{folder}/recipe.toml"
    with open(recipe, "w") as file:
        file.write(RECIPE)
    options = [word for each in a.set + sets for word in ("--set", each)]
    if not link:
        out, cpu = run([f"{a.build}/heddle-engine", "train", recipe, "--run-dir", f"{folder}/run"] + options)
        result = json.loads(out.strip().split("\n")[-1])
        result["kernel_seconds"] = kernel_seconds(a.build, f"{folder}/run")
    else:
        before = cpu_seconds()
        result = across(a.build, a.slow_link, link, folder, with_sets(RECIPE, a.set + sets))
        wait_for_orphans()
        cpu = cpu_seconds() - before
    if a.keep and link == a.link:
        shutil.rmtree(a.keep, ignore_errors=True)
        shutil.copytree(folder, a.keep)
    shutil.rmtree(folder)
    return result, cpu


def peer(flags):
    script = [a.peer, "--text", a.text, "--steps", str(a.steps)] + flags
    if not a.link:
        os.environ["OMP_NUM_THREADS"] = "1"
        out, cpu = run([a.torchrun, "--nproc-per-node", "2"] + script)
    else:
        def side(rank):
            # Gloo takes the address that the host's name resolves to: the link's, here.
            return (f"taskset -pc {rank} $$ > /dev/null; export OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=$(ip -o addr | awk '/10.77/ {{print $2}}' | "
                    f"sed 's/@.*//'); {a.torchrun} --nnodes 2 --nproc-per-node 1 --node-rank {rank} "
                    f"--master-addr 10.77.0.1 --master-port 4713 {' '.join(script)}")
        out, cpu = run(["bash", a.slow_link, a.link, side(0), side(1)])
    return json.loads([line for line in out.split("\n") if line.startswith("{")][-1]), cpu


adopt_orphans()
if a.only != "peer":
    run([f"{a.build}/heddle-engine", "calibrate", "--ranks", "2"])
runs = {}
modes = []
if a.only != "peer":
    modes += [("heddle", lambda: heddle([])),
              ("heddle full recompute", lambda: heddle(['recompute.mode="full"']))][: 2 if "ac" in a.variants else 1]
    if a.link:
        modes += [("heddle on one host", lambda: heddle([], link=""))]
if a.only != "heddle":
    modes += [("fsdp2 eager", lambda: peer([]))]
    modes += [(f"fsdp2 --{v}", lambda v=v: peer([f"--{v}"])) for v in a.variants.split(",") if v]

for number in range(a.rounds):
    for name, measure in modes:
        result, cpu = measure()
        runs.setdefault(name, []).append(result)
        print(f"{number + 1}  {name:<22} step {result['step_seconds']:.3f} s  peak {result['peak_bytes'] / 1e6:6.0f} MB  "
              f"first step {result['first_step_seconds']:5.2f} s  exposed {result.get('exposed_seconds') or 0:.2f} s  CPU {cpu:5.1f} s  load {os.getloadavg()[0]:.2f}", flush=True)


def median(name, key):
    return statistics.median(run[key] for run in runs[name])


print()
for name in runs:
    steps = sorted(run["step_seconds"] for run in runs[name])
    print(f"{name:<22} step {median(name, 'step_seconds'):.3f} s ({steps[0]:.3f} to {steps[-1]:.3f})  "
          f"{median(name, 'tokens_per_second_per_rank'):5.0f} tok/s a rank  peak {median(name, 'peak_bytes') / 1e6:.0f} MB  "
          f"first step {median(name, 'first_step_seconds'):.2f} s")


def bound(what, value, limit, at_least):
    met = value >= limit if at_least else value <= limit
    print(f"{what:<58} {value:.3f}  (bound {limit:g}) {'ok' if met else 'MISSED'}")


if "heddle" in runs and "fsdp2 eager" in runs:
    def ratio(other):
        return median("heddle", "tokens_per_second_per_rank") / median(other, "tokens_per_second_per_rank")
    bound("tokens per second, of FSDP2 eager's", ratio("fsdp2 eager"), 1.8 if a.link else 1.25, True)
    if "fsdp2 --compile" in runs:
        bound("tokens per second, of FSDP2 --compile's", ratio("fsdp2 --compile"), 1.2, True)
    if not a.link:
        bound("peak resident, of FSDP2 eager's", median("heddle", "peak_bytes") / median("fsdp2 eager", "peak_bytes"), 0.5, False)
    if "fsdp2 --ac" in runs and "heddle full recompute" in runs:
        bound("peak resident, full recompute, of FSDP2 --ac's",
              median("heddle full recompute", "peak_bytes") / median("fsdp2 --ac", "peak_bytes"), 0.5, False)
if "heddle" in runs:
    step = median("heddle", "step_seconds")
    bound("first step: seconds beyond 1.2 steps", median("heddle", "first_step_seconds") - 1.2 * step, 1.0, False)
    predicted = median("heddle", "predicted_peak_bytes")
    print(f"predicted peak {predicted / 1e6:.0f} MB, measured {median('heddle', 'peak_bytes') / 1e6:.0f} MB")
    if a.link:
        rate = float(re.match(r"[\d.]+", a.link)[0]) * (1e9 if "gbit" in a.link else 1e6) / 8
        # The other rank's half of each whole tensor crosses the link, in each direction at once.
        wire = median("heddle", "collective_bytes") / 2 / rate
        alone = median("heddle on one host", "step_seconds")
        print(f"wire time of the plan {wire:.3f} s, compute alone {alone:.3f} s")
        bound("step, of the larger of the two", step / max(wire, alone), 1.2, False)
    else:
        kernels = median("heddle", "kernel_seconds")
        print(f"products and attention in a step, both ranks busy: {kernels:.3f} s")
        bound("step, of its products and attention", step / kernels, 1.15, False)
