// The names of operators and modules: few texts, on hundreds of thousands of nodes.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace heddle::graph {

/// A text that is kept for good: copied and compared like a pointer. Any thread.
class Name {
 public:
  Name() = default;
  Name(std::string_view text);
  Name(const std::string& text) : Name(std::string_view(text)) {}
  Name(const char* text) : Name(std::string_view(text)) {}

  const std::string& text() const { return *text_; }
  operator const std::string&() const { return *text_; }
  bool empty() const { return text_->empty(); }

  friend bool operator==(Name a, Name b) { return a.text_ == b.text_; }
  friend bool operator<(Name a, Name b) { return std::less<>()(a.text_, b.text_); }  // any order
  friend bool operator==(Name a, std::string_view b) { return *a.text_ == b; }
  friend bool operator==(Name a, const std::string& b) { return *a.text_ == b; }
  friend bool operator==(Name a, const char* b) { return *a.text_ == b; }
  friend std::ostream& operator<<(std::ostream& out, Name name) { return out << name.text(); }

 private:
  inline static const std::string kEmpty;
  const std::string* text_ = &kEmpty;
};

}  // namespace heddle::graph

template <>
struct std::hash<heddle::graph::Name> {
  size_t operator()(heddle::graph::Name name) const {
    return std::hash<const void*>()(&name.text());
  }
};

template <>
struct fmt::formatter<heddle::graph::Name> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(heddle::graph::Name name, Context& context) const {
    return fmt::formatter<std::string>::format(name.text(), context);
  }
};
