// `heddle-engine plan --serve`: requests and answers as lines of JSON, the newest request of a key
// first. A search tells its progress until its last line; plans asked for meanwhile come after it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/hardware/catalogue.h"
#include "engine/plan/question.h"
#include "engine/predict/planning.h"
#include "engine/predict/predict.h"
#include "engine/predict/speed_now.h"
#include "engine/search/counting_ranks.h"
#include "engine/torch_commands/torch_commands.h"

namespace heddle::torch_commands {
namespace {

struct Job {
  plan::Asked asked;
  std::atomic<bool> cancelled = false;

  bool is_search() const { return std::holds_alternative<plan::SearchQuestion>(asked.question); }
};

std::vector<plan::Fault> faults_of(const std::vector<recipe::Fault>& faults) {
  std::vector<plan::Fault> told;
  for (const recipe::Fault& fault : faults) {
    std::string text = fault.what;
    if (!fault.suggestion.empty()) text += "; did you mean " + fault.suggestion + "?";
    told.push_back({fault.line, fault.column, fault.key, std::move(text), fault.valid});
  }
  return told;
}

/// The hardware that plans can be made for.
std::vector<plan::HardwareEntry> catalogue() {
  const hardware::Catalogue catalogue = hardware::load_catalogue();
  std::vector<plan::HardwareEntry> entries{{hardware::kThisMachine, "this machine"}};
  for (const std::string& name : catalogue.names())
    if (const auto entry = catalogue.find(name)) entries.push_back({name, hardware::words(*entry)});
  return entries;
}

/// The machine's current speed takes half a second to measure: answers after a rest include it, and
/// no answer waits for it.
constexpr std::chrono::seconds kRest{2};

/// Requests come in on one thread and are planned on another.
class Server {
 public:
  int run() {
    std::thread planner([this] { plan_all(); });
    for (std::string line; std::getline(std::cin, line);)
      if (line.find_first_not_of(" \t\r") != std::string::npos) take(line);
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    planner.join();
    return 0;
  }

 private:
  void take(const std::string& line) {
    auto asked = plan::read_question(line);
    if (!asked) return say(asked.error());
    if (std::holds_alternative<plan::CatalogueQuestion>(asked->question))
      return say({.id = asked->id, .progress = {}, .reply = catalogue()});
    if (const auto* cancelled = std::get_if<plan::Cancel>(&asked->question))
      return cancel(cancelled->search);
    auto job = std::make_shared<Job>();
    job->asked = std::move(*asked);
    job->is_search() ? put_search(std::move(job)) : put(std::move(job));
  }

  /// One at a time: it takes seconds.
  void put_search(std::shared_ptr<Job> job) {
    {
      const std::lock_guard lock(mutex_);
      if (!searching_) {
        searching_ = job;
        waiting_.push_back(std::move(job));
      }
    }
    if (!job) return changed_.notify_one();
    say({.id = job->asked.id,
         .progress = {},
         .reply =
             Error{"a search runs already; valid: another one when it has ended or is cancelled"}});
  }

  /// The search of that id, which then tells what it knows.
  void cancel(uint64_t id) {
    const std::lock_guard lock(mutex_);
    if (searching_ && searching_->asked.id == id) searching_->cancelled = true;
  }

  /// Gives up older questions with the same key.
  void put(std::shared_ptr<Job> job) {
    const std::string key = job->asked.key;
    std::vector<std::shared_ptr<Job>> given_up;
    {
      const std::lock_guard lock(mutex_);
      if (!key.empty()) {
        for (const auto& waiting : waiting_)
          if (waiting->asked.key == key) given_up.push_back(waiting);
        std::erase_if(waiting_, [&](const auto& waiting) { return waiting->asked.key == key; });
        if (running_ && running_->asked.key == key) running_->cancelled = true;
      }
      waiting_.push_back(std::move(job));
    }
    changed_.notify_one();
    for (const auto& older : given_up)
      say({.id = older->asked.id, .progress = {}, .reply = plan::Cancelled{}});
  }

  void plan_all() {
    predict::Planning planning;
    while (const std::shared_ptr<Job> job = next()) {
      if (job->is_search())
        search(planning, *job);
      else
        plan(planning, *job);
    }
  }

  void plan(predict::Planning& planning, const Job& job) {
    const auto& question = std::get<plan::PlanQuestion>(job.asked.question);
    const auto answer = attempt("planning failed", [&] {
      return planning.answer(question, [&] { return job.cancelled.load(); });
    });
    const auto* document = std::get_if<plan::Document>(&answer);
    here_ = document != nullptr && predict::is_this_machine(document->hardware);
    say(answer_to(job, answer));
  }

  auto progress_of(const Job& job) {
    return [this, &job](const auto& known, double share) {
      say({.id = job.asked.id, .progress = share, .reply = known});
    };
  }

  void search(predict::Planning& planning, const Job& job) {
    const auto& question = std::get<plan::SearchQuestion>(job.asked.question);
    const auto cancelled = [&] { return job.cancelled.load(); };
    const auto end = [&](const auto& answer) {
      {
        const std::lock_guard lock(mutex_);
        searching_.reset();
      }
      say(answer_to(job, answer));
    };
    constexpr const char* kFailed = "the search failed";
    if (question.counts.empty()) {
      const search::Hooks hooks{.cancelled = cancelled, .progress = progress_of(job)};
      end(attempt(kFailed, [&] { return search::search_layouts(planning, question, hooks); }));
    } else {
      const search::CountingHooks hooks{.cancelled = cancelled, .progress = progress_of(job)};
      end(attempt(kFailed, [&] { return search::count_ranks(planning, question, hooks); }));
    }
  }

  /// Calls `work`; an exception becomes an error.
  template <typename Work>
  static std::invoke_result_t<Work> attempt(const char* failed, const Work& work) {
    std::invoke_result_t<Work> answer = Error{failed};
    try {
      answer = work();
    } catch (const std::exception& error) {
      answer = Error{error.what()};
    }
    return answer;
  }

  /// `answer`: what was asked for, or the recipe's faults, or an error.
  template <typename Asked>
  static plan::Answer answer_to(
      const Job& job, const std::variant<Asked, std::vector<recipe::Fault>, Error>& answer) {
    plan::Answer told{.id = job.asked.id, .progress = {}};
    if (const auto* asked = std::get_if<Asked>(&answer))
      told.reply = *asked;
    else if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer))
      told.reply = faults_of(*faults);
    else if (const Error& error = std::get<Error>(answer); error.message == predict::kCancelled)
      told.reply = plan::Cancelled{};
    else
      told.reply = error;
    return told;
  }

  /// Waits for one; none: there are no more.
  std::shared_ptr<Job> next() {
    std::unique_lock lock(mutex_);
    running_.reset();
    const auto asked = [&] { return ended_ || !waiting_.empty(); };
    if (here_ && !changed_.wait_for(lock, kRest, asked)) {
      lock.unlock();
      predict::measure_speed();
      lock.lock();
    }
    changed_.wait(lock, asked);
    if (waiting_.empty()) return nullptr;
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    return running_;
  }

  void say(const plan::Answer& answer) {
    const std::string text = plan::line_of(answer) + "\n";
    const std::lock_guard lock(output_);
    std::cout << text << std::flush;
  }

  std::mutex mutex_, output_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> running_, searching_;
  bool ended_ = false;
  bool here_ = false;  // the last plan was of this machine; the planning thread alone
};

}  // namespace

int serve_plans() { return Server().run(); }

}  // namespace heddle::torch_commands
