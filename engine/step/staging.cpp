#include "engine/step/staging.h"

#include <ATen/core/grad_mode.h>

#include <cstring>

#include "engine/checkpoint/rank_file.h"
#include "engine/runtime/device.h"

namespace heddle::step {
namespace {

std::vector<StoredState> written_states(const recipe::Recipe& recipe, int64_t rank,
                                        const runtime::NamedTensors& states) {
  std::vector<StoredState> stored = stored_states(recipe, rank, states);
  std::erase_if(stored, [](const StoredState& each) { return !each.row.stored->writes; });
  return stored;
}

}  // namespace

Staging::Staging(const recipe::Recipe& recipe, int64_t rank, const runtime::NamedTensors& states,
                 c10::Device device)
    : rank_(rank), stored_(written_states(recipe, rank, states)) {
  int64_t bytes = 0;
  for (const StoredState& each : stored_) bytes += each.part().bytes();
  copy_ = runtime::allocate_beside(device, bytes).view(at::kFloat);
}

void Staging::take() {
  at::NoGradGuard no_grad;
  int64_t offset = 0;
  for (const StoredState& stored : stored_) {
    const int64_t numbers = stored.part().numbers();
    const at::Tensor rows = stored.tensor.narrow(0, 0, stored.part().box.rows());
    // On the CPU by one core: the others compute.
    if (rows.is_cpu() && rows.scalar_type() == at::kFloat)
      std::memcpy(copy_.mutable_data_ptr<float>() + offset, rows.const_data_ptr<float>(),
                  static_cast<size_t>(numbers) * sizeof(float));
    else
      copy_.narrow(0, offset, numbers).copy_(rows.reshape({-1}));
    offset += numbers;
  }
}

Result<checkpoint::Contents> Staging::write(const std::string& folder) const {
  if (stored_.empty()) return checkpoint::Contents{};
  std::vector<holdings::Part> parts;
  for (const StoredState& stored : stored_) parts.push_back(stored.part());
  const float* at = copy_.const_data_ptr<float>();
  return checkpoint::write_rank_file(
      folder, fmt::format("rank-{}.safetensors", rank_), parts,
      [&](const holdings::Part&, int64_t begin, int64_t end) -> Result<std::span<const float>> {
        const std::span<const float> piece(at, static_cast<size_t>(end - begin));
        at += end - begin;
        return piece;
      });
}

}  // namespace heddle::step
