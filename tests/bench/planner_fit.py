"""Finds the catalogue's numbers of programs, and of a cluster's network, from published rows: least squares on the
logarithms of step time and memory, with outliers counting less, by the engine's own predictions.

Half of the groups of rows (by model and number of nodes) is held out once each way: how far predictions of these are off
is the spread. What is written is fitted on all of them.
"""
import math, os, statistics, tomllib

import published_rows
from planner_process import Planner, reserved

# The number, and whether it is found from times or from memory. The rest keep what the catalogue has.
TIMES = ["product_share", "attention_share", "passes", "logit_bytes", "layer_launch_ms", "exchange_launch_ms",
         "stage_launch_ms", "step_ms", "update_bytes", "whole_update_bytes", "pipeline_reduce", "exchange_share", "exchange_far_share", "exchange_us", "gather_share",
         "reduce_reach", "reduce_all_reach", "reduce_hidden", "hop_us"]
MEMORY = ["hidden_bytes", "ffn_bytes", "embedding_bytes", "logit_memory_bytes", "update_memory_bytes", "process_gib",
          "replicated_bytes", "alone_bytes", "whole_bytes", "sharded_bytes", "all_sharded_bytes"]
NETWORK = {"network.reach": (0.05, 1.0), "network.step_us": (1.0, 5000.0)}
MOST = {"product_share": 1.3, "attention_share": 1.5, "passes": 10, "exchange_share": 2, "exchange_far_share": 2,
        "gather_share": 1, "reduce_hidden": 1, "logit_bytes": 80, "process_gib": 4, "reduce_reach": 10, "reduce_all_reach": 10}
LEAST = {"product_share": 0.3, "attention_share": 0.2, "passes": 0.3, "reduce_reach": 0.1, "reduce_all_reach": 0.05,
         "layer_launch_ms": 0.05}
HERE = os.path.dirname(os.path.abspath(__file__))
SHIPPED = os.path.join(HERE, "..", "..", "resources", "hardware", "programs.toml")


def programs_of(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def numbers_of(path):
    """By program: its numbers in such a file, and those of its network, as `numbers` of a request."""
    read = programs_of(path)
    networks = {f"network.{key}": value["value"][0] if isinstance(value["value"], list) else value["value"]
                for network in read.get("network", {}).values() for key, value in network.items() if isinstance(value, dict)}
    return {name: {**{f"program.{key}": value["value"] for key, value in table.items() if isinstance(value, dict)},
                   **(networks if name == "nanotron" else {})}
            for name, table in read.get("program", {}).items()}


def solved(matrix, right):
    """x of matrix · x = right, by elimination."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            for k in range(i, n + 1):
                rows[j][k] -= factor * rows[i][k]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][k] * x[k] for k in range(i + 1, n))) / rows[i][i]
    return x


class Fit:
    """One program's numbers against rows, as logarithms within their bounds."""

    def __init__(self, planner, runs, start, keys, of):
        self.planner, self.runs, self.start, self.keys, self.of = planner, runs, start, keys, of

    def numbers(self, x):
        return {**self.start, **{key: math.exp(value) for key, value in zip(self.keys, x)}}

    def errors(self, x, runs=None):
        return [self.of(run, plan) for run, plan in
                zip(runs or self.runs, self.planner.plans([run.request for run in runs or self.runs], self.numbers(x)))]

    def bounds(self, key):
        if key in NETWORK:
            return NETWORK[key]
        name = key.removeprefix("program.")
        return LEAST.get(name, 1e-3), MOST.get(name, 1e4)

    def fit(self, turns=6, scale=0.1):
        x = [math.log(min(max(self.start[key], self.bounds(key)[0] * 1.01), self.bounds(key)[1] * 0.99)) for key in self.keys]
        begun, damping = list(x), 1e-2
        # Numbers that rows say little about stay where they were: a factor of e counts as one row in 50 that is off by `scale`.
        faith = 0.02 * scale * scale * len(self.runs)

        def cost(errors, x):  # soft L1
            return (sum(2 * scale * scale * (math.sqrt(1 + (e / scale) ** 2) - 1) for e in errors) +
                    faith * sum((value - first) ** 2 for value, first in zip(x, begun)))

        errors = self.errors(x)
        for _ in range(turns):
            weights = [1 / math.sqrt(1 + (e / scale) ** 2) for e in errors]
            columns = []
            for i in range(len(x)):
                moved = list(x)
                moved[i] += 0.03
                columns.append([(b - a) / 0.03 for a, b in zip(errors, self.errors(moved))])
            for _ in range(4):
                normal = [[sum(w * a * b for w, a, b in zip(weights, columns[i], columns[j])) for j in range(len(x))]
                          for i in range(len(x))]
                right = [-sum(w * a * e for w, a, e in zip(weights, columns[i], errors)) - faith * (x[i] - begun[i])
                         for i in range(len(x))]
                for i in range(len(x)):
                    normal[i][i] += faith + damping * (normal[i][i] + 1e-3 * len(errors))
                step = solved(normal, right)
                tried = []
                for key, value, change in zip(self.keys, x, step):
                    least, most = (math.log(bound) for bound in self.bounds(key))
                    tried.append(min(most, max(least, value + max(-1, min(1, change)))))
                after = self.errors(tried)
                if cost(after, tried) < cost(errors, x):
                    better = cost(errors, x) - cost(after, tried)
                    x, errors, damping = tried, after, damping / 3
                    break
                damping *= 5
            else:
                break
            print(f"    {statistics.median(abs(e) for e in errors):.3f} off in the median of {len(errors)} rows", flush=True)
            if better < 1e-3 * cost(errors, x):
                break
        return self.numbers(x), errors


def time_error(run, plan):
    return 0.0 if isinstance(plan, str) else math.log(plan["tokens_per_second_per_rank"] / run.tokens)


def memory_error(run, plan):
    return 0.0 if isinstance(plan, str) else math.log(reserved(plan, 0 if run.fits is not None else None) / run.memory)


def right_fits(planner, runs, numbers):
    plans = planner.plans([run.request for run in runs], numbers)
    return sum(not isinstance(plan, str) and plan["fits"] == run.fits for run, plan in zip(runs, plans)) / len(runs)


def fitted(planner, runs, start, program):
    """The numbers of a program, from these rows."""
    timed = [run for run in runs if run.tokens and run.judged and not (run.memory and run.fits and run.memory > 66 * 2**30)]
    held = [run for run in runs if run.memory and not (run.fits and run.memory > 66 * 2**30)]
    numbers = dict(start)
    if timed:
        network = list(NETWORK) if program == "nanotron" else []
        keys = [f"program.{key}" for key in TIMES if f"program.{key}" in start] + [key for key in network if key in start]
        numbers, _ = Fit(planner, timed, numbers, moving(planner, timed, numbers, keys, time_error), time_error).fit()
    if len(held) >= 8:
        keys = [f"program.{key}" for key in MEMORY]
        numbers, _ = Fit(planner, held, numbers, moving(planner, held, numbers, keys, memory_error), memory_error).fit()
    decided = [run for run in runs if run.fits is not None]
    if decided:
        tried = {(share, outside): right_fits(planner, decided, {**numbers, "program.live_share": share,
                                                                 "program.outside_gib": outside})
                 for share in (0.9, 0.95, 1.0, 1.05, 1.1) for outside in (0, 1, 2, 3, 4)}
        best = max(tried.values())
        # The middle of those that are right most often.
        ties = sorted(pair for pair, right in tried.items() if right >= best - 1e-9)
        numbers["program.live_share"], numbers["program.outside_gib"] = ties[len(ties) // 2]
        print(f"    fits or not: {best:.3f} right", flush=True)
    return numbers


def moving(planner, runs, start, keys, of):
    """Those of the numbers that these rows say anything about."""
    def errors(numbers):
        return [of(run, plan) for run, plan in zip(runs, planner.plans([run.request for run in runs], numbers))]

    before, kept = errors(start), []
    for key in keys:
        changed = sum(abs(b - a) > 1e-4 for a, b in zip(before, errors({**start, key: start[key] * 0.9})))
        if changed >= max(3, 0.01 * len(runs)):
            kept.append(key)
    return kept


def spread_of(planner, held_out, numbers):
    """Of rows that were not used: what nine of ten are within, on one node and more for each doubling; of memory."""
    plans = planner.plans([run.request for run in held_out], numbers)
    pairs = [(run, plan) for run, plan in zip(held_out, plans) if not isinstance(plan, str)]
    timed = [(run.request["ranks"], math.exp(abs(time_error(run, plan))) - 1) for run, plan in pairs if run.tokens and run.judged]
    memory = sorted(math.exp(abs(memory_error(run, plan))) - 1 for run, plan in pairs if run.memory)
    return timed, memory


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else None


def spreads(timed, memory, devices=8):
    """A line through the 90 % quantiles over the doublings of nodes, no lower than zero."""
    by = {}
    for ranks, off in timed:
        by.setdefault(max(0, round(math.log2(max(1, ranks / devices)))), []).append(off)
    points = [(doubling, quantile(offs, 0.9), len(offs)) for doubling, offs in by.items() if len(offs) >= 5]
    if len(points) < 2:
        flat = quantile([off for _, off in timed], 0.9)
        return flat, 0.0, quantile(memory, 0.9)
    total = sum(n for *_, n in points)
    mean_x, mean_y = (sum(point[i] * point[2] for point in points) / total for i in (0, 1))
    over = sum(n * (x - mean_x) ** 2 for x, _, n in points)
    slope = max(0.0, sum(n * (x - mean_x) * (y - mean_y) for x, y, n in points) / over) if over else 0.0
    return max(0.02, mean_y - slope * mean_x), slope, quantile(memory, 0.9)


def halves(runs):
    """Groups of rows dealt out in turn: each model and number of nodes is in one half."""
    groups = sorted({run.group for run in runs}, key=str)
    odd = set(groups[1::2])
    return [run for run in runs if run.group not in odd], [run for run in runs if run.group in odd]


def write(path, shipped, found, sources):
    """As a file of the catalogue: all programs, those that were fitted with what was found."""
    with open(path, "w") as file:
        file.write("# What others train with, and what it makes of the hardware: fitted by tests/bench/planner_bench.py fit.\n")
        for name, table in shipped["program"].items():
            file.write(f"\n[program.{name}]\ntitle = \"{table['title']}\"\n")
            for key, value in table.items():
                if not isinstance(value, dict):
                    continue
                changed = found.get(name, {}).get(f"program.{key}")
                if changed is not None and abs(changed - value["value"]) > 1e-9 * abs(value["value"]):
                    value = {"value": changed, "from": "measured", "source": sources[name]}
                file.write(f"{key} = {{ value = {value['value']:.5g}, from = \"{value['from']}\", source = \"{value['source']}\" }}\n")
        for name, table in shipped.get("network", {}).items():
            network = found.get("nanotron", {})
            file.write(f"\n[network.{name}]\nlike = \"{table['like']}\"\ntitle = \"{table['title']}\"\n")
            for key in ("reach", "step_us"):
                value = table[key]
                changed = network.get(f"network.{key}")
                if changed is not None:
                    value = {"value": [changed] * 3 if key == "step_us" else changed, "from": "measured", "source": sources["nanotron"]}
                number = value["value"]
                text = "[" + ", ".join(f"{each:.5g}" for each in number) + "]" if isinstance(number, list) else f"{number:.5g}"
                file.write(f"{key} = {{ value = {text}, from = \"{value['from']}\", source = \"{value['source']}\" }}\n")


def fit(files, to, build, start_from=None):
    by_program = {}
    for path in files:
        runs, skipped = published_rows.read(path)
        for line, why in skipped:
            print(f"{path}:{line}: skipped: {why}")
        for run in sorted(runs, key=lambda run: run.order):
            by_program.setdefault(run.request["executor"], []).append((path, run))
    shipped, start = programs_of(start_from or SHIPPED), numbers_of(start_from or SHIPPED)
    planner = Planner(build)
    found, sources = {}, {}
    for program, pairs in by_program.items():
        runs = [run for _, run in pairs]
        names = ", ".join(sorted({os.path.basename(path) for path, _ in pairs}))
        print(f"{program}: {len(runs)} rows of {names}", flush=True)
        timed, memory = [], []
        a, b = halves(runs)
        for used, held_out in ((a, b), (b, a)):
            if len(used) < 6 or not held_out:
                continue
            numbers = fitted(planner, used, start[program], program)
            more_timed, more_memory = spread_of(planner, held_out, numbers)
            timed += more_timed
            memory += more_memory
        numbers = fitted(planner, runs, numbers if timed else start[program], program) if len(runs) >= 6 else start[program]
        if timed:
            spread, slope, memory_spread = spreads(timed, memory)
            numbers["program.spread"], numbers["program.spread_a_doubling"] = spread, slope
            if memory_spread:
                numbers["program.memory_spread"] = memory_spread
            print(f"  held out: {statistics.median(off for _, off in timed):.3f} off in the median, nine of ten within "
                  f"{quantile([off for _, off in timed], 0.9):.3f}", flush=True)
            sources[program] = (f"fitted on {len(runs)} rows of {names}; held-out rows "
                                f"{100 * statistics.median(off for _, off in timed):.0f} % off in the median")
        else:
            sources[program] = f"fitted on {len(runs)} rows of {names}; none held out"
        found[program] = numbers
    write(to, shipped, found, sources)
    print(f"written: {to}")
    return 0
