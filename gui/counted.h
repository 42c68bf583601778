// The nouns that the window counts, as sources of translation: from "%1 run(s)" a translation makes
// all of its language's plural forms. English has the two forms in the text and needs no file.
#pragma once

#include <QtGlobal>

namespace heddle::gui::counted {

struct Noun {
  const char* forms;
};

inline constexpr Noun kBucket{QT_TRANSLATE_N_NOOP("counted", "%1 bucket(s)")};
inline constexpr Noun kByte{QT_TRANSLATE_N_NOOP("counted", "%1 byte(s)")};
inline constexpr Noun kCheckpoint{QT_TRANSLATE_N_NOOP("counted", "%1 checkpoint(s)")};
inline constexpr Noun kCollective{QT_TRANSLATE_N_NOOP("counted", "%1 collective(s)")};
inline constexpr Noun kCore{QT_TRANSLATE_N_NOOP("counted", "%1 core(s)")};
inline constexpr Noun kDocument{QT_TRANSLATE_N_NOOP("counted", "%1 document(s)")};
inline constexpr Noun kFault{QT_TRANSLATE_N_NOOP("counted", "%1 fault(s)")};
inline constexpr Noun kFile{QT_TRANSLATE_N_NOOP("counted", "%1 file(s)")};
inline constexpr Noun kFinishedRun{QT_TRANSLATE_N_NOOP("counted", "%1 finished run(s)")};
inline constexpr Noun kKey{QT_TRANSLATE_N_NOOP("counted", "%1 key(s)")};
inline constexpr Noun kLayer{QT_TRANSLATE_N_NOOP("counted", "%1 layer(s)")};
inline constexpr Noun kLine{QT_TRANSLATE_N_NOOP("counted", "%1 line(s)")};
inline constexpr Noun kMessage{QT_TRANSLATE_N_NOOP("counted", "%1 message(s)")};
inline constexpr Noun kMoreFault{QT_TRANSLATE_N_NOOP("counted", "%1 more fault(s)")};
inline constexpr Noun kMoreGap{QT_TRANSLATE_N_NOOP("counted", "%1 more gap(s)")};
inline constexpr Noun kNode{QT_TRANSLATE_N_NOOP("counted", "%1 node(s)")};
inline constexpr Noun kOther{QT_TRANSLATE_N_NOOP("counted", "%1 other(s)")};
inline constexpr Noun kPath{QT_TRANSLATE_N_NOOP("counted", "%1 path(s)")};
inline constexpr Noun kPredictedPlan{QT_TRANSLATE_N_NOOP("counted", "%1 predicted plan(s)")};
inline constexpr Noun kProfiledStep{QT_TRANSLATE_N_NOOP("counted", "%1 profiled step(s)")};
inline constexpr Noun kRank{QT_TRANSLATE_N_NOOP("counted", "%1 rank(s)")};
inline constexpr Noun kRankCount{QT_TRANSLATE_N_NOOP("counted", "%1 rank count(s)")};
inline constexpr Noun kRecord{QT_TRANSLATE_N_NOOP("counted", "%1 record(s)")};
inline constexpr Noun kRow{QT_TRANSLATE_N_NOOP("counted", "%1 row(s)")};
inline constexpr Noun kRun{QT_TRANSLATE_N_NOOP("counted", "%1 run(s)")};
inline constexpr Noun kShard{QT_TRANSLATE_N_NOOP("counted", "%1 shard(s)")};
inline constexpr Noun kStage{QT_TRANSLATE_N_NOOP("counted", "%1 stage(s)")};
inline constexpr Noun kStep{QT_TRANSLATE_N_NOOP("counted", "%1 step(s)")};
inline constexpr Noun kTarget{QT_TRANSLATE_N_NOOP("counted", "%1 target(s)")};
inline constexpr Noun kToken{QT_TRANSLATE_N_NOOP("counted", "%1 token(s)")};

}  // namespace heddle::gui::counted
