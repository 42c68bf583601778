#include "tests/packaging/range_server.h"

#include <QHostAddress>
#include <QRegularExpression>

namespace heddle {

RangeServer::RangeServer(QString file_name, QByteArray file)
    : name_(std::move(file_name)), file_(std::move(file)) {
  server_.listen(QHostAddress::LocalHost);
  connect(&server_, &QTcpServer::newConnection, this, [this] {
    QTcpSocket* socket = server_.nextPendingConnection();
    connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
      if (!socket->peek(64 * 1024).contains("\r\n\r\n")) return;
      answer(socket, socket->readAll());
    });
  });
}

QString RangeServer::index_url() const {
  return QString("http://127.0.0.1:%1/simple").arg(server_.serverPort());
}

void RangeServer::answer(QTcpSocket* socket, const QByteArray& request) {
  const QByteArray path = request.split(' ').value(1);
  QByteArray status = "200 OK", extra = "Content-Type: text/html\r\n", body;
  qint64 sent = -1;
  if (path.startsWith("/simple/")) {
    body = "<!DOCTYPE html><html><body><a href=\"/files/" + name_.toUtf8() + "\">" +
           name_.toUtf8() + "</a></body></html>";
  } else {
    static const QRegularExpression range("Range: bytes=(\\d+)-",
                                          QRegularExpression::CaseInsensitiveOption);
    const auto match = range.match(QString::fromLatin1(request));
    const qint64 start = match.hasMatch() ? match.captured(1).toLongLong() : 0;
    starts_ << start;
    if (match.hasMatch()) {
      status = "206 Partial Content";
      extra = "Content-Range: bytes " + QByteArray::number(start) + "-" +
              QByteArray::number(file_.size() - 1) + "/" + QByteArray::number(file_.size()) +
              "\r\n";
    }
    body = file_.mid(start);
    sent = std::exchange(cut_after_, -1);
  }
  socket->write("HTTP/1.1 " + status + "\r\n" + extra + "Connection: close\r\nContent-Length: " +
                QByteArray::number(body.size()) + "\r\n\r\n" + (sent < 0 ? body : body.left(sent)));
  socket->disconnectFromHost();
}

}  // namespace heddle
