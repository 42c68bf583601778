#include "gui/views/data/data_view.h"

#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

QLabel* wrapped(const char* name, const char* role) {
  QLabel* text = label({}, role);
  text->setObjectName(QLatin1String(name));
  text->setWordWrap(true);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return text;
}

}  // namespace

DataView::DataView(const DataDescription& description, QWidget* parent)
    : QWidget(parent), description_(description) {
  QVBoxLayout* column = columnOf(this, {}, 6);
  error_ = wrapped("dataError", "error");
  column->addWidget(error_);
  told_ = new QWidget;
  QVBoxLayout* told = columnOf(told_, {}, 6);
  told->addWidget(makeFigures());
  mix_ = new MixView;
  told->addWidget(mix_);
  remarks_ = wrapped("dataRemarks", "caption");
  setTone(remarks_, "warn");
  told->addWidget(remarks_);
  origin_ = wrapped("dataOrigin", "caption");
  told->addWidget(origin_);
  place_ = wrapped("dataPlace", "caption");
  place_->hide();
  told->addWidget(place_);
  told->addWidget(makeSamples(), 1);
  column->addWidget(told_, 1);
  connect(&description_, &DataDescription::changed, this, &DataView::refresh);
  refresh();
}

QWidget* DataView::makeFigures() {
  auto* all = new QWidget;
  auto* grid = new QGridLayout(all);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(0);
  const std::array names = {tr("documents"), tr("tokens"), tr("epochs")};
  const std::array objects = {"dataDocuments", "dataTokens", "dataEpochs"};
  for (size_t i = 0; i < figures_.size(); ++i) {
    const int at = static_cast<int>(i);
    figures_[i] = {mono({}), caption({})};
    figures_[i].value->setObjectName(QLatin1String(objects[i]));
    figures_[i].value->setStyleSheet(QStringLiteral("font-size: 14px; font-weight: 600;"));
    grid->addWidget(caption(names[i]), 0, at);
    grid->addWidget(figures_[i].value, 1, at);
    grid->addWidget(figures_[i].note, 2, at);
    grid->setColumnStretch(at, 1);
  }
  return all;
}

QWidget* DataView::makeSamples() {
  auto* all = new QWidget;
  QVBoxLayout* column = columnOf(all, {}, 4);
  auto* head = new QHBoxLayout;
  head->setSpacing(4);
  sampleWords_ = new ElidedLabel({}, "caption");
  sampleWords_->setObjectName(QStringLiteral("sampleWords"));
  before_ = iconButton(QStringLiteral("chevron-left"), tr("The sample before"));
  next_ = iconButton(QStringLiteral("chevron-right"), tr("The next sample"));
  before_->setObjectName(QStringLiteral("sampleBefore"));
  next_->setObjectName(QStringLiteral("sampleNext"));
  head->addWidget(sampleWords_, 1);
  for (QToolButton* button : {before_, next_}) {
    button->setFixedSize(24, 24);
    head->addWidget(button);
  }
  column->addLayout(head);
  text_ = new SampleText;
  text_->setObjectName(QStringLiteral("sampleText"));
  column->addWidget(text_, 1);
  connect(before_, &QToolButton::clicked, this, [this] { showSample(sample_ - 1); });
  connect(next_, &QToolButton::clicked, this, [this] { showSample(sample_ + 1); });
  return all;
}

void DataView::setPlace(const QString& words) {
  place_->setText(words);
  place_->setVisible(!words.isEmpty());
}

void DataView::set(Figure& figure, const DataFigure& shown) {
  figure.value->setText(shown.value);
  figure.note->setText(shown.note);
}

void DataView::refresh() {
  const auto& shown = description_.shown();
  const bool failed = !description_.error().isEmpty();
  error_->setText(failed                    ? description_.error()
                  : description_.isAsking() ? tr("Looking at the data …")
                                            : tr("No data is named yet."));
  setTone(error_, failed ? "bad" : "muted");
  error_->setVisible(!shown);
  told_->setVisible(shown.has_value());
  if (!shown) return;
  set(figures_[0], documentsOf(*shown));
  set(figures_[1], tokensOf(*shown));
  set(figures_[2], epochsOf(*shown));
  mix_->setSources(*shown);
  origin_->setText(originOf(*shown));
  const QString remarks = remarksOf(*shown);
  remarks_->setText(remarks);
  remarks_->setVisible(!remarks.isEmpty());
  showSample(std::min(sample_, shown->samples.empty() ? 0 : shown->samples.size() - 1));
}

void DataView::showSample(size_t sample) {
  const auto& samples = description_.shown()->samples;
  sample_ = sample;
  before_->setEnabled(sample > 0);
  next_->setEnabled(sample + 1 < samples.size());
  if (sample >= samples.size()) return;
  sampleWords_->setFullText(sampleWords(*description_.shown(), sample));
  text_->setSample(samples[sample]);
}

}  // namespace heddle::gui
