// The process that kill_test.cpp kills: follows a log file into a store, as a workbench does.
//   store_ingest_helper STORE RUN LOG
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "storage/writer.h"

using namespace heddle::storage;

namespace {

int failed(const heddle::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto writer = Writer::open(argv[1]);
  if (!writer) return failed(writer.error());
  if (const auto lease = (*writer)->take_lease(); !lease) return failed(lease.error());
  const RunId run = std::atoll(argv[2]);
  std::ifstream file(argv[3], std::ios::binary);
  const std::string log(std::istreambuf_iterator<char>(file), {});
  auto offset = (*writer)->cursor(run, 0, 0).get();
  if (!offset) return failed(offset.error());
  // Pieces that end in the middle of records, several under way at once.
  constexpr size_t kPiece = 7'001;
  std::vector<Writer::Future<Ingested>> waiting;
  for (uint64_t at = *offset; at < log.size(); at += kPiece) {
    waiting.push_back((*writer)->ingest(run, 0, 0, at, log.substr(at, kPiece)));
    if (waiting.size() < 4 && at + kPiece < log.size()) continue;
    for (auto& future : waiting) {
      const auto ingested = future.get();
      if (!ingested) return failed(ingested.error());
      std::printf("%llu\n", static_cast<unsigned long long>(ingested->acknowledged));
    }
    std::fflush(stdout);
    waiting.clear();
  }
  const auto ended = (*writer)->end_log(run, 0, 0).get();
  return ended ? 0 : failed(ended.error());
}
