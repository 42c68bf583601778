// A plug-in for Parquet, as another build of Heddle may have it.
extern "C" void heddle_parquet_open_0() {}
