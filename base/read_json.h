// JSON and CBOR from outside: the one way to read them, within a budget. Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

namespace heddle {

/// The value of a JSON text. An error says what is wrong and at which byte: bytes that are no JSON,
/// a number that no double holds (1e999), a name that appears twice in an object, or more than the
/// budget, of which a list or an object takes two; nothing beyond it is built.
Result<nlohmann::json> read_json(std::string_view text, const Budget& budget = {});

/// Only these members of an object: all others are read and counted, but not built.
Result<nlohmann::json> read_json_members(std::string_view text,
                                         std::span<const std::string_view> names,
                                         const Budget& budget = {});

/// The value in a regular file. Errors begin with its path.
Result<nlohmann::json> read_json_file(const std::string& path, const Budget& budget = {});

/// The value of CBOR bytes: numbers, texts, flags, null, lists and maps of known length, as Heddle
/// writes them.
Result<nlohmann::json> read_cbor(std::string_view bytes, const Budget& budget = {});

/// Whether `read_cbor` will take them: for who writes what others read.
Result<> check_cbor(std::string_view bytes, const Budget& budget = {});

}  // namespace heddle
