// The stretches that a timeline has shown, to go back to. Plain data.
#pragma once

#include <optional>
#include <vector>

namespace heddle::gui {

class ZoomHistory {
 public:
  struct View {
    double beginUs = 0, endUs = 0;
    bool operator==(const View&) const = default;
  };

  /// `view` is about to be left for a new one: what was ahead of it is forgotten.
  void leave(const View& view) {
    ahead_.clear();
    if (!behind_.empty() && behind_.back() == view) return;
    behind_.push_back(view);
    if (behind_.size() > kMax) behind_.erase(behind_.begin());
  }
  /// The view to show instead of `now`; none: there is no further one.
  std::optional<View> back(const View& now) { return take(behind_, ahead_, now); }
  std::optional<View> forward(const View& now) { return take(ahead_, behind_, now); }
  void clear() { behind_.clear(), ahead_.clear(); }

 private:
  static constexpr size_t kMax = 100;

  static std::optional<View> take(std::vector<View>& from, std::vector<View>& to, const View& now) {
    while (!from.empty()) {
      const View view = from.back();
      from.pop_back();
      if (view == now) continue;
      to.push_back(now);
      return view;
    }
    return {};
  }

  std::vector<View> behind_, ahead_;  // the nearest last
};

}  // namespace heddle::gui
