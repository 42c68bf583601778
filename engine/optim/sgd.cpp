// SGD with momentum, as in torch.optim.SGD without dampening.
#include "engine/optim/optimizer.h"

namespace heddle::optim {
namespace {

const Key& momentum() {
  static const Key key = {.name = "momentum",
                          .range = Key::Range::below_1,
                          .fallback = {0.9},
                          .label = "momentum",
                          .help = "The part of the last step's direction that is kept."};
  return key;
}

const Key& nesterov() {
  static const Key key = {.name = "nesterov",
                          .kind = Key::Kind::flag,
                          .fallback = {0},
                          .label = "nesterov",
                          .help = "Whether a step looks ahead along its momentum."};
  return key;
}

std::vector<State> momentum_buffer(const std::vector<int64_t>& shape, const Settings&) {
  return {{"momentum_buffer", shape}};
}

void update_sgd(Operators& operators, const Operands& of, const Settings& settings) {
  operators.call("heddle::sgd_",
                 {std::vector{of.parameter}, std::vector{of.states[0]}, std::vector{of.gradient},
                  of.rate, of.step, of.factor, momentum().value(settings),
                  nesterov().value(settings) != 0, of.weight_decay});
}

}  // namespace

Optimizer sgd() {
  return {.name = "sgd",
          .words = "SGD with momentum",
          .keys = {momentum(), nesterov()},
          .states = &momentum_buffer,
          .update = &update_sgd};
}

}  // namespace heddle::optim
