// Small real wheels, and lock files that name them.
#pragma once

#include <QByteArray>
#include <QString>

namespace heddle::wheel {

inline const QString file_name = "torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl";

/// A wheel as packaging/libtorch.lock takes apart: one header, one library for the CPU and one for
/// CUDA, and a file that nobody asks for. `weight` bytes that do not compress make it larger.
QByteArray make(int weight);

/// A lock file for these bytes; the checksum can be given wrong.
QByteArray lock_for(const QByteArray& wheel, const QByteArray& sha256);
QByteArray lock_for(const QByteArray& wheel);

}  // namespace heddle::wheel
