#include "gui/window/drop_area.h"

#include <QDropEvent>
#include <QUrl>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/run_import.h"

namespace heddle::gui {
namespace {

QString recipeIn(const QMimeData* data) {
  for (const QUrl& url : data->urls())
    if (url.isLocalFile() && url.fileName().endsWith(QStringLiteral(".toml")))
      return url.toLocalFile();
  return {};
}

}  // namespace

DropArea::DropArea(Session& session, QWidget* window,
                   std::function<void(const QString&)> openRecipe)
    : QObject(window),
      session_(session),
      window_(window),
      openRecipe_(std::move(openRecipe)),
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
  if (!recipeIn(data).isEmpty()) return tr("Drop it to open the recipe in Compose");
  const auto runs = RunImport::pathsIn(data).size();
  return runs == 0 ? QString()
                   : tr("Drop to import %1 into Runs").arg(format::plural(runs, tr("path")));
}

void DropArea::take(const QMimeData* data) {
  if (const QString recipe = recipeIn(data); !recipe.isEmpty()) return openRecipe_(recipe);
  const QStringList paths = RunImport::pathsIn(data);
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
