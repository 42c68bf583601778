#include "engine/runs/rank_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace heddle::runs {
namespace {

template <typename T>
Result<> read_number(const std::map<std::string, std::string>& values, const std::string& name,
                     T& number) {
  const auto found = values.find(name);
  if (found == values.end()) return fail("rank: {} is missing", name);
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail("rank: {}: '{}' is no number it can take", name, text);
  }
  return {};
}

}  // namespace

std::vector<std::string> rank_arguments(const RankContext& context) {
  std::vector<std::string> words{"rank",
                                 "--run-dir",
                                 context.run_dir,
                                 "--rank",
                                 std::to_string(context.rank),
                                 "--local-rank",
                                 std::to_string(context.local_rank)};
  if (context.attempt > 0)
    words.insert(words.end(), {"--attempt", std::to_string(context.attempt)});
  if (context.listen_fd >= 0) {
    words.insert(words.end(), {"--listen-fd", std::to_string(context.listen_fd)});
  }
  if (context.word_fd >= 0) {
    words.insert(words.end(), {"--word-fd", std::to_string(context.word_fd)});
  }
  words.insert(words.end(), {"--port", std::to_string(context.port), "--spawned-at",
                             fmt::format("{:.6f}", context.spawned_at)});
  return words;
}

Result<RankContext> parse_rank_arguments(const std::vector<std::string>& words) {
  std::map<std::string, std::string> values{
      {"--attempt", "0"}, {"--listen-fd", "-1"}, {"--word-fd", "-1"}};
  for (size_t i = 0; i + 1 < words.size(); i += 2) values[words[i]] = words[i + 1];
  if (words.size() % 2 != 0) return fail("rank: {} has no value", words.back());

  RankContext context;
  if (!values.contains("--run-dir")) return fail("rank: --run-dir is missing");
  context.run_dir = values["--run-dir"];
  for (const Result<>& read : {read_number(values, "--rank", context.rank),
                               read_number(values, "--local-rank", context.local_rank),
                               read_number(values, "--attempt", context.attempt),
                               read_number(values, "--listen-fd", context.listen_fd),
                               read_number(values, "--word-fd", context.word_fd),
                               read_number(values, "--port", context.port),
                               read_number(values, "--spawned-at", context.spawned_at)}) {
    if (!read) return fail(read);
  }
  Result<Launch> launch = read_launch(context.run_dir);
  if (!launch) return fail(launch);
  context.launch = std::move(*launch);
  return context;
}

}  // namespace heddle::runs
