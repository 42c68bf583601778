#include "remote/bring_to_all.h"

#include <algorithm>
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
    if (const Result<> made = make_private_root(node, *folder, {"blobs"}); !made) return fail(made);
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

Result<> bring_to_all(const Receivers& receivers, const Bring& bring, const Progress& progress) {
  const size_t count = receivers.nodes.size();
  const auto has_it = [&](size_t i) { return !receivers.have_it.empty() && receivers.have_it[i]; };
  std::vector<size_t> first, others;
  {
    HomeTokens tokens(receivers.root);
    size_t absent = 0;
    for (size_t i = 0; i < count; ++i) absent += has_it(i) ? 0 : 1;
    for (size_t i = 0; i < count; ++i) {
      const Result<bool> shared =
          has_it(i) || absent < 2 ? Result<bool>(false) : tokens.is_shared(*receivers.nodes[i]);
      if (!shared) return fail(shared);
      (*shared ? others : first).push_back(i);
    }
  }
  Sum sum(count, progress);
  std::mutex failing;
  std::optional<Error> failed;  // the first; the others were only stopped
  for (const auto& numbers : {first, others}) {
    at_once(numbers, [&](size_t i) {
      const Result<> brought = caught([&] { return bring(i, sum.part(i)); });
      if (brought) return;
      sum.stop();
      const std::lock_guard lock(failing);
      if (!failed) failed = brought.error();
    });
    if (failed) return tl::unexpected(*failed);
  }
  return {};
}

}  // namespace heddle::remote
