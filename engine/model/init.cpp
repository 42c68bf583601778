#include "engine/model/init.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace heddle::model {
namespace {

// Four 32-bit words for a counter under a key.
std::array<uint32_t, 4> philox(uint64_t counter, uint64_t key) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                               0, 0};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

// (0, 1), never its ends.
double uniform(uint32_t high, uint32_t low) {
  const uint64_t bits = (static_cast<uint64_t>(high) << 20) ^ (low >> 12);
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// Two independent standard normals (Box and Muller, 1958) for each pair of elements.
std::array<double, 2> normals(uint64_t pair, uint64_t key, uint64_t attempt) {
  const auto words = philox(pair + (attempt << 56), key);
  const double radius = std::sqrt(-2.0 * std::log(uniform(words[0], words[1])));
  const double angle = 2.0 * std::numbers::pi * uniform(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

bool within(const Init& init, double value) {
  return init.kind == Init::Kind::normal || std::abs(value) <= init.cut;
}

// Truncation by drawing again; past 2⁸ attempts the cut would be absurd.
float draw_again(const Init& init, uint64_t key, uint64_t element) {
  for (uint64_t attempt = 1;; ++attempt) {
    const double value = init.sigma * normals(element / 2, key, attempt)[element % 2];
    if (within(init, value) || attempt == 255) return static_cast<float>(value);
  }
}

// The first draws of so many elements at once. Always whole blocks: which instruction makes an
// element must not depend on what part of a parameter a rank has.
constexpr uint64_t kBlock = 4096;

class Blocks {
 public:
  Blocks(const Init& init, uint64_t key) : init_(init), key_(key) {}

  // Elements [begin, end) of one block.
  void draw(uint64_t begin, uint64_t end, float* out) {
    const uint64_t first = begin / kBlock * kBlock;
    double *radius = radius_.mutable_data_ptr<double>(), *angle = sine_.mutable_data_ptr<double>();
    for (uint64_t i = 0; i < kBlock / 2; ++i) {
      const auto words = philox(first / 2 + i, key_);
      radius[i] = uniform(words[0], words[1]);
      angle[i] = 2.0 * std::numbers::pi * uniform(words[2], words[3]);
    }
    radius_.log_().mul_(-2.0).sqrt_().mul_(init_.sigma);
    at::cos_out(cosine_, sine_);
    sine_.sin_();
    cosine_.mul_(radius_);
    sine_.mul_(radius_);
    const std::array values = {cosine_.const_data_ptr<double>(), sine_.const_data_ptr<double>()};
    for (uint64_t element = begin; element < end; ++element) {
      const double value = values[element % 2][(element - first) / 2];
      out[element - begin] =
          within(init_, value) ? static_cast<float>(value) : draw_again(init_, key_, element);
    }
  }

 private:
  const Init& init_;
  const uint64_t key_;
  // One number for each pair of elements; the angle becomes its sine.
  at::Tensor radius_ = at::empty({kBlock / 2}, at::kDouble), sine_ = at::empty_like(radius_),
             cosine_ = at::empty_like(radius_);
};

bool ends_with(const std::string& name, const char* end) { return name.ends_with(end); }

}  // namespace

Init init_of(const recipe::Model& model, const std::string& name) {
  // Truncated at ±2 whatever σ is, as torch.nn.init.trunc_normal_ does by default.
  constexpr double kCut = 2.0;
  if (ends_with(name, "norm.weight")) return {Init::Kind::ones, 0.0, 0.0};
  if (ends_with(name, ".bias")) return {Init::Kind::zeros, 0.0, 0.0};
  // Tied, the embeddings are the output matrix too, whose logits must start small.
  const bool embeds = name == "tok_embeddings.weight";
  if (embeds && !model.tied_embeddings) return {Init::Kind::normal, 1.0, 0.0};
  if (embeds || name == "output.weight") {
    const double sigma = 1.0 / std::sqrt(static_cast<double>(model.dim));
    return {Init::Kind::truncated_normal, sigma, 3.0 * sigma};
  }
  if (ends_with(name, ".wo.weight") || ends_with(name, ".w2.weight") ||
      ends_with(name, ".w3.weight")) {
    const double layer = std::stod(name.substr(name.find('.') + 1));
    return {Init::Kind::truncated_normal, 0.02 / std::sqrt(2.0 * (layer + 1.0)), kCut};
  }
  return {Init::Kind::truncated_normal, 0.02, kCut};
}

void fill(const Init& init, int64_t seed, const std::string& name, int64_t begin, int64_t count,
          float* out) {
  if (init.kind == Init::Kind::ones || init.kind == Init::Kind::zeros) {
    std::fill_n(out, count, init.kind == Init::Kind::ones ? 1.0F : 0.0F);
    return;
  }
  const uint64_t key = XXH3_64bits_withSeed(name.data(), name.size(), static_cast<uint64_t>(seed));
  at::parallel_for(0, count, 4 * kBlock, [&](int64_t from, int64_t to) {
    Blocks blocks(init, key);
    const auto end = static_cast<uint64_t>(begin + to);
    for (auto at = static_cast<uint64_t>(begin + from); at < end;) {
      const uint64_t next = std::min(end, (at / kBlock + 1) * kBlock);
      blocks.draw(at, next, out + (at - static_cast<uint64_t>(begin)));
      at = next;
    }
  });
}

}  // namespace heddle::model
