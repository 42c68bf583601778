// A store, a recipe and runs of rank_engine on this machine, for the tests of this folder.
#pragma once

#include <xxhash.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/telemetry/log_reader.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "workbench/launch.h"
#include "workbench/place.h"

namespace heddle::workbench {

inline const std::string kRankEngine = std::string(HEDDLE_BINARY_DIR) + "/alone/rank_engine";

/// All that this process launches from here on, and the programs that it starts, is done by it.
inline void use_engine(const std::string& path = kRankEngine) {
  qputenv("HEDDLE_ENGINE", QByteArray::fromStdString(path));
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A log's whole records: their number, and the sum of XXH3-64 over each one's number and checksum.
struct Digest {
  int64_t records = 0;
  uint64_t checksum = 0;
  bool operator==(const Digest&) const = default;
};

inline Digest digest_of_file(const std::string& path) {
  telemetry::LogReader reader;
  reader.feed(read_file(path));
  reader.finish();
  Digest digest;
  while (const auto event = reader.next()) {
    if (const auto* frame = std::get_if<telemetry::Frame>(&*event)) {
      const uint64_t both[] = {frame->seq, frame->checksum};
      digest.checksum += XXH3_64bits(both, sizeof both);
      ++digest.records;
    }
  }
  return digest;
}

/// By rank.
using Digests = std::map<int32_t, Digest>;

inline Digests digests_of_store(storage::Reader& reader, storage::RunId run) {
  Digests digests;
  for (const storage::LogDigest& log : must(reader.digests(run))) {
    digests[log.rank] = {log.records, log.checksum};
  }
  return digests;
}

inline Digests digests_of_folder(const std::string& run_dir, int32_t ranks) {
  Digests digests;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    digests[rank] = digest_of_file(fmt::format("{}/rank-{}.0.hlog", run_dir, rank));
  }
  digests[telemetry::kSupervisorRank] = digest_of_file(run_dir + "/supervisor.0.hlog");
  return digests;
}

struct RunFixture {
  RunFixture() { use_engine(); }

  QTemporaryDir folder;
  std::string store = path("heddle.sqlite");

  std::string path(const std::string& name) const {
    return folder.filePath(QString::fromStdString(name)).toStdString();
  }

  /// Runs go below this test's folder, not below the home.
  remote::Target target() const {
    remote::Target target = remote::this_machine();
    target.root = path("node");
    return target;
  }

  /// `pace`: milliseconds a step.
  LaunchRequest request(int steps, int pace = 1) const {
    std::ofstream(path("corpus.txt")) << "To be, or not to be.\n";
    std::ofstream(path("tokenizer.json")) << "{}\n";
    LaunchRequest request;
    request.recipe_file = path("debug.toml");
    request.recipe_text = fmt::format(
        "# A test's recipe.\n"
        "[model]\npreset = \"llama3-debug\"\nvocab_size = 512\n"
        "[data]\ntext = [\"corpus.txt\"]\ntokenizer = \"tokenizer.json\"\nseq_len = 32\n"
        "[training]\nsteps = {}\nseed = {}\n"
        "[wrapping]\nmode = \"layers\"\n"
        "[hardware]\nranks = 2\n",
        steps, pace);
    request.target = target();
    return request;
  }

  storage::RunDetail detail(storage::RunId run) const {
    storage::Reader reader = must(storage::Reader::open(store));
    return must(reader.run(run));
  }

  static constexpr int kPatience = 240000;  // ms, on a machine that does much else

  bool ends(storage::RunId run) const {
    return QTest::qWaitFor([&] { return storage::has_ended(detail(run).summary.state); },
                           kPatience);
  }

  /// False: it has ended before, or does not get there.
  bool reaches_step(storage::RunId run, int64_t step) const {
    storage::RunSummary now;
    const auto is_settled = [&] {
      now = detail(run).summary;
      return now.steps >= step || storage::has_ended(now.state);
    };
    if (QTest::qWaitFor(is_settled, kPatience) && now.steps >= step) return true;
    qWarning("%s after %lld steps: %s", storage::to_string(now.state).c_str(),
             static_cast<long long>(now.steps), now.cause.c_str());
    return false;
  }

  /// Every record of the run's directory is in the store, once.
  void verify_complete(storage::RunId run, int32_t ranks) const {
    storage::Reader reader = must(storage::Reader::open(store));
    const Digests stored = digests_of_store(reader, run);
    const Digests written = digests_of_folder(detail(run).run_dir, ranks);
    QVERIFY(written.at(0).records > 0);
    QVERIFY(stored == written);
    QVERIFY(must(reader.gaps(run)).empty());
  }
};

}  // namespace heddle::workbench
