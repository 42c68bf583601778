// A store that a stranger made: what it says is shown, nothing of it is run, asked or deleted; and
// what its rows may name at all.
#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "remote/target.h"
#include "storage/queries.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/control.h"
#include "workbench/paths.h"
#include "workbench/place.h"
#include "workbench/removal.h"

using namespace heddle;
using namespace heddle::workbench;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

/// Where a run lives, as earlier versions kept it: by paths.
std::string old_row(const remote::Target& target, const std::string& run_dir,
                    const std::string& engine) {
  using nlohmann::json;
  const json share = {
      {"run_dir", run_dir}, {"engine", engine}, {"first_rank", 0}, {"local_ranks", 1}};
  return json{{"target", json::parse(remote::to_json(target))},
              {"shares", json::array({share})},
              {"epoch", 0},
              {"launcher", {{"pid", 1}, {"start_time", 0}, {"boot_id", ""}}}}
      .dump();
}

}  // namespace

class ForeignStoreTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    qputenv("XDG_DATA_HOME", folder_->filePath("data").toLocal8Bit());
  }

  void what_was_made_here_is_trusted_and_a_copy_is_not() {
    const std::string made = store_with({});
    QVERIFY(storage::is_trusted(made));
    const std::string copy = path("copy.sqlite");
    fs::copy_file(made, copy);
    QVERIFY(!storage::is_trusted(copy));
    const std::string before = contents(copy);
    const auto writer = storage::Writer::open(copy);
    QVERIFY(!writer);
    QVERIFY2(
        writer.error().message.find("is not known to have been made here") != std::string::npos,
        writer.error().message.c_str());
    auto reader = must(storage::Reader::open(copy));
    QCOMPARE(must(reader.runs()).size(), size_t(1));
    const auto run = must(reader.run(1));
    QCOMPARE(run.hosts, std::string());
    QCOMPARE(run.run_dir, std::string());
    QVERIFY(contents(copy) == before);
    must(storage::trust(copy));
    QVERIFY(storage::Writer::open(copy));
    QVERIFY(!must(storage::Reader::open(copy)).run(1)->hosts.empty());
  }

  void an_empty_file_is_trusted_where_only_its_user_can_write_it() {
    const std::string empty = path("empty.sqlite");
    write(empty, "");
    const auto refused = [&] {
      const auto writer = storage::Writer::open(empty);
      return !storage::is_trusted(empty) && !writer &&
             writer.error().message.find("is not known to have been made here") !=
                 std::string::npos &&
             fs::file_size(empty) == 0;
    };
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(empty, fs::perms::owner_read | fs::perms::owner_write | others);
      QVERIFY(refused());
    }
    fs::permissions(empty, fs::perms::owner_read | fs::perms::owner_write);
    if (geteuid() == 0) {
      QCOMPARE(chown(empty.c_str(), 65534, 65534), 0);
      QVERIFY(refused());
      QCOMPARE(chown(empty.c_str(), 0, 0), 0);
    } else {
      qWarning("not root: a file of somebody else is not tried");
    }
    QVERIFY(storage::is_trusted(empty));
    QVERIFY(storage::Writer::open(empty));
    QVERIFY(storage::is_listed(empty));
  }

  void one_that_takes_the_place_of_a_trusted_one_is_not() {
    const std::string made = store_with({}), other = path("other.sqlite");
    fs::copy_file(made, other);
    fs::rename(other, made);
    QVERIFY(!storage::is_trusted(made));
  }

  void one_that_was_moved_stays_trusted() {
    const std::string made = store_with({}), moved = path("moved.sqlite");
    fs::rename(made, moved);
    must(storage::Writer::open(path("other.sqlite")));
    QVERIFY(storage::is_trusted(moved));
    // Another file at its old place takes nothing from it.
    must(storage::Writer::open(made));
    must(storage::Writer::open(path("third.sqlite")));
    QVERIFY(storage::is_trusted(moved));
  }

  void one_that_is_out_of_reach_stays_trusted() {
    fs::create_directory(path("disk"));
    const std::string made = path("disk/store.sqlite");
    must(storage::Writer::open(made));
    fs::rename(path("disk"), path("unmounted"));
    must(storage::Writer::open(path("other.sqlite")));
    fs::rename(path("unmounted"), path("disk"));
    QVERIFY(storage::is_trusted(made));
  }

  void a_device_may_have_another_number() {
    const std::string made = store_with({}), list = path("data/heddle/trusted-stores");
    std::istringstream line(contents(list));
    std::string device, inode, born, rest;
    line >> device >> inode >> born;
    std::getline(line, rest);
    if (born == "0") QSKIP("this file system does not tell when a file was made");
    write(list, fmt::format("{} {} {}{}\n", 12345, inode, born, rest));
    QVERIFY(storage::is_trusted(made));
    write(list, fmt::format("{} {} {}{}\n", device, inode, 12345, rest));
    QVERIFY(!storage::is_trusted(made));
  }

  void an_empty_file_is_made_a_store_of_ones_own() {
    const std::string made = path("made.sqlite");
    std::ofstream(made).close();
    store_with({});
    QVERIFY(storage::is_listed(made));
    QVERIFY(storage::Writer::open(made));
  }

  void the_default_store_of_earlier_versions_is_ones_own() {
    const std::string store = path("data/heddle/heddle.sqlite");
    fs::create_directories(path("data/heddle"));
    fs::copy_file(store_with({}), store);
    fs::remove(path("data/heddle/trusted-stores"));
    // The first thing that the new version is asked for is another store.
    must(storage::Writer::open(path("other.sqlite")));
    QVERIFY(storage::is_trusted(store));
  }

  void roots_may_be_written_with_more_slashes_data() {
    QTest::addColumn<QString>("said");
    QTest::addColumn<QString>("expanded");
    QTest::newRow("at its end") << "/srv/heddle/"
                                << "/srv/heddle";
    QTest::newRow("as kept before") << "/srv/heddle/"
                                    << "/srv/heddle/";
    QTest::newRow("two") << "/srv//heddle"
                         << "/srv/heddle";
    QTest::newRow("in the home") << "~/.heddle/"
                                 << "/home/me/.heddle";
    QTest::newRow("below") << "~//runs/heddle//"
                           << "/home/me/runs/heddle";
  }
  void roots_may_be_written_with_more_slashes() {
    QFETCH(QString, said);
    QFETCH(QString, expanded);
    remote::Target target = remote::this_machine();
    target.root = said.toStdString();
    must(remote::check(target));
    Place place = place_on(target);
    place.shares.push_back(
        {.root = expanded.toStdString(), .folder = "20261124-one", .engine_id = {}});
    const auto read = place_from_json(to_json(place));
    VERIFY_RESULT(read);
    QCOMPARE(read->shares[0].root, remote::tidy_folder(expanded.toStdString()));
    for (const char* wrong : {"/", "//", "~/..", "/srv/../etc", "/srv/./heddle", "heddle", ""}) {
      target.root = wrong;
      QVERIFY2(!remote::check(target), wrong);
    }
  }

  void nothing_of_a_strangers_run_is_run_or_deleted() {
    const std::string canary = path("canary"), program = path("evil/heddle-engine");
    write(program, "#!/bin/sh\ntouch " + canary + "\n");
    fs::permissions(program, fs::perms::owner_all);
    write(path("documents/letter.txt"), "dear");
    const std::string place = old_row(remote::this_machine(), path("documents"), program);
    const std::string copy = path("copy.sqlite");
    fs::copy_file(store_with(place), copy);
    for (const bool trusted : {false, true}) {
      if (trusted) must(storage::trust(copy));
      auto reader = must(storage::Reader::open(copy));
      auto run = must(reader.run(1));
      QVERIFY(!stop(run));
      QVERIFY(!kill(run));
      QVERIFY(!removal_of(reader, run));
      if (trusted) {
        const auto writer = must(storage::Writer::open(copy));
        run.summary.state = storage::RunState::failed;
        QVERIFY(!remove(*writer, run));
      }
      QVERIFY(!fs::exists(canary));
      QVERIFY(fs::exists(path("documents/letter.txt")));
    }
  }

  void a_folder_that_is_no_runs_is_not_deleted() {
    remote::Target target = remote::this_machine();
    target.root = path("projects");
    write(path("projects/runs/thesis/text.tex"), "years");
    Place place = place_on(target);
    place.shares.push_back({.root = target.root, .folder = "thesis", .engine_id = {}});
    const std::string store = store_with(to_json(place));
    const auto writer = must(storage::Writer::open(store));
    auto run = must(must(storage::Reader::open(store)).run(1));
    run.summary.state = storage::RunState::failed;
    const auto removed = remove(*writer, run);
    QVERIFY(!removed);
    QVERIFY2(removed.error().message.find("no run's directory") != std::string::npos,
             removed.error().message.c_str());
    QVERIFY(fs::exists(path("projects/runs/thesis/text.tex")));
    write(path("projects/runs/thesis/launch.json"), "{}");
    must(remove(*writer, run));
    QVERIFY(!fs::exists(path("projects/runs/thesis")));
  }

  void triggers_and_views_of_a_file_do_nothing() {
    const std::string store = store_with({});
    {
      SQLite::Database database(store, SQLite::OPEN_READWRITE);
      database.exec(
          "CREATE TRIGGER sly AFTER UPDATE ON runs BEGIN UPDATE runs SET hosts = 'taken over'; "
          "END");
    }
    const auto writer = must(storage::Writer::open(store));
    must(writer->set_notes(1, "read this"));
    QVERIFY(must(must(storage::Reader::open(store)).run(1)).hosts != "taken over");
  }

  void names_in_a_row_lead_nowhere_else_data() {
    const std::string id(64, 'a');
    QTest::addColumn<QString>("root");
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("engine");
    QTest::addColumn<bool>("here");
    QTest::addColumn<bool>("taken");
    const QString hash = QString::fromStdString(id);
    QTest::newRow("here") << "/home/me/.heddle"
                          << "20261124-one"
                          << "" << true << true;
    QTest::newRow("on a host") << "/home/me/.heddle"
                               << "20261124-one" << hash << false << true;
    QTest::newRow("up") << "/home/me/.heddle"
                        << "../../etc"
                        << "" << true << false;
    QTest::newRow("dots") << "/home/me/.heddle"
                          << ".."
                          << "" << true << false;
    QTest::newRow("nothing") << "/home/me/.heddle"
                             << ""
                             << "" << true << false;
    QTest::newRow("below") << "/home/me/.heddle"
                           << "a/b"
                           << "" << true << false;
    QTest::newRow("a way back") << "/home/me/../you/.heddle"
                                << "one"
                                << "" << true << false;
    QTest::newRow("relative") << "me/.heddle"
                              << "one"
                              << "" << true << false;
    QTest::newRow("another root") << "/home/me/Documents"
                                  << "one"
                                  << "" << true << false;
    QTest::newRow("an engine here") << "/home/me/.heddle"
                                    << "one" << hash << true << false;
    QTest::newRow("none there") << "/home/me/.heddle"
                                << "one"
                                << "" << false << false;
    QTest::newRow("a path there") << "/home/me/.heddle"
                                  << "one"
                                  << "../../bin/sh" << false << false;
  }

  void names_in_a_row_lead_nowhere_else() {
    QFETCH(QString, root);
    QFETCH(QString, folder);
    QFETCH(QString, engine);
    QFETCH(bool, here);
    QFETCH(bool, taken);
    remote::Target target = remote::this_machine();
    if (!here) target.hosts[0].address = "node";
    Place place = place_on(target);
    place.shares.push_back({.root = root.toStdString(),
                            .folder = folder.toStdString(),
                            .engine_id = engine.toStdString()});
    const auto read = place_from_json(to_json(place));
    QCOMPARE(read.has_value(), taken);
    if (!taken) return;
    QCOMPARE(read->shares[0].run_dir(), "/home/me/.heddle/runs/20261124-one");
    QCOMPARE(read->shares[0].engine(),
             here ? engine_path()
                  : "/home/me/.heddle/engines/" + std::string(64, 'a') + "/heddle-engine");
  }

  void rows_of_earlier_versions_are_read() {
    const std::string engines = "/home/me/.heddle/engines/" + std::string(64, 'b');
    remote::Target target = remote::this_machine();
    target.hosts[0].address = "node";
    const auto place =
        place_from_json(old_row(target, "/home/me/.heddle/runs/one", engines + "/heddle-engine"));
    VERIFY_RESULT(place);
    QCOMPARE(place->shares[0].run_dir(), std::string("/home/me/.heddle/runs/one"));
    QCOMPARE(place->shares[0].engine(), engines + "/heddle-engine");
  }

 private:
  std::string path(const char* name) const { return folder_->filePath(name).toStdString(); }

  /// With one run, which is going on; closed again.
  std::string store_with(const std::string& place) {
    const std::string store = path("made.sqlite");
    const auto writer = must(storage::Writer::open(store));
    storage::NewRun wanted;
    wanted.name = "one";
    wanted.target = "this-machine";
    const auto run = must(writer->create_run(wanted));
    must(writer->set_place(run.id, place.empty() ? "[]" : place, path("documents")));
    must(writer->set_state(run.id, storage::RunState::running));
    return store;
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

HEDDLE_TEST(ForeignStoreTest)
#include "foreign_store_test.moc"
