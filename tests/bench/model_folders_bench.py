#!/usr/bin/env python3
"""Model folders of public shapes, in and out: transformers loads what comes out without a warning.

  <python> model_folders_bench.py --older <python 4.51> [--build build/release/bin] [--keep FOLDER]

<python> has transformers 5, <python 4.51> transformers 4.51; both need torch. Makes a small folder of each shape
(random weights; settings with the keys, special tokens and chat template of the public model), and takes it
through `convert` to a checkpoint and back, and through two steps of training and the run's export. Each folder
that comes out is loaded by both. Required: no warning that the source's tokenizer does not bring; chat template as text, special tokens, their ids and
the generation settings as the source has them; after `convert` alone the same logits to the bit. Minutes.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = "---- next folder"
SAMPLE = [{"role": "user", "content": "To be?"}, {"role": "assistant", "content": "Or not."}]
CHATML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] "
          "+ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
INST = ("{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + "
        "message['content'] + ' [/INST]' }}{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}")
HEADERS = ("{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + "
           "'<|end_header_id|>\\n\\n' + message['content'] + '<|eot_id|>' }}{% endfor %}")
ZEPHYR = "{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message['content'] + eos_token }}{% endfor %}"
SPEAKERS = ("{{ bos_token }}{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n\\n' }}"
            "{% endfor %}")
LLAMA3_ROPE = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 32}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "mscale": 1.0, "mscale_all_dim": 0}

# The public folder's config.json but for its sizes, its tokens, and its other files.
SHAPES = {
    "Llama-2-7b-chat": dict(
        bytes_of="characters", tokens=[], bos="<s>", eos="</s>", template=INST, begins=True,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "max_position_embeddings": 128,
                "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": None,
                "torch_dtype": "float16", "transformers_version": "4.32.0.dev0"},
        tokenizer={"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": True, "add_eos_token": False,
                   "pad_token": None, "unk_token": "<unk>", "sp_model_kwargs": {}},
        generation={"do_sample": True, "max_length": 4096, "pad_token_id": 0, "temperature": 0.6, "top_p": 0.9}),
    "Llama-3.2-1B-Instruct": dict(
        bytes_of="bytes", tokens=["<|begin_of_text|>", "<|end_of_text|>", "<|finetune_right_pad_id|>",
                                  "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>"],
        bos="<|begin_of_text|>", eos="<|eot_id|>", template=HEADERS, begins=True,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False,
                "attention_dropout": 0.0, "mlp_bias": False, "head_dim": 16, "max_position_embeddings": 1024,
                "num_key_value_heads": 2, "rms_norm_eps": 1e-05, "rope_scaling": LLAMA3_ROPE, "rope_theta": 500000.0,
                "tie_word_embeddings": True, "torch_dtype": "bfloat16", "transformers_version": "4.45.0.dev0"},
        tokenizer={"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 131072,
                   "model_input_names": ["input_ids", "attention_mask"]},
        generation={"do_sample": True, "temperature": 0.6, "top_p": 0.9, "stops": ["<|end_of_text|>", "<|eot_id|>"]}),
    "Qwen2.5-0.5B-Instruct": dict(
        bytes_of="bytes", tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>"],
        bos=None, eos="<|im_end|>", template=CHATML, files=True,
        config={"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0,
                "max_position_embeddings": 512, "max_window_layers": 21, "num_key_value_heads": 2,
                "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 512, "tie_word_embeddings": True,
                "torch_dtype": "bfloat16", "transformers_version": "4.43.1", "use_sliding_window": False,
                "bos_token": "<|endoftext|>"},
        tokenizer={"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "add_bos_token": False,
                   "errors": "replace", "model_max_length": 131072, "pad_token": "<|endoftext|>",
                   "split_special_tokens": False, "unk_token": None,
                   "additional_special_tokens": ["<|im_start|>", "<|im_end|>"]},
        generation={"do_sample": True, "repetition_penalty": 1.1, "temperature": 0.7, "top_p": 0.8, "top_k": 20,
                    "stops": ["<|im_end|>", "<|endoftext|>"], "pad": "<|endoftext|>"}),
    "Qwen3-0.6B": dict(
        bytes_of="bytes", tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"],
        bos=None, eos="<|im_end|>", template=CHATML, files=True,
        config={"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "attention_bias": False,
                "attention_dropout": 0.0, "head_dim": 32, "max_position_embeddings": 512, "max_window_layers": 28,
                "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_scaling": None, "rope_theta": 1000000,
                "sliding_window": None, "tie_word_embeddings": True, "torch_dtype": "bfloat16",
                "transformers_version": "4.51.0", "use_sliding_window": False},
        tokenizer={"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "add_bos_token": False,
                   "errors": "replace", "model_max_length": 131072, "pad_token": "<|endoftext|>",
                   "split_special_tokens": False, "unk_token": None},
        generation={"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20,
                    "stops": ["<|im_end|>", "<|endoftext|>"], "pad": "<|endoftext|>"}),
    "Mistral-7B-Instruct-v0.3": dict(
        bytes_of="characters", tokens=["[INST]", "[/INST]"], bos="<s>", eos="</s>", template=INST, begins=True,
        config={"model_type": "mistral", "architectures": ["MistralForCausalLM"], "attention_dropout": 0.0,
                "max_position_embeddings": 512, "num_key_value_heads": 2, "rms_norm_eps": 1e-05,
                "rope_theta": 1000000.0, "sliding_window": None, "tie_word_embeddings": False,
                "torch_dtype": "bfloat16", "transformers_version": "4.42.0.dev0"},
        tokenizer={"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": True, "add_eos_token": False,
                   "unk_token": "<unk>", "spaces_between_special_tokens": False},
        generation={}),
    "TinyLlama-1.1B-Chat": dict(
        bytes_of="characters", tokens=[], bos="<s>", eos="</s>", template=ZEPHYR,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False,
                "max_position_embeddings": 128, "num_key_value_heads": 1, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
                "rope_scaling": None, "rope_theta": 10000.0, "torch_dtype": "bfloat16",
                "transformers_version": "4.35.0"},
        tokenizer={"tokenizer_class": "LlamaTokenizer", "legacy": False, "model_max_length": 2048, "pad_token": "</s>",
                   "padding_side": "right", "unk_token": "<unk>"},
        generation={"max_length": 2048, "pad_token_id": 0}),
    "SmolLM2-135M-Instruct": dict(
        bytes_of="bytes", tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        bos="<|im_start|>", eos="<|im_end|>", template=CHATML, files=True,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False,
                "attention_dropout": 0.0, "is_llama_config": True, "max_position_embeddings": 512, "mlp_bias": False,
                "num_key_value_heads": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": False,
                "rope_scaling": None, "rope_theta": 100000, "tie_word_embeddings": True, "torch_dtype": "bfloat16",
                "transformers_version": "4.42.3"},
        tokenizer={"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False, "model_max_length": 8192,
                   "pad_token": "<|im_end|>", "unk_token": "<|endoftext|>",
                   "additional_special_tokens": ["<|im_start|>", "<|im_end|>"]},
        generation={"pad": "<|im_end|>"}),
    "Yi-1.5-6B-Chat": dict(
        bytes_of="characters", tokens=["<|startoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        bos="<|startoftext|>", eos="<|im_end|>", template=CHATML,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False,
                "attention_dropout": 0.0, "max_position_embeddings": 256, "num_key_value_heads": 2,
                "pretraining_tp": 1, "rms_norm_eps": 1e-06, "rope_scaling": None, "rope_theta": 5000000.0,
                "tie_word_embeddings": False, "torch_dtype": "bfloat16", "transformers_version": "4.40.0"},
        tokenizer={"tokenizer_class": "LlamaTokenizer", "legacy": True, "add_bos_token": False, "add_eos_token": False,
                   "pad_token": "<unk>", "unk_token": "<unk>", "padding_side": "right"},
        generation={"do_sample": True, "temperature": 0.3, "top_p": 0.8, "pad_token_id": 0}),
    "deepseek-llm-7b-chat": dict(
        bytes_of="bytes", tokens=["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"],
        bos="<｜begin▁of▁sentence｜>", eos="<｜end▁of▁sentence｜>", template=SPEAKERS, begins=True, as_objects=True,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False,
                "max_position_embeddings": 128, "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-06,
                "rope_scaling": None, "rope_theta": 10000.0, "torch_dtype": "bfloat16",
                "transformers_version": "4.33.1"},
        tokenizer={"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": True, "add_eos_token": False,
                   "legacy": True, "model_max_length": 4096, "pad_token": "<｜end▁of▁sentence｜>", "unk_token": None,
                   "sp_model_kwargs": {}},
        generation={"do_sample": True, "temperature": 0.7, "top_p": 0.95}),
    "MiniMind2": dict(
        bytes_of="bytes", tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        bos="<|im_start|>", eos="<|im_end|>", template=CHATML, in_file=True,
        config={"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "swish",
                "max_position_embeddings": 512, "num_key_value_heads": 2, "rms_norm_eps": 1e-05,
                "rope_scaling": YARN, "rope_theta": 1000000.0, "tie_word_embeddings": True,
                "torch_dtype": "float16", "transformers_version": "4.57.1"},
        tokenizer={"tokenizer_class": "PreTrainedTokenizerFast", "legacy": True, "model_max_length": 32768,
                   "pad_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "sp_model_kwargs": {},
                   "spaces_between_special_tokens": False},
        generation=None),
}
SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "initializer_range": 0.02, "use_cache": True}


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def added(id, content):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True}


def tokenizer_json(shape):
    """A small tokenizer.json with the public one's special tokens; the id of each."""
    base = "resources/data/tokenizer.json" if shape["bytes_of"] == "bytes" else "tests/fixtures/tokenizers/byte_fallback.json"
    with open(f"{ROOT}/{base}", encoding="utf-8") as file:
        made = json.load(file)
    kept = made["added_tokens"][:3] if shape["bytes_of"] == "characters" else []
    first = max(made["model"]["vocab"].values()) + 1
    made["added_tokens"] = kept + [added(first + i, token) for i, token in enumerate(shape["tokens"])]
    ids = {token["content"]: token["id"] for token in made["added_tokens"]}
    made["post_processor"] = None
    if shape.get("begins"):
        bos = shape["bos"]
        sequence = lambda name, type_id: {"Sequence": {"id": name, "type_id": type_id}}
        special = lambda type_id: {"SpecialToken": {"id": bos, "type_id": type_id}}
        made["post_processor"] = {
            "type": "TemplateProcessing", "single": [special(0), sequence("A", 0)],
            "pair": [special(0), sequence("A", 0), special(1), sequence("B", 1)],
            "special_tokens": {bos: {"id": bos, "ids": [ids[bos]], "tokens": [bos]}}}
    return made, ids


def make(shape, folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoConfig
    from safetensors.torch import save_file
    os.makedirs(folder)
    tokenizer, ids = tokenizer_json(shape)
    rows = max(max(tokenizer["model"]["vocab"].values()), *ids.values()) + 1
    config = {**shape["config"], **SIZES, "vocab_size": (rows + 63) // 64 * 64}
    config.setdefault("hidden_act", "silu")
    config.setdefault("tie_word_embeddings", False)
    for name in ("bos", "eos"):
        if shape[name]:
            config[f"{name}_token_id"] = ids[shape[name]]
    write(f"{folder}/config.json", config)
    write(f"{folder}/tokenizer.json", tokenizer)
    named = lambda token: {k: v for k, v in added(0, token).items() if k not in ("id", "special")}
    as_token = (lambda token: {"__type": "AddedToken", **named(token)}) if shape.get("as_objects") else (lambda token: token)
    settings = {**shape["tokenizer"], "bos_token": shape["bos"] and as_token(shape["bos"]),
                "eos_token": as_token(shape["eos"]), "clean_up_tokenization_spaces": False,
                "added_tokens_decoder": {str(t["id"]): {k: v for k, v in t.items() if k != "id"}
                                         for t in tokenizer["added_tokens"]}}
    if shape.get("in_file"):
        write(f"{folder}/chat_template.jinja", shape["template"])
    else:
        settings["chat_template"] = shape["template"]
    write(f"{folder}/tokenizer_config.json", settings)
    special = {f"{name}_token": named(shape[name]) for name in ("bos", "eos") if shape[name]}
    if isinstance(settings.get("pad_token"), str):
        special["pad_token"] = settings["pad_token"]
    write(f"{folder}/special_tokens_map.json", special)
    if shape.get("files"):
        model = tokenizer["model"]
        write(f"{folder}/vocab.json", model["vocab"])
        pairs = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
        write(f"{folder}/merges.txt", "#version: 0.2\n" + "\n".join(pairs) + "\n")
    if shape["generation"] is not None:
        generation = {k: v for k, v in shape["generation"].items() if k not in ("stops", "pad")}
        if shape["bos"]:
            generation["bos_token_id"] = ids[shape["bos"]]
        generation["eos_token_id"] = [ids[t] for t in shape["generation"].get("stops", [])] or ids[shape["eos"]]
        if "pad" in shape["generation"]:
            generation["pad_token_id"] = ids[shape["generation"]["pad"]]
        write(f"{folder}/generation_config.json", {**generation, "transformers_version": "4.37.0"})
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    tied = config["tie_word_embeddings"]
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()
               if not (tied and name == "lm_head.weight")}, f"{folder}/model.safetensors", metadata={"format": "pt"})


def look(folder):
    """Whatever transformers makes of a folder. Its warnings are on stderr."""
    import torch
    import transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging
    logging.disable_progress_bar()
    logging.warning_once.cache_clear()  # each folder is to bring its own
    as_stored = {"dtype" if transformers.__version__ >= "5" else "torch_dtype": torch.float32}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, **as_stored)
    ids = tokenizer("First Citizen: before we proceed", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(ids).logits
    generation = model.generation_config.to_dict()
    generation.pop("transformers_version", None)
    names = ("bos_token", "eos_token", "pad_token", "unk_token")
    return {"special tokens": {name: getattr(tokenizer, name) for name in names},
            "token ids": {name: getattr(tokenizer, name + "_id") for name in names},
            "of the model": {name: getattr(model.config, name + "_id", None) for name in names[:3]},
            "chat template": tokenizer.chat_template,
            "a chat": tokenizer.apply_chat_template(SAMPLE, tokenize=False),
            "text ids": ids.tolist(), "generation": generation, "class": type(model).__name__,
            "logits": [float(logits.double().sum()), float(logits.double().abs().max())]}


def seen_by(python, folders):
    """For each folder what `look` finds, and the lines of its warnings."""
    done = subprocess.run([python, os.path.abspath(__file__), "--look", *folders], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    warnings = [set(text.split("\n")) - {""} for text in done.stderr.split(MARK + "\n")]
    return zip(map(json.loads, done.stdout.splitlines()), warnings)


def engine(build, *words):
    done = subprocess.run([f"{build}/heddle-engine", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def trained(build, source, folder):
    """Two steps on the source's weights, then the run's own export."""
    write(f"{folder}/recipe.toml", f"""[model]
checkpoint = "{source}"
[data]
text = ["{ROOT}/resources/data/tinyshakespeare.txt"]
tokenizer = "{source}/tokenizer.json"
cache = "{folder}/cache"
seq_len = 64
max_documents = 1
[training]
steps = 2
[checkpoint]
folder = "{folder}/checkpoints"
[hardware]
ranks = 1
device = "cpu"
""")
    engine(build, "train", f"{folder}/recipe.toml")
    engine(build, "convert", f"{folder}/checkpoints", f"{folder}/trained")
    return f"{folder}/trained"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--older", help="a Python with transformers 4.51")
    p.add_argument("--build", default=f"{ROOT}/build/release/bin")
    p.add_argument("--keep", help="an empty folder for all folders")
    p.add_argument("--only", help="a shape")
    p.add_argument("--look", nargs="+", help=argparse.SUPPRESS)
    a = p.parse_args()
    for folder in a.look or []:
        print(json.dumps(look(folder)), flush=True)
        print(MARK, file=sys.stderr, flush=True)
    if a.look:
        return
    work = a.keep or tempfile.mkdtemp()
    missed = 0
    for name, shape in SHAPES.items():
        if a.only and name != a.only:
            continue
        folder = f"{work}/{name}"
        os.makedirs(folder)
        source = f"{folder}/source"
        make(shape, source)
        engine(a.build, "convert", source, f"{folder}/checkpoint")
        engine(a.build, "convert", f"{folder}/checkpoint", f"{folder}/back")
        outputs = {"converted": f"{folder}/back", "trained": trained(a.build, source, folder)}
        for version, python in (("5", sys.executable), ("4.51", a.older)):
            if not python:
                continue
            *found, (before, theirs) = seen_by(python, [*outputs.values(), source])
            for kind, (after, warnings) in zip(outputs, found):
                wrong = [key for key in before if after[key] != before[key] and (key != "logits" or kind == "converted")]
                if warnings - theirs:
                    wrong.append("warns")
                missed += bool(wrong)
                print(f"{name:<26} {version:<5} {kind:<10} {'the same' if not wrong else 'MISSED: ' + ', '.join(wrong)}"
                      + (", and warns as the source does" if warnings & theirs else ""), flush=True)
                for key in wrong:
                    if key in before:
                        print(f"    {key}: {before[key]!r} became {after[key]!r}")
                for line in sorted(warnings):
                    print(f"    {line}")
    if not a.keep:
        shutil.rmtree(work)
    sys.exit(1 if missed else 0)


main()
