#include "engine/links/command.h"

namespace heddle::links {

CLI::App* add_command(CLI::App& app, CommandOptions& options) {
  CLI::App* command =
      app.add_subcommand("links", "measure the link to another host; a secret is on stdin");
  auto* serve = command->add_flag("--serve", options.serves, "be the host that is called");
  command->add_option("--host", options.serve.host, "this host's number among the target's")
      ->required();
  auto* toward = command
                     ->add_option("--toward", options.serve.toward,
                                  "listen at the address that packets to this host leave from")
                     ->needs(serve);
  command->add_option("--guests", options.serve.guests, "end after so many callers")->needs(serve);
  command
      ->add_flag("--public", options.serve.public_addresses,
                 "also at an address that the internet reaches")
      ->needs(serve);
  serve->needs(toward);
  auto* to = command->add_option("--to", options.measure.to, "the address of a host that serves")
                 ->excludes(serve);
  command->add_option("--port", options.measure.port, "its port")->needs(to);
  command->add_option("--answerer", options.measure.answerer, "its number among the target's hosts")
      ->needs(to);
  return command;
}

int run_command(CommandOptions options) {
  options.measure.caller = options.serve.host;
  return options.serves ? serve(options.serve) : measure(options.measure);
}

}  // namespace heddle::links
