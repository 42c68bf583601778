// The driver, as far as LibTorch asks it whether this process uses a GPU.
extern "C" {

int cuInit(unsigned int) { return 0; }
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDevicePrimaryCtxGetState(int, unsigned int* flags, int* active) {
  *flags = 0;
  *active = 1;
  return 0;
}
int cuCtxGetCurrent(void** context) {
  static int only;
  *context = &only;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuGetErrorString(int, const char** text) {
  *text = "an error of the fake driver";
  return 0;
}

}  // extern "C"
