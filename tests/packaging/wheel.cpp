#include "tests/packaging/wheel.h"

#include <QCryptographicHash>
#include <QProcess>

namespace heddle::wheel {

QByteArray make(int weight) {
  static const char* const script = R"(
import io, random, sys, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
    wheel.writestr("torch/include/ATen/Tensor.h", "#pragma once\n")
    wheel.writestr("torch/lib/libtorch_cpu.so", random.Random(1).randbytes(int(sys.argv[1])))
    wheel.writestr("torch/lib/libtorch_cuda.so", "for the GPU")
    wheel.writestr("torch/nn/functional.py", "not needed")
sys.stdout.buffer.write(out.getvalue())
)";
  QProcess python;
  python.start("/usr/bin/python3", {"-c", script, QString::number(weight)});
  python.waitForFinished();
  return python.readAllStandardOutput();
}

QByteArray lock_for(const QByteArray& wheel, const QByteArray& sha256) {
  return "[[wheel]]\nfile = \"" + file_name.toUtf8() + "\"\nsha256 = \"" + sha256 +
         "\"\nbytes = " + QByteArray::number(wheel.size()) + R"(
[wheel.take]
"torch/include/" = "include/"
"torch/lib/libtorch_cpu.so" = "lib/libtorch_cpu.so"
[wheel.take_cuda]
"torch/lib/libtorch_cuda.so" = "lib/libtorch_cuda.so"
)";
}

QByteArray lock_for(const QByteArray& wheel) {
  return lock_for(wheel, QCryptographicHash::hash(wheel, QCryptographicHash::Sha256).toHex());
}

}  // namespace heddle::wheel
