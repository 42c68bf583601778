// The unit that LibTorch's precompiled header belongs to.
#include "engine/torch_headers.h"
