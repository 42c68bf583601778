// Each pass on the toy, against a fixture that shows what it gives; and what must hold of any plan.
#include <QFile>
#include <QTest>

#include "../graph/toy.h"
#include "engine/graph/text.h"
#include "engine/passes/pipeline.h"

using namespace heddle;

namespace {

const QString kFolder = QString(HEDDLE_SOURCE_DIR) + "/tests/engine/passes/";

passes::PlanOptions options_for(const graph::Graph& toy) {
  passes::PlanOptions options;
  options.buckets = passes::by_block(toy);
  return options;
}

}  // namespace

class PassesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void each_pass_gives_what_its_fixture_shows_data() {
    QTest::addColumn<QString>("pass");
    for (const char* pass : passes::kPasses) QTest::newRow(pass) << QString(pass);
  }
  void each_pass_gives_what_its_fixture_shows() {
    QFETCH(QString, pass);
    graph::Graph toy = capture_toy();
    passes::PlanOptions options = options_for(toy);
    options.recompute.mode = [](std::string_view block) {
      return block == "block.0" ? passes::Recompute::full : passes::Recompute::none;
    };
    toy.micro_batches = 2;
    const QByteArray text = QByteArray::fromStdString(
        passes::to_text(passes::plan(std::move(toy), options, pass.toStdString())));
    QFile fixture(kFolder + "toy.after-" + pass + ".graph");
    const QByteArray expected = fixture.open(QFile::ReadOnly) ? fixture.readAll() : QByteArray();
    if (text != expected) fprintf(stderr, "%s", text.constData());
    QVERIFY2(text == expected, "the pass now gives what is printed above");
  }
};

QTEST_GUILESS_MAIN(PassesTest)
#include "passes_test.moc"
