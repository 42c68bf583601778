// The device as the executor uses it, where no GPU is needed to see it.
#include "engine/runtime/device.h"

#include <ATen/Context.h>

#include <QTest>
#include <array>
#include <future>
#include <limits>

#include "engine/runs/launch.h"
#include "engine/runtime/deterministic.h"
#include "engine/runtime/device_run.h"
#include "engine/runtime/placement.h"
#include "engine/runtime/process_groups.h"
#include "engine/runtime/replay_policy.h"
#include "engine/transport/timed_work.h"
#include "tests/support/test_class.h"

using namespace heddle::runtime;

class DeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A product with many of them takes ten times as long.
  void subnormal_numbers_count_as_zero_on_a_cpu() {
    QVERIFY(open_device("cpu", 0, false));
    volatile float smallest = std::numeric_limits<float>::min();
    const auto halved = [&] { return smallest / 2; };
    QCOMPARE(halved(), 0.0F);
    QCOMPARE(std::async(std::launch::async, halved).get(), 0.0F);  // threads inherit it
  }

  void the_same_bits_are_asked_of_all_libraries() {
    at::Context& context = at::globalContext();
    context.setBenchmarkCuDNN(true);
    qunsetenv("CUBLAS_WORKSPACE_CONFIG");
    QVERIFY(open_device("cpu", 0, false, true));  // gives them without
    QVERIFY(!computes_deterministically());
    compute_deterministically();
    QVERIFY(computes_deterministically());
    QVERIFY(!context.deterministicAlgorithmsWarnOnly());
    QVERIFY(!context.deterministicFillUninitializedMemory());
    QVERIFY(context.deterministicCuDNN() && !context.benchmarkCuDNN());
    QCOMPARE(qgetenv("CUBLAS_WORKSPACE_CONFIG"), QByteArray(":4096:8"));
    qputenv("CUBLAS_WORKSPACE_CONFIG", ":16:8");
    compute_deterministically();
    QCOMPARE(qgetenv("CUBLAS_WORKSPACE_CONFIG"), QByteArray(":16:8"));
    context.setDeterministicAlgorithms(false, false);
  }

  void a_cpu_times_operators_and_collectives() {
    const auto device = make_cpu_run();
    const auto early =
        c10::make_intrusive<heddle::transport::TimedWork>(0, c10d::OpType::ALLREDUCE, 0);
    early->begin();
    device->begin_times(4);
    device->before(0);
    device->after(0);
    device->before(2);
    device->after(2);
    early->succeed();
    device->waited(1, *early);
    device->finish();
    QVERIFY(device->interval(0) && device->interval(1) && device->interval(2));
    QVERIFY(!device->interval(3));
    QVERIFY(device->interval(0)->begin_us <= device->interval(0)->end_us);
    QVERIFY(device->interval(0)->end_us <= device->interval(2)->begin_us);
    QCOMPARE(device->interval(1)->begin_us, 0);  // it began before the step
    device->begin_times(4);
    QVERIFY(!device->interval(0));
    QVERIFY(!device->records());
    const auto recorded = device->record([] {});
    QVERIFY(!recorded && recorded.error().message == "this device does not record steps");
  }

  void gpus_of_several_hosts_cannot_encrypt() {
    heddle::runs::RankContext context;
    context.launch.world_size = 2;
    context.launch.local_ranks = 1;
    context.port = 4711;
    heddle::recipe::Recipe recipe;
    recipe.parallelism.dp_shard = 2;
    recipe.transport.encrypt = true;
    const auto met = init_process_groups(context, heddle::recipe::Layout(recipe),
                                         c10::Device(at::kCUDA, 0), recipe.transport);
    QVERIFY(!met);
    QVERIFY2(met.error().message.starts_with("transport.encrypt: NCCL, which sends what GPUs of "
                                             "several hosts exchange, cannot encrypt it; valid:"),
             met.error().message.c_str());
  }

  void steps_are_replayed_once_warm() {
    using How = ReplayPolicy::How;
    ReplayPolicy policy(true);
    for (int step = 0; step < ReplayPolicy::kWarmUpSteps; ++step) {
      QVERIFY(policy.next(false) == How::run);
      QVERIFY(policy.next(true) == How::run);
      policy.ran();
    }
    QVERIFY(policy.next(false) == How::record);
    policy.recorded(false);
    QVERIFY(policy.next(false) == How::replay);
    QVERIFY(policy.next(true) == How::record);  // with times it is another one
    policy.recorded(true);
    QVERIFY(policy.next(true) == How::replay);
    QCOMPARE(policy.failed("no memory"),
             "steps are launched operator by operator, which costs time: they cannot be recorded "
             "(no memory)");
    QVERIFY(policy.next(false) == How::run);
    QVERIFY(policy.next(true) == How::run);
  }

  void a_device_that_records_nothing_runs_every_step() {
    ReplayPolicy policy(false);
    for (int step = 0; step < 10; ++step) {
      QVERIFY(policy.next(step % 2) == ReplayPolicy::How::run);
      policy.ran();
    }
  }

  void an_operators_first_allocations_are_placed_by_their_size() {
    std::array<std::byte, 256> memory;
    std::byte other[64];
    Placement placement{{{memory.data(), 64}, {memory.data() + 64, 48}},
                        {memory.data() + 128, 128},
                        64,
                        c10::kCUDA,
                        {}};
    take_outside_bytes();
    {
      const Placing placing(placement);
      QVERIFY(place(48, c10::kCUDA) == memory.data() + 64);
      QVERIFY(!place(16, c10::kCPU));  // a number that the operator makes on the host
      placed_elsewhere(other, 16, c10::kCPU);
      QVERIFY(place(16, c10::kCUDA) == memory.data() + 128);  // scratch
      QVERIFY(place(64, c10::kCUDA) == memory.data());
      QVERIFY(place(64, c10::kCUDA) == memory.data() + 192);  // the result is there already
      QVERIFY(!place(64, c10::kCUDA));
      placed_elsewhere(other, 64, c10::kCUDA);
      QCOMPARE(placing.allocations().size(), size_t(5));
      QVERIFY(placing.allocations()[4].address == other);
    }
    QCOMPARE(take_outside_bytes(), 64);
    placement.alignment = 128;
    {
      const Placing placing(placement);
      QVERIFY(place(16, c10::kCUDA) == memory.data() + 128);
      QVERIFY(!place(16, c10::kCUDA));  // its place would be behind the scratch
    }
    placement = {{{memory.data(), 64}, {memory.data() + 64, 64}},
                 {memory.data() + 128, 128},
                 64,
                 c10::kCUDA,
                 {-1, 1, 0, 0}};
    {
      const Placing placing(placement);
      QVERIFY(place(100, c10::kCUDA) == memory.data() + 128);  // scratch
      QVERIFY(place(64, c10::kCUDA) == memory.data() + 64);
      QVERIFY(place(32, c10::kCUDA) == memory.data());
      QVERIFY(!place(65, c10::kCUDA));  // larger than the result that it was: somewhere else
      placed_elsewhere(other, 65, c10::kCUDA);
      QVERIFY(!place(64, c10::kCUDA));  // scratch is full
    }
    QVERIFY(!place(64, c10::kCUDA));  // no operator runs
    placed_elsewhere(other, 64, c10::kCUDA);
    QCOMPARE(take_outside_bytes(), 65);
  }
};

HEDDLE_TEST(DeviceTest)
#include "device_test.moc"
