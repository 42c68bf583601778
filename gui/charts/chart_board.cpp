#include "gui/charts/chart_board.h"

#include <QPainter>
#include <QPointer>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "gui/session.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

/// The chart, where it has what `from` says, has what `to` says.
ChartSpec preferring(ChartSpec spec, const Preferences& from, const Preferences& to) {
  if (spec.smoothing == from.smoothing) spec.smoothing = to.smoothing;
  if (spec.x == from.x) spec.x = to.x;
  return spec;
}

constexpr int kHeadHeight = 28;
constexpr int kHeightStep = 40;
constexpr int kDropMark = 3;

class DropMark : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent*) override { QPainter(this).fillRect(rect(), colors().accent); }
};

/// The runs as the charts need them. A run that has been removed is left out.
Result<std::vector<CurveRun>> readCurveRuns(storage::Reader& reader,
                                            const std::vector<qint64>& runs) {
  std::vector<CurveRun> found;
  for (const qint64 id : runs) {
    const auto run = reader.run(id);
    if (!run) continue;
    const auto logs = reader.logs(id);
    if (!logs) return fail(logs);
    CurveRun curves{.id = id, .ranks = run->ranks, .began = run->summary.started.value_or(0)};
    for (const storage::LogCursor& log : *logs) {
      if (log.rank < 0) continue;
      ++curves.attempts;
      curves.version += log.records;
    }
    found.push_back(std::move(curves));
  }
  return found;
}

}  // namespace

ChartBoard::ChartBoard(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      job_(session.readingThread(), this),
      naming_(session.readingThread(), this) {
  makeHead();
  drop_ = new DropMark(this);
  drop_->hide();
  connect(&KeptPreferences::instance(), &KeptPreferences::changed, this,
          &ChartBoard::followPreferences);
}

void ChartBoard::setDefaults(std::vector<ChartSpec> charts) {
  for (ChartSpec& spec : charts) spec = preferring(std::move(spec), {}, preferences());
  if (charts == defaults_) return;
  const bool untouched = layout_ == defaultLayout();
  defaults_ = std::move(charts);
  if (untouched && !kept_.last()) setLayout(defaultLayout());
}

void ChartBoard::setColumnWidth(int pixels) {
  columnWidth_ = pixels;
  arrange();
}

void ChartBoard::setViews(const QString& page) {
  kept_ = BoardViews(page);
  if (const auto kept = kept_.last()) setLayout(*kept);
}

BoardLayout ChartBoard::defaultLayout() const {
  BoardLayout layout;
  for (const ChartSpec& spec : defaults_) layout.cards.push_back({.spec = spec});
  return layout;
}

void ChartBoard::resetLayout() {
  setLayout(defaultLayout());
  kept_.setLast({});
}

void ChartBoard::followPreferences(const Preferences& before) {
  for (ChartSpec& spec : defaults_) spec = preferring(std::move(spec), before, preferences());
  const bool usual = !kept_.last();
  for (ChartCard* card : cards_) card->setSpec(preferring(card->spec(), before, preferences()));
  if (usual) kept_.setLast({});  // no person changed this board
}

void ChartBoard::setLayout(const BoardLayout& layout) {
  layout_ = layout;
  for (ChartCard* card : cards_) {
    card->hide();
    card->deleteLater();  // its menu may be who asked
  }
  cards_.clear();
  for (const BoardCard& card : layout_.cards) cards_.push_back(addCard(card.spec));
  arrange();
}

void ChartBoard::changed() {
  for (size_t i = 0; i < cards_.size(); ++i) layout_.cards[i].spec = cards_[i]->spec();
  kept_.setLast(layout_);
  arrange();
}

ChartCard* ChartBoard::addCard(const ChartSpec& spec) {
  auto* card = new ChartCard(session_, spec, this);
  group_.add(card);
  if (const auto lines = references_.find(spec.metric); lines != references_.end())
    card->setReferences(lines->second);
  if (const auto mark = marks_.find(spec.metric); mark != marks_.end()) card->setMark(mark->second);
  card->setBaseline(baseline_);
  card->setRuns(runs_);
  std::vector<CurveRun> sources;
  for (const auto& [id, source] : sources_) sources.push_back(source);
  card->setSources(std::move(sources));
  connect(card, &MetricChart::specChanged, this, &ChartBoard::changed);
  connect(card, &ChartCard::changeWanted, this,
          [this, card](ChartCard::Change wanted) { change(card, wanted); });
  connect(card, &ChartCard::sizeWanted, this,
          [this, card](const QSize& size) { resizeCard(card, size); });
  connect(card, &ChartCard::forAllWanted, this, [this, card] { useForAll(card->spec()); });
  connect(card, &ChartCard::dragged, this, &ChartBoard::markDrop);
  connect(card, &ChartCard::placeWanted, this, [this, card](const QPoint& at) {
    drop_->hide();
    const size_t from = indexOf(card), to = indexAt(grid_, at - QPoint(0, kHeadHeight + kBoardGap));
    move(from, to > from ? to - 1 : to);
  });
  card->show();
  return card;
}

size_t ChartBoard::indexOf(const ChartCard* card) const {
  return static_cast<size_t>(std::ranges::find(cards_, card) - cards_.begin());
}

void ChartBoard::change(ChartCard* card, ChartCard::Change change) {
  const size_t index = indexOf(card);
  BoardCard& place = layout_.cards[index];
  const auto resize = [&](int columns, int height) {
    place.columns = std::clamp(columns, 1, BoardLayout::kMaxColumns);
    place.height = std::clamp(height, BoardCard::kMinHeight, BoardCard::kMaxHeight);
    changed();
  };
  switch (change) {
    case ChartCard::Change::wider:
      return resize(place.columns + 1, place.height);
    case ChartCard::Change::narrower:
      return resize(std::min(place.columns, grid_.columns) - 1, place.height);
    case ChartCard::Change::taller:
      return resize(place.columns, card->height() + kHeightStep);
    case ChartCard::Change::shorter:
      return resize(place.columns, card->height() - kHeightStep);
    case ChartCard::Change::earlier:
      return move(index, index > 0 ? index - 1 : 0);
    case ChartCard::Change::later:
      return move(index, std::min(index + 1, cards_.size() - 1));
    case ChartCard::Change::remove:
      return remove(index);
  }
}

void ChartBoard::resizeCard(ChartCard* card, const QSize& size) {
  BoardCard& place = layout_.cards[indexOf(card)];
  const int column = grid_.columnWidth + kBoardGap;
  place.columns = std::clamp((size.width() + column / 2) / column, 1, grid_.columns);
  place.height = std::clamp(size.height(), BoardCard::kMinHeight, BoardCard::kMaxHeight);
  changed();
}

void ChartBoard::move(size_t from, size_t to) {
  if (from == to) return;
  const auto moved = [from, to](auto& all) {
    auto each = std::move(all[from]);
    all.erase(all.begin() + static_cast<ptrdiff_t>(from));
    all.insert(all.begin() + static_cast<ptrdiff_t>(to), std::move(each));
  };
  moved(layout_.cards);
  moved(cards_);
  changed();
  cards_[to]->setFocus();
}

void ChartBoard::remove(size_t index) {
  const BoardLayout before = layout_;
  const QString title = cards_[index]->title();
  BoardLayout rest = layout_;
  rest.cards.erase(rest.cards.begin() + static_cast<ptrdiff_t>(index));
  cards_[index]->hide();
  cards_[index]->deleteLater();
  cards_.erase(cards_.begin() + static_cast<ptrdiff_t>(index));
  layout_ = std::move(rest);
  changed();
  if (cards_.empty())
    add_->setFocus();
  else
    cards_[std::min(index, cards_.size() - 1)]->setFocus();
  Q_EMIT session_.offered(tr("%1 was removed").arg(title), tr("Undo"),
                          [board = QPointer(this), before] {
                            if (!board) return;
                            board->setLayout(before);
                            board->changed();
                          });
}

void ChartBoard::useForAll(const ChartSpec& from) {
  for (ChartCard* card : cards_) {
    ChartSpec spec = card->spec();
    spec.x = from.x;
    spec.xMetric = from.xMetric;
    spec.logX = from.logX;
    spec.smoothing = from.smoothing;
    card->setSpec(std::move(spec));
  }
}

void ChartBoard::setRuns(std::vector<BoardRun> runs) {
  runs_ = std::move(runs);
  for (ChartCard* card : cards_) card->setRuns(runs_);
  refresh();
}

void ChartBoard::setBaseline(qint64 run) {
  baseline_ = run;
  for (ChartCard* card : cards_) card->setBaseline(run);
}

void ChartBoard::refresh() {
  if (job_.running()) {
    again_ = true;
    return;
  }
  readRuns();
}

void ChartBoard::readRuns() {
  std::vector<qint64> ids;
  for (const BoardRun& run : runs_) ids.push_back(run.id);
  session_.read(
      job_, [ids](storage::Reader& reader) { return readCurveRuns(reader, ids); },
      [this](Result<std::vector<CurveRun>> found) {
        if (!found)
          return Q_EMIT session_.message(QString::fromStdString(found.error().message), Tone::bad);
        sources_.clear();
        for (const CurveRun& run : *found) sources_[run.id] = run;
        for (ChartCard* card : cards_) card->setSources(*found);
        if (std::exchange(again_, false)) readRuns();
      });
}

void ChartBoard::setReferences(const std::string& metric, std::vector<ReferenceLine> lines) {
  if (references_[metric] == lines) return;
  for (ChartCard* card : cards_)
    if (card->spec().metric == metric) card->setReferences(lines);
  references_[metric] = std::move(lines);
}

void ChartBoard::setMark(const std::string& metric, std::optional<ChartMark> mark) {
  if (marks_[metric] == mark) return;
  for (ChartCard* card : cards_)
    if (card->spec().metric == metric) card->setMark(mark);
  marks_[metric] = std::move(mark);
}

bool ChartBoard::isReady() const {
  return !job_.running() && std::ranges::all_of(cards_, &MetricChart::isReady);
}

void ChartBoard::arrange() {
  const int top = kHeadHeight + kBoardGap;
  head_->setGeometry(0, 0, width(), kHeadHeight);
  grid_ = gridOf(layout_, width(), height() - top, columnWidth_);
  for (size_t i = 0; i < cards_.size(); ++i)
    cards_[i]->setGeometry(grid_.places[i].translated(0, top));
  empty_->setVisible(cards_.empty());
  empty_->setGeometry(0, top, width(), std::max(0, height() - top));
  const int needed = top + (cards_.empty() ? BoardCard::kMinHeight : grid_.leastHeight);
  const int least = std::max(needed, leastHeight_);
  if (minimumHeight() != least) setMinimumHeight(least);
}

void ChartBoard::setLeastHeight(int height) {
  if (std::exchange(leastHeight_, height) != height) arrange();
}

void ChartBoard::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

/// Shows where a dragged card would go.
void ChartBoard::markDrop(const QPoint& at) {
  const QPoint top(0, kHeadHeight + kBoardGap);
  const size_t index = indexAt(grid_, at - top);
  const bool last = index == cards_.size();
  const QRect place = grid_.places[last ? index - 1 : index].translated(top);
  const int x = last ? place.right() + 1 : std::max(0, place.left() - kBoardGap / 2 - 1);
  drop_->setGeometry(std::min(x, width() - kDropMark), place.top(), kDropMark, place.height());
  drop_->raise();
  drop_->show();
}

}  // namespace heddle::gui
