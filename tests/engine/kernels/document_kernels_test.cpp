// Where documents begin; the CUDA kernels of attention within short ones, as host code, against the
// formulas.
#include <QTest>

#include "engine/kernels/documents.h"
#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

// Lengths of a sequence's documents.
using Lengths = std::vector<size_t>;

// So many short documents, with a long one in their midst.
Lengths many(size_t count, size_t length, size_t longer = 0) {
  Lengths lengths(count, length);
  if (longer > 0) lengths.insert(lengths.begin() + static_cast<int64_t>(count / 2), longer);
  return lengths;
}

struct Packed {
  size_t sequences, s = 0;
  std::vector<size_t> starts;  // of documents, in all tokens
  Array<int64_t> first, last;

  explicit Packed(const std::vector<Lengths>& of)
      : sequences(of.size()), first(total(of)), last(total(of)) {
    s = first.size() / sequences;
    size_t token = 0;
    for (const Lengths& lengths : of)
      for (const size_t length : lengths) {
        starts.push_back(token);
        for (const size_t start = token; token < start + length; ++token) {
          first.data()[token] = static_cast<int64_t>(start % s);
          last.data()[token] = static_cast<int64_t>(token % s);
        }
      }
  }
  static size_t total(const std::vector<Lengths>& of) {
    size_t total = 0;
    for (const Lengths& lengths : of)
      total = std::accumulate(lengths.begin(), lengths.end(), total);
    return total;
  }
  size_t end_of(size_t document) const {
    return document + 1 < starts.size() ? starts[document + 1] : sequences * s;
  }
};

struct FoundDocuments {
  std::vector<size_t> starts;
  bool documents;
  size_t shared;
};
FoundDocuments find(const Packed& packed, size_t capacity) {
  Array<int32_t> starts(capacity + 1), found(2);
  cuda::find_documents({packed.first.data(), packed.last.data()}, int64_t(packed.sequences),
                       int64_t(packed.s), int64_t(capacity), starts.data(), found.data());
  if (!starts.intact() || !found.intact()) qFatal("something was written after the segments");
  FoundDocuments result{{}, found[0] == 1, static_cast<size_t>(found[1])};
  for (size_t i = 0; i <= capacity; ++i) result.starts.push_back(static_cast<size_t>(starts[i]));
  return result;
}

constexpr size_t kHeads = 4, kKvHeads = 2;

// Attention of one query, and what its gradient needs.
struct Query {
  std::vector<double> out, weights;
  double logsumexp = 0, sizes = 0;  // sizes: Σ |q·k| of the key where it is largest
};

template <typename T>
struct Attention {
  size_t tokens, d;
  float scale;
  Array<T> q, k, v, dout;

  Attention(size_t tokens_in, size_t d_in)
      : tokens(tokens_in),
        d(d_in),
        scale(static_cast<float>(1 / std::sqrt(static_cast<double>(d_in)))),
        q(Array<T>::random(tokens * kHeads * d)),
        k(Array<T>::random(tokens * kKvHeads * d)),
        v(Array<T>::random(tokens * kKvHeads * d)),
        dout(Array<T>::random(tokens * kHeads * d)) {}

  size_t row(size_t token, size_t head) const { return (token * kHeads + head) * d; }
  size_t kv_row(size_t token, size_t head) const {
    return (token * kKvHeads + head / (kHeads / kKvHeads)) * d;
  }
  cuda::AttentionShape shape(size_t s) const {
    return {int64_t(tokens), int64_t(s), kHeads, kKvHeads, int64_t(d), scale};
  }
  // A query over keys from `start` to itself.
  Query of(size_t token, size_t head, size_t start) const {
    Query query;
    std::vector<double> scores;
    for (size_t key = start; key <= token; ++key) {
      double score = 0, size = 0;
      for (size_t i = 0; i < d; ++i) {
        const double term = q[row(token, head) + i] * k[kv_row(key, head) + i] * scale;
        score += term;
        size += std::abs(term);
      }
      scores.push_back(score);
      query.sizes = std::max(query.sizes, size);
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - top);
    query.logsumexp = top + std::log(sum);
    query.out.resize(d);
    for (size_t key = start; key <= token; ++key) {
      query.weights.push_back(std::exp(scores[key - start] - query.logsumexp));
      for (size_t i = 0; i < d; ++i)
        query.out[i] += query.weights.back() * v[kv_row(key, head) + i];
    }
    return query;
  }
  // A weight's roundings: its score's, 1 a lane and shuffle and some each; exponents'; sums'.
  double roundings(const Query& query) const {
    return query.sizes * (std::ceil(static_cast<double>(d) / 32) + 12) +
           4 * static_cast<double>(query.weights.size()) + 2 * std::abs(query.logsumexp) + 16;
  }
};

template <typename T>
void check_attention(const Packed& packed, size_t d, size_t capacity) {
  const size_t tokens = packed.sequences * packed.s;
  const Attention<T> given(tokens, d);
  const auto found_of = find(packed, capacity);
  const size_t shared = found_of.shared;
  Array<int32_t> found(2);
  found.data()[0] = 1;
  found.data()[1] = static_cast<int32_t>(shared);
  const auto before = Array<T>::random(tokens * kHeads * d),
             kv_before = Array<T>::random(given.k.size());
  const auto lse_before = Array<float>::random(tokens * kHeads);
  const auto [out, lse] = in_any_order([&] {
    auto result = before.copy();
    auto sums = lse_before.copy();
    cuda::short_documents(kType<T>, given.shape(packed.s), given.q.data(), given.k.data(),
                          given.v.data(), packed.first.data(), found.data(), result.data(),
                          sums.data(), nullptr);
    return std::tuple(std::move(result), std::move(sums));
  });
  // Structured bindings are no variables that a lambda of C++20 takes.
  const auto &of_forward = out, &of_forward_sums = lse;
  const auto [dq, dk, dv] = in_any_order([&] {
    auto of_q = before.copy(), of_k = kv_before.copy(), of_v = kv_before.copy();
    cuda::short_documents_backward(kType<T>, given.shape(packed.s), given.dout.data(),
                                   given.q.data(), given.k.data(), given.v.data(),
                                   of_forward.data(), of_forward_sums.data(), packed.first.data(),
                                   found.data(), of_q.data(), of_k.data(), of_v.data(), nullptr);
    return std::tuple(std::move(of_q), std::move(of_k), std::move(of_v));
  });

  Closeness close;
  std::vector<double> k_sum(given.k.size()), k_size(given.k.size()), v_sum(given.k.size()),
      v_size(given.k.size()), k_roundings(given.k.size());
  size_t written = 0;
  for (size_t document = 0; document < packed.starts.size(); ++document) {
    const size_t start = packed.starts[document], end = packed.end_of(document);
    for (size_t token = start; token < end; ++token)
      for (size_t head = 0; head < kHeads; ++head) {
        const size_t row = given.row(token, head), at = head * tokens + token;
        if (end - start > shared) {  // flash attention's
          for (size_t i = row; i < row + d; ++i)
            close.see_within(out[i] - before[i] + dq[i] - before[i], 0, 0);
          close.see_within(lse[at], lse_before[at], 0);
          continue;
        }
        ++written;
        const Query query = given.of(token, head, start);
        const double roundings = given.roundings(query);
        close.see<float>(lse[at], query.logsumexp, 1, roundings);
        double delta = 0, delta_size = 0;
        for (size_t i = 0; i < d; ++i) {
          delta += given.dout[row + i] * out[row + i];
          delta_size += std::abs(given.dout[row + i] * out[row + i]);
        }
        std::vector<double> q_sum(d), q_size(d), o_size(d);
        for (size_t key = start; key <= token; ++key) {
          const size_t kv = given.kv_row(key, head);
          const double weight = query.weights[key - start];
          double dot = 0, dot_size = 0;
          for (size_t i = 0; i < d; ++i) {
            dot += given.dout[row + i] * given.v[kv + i];
            dot_size += std::abs(given.dout[row + i] * given.v[kv + i]);
            o_size[i] += std::abs(weight * given.v[kv + i]);
          }
          const double dscore = weight * (dot - delta) * given.scale,
                       dscore_size = weight * (dot_size + delta_size) * given.scale;
          for (size_t i = 0; i < d; ++i) {
            q_sum[i] += dscore * given.k[kv + i];
            q_size[i] += dscore_size * std::abs(given.k[kv + i]);
            k_sum[kv + i] += dscore * given.q[row + i];
            k_size[kv + i] += dscore_size * std::abs(given.q[row + i]);
            v_sum[kv + i] += weight * given.dout[row + i];
            v_size[kv + i] += weight * std::abs(given.dout[row + i]);
            k_roundings[kv + i] =
                std::max(k_roundings[kv + i], roundings + 2 * static_cast<double>(end - start));
          }
        }
        for (size_t i = 0; i < d; ++i) {
          close.see<T>(out[row + i], query.out[i], o_size[i], roundings);
          close.see<T>(dq[row + i], q_sum[i], q_size[i], roundings);
        }
      }
    for (size_t i = start * kKvHeads * d; i < end * kKvHeads * d; ++i)
      if (end - start > shared) {
        close.see_within(dk[i] - kv_before[i] + dv[i] - kv_before[i], 0, 0);
      } else {
        close.see<T>(dk[i], k_sum[i], k_size[i], k_roundings[i]);
        close.see<T>(dv[i], v_sum[i], v_size[i], k_roundings[i]);
      }
  }
  QVERIFY2(close.holds(), close.text());
  QCOMPARE(written > 0, shared > 0);
}

}  // namespace

class DocumentKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void where_documents_begin_data() {
    QTest::addColumn<std::vector<Lengths>>("packed");
    QTest::addColumn<size_t>("capacity");
    QTest::newRow("one") << std::vector<Lengths>{{100}} << size_t{64};
    QTest::newRow("two sequences") << std::vector<Lengths>{{60, 1, 39}, {100}} << size_t{128};
    QTest::newRow("longer than a block") << std::vector<Lengths>{{1500, 700, 1}} << size_t{3};
    QTest::newRow("as many as may be") << std::vector<Lengths>{many(64, 3)} << size_t{64};
    QTest::newRow("one more") << std::vector<Lengths>{many(65, 3)} << size_t{64};
    QTest::newRow("500") << std::vector<Lengths>{many(500, 4)} << size_t{64};
    QTest::newRow("1500 of one token") << std::vector<Lengths>{many(1500, 1)} << size_t{64};
    QTest::newRow("1500 of one token, each found")
        << std::vector<Lengths>{many(1500, 1)} << size_t{2000};
    QTest::newRow("a long one among 300")
        << std::vector<Lengths>{many(300, 5, 700), many(1, 1200, 1000)} << size_t{128};
    QTest::newRow("long and short in turn")
        << std::vector<Lengths>{{20, 1, 20, 1, 20, 1, 20, 1, 20, 1}} << size_t{3};
  }
  void where_documents_begin() {
    QFETCH(std::vector<Lengths>, packed);
    QFETCH(size_t, capacity);
    const Packed given(packed);
    const FoundDocuments found = find(given, capacity);
    QVERIFY(found.documents);
    const size_t tokens = given.sequences * given.s;
    auto segments = found.starts;
    while (!segments.empty() && segments.back() == tokens) segments.pop_back();
    QVERIFY(segments.size() < found.starts.size());
    if (given.starts.size() <= capacity) {
      QCOMPARE(segments, given.starts);
      QCOMPARE(found.shared, size_t{0});
      return;
    }
    // A long document has a segment of its own, which no sequence shares with the next.
    std::vector<size_t> want;
    bool follows_short = false;
    for (size_t i = 0; i < given.starts.size(); ++i) {
      const bool is_short = given.end_of(i) - given.starts[i] <= found.shared;
      if (!is_short || !follows_short || given.starts[i] % given.s == 0)
        want.push_back(given.starts[i]);
      follows_short = is_short;
    }
    QCOMPARE(segments, want);
    QVERIFY(found.shared > 0 && found.shared <= tokens / ((capacity - given.sequences) / 2));
  }

  void what_is_no_documents() {
    const auto spoilt = [](const std::function<void(Packed&)>& change) {
      Packed packed({{100, 1200}, {1300}});
      change(packed);
      return !find(packed, 64).documents;
    };
    QVERIFY(!spoilt([](Packed&) {}));
    // A token that does not see itself, one that sees another's document, one that sees ahead.
    QVERIFY(spoilt([](Packed& all) { all.last.data()[1299] = 1298; }));
    QVERIFY(spoilt([](Packed& all) { all.first.data()[110] = 90; }));
    QVERIFY(spoilt([](Packed& all) { all.last.data()[0] = 1; }));
    QVERIFY(spoilt([](Packed& all) { all.first.data()[1300] = 5; }));
  }

  void spoiling() {
    for (const int32_t valid : {0, 1}) {
      auto values = Array<Bf16>::random(5000);
      const auto before = values.copy();
      cuda::spoil_unless(&valid, cuda::Type::bf16, values.data(), 5000, nullptr);
      QVERIFY(values.intact());
      if (valid == 1) QVERIFY(values.same_bits(before));
      if (valid == 0)
        for (size_t i = 0; i < values.size(); ++i) QVERIFY(std::isnan(values[i]));
    }
  }

  void attention_within_short_documents_data() {
    QTest::addColumn<std::vector<Lengths>>("packed");
    QTest::addColumn<size_t>("d");
    QTest::addColumn<size_t>("capacity");
    // As long as a document that shares a segment may be, and one token more, in two sequences.
    QTest::newRow("sizes") << std::vector<Lengths>{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                                   {19, 5, 1, 1, 1, 1, 10, 17}}
                           << size_t{64} << size_t{16};
    QTest::newRow("odd head") << std::vector<Lengths>{many(9, 3, 8)} << size_t{20} << size_t{5};
    QTest::newRow("widest head") << std::vector<Lengths>{many(8, 2)} << size_t{256} << size_t{5};
    QTest::newRow("few enough") << std::vector<Lengths>{{5, 6}} << size_t{64} << size_t{5};
  }
  void attention_within_short_documents() {
    QFETCH(std::vector<Lengths>, packed);
    QFETCH(size_t, d);
    QFETCH(size_t, capacity);
    const Packed given(packed);
    check_attention<float>(given, d, capacity);
    check_attention<Bf16>(given, d, capacity);
  }
};

HEDDLE_TEST(DocumentKernelsTest)
#include "document_kernels_test.moc"
