"""The parts of packaging/gpu-check.sh, in their order; see there."""

import argparse
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path

from beside_plan import beside_plan

ROOT = Path(__file__).resolve().parents[2]
TEXT = ROOT / "resources/data/tinyshakespeare.txt"
TOKENIZER = ROOT / "resources/data/tokenizer.json"
FIXTURES = ROOT / "tests/fixtures/reference"
# What a fixture's 20 losses may differ by: another order of sums in fp32.
PARITY = 1e-3
# What a loss of the first steps, or a gradient, in bf16 may differ by from the CPU's, relative.
BF16 = 2e-2


class Failed(Exception):
    """A part did not do what it should; its words say what happened, `out` what a program had said until then."""

    def __init__(self, words, out=""):
        super().__init__(words)
        self.out = out


class Check:
    """Runs programs for one part within its time. All that they print goes to gpu-check.log; recipes and
    weights to a folder that is gone at the end."""

    def __init__(self, arguments, build, environment, folder):
        self.arguments, self.build, self.environment, self.folder = arguments, build, environment, folder
        self.log = Path(arguments.to).resolve() / "gpu-check.log"
        self.until, self.code = 0.0, 0

    def begin(self, part, seconds):
        with open(self.log, "a") as log:
            log.write(f"\n== {part}\n")
        self.until = time.monotonic() + seconds

    def run(self, *command, may_fail=False, environment=None):
        command = [str(word) for word in command]
        left = max(self.until - time.monotonic(), 1)
        with open(self.log, "ab") as log, tempfile.TemporaryFile() as said:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            process = subprocess.Popen(command, stdout=said, stderr=log, env=environment or self.environment,
                                       start_new_session=True)
            try:
                process.wait(timeout=left)
                in_time = True
            except subprocess.TimeoutExpired:
                # Its ranks end with it; nothing of it may hold the GPU in the next part.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                in_time = False
            said.seek(0)
            out = said.read()
            log.write(out)
        out = out.decode(errors="replace")
        name, self.code = Path(command[0]).name, process.returncode
        if not in_time:
            raise Failed(f"{name} took longer than the part may ({left:.0f} s were left)", out)
        if self.code and not may_fail:
            raise Failed(f"{name} ended with {self.code}: {self.last_words()}", out)
        return out

    def last_words(self):
        return (self.log.read_text(errors="replace").strip().splitlines() or [""])[-1][:400]

    def train(self, name, recipe, *arguments):
        """Trains a recipe that keeps to its plan; the results, and the values of each step."""
        path = self.folder / f"{name}.toml"
        path.write_text(recipe)
        out = self.run(self.build / "heddle-engine", "train", path, "--json", *arguments)
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        if beside := beside_plan(lines[-1]):
            raise Failed(f"{name}: {beside}", out)
        return lines[-1], [line["values"] for line in lines if line.get("event") == "step"]

    def checks(self, what):
        """gpu_check's lines; those that failed are the part's failure, with all of them kept."""
        out = self.run(self.build / "gpu_check", what, may_fail=True)
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        if self.code != (0 if all(line["ok"] for line in lines) else 1) or not lines:
            raise Failed(f"gpu_check ended with {self.code} after {len(lines)} checks: {self.last_words()}", out)
        return lines


def recipe(preset, *, layers=None, seq=8192, batch=1, steps=12, ranks=1, device="cuda", more=""):
    cut = f"n_layers = {layers}\n" if layers else ""
    return f"""[model]
preset = "{preset}"
{cut}tied_embeddings = false
max_seq_len = {seq}
[data]
text = ["{TEXT}"]
tokenizer = "{TOKENIZER}"
seq_len = {seq}
[training]
steps = {steps}
local_batch = {batch}
[precision]
param = "bf16"
[checkpoint]
enabled = false
{more}
[hardware]
ranks = {ranks}
device = "{device}"
"""


def fixture_recipe(fixture):
    return f"""[model]
checkpoint = "{FIXTURES / fixture}"
[data]
token_ids = "{FIXTURES / fixture}/expected.safetensors"
seq_len = 32
[training]
steps = 20
local_batch = 4
global_batch = 4
max_norm = 1.0
[optimizer]
lr = 1e-3
betas = [0.9, 0.95]
eps = 1e-8
weight_decay = 0.1
[schedule]
decay = "none"
[checkpoint]
enabled = false
[hardware]
ranks = 1
device = "cuda"
"""


def apart(found, expected, *, relative=True):
    """The furthest of some numbers from what they should be; infinitely far where one is none."""
    def away(a, b):
        if a is None or not math.isfinite(a):
            return math.inf
        scale = abs(b) if relative else 1
        return 0.0 if a == b else abs(a - b) / scale if scale else math.inf

    return max(away(a, b) for a, b in zip(found, expected, strict=True))


def of_checks(lines):
    bad = [line["check"] for line in lines if not line["ok"]]
    return not bad, f"{len(lines) - len(bad)} of {len(lines)} hold" + (f"; not: {', '.join(bad[:6])}" if bad else ""), lines


def machine(check):
    words = check.run("nvidia-smi", "--query-gpu=name,driver_version,memory.total,memory.used", "--format=csv,noheader")
    topology = check.run("nvidia-smi", "topo", "-m", may_fail=True)
    return True, words.strip().replace("\n", "; "), {"gpus": words.strip().splitlines(), "topology": topology,
                                                     "torch": check.environment["HEDDLE_CHECK_TORCH"]}


def kernels(check):
    return of_checks(check.checks("kernels"))


def events(check):
    return of_checks(check.checks("events"))


def attention(check):
    return of_checks(check.checks("attention"))


def parity(check):
    found = {}
    for fixture in ("llama-tiny", "llama-tiny-scaled-rope-tied"):
        expected = json.loads((FIXTURES / fixture / "expected.json").read_text())["losses"]
        for mode in ("eager", "planned"):
            results, _ = check.train(f"{fixture}-{mode}", fixture_recipe(fixture), "--mode", mode)
            found[f"{fixture}, {mode}"] = apart(results["losses"], expected, relative=False)
    worst = max(found, key=found.get)
    return found[worst] <= PARITY, f"furthest from Hugging Face's losses: {found[worst]:.2g} ({worst}; {PARITY:g} may be)", found


def of_steps(check):
    """The recipe whose steps are timed, and planned."""
    return recipe("llama3-debug" if check.arguments.tiny else "llama3-1b", steps=16,
                  **dict(layers=2, seq=256) if check.arguments.tiny else dict(layers=4, seq=4096))


def steps(check):
    """Operator by operator, planned, and as one recorded launch; memory against the plan."""
    words = of_steps(check)
    eager, _ = check.train("steps-eager", words, "--mode", "eager")
    planned, lines = check.train("steps-planned", words, "--mode", "planned")
    seconds = [line["step_seconds"] for line in lines]
    found = {"eager": eager, "planned": planned, "step_seconds": seconds}
    away = apart(planned["losses"], eager["losses"])
    words = (f"eager {eager['step_seconds']:.4f} s, planned {statistics.median(seconds[1:3]):.4f} s, "
             f"recorded {statistics.median(seconds[6:]):.4f} s; losses within {away:.2g}; "
             f"peak {planned['peak_bytes'] / 1e9:.2f} GB, predicted {planned['predicted_peak_bytes'] / 1e9:.2f} GB")
    held = {}
    for block in planned["device_blocks"]:
        held[block["holder"]] = held.get(block["holder"], 0) + block["bytes"]
    words += "; held at the end: " + ", ".join(f"{name} {size / 1e9:.2f} GB" for name, size in held.items())
    return away <= BF16 and abs(planned["peak_bytes"] / planned["predicted_peak_bytes"] - 1) <= 0.03, words, found


def against_cpu(check):
    shape = dict(layers=2, seq=256, steps=6)
    losses = {device: check.train(f"losses-{device}", recipe("llama3-debug", device=device, **shape))[0]["losses"]
              for device in ("cpu", "cuda")}
    away = apart(losses["cuda"], losses["cpu"])
    return away <= BF16, f"six steps in bf16: losses within {away:.2g} of the CPU's ({BF16:g} may be)", losses


def gradients(check):
    """Of each parameter of a small model, after one forward and backward in bf16."""
    files = []
    for device in ("cpu", "cuda"):
        path = check.folder / f"gradients-{device}.toml"
        path.write_text(recipe("llama3-debug", layers=2, seq=256, device=device))
        files.append(path.with_suffix(".safetensors"))
        check.run(check.build / "heddle-engine", "eval", path, "--to", files[-1])
    words = check.run(check.environment["HEDDLE_CHECK_PYTHON"], ROOT / "packaging/lib/gradients.py", *files).split()
    away, worst, count = float(words[0]), words[1], int(words[2])
    return away <= BF16, (f"of {count} parameters, furthest from the CPU's by {away:.2g} of its norm ({worst}; {BF16:g} "
                          "may be)"), {"away": away, "worst": worst, "parameters": count}


def shared(check):
    """Two and four ranks on one GPU, their collectives through the host: the losses of one rank."""
    layouts = {"1 rank": (1, ""), "2 ranks, dp_shard 2": (2, "dp_shard = 2"), "2 ranks, tp 2": (2, "tp = 2"),
               "4 ranks, tp 2, dp_shard 2": (4, "tp = 2\ndp_shard = 2"),
               "4 ranks, pp 2, cp 2": (4, "pp = 2\ncp = 2\nmicrobatches = 2")}
    losses = {}
    for number, (name, (ranks, layout)) in enumerate(layouts.items()):
        words = recipe("llama3-debug", layers=2, seq=256, batch=4, steps=6, ranks=ranks,
                       more=f'[parallelism]\n{layout}\n[transport]\ngpus = "host"')
        results, _ = check.train(f"shared-{number}", words, "--set", "training.global_batch=8", "--set",
                                 f"training.local_batch={4 if 'dp_shard' in layout else 8}")
        losses[name] = results["losses"]
    away = {name: apart(each, losses["1 rank"]) for name, each in losses.items()}
    worst = max(away, key=away.get)
    return away[worst] <= BF16, f"losses within {away[worst]:.2g} of one rank's ({worst}; {BF16:g} may be)", losses


def calibration(check):
    """All GPUs, each a rank's, into a catalogue of this check's own; what the steps above are planned to take by it."""
    own = dict(check.environment, XDG_CONFIG_HOME=str(check.folder / "config"))
    path = check.folder / "calibration.toml"
    path.write_text(of_steps(check))

    def engine(*arguments):
        return json.loads(check.run(check.build / "heddle-engine", *arguments, "--json", environment=own).splitlines()[-1])

    found = engine("calibrate", "--device", "cuda")
    found["planned_seconds"] = engine("plan", path, "--hardware", found["entry"])["step_seconds"]
    words = f"{found['state']}; by {found['entry']} a step above is planned to take {found['planned_seconds']:.4f} s"
    if found["remarks"]:
        words += "; cannot be: " + "; ".join(found["remarks"])
    return not found["remarks"], words, found


def benchmark(check, shape):
    """Heddle and the peer in turn; without a peer Heddle alone."""
    command = [sys.executable, ROOT / "tests/bench/gpu_bench.py", "--rounds", 2, "--steps", 12, "--steps-only", "cuda",
               "--build", check.build, "--torchrun", Path(check.environment["HEDDLE_CHECK_PYTHON"]).parent / "torchrun"]
    if check.arguments.peer:
        command += ["--peer", check.arguments.peer]
    command += ["--shapes", "tiny", "--seq", 256] if check.arguments.tiny else ["--shapes", shape]
    out = check.run(*command).splitlines()
    bounds = [line for line in out if "(bound" in line]
    words = "; ".join(re.sub(r"\s+", " ", line) for line in bounds or out[-1:])
    return all(line.endswith(" ok") for line in bounds), words, out


# In order: each part rests on those before it. Seconds are limits.
PARTS = {
    "machine": (machine, 20),
    "kernels": (kernels, 120),
    "events": (events, 30),
    "parity": (parity, 100),
    "steps": (steps, 120),
    "shared": (shared, 150),
    "against-cpu": (against_cpu, 90),
    "gradients": (gradients, 60),
    "calibration": (calibration, 85),
    "attention": (attention, 120),
    "benchmark-1b": (lambda check: benchmark(check, "1b"), 260),
    "benchmark-8b": (lambda check: benchmark(check, "8b-8"), 340),
}
# A machine that is lent for some minutes at a time takes a call after the other; each ends within so many seconds.
CALL_SECONDS = 390


def calls():
    """The parts in order, as many to a call as its seconds hold."""
    found, left = [], 0
    for part, (_, seconds) in PARTS.items():
        if seconds > left:
            found.append([])
            left = CALL_SECONDS
        found[-1].append(part)
        left -= seconds
    return found


def page(done):
    lines = ["What Heddle does on this machine's GPU", ""]
    for part in PARTS:
        if part in done:
            result = done[part]
            lines.append(f"{'ok    ' if result['ok'] else 'FAILED'}  {part:<12} {result['seconds']:5.0f} s  {result['words']}")
        else:
            lines.append(f"not yet {part}")
    return "\n".join(lines) + "\n"


def environment_of(python, build):
    """The engine's libraries are PYTHON's torch's, or are next to the engine."""
    try:
        words = subprocess.run([python, "-c", "import glob, os, sys, torch; lib = os.path.dirname(torch.__file__); "
                                "print(torch.__version__); print(sys.executable); print(lib + '/lib'); "
                                "print('\\n'.join(glob.glob(os.path.dirname(lib) + '/nvidia/*/lib')))"],
                               capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or getattr(error, "strerror", None) or f"it ends with {error.returncode}"
        sys.exit(f"heddle: {python} has no torch: {said.strip().splitlines()[-1]}; give --python one with torch 2.11")
    version, executable, *folders = words.stdout.split()
    if not version.startswith("2.11."):
        sys.exit(f"heddle: {python} has torch {version}; valid: 2.11, whose libraries the engine was built for")
    # The machine's own come last: some find the driver's libraries by them alone.
    own = [os.environ["LD_LIBRARY_PATH"]] if os.environ.get("LD_LIBRARY_PATH") else []
    return dict(os.environ, LD_LIBRARY_PATH=":".join([*folders, str(build), *own]), HEDDLE_CHECK_PYTHON=executable,
                HEDDLE_CHECK_TORCH=version)


def unpacked(build, folder):
    """Where the programs are: the folder given, or what its archive holds."""
    build = Path(build).resolve()
    if build.is_file():
        try:
            with tarfile.open(build) as archive:
                archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        except tarfile.TarError as error:
            sys.exit(f"heddle: {build}: {error}; valid: a folder, or an archive of packaging/gpu-check.sh --pack")
        build = folder
    for program in ("heddle-engine", "libheddle_torch.so", "gpu_check", "libheddle_cuda.so"):
        if not (build / program).exists():
            sys.exit(f"heddle: {build} has no {program}; make one with packaging/gpu-check.sh --pack ARCHIVE")
    return build


def main():
    parser = argparse.ArgumentParser(prog="gpu-check.sh")
    parser.add_argument("--python", default="python3", help="of an environment with torch 2.11")
    parser.add_argument("--build", default=ROOT / "build/release/bin", help="the programs: a folder or an archive")
    parser.add_argument("--to", default="gpu-check", help="where results go")
    parser.add_argument("--peer", help="the training script to compare with")
    parser.add_argument("--tiny", action="store_true", help="shapes of seconds, which measure nothing: tries the check")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--call", type=int, choices=range(1, len(calls()) + 1),
                        help=f"the parts that fit {CALL_SECONDS} s together: "
                             + "; ".join(f"{number}: {', '.join(parts)}" for number, parts in enumerate(calls(), 1)))
    arguments = parser.parse_args()
    chosen = calls()[arguments.call - 1] if arguments.call else arguments.only.split(",")
    if unknown := [part for part in chosen if part not in PARTS]:
        parser.error(f"--only: {', '.join(unknown)}; valid: {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as scratch:
        build = unpacked(arguments.build, Path(scratch) / "build")
        folder = Path(scratch) / "work"
        folder.mkdir()
        return run_parts(chosen, arguments, Check(arguments, build, environment_of(arguments.python, build), folder))


def run_parts(chosen, arguments, check):
    """Each part that --to has no result of yet; the exit code."""
    Path(arguments.to).mkdir(parents=True, exist_ok=True)
    results = Path(arguments.to) / "gpu-check.json"
    done = json.loads(results.read_text()) if results.exists() else {}
    for part in chosen:
        if part in done:
            continue
        work, seconds = PARTS[part]
        check.begin(part, seconds)
        begin = time.monotonic()
        try:
            ok, words, found = work(check)
        except Failed as error:
            ok, words, found = False, f"{error}", error.out.splitlines()
        except Exception as error:  # of the check itself: the next part is tried all the same
            ok, words, found = False, f"{type(error).__name__}: {error}", traceback.format_exc().splitlines()
        done[part] = {"ok": ok, "words": words, "seconds": round(time.monotonic() - begin, 1), "found": found}
        whole = results.with_suffix(".part")
        whole.write_text(json.dumps(done, indent=1))
        whole.replace(results)
        results.with_suffix(".txt").write_text(page(done))
        print(f"{'ok' if ok else 'FAILED'}: {part}: {words}", flush=True)
    return 0 if all(done[part]["ok"] for part in chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
