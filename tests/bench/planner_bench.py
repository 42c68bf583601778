#!/usr/bin/env python3
"""The planner's predictions against what others have published.

  planner_bench.py titan | llama3 | sweep FILE | rows FILE [--json] [--fitted FILE] [--build build/release/bin]
  planner_bench.py fit FILE... --to FILE
  planner_bench.py accuracy FILE... --to FILE

titan and llama3: TorchTitan's main table and Llama 3's own runs (resources/published). sweep: nanotron's, or another
table of its columns. rows: single rows of many sources. Each prints a line a row with what was assumed and what was
skipped, and why; --json ends with one line of figures. They only predict. fit finds the catalogue's numbers of the
programs in the tables and writes them, with their source and spread, as a file of the catalogue (--fitted, or a copy in
$XDG_CONFIG_HOME/heddle/hardware): never fit what is judged. accuracy writes how far predictions are off these tables'
rows, by program, hardware and precision: resources/published/accuracy.csv, by which plans say how sure they are. Rows
of TorchTitan are judged by formula, too (--as-pytorch: --executor compiled and eager).
"""
import argparse, json, math, os, statistics, sys

import planner_fit, published_rows
from planner_process import Planner, reserved

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def share(part, whole):
    return part / whole if whole else 0.0


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0.0


class Judged:
    """A run with its plan."""

    def __init__(self, run, plan, first_rank):
        self.run, self.plan = run, plan
        self.tokens = plan["tokens_per_second_per_rank"]
        self.off = self.tokens / run.tokens - 1 if run.tokens else None
        self.memory = reserved(plan, 0 if first_rank else None)
        self.memory_off = self.memory / run.memory - 1 if run.memory else None

    def within(self):
        """Whether the measured time is in the plan's interval."""
        interval = self.plan.get("interval")
        if not interval:
            return False
        step = self.plan["step_seconds"] * self.tokens / self.run.tokens
        return interval["step_low"] <= step <= interval["step_high"]

    def line(self):
        text = f"{self.run.line:>5}  {self.tokens:9.1f}"
        if self.run.tokens:
            text += f" {self.run.tokens:9.1f} {self.off:+7.1%}"
        text += f"  {self.memory / 2**30:6.1f}"
        if self.run.memory:
            text += f" {self.run.memory / 2**30:6.1f} {self.memory_off:+7.1%}"
        text += f"  {self.run.name}"
        return text + ("".join(f"; assumed: {each}" for each in self.run.assumed))


def predicted(path, a):
    runs, skipped = published_rows.read(path)
    for line, why in skipped:
        print(f"{path}:{line}: skipped: {why}")
    runs.sort(key=lambda run: run.order)
    if a.as_pytorch:
        runs = [run for run in runs if run.request["executor"] in AS_PYTORCH]
        for run in runs:
            run.request["executor"] = AS_PYTORCH[run.request["executor"]]
    numbers = planner_fit.numbers_of(a.fitted) if a.fitted else {}
    planner = Planner(a.build)
    plans = planner.plans([{**run.request, "numbers": numbers.get(run.request["executor"], {})} for run in runs])
    judged = []
    for run, plan in zip(runs, plans):
        if isinstance(plan, str):
            print(f"{path}:{run.line}: skipped: no recipe says this row: {plan}")
        else:
            judged.append(Judged(run, plan, run.fits is not None))
    return judged


def print_table(judged):
    print(" line   tokens/s   measured    off     GiB  measured  off")
    for each in sorted(judged, key=lambda each: each.run.line):
        print(each.line())


def sweep(judged):
    """Figures of a sweep: fits or not, throughput, the best layout of each group, memory, intervals."""
    right = sum(each.plan["fits"] == each.run.fits for each in judged)
    ran = [each for each in judged if each.run.fits and each.run.judged]
    offs = [abs(each.off) for each in ran]
    groups = {}
    for each in ran:
        groups.setdefault(each.run.group, []).append(each)
    shares = []
    for members in groups.values():
        chosen = max((each for each in members if each.plan["fits"]), key=lambda each: each.tokens, default=None)
        best = max(each.run.tokens for each in members)
        shares.append(chosen.run.tokens / best if chosen else 0.0)
    memories = [abs(each.memory_off) for each in judged if each.memory_off is not None]
    return {"rows": len(judged), "fits_right": share(right, len(judged)),
            "median_error": statistics.median(offs) if offs else 0.0, "p90_error": quantile(offs, 0.9),
            "groups": len(groups), "groups_within_5": share(sum(each >= 0.95 for each in shares), len(shares)),
            "worst_group": min(shares, default=0.0),
            "memory_median_error": statistics.median(memories) if memories else 0.0,
            "interval_holds": share(sum(each.within() for each in ran), len(ran))}


def single(judged):
    offs = [abs(each.off) for each in judged if each.off is not None]
    memories = [abs(each.memory_off) for each in judged if each.memory_off is not None]
    return {"rows": len(judged), "median_error": statistics.median(offs) if offs else 0.0,
            "worst_error": max(offs, default=0.0), "memory_worst_error": max(memories, default=0.0)}


AS_PYTORCH = {"fsdp2-compiled": "compiled", "fsdp2": "eager"}  # a program, and who runs its steps by formula
HELD_OUT = {"nanotron": 0.4736, "megatron": 0.2164, "fsdp2-compiled": 0.2295, "fsdp1": 0.116}  # programs.toml: spread


def accuracy(a):
    """One line for each program, hardware and precision: the median of measured over predicted steps, and how far nine
    of ten are from it; of few rows no less than half of what held-out rows of all hardware were. The first table that
    has rows of a kind counts: name those first that nothing was fitted on."""
    groups, first = {}, {}
    for path in a.files:
        for a.as_pytorch in (False, True) if path.endswith("titan.csv") else (False,):
            for each in predicted(path, a):
                if each.off is None or not each.run.judged:
                    continue
                request = each.run.request
                key = (request["executor"], request["hardware"].split("@")[0],
                       "fp8" if "precision.float8" in request["recipe"] else "bf16")
                if first.setdefault(key, path) == path:
                    groups.setdefault(key, []).append(math.log1p(each.off))
    with open(a.to, "w") as file:
        file.write("program,hardware,precision,rows,off,spread\n")
        for (program, hardware, precision), logs in sorted(groups.items()):
            middle = statistics.median(logs)
            far = quantile([abs(each - middle) for each in logs], 0.9)
            least = HELD_OUT.get(program, 0.2) * (1 if len(logs) < 5 else 0.5)
            file.write(f"{program},{hardware},{precision},{len(logs)},{math.expm1(middle):.3f},"
                       f"{max(math.expm1(far), least):.3f}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["titan", "llama3", "sweep", "rows", "fit", "accuracy"])
    p.add_argument("files", nargs="*")
    p.add_argument("--json", action="store_true", help="one line of figures at the end, and nothing else on stdout")
    p.add_argument("--to", help="of fit and accuracy: the file to write")
    p.add_argument("--as-pytorch", action="store_true", help="TorchTitan's rows by formula, not as fitted")
    p.add_argument("--fitted", help="numbers of the catalogue, as fit wrote them, instead of those that ship")
    p.add_argument("--build", default=f"{ROOT}/build/release/bin")
    a = p.parse_args()
    if a.what == "fit":
        if not a.files or not a.to:
            p.error("fit: which tables, and --to which file?")
        return planner_fit.fit(a.files, a.to, a.build, a.fitted)
    if a.what == "accuracy":
        if not a.files or not a.to:
            p.error("accuracy: of which tables, and --to which file?")
        return accuracy(a)
    if a.what in ("titan", "llama3"):
        a.files = [f"{ROOT}/resources/published/{a.what}.csv"]
    if len(a.files) != 1:
        p.error(f"{a.what}: which table? one file")
    out = sys.stdout
    if a.json:
        sys.stdout = sys.stderr
    judged = predicted(a.files[0], a)
    figures = sweep(judged) if a.what == "sweep" else single(judged)
    print_table(judged)
    worst = sorted((each for each in judged if each.off is not None and each.run.judged), key=lambda each: -abs(each.off))[:10]
    print("\nfurthest off:")
    for each in worst:
        print(each.line())
    print(", ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()))
    if a.json:
        print(json.dumps(figures), file=out)


if __name__ == "__main__":
    sys.exit(main())
