#include "gui/timeline/timeline_data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <unordered_map>

namespace heddle::gui {
namespace {

using telemetry::Span;

constexpr int64_t kShortestPhase = 50;  // of a step: a fiftieth

// Nothing moves, as other ranks have yet to reach it.
bool waits(const Span& span) { return span.stream >= telemetry::kWait; }

Kind phaseKind(const Span& span) {
  return static_cast<Kind>(std::min<uint8_t>(span.phase, static_cast<uint8_t>(Kind::optimizer)));
}

Intervals busy(const std::vector<Span>& spans) {
  std::vector<Interval> times;
  times.reserve(spans.size());
  for (const Span& span : spans) times.push_back(timeOf(span));
  return Intervals(std::move(times));
}

std::vector<Piece> computePieces(const std::vector<Span>& spans) {
  std::vector<Piece> pieces;
  pieces.reserve(spans.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    pieces.push_back({timeOf(spans[i]), phaseKind(spans[i]), static_cast<uint32_t>(i)});
  }
  return pieces;
}

/// Cuts each span where compute begins or ends; of a wait, what is one.
std::vector<Piece> communicationPieces(const std::vector<Span>& spans, const Intervals& compute,
                                       const Intervals& waiting) {
  std::vector<Piece> pieces;
  const auto& busy = compute.items();
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    const Interval span = timeOf(spans[i]);
    if (waits(spans[i])) {
      const Intervals parts = waiting.intersection(Intervals({span}));
      for (const Interval& part : parts.items()) pieces.push_back({part, Kind::waiting, index});
      continue;
    }
    int64_t at = span.begin;
    auto next = std::upper_bound(busy.begin(), busy.end(), span.begin,
                                 [](int64_t time, const Interval& b) { return time < b.end; });
    if (span.length() == 0) pieces.push_back({span, Kind::hidden, index});
    for (; next != busy.end() && at < span.end; ++next) {
      const int64_t hiddenFrom = std::clamp(next->begin, at, span.end);
      const int64_t hiddenTo = std::min(next->end, span.end);
      if (at < hiddenFrom) pieces.push_back({{at, hiddenFrom}, Kind::exposed, index});
      if (hiddenFrom < hiddenTo) {
        pieces.push_back({{hiddenFrom, hiddenTo}, Kind::hidden, index});
      }
      at = std::max(hiddenFrom, hiddenTo);
    }
    if (at < span.end) pieces.push_back({{at, span.end}, Kind::exposed, index});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.time.begin < b.time.begin; });
  return pieces;
}

// Norms of gradients, and updates that do not wait for them, are taken in the middle of backward:
// those shorter than `interruption` are part of it.
std::vector<PhaseRun> joined(const std::vector<PhaseRun>& runs, int64_t interruption) {
  std::vector<PhaseRun> result;
  for (const PhaseRun& run : runs) {
    const size_t count = result.size();
    if (count >= 2 && result[count - 2].phase == run.phase &&
        result.back().phase == Kind::optimizer && result.back().time.length() < interruption) {
      result.pop_back();
      result.back().time.end = run.time.end;
    } else {
      result.push_back(run);
    }
  }
  return result;
}

std::vector<PhaseRun> phaseRuns(const std::vector<Piece>& compute, int64_t interruption) {
  std::vector<PhaseRun> runs;
  for (const Piece& piece : compute) {
    if (runs.empty() || runs.back().phase != piece.kind) {
      runs.push_back({piece.kind, piece.time});
    } else {
      runs.back().time.end = std::max(runs.back().time.end, piece.time.end);
    }
  }
  return joined(runs, interruption);
}

/// A number for each operator, module and stream there is; `labelled`: the first span of each.
std::vector<uint32_t> labelsOf(const std::vector<Span>& spans, std::vector<uint32_t>& labelled) {
  const auto hash = [](const Span* span) {
    const std::hash<std::string_view> text;
    return text(span->name) * 31 + text(span->module) + span->stream;
  };
  const auto same = [](const Span* a, const Span* b) {
    return a->stream == b->stream && a->name == b->name && a->module == b->module;
  };
  std::unordered_map<const Span*, uint32_t, decltype(hash), decltype(same)> known(64, hash, same);
  std::vector<uint32_t> labels;
  labels.reserve(spans.size());
  for (const Span& span : spans) {
    const auto [label, added] = known.try_emplace(&span, static_cast<uint32_t>(labelled.size()));
    if (added) labelled.push_back(static_cast<uint32_t>(&span - spans.data()));
    labels.push_back(label->second);
  }
  return labels;
}

}  // namespace

std::string_view layerOf(std::string_view module) {
  const size_t dot = module.find('.');
  if (dot == std::string_view::npos) return module;
  const size_t digits = module.find_first_not_of("0123456789", dot + 1);
  return digits == dot + 1 ? module.substr(0, dot) : module.substr(0, digits);
}

Intervals::Intervals(std::vector<Interval> unsorted) : items_(std::move(unsorted)) {
  std::erase_if(items_, [](const Interval& item) { return item.length() <= 0; });
  std::sort(items_.begin(), items_.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Interval& item : items_) {
    if (kept > 0 && item.begin <= items_[kept - 1].end) {
      items_[kept - 1].end = std::max(items_[kept - 1].end, item.end);
    } else {
      items_[kept++] = item;
    }
  }
  items_.resize(kept);
  int64_t total = 0;
  totalBefore_.reserve(kept);
  for (const Interval& item : items_) {
    totalBefore_.push_back(total);
    total += item.length();
  }
}

int64_t Intervals::coveredBefore(int64_t time) const {
  const auto after =
      std::lower_bound(items_.begin(), items_.end(), time,
                       [](const Interval& item, int64_t t) { return item.begin < t; });
  if (after == items_.begin()) return 0;
  const auto last = after - 1;
  return totalBefore_[static_cast<size_t>(last - items_.begin())] + std::min(time, last->end) -
         last->begin;
}

int64_t Intervals::covered(int64_t begin, int64_t end) const {
  return end > begin ? coveredBefore(end) - coveredBefore(begin) : 0;
}

Intervals Intervals::intersection(const Intervals& other) const {
  std::vector<Interval> both;
  auto a = items_.begin();
  auto b = other.items_.begin();
  while (a != items_.end() && b != other.items_.end()) {
    both.push_back({std::max(a->begin, b->begin), std::min(a->end, b->end)});
    (a->end < b->end ? a : b)++;
  }
  return Intervals(std::move(both));
}

Intervals Intervals::without(const Intervals& other) const {
  std::vector<Interval> rest;
  auto next = other.items_.begin();
  for (const Interval& item : items_) {
    int64_t at = item.begin;
    while (next != other.items_.end() && next->end <= at) ++next;
    for (auto cut = next; cut != other.items_.end() && cut->begin < item.end; ++cut) {
      rest.push_back({at, cut->begin});
      at = std::max(at, cut->end);
    }
    rest.push_back({at, item.end});
  }
  return Intervals(std::move(rest));
}

Lane::Lane(std::vector<Span> spans, std::vector<Piece> pieces)
    : spans_(std::move(spans)), pieces_(std::move(pieces)) {
  groups_.reserve(spans_.size());
  uint32_t group = 0;
  for (size_t i = 0; i < spans_.size(); ++i) {
    if (i > 0 && layerOf(spans_[i].module) != layerOf(spans_[i - 1].module)) ++group;
    groups_.push_back(group);
  }
  labels_ = labelsOf(spans_, labelled_);
  latestEnd_.reserve(pieces_.size());
  before_.reserve(pieces_.size() + 1);
  before_.push_back({});
  for (const Piece& piece : pieces_) {
    const int64_t latest = latestEnd_.empty() ? piece.time.end : latestEnd_.back();
    latestEnd_.push_back(std::max(latest, piece.time.end));
    before_.push_back(before_.back());
    before_.back()[static_cast<size_t>(piece.kind)] += piece.time.length();
  }
}

std::array<int64_t, kKinds> Lane::totals(size_t first, size_t last) const {
  std::array<int64_t, kKinds> result = before_[last];
  for (size_t kind = 0; kind < kKinds; ++kind) result[kind] -= before_[first][kind];
  return result;
}

size_t Lane::firstPiece(int64_t time) const {
  return static_cast<size_t>(std::upper_bound(latestEnd_.begin(), latestEnd_.end(), time) -
                             latestEnd_.begin());
}

std::vector<Mark> Lane::marks(Interval view, double foldUs) const {
  std::vector<Mark> result;
  size_t i = firstPiece(view.begin);
  while (i < pieces_.size() && pieces_[i].time.begin < view.end) {
    const Piece& piece = pieces_[i];
    if (static_cast<double>(piece.time.length()) >= foldUs) {
      result.push_back({piece.time, piece.kind, 1.0, static_cast<uint32_t>(i), 1});
      ++i;
      continue;
    }
    // Folds are on a grid that does not depend on the view, so that panning does not make them
    // flicker.
    const double cell = std::floor(static_cast<double>(piece.time.begin) / foldUs);
    const auto bound = static_cast<int64_t>(std::ceil((cell + 1) * foldUs));
    auto last = static_cast<size_t>(
        std::lower_bound(pieces_.begin() + static_cast<ptrdiff_t>(i) + 1, pieces_.end(), bound,
                         [](const Piece& p, int64_t t) { return p.time.begin < t; }) -
        pieces_.begin());
    // A piece that deserves to be seen by itself can only be the last to begin in the cell.
    const auto isWide = [&](size_t k) {
      return static_cast<double>(pieces_[k].time.length()) >= foldUs;
    };
    if (last - 1 > i && isWide(last - 1)) --last;
    const auto kinds = totals(i, last);
    const auto most = std::max_element(kinds.begin(), kinds.end());
    int64_t covered = 0;
    for (const int64_t time : kinds) covered += time;
    Mark mark{{piece.time.begin, std::max(pieces_[last - 1].time.end, piece.time.end)}};
    mark.kind = *most > 0 ? static_cast<Kind>(most - kinds.begin()) : piece.kind;
    mark.coverage =
        mark.time.length() > 0
            ? std::min(1.0, static_cast<double>(covered) / static_cast<double>(mark.time.length()))
            : 1.0;
    mark.first = static_cast<uint32_t>(i);
    mark.count = static_cast<uint32_t>(last - i);
    result.push_back(mark);
    i = last;
  }
  return result;
}

int64_t Lane::spanAt(int64_t time) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), time,
                                      [](int64_t t, const Piece& p) { return t < p.time.begin; });
  for (auto i = static_cast<size_t>(after - pieces_.begin()); i-- > 0 && latestEnd_[i] > time;) {
    if (pieces_[i].time.end > time) return pieces_[i].span;
  }
  return -1;
}

Timeline::Timeline(std::vector<Span> spans, int64_t stepUs) : lengthUs_(stepUs) {
  const auto begins = [](const Span& a, const Span& b) { return a.start_us < b.start_us; };
  if (!std::ranges::is_sorted(spans, begins)) std::ranges::stable_sort(spans, begins);
  std::array<std::vector<Span>, 2> streams;
  const auto computes =
      static_cast<size_t>(std::ranges::count(spans, uint8_t{telemetry::kCompute}, &Span::stream));
  streams[0].reserve(computes);
  streams[1].reserve(spans.size() - computes);
  std::vector<Interval> transfers, bubble, waiting;
  for (Span& span : spans) {
    lengthUs_ = std::max(lengthUs_, timeOf(span).end);
    if (span.stream != telemetry::kCompute)
      (span.stream == telemetry::kBubble ? bubble
       : waits(span)                     ? waiting
                                         : transfers)
          .push_back(timeOf(span));
    streams[span.stream == telemetry::kCompute ? 0 : 1].push_back(std::move(span));
  }
  compute_ = busy(streams[0]);
  communication_ = busy(streams[1]);
  overlapped_ = compute_.intersection(communication_);
  // A collective that waits for the one before it waits for no rank.
  const Intervals moving(std::move(transfers));
  const Intervals idling(bubble);
  bubble_ = idling.without(compute_).without(moving);
  waiting_ = Intervals(waiting).without(compute_).without(moving).without(idling);
  bubble.insert(bubble.end(), waiting.begin(), waiting.end());
  const Intervals paused = Intervals(std::move(bubble)).without(compute_).without(moving);
  auto pieces = computePieces(streams[0]);
  phases_ = phaseRuns(pieces, lengthUs_ / kShortestPhase);
  lanes_[0] = Lane(std::move(streams[0]), std::move(pieces));
  pieces = communicationPieces(streams[1], compute_, paused);
  lanes_[1] = Lane(std::move(streams[1]), std::move(pieces));
}

Statistics Timeline::statistics(Interval range) const {
  Statistics result;
  result.range = std::max<int64_t>(range.length(), 0);
  result.compute = compute_.covered(range.begin, range.end);
  result.communication = communication_.covered(range.begin, range.end);
  result.overlapped = overlapped_.covered(range.begin, range.end);
  result.bubble = bubble_.covered(range.begin, range.end);
  result.exposed = result.communication - result.overlapped - result.bubble;
  result.waiting = waiting_.covered(range.begin, range.end);
  result.idle = result.range - result.compute - result.exposed - result.bubble;
  return result;
}

}  // namespace heddle::gui
