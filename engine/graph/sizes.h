// The shapes of tensors: few, of hundreds of thousands of values.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <vector>

namespace heddle::graph {

/// A list of sizes or strides that is kept for good: copied and compared like a pointer. Any
/// thread.
class Sizes {
 public:
  Sizes() = default;  // none
  Sizes(c10::IntArrayRef sizes);
  Sizes(const std::vector<int64_t>& sizes) : Sizes(c10::IntArrayRef(sizes)) {}

  operator c10::IntArrayRef() const { return *kept_; }
  size_t size() const { return kept_->size(); }
  bool empty() const { return kept_->empty(); }
  int64_t operator[](size_t i) const { return (*kept_)[i]; }
  auto begin() const { return kept_->begin(); }
  auto end() const { return kept_->end(); }

  friend bool operator==(Sizes a, Sizes b) { return a.kept_ == b.kept_; }

 private:
  inline static const std::vector<int64_t> kNone;
  const std::vector<int64_t>* kept_ = &kNone;
};

}  // namespace heddle::graph
