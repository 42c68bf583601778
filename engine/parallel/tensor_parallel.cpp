#include "engine/parallel/tensor_parallel.h"

namespace heddle::parallel {

using at::Tensor;

Tensor TensorParallel::gather(const Tensor& chunk) const {
  if (group.ranks == 1) return chunk;
  return sequence ? gather_rows(chunk, group) : copy_to_all(chunk, group);
}

Tensor TensorParallel::reduce(const Tensor& part) const {
  if (group.ranks == 1) return part;
  return sequence ? scatter_rows(part, group) : sum_over(part, group);
}

std::vector<Tensor> TensorParallel::apart(const Tensor& rows) const {
  return group.ranks == 1 ? std::vector<Tensor>{rows} : split_rows(rows, chunks);
}

Tensor TensorParallel::enter(const Tensor& x) const {
  if (!sequence) return gather(x);  // chunks of what each rank has whole would be copied
  return enter(x, [](const Tensor& rows, int64_t) { return std::vector<Tensor>{rows}; }).front();
}

std::vector<Tensor> TensorParallel::enter(const Tensor& x, const RowsWork& work) const {
  std::vector<std::vector<Tensor>> results;  // by result, then by chunk
  int64_t first = 0;
  for (const Tensor& chunk : apart(x)) {
    const Tensor rows = gather(chunk);
    const std::vector<Tensor> made = work(rows, first);
    results.resize(made.size());
    for (size_t i = 0; i < made.size(); ++i) results[i].push_back(made[i]);
    first += rows.size(0);
  }
  std::vector<Tensor> joined;
  for (const std::vector<Tensor>& parts : results) joined.push_back(join_rows(parts));
  return joined;
}

Tensor TensorParallel::leave(const Tensor& part) const {
  if (!sequence) return reduce(part);
  return leave(part, [](const Tensor& rows) { return rows; });
}

Tensor TensorParallel::leave(const Tensor& x, const RowWork& work) const {
  std::vector<Tensor> sums;
  for (const Tensor& rows : apart(x)) sums.push_back(reduce(work(rows)));
  return join_rows(sums);
}

Tensor TensorParallel::pass(const Tensor& x, const RowWork& work) const {
  return leave(x, [&](const Tensor& chunk) { return work(gather(chunk)); });
}

}  // namespace heddle::parallel
