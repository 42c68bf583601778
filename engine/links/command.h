// `heddle-engine links`: what the workbench starts on two hosts to measure the link between them.
#pragma once

#include <CLI/CLI.hpp>

#include "engine/links/measure.h"
#include "engine/links/serve.h"

namespace heddle::links {

struct CommandOptions {
  bool serves = false;
  ServeOptions serve;
  MeasureOptions measure;
};

/// Adds the subcommand; `options` must outlive the parsing.
CLI::App* add_command(CLI::App& app, CommandOptions& options);
int run_command(CommandOptions options);

}  // namespace heddle::links
