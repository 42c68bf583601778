"""A run of two ranks on either side of a slow link, each side a network namespace (root)."""
import json, os, secrets, subprocess, sys, tomllib


def with_sets(text, sets):
    """A recipe's text with `--set`s of the form section.key=value in it."""
    recipe = tomllib.loads(text)
    for each in sets:
        name, value = each.split("=", 1)
        section, key = name.split(".", 1)
        recipe.setdefault(section, {})[key] = tomllib.loads(f"value = {value}")["value"]
    return "\n".join(f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
                     for section, keys in recipe.items())


def private(path, flags):
    """For open(): a file that nobody else reads."""
    return os.open(path, flags, 0o600)


def across(build, slow_link, rate, folder, text):
    """The results of training by that recipe, a rank and a core on each side; run directories in `folder`."""
    sides = []
    with open(f"{folder}/secret", "w", opener=private) as file:
        file.write(secrets.token_hex(32))
    for rank in range(2):
        side = f"{folder}/{rank}"
        os.mkdir(side)
        with open(f"{side}/recipe.toml", "w") as file:
            file.write(text)
        with open(f"{side}/launch.json", "w") as file:
            json.dump({"run": "bench", "mode": "planned", "world_size": 2, "first_rank": rank,
                       "local_ranks": 1, "rendezvous_host": "10.77.0.1", "rendezvous_port": 4712,
                       "epoch": 0, "eval_to": "", "graph_file": "", "grace_seconds": 60.0}, file)
        engine = f"{build}/heddle-engine supervise --secret-stdin --run-dir {side} < {folder}/secret"
        wait = f"until [ -e {side}/end.json ]; do sleep 2; done; cat {side}/rank-*.err >&2"
        # Both hosts are this machine: a core each.
        sides.append(f"taskset -c {rank} {engine} && {wait}")
    done = subprocess.run(["bash", slow_link, rate] + sides, capture_output=True, text=True)
    if done.returncode != 0 or not os.path.exists(f"{folder}/0/results.json"):
        sys.exit(f"Heddle's run across the link ended without results:\n{done.stderr[-2000:]}")
    with open(f"{folder}/0/results.json") as file:
        return json.load(file)
