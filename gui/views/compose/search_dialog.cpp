#include "gui/views/compose/search_dialog.h"

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kMesh = 216, kWhyWidth = 92, kMinDialog = 640;

QString bytesText(qint64 bytes) { return format::bytes(static_cast<double>(bytes)); }

}  // namespace

SearchDialog::SearchDialog(RecipeDocument& document, const QString& engine, PlanClient& client,
                           QWidget* parent)
    : Dialog(tr("Search best layout"), QStringLiteral("search"), Tone::accent, parent),
      document_(document),
      client_(client),
      search_(engine) {
  setObjectName(QStringLiteral("searchDialog"));
  setMinimumWidth(kMinDialog);  // fields and what is found do not overlap
  kind_ = new Segment({tr("Best layout"), tr("How many GPUs")});
  kind_->setObjectName(QStringLiteral("kind"));
  body()->addWidget(kind_, 0, Qt::AlignLeft);
  auto* top = new QHBoxLayout;
  top->setSpacing(metric::edge);
  fields_ = new SearchFields(document);
  top->addWidget(fields_);
  top->addWidget(makeFound(), 1);
  body()->addLayout(top, 1);
  why_ = addRoom(kWhyWidth, 6);
  close_ = quietButton(tr("Close"));
  close_->setObjectName(QStringLiteral("close"));
  go_ = primaryButton(tr("Search"), QStringLiteral("search"));
  go_->setObjectName(QStringLiteral("search"));
  addButton(close_);
  addButton(go_);
  go_->setDefault(true);
  connect(close_, &QPushButton::clicked, this, &QDialog::reject);
  connect(go_, &QPushButton::clicked, this, &SearchDialog::startOrCancel);
  connect(&search_, &LayoutSearch::advanced, this, &SearchDialog::refresh);
  connect(&search_, &LayoutSearch::ended, this, [this](const QString& why) {
    trouble_ = why.isEmpty() ? whyNothing() : why;
    refresh();
  });
  connect(kind_, &Segment::currentChanged, this, [this] {
    trouble_.clear();
    fields_->setCounting(isCounting());
    found_->setCurrentIndex(isCounting() ? kCounts : kLayouts);
    refresh();
  });
  connect(chart_, &FrontChart::hoveredChanged, this, &SearchDialog::showHovered);
  connect(chart_, &FrontChart::chosen, this,
          [this](int index) { takeOver(search_.result().front[static_cast<size_t>(index)]); });
  connect(counts_, &CountsTable::chosen, this, &SearchDialog::takeOver);
  refresh();
}

QWidget* SearchDialog::makeFound() {
  auto* right = new QWidget;
  QVBoxLayout* column = columnOf(right, {}, 8);
  state_ = muted({});
  state_->setObjectName(QStringLiteral("state"));
  state_->setWordWrap(true);
  column->addWidget(state_);
  found_ = new QStackedLayout;
  column->addLayout(found_, 1);
  found_->addWidget(makeFront());
  counts_ = new CountsTable;
  found_->addWidget(counts_);
  return right;
}

QWidget* SearchDialog::makeFront() {
  auto* front = new QWidget;
  QVBoxLayout* column = columnOf(front, {}, 8);
  chart_ = new FrontChart;
  column->addWidget(chart_, 1);
  column->addWidget(makeHovered());
  return front;
}

QWidget* SearchDialog::makeHovered() {
  auto* box = new QWidget;
  box->setFixedHeight(kMesh);
  QHBoxLayout* row = rowOf(box, {}, 16);
  auto* text = new QVBoxLayout;
  text->setSpacing(4);
  words_ = section({});
  words_->setObjectName(QStringLiteral("words"));
  words_->setWordWrap(true);
  figures_ = mono({});
  figures_->setObjectName(QStringLiteral("figures"));
  figures_->setWordWrap(true);
  step_ = new FoundStep(client_);
  text->addWidget(words_);
  text->addWidget(figures_);
  text->addWidget(step_);
  text->addStretch(1);
  row->addLayout(text, 1);
  mesh_ = new MeshView;
  mesh_->setFixedWidth(kMesh + 40);
  row->addWidget(mesh_);
  return box;
}

void SearchDialog::startOrCancel() {
  if (search_.isRunning()) return search_.cancel();
  const auto question = fields_->question();
  if (!question) return complain(QString::fromStdString(question.error().message));
  asked_ = *question;
  trouble_.clear();
  search_.start(asked_);
  refresh();
}

void SearchDialog::complain(const QString& why) {
  trouble_ = why;
  refresh();
}

/// Why a search that has ended shows no layout; empty: it shows some, or was cancelled.
QString SearchDialog::whyNothing() const {
  if (isCounting()) {
    const plan::RankCounts& all = search_.counts();
    return all.complete && all.counts.empty() ? tr("No number of ranks could be searched.")
                                              : QString();
  }
  const plan::SearchResult& result = search_.result();
  if (result.planned > 0 || !result.complete) return {};
  if (!result.given_why.empty())
    return tr("No layout could be planned: %1").arg(QString::fromStdString(result.given_why));
  return result.candidates == 0
             ? tr("No layout of %1 keeps all pinned fields: unpin one, or change the ranks.")
                   .arg(format::plural(result.ranks, counted::kRank))
             : tr("None of %1 layouts could be planned.").arg(format::count(result.candidates));
}

void SearchDialog::refresh() {
  const bool running = search_.isRunning();
  go_->setText(running ? tr("Cancel search") : tr("Search"));
  kind_->setEnabled(!running);
  fields_->setEnabled(!running);
  const bool fails = !running && !trouble_.isEmpty();
  state_->setText(fails ? trouble_ : isCounting() ? countsWords() : frontWords());
  setTone(state_, fails || (!isCounting() && search_.result().least) ? "bad" : "muted");
  chart_->setEmptyText(running ? tr("Planning the first layouts …")
                       : search_.result().planned == 0
                           ? tr("A search shows its layouts here, by memory and throughput")
                           : tr("Nothing fits"));
  chart_->setResult(search_.result());
  counts_->setCounts(search_.counts());
  showHovered(chart_->hovered());
  showWhy();
}

QString SearchDialog::frontWords() {
  const plan::SearchResult& result = search_.result();
  if (search_.isRunning())
    return tr("searching … %1, %2 of %3 layouts planned")
        .arg(format::percent(search_.progress()), format::count(result.planned),
             format::count(result.candidates));
  if (result.planned == 0)
    return tr(
        "Search plans the most promising layouts of these ranks: the fastest ones, and those that "
        "need less memory.");
  if (result.least)
    return tr("Nothing fits: the closest layout needs %1 more. %2")
        .arg(bytesText(result.least->peak_bytes - result.limit_bytes),
             result.closed_by.empty() ? QString()
                                      : tr("It would fit with %1.")
                                            .arg(QString::fromStdString(result.closed_by.front())));
  QString words =
      tr("%1 layouts, %2 planned in %3%4. Click one to put it into the recipe.")
          .arg(format::count(result.candidates), format::count(result.planned),
               format::seconds(result.seconds), result.complete ? QString() : tr(", cancelled"));
  if (!result.never_measured.empty())
    words +=
        tr(" %1: %2 of memory stay free for what is not known.")
            .arg(QString::fromStdString(result.never_measured), bytesText(result.margin_bytes));
  return words;
}

QString SearchDialog::countsWords() {
  const plan::RankCounts& all = search_.counts();
  const auto searched = static_cast<qint64>(all.counts.size());
  if (search_.isRunning())
    return tr("searching … %1, %2 searched")
        .arg(format::percent(search_.progress()), format::plural(searched, counted::kRankCount));
  if (searched == 0)
    return tr("Search finds the fastest layout for each of several numbers of ranks.");
  return tr("%1 searched in %2%3. Click one to put its layout into the recipe.")
      .arg(format::plural(searched, counted::kRankCount), format::seconds(all.seconds),
           all.complete ? QString() : tr(", cancelled"));
}

void SearchDialog::showWhy() {
  clear(why_);
  const plan::SearchResult& result = search_.result();
  const auto add = [this](const QString& name, const std::string& why) {
    auto* words = label(tr("%1: %2").arg(name, QString::fromStdString(why)));
    words->setWordWrap(true);
    why_->addWidget(words);
    return words;
  };
  if (isCounting() || search_.isRunning() || result.planned == 0) return;
  why_->addWidget(section(tr("Why not mine, or others")));
  if (!result.given_why.empty())
    add(tr("This recipe"), result.given_why)->setObjectName(QStringLiteral("whyNotMine"));
  for (const plan::Alternative& each : result.alternatives)
    add(QString::fromStdString(each.name), each.why);
  why_->addStretch(1);
}

void SearchDialog::showHovered(int index) {
  const plan::SearchResult& result = search_.result();
  const bool any = !result.front.empty();
  const plan::Found* found = any ? &result.front[static_cast<size_t>(std::max(index, 0))] : nullptr;
  for (QWidget* each : std::initializer_list<QWidget*>{words_, figures_, step_, mesh_})
    each->setVisible(any);
  if (found == nullptr) return;
  words_->setText(QString::fromStdString(found->words));
  figures_->setText(tr("step %1, %2, %3")
                        .arg(format::seconds(found->step_seconds),
                             format::tokensPerSecond(found->tokens_per_second),
                             bytesText(found->peak_bytes)));
  step_->show(*found);
  // A search that runs has the cores, and may find a better one yet.
  if (!search_.isRunning()) step_->plan(asked_);
  const std::optional<recipe::Degrees> degrees = recipe::degrees_of(found->mesh);
  if (!degrees) return;
  constexpr qint64 kNode = 8;
  mesh_->setMesh(recipe::Mesh(*degrees), result.ranks, kNode, true);
}

void SearchDialog::takeOver(const plan::Found& found) {
  const auto taken = take(document_, found);
  if (taken) return accept();
  complain(QString::fromStdString(taken.error().message));
}

Result<> take(RecipeDocument& document, const plan::Found& found) {
  KeyValues pairs;
  std::optional<std::vector<recipe::Override>> overrides;
  for (const std::string& set : found.sets) {
    const QString text = QString::fromStdString(set);
    const QString key = text.section(QChar('='), 0, 0);
    if (key == QLatin1String("override"))
      overrides = recipe::parse("", "", {set}).recipe.overrides;
    else
      pairs.append({key, text.section(QChar('='), 1)});
  }
  const auto edited = document.textWith(pairs);
  if (!edited) return fail(edited);
  std::string text = edited->toStdString();
  if (overrides) {
    auto with = recipe::with_overrides(text, *overrides);
    if (!with) return fail(with);
    text = std::move(*with);
  }
  document.endEdit();
  document.setText(QString::fromStdString(text));
  document.endEdit();
  return {};
}

}  // namespace heddle::gui
