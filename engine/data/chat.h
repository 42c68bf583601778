// Chats: texts in the form of a list of messages, each with who says it and what. Heddle does not
// train on them yet; it recognises them, so that nobody trains on their JSON.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::data {

/// Members of a JSON document that hold such a list by custom.
inline constexpr std::array<std::string_view, 4> kChatMembers = {"messages", "conversations",
                                                                 "conversation", "chosen"};

/// The words for one, in an error.
inline std::string chat_words(std::string_view member) {
  return fmt::format(
      "a chat (a list of messages{}{}{}), which cannot be trained on yet; valid: each chat as one "
      "text, as the model's chat template writes it",
      member.empty() ? "" : " in \"", member, member.empty() ? "" : "\"");
}

/// The first member of a JSON object that holds a list of messages, with role and content or with
/// from and value; among them `field`.
std::optional<std::string> chat_member(std::string_view object, const std::string& field);

/// Whether a text begins as such a list does, alone or in an object, as JSON or as Python prints
/// it.
bool begins_as_chat(std::string_view text);

}  // namespace heddle::data
