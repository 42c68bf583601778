// A run on GPUs, brought to a bare node behind a real sshd: it trains there on what was brought.
// Only the driver and the CUDA libraries that need one are the node's own, and fake.
#include "fake_gpus.h"
#include "remote/bundle.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/workbench.h"

using namespace heddle;

class FakeRemoteTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_run_on_gpus_trains_where_it_was_brought() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    const auto sshd = must(test::Sshd::start(
        {.files = fake_cuda_folder().toStdString(),
         .config = fmt::format("SetEnv LD_PRELOAD={} FAKE_CUDA_LOG={} PATH=/sshd:/usr/bin:/bin\n",
                               fake_libraries("/sshd").join(':').toStdString(),
                               test::Sshd::home_there())}));
    qputenv("HOME", sshd->user_home().c_str());
    qunsetenv("SSH_AUTH_SOCK");

    workbench::RunFixture fixture;
    const std::string engine = HEDDLE_BINARY_DIR "/heddle-engine";
    workbench::use_engine(engine);
    const auto workbench = must(workbench::Workbench::open(fixture.store));
    workbench::LaunchRequest request;
    request.recipe_file = fixture.path("gpu.toml");
    request.recipe_text =
        gpu_recipe("ranks = 2\n[training]\nsteps = 6\n[checkpoint]\nevery = 3\n").toStdString();
    request.target = sshd->trusted_target();
    const auto run = workbench::launch(workbench->writer(), request);
    if (!run) QFAIL(run.error().message.c_str());

    // The plug-in opens only files that were brought, as the manifest says.
    const auto bundle = must(remote::bundle_of(engine, remote::Devices::gpus));
    const std::string manifest =
        workbench::read_file(sshd->node_home() + "/.heddle/engines/" + bundle.id + "/manifest");
    QVERIFY(
        manifest.starts_with(bundle.manifest));  // what else it says is what the node has itself
    for (const char* name :
         {"libheddle_cuda.so", "libtorch_cuda.so", "libc10_cuda.so", "libcudart.so.13",
          "libnccl.so.2", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9",
          "libcudnn_ops.so.9", "libnvrtc.so.13", "libcufft.so.12", "libcusparse.so.12"})
      QVERIFY2(manifest.find(std::string("  lib/") + name + "\n") != manifest.npos, name);
    QVERIFY(manifest.find("libcuda.so") == manifest.npos);  // the driver's

    QVERIFY(QTest::qWaitFor(
        [&] { return storage::has_ended(fixture.detail(run->id).summary.state); }, 240'000));
    const storage::RunDetail detail = fixture.detail(run->id);
    QVERIFY2(detail.summary.state == storage::RunState::done, detail.summary.cause.c_str());
    QCOMPARE(detail.summary.steps, int64_t(6));
    for (const char* rank : {"/rank-0.log", "/rank-1.log"}) {
      const std::string notes = workbench::read_file(sshd->node_home() + rank);
      QVERIFY2(notes.find("\nlaunch") != notes.npos, notes.c_str());
    }
  }
};

HEDDLE_TEST(FakeRemoteTest)
#include "fake_remote_test.moc"
