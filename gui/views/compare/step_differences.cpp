#include "gui/views/compare/step_differences.h"

#include <QAbstractButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {
namespace {

using workbench::Grouping;
using workbench::Part;

constexpr size_t kMaxRows = 200;                                         // others are put together
constexpr int kMemory = static_cast<int>(workbench::kGroupings.size());  // after the groupings
constexpr int kValue = 88, kMaxSide = 180, kMinName = 160;
constexpr int kPicker = 340, kPickedName = 220, kSideName = 150, kSide = 16;

QString timeOf(int64_t us) { return format::seconds(static_cast<double>(us) * 1e-6); }

QString text(const std::string& words) { return format::spelled(words); }

}  // namespace

bool StepDifferences::Chosen::has(const Choice& side, const telemetry::Span& span) const {
  for (size_t i = 0; i < sides.size(); ++i)
    if (sides[i] == side && names->of(i, span, grouping) == row) return true;
  return false;
}

StepDifferences::StepDifferences(Worker& worker, QWidget* parent)
    : Card(tr("Where the step differs"), parent), aligning_(worker, this) {
  grouping_ = new Segment({tr("bucket"), tr("phase"), tr("module"), tr("node"), tr("memory")});
  grouping_->setObjectName(QStringLiteral("grouping"));
  connect(grouping_, &Segment::currentChanged, this, &StepDifferences::display);
  addControl(grouping_);
  setMinimumHeight(360);
  setBodyMargins(kSide, 0, 0, 4);
  body()->addWidget(makeHead());
  table_ = new FigureTable(QStringLiteral("stepRows"), tr("Where the step differs"), rows_);
  table_->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
  body()->addWidget(table_, 1);
  connect(&rows_, &QAbstractItemModel::modelReset, this, &StepDifferences::fitColumns);
  // A model's reset drops the selection too, and tells nobody.
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& index) { choose(index.isValid() ? index.row() : -1); });
  connect(&Theme::instance(), &Theme::changed, this, &StepDifferences::display);
  hide();
}

QWidget* StepDifferences::makeHead() {
  auto* head = new QWidget;
  QVBoxLayout* column = columnOf(head, {0, 0, kSide, 8}, 8);
  auto* pickers = new QHBoxLayout;
  pickers->setSpacing(8);
  left_ = new QComboBox;
  left_->setObjectName(QStringLiteral("leftSide"));
  left_->setAccessibleName(tr("One side"));
  right_ = new QComboBox;
  right_->setObjectName(QStringLiteral("rightSide"));
  right_->setAccessibleName(tr("The other side"));
  left_->setToolTip(tr("The step that differences are taken from"));
  right_->setToolTip(tr("The step whose differences are shown"));
  for (QComboBox* box : {left_, right_}) {
    box->setProperty("role", "mono");
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->setMaximumWidth(kPicker);
    connect(box, &QComboBox::activated, this, [this] {
      picked_ = true;
      align();
    });
  }
  pickers->addWidget(left_);
  // Differences are of the second from the first.
  pickers->addWidget(muted(QStringLiteral("→")));
  pickers->addWidget(right_);
  pickers->addStretch(1);
  column->addLayout(pickers);
  spent_ = new QGridLayout;
  spent_->setHorizontalSpacing(8);
  spent_->setVerticalSpacing(4);
  spent_->setColumnStretch(1, 1);
  column->addLayout(spent_);
  surprises_ = label({});
  surprises_->setObjectName(QStringLiteral("surprises"));
  new FocusLine(surprises_);
  surprises_->setWordWrap(true);
  surprises_->setTextFormat(Qt::RichText);
  surprises_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  connect(surprises_, &QLabel::linkActivated, this,
          [this](const QString& link) { goTo(link.toInt()); });
  column->addWidget(surprises_);
  return head;
}

const workbench::RunSteps* StepDifferences::stepsOf(storage::RunId run) const {
  for (const auto& each : runs_)
    if (each->id == run) return each.get();
  return nullptr;
}

void StepDifferences::setSteps(std::vector<std::shared_ptr<const workbench::RunSteps>> runs,
                               int64_t rank, storage::RunId baseline) {
  const auto left = picked(left_), right = picked(right_);
  runs_ = std::move(runs);
  rank_ = rank;
  choices_.clear();
  const QSignalBlocker quietLeft(left_), quietRight(right_);
  for (QComboBox* box : {left_, right_}) box->clear();
  for (const auto& run : runs_)
    for (const workbench::Kind kind : {workbench::Kind::predicted, workbench::Kind::measured}) {
      if (!run->has(kind, rank)) continue;
      choices_.push_back({run->id, kind});
      for (QComboBox* box : {left_, right_})
        box->addItem(tr("%1, %2").arg(
            QFontMetrics(font::mono(12)).elidedText(text(run->run), Qt::ElideMiddle, kPickedName),
            kind == workbench::Kind::predicted ? tr("predicted") : tr("measured")));
    }
  setVisible(choices_.size() >= 2);
  if (choices_.size() < 2) {
    aligning_.drop();
    answer_.reset();
    rows_.clear();
    return;
  }
  const auto numberOf = [this](const std::optional<Choice>& choice) {
    const auto found = choice ? std::ranges::find(choices_, *choice) : choices_.end();
    return found == choices_.end() ? -1 : static_cast<int>(found - choices_.begin());
  };
  const int before = numberOf(left), after = numberOf(right);
  if (picked_ && before >= 0 && after >= 0) {
    left_->setCurrentIndex(before);
    right_->setCurrentIndex(after);
  } else {
    pickUsual(baseline);
  }
  align();
}

/// Several runs: the measured steps of the baseline and of the first other run; if the baseline has
/// none, of the first two runs. One run, or fewer than two measured steps: the first two sides; a
/// run's prediction comes first.
void StepDifferences::pickUsual(storage::RunId baseline) {
  std::vector<int> measured;
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].kind != workbench::Kind::measured) continue;
    const bool first = choices_[i].run == baseline;
    measured.insert(first ? measured.begin() : measured.end(), static_cast<int>(i));
  }
  const bool two = measured.size() >= 2;
  left_->setCurrentIndex(two ? measured[0] : 0);
  right_->setCurrentIndex(two ? measured[1] : 1);
}

void StepDifferences::pickPrediction(storage::RunId run) {
  const auto predicted = std::ranges::find(choices_, Choice{run, workbench::Kind::predicted});
  const auto measured = std::ranges::find(choices_, Choice{run, workbench::Kind::measured});
  if (predicted == choices_.end() || measured == choices_.end()) return;
  left_->setCurrentIndex(static_cast<int>(predicted - choices_.begin()));
  right_->setCurrentIndex(static_cast<int>(measured - choices_.begin()));
  picked_ = true;
  align();
}

std::optional<StepDifferences::Choice> StepDifferences::picked(const QComboBox* box) const {
  const int index = box->currentIndex();
  if (index < 0 || index >= static_cast<int>(choices_.size())) return std::nullopt;
  return choices_[static_cast<size_t>(index)];
}

QString StepDifferences::headOf(const Choice& choice) const {
  const auto left = picked(left_), right = picked(right_);
  if (left && right && left->run == right->run)
    return choice.kind == workbench::Kind::predicted ? tr("predicted") : tr("measured");
  const auto* steps = stepsOf(choice.run);
  const QString name = steps ? text(steps->run) : QString();
  return choice.kind == workbench::Kind::predicted ? tr("%1, pred.").arg(name) : name;
}

void StepDifferences::align() {
  const auto left = picked(left_), right = picked(right_);
  if (!left || !right) return;
  const auto find = [this](const Choice& choice) {
    return *std::ranges::find_if(runs_, [&](const auto& run) { return run->id == choice.run; });
  };
  aligning_.start(
      [left = *left, right = *right, of = find(*left), against = find(*right), rank = rank_] {
        std::optional<Answer> answer;
        auto pair = workbench::pair_of(*of, left.kind, *against, right.kind, rank);
        if (!pair) return answer;
        auto alignment = workbench::align(pair->left, pair->right);
        auto surprises = workbench::surprises(alignment, pair->left, pair->right);
        for (workbench::Side* side : {&pair->left, &pair->right}) side->spans.clear();
        answer = Answer{std::move(*pair), std::move(alignment), std::move(surprises)};
        return answer;
      },
      [this](std::optional<Answer> answer) {
        if (answer) take(std::move(*answer));
      });
}

void StepDifferences::take(Answer answer) {
  answer_ = std::move(answer);
  setNote(tr("rank %1").arg(rank_));
  const bool memory = answer_->pair.left.memory && answer_->pair.right.memory;
  grouping_->button(kMemory)->setEnabled(memory);
  grouping_->button(kMemory)->setToolTip(
      memory
          ? tr("At the peak. On the measured side, whatever the plan decides is taken as planned; "
               "the rest is in “other”.")
          : tr("One side did not record what its memory was used for"));
  if (!memory && grouping_->current() == kMemory) grouping_->setCurrent(0);
  display();
}

void StepDifferences::display() {
  if (!answer_) return;
  const auto left = picked(left_), right = picked(right_);
  if (!left || !right) return;
  const std::optional<Chosen> before = chosen_;
  const int grouping = grouping_->current();
  if (grouping == kMemory)
    rows_.setMemory(*answer_->pair.left.memory, *answer_->pair.right.memory, headOf(*left),
                    headOf(*right));
  else
    rows_.setSteps(
        workbench::with_others(answer_->alignment.by(static_cast<Grouping>(grouping)), kMaxRows),
        headOf(*left), headOf(*right));
  showSpent();
  showSurprises();
  // The choice stays while a run goes on.
  const bool same = before && grouping != kMemory &&
                    before->grouping == static_cast<Grouping>(grouping) &&
                    before->sides == std::array{*left, *right};
  const int row = same ? rows_.rowOf(before->row) : -1;
  if (row > 0)
    table_->selectRow(row);
  else
    choose(-1);
}

void StepDifferences::showSpent() {
  clear(spent_);
  const Colors& c = colors();
  const std::array sides = {picked(left_), picked(right_)};
  const std::array spent = {&answer_->alignment.left, &answer_->alignment.right};
  const auto longest =
      static_cast<double>(std::max<int64_t>({1, spent[0]->total(), spent[1]->total()}));
  for (int i = 0; i < 2; ++i) {
    const workbench::Spent& of = *spent[static_cast<size_t>(i)];
    auto* name = new ElidedLabel(headOf(*sides[static_cast<size_t>(i)]), "mono", Qt::ElideMiddle);
    name->setFixedWidth(kSideName);
    const auto part = [&of](Part which, const QColor& color, const QString& words) {
      return StackedBar::Part{static_cast<double>(of[which]), color,
                              words + QChar(' ') + timeOf(of[which])};
    };
    auto* bar = new StackedBar;
    bar->setParts(
        {part(Part::compute, c.compute, tr("compute")),
         part(Part::exposed, c.exposed, tr("exposed")),
         part(Part::bubble, c.muted, tr("pipeline bubble")), part(Part::idle, c.line, tr("idle"))},
        longest);
    auto* sum =
        label(tr("%1 = compute %2 + exposed %3 + bubble %4 + idle %5")
                  .arg(timeOf(of.total()), timeOf(of[Part::compute]), timeOf(of[Part::exposed]),
                       timeOf(of[Part::bubble]), timeOf(of[Part::idle])),
              "mono-muted");
    sum->setObjectName(i == 0 ? QStringLiteral("leftSum") : QStringLiteral("rightSum"));
    sum->setToolTip(
        tr("Exposed: compute waits for a transfer, or for other ranks to reach one. Idle: "
           "nothing runs"));
    spent_->addWidget(name, i, 0);
    spent_->addWidget(bar, i, 1);
    spent_->addWidget(sum, i, 2);
  }
}

void StepDifferences::showSurprises() {
  QStringList links;
  for (size_t i = 0; i < answer_->surprises.size(); ++i)
    links << QStringLiteral("<a href=\"%1\" style=\"color:%2; text-decoration:none\">%3</a>")
                 .arg(QString::number(i), colors().accentText.name(),
                      text(answer_->surprises[i].words).toHtmlEscaped());
  surprises_->setText(links.isEmpty()
                          ? tr("No node differs by more than 1 % of the step.")
                          : tr("Largest surprises: %1").arg(links.join(QStringLiteral("; "))));
}

void StepDifferences::goTo(int surprise) {
  if (!answer_ || surprise < 0 || surprise >= static_cast<int>(answer_->surprises.size())) return;
  const workbench::Surprise& of = answer_->surprises[static_cast<size_t>(surprise)];
  grouping_->setCurrent(static_cast<int>(of.grouping));
  if (const int row = rows_.rowOf(of.row); row >= 0) {
    table_->selectRow(row);
    table_->scrollTo(rows_.index(row, 0));
  }
}

void StepDifferences::choose(int row) {
  const auto left = picked(left_), right = picked(right_);
  const bool any = answer_ && left && right && row >= 0 &&
                   rows_.index(row, 0).data(StepRows::SpansRole).toBool();
  if (!any && !chosen_) return;
  chosen_.reset();
  if (any)
    chosen_ = Chosen{{*left, *right},
                     static_cast<Grouping>(grouping_->current()),
                     rows_.nameOf(row),
                     answer_->alignment.names};
  Q_EMIT chosenChanged();
}

void StepDifferences::fitColumns() {
  const int count = rows_.columnCount();
  if (count == 0) return;
  int room = table_->width() - table_->verticalScrollBar()->sizeHint().width();
  for (int column = 1; column < count; ++column) {
    const bool side = column == StepRows::Left || column == StepRows::Right;  // runs' names
    const int width =
        side ? std::clamp(table_->horizontalHeader()->sectionSizeHint(column), kValue, kMaxSide)
             : kValue;
    table_->setColumnWidth(column, width);
    room -= width;
  }
  table_->setColumnWidth(0, std::max(kMinName, room));
}

void StepDifferences::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  fitColumns();
}

}  // namespace heddle::gui
