#!/usr/bin/env python3
"""Counts the shape of the code, at a commit or in the working tree: packaging/lint.sh --shape [COMMIT].

shape.py --rooms FILE.svg draws the engine's rooms and which uses which.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = (".cpp", ".h", ".cu", ".cuh")
PRODUCT = ("base/", "engine/", "remote/", "storage/", "workbench/", "gui/")

# Clauses that begin a comment, and the words that docs/style.md replaces.
CLAUSES = re.compile(r"(?:^|;\s)\s*//+[<!]?\s*(?:What|Of|Whoever|Those)\b", re.M)
WORDS = {word: re.compile(rf"\b{word}\b") for word in
         ("anew", "stands", "lies", "is told", "those of", "that of", "comes to", "asked of", "held against", "goes by")}
NAMES = re.compile(r"\bk(?:Most|Least)[A-Z]?\w*")

# What one more of a kind has to know: the files that name an example of it.
KINDS = {
    "optimizer (adamw, exp_avg)": re.compile(r"adamw|exp_avg", re.I),
    "mesh axis (cp)": re.compile(r"\bcp\b|\bkCp\b|context_parallel"),
    "target kind (is_this_machine)": re.compile(r"\bis_this_machine\b"),
    "batch system (slurm)": re.compile(r"slurm", re.I),
    "page (lineage)": re.compile(r"lineage", re.I),
}

# The commits that add one of a kind, by their subject, and the most files that they may touch.
PROOFS = [("optimizer", "Optimizer: ", 6), ("metric", "Metric: ", 3), ("importer", "Importer: ", 3)]


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, stdout=subprocess.PIPE).stdout.decode(errors="replace")


def texts(commit):
    """Path and text of each C++ file and README."""
    if commit is None:
        for path in git("ls-files").splitlines():
            if path.endswith(CODE + (".md",)) and os.path.exists(os.path.join(ROOT, path)):
                with open(os.path.join(ROOT, path), errors="replace") as file:
                    yield path, file.read()
        return
    paths = [p for p in git("ls-tree", "-r", "--name-only", commit).splitlines() if p.endswith(CODE + (".md",))]
    asked = "".join(f"{commit}:{path}\n" for path in paths).encode()
    out = subprocess.run(["git", "-C", ROOT, "cat-file", "--batch"], input=asked, check=True,
                         stdout=subprocess.PIPE).stdout
    at = 0
    for path in paths:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        yield path, out[end + 1:end + 1 + size].decode(errors="replace")
        at = end + size + 2


def reached_by(uses):
    """For each room all rooms that it includes, directly or through others."""
    def reached(room):
        seen, todo = set(), [room]
        while todo:
            for other in uses.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
    return {room: reached(room) for room in uses}


def circles(uses):
    """Pairs of the engine's rooms that include each other, directly or through others."""
    reach = reached_by(uses)
    return sorted({tuple(sorted((a, b))) for a in reach for b in reach[a] if a != b and a in reach.get(b, ())})


def write_rooms(path):
    """The engine's rooms as a picture: the order of engine/README.md from the top, an arc for each use that no other implies."""
    with open(os.path.join(ROOT, "engine/README.md")) as file:
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \|$", file.read(), re.M)
    place = {room: index for index, (room, _) in enumerate(rows)}
    uses = set()
    for name, text in texts(None):
        parts = name.split("/")
        if parts[0] == "engine" and len(parts) > 2 and name.endswith(CODE):
            uses |= {(parts[1], room) for room in re.findall(r'#include "engine/(\w+)/', text)
                     if room != parts[1] and room in place and parts[1] in place}
    reach = reached_by({user: {used for other, used in uses if other == user} for user, _ in uses})
    uses = {(user, used) for user, used in uses
            if not any(used in reach.get(between, ()) for other, between in uses if other == user and between != used)}
    step, left, width = 26, 480, 760
    def y(room):
        return 30 + step * place[room]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {40 + step * len(rows)}" '
             'font-family="Inter, sans-serif" font-size="12">',
             f'<rect width="{width}" height="{40 + step * len(rows)}" fill="#ffffff"/>']
    for user, used in sorted(uses, key=lambda pair: (place[pair[0]], place[pair[1]])):
        high, low = sorted((y(user), y(used)))
        bend = left + 14 + (low - high) * 0.62
        lines.append(f'<path d="M{left} {y(user)} Q{bend:.0f} {(high + low) / 2:.0f} {left} {y(used)}" fill="none" '
                     'stroke="#3d6fb4" stroke-opacity="0.6"/>')
    for room, words in rows:
        words = words.replace("`", "").replace("&", "&amp;").replace("<", "&lt;")
        words = words if len(words) < 60 else words[:58] + "…"
        lines.append(f'<circle cx="{left}" cy="{y(room)}" r="4" fill="#1f3b64"/>')
        lines.append(f'<text x="{left - 12}" y="{y(room) + 4}" text-anchor="end" fill="#1c2430">'
                     f'<tspan fill="#6b7686">{words}</tspan><tspan dx="8" font-weight="600">{room}</tspan></text>')
    with open(path, "w") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")


def touched(commit):
    """Files of the product that a commit adds or changes."""
    return [path for path in git("show", "--name-only", "--format=", commit).splitlines()
            if path.startswith(PRODUCT) and path.endswith(CODE + ("CMakeLists.txt",))]


def main():
    if sys.argv[1:2] == ["--rooms"]:
        return write_rooms(sys.argv[2])
    commit = sys.argv[1] if len(sys.argv) > 1 else None
    clauses, words, names, kinds = 0, defaultdict(int), 0, defaultdict(set)
    uses, files, lines, torch, longest = defaultdict(set), 0, 0, 0, 0
    for path, text in texts(commit):
        for word, pattern in WORDS.items():
            words[word] += len(pattern.findall(text))
        if not path.endswith(CODE):
            continue
        files, lines, longest = files + 1, lines + text.count("\n"), max(longest, text.count("\n"))
        clauses += len(CLAUSES.findall(text))
        names += len(NAMES.findall(text))
        torch += bool(re.search(r"#include <(?:ATen|c10|torch)/", text))
        if path.startswith("engine/"):
            for room in re.findall(r'#include "engine/(\w+)/', text):
                if path.count("/") > 1 and room != path.split("/")[1]:
                    uses[path.split("/")[1]].add(room)
        if path.startswith(PRODUCT):
            for kind, pattern in KINDS.items():
                if pattern.search(text):
                    kinds[kind].add(path)
    print(f"C++ files                           {files:6}   lines {lines}, the longest file {longest}")
    print(f"files that include LibTorch         {torch:6}")
    print(f"comments that begin with a clause   {clauses:6}   (What, Of, Whoever, Those)")
    print(f"kMost, kLeast                       {names:6}")
    for word in WORDS:
        print(f"{'“' + word + '”':36}{words[word]:6}")
    pairs = circles(uses)
    print(f"rooms of the engine in a circle     {len({room for pair in pairs for room in pair}):6}   "
          + ", ".join("–".join(pair) for pair in pairs[:8]))
    for kind in KINDS:
        print(f"files that name: {kind:31}{len(kinds[kind]):5}")
    for kind, subject, most in PROOFS:
        found = git("log", "--format=%h %s", f"--grep=^{subject}", "-1", commit or "HEAD").strip()
        if found:
            paths = touched(found.split()[0])
            print(f"files to add one {kind:31}{len(paths):5}   at most {most}; {found}")


if __name__ == "__main__":
    main()
