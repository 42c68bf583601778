#!/usr/bin/env python3
"""The test cases of the tree, one Class.function a line, or those that it lost since a commit.

  tests/list_cases.py [COMMIT]           of the working tree, or of COMMIT
  tests/list_cases.py --lost COMMIT      cases of COMMIT that the working tree lacks; exits with 1 if there are any
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLASS = re.compile(r"^class (\w+)(?: final)? : public \w+[^{]*\{$(.*?)^\};$", re.M | re.S)
SLOTS = re.compile(r"^ private Q_SLOTS:\n(.*?)(?=^ (?:public|protected|private|Q_SIGNALS)[^\n]*:$|\Z)", re.M | re.S)
SLOT = re.compile(r"^  void\s+(\w+)\(\)", re.M)
HELPERS = {"initTestCase", "cleanupTestCase", "init", "cleanup"}


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout


def sources(commit):
    """The texts of the test files of `commit`, of the working tree where there is none."""
    if not commit:
        for path in sorted((ROOT / "tests").rglob("*_test.cpp")):
            yield path.read_text()
        return
    for path in git("ls-tree", "-r", "--name-only", commit, "tests").split():
        if path.endswith("_test.cpp"):
            yield git("show", f"{commit}:{path}")


def cases(commit=None):
    found = collections.Counter()
    for text in sources(commit):
        for name, body in CLASS.findall(text):
            for slots in SLOTS.findall(body):
                found.update(
                    f"{name}.{slot}"
                    for slot in SLOT.findall(slots)
                    if slot not in HELPERS and not slot.endswith("_data")
                )
    return found


def main(arguments):
    if arguments[:1] == ["--lost"] and len(arguments) == 2:
        lost = cases(arguments[1]) - cases()
        print("\n".join(sorted(lost.elements())) if lost else "No case is lost.")
        return 1 if lost else 0
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    print("\n".join(sorted(cases(*arguments).elements())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
