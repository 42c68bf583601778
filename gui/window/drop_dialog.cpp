#include "gui/window/drop_dialog.h"

#include <QFileInfo>
#include <QGridLayout>
#include <algorithm>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr int kDropWidth = 600, kLinesHeight = 132, kLineBetween = 8;
enum DropColumn { kSign, kName, kWords, kAction };

}  // namespace

DropDialog::DropDialog(const std::vector<Dropped>& all, QWidget* parent)
    : Dialog(tr("Dropped on the window"), QStringLiteral("download"), Tone::accent, parent) {
  setObjectName(QStringLiteral("dropDialog"));
  setMinimumWidth(kDropWidth);
  QVBoxLayout* lines = addRoom(kLinesHeight, kLineBetween);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(kLineBetween);
  grid->setVerticalSpacing(kLineBetween);
  grid->setColumnStretch(kName, 1);
  grid->setColumnStretch(kWords, 1);
  for (size_t i = 0; i < std::min(all.size(), kMaxLines); ++i) addLine(*grid, all[i]);
  lines->addLayout(grid);
  if (all.size() > kMaxLines)
    lines->addWidget(muted(tr("and %1 more").arg(format::count(qint64(all.size() - kMaxLines)))));
  lines->addStretch(1);

  QStringList imported;
  qint64 runs = 0, refused = 0;
  bool counted = true;
  for (const Dropped& one : all) {
    if (one.kind == Dropped::Kind::refused) ++refused;
    if (!one.isImported()) continue;
    imported << one.path;
    runs += one.runs;
    counted &= one.kind == Dropped::Kind::store;
  }
  QStringList words;
  if (!imported.isEmpty())
    words << tr(
        "Importing copies runs into this window's store; those that it has already stay as "
        "they are, and what was dropped is not changed.");
  if (refused > 0) words << tr("What is marked is left out.");
  auto* note = muted(words.join(QChar(' ')));
  note->setWordWrap(true);
  body()->addWidget(note);

  QPushButton* cancel = quietButton(tr("Cancel"));
  cancel->setObjectName(QStringLiteral("cancelDrop"));
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  addButton(cancel);
  cancel->setFocus();
  if (imported.isEmpty()) return;
  QPushButton* import = primaryButton(
      counted ? tr("Import %1").arg(format::plural(runs, counted::kRun)) : tr("Import"));
  import->setObjectName(QStringLiteral("importDropped"));
  import->setEnabled(!counted || runs > 0);
  import->setDefault(true);
  connect(import, &QPushButton::clicked, this, [this, imported] {
    accept();
    Q_EMIT importWanted(imported);
  });
  addButton(import);
  import->setFocus();
}

void DropDialog::addLine(QGridLayout& lines, const Dropped& one) {
  const int row = lines.count() > 0 ? lines.rowCount() : 0;
  const bool refused = one.kind == Dropped::Kind::refused;
  lines.addWidget(new Symbol(16, QLatin1String(refused ? "warning" : "check"),
                             refused ? Tone::warn : Tone::good),
                  row, kSign, Qt::AlignTop);
  auto* name = new ElidedLabel(format::spelled(QFileInfo(one.path).fileName().toStdString()),
                               "mono", Qt::ElideMiddle);
  name->setTextFormat(Qt::PlainText);
  name->setMinimumWidth(kDropWidth / 4);
  lines.addWidget(name, row, kName, Qt::AlignTop);
  QLabel* words = label(format::spelled(one.words.toStdString()), refused ? "" : "muted");
  words->setTextFormat(Qt::PlainText);
  words->setWordWrap(true);
  lines.addWidget(words, row, kWords, Qt::AlignTop);
  const auto addLink = [&](const QString& text, const QString& object, auto signal) {
    QPushButton* link = linkButton(text);
    link->setObjectName(object);
    link->setAccessibleName(tr("%1: %2").arg(text, name->fullText()));
    connect(link, &QPushButton::clicked, this, [this, signal, path = one.path] {
      accept();
      Q_EMIT(this->*signal)(path);
    });
    lines.addWidget(link, row, kAction, Qt::AlignTop | Qt::AlignLeft);
  };
  if (one.kind == Dropped::Kind::store)
    addLink(tr("Open in a new window"), QStringLiteral("openStore"), &DropDialog::storeWanted);
  if (one.kind == Dropped::Kind::recipe)
    addLink(tr("Open in Compose"), QStringLiteral("openRecipe"), &DropDialog::recipeWanted);
}

}  // namespace heddle::gui
