#include "gui/views/compose/prediction_words.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "engine/holdings/rank_share.h"
#include "engine/recipe/mesh.h"
#include "gui/format.h"
#include "gui/models/run_pace.h"
#include "gui/views/compose/exposed_folds.h"

namespace heddle::gui {
namespace {

using plan::Category;
using plan::Document;

constexpr qsizetype kMaxRows = 60;

QString tr(const char* text) { return QObject::tr(text); }

/// Floating-point operations as the field counts them: 57.9 GFLOP, 989 TFLOP.
QString flop(double count) {
  static constexpr std::array kUnits = {" FLOP",  " kFLOP", " MFLOP", " GFLOP",
                                        " TFLOP", " PFLOP", " EFLOP", " ZFLOP"};
  size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  return format::significant(count) + QLatin1String(kUnits[unit]);
}

double shareOf(double part, double whole) { return whole > 0 ? part / whole : 0; }

const plan::Mfu* mfuOf(const Document& document, size_t convention) {
  if (document.mfu.empty() || document.peak_flops <= 0) return nullptr;
  return &document.mfu[std::min(convention, document.mfu.size() - 1)];
}

double numberOf(Figure figure, const Document& d, size_t convention) {
  switch (figure) {
    case Figure::throughput:
      return d.tokens_per_second_per_rank;
    case Figure::mfu: {
      const plan::Mfu* mfu = mfuOf(d, convention);
      return mfu == nullptr ? NAN : mfu->mfu;
    }
    case Figure::exposed:
      return shareOf(d.exposed_seconds, d.step_seconds);
    case Figure::bubble:
      return shareOf(d.bubble_seconds, d.step_seconds);
    case Figure::step:
      return d.step_seconds;
  }
  return NAN;
}

/// The rate of all ranks together: "53,120 tok/s", "3.40 M tok/s".
QString rateOfAll(const Document& d) {
  const double rate = d.tokens_per_second_per_rank * static_cast<double>(d.ranks);
  return rate < 1e6 ? format::tokensPerSecond(rate) : format::shortCount(rate) + tr(" tok/s");
}

/// Value and unit of "6,640 tok/s" apart.
FigureText cut(const QString& name, const QString& text, const QString& note) {
  const qsizetype space = text.lastIndexOf(QChar(' '));
  return {name, space < 0 ? text : text.left(space), space < 0 ? QString() : text.mid(space + 1),
          note};
}

/// The table of the ranks: how the time of each is spent.
void addTimes(Why& why, const Document& d) {
  why.head = {tr("rank"), tr("compute"), tr("exposed"), tr("bubble"), tr("idle"), tr("step")};
  for (const plan::RankFigures& rank : d.ranks_shown)
    why.rows << QStringList{nameOf(d, rank),
                            format::seconds(rank.compute_seconds),
                            format::seconds(rank.exposed_seconds),
                            format::seconds(rank.bubble_seconds),
                            format::seconds(rank.idle_seconds),
                            format::seconds(rank.step_seconds)};
}

void addExposed(Why& why, const Document& d) {
  why.head = {tr("transfer"), tr("exposed"), tr("why")};
  const QList<ExposedFold> folds = exposedFolds(d);
  for (const ExposedFold& each : folds.mid(0, kMaxRows))
    why.rows << QStringList{each.node, format::seconds(each.seconds), each.why};
  const auto left = folds.size() - why.rows.size();
  if (left > 0) why.foot = tr("and %1 shorter ones").arg(left);
  if (d.exposed.empty()) why.foot = noneExposed(d);
}

QString tokensFormula(const Document& d, const recipe::Recipe& recipe) {
  const int64_t sequence = std::max<int64_t>(1, recipe.data.seq_len);
  return tr("%1 tokens a step = %2 sequences × %3")
      .arg(format::count(d.tokens_per_step), format::count(d.tokens_per_step / sequence),
           format::count(sequence));
}

}  // namespace

QString nameOf(Category category) {
  return QString::fromLatin1(plan::kCategoryNames[static_cast<size_t>(category)]);
}

QString nameOf(const Document& document, const plan::RankFigures& rank) {
  const bool stages =
      std::ranges::any_of(document.ranks_shown, [](const auto& each) { return each.stage > 0; });
  const QString more =
      rank.ranks > 1 ? tr(" and %1 like it").arg(format::count(rank.ranks - 1)) : QString();
  return (stages ? tr("stage %1, rank %2").arg(rank.stage).arg(rank.rank)
                 : tr("rank %1").arg(rank.rank)) +
         more;
}

QString noneExposed(const Document& d) {
  return d.exposed_seconds > 0 ? tr("Compute hides nearly every transfer")
                               : tr("Compute hides every transfer");
}

QStringList certaintyOf(const Document& d) {
  const auto sentence = [](const std::string& words) {
    QString text = QString::fromStdString(words);
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
  };
  QStringList lines;
  if (!d.never_measured.empty()) lines << sentence(d.never_measured);
  if (!d.busy_now.empty()) lines << sentence(d.busy_now);
  if (d.refined_by_runs > 0)
    lines << tr("Refined by %1 here").arg(format::plural(d.refined_by_runs, counted::kFinishedRun));
  if (d.interval) {
    lines << tr("Step %1 to %2, memory %3 to %4: %5")
                 .arg(format::seconds(d.interval->step_low), format::seconds(d.interval->step_high),
                      format::bytes(d.interval->bytes_low), format::bytes(d.interval->bytes_high),
                      QString::fromStdString(d.interval->words.empty() ? d.uncertain_words
                                                                       : d.interval->words));
  } else if (d.uncertain > 0) {
    lines << tr("Step ± %1 %").arg(format::significant(d.uncertain * 100, 2));
  } else if (lines.isEmpty()) {
    lines << tr("Never compared with a measured run");
  }
  return lines;
}

bool isKnown(Figure figure, const Document& d) {
  if (figure == Figure::mfu) return mfuOf(d, 0) != nullptr;
  if (figure != Figure::bubble) return true;
  return d.bubble_seconds > 0 ||
         std::ranges::any_of(d.ranks_shown, [](const auto& rank) { return rank.stage > 0; });
}

FigureText textOf(Figure figure, const Document& d, size_t convention) {
  const double number = numberOf(figure, d, convention);
  const auto ofStep = [&](const QString& name, double seconds) {
    FigureText text =
        cut(name, format::percent(number),
            tr("%1 of %2").arg(format::seconds(seconds), format::seconds(d.step_seconds)));
    text.unit = tr("% of a step");
    text.shortUnit = tr("% of step");
    text.shortNote = format::seconds(seconds);
    return text;
  };
  switch (figure) {
    case Figure::throughput: {
      FigureText text =
          cut(tr("Throughput"), format::tokensPerSecond(number), tr("%1 in all").arg(rateOfAll(d)));
      text.unit = tr("tok/s a rank");
      text.shortUnit = tr("tok/s");
      text.shortNote = QString(text.note).remove(tr(" tok/s"));
      return text;
    }
    case Figure::mfu: {
      if (mfuOf(d, convention) == nullptr)
        return cut(tr("MFU"), format::kNone, tr("the device's peak is unknown"));
      const QString peak = format::significant(d.peak_flops * 1e-12);
      FigureText text =
          cut(tr("MFU"), format::percent(number),
              tr("%1 of %2 TFLOPS").arg(format::significant(number * d.peak_flops * 1e-12), peak));
      text.shortNote = tr("of %1 TFLOPS").arg(peak);
      return text;
    }
    case Figure::exposed: {
      FigureText text = ofStep(tr("Exposed"), d.exposed_seconds);
      text.tone = isMuchExposed(number) ? Tone::bad : Tone::text;
      return text;
    }
    case Figure::bubble:
      return ofStep(tr("Bubble"), d.bubble_seconds);
    case Figure::step:
      return cut(tr("Step"), format::seconds(number),
                 tr("%1 tokens").arg(format::count(d.tokens_per_step)));
  }
  return {};
}

Difference differenceOf(Figure figure, const Document& now, const Document& before,
                        size_t convention) {
  const double a = numberOf(figure, now, convention), b = numberOf(figure, before, convention);
  if (!std::isfinite(a) || !std::isfinite(b)) return {format::kNone, Tone::muted};
  const bool more = figure == Figure::throughput || figure == Figure::mfu;
  const double by = a - b;
  QString text, brief;
  if (figure == Figure::throughput || figure == Figure::step) {
    const QString size = figure == Figure::step ? format::seconds(std::abs(by))
                                                : format::tokensPerSecond(std::abs(by));
    text = brief = format::signedValue(size, by < 0);
    if (b > 0) {
      brief = format::signedValue(format::percent(std::abs(by) / b), by < 0);
      text += QStringLiteral(" (%1)").arg(brief);
    }
  } else {
    text = brief =
        tr("%1 points")
            .arg(format::signedValue(QString::number(std::abs(by) * 100, 'f', 1), by < 0));
  }
  const bool same = std::abs(by) <= 1e-9 * std::max(std::abs(a), std::abs(b));
  if (same) return {tr("as pinned"), Tone::muted};
  return {text, (by > 0) == more ? Tone::good : Tone::bad, brief};
}

Difference differenceOf(int64_t now, int64_t before) {
  if (now == before) return {tr("as pinned"), Tone::muted};
  return {format::signedValue(format::bytes(std::abs(now - before)), now < before),
          now < before ? Tone::good : Tone::bad};
}

Why whyOf(Figure figure, const Document& d, const recipe::Recipe& recipe, size_t convention) {
  Why why;
  const QString step = format::seconds(d.step_seconds);
  const QString rate = format::tokensPerSecond(d.tokens_per_second_per_rank);
  switch (figure) {
    case Figure::throughput:
      why.title = tr("Tokens per second per rank");
      why.formula << tokensFormula(d, recipe)
                  << tr("%1 = %2 tokens ÷ %3 ÷ %4")
                         .arg(rate, format::count(d.tokens_per_step), step,
                              format::plural(d.ranks, counted::kRank));
      addTimes(why, d);
      break;
    case Figure::mfu: {
      why.title = tr("Model FLOPs utilisation");
      if (const plan::Mfu* mfu = mfuOf(d, convention))
        why.formula << tr("%1 = %2 a token × %3 ÷ %4/s at the device's peak")
                           .arg(format::percent(mfu->mfu), flop(mfu->flops_per_token), rate,
                                flop(d.peak_flops));
      else
        why.formula << tr("The peak of this device is not known.");
      why.head = {tr("convention"), tr("a token"), tr("MFU")};
      for (const plan::Mfu& each : d.mfu)
        why.rows << QStringList{QString::fromStdString(each.convention), flop(each.flops_per_token),
                                format::percent(each.mfu)};
      break;
    }
    case Figure::exposed:
      why.title = tr("Transfers that compute waits for");
      why.formula << tr("%1 of %2 = %3; %4 in a step")
                         .arg(format::seconds(d.exposed_seconds), step,
                              format::percent(numberOf(figure, d, convention)),
                              format::plural(d.collectives, counted::kCollective));
      addExposed(why, d);
      break;
    case Figure::bubble:
      why.title = tr("Waiting for other pipeline stages");
      why.formula << tr("%1 of %2 = %3")
                         .arg(format::seconds(d.bubble_seconds), step,
                              format::percent(numberOf(figure, d, convention)))
                  << tr("%1, %2").arg(format::plural(recipe.parallelism.pp, counted::kStage),
                                      tr("%1 micro-batches").arg(recipe.micro_batches()));
      addTimes(why, d);
      break;
    case Figure::step:
      why.title = tr("The parts of a step");
      why.formula << tr("step = compute + exposed + bubble + idle");
      addTimes(why, d);
      break;
  }
  return why;
}

Why whyMemory(const Document& d, const recipe::Recipe& recipe) {
  Why why;
  why.title = tr("Memory at its peak");
  why.formula << tr("%1 of %2 on %3")
                     .arg(format::bytes(d.peak_bytes),
                          d.limit_bytes > 0 ? format::bytes(d.limit_bytes) : format::kNone,
                          QString::fromStdString(d.hardware_words));
  for (const plan::RankFigures& rank : d.ranks_shown) {
    if (rank.rank != d.peak_rank) continue;
    const std::vector<int64_t> held = holdings::stored_elements(recipe, recipe::Layout(recipe));
    const auto stage = static_cast<size_t>(std::clamp<int64_t>(
        rank.stage, 0, std::max<int64_t>(0, static_cast<int64_t>(held.size()) - 1)));
    if (stage < held.size())
      why.formula << tr("%1 parameters a rank of %2 (%3), in fp32")
                         .arg(format::shortCount(static_cast<double>(held[stage])),
                              format::plural(recipe::Mesh(recipe.parallelism).size(recipe::kModel),
                                             counted::kShard),
                              format::bytes(held[stage] * 4));
  }
  why.head = {tr("rank")};
  for (size_t i = 0; i < plan::kCategories; ++i)
    why.head << nameOf(static_cast<Category>(i)).section(QChar(' '), 0, 0);
  why.head << tr("peak");
  for (const plan::RankFigures& rank : d.ranks_shown) {
    QStringList row{nameOf(d, rank)};
    for (const int64_t each : rank.memory.bytes) row << format::bytes(each);
    why.rows << (row << format::bytes(rank.peak_bytes));
  }
  return why;
}

}  // namespace heddle::gui
