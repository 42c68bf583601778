#include <chrono>
#include <cstdlib>

#include "base/clock.h"
#include "base/process.h"
#include "base/say.h"
#include "engine/probe/report.h"

namespace heddle::probe {

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string root_here() {
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.heddle";
}

namespace {

Result<Report> run_script(std::vector<std::string> arguments) {
  process::Command command;
  command.argv = {"/bin/sh", "-c", script(), "probe"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  const double asked = unix_now();
  const Result<process::Completed> completed = process::run(command);
  if (!completed) return fail(completed);
  return judge(completed->out, asked, unix_now());
}

}  // namespace

Result<Report> probe_this_machine(const std::string& root) { return run_script({root}); }

Result<Report> memory_of_this_machine() {
  Result<Report> report = run_script({root_here(), "memory"});
  if (report) report->checks.clear();
  return report;
}

int command(bool json) {
  const Result<Report> report = probe_this_machine();
  if (!report) {
    say(stderr, "heddle-engine probe: {}\n", report.error().message);
    return 1;
  }
  say("{}", json ? to_json(*report) + "\n" : to_text(*report));
  return 0;
}

}  // namespace heddle::probe
