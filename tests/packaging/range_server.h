// A package index on loopback: one project page and one file, served with byte ranges.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QTcpServer>
#include <QTcpSocket>

namespace heddle {

/// Lives in the thread that made it; answers while that thread's event loop runs.
class RangeServer : public QObject {
 public:
  RangeServer(QString file_name, QByteArray file);

  /// For pip's PIP_INDEX_URL.
  QString index_url() const;

  /// The next download of the file ends after this many bytes, the connection closed.
  void cut_next_after(qint64 bytes) { cut_after_ = bytes; }

  /// First byte of each download so far.
  const QList<qint64>& starts() const { return starts_; }

 private:
  void answer(QTcpSocket* socket, const QByteArray& request);

  QTcpServer server_;
  QString name_;
  QByteArray file_;
  qint64 cut_after_ = -1;
  QList<qint64> starts_;
};

}  // namespace heddle
