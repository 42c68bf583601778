#!/usr/bin/env python3
"""The window at the sizes that people have: 10,000 runs x 2,000 keys, 50 runs, 79 runs x 2,261 metrics, 10 million
samples, a million spans. Each store is opened cold (its file dropped from memory) and warm, in the real window on an
X server of its own, 2560 x 1440, moved by events.

  tests/bench/scale_bench.py [SHAPE...] [--bin build/release/bin] [--folder FOLDER: where the stores are kept]

Prints a line a measurement, with its bound and ok or MISSED: a page opens within 1 s, filter and sort within 100 ms,
95 % of frames within 16 ms, at most 1 GiB resident. Wants Xvfb."""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SHAPES = {"runs": "10,000 runs x 2,000 keys", "live": "50 runs x 2,000 points x 12 metrics",
          "metrics": "79 runs x 2,261 metrics", "long": "one run of 10,000,000 samples",
          "spans": "one step of 1,000,000 spans over 64 ranks"}
PAGE_MS, ANSWER_MS, FRAME_MS, RESIDENT_MIB = 1000, 100, 16, 1024


@contextlib.contextmanager
def x_server():
    """An X server of its own; yields its display."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "2560x1440x24", "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        if not number:
            sys.exit("scale_bench: Xvfb did not start")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def forget(store):
    """Drops the store's pages from the system's memory, so that the next reader reads the disk."""
    for file in [store, f"{store}-wal"]:
        if os.path.exists(file):
            fd = os.open(file, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def judge(entry):
    """(text, whether the bound holds) of a measurement."""
    if entry.get("missing"):
        return "MISSING", False
    if "mib" in entry:
        return f"{entry['mib']:.0f} MiB (at most {RESIDENT_MIB:,})", entry["mib"] <= RESIDENT_MIB
    if "p95_ms" in entry:
        return (f"p50 {entry['p50_ms']:.1f}, p95 {entry['p95_ms']:.1f} ms (at most {FRAME_MS}), longest "
                f"{entry['max_ms']:.1f}, {entry['frames']} frames"), entry["p95_ms"] <= FRAME_MS
    bound = PAGE_MS if entry["what"].startswith(("open", "window")) else ANSWER_MS
    return (f"{entry['ms']:.0f} ms (at most {bound:,}), longest event {entry['longest_event_ms']:.0f}",
            entry["ms"] <= bound)


def measure(program, shape, store, display):
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, DISPLAY=display, QT_QPA_PLATFORM="xcb", QT_SCALE_FACTOR="1",
                           XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home)
        done = subprocess.run([program, shape, store], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"scale_bench: {program} {shape} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=", ".join(SHAPES))
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--folder", default=None)
    wanted = parser.parse_args()
    for shape in wanted.shapes:
        if shape not in SHAPES:
            parser.error(f"no shape '{shape}'; valid: {', '.join(SHAPES)}")
    program = str(pathlib.Path(wanted.bin, "scale_window").resolve())
    misses = 0
    with contextlib.ExitStack() as stack:
        folder = wanted.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="scale-"))
        os.makedirs(folder, exist_ok=True)
        display = stack.enter_context(x_server())
        for shape in wanted.shapes or SHAPES:
            store = os.path.join(folder, f"{shape}.sqlite")
            subprocess.run([program, shape, store, "--fill"], check=True)
            print(f"{SHAPES[shape]}: {os.path.getsize(store) / 2**20:,.0f} MiB", flush=True)
            for state in ["cold", "warm"]:
                if state == "cold":
                    forget(store)
                for entry in measure(program, shape, store, display):
                    text, holds = judge(entry)
                    misses += not holds
                    print(f"  {state}  {entry['what']:34} {'ok    ' if holds else 'MISSED'} {text}", flush=True)
    print(f"{misses} missed")
    return misses > 0


if __name__ == "__main__":
    sys.exit(main())
