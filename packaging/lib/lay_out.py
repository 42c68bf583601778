"""usage: lay_out.py LOCK VARIANT TARGET

Lays out in TARGET what LOCK says of each wheel for VARIANT (cpu or cuda). TARGET appears whole or
not at all; one that this lock file made already is left as it is."""

import hashlib
import shutil
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

STAMP = ".made-from"


def stamp(lock, variant):
    return f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {variant}\n"


def up_to_date(target, lock, variant):
    """What was made for cuda serves cpu too."""
    try:
        found = (target / STAMP).read_text()
    except OSError:
        return False
    return found in (stamp(lock, variant), stamp(lock, "cuda"))


def unpack(wheel, take, target):
    """Each member that starts with a key of `take` goes to the key's value plus the rest."""
    used = set()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            for prefix, place in take.items():
                if member.is_dir() or not member.filename.startswith(prefix):
                    continue
                used.add(prefix)
                path = target / (place + member.filename[len(prefix) :])
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, open(path, "wb") as out:
                    shutil.copyfileobj(source, out, 1 << 20)
                if member.external_attr >> 16 & 0o111:
                    path.chmod(0o755)
    for prefix in take.keys() - used:
        raise wheels.FetchError(f"{wheel}: holds no {prefix}, which the lock file asks for")


def make(lock, variant, target):
    downloads = target.parent / "downloads"
    temporary = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=target.parent))
    try:
        with wheels.Index(downloads) as index:
            for wheel in tomllib.loads(lock.read_text())["wheel"]:
                take = wheel.get("take", {}) | (wheel.get("take_cuda", {}) if variant == "cuda" else {})
                if take:
                    path = index.fetch(wheel["file"], wheel["sha256"], wheel["bytes"])
                    unpack(path, take, temporary)
        (temporary / STAMP).write_text(stamp(lock, variant))
        temporary.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    shutil.rmtree(downloads, ignore_errors=True)


def main():
    lock, variant, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    if up_to_date(target, lock, variant):
        return 0
    global wheels  # pip takes 0.3 s to import: only when there is something to fetch
    import wheels

    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        make(lock, variant, target)
    except wheels.FetchError as error:
        print(f"heddle: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"heddle: {error.filename or target}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("heddle: stopped; run this again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
