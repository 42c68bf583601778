// A program linked to LibTorch: with `maps` it shows which files it runs from.
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "maps")
    std::cout << std::ifstream("/proc/self/maps").rdbuf();
  return 0;
}
