// follow_driver STORE: a workbench without a window, which the tests kill.
#include <chrono>
#include <cstdio>
#include <thread>

#include "workbench/workbench.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto workbench = heddle::workbench::Workbench::open(argv[1]);
  if (!workbench) {
    fprintf(stderr, "%s\n", workbench.error().message.c_str());
    return 1;
  }
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}
