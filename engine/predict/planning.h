// From a recipe's text to its predicted plan: what `plan` and `plan --serve` do for each request.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/plan/document.h"
#include "engine/predict/machine.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture_memory.h"

namespace heddle::predict {

struct PlanRequest {
  std::string text;  // TOML
  std::string file;  // names it in faults; relative paths start at its folder
  std::vector<std::string> sets;
  int64_t ranks = 0;     // 0: the recipe's own
  std::string hardware;  // empty: the recipe's
  std::string executor = "heddle";
  OtherNumbers numbers = {};  // of the catalogue, changed
  bool timeline = false;
  bool closes = true;         // where the plan does not fit: with what would close it
  bool awaits_speed = false;  // of this machine: looks first at how fast it is now, half a second
};

/// A plan; or what is wrong with the recipe; or why it cannot be planned.
using PlanAnswer = std::variant<plan::Document, std::vector<recipe::Fault>, Error>;

/// Remembers what it has captured and read: a recipe that differs in how it is planned alone is
/// not captured again. One thread at a time.
class Planning {
 public:
  /// Reports all faults of `train` in the same words, but data may still be missing,
  /// and files that are named need not be there.
  /// `cancelled` is asked now and then; the error is kCancelled then.
  PlanAnswer answer(
      const PlanRequest& request, const std::function<bool()>& cancelled = [] { return false; });

  /// The recipe that is asked for, resolved, with its vocabulary's size; or its faults.
  recipe::Parsed read(const PlanRequest& request);

 private:
  PlanAnswer planned(const PlanRequest& request, const recipe::Parsed& parsed,
                     const std::function<bool()>& cancelled);
  Result<int64_t> vocabulary(const recipe::Recipe& recipe);

  /// The recipe that is being edited, and variants of it.
  static constexpr size_t kMaxCaptured = 12;

  step::CaptureMemory captured_{kMaxCaptured};
  /// By tokenizer, its time and the model's rows.
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> vocabulary_;
};

/// The fault of ranks that are more than a node of the machine has, and do not fill nodes alike.
std::optional<recipe::Fault> partly_filled_node(const recipe::Parsed& parsed,
                                                const Machine& machine);

}  // namespace heddle::predict
