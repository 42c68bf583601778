#!/usr/bin/env python3
"""Beside TensorBoard: how long until a chart has all of its points, from the start of the program, on the same data: one
run of 10 million samples, and 50 runs x 200 metrics x 1,000 steps.

  tests/bench/tensorboard_bench.py --python PYTHON [long|many]... [--bin build/release/bin] [--folder FOLDER]

PYTHON has tensorboard (with tensorboard-data-server), google-crc32c and numpy. TensorBoard is asked for its data alone:
when its server has every point of the chart (`--samples_per_plugin` covers all); a browser's drawing would come on top.
Heddle is timed in its real window on an X server of its own until the chart is drawn: with its store filled, and with the import
of the same data as CSV before. Prints both and the ratio (at least 10). Files are read warm by both."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from scale_bench import x_server

SHAPES = {"long": (1, 5_000_000, 2), "many": (50, 1_000, 200)}  # runs, steps, metrics


def names(metrics):
    return ["loss", "tokens_per_second"][:metrics] + [f"metric.{i}" for i in range(2, metrics)]


def values(step, metrics, noise):
    loss = 2 + 6 / math.sqrt(1 + step / 50)
    return [loss * (1 + noise.random() * 0.1) for _ in range(metrics)]


def write_events(folder, steps, metrics, seed):
    """An event file as TensorBoard's writers make it: framed protocol buffers, an event a step."""
    import google_crc32c

    def masked(data):
        crc = google_crc32c.value(data)
        return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF

    def varint(number):
        out = bytearray()
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
        return bytes(out)

    def field(number, data):
        return bytes([number << 3 | 2]) + varint(len(data)) + data

    def frame(data):
        size = struct.pack("<Q", len(data))
        return size + struct.pack("<I", masked(size)) + data + struct.pack("<I", masked(data))

    noise = random.Random(seed)
    tags = [field(1, name.encode()) for name in names(metrics)]
    os.makedirs(folder)
    with open(os.path.join(folder, "events.out.tfevents.1780000000.host"), "wb", buffering=1 << 22) as out:
        out.write(frame(b"\x09" + struct.pack("<d", 1.78e9) + field(3, b"brain.Event:2")))
        for step in range(1, steps + 1):
            summary = b"".join(field(1, tag + b"\x15" + struct.pack("<f", value))
                               for tag, value in zip(tags, values(step, metrics, noise)))
            out.write(frame(b"\x09" + struct.pack("<d", 1.78e9 + step) + b"\x10" + varint(step) + field(5, summary)))


def write_csv(file, steps, metrics, seed):
    noise = random.Random(seed)
    with open(file, "w", buffering=1 << 22, encoding="utf-8") as out:
        out.write(",".join(["step"] + names(metrics)) + "\n")
        for step in range(1, steps + 1):
            out.write(f"{step}," + ",".join(f"{value:.6g}" for value in values(step, metrics, noise)) + "\n")


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def time_tensorboard(python, logs, runs, steps):
    """Seconds from its start until it has all points of every run's loss."""
    port = free_port()
    began = time.monotonic()
    server = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", logs, "--port", str(port), "--host",
                               "127.0.0.1", "--load_fast", "true", "--samples_per_plugin", f"scalars={steps}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        waiting = set(runs)
        while waiting and time.monotonic() - began < 1800:
            for run in sorted(waiting):
                query = urllib.parse.urlencode({"run": run, "tag": "loss"})
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugin/scalars/scalars?{query}") as answer:
                        got = len(json.load(answer))
                except OSError:
                    time.sleep(0.05)
                    break
                if got < steps:
                    break
                waiting.discard(run)
            time.sleep(0.02)
        if waiting:
            sys.exit("tensorboard_bench: TensorBoard has not loaded all points in half an hour")
        return time.monotonic() - began
    finally:
        server.terminate()
        server.wait()


def time_heddle(binaries, page, store, display, home):
    """Seconds from its start until the page is drawn."""
    environment = dict(os.environ, DISPLAY=display, QT_QPA_PLATFORM="xcb", XDG_CONFIG_HOME=home, XDG_DATA_HOME=home)
    began = time.monotonic()
    window = subprocess.Popen([os.path.join(binaries, "scale_window"), "--open", page, store], env=environment,
                              stdout=subprocess.PIPE, text=True)
    quiet = 0.0
    for line in window.stdout:
        if line.startswith("{") and json.loads(line)["what"] == f"open {page}":
            quiet = json.loads(line)["quiet_ms"] / 1e3
            break
    taken = time.monotonic() - began - quiet
    window.wait()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="long, many")
    parser.add_argument("--python", required=True)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write-events", nargs=4, help=argparse.SUPPRESS)  # by PYTHON, which has the checksum
    wanted = parser.parse_args()
    if wanted.write_events:
        folder, steps, metrics, seed = wanted.write_events
        return write_events(folder, int(steps), int(metrics), int(seed))
    binaries = str(pathlib.Path(wanted.bin).resolve())
    misses = 0
    with contextlib.ExitStack() as stack:
        folder = wanted.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="tensorboard-"))
        display = stack.enter_context(x_server())
        for shape in wanted.shapes or SHAPES:
            runs, steps, metrics = SHAPES[shape]
            logs, tables = os.path.join(folder, shape, "logs"), os.path.join(folder, shape, "csv")
            if not os.path.exists(tables):
                shutil.rmtree(os.path.join(folder, shape), ignore_errors=True)
                os.makedirs(logs)
                for run in range(runs):
                    subprocess.run([wanted.python, __file__, "--python", wanted.python, "--write-events",
                                    os.path.join(logs, f"run-{run}"), str(steps), str(metrics), str(run)], check=True)
                os.makedirs(tables + ".part")
                for run in range(runs):
                    write_csv(os.path.join(tables + ".part", f"run-{run}.csv"), steps, metrics, run)
                os.rename(tables + ".part", tables)
            page = "live" if runs == 1 else "compare"
            print(f"{shape}: {runs} runs x {steps:,} steps x {metrics} metrics", flush=True)
            for number in range(wanted.rounds):
                peer = time_tensorboard(wanted.python, logs, [f"run-{run}" for run in range(runs)], steps)
                with tempfile.TemporaryDirectory() as home:
                    store = os.path.join(home, "store.sqlite")
                    began = time.monotonic()
                    environment = dict(os.environ, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, QT_QPA_PLATFORM="offscreen")
                    subprocess.run([os.path.join(binaries, "heddle"), "--store", store, "import"] +
                                   [os.path.join(tables, f"run-{run}.csv") for run in range(runs)],
                                   env=environment, check=True, stdout=subprocess.DEVNULL)
                    importing = time.monotonic() - began
                    ours = time_heddle(binaries, page, store, display, home)
                without, after = peer / ours, peer / (importing + ours)
                misses += (without < 10) + (after < 10)
                print(f"  round {number + 1}: TensorBoard {peer:.2f} s, Heddle {ours:.2f} s ({without:.1f} times as fast), with import of "
                      f"{importing:.2f} s {after:.1f} times; at least 10: "
                      f"{'ok' if without >= 10 else 'MISSED'}, {'ok' if after >= 10 else 'MISSED'}", flush=True)
    return misses > 0


if __name__ == "__main__":
    sys.exit(main())
