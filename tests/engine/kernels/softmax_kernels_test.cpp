// Cross-entropy's CUDA kernels, of whole rows of logits and of rows cut over ranks, as host code,
// against the formulas.
#include <QTest>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

constexpr float kDloss = 0.37F;

struct SoftmaxCase {
  size_t rows, n, shift;
};
// Rows of one logit, of less than a warp, of several packs a thread; more of them than threads sum
// the loss.
const std::vector<SoftmaxCase> softmax_cases = {{1, 1, 0},    {5, 3, 0},    {3, 33, 0},
                                                {2, 1000, 1}, {4, 1000, 0}, {3, 1001, 0},
                                                {3, 4104, 0}, {1100, 7, 0}};

template <typename T>
struct Rows {
  SoftmaxCase of;
  Array<T> logits = Array<T>::random(of.rows * of.n, of.shift, 4.0);
  Array<int64_t> labels{of.rows};

  explicit Rows(SoftmaxCase of_in) : of(of_in) {
    for (size_t row = 0; row < of.rows; ++row)
      labels.data()[row] = row % 4 == 1 ? -100 : static_cast<int64_t>(row * 7919 % of.n);
    // As good as certain; impossible tokens, as many as a thread sees.
    if (of.n > 256) {
      logits.set(3, 200);
      for (size_t i = 0; i < of.n; ++i)
        if (i / 8 % 256 == 7) logits.set((of.rows - 1) * of.n + i, -INFINITY);
      labels.data()[of.rows - 1] = 0;
    }
  }
  double top(size_t row) const {
    double top = -INFINITY;
    for (size_t i = row * of.n; i < (row + 1) * of.n; ++i) top = std::max(top, logits[i]);
    return top;
  }
  double logsumexp(size_t row) const {
    const double highest = top(row);
    double sum = 0;
    for (size_t i = row * of.n; i < (row + 1) * of.n; ++i) sum += std::exp(logits[i] - highest);
    return highest + std::log(sum);
  }
  bool counts(size_t row) const { return labels.data()[row] >= 0; }
  size_t label(size_t row) const { return static_cast<size_t>(labels.data()[row]); }
  auto rows() const { return static_cast<int64_t>(of.rows); }
  auto n() const { return static_cast<int64_t>(of.n); }
};

// Roundings of Σ e^(logit − top): each term of a thread may rescale its sum; only terms within some
// powers of e of the top count.
double statistics_roundings(size_t n) { return 3 * sum_roundings(n) + 16; }

template <typename T>
void check_loss(const Rows<T>& given, const Array<float>& loss, const Array<float>& lse) {
  double sum = 0, allowed = 0;
  Closeness close;
  for (size_t row = 0; row < given.of.rows; ++row) {
    const double want = given.logsumexp(row), roundings = statistics_roundings(given.of.n);
    close.see<float>(lse[row], want, 1 + std::abs(want), roundings);
    if (!given.counts(row)) continue;
    const double of_row = want - given.logits[row * given.of.n + given.label(row)];
    sum += of_row;
    allowed += kUnit<float> * (roundings * (1 + std::abs(want)) + std::abs(of_row));
  }
  close.see_within(loss[0], sum, allowed + kUnit<float> * std::abs(sum) + 1e-37);
  QVERIFY2(close.holds(), close.text());
}

// d: of the logit in column i of a row.
template <typename T>
void see_gradient(Closeness& close, const Rows<T>& given, double d, size_t row, size_t i,
                  double lse) {
  if (!given.counts(row)) {
    close.see_within(d, 0, 0);
    return;
  }
  const double x = given.logits[row * given.of.n + i], p = std::exp(x - lse);
  const double hit = given.label(row) == i ? 1 : 0;
  const double roundings = std::isinf(x) ? 1 : std::abs(x - lse) + 6;
  close.see<T>(d, kDloss * (p - hit), kDloss * (p + hit), roundings);
}

template <typename T>
void check_whole_rows() {
  for (const SoftmaxCase& each : softmax_cases) {
    const Rows<T> given(each);
    const auto [loss, lse] = in_any_order([&] {
      Array<float> sum(1), of_row(each.rows);
      cuda::cross_entropy(kType<T>, given.logits.data(), given.labels.data(), sum.data(),
                          of_row.data(), given.rows(), given.n(), nullptr);
      return std::tuple(std::move(sum), std::move(of_row));
    });
    check_loss(given, loss, lse);

    const auto& of_row = lse;
    const auto run = [&](const T* logits, T* to) {
      cuda::cross_entropy_backward(kType<T>, &kDloss, logits, given.labels.data(), of_row.data(),
                                   to, given.rows(), given.n(), nullptr);
    };
    const auto [dlogits] = in_any_order([&] {
      Array<T> result(given.logits.size(), each.shift);
      run(given.logits.data(), result.data());
      return std::tuple(std::move(result));
    });
    Closeness close;
    for (size_t i = 0; i < dlogits.size(); ++i)
      see_gradient(close, given, dlogits[i], i / each.n, i % each.n, lse[i / each.n]);
    QVERIFY2(close.holds(), close.text());
    const auto same = in_other_order([&] {
      auto logits = given.logits.copy(each.shift);
      run(logits.data(), logits.data());
      return logits;
    });
    QVERIFY2(same.same_bits(dlogits), "in place it differs");
  }
}

// A rank's `width` columns from `begin` on; after the vocabulary they are no numbers.
template <typename T>
Array<T> columns_of(const Rows<T>& given, size_t begin, size_t width) {
  Array<T> columns(given.of.rows * width, given.of.shift);
  for (size_t row = 0; row < given.of.rows; ++row)
    for (size_t i = 0; i < width && begin + i < given.of.n; ++i)
      columns.set(row * width + i, given.logits[row * given.of.n + begin + i]);
  return columns;
}

// With one rank that has less than the others, and one that has nothing.
template <typename T>
void check_cut_rows() {
  for (const SoftmaxCase& each : softmax_cases) {
    const Rows<T> given(each);
    const size_t width = (each.n + 2) / 3 / 8 * 8 + 8, ranks = each.rows > 1000 ? 2 : 4;
    std::vector<Array<T>> columns;
    for (size_t rank = 0; rank < ranks; ++rank)
      columns.push_back(columns_of(given, rank * width, width));
    const auto rows = given.rows(), of_rank = static_cast<int64_t>(width);
    const auto begin_of = [&](size_t rank) { return static_cast<int64_t>(rank) * of_rank; };
    const auto [loss, lse] = in_any_order([&] {
      Array<float> numbers(ranks * each.rows * 3), sum(1), of_row(each.rows);
      for (size_t rank = 0; rank < ranks; ++rank) {
        const int64_t begin = begin_of(rank);
        cuda::vocabulary_statistics(kType<T>, columns[rank].data(), given.labels.data(), &begin,
                                    numbers.data() + rank * each.rows * 3, rows, of_rank, given.n(),
                                    nullptr);
      }
      cuda::joined_cross_entropy(numbers.data(), given.labels.data(), sum.data(), of_row.data(),
                                 rows, ranks, nullptr);
      return std::tuple(std::move(sum), std::move(of_row));
    });
    check_loss(given, loss, lse);

    const auto& of_row = lse;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const int64_t begin = begin_of(rank);
      const auto run = [&](const T* logits, T* to) {
        cuda::vocabulary_cross_entropy_backward(kType<T>, &kDloss, logits, given.labels.data(),
                                                &begin, of_row.data(), to, rows, of_rank, given.n(),
                                                nullptr);
      };
      const auto [dlogits] = in_any_order([&] {
        Array<T> result(columns[rank].size(), each.shift);
        run(columns[rank].data(), result.data());
        return std::tuple(std::move(result));
      });
      Closeness close;
      for (size_t i = 0; i < dlogits.size(); ++i) {
        const size_t row = i / width, column = rank * width + i % width;
        if (column < each.n)
          see_gradient(close, given, dlogits[i], row, column, lse[row]);
        else
          close.see_within(dlogits[i], 0, 0);
      }
      QVERIFY2(close.holds(), close.text());
      const auto same = in_other_order([&] {
        auto logits = columns[rank].copy(each.shift);
        run(logits.data(), logits.data());
        return logits;
      });
      QVERIFY2(same.same_bits(dlogits), "in place it differs");
    }
  }
}

}  // namespace

class SoftmaxKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whole_rows_in_fp32() { check_whole_rows<float>(); }
  void whole_rows_in_bf16() { check_whole_rows<Bf16>(); }
  void cut_rows_in_fp32() { check_cut_rows<float>(); }
  void cut_rows_in_bf16() { check_cut_rows<Bf16>(); }

  void what_is_no_number_shows_in_the_loss() {
    const int64_t label = 0, begin = 0;
    for (const size_t where : {size_t{0}, size_t{300}, size_t{1023}}) {
      auto logits = Array<float>::random(1024);
      logits.set(where, NAN);
      float loss = 0, lse = 0;
      cuda::cross_entropy(cuda::Type::fp32, logits.data(), &label, &loss, &lse, 1, 1024, nullptr);
      QVERIFY(std::isnan(loss));
      Array<float> numbers(3);
      cuda::vocabulary_statistics(cuda::Type::fp32, logits.data(), &label, &begin, numbers.data(),
                                  1, 1024, 1024, nullptr);
      cuda::joined_cross_entropy(numbers.data(), &label, &loss, &lse, 1, 1, nullptr);
      QVERIFY(std::isnan(loss));
    }
  }

  void the_loss_of_no_rows_is_zero() {
    float loss = 1;
    cuda::cross_entropy(cuda::Type::bf16, nullptr, nullptr, &loss, nullptr, 0, 8, nullptr);
    QCOMPARE(loss, 0.0F);
  }

  void a_label_outside_the_vocabulary_stops_the_run() {
    const auto logits = Array<float>::random(8);
    const int64_t label = 8, begin = 0;
    float loss = 0, lse = 0;
    Array<float> numbers(3);
    QVERIFY_EXCEPTION_THROWN(
        cuda::cross_entropy(cuda::Type::fp32, logits.data(), &label, &loss, &lse, 1, 8, nullptr),
        std::runtime_error);
    QVERIFY_EXCEPTION_THROWN(cuda::vocabulary_statistics(cuda::Type::fp32, logits.data(), &label,
                                                         &begin, numbers.data(), 1, 8, 8, nullptr),
                             std::runtime_error);
  }
};

HEDDLE_TEST(SoftmaxKernelsTest)
#include "softmax_kernels_test.moc"
