// Facts about operators that passes, executor and cost look up: one table, an entry a name.
// Heddle's operators are entered next to their kernels, LibTorch's in libtorch_operators.cpp. An
// operator without an entry is refused at capture.
#pragma once

#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::graph {

struct Graph;
struct Node;

/// An operator's role in the step. Collectives come before their `wait`: they start a transfer, and
/// its results may be read once they have been waited for.
enum class Role : uint8_t {
  compute,
  view,  // its results are its first argument's memory seen in another way
  wait,  // its results are what a collective has made
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  shift,    // to the next rank
  send,     // to another pipeline stage
  receive,  // from another pipeline stage
};

/// The fate of a node of a block that is recomputed selectively.
enum class Selective : uint8_t { made_again, kept, every_second_kept };

/// The effect of an operator on a sum over micro-batches, its first argument.
enum class Sum : uint8_t { none, added_to, zeroed };

/// Kinds of floating-point operations: devices are not equally fast at all of them.
enum class Arithmetic : uint8_t { product, float8_product, attention, attention_backward };

/// The work of PyTorch's own operators for one of Heddle's: so many kernels, which read and write
/// so many times the bytes of it.
struct Unfused {
  double bytes = 1, kernels = 1;
};

/// Two operators that one does in one go: `second` reads the first result of `first` as its
/// argument `argument`, a sum as either of its first two. The one takes the arguments of `first`,
/// then the others of `second`; it makes what `second` makes, then what `first` makes, its first
/// result among that or not. The numbers are the same bits.
struct Fuses {
  std::string_view first = {}, second = {};
  size_t argument = 0;
};

/// Where an operator runs.
struct Workplace {
  bool gpu = false;
  int64_t threads = 1;       // of a CPU
  int64_t remote_ranks = 0;  // of a collective's group: on other hosts
  int64_t in_order_on = 0;   // multiprocessors of a GPU that sums in one order; 0: in any
};

struct Traits {
  Role role = Role::compute;
  /// A collective that belongs to a place in the model and is put into no bucket.
  bool of_activations = false;
  /// It works on lists whose elements have nothing to do with each other: a bucket's
  /// modules may become one.
  bool merges = false;
  bool casts = false;  // the same numbers in another type
  bool adds = false;   // its result is the sum of its first two arguments
  Sum sum = Sum::none;
  Selective selective = Selective::made_again;
  /// By result: the arguments whose memory it may take, best first; those that the operator reads
  /// element by element, or row by row, before it writes there.
  std::vector<c10::SmallVector<size_t, 2>> takes = {};
  Fuses fuses = {};

  /// Floating-point operations; none: the bytes that it moves take its time.
  double (*flops)(const Graph&, const Node&) = nullptr;
  Arithmetic arithmetic = Arithmetic::product;
  /// Sizes by which its rate goes, where it has `flops`.
  std::array<int64_t, 3> (*rate_shape)(const Graph&, const Node&) = nullptr;
  /// The operator whose rate is its own; empty: itself.
  std::string_view rate_of = {};
  /// Bytes that it reads and writes; none: all of its arguments and results.
  int64_t (*bytes)(const Graph&, const Node&) = nullptr;
  /// Kernels that a GPU runs for it, where it is no view.
  int kernels = 1;
  /// Done by PyTorch without torch.compile, in bf16.
  Unfused unfused = {};
  /// Bytes that it allocates besides its results, each buffer rounded up to 64; none: nothing.
  /// Workspaces of cuBLAS and cuDNN are not counted.
  int64_t (*scratch)(const Graph&, const Node&, const Workplace&) = nullptr;
};

/// The table's entry of a name.
struct OperatorEntry {
  std::string name = {};
  Traits traits = {};
  bool is_entered = false;  // not only named
};

/// An operator by its name ("aten.add.Tensor", "heddle.all_gather"): copied and compared like a
/// pointer, its traits at hand. Any thread.
class Op {
 public:
  Op() = default;
  Op(std::string_view name);
  Op(const std::string& name) : Op(std::string_view(name)) {}
  Op(const char* name) : Op(std::string_view(name)) {}

  const std::string& text() const { return entry_->name; }
  operator const std::string&() const { return entry_->name; }
  /// The traits; an operator without an entry has the defaults.
  const Traits* operator->() const { return &entry_->traits; }
  bool has_entry() const { return entry_->is_entered; }

  friend bool operator==(Op a, Op b) { return a.entry_ == b.entry_; }
  friend bool operator==(Op a, const char* b) { return a.text() == b; }
  friend std::ostream& operator<<(std::ostream& out, Op op) { return out << op.text(); }

 private:
  friend class Operators;
  friend struct std::hash<Op>;
  inline static const OperatorEntry kNone;
  const OperatorEntry* entry_ = &kNone;
};

/// An object of this type next to kernels enters their operators when the program starts.
struct OperatorEntries {
  OperatorEntries(std::initializer_list<OperatorEntry> entries);
};

/// All operators that have an entry.
std::vector<Op> all_operators();

/// LibTorch's operators, which the table begins with.
std::vector<OperatorEntry> libtorch_operators();

}  // namespace heddle::graph

template <>
struct std::hash<heddle::graph::Op> {
  size_t operator()(heddle::graph::Op op) const { return std::hash<const void*>()(op.entry_); }
};

template <>
struct fmt::formatter<heddle::graph::Op> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(heddle::graph::Op op, Context& context) const {
    return fmt::formatter<std::string>::format(op.text(), context);
  }
};
