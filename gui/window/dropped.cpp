#include "gui/window/dropped.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSet>
#include <algorithm>
#include <array>

#include "gui/format.h"
#include "storage/queries.h"
#include "workbench/importers/heddle_store.h"
#include "workbench/importers/importer.h"

namespace heddle::gui {
namespace {

constexpr std::array kEndingsOfRuns = {".csv", ".sqlite", ".db", ".heddle"};
constexpr std::array kEndingsOfTraces = {".json", ".json.gz", ".pftrace", ".perfetto-trace"};

struct DropWords {
  Q_DECLARE_TR_FUNCTIONS(Dropped)
};

template <typename Endings>
bool endsLike(const QString& path, const Endings& endings) {
  return std::ranges::any_of(endings, [&](const char* ending) {
    return path.endsWith(QLatin1String(ending), Qt::CaseInsensitive);
  });
}

Dropped refused(Dropped of, const QString& why) {
  of.kind = Dropped::Kind::refused;
  of.words = why;
  return of;
}

/// The store's runs are counted: who imports them wants to know.
Dropped lookAtStore(Dropped of) {
  auto reader = storage::Reader::open(of.path.toStdString());
  const auto runs = reader ? reader->runs() : fail(reader);
  if (!runs) return refused(std::move(of), QString::fromStdString(runs.error().message));
  of.kind = Dropped::Kind::store;
  of.runs = static_cast<qint64>(runs->size());
  of.words = DropWords::tr("store with %1").arg(format::plural(of.runs, counted::kRun));
  return of;
}

Dropped lookAt(const QString& path, const QString& ownStore) {
  Dropped of{.path = path};
  const QFileInfo file(path);
  if (!file.exists()) return refused(std::move(of), DropWords::tr("is not there"));
  if (file.isDir()) {
    of.kind = Dropped::Kind::runs;
    of.words = DropWords::tr("folder: the runs in it");
    return of;
  }
  if (!file.isFile()) return refused(std::move(of), DropWords::tr("is no file"));
  if (!file.isReadable()) return refused(std::move(of), DropWords::tr("cannot be read by you"));
  if (path.endsWith(QStringLiteral(".toml"))) {
    of.kind = Dropped::Kind::recipe;
    of.words = DropWords::tr("recipe");
    return of;
  }
  if (file.canonicalFilePath() == QFileInfo(ownStore).canonicalFilePath())
    return refused(std::move(of), DropWords::tr("is the store of this window"));
  for (const workbench::Importer* importer : workbench::importers()) {
    if (!importer->recognise(path.toStdString())) continue;
    if (importer == &workbench::kHeddleStore) return lookAtStore(std::move(of));
    of.kind = Dropped::Kind::runs;
    of.words = QString::fromLatin1(importer->words);
    return of;
  }
  if (endsLike(path, kEndingsOfTraces))
    return refused(std::move(of), DropWords::tr("traces of other programs are not imported"));
  return refused(std::move(of), DropWords::tr("is none of: %1").arg(droppable()));
}

}  // namespace

QString droppable() {
  return DropWords::tr(
      "recipes (*.toml), run directories, stores (*.sqlite, *.heddle), CSV logs with a loss");
}

bool mayBeDropped(const QString& path) {
  return path.endsWith(QStringLiteral(".toml")) || endsLike(path, kEndingsOfRuns) ||
         endsLike(path, kEndingsOfTraces) || QFileInfo(path).isDir();
}

std::vector<Dropped> lookAtDropped(const QStringList& paths, const QString& ownStore) {
  std::vector<Dropped> all;
  QSet<QString> seen;
  for (const QString& path : paths) {
    const QString canonical = QFileInfo(path).canonicalFilePath();
    if (const QString name = canonical.isEmpty() ? path : canonical; !seen.contains(name)) {
      seen.insert(name);
      all.push_back(lookAt(path, ownStore));
    }
  }
  return all;
}

}  // namespace heddle::gui
