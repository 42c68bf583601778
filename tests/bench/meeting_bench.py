#!/usr/bin/env python3
"""What it costs that ranks know each other (root): the start of a run on two hosts against an earlier build,
alternately, and a run's speed while strangers attack it, window by window in one run.

  meeting_bench.py [--before BUILD/bin] [--rounds 7] [--windows 6] [--knocks 200]

Both hosts are this machine, the second with process ids of its own, so that TCP joins them. The strangers share
it too: 3,000 clients that stay, and so many more knocks a second at the port where rank 0 was met. They take
turns at seven ways: silent; asking for the run's state as LibTorch's store and as ours; a rank's first words,
with a guessed proof; rank 0's own words sent back to it; 64 KiB of anything; text for a screen.
"""
import argparse, json, os, re, secrets, signal, statistics, struct, subprocess, sys, tempfile, time

from across import private
from default_shape import recipe

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
p = argparse.ArgumentParser()
p.add_argument("--build", default=f"{ROOT}/build/release/bin")
p.add_argument("--before", help="a build whose ranks do not know each other")
p.add_argument("--rounds", type=int, default=7)
p.add_argument("--windows", type=int, default=6, help="of 6 s or 20 steps each, with strangers and without")
p.add_argument("--knocks", type=int, default=200, help="a second")
a = p.parse_args()
PORT = 20000 + os.getpid() % 20000


def small(steps):
    """A step of some milliseconds: what others take of a core is seen at once."""
    text = recipe(steps)
    for much, little in (("dim = 512", "dim = 128"), ("layers = 8", "layers = 2"), ("ffn_dim = 1536", "ffn_dim = 384"),
                         ("seq_len = 512", "seq_len = 128")):
        text = text.replace(much, little)
    return text


class Run:
    """A run on two hosts."""

    def __init__(self, build, steps, port, secret, between=lambda: None):
        self.folder = tempfile.TemporaryDirectory(prefix="meeting-bench-")
        self.secret = f"{self.folder.name}/secret"
        with open(self.secret, "w", opener=private) as file:
            file.write(secrets.token_hex(32))
        engine = f"{build}/heddle-engine supervise"
        given = f" --secret-stdin < {self.secret}" if secret else ""
        self.hosts = [f"{self.folder.name}/{host}" for host in range(2)]
        for host, side in enumerate(self.hosts):
            os.mkdir(side)
            with open(f"{side}/recipe.toml", "w") as file:
                file.write(small(steps))
            with open(f"{side}/launch.json", "w") as file:
                json.dump({"run": "bench", "world_size": 2, "first_rank": host, "local_ranks": 1,
                           "rendezvous_host": "127.0.0.1", "rendezvous_port": port}, file)
            command = f"taskset -c {host} {engine} --run-dir {side}{given}"
            if host == 1:
                wait = f"{command}; until [ -e {side}/end.json ]; do sleep 0.2; done"
                self.other = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", wait],
                                              stdout=subprocess.DEVNULL)
            else:
                subprocess.run(["sh", "-c", command], stdout=subprocess.DEVNULL, check=True)
                between()

    def results(self):
        self.other.wait()
        while not os.path.exists(f"{self.hosts[0]}/end.json"):
            time.sleep(0.1)
        return json.load(open(f"{self.hosts[0]}/results.json"))

    def steps(self):
        try:
            log = open(f"{self.hosts[0]}/rank-0.0.hlog", "rb").read()
        except FileNotFoundError:
            return []
        return [struct.unpack(">d", found)[0] for found in re.findall(rb"lstep_seconds\xfb(.{8})", log, re.DOTALL)]

    def rank_0_kib(self):
        pid = json.load(open(f"{self.hosts[0]}/state.json"))["ranks"][0]["pid"]
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])

    def stop(self):
        subprocess.run([f"{a.build}/heddle-engine", "supervise", "--run-dir", self.hosts[0], "--kill"],
                       stdout=subprocess.DEVNULL)
        self.other.wait()


def start_up():
    builds = {"now": (a.build, True)} | ({"before": (a.before, False)} if a.before else {})
    seconds = {name: [] for name in builds}
    for round in range(a.rounds):
        for index, (name, (build, secret)) in enumerate(builds.items()):
            run = Run(build, 2, PORT + 2 * round + index, secret)
            seconds[name].append(run.results()["first_step_seconds"])
    for name, values in seconds.items():
        print(f"start to first step, {name}: median {statistics.median(values):.3f} s, "
              f"{min(values):.3f} to {max(values):.3f}")
    if a.before:
        ratios = [now / before for now, before in zip(seconds["now"], seconds["before"])]
        print(f"now / before, pair by pair: median {statistics.median(ratios):.3f}")


STRANGER = """
import itertools, os, socket, sys, time
port, knocks = int(sys.argv[1]), int(sys.argv[2])
hello = b"heddle\\0\\1" + os.urandom(76)
ways = itertools.cycle([b"", b"\\x00\\x3c\\x85\\xf7\\x00" + bytes(200), b"\\x14\\0\\0\\0world.0/card/0" + bytes(200),
                        hello + os.urandom(32), None, b"\\xff" * 65536, b"<b>let me in</b>" * 20])
staying = []
def knock():
    each, words = socket.socket(), next(ways)
    each.settimeout(1)
    try:
        each.connect(("127.0.0.1", port))
        if words is None:
            each.sendall(hello)
            words = each.recv(64)
        each.sendall(words)
        staying.append(each)
    except OSError:
        each.close()
for i in range(3000):
    knock()
print(len(staying), flush=True)
while True:
    knock()
    del staying[3000:]
    time.sleep(1 / knocks)
"""


def under_attack():
    port, strangers = PORT + 1000, []

    def come():
        strangers.append(subprocess.Popen([sys.executable, "-c", STRANGER, str(port), str(a.knocks)],
                                          stdout=subprocess.PIPE))
        print(f"{int(strangers[0].stdout.readline())} strangers were there before the second host")

    run = Run(a.build, 1_000_000, port, True, come)
    stranger = strangers[0]
    while len(run.steps()) < 5:
        time.sleep(0.2)
    rates, memory = {"quiet": [], "attacked": []}, []
    for window in range(2 * a.windows):
        name = "attacked" if window % 2 else "quiet"
        stranger.send_signal(signal.SIGCONT if name == "attacked" else signal.SIGSTOP)
        time.sleep(0.5)
        before, end = len(run.steps()), time.monotonic() + 6
        while time.monotonic() < end or len(run.steps()) < before + 20:
            time.sleep(0.5)
        rates[name].append(1 / statistics.median(run.steps()[before + 1:]))  # the first is of both windows
        memory.append(run.rank_0_kib())
    stranger.send_signal(signal.SIGCONT)
    stranger.kill()
    run.stop()
    for name, values in rates.items():
        print(f"steps a second, {name}: median {statistics.median(values):.2f}, {min(values):.2f} to {max(values):.2f}")
    ratio = statistics.median(now / quiet for now, quiet in zip(rates["attacked"], rates["quiet"]))
    print(f"attacked / quiet, pair by pair: median {ratio:.3f}")
    print(f"memory of rank 0: {memory[0] / 1024:.1f} MiB at first, {memory[-1] / 1024:.1f} MiB at last")


start_up()
under_attack()
