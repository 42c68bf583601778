// Recipe text to data and back. Every fault is one line a user can act on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/recipe/limits.h"
#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// One fault of a recipe. `str()` is the line that every command prints:
/// `FILE:LINE:COLUMN: key: what is wrong; valid: …` (`did you mean …`).
struct Fault {
  std::string file;
  int line = 0;     // 1-based; 0: no line of a file (a --set, a file that cannot be read)
  int column = 0;   // 1-based
  std::string key;  // dotted, as in "parallelism.tp"; empty for a syntax error
  std::string what;
  std::string valid;       // may be empty
  std::string suggestion;  // what was probably meant; may be empty
  std::string str() const;
};

/// Where a key's value is written.
struct Place {
  std::string file;  // "--set" for what came from there
  int line = 0;
  int column = 0;
};

/// A recipe that parsed, or all its faults. When there are faults, `recipe` holds what could be
/// read.
struct Parsed {
  Recipe recipe;
  std::vector<Fault> faults;  // by line
  std::string file;
  /// Every key that is written, with its place; elements of lists as "wrapping.buckets[0][1]".
  std::map<std::string, Place> places;
  bool ok() const { return faults.empty(); }
};

/// Parses TOML text. `file` names it in faults. `sets` are `key=value` from --set, applied on top
/// (TOML values; a bare word is taken as a string). Presets are applied; unknown keys suggest the
/// nearest. Checks types and ranges, not what depends on ranks or files: that is `resolve`.
Parsed parse(std::string_view text, const std::string& file,
             const std::vector<std::string>& sets = {});

/// Reads a file and parses it. Paths inside are made absolute against the file's folder.
Parsed parse_file(const std::string& path, const std::vector<std::string>& sets = {});
/// The same of a file that a user names, which may be a pipe.
Parsed parse_named_file(const std::string& path, const std::vector<std::string>& sets = {});

/// Makes the recipe's paths absolute against a folder. Absolute ones stay, empty ones too.
void resolve_paths(Recipe& recipe, const std::string& folder);

/// Fills what depends on the number of ranks (dp_shard -1, global_batch 0, n_kv_heads …) and checks
/// what depends on more than one key (what must be given, factorisation, divisibility, bucket names
/// against the model's modules). `ranks` 0: the recipe's own `hardware.ranks`. Does not touch the
/// file system. Faults point at the lines they come from; `parsed` keeps its own, and they are not
/// repeated.
Parsed resolve(const Parsed& parsed, int64_t ranks = 0);

/// Features of a resolved recipe that `train` cannot execute yet; planning can.
std::vector<Fault> unsupported(const Parsed& resolved);

/// The canonical TOML text: only keys that differ from their default (and from the preset), in the
/// design's order. parse(to_toml(r)).recipe == r.
std::string to_toml(const Recipe& recipe);

/// The text with one key set (or, with an empty value, removed), everything else (comments, order,
/// layout) untouched: how a form's field edits a recipe. `value` is TOML source, as in "\"auto\""
/// or "8". Fails, with the reason, on text that is no TOML, a value that is none, and `override` (a
/// list of tables).
Result<std::string> with_key(const std::string& text, const std::string& key,
                             const std::string& value);

/// The text with other exceptions by module, the rest untouched; exceptions that stay as they are
/// keep their lines.
Result<std::string> with_overrides(const std::string& text, const std::vector<Override>& wanted);

/// How a stepper goes from one value to the next: 7 to 8, 8 to 16, or 200 to 300 (the leading
/// digit).
enum class Step { one, doubling, digit };

/// One key in words for people and in what a form needs.
struct KeyInfo {
  std::string key;       // dotted
  std::string type;      // "integer", "number", "string", "boolean", "list", "table"
  std::string fallback;  // TOML source of the default
  std::string valid;     // words, as in "fp32 | bf16" or "1 or more"
  std::vector<std::string> choices = {};  // the words of `valid`, where there are only these
  double low = 0, high = 0;               // of an integer or number

  std::string group = {};               // the form's, as in "Training"
  std::string label = {};               // "batch a rank"
  std::string unit = {};                // "sequences"; empty: none, or its choices say it
  std::string help = {};                // a sentence or two
  bool often = false;                   // in sight before its group is unfolded
  bool drawn = false;                   // edited in the picture of the model, not by a field
  std::string zero = {};                // what 0 (or, of low -1, -1) means: "auto", "never"
  std::vector<std::string> names = {};  // of the choices, for people; empty: the words themselves
  std::string files = {};               // of a path: "*.txt *.jsonl", "/" for folders
  Step step = Step::digit;
  std::string graph = {};  // the first pass that makes it part of the graph; empty: none does
  std::vector<std::string> optimizers = {};  // that have it; empty: all
};

/// All keys in the design's order: for forms, completion, docs/recipe.md and `did you mean`.
const std::vector<KeyInfo>& keys();
/// One of them; null: there is no such key.
const KeyInfo* find_key(std::string_view key);
/// Whether a recipe has the key: not another optimizer's.
bool applies(const KeyInfo& info, const Recipe& recipe);
/// The form's groups, in its order, and the keys of one of them, in its order too.
const std::vector<std::string>& groups();
std::vector<const KeyInfo*> keys_of(std::string_view group);

/// Flat (dotted key, TOML value) pairs of everything that is set or defaulted, without keys that
/// only other optimizers have.
std::vector<std::pair<std::string, std::string>> flatten(const Recipe& recipe);

/// A key with another value in TOML; empty where a recipe has no such key.
struct Change {
  std::string key, before, now;
};
/// The difference of two recipes.
std::vector<Change> changes(const Recipe& before, const Recipe& now);

}  // namespace heddle::recipe
