"""Published rows as what `heddle-engine plan` is asked: a recipe, a program, hardware; and what was measured.

Two kinds of table: a sweep (a column `outcome`), and single rows (a column `framework`). What a row does not say is
assumed, and the assumption kept; a row that cannot be right is skipped, with line and column.
"""
import csv, math

from published_models import model_of

GPUS = {  # a substring of what sources say, lower case: the node's name, and the largest memory that it can reserve
    "h100-96gb": "h100-96gb", "h100-94gb": "h100-96gb", "a100-40": "a100-40", "a100_40": "a100-40", "a100": "a100-80",
    "gb200": "gb200", "gb300": "gb300", "b200": "b200", "b300": "b300", "h200": "h200", "h100": "h100-sxm",
}
PROGRAMS = {  # by what the framework's name begins with
    "nanotron": "nanotron", "nemo": "megatron", "megatron": "megatron", "meta": "fsdp2", "llm-foundry": "fsdp1",
    "yafsdp": "fsdp1", "fms-fsdp": "fsdp2-compiled", "torchtitan": "fsdp2-compiled", "olmo": "fsdp2-compiled",
}
SWEEP = ["dim", "layers", "heads", "ffn", "vocab", "nodes", "gpus", "seq", "mbs", "micro_batches", "dp", "tp", "pp", "zero",
         "outcome"]
ROWS = ["framework", "model", "gpu", "n_gpu", "seq"]


class Skip(Exception):
    """A row that says too little, or what cannot be."""


class Run:
    """One row: `request` for the planner, what was measured, and what had to be assumed."""

    def __init__(self, line):
        self.line, self.assumed, self.request = line, [], {}
        self.tokens = self.memory = self.fits = self.mfu_flops = None
        self.group, self.name, self.judged = None, "", True

    def assume(self, what):
        self.assumed.append(what)


class Cells:
    """A row's cells, by column, as numbers."""

    def __init__(self, line, row):
        self.line, self.row = line, row

    def text(self, column):
        return (self.row.get(column) or "").strip()

    def number(self, column, default=None, least=0.0, most=1e9, whole=False):
        text = self.text(column)
        if text == "":
            if default is None:
                raise Skip(f"{column}: is empty")
            return default
        try:
            value = float(text)
        except ValueError:
            raise Skip(f"{column}: \"{text}\" is no number")
        if not math.isfinite(value) or value < least or value > most or (whole and value != int(value)):
            raise Skip(f"{column}: {text} cannot be; {least:g} to {most:g}{', whole' if whole else ''}")
        return int(value) if whole else value

    def count(self, column, default=None, most=1 << 30):
        return self.number(column, default, 1, most, whole=True)


def nanotron_stages(layers, layer_parameters, head_parameters, pp):
    """Layers of each stage as nanotron cuts them: by parameters, the head counting as much as it has."""
    total, done, stage = layers * layer_parameters + head_parameters, 0, 0
    counts = [0] * pp
    for _ in range(layers):
        counts[min(stage, pp - 1)] += 1
        done += layer_parameters
        if done >= total * (stage + 1) / pp * (1 - 1e-9):
            stage += 1
    return counts


def recipe_of(sizes, keys):
    """A recipe as TOML, of the model's sizes and other keys."""
    dim, layers, heads, kv_heads, ffn, vocabulary, tied = sizes
    keys = {"model.dim": dim, "model.n_layers": layers, "model.n_heads": heads, "model.n_kv_heads": kv_heads,
            "model.ffn_dim": ffn, "model.vocab_size": vocabulary, "model.tied_embeddings": bool(tied),
            "model.max_seq_len": max(8192, keys["data.seq_len"]), "data.token_ids": "tokens", "precision.param": "bf16",
            "hardware.device": "cuda", **keys}

    def written(value):
        if isinstance(value, bool):
            return "true" if value else "false"
        return f'"{value}"' if isinstance(value, str) else str(value)

    return "".join(f"{key} = {written(value)}\n" for key, value in keys.items())


def batch_keys(pp, micro_batch, micro_batches, data_ranks):
    if pp > 1:
        return {"training.local_batch": micro_batch * micro_batches, "parallelism.microbatches": micro_batches}
    return {"training.local_batch": micro_batch, "training.global_batch": micro_batch * micro_batches * data_ranks}


def sweep_run(cells, known):
    """A row of nanotron's sweep."""
    run = Run(cells.line)
    dim, layers, heads = (cells.count(column, most=1 << 20) for column in ("dim", "layers", "heads"))
    ffn, vocabulary, seq = (cells.count(column, most=1 << 24) for column in ("ffn", "vocab", "seq"))
    nodes, gpus, mbs, turns = (cells.count(column, most=1 << 20) for column in ("nodes", "gpus", "mbs", "micro_batches"))
    dp, tp, pp = (cells.count(column, most=1 << 20) for column in ("dp", "tp", "pp"))
    zero = cells.number("zero", 0, 0, 3, whole=True)
    outcome = cells.text("outcome")
    if outcome not in ("ran", "oom"):
        raise Skip(f"outcome: \"{outcome}\" is neither ran nor oom")
    ranks = dp * tp * pp
    per_node = gpus if gpus * nodes == ranks else gpus / nodes
    if gpus not in (ranks, ranks // nodes):
        raise Skip(f"gpus: {gpus} on {nodes} nodes are not dp {dp} x tp {tp} x pp {pp}")
    if dim % heads:
        raise Skip(f"heads: {heads} do not divide dim {dim}")
    shape = (dim, layers)
    kv_heads, tied = cells.count("kv_heads", heads, heads), cells.number("tied", -1, 0, 1, whole=True)
    if cells.text("kv_heads") == "":
        run.assume(f"kv_heads = heads ({heads})")
    if tied < 0:
        tied = int(known.get(shape, "0"))
        run.assume(f"tied = {tied}{', as other rows of that model' if shape in known else ''}")
    if kv_heads < tp:
        run.assume(f"kv_heads = tp ({tp}): each is copied")
        kv_heads = tp
    sizes = (dim, layers, heads, kv_heads, ffn, vocabulary, bool(tied))
    keys = {"data.seq_len": seq, "parallelism.tp": tp, "parallelism.pp": pp, **batch_keys(pp, mbs, turns, dp)}
    keys.update({"parallelism.dp_shard": dp, "parallelism.dp_replicate": 1, "parallelism.dp_shard_states": "optimizer"}
                if zero else {"parallelism.dp_replicate": dp, "parallelism.dp_shard": 1})
    if pp > 1:
        layer = dim * dim * 2 + 2 * dim * dim * kv_heads // heads + 3 * dim * ffn
        counts = nanotron_stages(layers, layer, vocabulary * dim, pp)
        if pp > layers:
            raise Skip(f"pp: {pp} stages for {layers} layers: no recipe says that")
        if min(counts) == 0:
            run.assume("every stage has a layer at least")
            for empty in (stage for stage in range(pp) if counts[stage] == 0):
                counts[max(stage for stage in range(pp) if counts[stage] > 1)] -= 1
                counts[empty] += 1
        keys["parallelism.stage_layers"] = counts
    run.request = {"recipe": recipe_of(sizes, keys), "ranks": ranks, "hardware": "h100-sxm@efa-p5", "executor": "nanotron"}
    run.order = (dim, layers, kv_heads, tp, mbs, seq, pp, turns, dp, zero)
    run.fits = outcome == "ran"
    run.group = (dim, layers, nodes)
    run.name = f"dim {dim} x {layers}, {nodes} nodes, dp {dp} tp {tp} pp {pp} zero {zero}, {turns} x {mbs}"
    if run.fits:
        run.tokens = cells.number("tokens_s_gpu", least=1e-3, most=1e7)
        memory = cells.number("reserved_gb", 0, 0, 1000)
        run.memory = memory * 2**30 if memory else None
        fixed = cells.text("pp_fixed")
        if fixed == "" and pp > 1:
            run.assume("pp_fixed = 1")
        run.judged = pp == 1 or fixed in ("", "1")
    return run


def flops_a_token(framework, sizes, seq, pp):
    """As the source counts them: Megatron's formula, or 6 N with full attention; nanotron's N has both embeddings."""
    dim, layers, heads, kv_heads, ffn, vocabulary, tied = sizes
    if framework.lower().startswith("megatron-lm"):
        return 72 * layers * dim * dim * (1 + seq / (6 * dim) + vocabulary / (12 * dim * layers))
    layer = 2 * dim * dim + 2 * dim * dim * kv_heads / heads + 3 * dim * ffn
    if framework.lower().startswith("nanotron") and (pp > 1 or not tied):
        vocabulary *= 2
    return 6 * (layers * layer + vocabulary * dim) + 12 * layers * dim * seq


def model_family(text):
    return next((family for family in ("llama3", "llama2") if family in text.lower().replace(" ", "")), "?")


def single_run(cells):
    """A row of one of many sources."""
    run = Run(cells.line)
    framework, gpu, notes = cells.text("framework"), cells.text("gpu").lower(), cells.text("notes").lower()
    program = next((value for key, value in PROGRAMS.items() if framework.lower().startswith(key)), None)
    if program is None:
        raise Skip(f"framework: \"{framework}\" is not known")
    if program == "fsdp2-compiled" and "eager" in notes:
        program = "fsdp2"
    if "power limited" in gpu:
        raise Skip("gpu: limited to a power that is not said")
    hardware = next((value for key, value in GPUS.items() if key in gpu), None)
    if hardware is None:
        raise Skip(f"gpu: \"{cells.text('gpu')}\" is not known")
    sizes = model_of(cells.text("model"))
    if sizes is None:
        raise Skip(f"model: \"{cells.text('model')}\" is not known")
    if cells.text("kind") not in ("", "pretrain"):
        raise Skip(f"kind: \"{cells.text('kind')}\" is no pre-training")
    if "best without cp" in notes:
        raise Skip("notes: the layout is not the one of the figure")
    if "seq" in cells.row and program == "nanotron" and cells.text("seq").startswith("("):
        run.assume("seq = 4096")
        seq = 4096
    elif "/" in cells.text("seq"):  # "8192 (Llama3) / 4096 (Llama2)"
        parts = [part for part in cells.text("seq").split("/") if model_family(cells.text("model")) in model_family(part)]
        if len(parts) != 1:
            raise Skip(f"seq: \"{cells.text('seq')}\" does not say which is this model's")
        seq = int(parts[0].split()[0])
    else:
        seq = cells.count("seq", most=1 << 24)
    ranks = cells.count("n_gpu", most=1 << 20)
    tp, pp, cp = cells.count("tp", 1), cells.count("pp", 1), cells.count("cp", 1)
    if ranks % (tp * pp * cp):
        raise Skip(f"n_gpu: {ranks} do not divide by tp {tp} x pp {pp} x cp {cp}")
    dp = ranks // (tp * pp * cp)
    if cells.text("dp") and abs(cells.number("dp") - dp) > 0 and program != "megatron":
        run.assume(f"dp = {dp}: the column says {cells.text('dp')}")
    mbs, turns, batch = cells.text("mbs"), cells.text("ga"), cells.text("gbs")
    if mbs == "" and batch == "":
        raise Skip("mbs: is empty, and so is gbs")
    if mbs == "":
        run.assume("mbs = 1")
    mbs = cells.count("mbs", 1)
    if batch != "" and turns == "":
        turns = max(1, round(cells.number("gbs", least=1) / dp / mbs))
    elif turns == "":
        run.assume(f"gradients are accumulated over {pp if pp > 1 else 1} micro-batches")
        turns = pp if pp > 1 else 1
    else:
        turns = cells.count("ga", 1)
    recompute = cells.text("recompute").lower()
    full = recompute.startswith("full") or "layers" in recompute and not recompute.startswith("0")
    mode = "full" if full else "selective" if "selective" in recompute or "sac" in recompute else "none"
    if recompute == "":
        run.assume("recompute = none")
    if "layers" in recompute and not recompute.startswith("0"):
        run.assume("recompute = full on all layers")
    shard = cells.text("shard").lower()
    keys = {"data.seq_len": seq, "parallelism.tp": tp, "parallelism.pp": pp, "parallelism.cp": cp, "recompute.mode": mode,
            **batch_keys(pp, mbs, turns, dp)}
    if program in ("megatron", "nanotron"):
        if "zero-0" in shard or dp * cp == 1:
            keys.update({"parallelism.dp_replicate": dp, "parallelism.dp_shard": 1})
        elif shard.startswith("fsdp"):
            keys["parallelism.dp_shard"] = dp
        else:
            keys.update({"parallelism.dp_shard": dp, "parallelism.dp_shard_states": "optimizer"})
            if shard == "":
                run.assume("optimizer states are sharded")
    elif "hsdp" in shard and dp % 8 == 0:
        keys.update({"parallelism.dp_replicate": dp // 8, "parallelism.dp_shard": 8})
    else:
        keys["parallelism.dp_shard"] = dp
        if "grad_op" in shard or pp > 1:
            keys["wrapping.reshard_after_forward"] = False
    if framework.lower().startswith("meta"):
        keys.update({"parallelism.dp_shard_states": "all", "wrapping.reshard_after_forward": False})
    if "async" in notes:
        keys["parallelism.async_tp"] = True
    chunks = cells.count("vp", 1, most=1024)
    dim, layers, heads, kv_heads, ffn, vocabulary, tied = sizes
    if pp > 1 and chunks > 1:
        keys["parallelism.pp_schedule"] = "interleaved"
        each = [layers // (pp * chunks)] * (pp * chunks)
        for index in range(layers - sum(each)):
            each[(index + 1) % len(each)] += 1
        if min(each) > 0:
            keys["parallelism.stage_layers"] = each
    precision = cells.text("precision").lower()
    eight = "8" in precision
    if eight:
        keys["precision.float8"] = "rowwise" if "row" in precision else "tensorwise"
        if "mxfp8" in precision:
            run.assume("mxfp8 as fp8 with a scale a tensor")
    if kv_heads < tp:
        run.assume(f"kv_heads = tp ({tp}): each is copied")
        sizes = (dim, layers, heads, tp, ffn, vocabulary, tied)
    if program == "nanotron" or "efa" in notes:
        hardware += "@efa-p5"
    run.request = {"recipe": recipe_of(sizes, keys), "ranks": ranks, "hardware": hardware, "executor": program}
    run.order = (dim, layers, kv_heads, tp, mbs, seq)
    run.name = f"{cells.text('model')}, {ranks} x {cells.text('gpu')}, {framework}, seq {seq}, mbs {mbs} x {turns}, tp {tp} pp {pp} cp {cp}, {mode}, {precision}"
    run.mfu_flops = flops_a_token(framework, sizes, seq, pp)
    if cells.text("tok_s_gpu"):
        run.tokens = cells.number("tok_s_gpu", least=1e-3, most=1e7)
    elif cells.text("iter_ms"):
        run.tokens = turns * mbs * dp * seq / cells.number("iter_ms", least=1e-3) * 1e3 / ranks
    elif cells.text("tflops_gpu"):
        run.assume("tokens/s from TFLOPS by the source's count")
        run.tokens = cells.number("tflops_gpu", least=1, most=1e5) * 1e12 / run.mfu_flops
    elif cells.text("mfu_pct"):
        run.assume("tokens/s from MFU: 6 N with full attention, of 989 TFLOPS")
        run.tokens = cells.number("mfu_pct", least=0.1, most=100) / 100 * 989e12 / run.mfu_flops
    else:
        raise Skip("tok_s_gpu: is empty, and so are iter_ms, tflops_gpu and mfu_pct")
    if cells.text("mem_gib"):
        run.memory = cells.number("mem_gib", least=0.1, most=1000) * 2**30
    run.group = (cells.text("model"), ranks)
    return run


def read(path):
    """The table's runs, and what was skipped: (line, why). Without a column that is needed: SystemExit."""
    try:
        file = open(path, newline="")
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror}")
    with file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or []
        is_sweep = "outcome" in columns
        needed = SWEEP if is_sweep else ROWS
        missing = [column for column in needed if column not in columns]
        if missing:
            raise SystemExit(f"{path}:1: the table has no column {', '.join(missing)}; needed: {', '.join(needed)}")
        rows = [Cells(reader.line_num, row) for row in reader]
    known = {}
    if is_sweep:
        for cells in rows:
            try:
                shape = (cells.count("dim"), cells.count("layers"))
            except Skip:
                continue  # reported below
            if cells.text("tied") in ("0", "1"):
                known.setdefault(shape, cells.text("tied"))
    runs, skipped = [], []
    for cells in rows:
        try:
            runs.append(sweep_run(cells, known) if is_sweep else single_run(cells))
        except Skip as why:
            skipped.append((cells.line, str(why)))
        except (ValueError, TypeError) as error:
            skipped.append((cells.line, f"the row cannot be read: {error}"))
    return runs, skipped
