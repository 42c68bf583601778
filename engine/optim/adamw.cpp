// AdamW (arXiv 1711.05101, algorithm 2): Adam with decoupled weight decay.
#include "engine/optim/optimizer.h"

namespace heddle::optim {
namespace {

const Key& betas() {
  static const Key key = {.name = "betas",
                          .kind = Key::Kind::pair,
                          .range = Key::Range::below_1,
                          .fallback = {0.9, 0.95},
                          .label = "betas",
                          .help = "Momenta of the gradient and of its square."};
  return key;
}

const Key& eps() {
  static const Key key = {.name = "eps",
                          .range = Key::Range::positive,
                          .fallback = {1e-8},
                          .label = "eps",
                          .help = "AdamW adds it to the root of the second moment."};
  return key;
}

std::vector<State> moments(const std::vector<int64_t>& shape, const Settings&) {
  return {{"exp_avg", shape}, {"exp_avg_sq", shape}};
}

void update_adamw(Operators& operators, const Operands& of, const Settings& settings) {
  const std::vector<double>& beta = betas().values(settings);
  operators.call("heddle::adamw_",
                 {std::vector{of.parameter}, std::vector{of.states[0]}, std::vector{of.states[1]},
                  std::vector{of.gradient}, of.rate, of.step, of.factor, beta[0], beta[1],
                  eps().value(settings), of.weight_decay});
}

}  // namespace

Optimizer adamw() {
  return {.name = "adamw",
          .words = "AdamW",
          .keys = {betas(), eps()},
          .states = &moments,
          .update = &update_adamw};
}

}  // namespace heddle::optim
