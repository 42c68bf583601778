#include "gui/views/compose/search_dialog.h"

#include <QGridLayout>

#include "engine/recipe/units.h"
#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kPins = 264, kMesh = 168, kWhy = 120;

// What a search decides and a person may want to keep.
constexpr std::array kKeys = {"parallelism.dp_replicate",
                              "parallelism.dp_shard",
                              "parallelism.tp",
                              "parallelism.cp",
                              "parallelism.cp_mode",
                              "parallelism.pp",
                              "parallelism.pp_schedule",
                              "parallelism.microbatches",
                              "training.local_batch",
                              "wrapping.reshard_after_forward",
                              "recompute.mode"};

QString bytesText(qint64 bytes) { return format::bytes(static_cast<double>(bytes)); }

}  // namespace

SearchDialog::SearchDialog(RecipeDocument& document, const QString& engine, QWidget* parent)
    : Dialog(tr("Search best layout"), QStringLiteral("search"), Tone::accent, parent),
      document_(document),
      search_(engine) {
  setObjectName(QStringLiteral("searchDialog"));
  auto* top = new QHBoxLayout;
  top->setSpacing(metric::edge);
  top->addWidget(makePins());
  top->addWidget(makeFront(), 1);
  body()->addLayout(top, 1);
  why_ = addRoom(kWhy, 6);
  close_ = quietButton(tr("Close"));
  close_->setObjectName(QStringLiteral("close"));
  go_ = primaryButton(tr("Search"), QStringLiteral("search"));
  go_->setObjectName(QStringLiteral("search"));
  addButton(close_);
  addButton(go_);
  connect(close_, &QPushButton::clicked, this, &QDialog::reject);
  connect(go_, &QPushButton::clicked, this, &SearchDialog::startOrCancel);
  connect(&search_, &LayoutSearch::advanced, this, &SearchDialog::refresh);
  connect(&search_, &LayoutSearch::ended, this, [this](const QString& why) {
    refresh();
    if (!why.isEmpty()) {
      state_->setText(why);
      setTone(state_, "bad");
    }
  });
  connect(chart_, &FrontChart::hoveredChanged, this, &SearchDialog::showHovered);
  connect(chart_, &FrontChart::chosen, this, &SearchDialog::takeOver);
  refresh();
}

QWidget* SearchDialog::makePins() {
  auto* pins = new QWidget;
  pins->setFixedWidth(kPins);
  QVBoxLayout* column = columnOf(pins, {}, 4);
  column->addWidget(section(tr("Fixed or free")));
  QLabel* words = caption(tr("A pinned field stays as it is; the search decides the others."));
  words->setWordWrap(true);
  column->addWidget(words);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(1, 1);
  for (const char* key : kKeys) {
    const recipe::KeyInfo* info = recipe::find_key(key);
    const QString name = QString::fromStdString(info->label);
    QToolButton* button = iconButton(QStringLiteral("pin"), tr("Keep %1 as it is").arg(name));
    button->setObjectName(QStringLiteral("pin %1").arg(QLatin1String(key)));
    button->setCheckable(true);
    const int row = grid->rowCount();
    grid->addWidget(button, row, 0);
    grid->addWidget(label(name), row, 1);
    grid->addWidget(mono(document_.value(QLatin1String(key)).remove(QChar('"'))), row, 2,
                    Qt::AlignRight);
    pins_.append({QLatin1String(key), button});
  }
  column->addLayout(grid);
  limit_ = new QLineEdit;
  limit_->setObjectName(QStringLiteral("memoryLimit"));
  limit_->setPlaceholderText(tr("all that the device has"));
  limit_->setAccessibleName(tr("Memory limit of a rank"));
  column->addSpacing(4);
  column->addWidget(muted(tr("Memory limit of a rank")));
  column->addWidget(limit_);
  column->addStretch(1);
  return pins;
}

QWidget* SearchDialog::makeFront() {
  auto* right = new QWidget;
  QVBoxLayout* column = columnOf(right, {}, 8);
  state_ = muted({});
  state_->setObjectName(QStringLiteral("state"));
  state_->setWordWrap(true);
  column->addWidget(state_);
  chart_ = new FrontChart;
  column->addWidget(chart_, 1);
  column->addWidget(makeHovered());
  return right;
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
  step_ = new StackedBar(14);
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

SearchQuestion SearchDialog::question() const {
  SearchQuestion question;
  question.recipe = document_.text();
  question.file = document_.file();
  for (const Pin& pin : pins_)
    if (pin.button->isChecked()) question.fixes << pin.key + QChar('=') + document_.value(pin.key);
  if (const auto bytes = recipe::parse_bytes(limit_->text().toStdString()))
    question.memoryLimit = *bytes;
  return question;
}

void SearchDialog::startOrCancel() {
  if (search_.isRunning()) return search_.cancel();
  const QString limit = limit_->text().trimmed();
  if (!limit.isEmpty() && !recipe::parse_bytes(limit.toStdString())) {
    state_->setText(tr("%1 is no size; valid: as in 60 GiB").arg(limit));
    setTone(state_, "bad");
    return;
  }
  search_.start(question());
  refresh();
}

void SearchDialog::refresh() {
  const plan::SearchResult& result = search_.result();
  const bool running = search_.isRunning();
  go_->setText(running ? tr("Cancel search") : tr("Search"));
  for (const Pin& pin : pins_) pin.button->setEnabled(!running);
  limit_->setEnabled(!running);
  setTone(state_, "muted");
  if (running) {
    state_->setText(tr("searching … %1, %2 of %3 layouts planned")
                        .arg(format::percent(search_.progress()), format::count(result.planned),
                             format::count(result.candidates)));
  } else if (result.planned == 0) {
    state_->setText(
        tr("Search plans the promising layouts of these ranks: the fastest, and those "
           "that need less memory."));
  } else if (result.least) {
    setTone(state_, "bad");
    state_->setText(tr("Nothing fits: the least that was found lacks %1. %2")
                        .arg(bytesText(result.least->peak_bytes - result.limit_bytes),
                             result.closed_by.empty()
                                 ? QString()
                                 : tr("It would fit with %1.")
                                       .arg(QString::fromStdString(result.closed_by.front()))));
  } else {
    state_->setText(tr("%1 layouts, %2 planned in %3%4. A click on one takes it over.")
                        .arg(format::count(result.candidates), format::count(result.planned),
                             format::seconds(result.seconds),
                             result.complete ? QString() : tr(", cancelled")));
  }
  chart_->setResult(result);
  showHovered(chart_->hovered());
  showWhy();
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
  if (search_.isRunning() || result.planned == 0) return;
  why_->addWidget(section(tr("Why not mine, and others")));
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
  const auto part = [](const QString& name, double seconds, const QColor& color) {
    return StackedBar::Part{seconds, color,
                            QStringLiteral("%1 %2").arg(name, format::seconds(seconds))};
  };
  step_->setParts({part(tr("compute"), found->compute_seconds, colors().compute),
                   part(tr("exposed communication"), found->exposed_seconds, colors().exposed),
                   part(tr("bubble"), found->bubble_seconds, colors().line)},
                  found->step_seconds);
  if (found->mesh.size() != recipe::kDimensions) return;
  recipe::Parallelism mesh;
  mesh.pp = found->mesh[0];
  mesh.dp_replicate = found->mesh[1];
  mesh.dp_shard = found->mesh[2];
  mesh.cp = found->mesh[3];
  mesh.tp = found->mesh[4];
  constexpr qint64 kNode = 8;
  mesh_->setMesh(recipe::Mesh(mesh), result.ranks, kNode, true);
}

void SearchDialog::takeOver(int index) {
  const auto taken = take(document_, search_.result().front[static_cast<size_t>(index)]);
  if (taken) return accept();
  state_->setText(QString::fromStdString(taken.error().message));
  setTone(state_, "bad");
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
