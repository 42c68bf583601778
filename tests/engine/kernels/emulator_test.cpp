// The emulator itself: kernels that are wrong on a GPU are found out on it.
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>

#include "engine/kernels/device.cuh"
#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

constexpr int kThreads = 64;

// Each thread takes what another one left.
__global__ void reverse(const float* from, float* to, bool waits) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = from[threadIdx.x];
  if (waits) __syncthreads();
  to[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

__global__ void sum(const float* from, float* to) {
  const float total = cuda::reduce_block(from[threadIdx.x], 0.0F, cuda::Sum());
  if (threadIdx.x == 0) to[blockIdx.x] = total;
}

__global__ void wait_in_part(unsigned threads) {
  if (threadIdx.x < threads) __syncthreads();
}
__global__ void shuffle_in_part(unsigned lanes) {
  if (threadIdx.x < lanes) __shfl_xor_sync(cuda::kAllLanes, 1.0F, 1);
}

__global__ void copy(const float* from, float* to, int64_t n) {
  if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x];
}
__global__ void copy_packs(const float* from, float* to) {
  float pack[4];
  cuda::load<4>(from, pack);
  cuda::store<4>(to, pack);
}

template <typename... Parameters, typename... Arguments>
void run_block(void (*kernel)(Parameters...), Arguments&&... arguments) {
  cuda::launch(nullptr, 1, 1, kThreads, kernel, std::forward<Arguments>(arguments)...);
}

// Whether a process of its own, whose report nobody sees, fails at it.
bool kills(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace

class EmulatorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void threads_that_wait_for_each_other() {
    const auto from = Array<float>::random(kThreads);
    const auto [to] = in_any_order([&] {
      Array<float> result(kThreads);
      run_block(&reverse, from.data(), result.data(), true);
      return std::tuple(std::move(result));
    });
    for (size_t i = 0; i < kThreads; ++i) QCOMPARE(to[i], from[kThreads - 1 - i]);
  }

  void a_missing_barrier() {
    const auto from = Array<float>::random(kThreads);
    QVERIFY_EXCEPTION_THROWN(in_any_order([&] {
                               Array<float> result(kThreads);
                               run_block(&reverse, from.data(), result.data(), false);
                               return std::tuple(std::move(result));
                             }),
                             std::runtime_error);
  }

  void a_barrier_that_only_some_reach() {
    QVERIFY_EXCEPTION_THROWN(run_block(&wait_in_part, 40U), std::logic_error);
    run_block(&wait_in_part, 64U);  // and the emulator goes on
  }

  void a_shuffle_that_only_some_lanes_reach() {
    QVERIFY_EXCEPTION_THROWN(run_block(&shuffle_in_part, 40U), std::logic_error);
    run_block(&shuffle_in_part, 32U);
  }

  void sums_of_blocks() {
    auto from = Array<float>::of(std::vector<double>(kThreads, 0.5));
    Array<float> to(3);
    cuda::launch(nullptr, 3, 1, kThreads, &sum, from.data(), to.data());
    for (size_t i = 0; i < 3; ++i) QCOMPARE(to[i], 32.0);
  }

  void accesses_outside() {
    const auto from = Array<float>::random(10), more = Array<float>::random(11);
    Array<float> to(10), to_more(11);
    QVERIFY(!kills([&] { run_block(&copy, from.data(), to.data(), 10); }));
    QVERIFY(kills([&] { run_block(&copy, from.data(), to_more.data(), 11); }));
    QVERIFY(kills([&] { run_block(&copy, more.data(), to.data(), 11); }));
  }

  void packs_where_they_cannot_be() {
    const auto from = Array<float>::random(8), off = Array<float>::random(8, 1);
    Array<float> to(8), to_off(8, 1);
    QVERIFY(!kills([&] { run_block(&copy_packs, from.data(), to.data()); }));
    QVERIFY(kills([&] { run_block(&copy_packs, off.data(), to.data()); }));
    QVERIFY(kills([&] { run_block(&copy_packs, from.data(), to_off.data()); }));
  }

  void a_launch_that_no_gpu_takes() {
    QVERIFY_EXCEPTION_THROWN(cuda::launch(nullptr, 0, &wait_in_part, 0U), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cuda::launch(nullptr, 1, 1, 1025, &wait_in_part, 0U),
                             std::logic_error);
    QVERIFY_EXCEPTION_THROWN(cuda::launch(nullptr, 1, 65536, 32, &wait_in_part, 0U),
                             std::logic_error);
  }
};

HEDDLE_TEST(EmulatorTest)
#include "emulator_test.moc"
