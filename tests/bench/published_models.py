"""Models that published rows name: their sizes, as Llama-shaped as a recipe can say them.

A model whose feed-forward has two matrices and not three is given a third of the width more in two: ffn_dim is
2/3 of its own, which leaves parameters and products as they are.
"""
import re

# dim, layers, heads, kv heads, ffn_dim, vocabulary, tied embeddings
_TWO = lambda dim, layers, heads, vocabulary, tied: (dim, layers, heads, heads, round(8 * dim / 3 / 256) * 256, vocabulary, tied)
MODELS = {
    "llama3-1b": (2048, 16, 32, 8, 8192, 128256, True), "llama3-3b": (3072, 28, 24, 8, 8192, 128256, True),
    "llama3-8b": (4096, 32, 32, 8, 14336, 128256, False), "llama3-70b": (8192, 80, 64, 8, 28672, 128256, False),
    "llama3-405b": (16384, 126, 128, 8, 53248, 128256, False),
    "llama2-7b": (4096, 32, 32, 32, 11008, 32000, False), "llama2-13b": (5120, 40, 40, 40, 13824, 32000, False),
    "llama2-34b": (8192, 48, 64, 8, 22016, 32000, False), "llama2-70b": (8192, 80, 64, 8, 28672, 32000, False),
    "mpt-125m": _TWO(768, 12, 12, 50368, True), "mpt-350m": _TWO(1024, 24, 16, 50368, True),
    "mpt-760m": _TWO(1536, 24, 12, 50368, True), "mpt-1b": _TWO(2048, 24, 16, 50368, True),
    "mpt-3b": _TWO(2560, 32, 20, 50368, True), "mpt-7b": _TWO(4096, 32, 32, 50368, True),
    "mpt-13b": _TWO(5120, 40, 40, 50368, True), "mpt-30b": _TWO(7168, 48, 56, 50368, True),
    "mpt-70b": _TWO(8192, 80, 64, 50368, True),
    "gpt3-5b": _TWO(4096, 24, 32, 51200, True), "gpt3-20b": _TWO(6144, 44, 48, 51200, True),
    "gpt3-175b": _TWO(12288, 96, 96, 51200, True), "gpt-1.7b": _TWO(2048, 24, 16, 131072, True),
    "gpt-16b": _TWO(6144, 32, 48, 131072, True), "gpt-70b": _TWO(8192, 84, 64, 131072, True),
    "gpt-177b": _TWO(12288, 96, 96, 131072, True), "gpt-462b": _TWO(18432, 112, 144, 131072, True),
    "nemotron-22b": _TWO(6144, 40, 48, 256000, False), "nemotron4-15b": (6144, 32, 48, 8, 16384, 256000, False),
    "nemotron4-340b": (18432, 96, 96, 8, 49152, 256000, False),
    "olmo-1b": (2048, 16, 16, 16, 8192, 50304, True), "olmo-7b": (4096, 32, 32, 32, 11008, 50304, False),
    "olmo-13b": (5120, 40, 40, 40, 13824, 100352, False),
    "qwen3-8b": (4096, 36, 32, 8, 12288, 151936, False), "qwen3-14b": (5120, 40, 40, 8, 17408, 151936, False),
    "qwen3-32b": (5120, 64, 64, 8, 25600, 151936, False), "qwen2.5-7b": (3584, 28, 28, 4, 18944, 152064, False),
    "qwen2.5-14b": (5120, 48, 40, 8, 13824, 152064, False), "qwen2.5-32b": (5120, 64, 40, 8, 27648, 152064, False),
    "qwen2.5-72b": (8192, 80, 64, 8, 29568, 152064, False), "mistral-7b": (4096, 32, 32, 8, 14336, 32000, False),
    "llama-1.34b": (2048, 16, 32, 32, 8192, 131072, True), "llama-3.57b": (3072, 28, 32, 32, 8192, 131072, True),
    "llama-8.86b": (4096, 32, 32, 32, 14336, 131072, False),
}


def model_of(name):
    """The sizes of a model by the name that a source gives it, or None."""
    key = re.sub(r"[\s_]+", "-", name.strip().lower())
    if key in MODELS:
        return MODELS[key]
    key = key.replace("meta-", "").replace("llama-3", "llama3").replace("llama-2", "llama2").replace("gpt-3", "gpt3")
    key = re.sub(r"^llama3\.\d", "llama3", key).replace("llama3-1-", "llama3-")
    key = re.sub(r"-(instruct|base|hf|v\d.*)$", "", key)
    return MODELS.get(key, MODELS.get(key.replace("llama3", "llama3-").replace("llama2", "llama2-").replace("--", "-")))
