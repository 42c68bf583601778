#include "gui/views/compose/compose_page.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>

#include "gui/models/text_file.h"
#include "gui/session.h"
#include "gui/settings.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/compose/compose_view.h"
#include "gui/views/compose/help_key.h"
#include "gui/views/compose/layer_strip.h"
#include "gui/views/compose/search_dialog.h"
#include "gui/views/compose/unsaved_dialog.h"
#include "gui/views/data/data_view.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/why_not.h"
#include "workbench/paths.h"

namespace heddle::gui {
namespace {

const QString kExecutor = QStringLiteral("compose/executor");

/// Beside the store, so that another store has another unsaved recipe.
QString autosaveFile(const QString& store) {
  return store + QStringLiteral(".unsaved-recipe.json");
}

QString samples() { return QString::fromStdString(workbench::samples_folder()); }

/// Whether the words about the data depend on a key.
bool affectsDataWords(const std::string& key) {
  for (const char* section : {"data.", "training.", "parallelism.", "hardware.ranks"})
    if (key.starts_with(section)) return true;
  return key == "model.vocab_size";
}

bool isSample(const QString& file) {
  return QFileInfo(file).absolutePath() == QDir(samples()).absolutePath();
}

}  // namespace

ComposePage::ComposePage(Session& session, QWidget* parent)
    : Page(session, parent),
      planner_(QString::fromStdString(workbench::engine_path())),
      prediction_(document_, planner_),
      data_(QString::fromStdString(workbench::engine_path())) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  makeActions();
  makeHeader();
  connect(&document_, &RecipeDocument::changed, this, &ComposePage::refresh);
  connect(&document_, &RecipeDocument::changed, this, &ComposePage::keepCurrent);
  connect(&document_, &RecipeDocument::changed, this, [this] {
    if (isVisible()) askForData();
  });
  connect(&prediction_, &RecipePrediction::changed, this,
          [this] { compare_->setEnabled(prediction_.hasTwo()); });
  connect(&document_, &RecipeDocument::refused, this,
          [this](const QString& why) { Q_EMIT this->session().message(why, Tone::warn); });
  connect(document_.history(), &QUndoStack::indexChanged, this, &ComposePage::refresh);
  refresh();
}

void ComposePage::makeActions() {
  undo_ = new QAction(icon(QStringLiteral("undo")), tr("Undo"), this);
  undo_->setObjectName(QStringLiteral("undo"));
  undo_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z));
  redo_ = new QAction(icon(QStringLiteral("redo")), tr("Redo"), this);
  redo_->setObjectName(QStringLiteral("redo"));
  redo_->setShortcuts(
      {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)});
  new_ = new QAction(icon(QStringLiteral("plus")), tr("New recipe"), this);
  new_->setObjectName(QStringLiteral("newRecipe"));
  new_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_N));
  open_ = new QAction(icon(QStringLiteral("open")), tr("Open recipe …"), this);
  open_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_O));
  save_ = new QAction(icon(QStringLiteral("download")), tr("Save recipe"), this);
  save_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_S));
  saveAs_ = new QAction(tr("Save recipe as …"), this);
  saveAs_->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S));
  search_ = new QAction(icon(QStringLiteral("search")), tr("Search best layout …"), this);
  search_->setObjectName(QStringLiteral("searchLayout"));
  search_->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
  compare_ = new QAction(icon(QStringLiteral("compare")), tr("Compare with pinned"), this);
  compare_->setObjectName(QStringLiteral("compareWithPinned"));
  compare_->setEnabled(false);
  launch_ = new QAction(icon(QStringLiteral("launch"), Tone::onAccent), tr("Launch"), this);
  launch_->setObjectName(QStringLiteral("launchRecipe"));
  launch_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));
  launch_->setProperty("role", "primary");
  launch_->setProperty("topBar", true);
  connect(undo_, &QAction::triggered, document_.history(), &QUndoStack::undo);
  connect(redo_, &QAction::triggered, document_.history(), &QUndoStack::redo);
  connect(new_, &QAction::triggered, this, &ComposePage::newRecipe);
  connect(open_, &QAction::triggered, this, &ComposePage::chooseFile);
  connect(save_, &QAction::triggered, this, &ComposePage::save);
  connect(saveAs_, &QAction::triggered, this, &ComposePage::saveAs);
  connect(compare_, &QAction::triggered, this, &ComposePage::comparePlans);
  connect(search_, &QAction::triggered, this, &ComposePage::searchLayout);
  connect(launch_, &QAction::triggered, this, &ComposePage::launch);
  for (QAction* action : pageActions()) addAction(action);
}

void ComposePage::makeHeader() {
  header_ = new QWidget(this);
  header_->hide();
  auto* row = new QHBoxLayout(header_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  recipes_ = new QToolButton;
  recipes_->setObjectName(QStringLiteral("recipes"));
  recipes_->setProperty("role", "button");
  recipes_->setText(tr("Recipes"));
  recipes_->setIcon(icon(QStringLiteral("chevron-down"), Tone::muted));
  recipes_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  recipes_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(recipes_);
  menu->addActions({new_, open_, save_, saveAs_});
  menu->addSection(tr("Samples"));
  const QDir folder(samples());
  for (const QString& file :
       folder.entryList({QStringLiteral("*.toml")}, QDir::Files, QDir::Name)) {
    QAction* sample = menu->addAction(QFileInfo(file).completeBaseName());
    connect(sample, &QAction::triggered, this,
            [this, path = folder.absoluteFilePath(file)] { openFile(path); });
  }
  recipes_->setMenu(menu);
  row->addWidget(recipes_);
  for (QAction* action : {undo_, redo_}) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setIconSize({16, 16});
    button->setFixedSize(28, 28);
    row->addWidget(button);
  }
  auto* search = new QToolButton;
  search->setProperty("role", "button");
  search->setDefaultAction(search_);
  search->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  row->addWidget(search);
}

QList<QAction*> ComposePage::pageActions() {
  return {undo_, redo_, new_, open_, save_, saveAs_, search_, compare_, launch_};
}

QList<KeyTable> ComposePage::keys() const {
  return {{tr("In a field of the recipe"),
           {{{Qt::ALT | Qt::Key_Return}, tr("Predict the next values"), tr("click on the name")},
            {{kHelpOnKey}, tr("Help on the key"), tr("rest on the field")}}},
          {tr("In the recipe's text"),
           {{{Qt::CTRL | Qt::Key_Space}, tr("What may be typed next")},
            {{kHelpOnKey}, tr("Help on the key"), tr("rest on the key")}}},
          LayerStrip::keys(),
          TimelineWidget::keys()};
}

QString ComposePage::subtitle() const {
  if (!loaded_) return {};
  if (document_.isEdited()) return tr("%1, edited").arg(document_.name());
  return isSample(document_.file()) ? tr("%1, a sample").arg(document_.name()) : document_.name();
}

ComposeView& ComposePage::view() {
  if (view_ == nullptr) {
    view_ = new ComposeView(document_, prediction_, this);
    layout()->addWidget(view_);
    if (remembers_) view_->keepLayout();
    view_->putBelowData(new DataView(data_));
    connect(view_, &ComposeView::compareRequested, this, &ComposePage::comparePlans);
    connect(view_, &ComposeView::saved, this, [this](const QString& words, bool good) {
      Q_EMIT this->session().message(words, good ? Tone::good : Tone::bad);
    });
  }
  return *view_;
}

void ComposePage::activated() {
  loadFirst();
  takeCurrent();
  view();
  prediction_.start();
  dataKeys_.clear();  // files may have changed, or been tokenized
  askForData();
}

void ComposePage::askForData() {
  if (!document_.isReadable()) return;  // the words are about the recipe before
  if (const recipe::Fault* none = document_.faultOf(QStringLiteral("data.text"));
      none != nullptr && document_.isOpen(*none)) {
    dataKeys_.clear();
    return data_.forget();
  }
  QStringList keys{document_.file()};
  for (const auto& [key, value] : recipe::flatten(document_.resolved().recipe))
    if (affectsDataWords(key)) keys << QString::fromStdString(value);
  if (std::exchange(dataKeys_, keys) != keys) data_.ask({document_.text(), document_.file(), {}});
}

void ComposePage::rememberExecutor() {
  // A picture of the window (heddle render) shows the recipe.
  if (!isPicture())
    prediction_.setExecutor(openSettings()->value(kExecutor, prediction_.executor()).toString());
  connect(&prediction_, &RecipePrediction::executorChanged, this,
          [this] { openSettings()->setValue(kExecutor, prediction_.executor()); });
}

bool ComposePage::isPicture() const { return window()->testAttribute(Qt::WA_DontShowOnScreen); }

void ComposePage::showEvent(QShowEvent*) { refresh(); }
void ComposePage::hideEvent(QHideEvent*) { refresh(); }

void ComposePage::loadFirst() {
  if (loaded_) return;
  loaded_ = true;
  rememberExecutor();
  // A picture of the window leaves the unsaved recipe alone.
  if (!isPicture() && document_.keepUnsavedIn(autosaveFile(session().storePath())))
    return sayBroughtBack();
  if (!session().currentRecipe().isNone()) return takeCurrent();
  if (openLast()) return;
  const auto opened = document_.open(samples() + QStringLiteral("/debug.toml"));
  if (!opened) Q_EMIT session().message(QString::fromStdString(opened.error().message), Tone::bad);
}

bool ComposePage::openLast() {
  if (!remembers_) return false;
  if (last_.file.isEmpty() && !last_.isNone()) {  // a run's recipe, or one that was never saved
    document_.load(last_.name, last_.toml, {});
    return true;
  }
  return QFileInfo::exists(last_.file) && document_.open(last_.file).has_value();
}

void ComposePage::keepLayout() {
  remembers_ = true;
  loadFirst();
}

void ComposePage::takeCurrent() {
  const CurrentRecipe& current = session().currentRecipe();
  const CurrentRecipe shown{document_.name(), document_.text(), document_.file()};
  if (current.isNone() || current == shown) return;
  if (document_.isEdited()) return keepCurrent();
  document_.load(current.name, current.toml, current.file);
}

void ComposePage::keepCurrent() {
  if (!loaded_) return;
  session().setCurrentRecipe({document_.name(), document_.text(), document_.file()});
  last_ = session().currentRecipe();
}

QJsonObject ComposePage::keptState() const {
  if (!last_.file.isEmpty()) return {{"file", last_.file}};
  return {{"name", last_.name}, {"text", last_.toml}};
}

void ComposePage::restoreState(const QJsonObject& state) {
  last_ = {state["name"].toString(), state["text"].toString(), state["file"].toString()};
}

void ComposePage::resetLayout() {
  if (view_ != nullptr) view_->resetLayout();
}

void ComposePage::sayBroughtBack() {
  const QString file = document_.file();
  const QString what = file.isEmpty() ? document_.name() : QFileInfo(file).fileName();
  Q_EMIT session().offered(tr("Your unsaved changes to %1 are back in Compose").arg(what),
                           tr("Discard"), [this, name = document_.name(), file] {
                             if (document_.name() == name && document_.file() == file)
                               document_.discardChanges();
                           });
}

void ComposePage::showPlace(int line, int column) { view().showPlace(line, column); }

void ComposePage::showRecipe(const QString& name, const QString& toml, const QString& file) {
  loadFirst();
  if (document_.text() == toml && document_.file() == file) return;
  if (mayReplace()) document_.load(name, toml, file);
}

void ComposePage::openFile(const QString& file) {
  if (!mayReplace()) return;
  const auto opened = document_.open(file);
  if (!opened) Q_EMIT session().message(QString::fromStdString(opened.error().message), Tone::bad);
}

void ComposePage::newRecipe() {
  loadFirst();
  if (!isVisible()) Q_EMIT session().pageRequested(name());
  if (!mayReplace()) return;
  document_.load(tr("new recipe"), {}, {});
  view().focusFirstFault();
}

void ComposePage::chooseFile() {
  const QString folder = document_.file().isEmpty() ? FileDialog::lastFolder(samples())
                                                    : QFileInfo(document_.file()).absolutePath();
  const QString file = FileDialog::fileToOpen(this, tr("Open recipe"), folder,
                                              tr("Recipes (*.toml);;All files (*)"));
  if (!file.isEmpty()) openFile(file);
}

bool ComposePage::hasOwnFile() const {
  // A sample is never overwritten.
  return !document_.file().isEmpty() && !isSample(document_.file());
}

bool ComposePage::save() {
  if (!hasOwnFile()) return saveAs();
  const auto saved = document_.save();
  if (!saved) Q_EMIT session().message(QString::fromStdString(saved.error().message), Tone::bad);
  return saved.has_value();
}

bool ComposePage::saveAs() {
  const QString folder =
      hasOwnFile() ? QFileInfo(document_.file()).absolutePath() : FileDialog::lastFolder();
  const QString file = FileDialog::fileToSave(
      this, tr("Save recipe as"), folder + QChar('/') + document_.name() + QStringLiteral(".toml"),
      tr("Recipes (*.toml)"));
  if (file.isEmpty()) return false;
  const auto saved = document_.saveAs(file);
  if (!saved) Q_EMIT session().message(QString::fromStdString(saved.error().message), Tone::bad);
  return saved.has_value();
}

bool ComposePage::mayReplace() {
  if (!document_.isEdited()) return true;
  const Unsaved answer =
      askUnsaved(this, document_.name(), document_.unsavedChanges(), !hasOwnFile());
  return answer == Unsaved::discard || (answer == Unsaved::save && save());
}

void ComposePage::launch() {
  Q_EMIT session().recipeRequested(QStringLiteral("launch"), document_.name(), document_.text(),
                                   document_.file());
}

void ComposePage::comparePlans() { Q_EMIT session().plansRequested(prediction_.two()); }

void ComposePage::searchLayout() {
  SearchDialog dialog(document_, QString::fromStdString(workbench::engine_path()),
                      prediction_.client(), this);
  dialog.exec();
}

void ComposePage::refresh() {
  const QUndoStack& history = *document_.history();
  // On another page their keys are not meant for the recipe.
  const bool shown = isVisible();
  save_->setEnabled(shown);
  saveAs_->setEnabled(shown);
  undo_->setEnabled(shown && history.canUndo());
  undo_->setText(history.canUndo() ? tr("Undo %1").arg(history.undoText()) : tr("Undo"));
  redo_->setEnabled(shown && history.canRedo());
  redo_->setText(history.canRedo() ? tr("Redo %1").arg(history.redoText()) : tr("Redo"));
  search_->setEnabled(shown && document_.isReadable());
  search_->setToolTip(document_.isReadable() ? tr("Find the layout that trains it fastest")
                                             : tr("The recipe's text has a syntax error"));
  launch_->setEnabled(shown && document_.canTrain());
  launch_->setIcon(
      icon(QStringLiteral("launch"), launch_->isEnabled() ? Tone::onAccent : Tone::muted));
  launch_->setToolTip(!document_.faults().empty()
                          ? document_.mistakes() > 0 ? tr("Mend the faults below the recipe first")
                                                     : tr("Fill in the keys below the recipe first")
                      : !document_.unsupported().empty()
                          ? tr("This version cannot train with all that the recipe asks for")
                          : tr("Choose where to train, and start"));
  describeWhyNot();
  Q_EMIT headerChanged();
}

void ComposePage::describeWhyNot() {
  const QString elsewhere = isVisible() ? QString() : tr("go to Compose first");
  const auto say = [&](QAction* action, const QString& reason) {
    setWhyNot(action, elsewhere.isEmpty() ? reason : elsewhere);
  };
  say(undo_, tr("nothing has been changed"));
  say(redo_, tr("nothing has been undone"));
  for (QAction* action : {save_, saveAs_}) say(action, {});
  for (QAction* action : {search_, launch_}) say(action, action->toolTip());
  say(compare_, tr("pin a prediction, then change the recipe"));
}

}  // namespace heddle::gui
