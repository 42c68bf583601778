// launch_driver train|supervise …: the two commands of the engine that start ranks, without
// LibTorch.
#include <CLI/CLI.hpp>

#include "engine/launch/foreground.h"
#include "engine/launch/supervise.h"

int main(int argc, char** argv) {
  using namespace heddle::launch;
  CLI::App app;
  app.require_subcommand(1);

  TrainOptions train;
  train.recipe_text = "# the test's ranks do not read it\n";
  CLI::App* train_command = app.add_subcommand("train");
  train_command->add_option("--run-dir", train.run_dir);
  train_command->add_option("--ranks", train.ranks);
  train_command->add_option("--engine", train.engine);

  SuperviseOptions supervisor;
  CLI::App* supervise_command = app.add_subcommand("supervise");
  supervise_command->add_option("--run-dir", supervisor.run_dir)->required();
  supervise_command->add_option("--engine", supervisor.engine);
  supervise_command->add_flag("--secret-stdin", supervisor.secret_on_stdin);
  supervise_command->add_flag_callback("--status",
                                       [&] { supervisor.action = SuperviseAction::status; });
  supervise_command->add_flag_callback("--stop",
                                       [&] { supervisor.action = SuperviseAction::stop; });
  supervise_command->add_flag_callback("--kill",
                                       [&] { supervisor.action = SuperviseAction::kill; });

  CLI11_PARSE(app, argc, argv);
  return *train_command ? run_foreground(train) : supervise(supervisor);
}
