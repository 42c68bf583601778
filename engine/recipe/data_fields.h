// The keys of [data].
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/schema.h"

namespace heddle::recipe {

inline const std::string kTexts =
    "files (.txt, .jsonl, .json, packed or not, .parquet), folders, patterns";
inline const std::string kTextFiles = "*.txt *.jsonl *.json *.gz *.zst *.parquet";

std::vector<Field> data_fields();

}  // namespace heddle::recipe
