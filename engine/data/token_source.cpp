#include "engine/data/token_source.h"

namespace heddle::data {
namespace {

class StoreSource : public TokenSource {
 public:
  explicit StoreSource(StoreOrigin origin) : store_(std::move(origin)) {}

  Result<Known> await(int64_t tokens) override {
    const auto known = store_.await(tokens);
    if (!known) return fail(known);
    return Known{*known, store_.totals().has_value()};
  }
  Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const override {
    return store_.read(at, ids, begins);
  }
  std::string left_out() const override { return store_.origin().skipped; }
  std::optional<StoreProgress> progress() const override {
    return store_.totals() ? std::nullopt : read_progress(store_.origin().folder());
  }

 private:
  TokenStore store_;
};

}  // namespace

Result<std::unique_ptr<TokenSource>> open_text(const recipe::Data& data, Part part) {
  auto origin = store_origin(data, part);
  if (!origin) return fail(origin);
  return std::make_unique<StoreSource>(std::move(*origin));
}

}  // namespace heddle::data
