// heddle launch RECIPE [--on TARGET] | --resume RUN | --fork RUN[@STEP] | --reproduce RUN
//               [--without HOST]... [--set key=value]... [--name NAME] [--mode MODE] [--check |
//               --wait]
//               [--sweep grid|random:N[:SEED]] [--queue] [--at-once N] [--halving METRIC:KEEP]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/launch_and_watch.h"
#include "workbench/commands/launch_queued.h"
#include "workbench/continuation.h"
#include "workbench/reproduction.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

using LineageKind = storage::Lineage::Kind;

Result<LaunchRequest> new_run(storage::Reader& reader, const LaunchOptions& options) {
  Result<LaunchRequest> request = request_from_file(options.recipe);
  if (!request) return request;
  const std::string name =
      options.target.empty() ? std::string(remote::kThisMachine) : options.target;
  Result<SavedTarget> target = find_target(reader, name);
  if (!target) return fail(target);
  request->sets = options.sets;
  request->target = std::move(target->target);
  request->name = options.name;
  return request;
}

/// "RUN", else "RUN@STEP".
Result<ContinueRequest> parent_of(storage::Reader& reader, const LaunchOptions& options) {
  ContinueRequest request;
  request.kind = options.fork.empty() ? LineageKind::resume : LineageKind::fork;
  std::string name = options.fork.empty() ? options.resume : options.fork;
  const size_t at = name.rfind('@');
  if (request.kind == LineageKind::fork && at != std::string::npos && !reader.find_run(name)) {
    request.checkpoint = name.substr(at + 1);
    name.resize(at);
  }
  Result<storage::RunDetail> parent = find_run(reader, name);
  if (!parent) return fail(parent);
  request.parent = std::move(*parent);
  request.sets = options.sets;
  request.name = options.name;
  request.without = options.without;
  return request;
}

Result<LaunchRequest> going_on(storage::Reader& reader, const LaunchOptions& options) {
  const Result<ContinueRequest> request = parent_of(reader, options);
  if (!request) return fail(request);
  const storage::RunSummary& parent = request->parent.summary;
  if (!options.target.empty() && options.target != parent.target)
    return fail(
        "--on {}: {} ran on {}, which has its checkpoints, and continues there; leave --on out",
        options.target, parent.name, parent.target);
  Result<Continuation> plan = plan_continuation(reader, *request);
  if (!plan) return fail(plan);
  say("{}", to_text(*plan));
  fflush(stdout);
  return std::move(plan->launch);
}

/// Differences from then go to stderr, before anything is launched.
Result<LaunchRequest> again(storage::Reader& reader, const LaunchOptions& options) {
  if (!options.sets.empty() || !options.target.empty())
    return fail("--reproduce launches exactly what {} was; leave {} out, or launch its recipe",
                options.reproduce, options.sets.empty() ? "--on" : "--set");
  const Result<storage::RunDetail> run = find_run(reader, options.reproduce);
  if (!run) return fail(run);
  Result<Reproduction> plan = plan_reproduction(reader, *run);
  if (!plan) return fail(plan);
  say("{} again", run->summary.name);
  for (size_t i = 0; i < plan->same.size(); ++i)
    say("{} {}", i == 0 ? ", with the same" : ",", plan->same[i]);
  say("\n");
  fflush(stdout);
  for (const std::string& difference : plan->differences)
    say(stderr, "not the same: {}\n", difference);
  if (!options.name.empty()) plan->request.name = options.name;
  return std::move(plan->request);
}

/// A launch takes exactly one source.
Result<> check_words(const LaunchOptions& options) {
  const int given = !options.recipe.empty() + !options.resume.empty() + !options.fork.empty() +
                    !options.reproduce.empty();
  if (!options.without.empty() && options.resume.empty() && options.fork.empty())
    return fail("--without is for --resume and --fork: a new run goes to the hosts of its target");
  if (given == 1) return {};
  return fail("launch takes {}; valid: RECIPE, --resume RUN, --fork RUN[@STEP] or --reproduce RUN",
              given == 0 ? "a recipe or a run: RECIPE is required" : "one of them");
}

/// A run that continues another begins at once: the queue keeps nothing of that.
Result<> check_continuation(const LaunchOptions& options) {
  if (!options.recipe.empty()) return {};
  if (options.queue || !options.sweep.empty() || !options.halving.empty())
    return fail(
        "--queue, --sweep and --halving are for RECIPE: a run that is resumed, forked or "
        "reproduced "
        "begins at once");
  return {};
}

int check_and_print(const Context& context, const LaunchRequest& request) {
  const auto findings = check_launch(context.store, request);
  if (!findings) return report_launch(findings.error());
  for (const Finding& finding : *findings)
    say("{:<7} {}\n", probe::word(finding.status), finding.line());
  return may_start(*findings) ? kExitDone : kExitUsage;
}

/// The findings of each run of a sweep; the exit code of the worst.
int check_all(const Context& context, const Enqueuing& wanted) {
  int exit_code = kExitDone;
  for (const LaunchRequest& request : wanted.requests) {
    if (wanted.requests.size() > 1) say("{}\n", request.name);
    exit_code = std::max(exit_code, check_and_print(context, request));
  }
  return exit_code;
}

}  // namespace

int launch_command(const Context& context, const LaunchOptions& options) {
  if (const Result<> words = check_words(options); !words) return report(words.error(), kExitUsage);
  if (const Result<> words = check_continuation(options); !words)
    return report(words.error(), kExitUsage);
  Result<storage::Reader> reader = storage::Reader::open(context.store);
  if (!reader) return report(reader.error());
  Result<LaunchRequest> request = !options.reproduce.empty() ? again(*reader, options)
                                  : options.recipe.empty()   ? going_on(*reader, options)
                                                             : new_run(*reader, options);
  if (!request) return report(request.error(), kExitUsage);
  if (options.reproduce.empty()) request->mode = options.mode;
  if (!options.recipe.empty()) {
    Result<Enqueuing> wanted = enqueuing_of(*reader, *request, options);
    if (!wanted) return report(wanted.error(), kExitUsage);
    if (options.check) return check_all(context, *wanted);
    if (options.queue || wanted->requests.size() > 1)
      return launch_queued(context, *wanted, options.wait);
    request = std::move(wanted->requests[0]);
  }
  if (options.check) return check_and_print(context, *request);
  if (options.wait) return launch_and_watch(context.store, *request).exit_code;

  Result<std::unique_ptr<storage::Writer>> writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  TerminalProgress progress;
  const auto run = launch(**writer, *request, std::ref(progress), std::ref(progress));
  if (!run) return report_launch(run.error());
  say("{}; follow it with: heddle tail {}\n",
      launched_text(context.store, *run, request->target.name), run->name);
  return kExitDone;
}

}  // namespace heddle::workbench
