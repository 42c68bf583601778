#include "gui/window/drop_area.h"

#include <QDropEvent>
#include <QFileInfo>
#include <QUrl>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/window/drop_dialog.h"

namespace heddle::gui {
namespace {

bool isRecipeName(const QString& path) { return path.endsWith(QStringLiteral(".toml")); }

/// The paths of this machine that may be something by their names. A drag is asked about at every
/// move: no file is opened.
QStringList pathsIn(const QMimeData* data) {
  QStringList paths;
  for (const QUrl& url : data->urls())
    if (url.isLocalFile() && mayBeDropped(url.toLocalFile())) paths << url.toLocalFile();
  return paths;
}

/// All of this machine: what cannot be used is reported.
QStringList allPathsIn(const QMimeData* data) {
  QStringList paths;
  for (const QUrl& url : data->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  return paths;
}

}  // namespace

DropArea::DropArea(Session& session, QWidget* window,
                   std::function<void(const QString&)> openRecipe)
    : QObject(window),
      session_(session),
      window_(window),
      openRecipe_(std::move(openRecipe)),
      looking_(session.workingThreads(), this),
      hint_(new QLabel(window)) {
  hint_->setObjectName(QStringLiteral("dropHint"));
  hint_->setProperty("role", "drop");
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setAttribute(Qt::WA_TransparentForMouseEvents);
  hint_->hide();
  window->setAcceptDrops(true);
  window->installEventFilter(this);
}

QString DropArea::promise(const QMimeData* data) {
  const QStringList paths = pathsIn(data);
  if (paths.isEmpty()) return {};
  if (paths.size() == 1 && isRecipeName(paths.first()))
    return tr("Drop it to open the recipe in Compose");
  const bool runsAlone = std::ranges::all_of(paths, [](const QString& path) {
    return path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive) || QFileInfo(path).isDir();
  });
  return (runsAlone ? tr("Drop to import %1 into Runs") : tr("Drop to open or import %1"))
      .arg(format::plural(paths.size(), counted::kPath));
}

void DropArea::take(const QMimeData* data) {
  const QStringList paths = allPathsIn(data);
  if (paths.size() == 1 && isRecipeName(paths.first()) && !QFileInfo(paths.first()).isDir())
    return openRecipe_(paths.first());
  looking_.add([paths, own = session_.storePath()] { return lookAtDropped(paths, own); },
               [this](const std::vector<Dropped>& all) { take(all); });
}

void DropArea::take(const std::vector<Dropped>& all) {
  const auto countOf = [&](Dropped::Kind kind) {
    return std::ranges::count(all, kind, &Dropped::kind);
  };
  const auto refused = countOf(Dropped::Kind::refused), runs = countOf(Dropped::Kind::runs);
  if (all.size() == 1 && refused == 1)
    return Q_EMIT session_.message(
        tr("%1: %2").arg(format::shortName(QFileInfo(all.front().path).fileName().toStdString()),
                         format::spelled(all.front().words.toStdString())),
        Tone::bad);
  if (runs == std::ssize(all)) {
    QStringList paths;
    for (const Dropped& one : all) paths << one.path;
    return import(paths);
  }
  auto* dialog = new DropDialog(all, window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &DropDialog::importWanted, this, &DropArea::import);
  connect(dialog, &DropDialog::storeWanted, this, &DropArea::storeWanted);
  connect(dialog, &DropDialog::recipeWanted, this,
          [this](const QString& path) { openRecipe_(path); });
  dialog->open();
}

void DropArea::import(const QStringList& paths) {
  if (paths.isEmpty()) return;
  Q_EMIT session_.pageRequested(QStringLiteral("runs"));
  Q_EMIT session_.importRequested(paths);
}

bool DropArea::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::DragEnter: {
      auto* enter = static_cast<QDragEnterEvent*>(event);
      const QString text = promise(enter->mimeData());
      if (text.isEmpty()) return false;
      enter->acceptProposedAction();
      hint_->setText(text);
      hint_->setGeometry(
          window_->rect().adjusted(metric::edge, metric::edge, -metric::edge, -metric::edge));
      hint_->show();
      hint_->raise();
      return true;
    }
    case QEvent::DragLeave:
      hint_->hide();
      return false;
    case QEvent::Drop: {
      auto* drop = static_cast<QDropEvent*>(event);
      hint_->hide();
      drop->acceptProposedAction();
      take(drop->mimeData());
      return true;
    }
    default:
      return false;
  }
}

}  // namespace heddle::gui
