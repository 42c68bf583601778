// A prediction in words: its figures as text, their difference to a pinned one, and the reasons
// for them. No widgets.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <array>

#include "engine/plan/document.h"
#include "engine/recipe/recipe.h"
#include "gui/theme/icons.h"

namespace heddle::gui {

enum class Figure { throughput, mfu, exposed, bubble, step };
inline constexpr std::array kFigures = {Figure::throughput, Figure::mfu, Figure::exposed,
                                        Figure::bubble, Figure::step};

/// `shortUnit` and `shortNote` say the same in a narrow place.
struct FigureText {
  QString name, value, unit, note;
  Tone tone = Tone::text;
  QString shortUnit = unit, shortNote = note;
};

/// `convention`: index into the document's `mfu`.
FigureText textOf(Figure figure, const plan::Document& document, size_t convention);
/// Whether it says anything of this plan: a bubble needs a pipeline.
bool isKnown(Figure figure, const plan::Document& document);

/// "+512 tok/s (+8.4 %)", good where it is better than `before`.
struct Difference {
  QString text;
  Tone tone = Tone::muted;
  QString shortText = text;
};
Difference differenceOf(Figure figure, const plan::Document& now, const plan::Document& before,
                        size_t convention);
/// For bytes: less is better.
Difference differenceOf(int64_t now, int64_t before);

/// A reason: how a number comes about, and its parts.
struct Why {
  QString title;
  QStringList formula;  // its steps, with this recipe's numbers
  /// A table: the first column is text, the last may be long.
  QStringList head;
  QList<QStringList> rows;
  QString foot;
};

/// `recipe` is resolved, and the one that the document is of.
Why whyOf(Figure figure, const plan::Document& document, const recipe::Recipe& recipe,
          size_t convention);
Why whyMemory(const plan::Document& document, const recipe::Recipe& recipe);

/// "communication": the buffers of it.
QString nameOf(plan::Category category);
/// The name of a rank of the table: "stage 3, rank 192 and 63 more", "rank 0".
QString nameOf(const plan::Document& document, const plan::RankFigures& rank);

/// For a document without exposed transfers: says that there are none, or only negligible ones.
QString noneExposed(const plan::Document& document);

/// How sure the figures are, a sentence a line: whether such hardware was ever measured, whether
/// finished runs refine them, and the interval around the step that the tiles show.
QStringList certaintyOf(const plan::Document& document);

}  // namespace heddle::gui
