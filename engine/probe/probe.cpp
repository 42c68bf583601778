#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/process.h"
#include "engine/probe/report.h"

namespace heddle::probe {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string root_here() {
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.heddle";
}

Result<Report> probe_this_machine(const std::string& root) {
  process::Command command;
  command.argv = {"/bin/sh", "-c", script(), "probe", root};
  const double asked = now();
  const Result<process::Completed> completed = process::run(command);
  if (!completed) return fail(completed);
  return judge(completed->out, asked, now());
}

int command(bool json) {
  const Result<Report> report = probe_this_machine();
  if (!report) {
    std::cerr << "heddle-engine probe: " << report.error().message << '\n';
    return 1;
  }
  std::cout << (json ? to_json(*report) + "\n" : to_text(*report));
  return 0;
}

}  // namespace heddle::probe
