// The CUDA kernels as nvcc compiles them for an H100: no GPU is needed, but a CUDA compiler is.
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <map>

#include "tests/engine/kernels/ptx.h"
#include "tests/support/test_class.h"

using namespace heddle::test;

namespace {

constexpr const char* kCompiler = HEDDLE_NVCC;

// A multiprocessor has 65,536: four blocks of 256 threads run at once, or one of 1024.
constexpr int kMaxRegisters = 64;
// A warp keeps parts of up to four rows, 8 numbers a lane each: two blocks.
const std::map<std::string, int> more_registers = {{"short_documents", 128}};

// The message of a kernel that stops the run.
constexpr int kMaxStack = 24;

// Sums in fp64 of few numbers, and of all gradients: one conversion and one product a number, for
// which an H100, an A100 and an L40S take less time than for reading it in fp32.
const std::map<std::string, QStringList> sums_in_fp64 = {
    {"gradient", {"square<float>", "square<__nv_bfloat16>", "sum_squares", "sum_in_order"}},
    {"cross_entropy", {"sum_loss<float>", "sum_loss<__nv_bfloat16>"}},
    {"vocabulary_cross_entropy", {"join"}}};

// Numbers that a thread reads and writes once besides its pack: the logsumexps of a head.
const std::map<std::string, int> narrow_once = {{"merge_attention", 2}};

// The others' work is not on all elements.
const QStringList packing = {"rms_norm", "rope",          "merge_attention",
                             "swiglu",   "cross_entropy", "vocabulary_cross_entropy",
                             "gradient", "cast_list",     "adamw",
                             "sgd",      "float8",        "float8_shards"};
// Kernels whose every variant packs; of the others those whose last argument says so.
bool packs(const std::string& kernel) {
  static const QRegularExpression of_pack("[ <](4|8)>$");
  const QString name = QString::fromStdString(kernel);
  return of_pack.match(name).hasMatch() || name == "update_all" || name.startsWith("convert_all") ||
         name.startsWith("square<");
}

template <typename T>
T of_file(const std::map<std::string, T>& table, const QString& file, T otherwise) {
  const auto found = table.find(file.toStdString());
  return found == table.end() ? otherwise : found->second;
}

}  // namespace

class CompiledKernelsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  // The compiler's messages, which must be a report.
  QByteArray compile(const QStringList& arguments) {
    QProcess nvcc;
    nvcc.setProcessChannelMode(QProcess::MergedChannels);
    nvcc.start(kCompiler, QStringList{"-ccbin", HEDDLE_HOST_COMPILER} + arguments);
    if (!nvcc.waitForFinished(-1) || nvcc.exitCode() != 0)
      qWarning("%s", nvcc.readAll().constData());
    return nvcc.readAll();
  }

 private Q_SLOTS:
  void every_kernel_is_as_it_should_be_data() {
    QTest::addColumn<QString>("path");
    for (const char* folder : {"kernels", "cuda"}) {
      const QDir sources(QString(HEDDLE_SOURCE_DIR) + "/engine/" + folder);
      for (const QFileInfo& file : sources.entryInfoList({"*.cu"}))
        QTest::newRow(qPrintable(file.baseName())) << file.filePath();
    }
  }
  void every_kernel_is_as_it_should_be() {
    if (QString(kCompiler).endsWith("NOTFOUND"))
      QSKIP("there is no nvcc here: CUDA_HOME tells of one");
    QFETCH(QString, path);
    const QString file = QTest::currentDataTag(), ptx = folder_.filePath("kernels.ptx");
    QFile::remove(ptx);
    compile(
        {"-std=c++20", "-O3", "-arch=compute_90", "-I" HEDDLE_SOURCE_DIR, "-ptx", path, "-o", ptx});
    QFile text(ptx);
    QVERIFY2(text.open(QFile::ReadOnly), "it does not compile");
    const auto kernels = instructions_of(text.readAll().toStdString());
    const auto needs = needs_of(compile({"-arch=sm_90", "-cubin", "-Xptxas", "-v", ptx, "-o",
                                         folder_.filePath("kernels.cubin")})
                                    .toStdString());
    QVERIFY(!kernels.empty());
    QCOMPARE(needs.size(), kernels.size());
    int packed = 0, registers = 0;
    for (const auto& [name, needed] : needs) {
      const QByteArray kernel = QByteArray::fromStdString(name);
      const auto told = [&](const char* what, int number) {
        return kernel + ": " + what + " " + QByteArray::number(number);
      };
      registers = std::max(registers, needed.registers);
      QVERIFY2(
          needed.registers > 0 && needed.registers <= of_file(more_registers, file, kMaxRegisters),
          told("registers", needed.registers));
      QVERIFY2(needed.stack <= kMaxStack, told("bytes of stack", needed.stack));
      QVERIFY2(needed.spilled == 0, told("bytes spilled", needed.spilled));
      const Instructions& done = kernels.at(name);
      QVERIFY2(done.atomics == 0, told("atomics", done.atomics));
      QVERIFY2(done.long_divisions_in_loops == 0,
               told("64-bit divisions in loops", done.long_divisions_in_loops));
      if (!of_file(sums_in_fp64, file, {}).contains(kernel))
        QVERIFY2(done.fp64_in_loops == 0, told("fp64 in loops", done.fp64_in_loops));
      QVERIFY2(done.narrow_beside_in_loops == 0,
               told("narrow accesses in loops over packs", done.narrow_beside_in_loops));
      QVERIFY2(done.narrow_beside <= of_file(narrow_once, file, 0),
               told("narrow accesses beside packs", done.narrow_beside));
      if (!packs(name)) continue;
      ++packed;
      QVERIFY2(done.of_16_bytes > 0, told("accesses of 16 bytes", 0));
    }
    qInfo("%d kernels, %d of them pack; at most %d registers", static_cast<int>(needs.size()),
          packed, registers);
    QCOMPARE(packed > 0, packing.contains(file));
  }

  // The gates themselves: what they must not let through is counted.
  void bad_code_is_seen() {
    const auto kernels = instructions_of(R"(
.visible .entry _Z3badIfLi4EEvPfx(
	.param .u64 p
)
{
	ld.param.u64 %rd1, [p];
	ld.global.f32 	%f9, [%rd1];
$L__BB0_1:
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	st.global.wb.v4.u32 	[%rd2], {%r1, %r2, %r3, %r4};
	st.global.u16 	[%rd2], %rs1;
	st.f32 	[%rd2+4], %f1;
	st.shared.f32 	[%rd3], %f1;
	atom.shared.add.u32 	%r5, [%rd3], %r1;
	red.global.add.f32 	[%rd2], %f1;
	cvt.f64.f32 	%fd1, %f1;
	div.s64 	%rd4, %rd5, %rd6;
	@%p1 bra 	$L__BB0_1;
	fma.rn.f64 	%fd2, %fd1, %fd1, %fd1;
	ld.global.u8 	%rs2, [%rd1];
	ret;
}
)");
    QCOMPARE(kernels.size(), size_t{1});
    const Instructions& bad = kernels.at("bad<float, 4>");
    QCOMPARE(bad.of_16_bytes, 2);
    QCOMPARE(bad.narrow_beside, 2);
    QCOMPARE(bad.narrow_beside_in_loops, 2);
    QCOMPARE(bad.fp64_in_loops, 1);
    QCOMPARE(bad.long_divisions_in_loops, 1);
    QCOMPARE(bad.atomics, 1);

    const auto needs = needs_of(
        "ptxas info    : Compiling entry function '_Z3badIfLi4EEvPfx' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z3badIfLi4EEvPfx\n"
        "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 200 registers, used 1 barriers\n");
    const Needs& needed = needs.at("bad<float, 4>");
    QCOMPARE(needed.registers, 200);
    QCOMPARE(needed.stack, 16);
    QCOMPARE(needed.spilled, 20);
  }
};

HEDDLE_TEST(CompiledKernelsTest)
#include "compiled_kernels_test.moc"
