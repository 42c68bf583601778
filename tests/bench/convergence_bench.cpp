// 300 steps on Shakespeare: does training learn, do ranks and modes agree? Prints the figures and
// their bounds; takes minutes. Usage: convergence_bench [steps]
#include <fmt/format.h>

#include <QElapsedTimer>
#include <QJsonArray>
#include <cmath>

#include "tests/support/engine_process.h"

namespace {

QList<double> train(const char* name, const QStringList& arguments, const QString& steps) {
  QElapsedTimer timer;
  timer.start();
  const auto run = run_engine(
      QStringList{"train", QString(HEDDLE_SOURCE_DIR) + "/resources/recipes/shakespeare.toml",
                  "--set", "training.steps=" + steps} +
      arguments);
  if (run.exit_code != 0) qFatal("%s", run.err.constData());
  QList<double> losses;
  for (const QJsonValue loss : run.results()["losses"].toArray()) losses << loss.toDouble();
  fmt::print("{:<24} {:5.1f} min  {:6.0f} tok/s a rank  last loss {:.4f}\n", name,
             static_cast<double>(timer.elapsed()) / 60000.0,
             run.results()["tokens_per_second_per_rank"].toDouble(), losses.last());
  std::fflush(stdout);
  return losses;
}

double largest_relative_difference(const QList<double>& a, const QList<double>& b) {
  double most = 0;
  for (int i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / std::abs(b[i]));
  return most;
}

bool report(const char* what, double value, double bound) {
  fmt::print("{:<52} {:.3g}  (bound {:g}) {}\n", what, value, bound,
             value <= bound ? "ok" : "MISSED");
  return value <= bound;
}

}  // namespace

int main(int argc, char** argv) {
  const QString steps = argc > 1 ? argv[1] : "300";
  const auto planned = train("2 ranks, planned", {}, steps);
  const auto one = train("1 rank, planned", {"--ranks", "1"}, steps);
  const auto eager = train("2 ranks, eager", {"--mode", "eager"}, steps);
  const auto last = planned.mid(std::max<qsizetype>(0, planned.size() - 20));
  double mean = 0;
  for (double loss : last) mean += loss / static_cast<double>(last.size());
  bool ok = report("mean of the last 20 losses", mean, 5.3);
  ok &= report("1 rank against 2, largest relative difference",
               largest_relative_difference(one, planned), 5e-3);
  ok &= report("planned against eager, largest relative difference",
               largest_relative_difference(planned, eager), 1e-5);
  return ok ? 0 : 1;
}
