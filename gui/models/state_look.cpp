#include "gui/models/state_look.h"

namespace heddle::gui {

StateLook lookOf(storage::RunState state) {
  switch (state) {
    case storage::RunState::queued:
      return {QStringLiteral("more"), Tone::muted};
    case storage::RunState::preparing:
      return {QStringLiteral("clock"), Tone::accent};
    case storage::RunState::waiting:
      return {QStringLiteral("queue"), Tone::muted};
    case storage::RunState::running:
      return {QStringLiteral("dot"), Tone::good};
    case storage::RunState::done:
      return {QStringLiteral("check"), Tone::good};
    case storage::RunState::failed:
      return {QStringLiteral("fail"), Tone::bad};
    case storage::RunState::stopped:
      return {QStringLiteral("stopped"), Tone::muted};
    case storage::RunState::lost:
      return {QStringLiteral("warning"), Tone::bad};
  }
  return {QStringLiteral("unknown"), Tone::muted};
}

StateLook lookOf(probe::Status status) {
  switch (status) {
    case probe::Status::pass:
      return {QStringLiteral("check"), Tone::good};
    case probe::Status::warn:
      return {QStringLiteral("warning"), Tone::warn};
    case probe::Status::fail:
      return {QStringLiteral("fail"), Tone::bad};
    case probe::Status::unknown:
      return {QStringLiteral("unknown"), Tone::muted};
  }
  return {QStringLiteral("unknown"), Tone::muted};
}

}  // namespace heddle::gui
