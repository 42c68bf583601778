// The script's lines as facts, and how checks are made of them: for the judges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/probe/report.h"

namespace heddle::probe {

inline constexpr int64_t kGiB = int64_t{1} << 30;

/// Values by key. Several values of one key keep the script's order.
using Facts = std::multimap<std::string, std::string>;

/// The first of a key; empty where there is none.
std::string text_of(const Facts& facts, const std::string& key);
std::optional<int64_t> number_of(const Facts& facts, const std::string& key);
std::vector<std::string> all_of(const Facts& facts, const std::string& key);

/// "79.6 GiB"
std::string size_text(int64_t bytes);
std::string trimmed(const std::string& text);
/// The first `count` words between commas, the last one with all that follows; trimmed.
std::vector<std::string> words_of(const std::string& line, size_t count);

/// Below `fails` it fails, below `warns` it warns.
struct Least {
  double fails;
  double warns;
  Status of(double value) const;
};

/// The advice belongs to what does not pass.
Check check(const std::string& name, Status status, const std::string& value,
            const std::string& advice);
Check unknown(const std::string& name, const std::string& advice);
Check limit(const Facts& facts, const std::string& key, const std::string& name, Least least,
            const std::string& advice, const char* unit = "");

/// The GPUs of the node, and what is to be said of them: of the driver, of who uses them, of the
/// ways between them. `fault`: why runs cannot use them.
struct GpuFindings {
  std::vector<Gpu> gpus;
  std::vector<Check> checks;
  std::string fault;
};
GpuFindings judge_gpus(const Facts& facts);

}  // namespace heddle::probe
