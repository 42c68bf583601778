#include "gui/views/runs/run_marks.h"

#include <QApplication>
#include <QClipboard>
#include <QColorDialog>
#include <QHeaderView>
#include <QPainter>
#include <algorithm>
#include <map>

#include "gui/format.h"
#include "gui/models/text_file.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/why_not.h"

namespace heddle::gui {
namespace {

QIcon swatch(const QColor& color) {
  QPixmap picture(14, 14);
  picture.fill(color);
  return picture;
}

QIcon markerIcon(int marker) {
  QPixmap picture(28, 14);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  paintRunStroke(painter, picture.rect(), {colors().text, marker});
  return picture;
}

}  // namespace

RunMarks::RunMarks(Session& session, RunsModel& model, RunLines& lines, RunsTable* table,
                   const RunColumns& columns, std::function<QList<qint64>()> chosen)
    : QObject(table),
      session_(session),
      model_(model),
      lines_(lines),
      table_(table),
      columns_(columns),
      chosen_(std::move(chosen)),
      editor_(new TagEditor(table)),
      writing_(session.workingThreads(), this) {
  star_ = make("starRuns", tr("Star"), QStringLiteral("pin"), QKeySequence(Qt::Key_S));
  tags_ = make("tagRuns", tr("Tags …"), QStringLiteral("flag"), QKeySequence(Qt::Key_T));
  rename_ = make("renameRun", tr("Rename"), QStringLiteral("compose"));
  archive_ = make("archiveRuns", tr("Archive"), QStringLiteral("folder"), QKeySequence(Qt::Key_E));
  copy_ =
      make("copyRuns", tr("Copy rows"), QStringLiteral("copy"), QKeySequence(QKeySequence::Copy));
  markdown_ = make("copyMarkdown", tr("Copy rows as Markdown"), QStringLiteral("copy"),
                   QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
  save_ = make("saveRows", tr("Save rows as CSV …"), QStringLiteral("download"));
  for (QAction* action : {star_, tags_, archive_, copy_, markdown_, save_})
    setWhyNot(action, tr("choose a run first"));
  setWhyNot(rename_, tr("choose one run"));
  connect(star_, &QAction::triggered, this, [this] { star(chosen_()); });
  connect(tags_, &QAction::triggered, this, [this] {
    const QModelIndex at = table_->currentIndex();
    const QRect cell = table_->visualRect(at.siblingAtColumn(
        table_->isColumnHidden(RunsModel::Tags) ? RunsModel::Name : RunsModel::Tags));
    editTags(table_->viewport()->mapToGlobal(cell.bottomLeft()));
  });
  connect(rename_, &QAction::triggered, this, [this] {
    const QList<qint64> runs = chosen_();
    const int line = runs.size() == 1 ? lines_.lineOf(runs.first()) : -1;
    if (line >= 0) table_->edit(lines_.index(line, RunsModel::Name));
  });
  connect(archive_, &QAction::triggered, this, &RunMarks::archive);
  connect(copy_, &QAction::triggered, this, [this] { copy(RunText::tabs); });
  connect(markdown_, &QAction::triggered, this, [this] { copy(RunText::markdown); });
  connect(save_, &QAction::triggered, this, &RunMarks::save);
  connect(table_, &RunsTable::starPressed, this,
          [this](const QModelIndex& index) { star(lines_.runsOf(index)); });
  connect(table_, &RunsTable::tagsWanted, this, [this](const QModelIndex& index) {
    editTags(table_->viewport()->mapToGlobal(table_->visualRect(index).bottomLeft()));
  });
  connect(&lines_, &RunLines::edited, this, &RunMarks::edit);
  connect(editor_, &TagEditor::changed, this,
          [this](const QList<qint64>& runs, const std::vector<std::string>& add,
                 const std::vector<std::string>& remove) {
            write(runs, [add, remove](storage::Writer& writer, qint64 run) -> Result<> {
              const auto tags = writer.change_tags(run, add, remove).get();
              return tags ? Result<>{} : fail(tags);
            });
          });
}

QAction* RunMarks::make(const char* id, const QString& text, const QString& iconName,
                        const QKeySequence& key) {
  auto* action = new QAction(icon(iconName), text, this);
  action->setObjectName(QLatin1String(id));
  action->setShortcut(key);
  // A letter typed elsewhere is a letter.
  action->setShortcutContext(Qt::WidgetShortcut);
  table_->addAction(action);
  return action;
}

void RunMarks::write(const QList<qint64>& runs, const Change& change) {
  session_.act(
      writing_,
      [runs, change](workbench::Workbench& workbench) -> Result<> {
        for (const qint64 run : runs)
          if (const Result<> done = change(workbench.writer(), run); !done) return done;
        return {};
      },
      [this](const Result<>& done) {
        if (!done) Q_EMIT session_.message(QString::fromStdString(done.error().message), Tone::bad);
        Q_EMIT changed();
      });
}

void RunMarks::star(const QList<qint64>& runs) {
  const bool all = std::ranges::all_of(runs, [this](qint64 run) {
    const int row = model_.indexOf(run);
    return row >= 0 && model_.row(row).summary.starred;
  });
  write(runs, [starred = !all](storage::Writer& writer, qint64 run) {
    return writer.set_starred(run, starred).get();
  });
}

void RunMarks::editTags(const QPoint& globalPosition) {
  std::vector<storage::RunSummary> runs;
  QStringList tags;
  const QList<qint64> chosen = chosen_();
  for (int row = 0; row < model_.rowCount(); ++row) {
    const storage::RunSummary& run = model_.row(row).summary;
    for (const std::string& tag : run.tags) tags << QString::fromStdString(tag);
    if (chosen.contains(run.id)) runs.push_back(run);
  }
  if (!runs.empty()) editor_->open(globalPosition, runs, tags);
}

void RunMarks::edit(qint64 run, const QString& key, const QString& text) {
  const std::string typed = text.toStdString();
  if (key == QStringLiteral("notes"))
    return write({run}, [typed](storage::Writer& writer, qint64 id) {
      return writer.set_notes(id, typed).get();
    });
  write({run},
        [typed](storage::Writer& writer, qint64 id) { return writer.rename(id, typed).get(); });
}

void RunMarks::archive() {
  const QList<qint64> runs = chosen_();
  const bool back = archived_;
  write(runs, [back](storage::Writer& writer, qint64 run) {
    return writer.set_archived(run, !back).get();
  });
  if (back || runs.isEmpty()) return;
  Q_EMIT session_.offered(tr("Archived %1").arg(format::plural(runs.size(), counted::kRun)),
                          tr("Undo"), [this, runs] {
                            write(runs, [](storage::Writer& writer, qint64 run) {
                              return writer.set_archived(run, false).get();
                            });
                          });
}

void RunMarks::setColor(const QColor& color) {
  setStroke([color](OwnStroke& stroke) { stroke.color = color; });
}

void RunMarks::setMarker(int marker) {
  setStroke([marker](OwnStroke& stroke) { stroke.marker = marker; });
}

void RunMarks::setStroke(const std::function<void(OwnStroke& stroke)>& change) {
  std::map<qint64, std::string> texts;
  for (const qint64 run : chosen_()) {
    const int row = model_.indexOf(run);
    if (row < 0) continue;
    OwnStroke stroke = OwnStroke::of(QString::fromStdString(model_.row(row).summary.color));
    change(stroke);
    texts[run] = stroke.text().toStdString();
  }
  write(chosen_(), [texts](storage::Writer& writer, qint64 run) -> Result<> {
    const auto text = texts.find(run);
    return text == texts.end() ? Result<>{} : writer.set_color(run, text->second).get();
  });
}

/// All columns that were chosen, whether or not the window has room for them.
QString RunMarks::text(RunText form) const {
  return textOfRuns(model_, columns_.chosen(), chosen_(), form);
}

void RunMarks::copy(RunText form) {
  const qsizetype runs = chosen_().size();
  if (runs == 0) return;
  QApplication::clipboard()->setText(text(form));
  Q_EMIT session_.message(tr("Copied %1").arg(format::plural(runs, counted::kRow)), Tone::text);
}

void RunMarks::save() {
  const QString rows = text(RunText::csv);
  const QString file = FileDialog::fileToSave(table_->window(), tr("Save rows"),
                                              QStringLiteral("runs.csv"), tr("CSV (*.csv)"));
  if (file.isEmpty()) return;
  const Result<> written = writeText(file, rows);
  Q_EMIT session_.message(written ? tr("The rows are in %1").arg(file)
                                  : QString::fromStdString(written.error().message),
                          written ? Tone::good : Tone::bad);
}

void RunMarks::describe(const QList<qint64>& runs, bool archived) {
  archived_ = archived;
  const QString several = runs.size() > 1
                              ? QStringLiteral(" ") + format::plural(runs.size(), counted::kRun)
                              : QString();
  star_->setText(tr("Star%1").arg(several));
  tags_->setText(runs.size() > 1 ? tr("Tags of %1 runs …").arg(runs.size()) : tr("Tags …"));
  archive_->setText((archived ? tr("Take%1 out of the archive") : tr("Archive%1")).arg(several));
  for (QAction* action : {star_, tags_, archive_, copy_, markdown_, save_})
    action->setEnabled(!runs.isEmpty());
  rename_->setEnabled(runs.size() == 1);
}

void RunMarks::addTo(QMenu& menu) {
  menu.addActions({star_, tags_, rename_});
  QMenu* colors = menu.addMenu(tr("Colour"));
  colors->setObjectName(QStringLiteral("runColors"));
  const Scheme scheme = Theme::instance().scheme();
  for (int slot = 0; slot < kRunColors; ++slot) {
    const QColor color = runStroke(slot, scheme).color;
    colors->addAction(swatch(color), color.name(), this, [this, color] { setColor(color); });
  }
  colors->addAction(tr("Another …"), this, [this] {
    auto* dialog = new QColorDialog(table_->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setOption(QColorDialog::DontUseNativeDialog);
    connect(dialog, &QColorDialog::colorSelected, this,
            [this](const QColor& color) { setColor(color); });
    dialog->open();
  });
  colors->addAction(tr("By its number"), this, [this] { setColor({}); });
  QMenu* markers = menu.addMenu(tr("Marker"));
  markers->setObjectName(QStringLiteral("runMarkers"));
  for (int marker = 0; marker < kRunMarkers; ++marker)
    markers->addAction(markerIcon(marker),
                       QLatin1String(kRunMarkerNames[static_cast<size_t>(marker)]), this,
                       [this, marker] { setMarker(marker); });
  markers->addAction(tr("By its number"), this, [this] { setMarker(-1); });
  menu.addActions({archive_, copy_, markdown_, save_});
}

}  // namespace heddle::gui
