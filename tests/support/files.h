// Whole files in and out.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>
#include <fstream>
#include <iterator>
#include <string>

namespace heddle::test {

/// Nothing where it cannot be read.
inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline QByteArray read_bytes(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

inline bool write_bytes(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  return file.open(QFile::WriteOnly) && file.write(bytes) == bytes.size();
}

}  // namespace heddle::test
