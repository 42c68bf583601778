"""Finds wheels through pip's configuration and downloads them, continuing where it was cut off."""

import hashlib
import sys
import time
from pathlib import Path
from urllib.request import url2pathname

from pip._internal.commands import create_command
from pip._internal.models.target_python import TargetPython
from pip._vendor.requests import RequestException

TRIES = 5
CHUNK = 1 << 20


class FetchError(Exception):
    """What went wrong, in words for the person at the terminal."""


class Index:
    """The package indexes that pip is configured with: pip.conf, PIP_* variables, find-links."""

    def __init__(self, cache):
        self._command = create_command("index")
        self._options, _ = self._command.parse_args(["versions", "unused"])
        self._cache = Path(cache)

    def __enter__(self):
        self._context = self._command.main_context()
        self._context.__enter__()
        self.session = self._command._build_session(self._options)
        return self

    def __exit__(self, *exception):
        return self._context.__exit__(*exception)

    def find(self, file):
        """The link of the wheel with exactly this file name; local folders come first."""
        project, _, _, _, platforms = file.removesuffix(".whl").split("-")
        target = TargetPython(
            platforms=platforms.split("."),
            py_version_info=(3, 11),
            abis=["cp311"],
            implementation="cp",
        )
        finder = self._command._build_package_finder(
            self._options, self.session, target_python=target, ignore_requires_python=True
        )
        for candidate in finder.find_all_candidates(project.replace("_", "-")):
            if candidate.link.filename == file:
                return candidate.link
        raise FetchError(
            f"{file}: none of the package indexes offers it; "
            "is the network on? `python3 -m pip config list` names the indexes in use"
        )

    def fetch(self, file, sha256, size):
        """The path of the verified wheel."""
        whole = self._cache / file
        if whole.exists():
            # It was whole once; since then a disk, or anybody else, may have changed it.
            try:
                check(whole, file, sha256, size)
                return whole
            except FetchError as error:
                print(f"heddle: {error}; it is downloaded again", file=sys.stderr)
                whole.unlink()
        self._cache.mkdir(parents=True, exist_ok=True)
        link = self.find(file)
        if link.is_file:
            local = Path(url2pathname(link.url_without_fragment.removeprefix("file:")))
            check(local, file, sha256, size)
            return local

        part = self._cache / (file + ".part")
        self._download(link.url_without_fragment, part, file, size)
        try:
            check(part, file, sha256, size)
        except FetchError:
            part.unlink()
            raise
        part.rename(whole)
        return whole

    def _download(self, url, part, file, size):
        progress = Progress(file, size)
        for attempt in range(1, TRIES + 1):
            have = part.stat().st_size if part.exists() else 0
            if have >= size:
                break
            try:
                self._continue(url, part, have, size, progress)
            except RequestException as error:
                if attempt == TRIES:
                    raise FetchError(f"{file}: {error}; run this again to continue") from error
                time.sleep(attempt)
        progress.end()

    def _continue(self, url, part, have, size, progress):
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with self.session.get(url, headers=headers, stream=True) as answer:
            answer.raise_for_status()
            if answer.status_code != 206:  # this server starts over
                have = 0
            with open(part, "ab" if have else "wb") as out:
                for chunk in answer.iter_content(CHUNK):
                    have += len(chunk)
                    if have > size:
                        part.unlink()
                        raise FetchError(f"{url}: sends more than the {size} bytes of the lock file")
                    out.write(chunk)
                    progress.at(have)


class Progress:
    """One line that is rewritten on a terminal; a line every tenth elsewhere."""

    def __init__(self, file, size):
        self._name, self._size = file.split("-")[0], size
        self._shown = -1
        self._step = 1 if sys.stderr.isatty() else 10
        self._end = "\r" if sys.stderr.isatty() else "\n"

    def at(self, have):
        percent = min(100, have * 100 // self._size) // self._step * self._step
        if percent != self._shown:
            self._shown = percent
            line = f"heddle: {self._name}: {have / 1e6:.0f} of {self._size / 1e6:.0f} MB, {percent} %"
            print(line, end=self._end, file=sys.stderr, flush=True)

    def end(self):
        if self._end == "\r":
            print(file=sys.stderr)


def check(path, file, expected, size):
    if not path.is_file():
        raise FetchError(f"{path}: this is no file")
    if path.stat().st_size != size:
        raise FetchError(
            f"{path}: this is not {file}: it has {path.stat().st_size} bytes, the lock file says {size}"
        )
    with open(path, "rb") as wheel:
        found = hashlib.file_digest(wheel, "sha256").hexdigest()
    if found != expected:
        raise FetchError(
            f"{path}: this is not {file}: its SHA-256 is {found}, the lock file says {expected}"
        )
