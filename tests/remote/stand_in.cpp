// A library that stands in for one of CUDA's: LOADED says which it is; OPENED, if anything, is what
// it opens by name when it runs.
#include <dlfcn.h>

#ifdef MARK
[[gnu::used]] static const char mark[] = "heddle-build-id:" MARK;
#endif

// How many libraries were opened from here on; −1: one was not there.
extern "C" int LOADED() {
#ifdef OPENED
  void* opened = dlopen(OPENED, RTLD_NOW);
  const auto next = opened ? reinterpret_cast<int (*)()>(dlsym(opened, NEXT)) : nullptr;
  const int more = next ? next() : -1;
  return more < 0 ? -1 : more + 1;
#else
  return 0;
#endif
}
