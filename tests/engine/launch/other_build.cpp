// A plug-in of another build than the engine.
extern "C" const char* heddle_cuda_build() { return "another"; }
