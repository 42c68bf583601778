#include "gui/views/data/data_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "gui/format.h"

namespace heddle::gui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Data", text); }

/// Whether a source has a store already; else what is counted has been counted for the occasion.
bool isTokenized(const data::Description& description) { return description.first_of_run; }

}  // namespace

QString countText(data::Known known, qint64 count) {
  return known == data::Known::counted
             ? format::count(count)
             : QStringLiteral("≈ ") + format::shortCount(static_cast<double>(count));
}

QString epochsText(double epochs) {
  return epochs >= 1000 ? format::count(qRound64(epochs)) : format::significant(epochs);
}

DataFigure documentsOf(const data::Description& description) {
  qint64 files = 0, bytes = 0;
  for (const data::DescribedSource& source : description.sources) {
    files += source.files;
    bytes += source.bytes;
  }
  const auto documents = description.documents();
  return {documents ? countText(description.known(), *documents) : format::kNone,
          tr("%1, %2").arg(format::plural(files, counted::kFile),
                           format::bytes(static_cast<double>(bytes)))};
}

DataFigure tokensOf(const data::Description& description) {
  return {countText(description.known(), description.tokens()),
          description.known() == data::Known::guessed ? tr("an estimate")
          : isTokenized(description)                  ? tr("tokenized")
                                                      : tr("counted")};
}

DataFigure epochsOf(const data::Description& description) {
  const auto [least, most] =
      std::ranges::minmax_element(description.sources, {}, &data::DescribedSource::epochs);
  if (least == description.sources.end()) return {format::kNone, {}};
  QString value = epochsText(least->epochs);
  if (const QString upTo = epochsText(most->epochs); upTo != value)
    value += QStringLiteral("–") + upTo;
  if (description.known() == data::Known::guessed) value.prepend(QStringLiteral("≈ "));
  return {
      value,
      tr("%1 tokens read").arg(format::shortCount(static_cast<double>(description.run_tokens)))};
}

QString originOf(const data::Description& description) {
  const QString words =
      description.first_of_run ? tr("Samples: the first that the run reads.")
      : description.known() == data::Known::counted
          ? tr("Tokenized when the run starts. Samples: the first of each text; the run reads them "
               "in another order.")
          : tr("Estimated from the first megabytes; tokenized when the run starts, or ahead by "
               "heddle-engine tokenize-corpus. Samples: the first of each text.");
  return QStringList{words, QString::fromStdString(description.parting)}.join(QChar(' ')).trimmed();
}

QString remarksOf(const data::Description& description) {
  QStringList remarks;
  if (const QString skipped = skippedOf(description); !skipped.isEmpty()) remarks << skipped;
  for (const std::string& note : description.notes) remarks << QString::fromStdString(note);
  return remarks.join('\n');
}

QString skippedOf(const data::Description& description) {
  qint64 skipped = 0;
  QStringList first;
  for (const data::DescribedSource& source : description.sources) {
    skipped += source.skipped;
    for (const std::string& complaint : source.complaints)
      first << QString::fromStdString(complaint);
  }
  if (skipped == 0) return {};
  const QString words = tr("%1 cannot be read").arg(format::plural(skipped, counted::kDocument));
  return first.isEmpty() ? words + QChar('.') : words + QStringLiteral(": ") + first.first();
}

QString sampleWords(const data::Description& description, size_t sample) {
  const data::DescribedSample& shown = description.samples[sample];
  QString words = tr("sample %1 of %2: %3, %4")
                      .arg(sample + 1)
                      .arg(description.samples.size())
                      .arg(QString::fromStdString(description.sources[shown.source].name),
                           format::plural(shown.tokens, counted::kToken));
  if (shown.documents.size() > 1) words += tr(", of %1 documents").arg(shown.documents.size());
  return words;
}

}  // namespace heddle::gui
