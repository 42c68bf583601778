// cuBLASLt: nothing of it is used in bf16 and fp32, so stubs are all that it is.
