// command_driver …: the headless commands of `heddle`, without the window's libraries.
#include "workbench/commands/run_command.h"

int main(int argc, char** argv) {
  if (!heddle::workbench::is_command(argc, argv)) return 99;
  return heddle::workbench::run_command(argc, argv);
}
