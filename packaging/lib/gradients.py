"""gradients.py EXPECTED FOUND: two files of `heddle-engine eval`; prints how far their gradients are apart at most (the
difference's norm by the expected one's), of which parameter, and how many there are. Needs torch alone."""

import json
import struct
import sys

import torch

TYPES = {"F32": torch.float32, "BF16": torch.bfloat16}


def gradients(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    return {name: torch.frombuffer(data, dtype=TYPES[entry["dtype"]], offset=entry["data_offsets"][0],
                                   count=max(1, torch.Size(entry["shape"]).numel())).double()
            for name, entry in header.items() if name.startswith("grad.")}


expected, found = gradients(sys.argv[1]), gradients(sys.argv[2])
if expected.keys() != found.keys() or not expected:
    sys.exit(f"the files hold gradients of {len(expected)} and {len(found)} parameters, not of the same ones")
away = {name: ((found[name] - each).norm() / each.norm()).item() for name, each in expected.items()}
worst = max(away, key=away.get)
print(f"{away[worst]} {worst} {len(away)}")
