#!/usr/bin/env python3
"""Automatic wrapping against every listed plan, a few steps in turn: bound 2 % of the best.

  wrapping_bench.py [--rounds 12] [--calibrate] [--link 1gbit --slow-link slow_link.sh]

The default shape of the peer (dim 512, 8 layers, vocabulary 4,096, 2 x 512 tokens a rank), two ranks:
of this machine, or one on each side of a link of that rate (root). Calibrate this machine first.

A machine's speed wanders by more than what plans differ by, from one minute to the next. So all
plans train at the same time, all but one of them stopped (SIGSTOP), each four steps a turn: one to warm
up, three that count. A round takes them all through within a minute or two.

On a shared host that still leaves steps that differ by half. What no plan changes tells how fast the
machine was during a step: its attention kernels, by their spans. Plans are compared at one speed of the
machine: each plan's steps are regressed on their attention (analysis of covariance), and its line is read
where attention takes what it takes in the median of all steps. Medians of the steps stand beside it.
"""
import argparse, json, os, re, secrets, shutil, signal, statistics, struct, subprocess, sys, tempfile, time

from across import private
from default_shape import recipe as default_recipe
from spans import ATTENTION, seconds_by_step

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--rounds", type=int, default=12)
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


class Training:
    """A run of one plan that goes on only in its turns."""

    def __init__(self, wrapping):
        self.folder = tempfile.TemporaryDirectory(prefix="wrapping-bench-")
        hosts = 2 if a.link else 1
        sides, secret = [], f"{self.folder.name}/secret"
        with open(secret, "w", opener=private) as file:
            file.write(secrets.token_hex(32))
        for host in range(hosts):
            side = f"{self.folder.name}/{host}"
            os.mkdir(side)
            with open(f"{side}/recipe.toml", "w") as file:
                file.write(default_recipe(1_000_000, wrapping, profile_every=1))
            with open(f"{side}/launch.json", "w") as file:
                json.dump({"run": "bench", "world_size": 2, "first_rank": host, "local_ranks": 2 // hosts,
                           "rendezvous_host": "10.77.0.1", "rendezvous_port": 4712}, file)
            # Both hosts are this machine: a core each.
            pin = f"taskset -c {host} " if a.link else ""
            sides.append(f"{pin}{a.build}/heddle-engine supervise --secret-stdin --run-dir {side} < {secret} && "
                         f"until [ -e {side}/end.json ]; do sleep 2; done")
        self.hosts = [f"{self.folder.name}/{host}" for host in range(hosts)]
        command = ["bash", a.slow_link, a.link] + sides if a.link else ["bash", "-c", sides[0]]
        self.log_size, self.recorded = 0, []
        self.shell = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.wait_for(3)
        self.ranks = [rank["pid"] for host in self.hosts for rank in json.load(open(f"{host}/state.json"))["ranks"]]
        self.signal(signal.SIGSTOP)
        self.counted = []  # (step, its seconds)

    def steps(self):
        """Seconds of the steps that rank 0 has recorded."""
        try:
            size = os.path.getsize(f"{self.hosts[0]}/rank-0.0.hlog")
        except FileNotFoundError:
            return []
        if size != self.log_size:
            self.log_size, self.recorded = size, self.read_steps()
        return self.recorded

    def read_steps(self):
        log = open(f"{self.hosts[0]}/rank-0.0.hlog", "rb").read()
        return [struct.unpack(">d", found)[0] for found in re.findall(rb"lstep_seconds\xfb(.{8})", log, re.DOTALL)]

    def wait_for(self, count):
        while len(steps := self.steps()) < count:
            if os.path.exists(f"{self.hosts[0]}/end.json"):
                sys.exit(f"the run ended: {open(f'{self.hosts[0]}/end.json').read()}")
            time.sleep(0.01)
        return steps

    def signal(self, what):
        for rank in self.ranks:
            os.kill(rank, what)

    def turn(self):
        """Four steps more. The first was begun in the turn before: it does not count."""
        count = len(self.steps())
        self.signal(signal.SIGCONT)
        steps = self.wait_for(count + 4)
        self.signal(signal.SIGSTOP)
        self.counted += [(at + 1, steps[at]) for at in range(count + 1, count + 4)]

    def end(self):
        self.signal(signal.SIGKILL)
        self.shell.wait()

    def measured(self):
        """Seconds of every counted step and of its attention, the mean of the ranks."""
        for rank in range(1, len(self.hosts)):
            shutil.copy(f"{self.hosts[rank]}/rank-{rank}.0.hlog", self.hosts[0])
        ranks = seconds_by_step(a.build, self.hosts[0], ATTENTION)
        # The last step may not have come into rank 1's log.
        return [(seconds, statistics.mean((ranks[0, step], ranks[1, step])))
                for step, seconds in self.counted if (1, step) in ranks]


def chosen(training):
    """What auto has chosen."""
    log = open(f"{training.hosts[0]}/rank-0.0.hlog", "rb").read()
    return re.search(rb"plan: ([ -~]+ a rank)", log)[1].decode()


def program(wrapping):
    """The planned step without what is said of it; across a link only its ranks know it."""
    if a.link:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(default_recipe(8, wrapping))
        file.flush()
        text = run([f"{a.build}/heddle-engine", "graph", file.name, "--after", "memory"])
    return "\n".join(line for line in text.split("\n") if not line.startswith("note"))


if a.calibrate:
    run([f"{a.build}/heddle-engine", "calibrate", "--ranks", "2"])
programs = {name: program(wrapping) for name, wrapping in PLANS.items()}
for name in [name for name in PLANS if programs[name] and name != "auto" and programs[name] == programs["auto"]]:
    print(f"{name}: the same program as auto's, byte for byte")
    del PLANS[name]
trainings = {}
try:
    for name, wrapping in PLANS.items():
        trainings[name] = Training(wrapping)
    print(chosen(trainings["auto"]))
    for number in range(a.rounds):
        for training in trainings.values():
            training.turn()
        last = {name: statistics.median(seconds for _, seconds in each.counted[-3:])
                for name, each in trainings.items()}
        print(f"{number + 1:2}  " + "  ".join(f"{name} {seconds:.3f}" for name, seconds in last.items())
              + f"  load {os.getloadavg()[0]:.2f}", flush=True)
finally:
    for training in trainings.values():
        training.end()

measured = {name: training.measured() for name, training in trainings.items()}
speed = statistics.median(attention for steps in measured.values() for _, attention in steps)
print(f"\nat the speed of {speed:.3f} s of attention a step:")
compared = {}
for name, steps in measured.items():
    seconds, attention = zip(*steps)
    slope, at_none = statistics.linear_regression(attention, seconds)
    compared[name] = at_none + slope * speed
    spread = statistics.stdev(step - slope * each for step, each in steps) / len(steps) ** 0.5
    print(f"{name:<16} step {compared[name]:.4f} s ± {spread:.4f}, median {statistics.median(seconds):.4f} s"
          f" ({min(seconds):.4f} to {max(seconds):.4f})")
best = min((name for name in compared if name != "auto"), key=compared.get)
ratio = compared["auto"] / compared[best]
print(f"auto against the best ({best}): {ratio:.3f}  (bound 1.02) {'ok' if ratio <= 1.02 else 'MISSED'}")
