"""The shape that the benches share with the peer: 29.4 M parameters, 2 x 512 tokens a rank, two ranks."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXT = f"{ROOT}/resources/data/tinyshakespeare.txt"


def recipe(steps, wrapping='mode = "layers"', profile_every=0, text=TEXT):
    return f"""
[model]
dim = 512
n_layers = 8
n_heads = 8
n_kv_heads = 4
ffn_dim = 1536
vocab_size = 4096
[data]
text = ["{text}"]
tokenizer = "{ROOT}/resources/data/tokenizer.json"
seq_len = 512
[training]
steps = {steps}
local_batch = 2
[wrapping]
{wrapping}
[checkpoint]
enabled = false
[telemetry]
profile_every = {profile_every}
[hardware]
ranks = 2
"""
