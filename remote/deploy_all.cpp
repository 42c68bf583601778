#include "remote/deploy_all.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/guard.h"
#include "base/unique_name.h"
#include "remote/private_root.h"

namespace heddle::remote {
namespace {

/// Calls `work(i)` for each of the numbers on a thread of its own.
template <typename Work>
void at_once(const std::vector<size_t>& numbers, Work work) {
  std::vector<std::thread> threads;
  for (const size_t i : numbers) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

/// The progress of several transfers as one; when one is stopped, all are.
class Sum {
 public:
  Sum(size_t count, const Progress& progress) : parts_(count), progress_(progress) {}

  Progress part(size_t i) {
    return [this, i](uint64_t done, uint64_t total) {
      const std::lock_guard lock(mutex_);
      parts_[i] = {done, total};
      uint64_t all_done = 0, all_total = 0;
      for (const auto& [one_done, one_total] : parts_) {
        all_done += one_done;
        all_total += one_total;
      }
      if (progress_ && !stopped_ && !progress_(all_done, all_total)) stopped_ = true;
      return !stopped_;
    };
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, uint64_t>> parts_;
  const Progress& progress_;
  bool stopped_ = false;
};

/// The first error of the results, if there is one.
std::optional<Error> first_error(const std::vector<Result<Deployed>>& results) {
  for (const Result<Deployed>& result : results)
    if (!result) return result.error();
  return std::nullopt;
}

/// Files that show who shares a folder: a node that sees another's file has it before it.
class HomeTokens {
 public:
  explicit HomeTokens(std::string root) : root_(std::move(root)) {}
  ~HomeTokens() {
    for (const auto& [node, file] : written_) (void)node->remove(file);
  }

  /// Whether a node before this one has the same folder. Where a network's file system shows its
  /// file late, both count, and what they send goes into the same place twice.
  Result<bool> is_shared(Node& node) {
    const Result<std::string> folder = node.expand(root_);
    if (!folder) return fail(folder);
    if (const Result<> made = make_private_root(node, *folder, {"engines", "blobs"}); !made)
      return fail(made);
    const auto entries = node.list(*folder + "/blobs");
    if (!entries) return fail(entries);
    for (const Entry& entry : *entries)
      if (std::ranges::find(names_, entry.name) != names_.end()) return true;
    // Swept with other parts, should this be cut off.
    const std::string name = "shared." + unique_name() + ".part";
    const std::string file = *folder + "/blobs/" + name;
    if (const Result<> put = node.put_bytes("", file, 0600); !put) return fail(put);
    names_.push_back(name);
    written_.emplace_back(&node, file);
    return false;
  }

 private:
  const std::string root_;
  std::vector<std::string> names_;
  std::vector<std::pair<Node*, std::string>> written_;
};

}  // namespace

Result<std::vector<Deployed>> deploy_all(const std::vector<Node*>& nodes, const std::string& root,
                                         const std::string& engine, const Progress& progress,
                                         Devices devices) {
  // Its files' hashes are known afterwards.
  if (const Result<Bundle> bundle = bundle_of(engine, devices); !bundle) return fail(bundle);
  std::vector<Result<Deployed>> results(nodes.size(), Deployed{});
  std::vector<size_t> all(nodes.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<std::optional<Error>> unknown(nodes.size());
  std::vector<char> is_there(nodes.size());
  at_once(all, [&](size_t i) {
    const Result<bool> there =
        caught([&] { return is_deployed(*nodes[i], root, engine, devices); });
    if (there)
      is_there[i] = *there;
    else
      unknown[i] = there.error();
  });
  for (const auto& error : unknown)
    if (error) return tl::unexpected(*error);

  std::vector<size_t> first, others;
  {
    HomeTokens tokens(root);
    size_t absent = static_cast<size_t>(std::ranges::count(is_there, 0));
    for (const size_t i : all) {
      const Result<bool> shared =
          is_there[i] || absent < 2 ? Result<bool>(false) : tokens.is_shared(*nodes[i]);
      if (!shared) return fail(shared);
      (*shared ? others : first).push_back(i);
    }
  }
  Sum sum(nodes.size(), progress);
  const auto bring = [&](size_t i) {
    results[i] = caught([&] { return deploy(*nodes[i], root, engine, sum.part(i), devices); });
    if (!results[i]) sum.stop();
  };
  at_once(first, bring);
  if (const auto error = first_error(results)) return tl::unexpected(*error);
  at_once(others, bring);
  if (const auto error = first_error(results)) return tl::unexpected(*error);
  std::vector<Deployed> deployed;
  for (Result<Deployed>& result : results) deployed.push_back(std::move(*result));
  return deployed;
}

}  // namespace heddle::remote
