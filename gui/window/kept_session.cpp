#include "gui/window/kept_session.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

#include "base/durable_file.h"
#include "base/read_file.h"
#include "workbench/paths.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;

QString sessionsFolder() {
  return QString::fromStdString(workbench::settings_folder()) + QStringLiteral("/sessions");
}

QString fileOf(const QString& store) {
  const QByteArray hash =
      QCryptographicHash::hash(store.toUtf8(), QCryptographicHash::Sha256).toHex().left(24);
  return sessionsFolder() + QChar('/') + QString::fromLatin1(hash) + QStringLiteral(".json");
}

/// When the file was made, which tells it from one that takes its place. 0: not known.
qint64 birthOf(const QString& store) {
  const QDateTime born = QFileInfo(store).birthTime();
  return born.isValid() ? born.toMSecsSinceEpoch() : 0;
}

void dropOldest() {
  const QFileInfoList all =
      QDir(sessionsFolder()).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);
  for (qsizetype i = KeptSession::kMax; i < all.size(); ++i) QFile::remove(all[i].filePath());
}

}  // namespace

KeptSession::KeptSession(const QString& store)
    : store_(QFileInfo(store).absoluteFilePath()), file_(fileOf(store_)) {}

QJsonObject KeptSession::read() const {
  const auto text = read_file_if_there(file_.toStdString(), kMaxBytes);
  if (!text || !*text) return {};
  const QJsonObject kept = QJsonDocument::fromJson(QByteArray::fromStdString(**text)).object();
  const bool same =
      kept["store"].toString() == store_ && kept["born"].toInteger() == birthOf(store_);
  return same ? kept["state"].toObject() : QJsonObject();
}

void KeptSession::write(const QJsonObject& state) {
  if (state == written_) return;
  written_ = state;
  writing_.post([store = store_, path = file_, state] {
    const QJsonObject kept{{"store", store}, {"born", birthOf(store)}, {"state", state}};
    QDir().mkpath(QFileInfo(path).absolutePath());
    const bool isNew = !QFile::exists(path);
    (void)write_atomically(path.toStdString(), QJsonDocument(kept).toJson().toStdString());
    if (isNew) dropOldest();
  });
}

}  // namespace heddle::gui
