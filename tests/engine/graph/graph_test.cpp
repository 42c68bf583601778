// The captured graph as text: what capture gives, that text can be read back, and what is wrong
// with texts that cannot.
#include <QDir>
#include <QFile>
#include <QTest>

#include "engine/graph/operators.h"
#include "engine/graph/text.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/update.h"
#include "tests/support/test_class.h"
#include "toy.h"

using namespace heddle::graph;

namespace {

const QString kFolder = QString(HEDDLE_SOURCE_DIR) + "/tests/engine/graph/";

QByteArray contents(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class GraphTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_toy_is_captured_as_its_fixture_says() {
    const QByteArray text = QByteArray::fromStdString(to_text(capture_toy()));
    const QByteArray fixture = contents(kFolder + "toy.graph");
    if (text != fixture) fprintf(stderr, "%s", text.constData());
    QVERIFY2(text == fixture, "the capture is now as printed above");
  }

  void a_capture_can_follow_another() { QVERIFY(to_text(capture_toy()) == to_text(capture_toy())); }

  void text_read_back_gives_the_same_text() {
    const std::string text = to_text(capture_toy());
    const auto parsed = parse_text(text, "toy.graph");
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().message.c_str());
    // Numbers are names: parsing counts again, a second round changes nothing more.
    const auto again = parse_text(to_text(*parsed), "toy.graph");
    QVERIFY(again.has_value());
    QCOMPARE(to_text(*again), to_text(*parsed));
    QCOMPARE(parsed->nodes.size(), capture_toy().nodes.size());
  }

  // A node keeps its arguments up to the last one that is not its default; the rest come back when
  // the operator is called.
  void arguments_at_their_defaults_are_not_kept() {
    const auto graph = parse_text(
        "heddle graph 1\n"
        "input %0: f32[4] x\n"
        "forward\n"
        "  %1: f32[4] = aten.add.Tensor(%0, %0, alpha=1)\n"
        "  %2: f32[4] = aten.add.Tensor(%1, %0, alpha=2)\n"
        "  %3: bf16[4] = aten._to_copy(%2, dtype=15)\n"
        "output %3: bf16[4] y\n"
        "end\n",
        "defaults.graph");
    QVERIFY2(graph.has_value(), graph ? "" : graph.error().message.c_str());
    const auto arguments = [&](const Node& node) {
      return arguments_of(
          node, find_operator(node.op)->schema(), [](ValueId) { return at::Tensor(); }, at::kCPU);
    };
    const Node &plain = graph->nodes[0], &scaled = graph->nodes[1], &cast = graph->nodes[2];
    QCOMPARE(plain.args.size(), size_t(2));
    QCOMPARE(scaled.args.size(), size_t(3));
    QCOMPARE(cast.args.size(), size_t(2));
    QCOMPARE(arguments(plain).size(), size_t(3));
    QCOMPARE(arguments(plain)[2].toScalar().toLong(), int64_t(1));
    QCOMPARE(arguments(scaled)[2].toScalar().toLong(), int64_t(2));
    QCOMPARE(arguments(cast).size(), size_t(7));
    QCOMPARE(arguments(cast)[5].toBool(), false);  // non_blocking
    QVERIFY(to_text(*graph).find("aten.add.Tensor(%0, %0)") != std::string::npos);
  }

  void a_text_that_was_cut_short_is_recognised() {
    const std::string text = to_text(capture_toy());
    for (size_t size = text.find('\n') + 1; size + 4 < text.size(); size += 7) {
      const auto parsed = parse_text(text.substr(0, size), "toy.graph");
      QVERIFY(!parsed.has_value());
      QVERIFY2(parsed.error().message.find(": the graph is cut short after ") != std::string::npos,
               parsed.error().message.c_str());
    }
  }

  // A graph is read before anything is trained, and on every rank.
  void reading_a_graph_touches_no_file() {
    const QString made = QStringLiteral("created-by-a-graph");
    QFile::remove(made);
    const QByteArray text =
        contents(QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/crash/graph_from_file.txt");
    QVERIFY(text.contains("aten.from_file(filename=\"" + made.toLatin1() + '"'));
    for (const QByteArray& whole : {text, text + "end\n"}) {
      const auto parsed = parse_text(whole.toStdString(), "file");
      QVERIFY(!QFile::exists(made));
      QVERIFY(!parsed.has_value());
      QVERIFY2(parsed.error().message.find("is not in the table of operators") != std::string::npos,
               parsed.error().message.c_str());
    }
  }

  void every_fault_names_its_line_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(kFolder + "errors");
    for (const QString& name : folder.entryList({"*.graph"}))
      QTest::newRow(qPrintable(name)) << folder.filePath(name);
  }
  // The first line of each fixture is "# expect: " and the error without the file's name.
  void every_fault_names_its_line() {
    QFETCH(QString, path);
    const QByteArray text = contents(path);
    const QByteArray expected = text.left(text.indexOf('\n')).mid(int(qstrlen("# expect: ")));
    const auto parsed = parse_text(text.toStdString(), "file");
    QVERIFY(!parsed.has_value());
    QCOMPARE(QByteArray::fromStdString(parsed.error().message), "file:" + expected);
  }

  void writing_through_a_view_is_refused() {
    register_trace_kernels();
    Recorder recorder;
    const at::Tensor x = recorder.state("x", {4}, at::kFloat);
    at::Tensor half = x.narrow(0, 0, 2);
    QVERIFY_EXCEPTION_THROWN(half.zero_(), c10::Error);
  }

  // "[%0 -> %3, %1 -> %4]": each element has a value of its own after the node.
  void written_lists_are_captured() {
    register_trace_kernels();
    Recorder recorder;
    std::vector<at::Tensor> lists[4];
    for (int list = 0; list < 4; ++list)
      for (int i = 0; i < 2; ++i)
        lists[list].push_back(recorder.state("s" + std::to_string(2 * list + i), {3}, at::kFloat));
    const at::Tensor lr = recorder.input("lr", {}, at::kDouble),
                     step = recorder.input("step", {}, at::kLong),
                     factor = recorder.input("factor", {}, at::kFloat);
    heddle::kernels::update_("heddle::adamw_", {lists[0], lists[1], lists[2]}, lists[3], lr, step,
                             factor, {0.9, 0.95, 1e-8, 0.1});
    recorder.output("updated", lists[0][1].clone());
    const std::string text = to_text(recorder.finish());
    QVERIFY2(text.find("heddle.adamw_([%0 -> %11, %1 -> %12], [%2 -> %13, %3 -> %14], [%4 -> %15, "
                       "%5 -> %16], [%6, %7], %8, %9, %10, ") != std::string::npos,
             text.c_str());
    QVERIFY2(text.find("aten.clone(%12") != std::string::npos, text.c_str());
    const auto parsed = parse_text(text, "lists.graph");
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().message.c_str());
    const auto again = parse_text(to_text(*parsed), "lists.graph");
    QVERIFY(again.has_value());
    QCOMPARE(to_text(*again), to_text(*parsed));
  }

  void a_constant_tensor_is_refused() {
    register_trace_kernels();
    Recorder recorder;
    const at::Tensor x = recorder.input("x", {4}, at::kFloat);
    QVERIFY_EXCEPTION_THROWN(x + at::ones({4}), c10::Error);
  }
};

HEDDLE_TEST(GraphTest)
#include "graph_test.moc"
