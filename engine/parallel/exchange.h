// Exchanges of activations between ranks, with their gradients: the model's own communication,
// next to its parameters' gathers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::parallel {

/// The ranks along one dimension of the mesh, for one parallelism.
struct Group {
  int64_t ranks = 1;
  std::string name;
};

/// Every rank's rows, in rank order: x [n, …] → [ranks · n, …]. Gradient: summed over the ranks,
/// each gets its rows.
at::Tensor gather_rows(const at::Tensor& x, const Group& group);
/// Both in one exchange.
std::pair<at::Tensor, at::Tensor> gather_rows(const at::Tensor& x, const at::Tensor& y,
                                              const Group& group);

/// The sum over the ranks, of which each gets its rows: x [ranks · n, …] → [n, …]. Gradient: every
/// rank's rows.
at::Tensor scatter_rows(const at::Tensor& x, const Group& group);

/// x itself, which all ranks have; its gradient is the sum over the ranks.
at::Tensor copy_to_all(const at::Tensor& x, const Group& group);

/// The sum over the ranks; the gradient is the result's, which all ranks have.
at::Tensor sum_over(const at::Tensor& x, const Group& group);

/// x [ranks, …]: part i goes to rank i, part i of the result comes from it. Its own gradient.
at::Tensor exchange_parts(const at::Tensor& x, const Group& group);

/// So many chunks of equally many rows, and one after the other again: each the other's gradient.
std::vector<at::Tensor> split_rows(const at::Tensor& x, int64_t chunks);
at::Tensor join_rows(const std::vector<at::Tensor>& chunks);

}  // namespace heddle::parallel
