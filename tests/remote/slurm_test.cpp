// The words that Slurm is given, and what its commands print: texts of 22.05.
#include "remote/slurm.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "remote/container.h"
#include "remote/quote.h"
#include "remote/slurm_nodes.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

constexpr const char* kQueue =
    "9|ada|RUNNING|None|1795821399|4:58|n[1-2]|train|4294901758|heddle:20261127-a\n"
    "slurm_load_jobs error\n"
    "10|ada|PENDING|Resources|1795821699|1-00:00:00||train|300|(null)\n"
    "11|bo|PENDING|JobHeldUser|N/A|UNLIMITED||train|900|(null)\n"
    "12|ada|PENDING|Priority|N/A|1:40:00||train|200|a|b\n"
    "13|bo|PENDING|PartitionNodeLimit|N/A|UNLIMITED||wide|400|(null)\n"
    "14|bo|COMPLETED|None|1795821399|0:00|n1|train|1|(null)\n";

constexpr const char* kNodes =
    "train*|up|2|idle|4|4000|infinite|(null)\n"
    "gpu|up|8|mixed|128|1031000+|2-00:00:00|gpu:a100:4(S:0,1),shard:16\n"
    "gpu|up|1|down*|64|515000|2-00:00:00|gpu:2\n"
    "closed|down|3|idle|64|515000|1:00:00|(null)\n";

constexpr const char* kShown =
    "NodeName=n1 Arch=x86_64 CPUAlloc=64 CPUEfctv=128 CPUTot=128 Gres=gpu:h100:8(S:0-1) "
    "GresDrain=N/A GresUsed=gpu:h100:4(IDX:0-3) OS=Linux 6.1.0 #1 SMP RealMemory=2063000 "
    "State=MIXED ThreadsPerCore=2 Partitions=h100,debug BootTime=2026-11-01T10:00:00\n"
    "NodeName=n2 CPUAlloc=128 CPUTot=128 Gres=gpu:h100:8 GresUsed=gpu:h100:8(IDX:0-7) "
    "RealMemory=2063000 State=ALLOCATED Partitions=h100\n"
    "NodeName=n3 CPUAlloc=0 CPUTot=128 Gres=gpu:h100:8 GresUsed=gpu:h100:0(IDX:N/A) "
    "RealMemory=2063000 State=IDLE+DRAIN Partitions=h100 Reason=row remaps of GPU 3 "
    "[root@2026-11-20T08:00:00]\n"
    "NodeName=n4 CPUAlloc=0 CPUTot=128 Gres=(null) GresUsed=gpu:0 RealMemory=515000 State=DOWN* "
    "Partitions=cpu Reason=Not responding [slurm@2026-11-20T08:00:00]\n"
    "NodeName=n5 CPUAlloc=0 CPUTot=128 RealMemory=515000 State=IDLE Partitions=cpu\n"
    "slurm_load_node error\n";

BatchJob job_of(int nodes) {
  BatchJob job;
  job.name = "debug";
  job.comment = "heddle:20261127-debug-1f3a";
  job.request.nodes = nodes;
  job.ranks_per_node = 4;
  job.engine = "/shared/it's/engine";
  job.run_dir = "/shared/$(touch /tmp/x)/`id`/\"a b\"";
  return job;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

class SlurmTest : public QObject {
  Q_OBJECT

 private:
  // The script itself, with commands in place of Slurm's. `state`: the job's in the queue.
  void put_into_the_queue_again(const std::string& state) {
    QFETCH(int, nodes);
    QFETCH(bool, goes_on);
    QFETCH(QString, ends);
    QFETCH(bool, saves);
    QFETCH(bool, asked);
    QFETCH(bool, again);
    const QTemporaryDir folder;
    const auto path = [&](const std::string& name) { return folder.path().toStdString() + name; };
    BatchJob job = job_of(nodes);
    job.goes_on = goes_on;
    job.run_dir = path("/it's \"a\" run");
    const QStringList states = ends.split(' ');
    std::string srun = "#!/bin/sh\n";
    for (int part = 0; part < nodes; ++part) {
      const std::string dir = job.part_dir(static_cast<size_t>(part));
      std::filesystem::create_directories(dir + "/checkpoints/step-9");
      std::ofstream(dir + "/job.secret") << "secret\n";
      srun += fmt::format("echo '{{\"cause\":\"\",\"state\":\"{}\"}}' > {}/end.json\n",
                          states[part].toStdString(), quote(dir));
    }
    const std::string first = job.part_dir(0);
    if (saves) srun += "mkdir " + quote(first + "/checkpoints/step-10") + "\n";
    if (asked) std::ofstream(first + "/stop.asked") << "";
    std::filesystem::create_directories(path("/bin"));
    const auto program = [&](const std::string& name, const std::string& text) {
      std::ofstream(path("/bin/" + name)) << text;
      std::filesystem::permissions(path("/bin/" + name), std::filesystem::perms(0755));
    };
    program("srun", srun + "exit 130\n");
    program("squeue", "#!/bin/sh\necho " + state + "\n");
    program("scontrol", "#!/bin/sh\necho \"$@\" > " + quote(path("/requeued")) + "\n");
    const auto ran =
        must(process::run({.argv = {"env", "PATH=" + path("/bin") + ":/usr/bin:/bin",
                                    "SLURM_JOB_ID=77", "SLURM_CPUS_PER_TASK=1", "/bin/sh"},
                           .input = batch_script(job)}));
    QCOMPARE(ran.err, std::string());
    QCOMPARE(std::filesystem::exists(path("/requeued")), again);
    // The secret is needed as long as the run goes on, and by nobody afterwards.
    for (int part = 0; part < nodes; ++part)
      QCOMPARE(std::filesystem::exists(job.part_dir(static_cast<size_t>(part)) + "/job.secret"),
               again || state == "PENDING");
    QVERIFY(std::filesystem::exists(first + "/job"));
  }

 private Q_SLOTS:
  void sbatch_is_given_what_the_target_says() {
    BatchJob job = job_of(2);
    job.request.partition = "train,gpu";
    job.request.account = "physics";
    job.request.qos = "long";
    job.request.time_limit = "2-12:30:00";
    job.request.gpus_per_node = 4;
    job.request.options = {"--mem=0", "--constraint=a100|h100"};
    VERIFY_RESULT(check_slurm(job.request));
    const auto words = sbatch_words(job);
    QCOMPARE(words.front(), std::string("sbatch"));
    for (const char* word :
         {"--parsable", "--comment=heddle:20261127-debug-1f3a", "--nodes=2", "--ntasks-per-node=1",
          "--cpus-per-task=4", "--partition=train,gpu", "--account=physics", "--qos=long",
          "--time=2-12:30:00", "--gres=gpu:4", "--mem=0", "--constraint=a100|h100"})
      QVERIFY2(has(words, word), word);
    job.request = {.cpus_per_node = 96};
    const auto plain = sbatch_words(job);
    QVERIFY(has(plain, "--cpus-per-task=96") && has(plain, "--no-requeue"));
    job.goes_on = true;
    QVERIFY(has(sbatch_words(job), "--requeue"));
    for (const char* option : {"--partition", "--account", "--qos", "--time", "--gres"})
      for (const std::string& word : plain) QVERIFY2(!word.starts_with(option), word.c_str());
  }

  // The shell itself says which words it reads.
  void no_text_of_the_job_is_a_command() {
    const BatchJob job = job_of(2);
    std::string script = batch_script(job);
    const auto syntax = must(process::run({.argv = {"/bin/sh", "-n"}, .input = script}));
    QVERIFY2(syntax.exit_code == 0, syntax.err.c_str());
    script.resize(script.find("node="));
    script += "printf '%s\\n' \"$@\"\n";
    const auto read = must(process::run({.argv = {"/bin/sh"}, .input = script}));
    QCOMPARE(read.out, job.engine + "\n" + job.run_dir + "\n2\n" + job.run_dir + "-0\n0\n");
    QCOMPARE(job_of(1).part_dir(0), job.run_dir);
    QCOMPARE(job.part_dir(1), job.run_dir + "-1");
  }

  // Slurm here has no pyxis: a function in the place of srun shows the words that it would get.
  void tasks_are_put_into_the_container_of_pyxis() {
    BatchJob job = job_of(2);
    job.srun_options = pyxis_options("nvcr.io#nvidia/pytorch:25.01", {"/scratch/ada", "/data"});
    std::string script = batch_script(job);
    const size_t begin = script.find("srun_here() {");
    QVERIFY(begin != std::string::npos);
    script = "srun() { printf '%s\\n' \"$@\"; }\n" +
             script.substr(begin, script.find("}\n", begin) - begin) + "}\nsrun_here --nodes=2 a\n";
    const auto read = must(process::run({.argv = {"/bin/sh"}, .input = script}));
    QCOMPARE(read.out, std::string("--container-image=nvcr.io#nvidia/pytorch:25.01\n"
                                   "--container-mounts=/scratch/ada:/scratch/ada,/data:/data\n"
                                   "--nodes=2\na\n"));
  }

  void what_is_put_into_the_queue_again_data() {
    QTest::addColumn<int>("nodes");
    QTest::addColumn<bool>("goes_on");
    QTest::addColumn<QString>("ends");  // by part
    QTest::addColumn<bool>("saves");
    QTest::addColumn<bool>("asked");
    QTest::addColumn<bool>("again");
    QTest::newRow("stopped") << 1 << true << "stopped" << true << false << true;
    QTest::newRow("stopped on both") << 2 << true << "stopped stopped" << true << false << true;
    QTest::newRow("done") << 1 << true << "done" << true << false << false;
    QTest::newRow("failed on one") << 2 << true << "failed stopped" << true << false << false;
    QTest::newRow("failed on the other") << 2 << true << "stopped failed" << true << false << false;
    QTest::newRow("asked to stop") << 1 << true << "stopped" << true << true << false;
    QTest::newRow("no further") << 1 << true << "stopped" << false << false << false;
    QTest::newRow("keeps nothing") << 1 << false << "stopped" << true << false << false;
  }
  void what_is_put_into_the_queue_again() { put_into_the_queue_again("RUNNING"); }
  // The next attempt needs the secret.
  void a_job_that_slurm_has_put_back_keeps_its_secret_data() {
    what_is_put_into_the_queue_again_data();
  }
  void a_job_that_slurm_has_put_back_keeps_its_secret() { put_into_the_queue_again("PENDING"); }

  void faults_of_the_options_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("words");
    QTest::newRow("partition") << "partition"
                               << "a b"
                               << "partition \"a b\"";
    QTest::newRow("account") << "account"
                             << "--x"
                             << "account \"--x\"";
    QTest::newRow("time") << "time"
                          << "two hours"
                          << "time limit \"two hours\"";
    QTest::newRow("time ends") << "time"
                               << "1-"
                               << "time limit";
    QTest::newRow("times") << "time"
                           << "1:2:3:4"
                           << "time limit";
    QTest::newRow("no option") << "option"
                               << "mem=0"
                               << "--NAME or --NAME=VALUE";
    QTest::newRow("short") << "option"
                           << "-p"
                           << "--NAME or --NAME=VALUE";
    QTest::newRow("line") << "option"
                          << "--mem=0\n--wrap=id"
                          << "--NAME or --NAME=VALUE";
    QTest::newRow("ours") << "option"
                          << "--wrap=id"
                          << "Heddle sets --wrap itself";
    QTest::newRow("shortened") << "option"
                               << "--partit=x"
                               << "Heddle sets --partition itself";
  }
  void faults_of_the_options() {
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, words);
    JobRequest request;
    const std::string text = value.toStdString();
    if (field == "partition") request.partition = text;
    if (field == "account") request.account = text;
    if (field == "time") request.time_limit = text;
    if (field == "option") request.options = {text};
    VERIFY_SAYS(check_slurm(request), words.toStdString());
  }

  void the_jobs_number() {
    QCOMPARE(must(job_id_from("1234\n")), std::string("1234"));
    QCOMPARE(must(job_id_from("1234;alps\n")), std::string("1234"));
    for (const char* none : {"", "\n", "Submitted batch job 5", "12a", "-3"})
      QVERIFY2(!job_id_from(none), none);
  }

  void the_queue() {
    const auto jobs = jobs_from(kQueue);
    QCOMPARE(jobs.size(), size_t{6});
    QCOMPARE(jobs[0].phase(), JobPhase::running);
    QCOMPARE(jobs[0].comment, std::string("heddle:20261127-a"));
    QCOMPARE(jobs[0].start, std::optional(1795821399.0));
    QCOMPARE(jobs[1].phase(), JobPhase::waiting);
    QVERIFY(!jobs[2].start);
    QCOMPARE(jobs[3].comment, std::string("a|b"));
    QCOMPARE(jobs[5].phase(), JobPhase::ended);
    // The held one is not before anybody, nor is one of another partition.
    QCOMPARE(position_of(jobs[0], jobs), int64_t{0});
    QCOMPARE(position_of(jobs[1], jobs), int64_t{1});
    QCOMPARE(position_of(jobs[2], jobs), int64_t{0});
    QCOMPARE(position_of(jobs[3], jobs), int64_t{2});
    const double now = 1795821399;
    QCOMPARE(words_of(jobs[0], 0, now), std::string("runs on n[1-2], 4:58 left"));
    QCOMPARE(
        words_of(jobs[1], 1, now),
        std::string("waits in train for free nodes; position 1; expected to start in 5.00 min"));
    QCOMPARE(words_of(jobs[2], 0, now), std::string("waits in train and is held by its user"));
    QCOMPARE(words_of(jobs[4], 1, now),
             std::string("waits in wide and cannot start: the partition has not as many nodes; "
                         "position 1"));
  }

  void jobs_that_are_over() {
    const auto timeout = ended_from_scontrol(
        "JobId=2 JobName=x UserId=a(1) JobState=TIMEOUT Reason=TimeLimit Dependency=(null) "
        "Requeue=0 ExitCode=0:15 EndTime=1795821700 NodeList=n1 BatchHost=n1\n");
    QVERIFY(timeout && timeout->started && !was_cancelled(*timeout));
    QCOMPARE(timeout->ended, std::optional(1795821700.0));
    QVERIFY(words_of(*timeout).find("time limit") != std::string::npos);
    const auto cancelled = ended_from_scontrol(
        "JobId=3 JobState=CANCELLED Reason=None ExitCode=0:0 EndTime=1795821700 NodeList=(null)");
    QVERIFY(cancelled && !cancelled->started && was_cancelled(*cancelled));
    QCOMPARE(words_of(*cancelled), std::string("cancelled before it had started"));
    QVERIFY(!ended_from_scontrol("slurm_load_jobs error: Invalid job id specified\n"));
    const auto failed = ended_from_sacct("FAILED|1:0|None\n");
    QVERIFY(failed);
    QCOMPARE(words_of(*failed), std::string("Slurm calls it FAILED, exit code 1:0"));
    QCOMPARE(ended_from_sacct("CANCELLED by 1000|0:0|None\n")->state, std::string("CANCELLED"));
    QVERIFY(!ended_from_sacct(""));
  }

  void partitions() {
    const auto all = partitions_from(kNodes);
    QCOMPARE(all.size(), size_t{4});
    QVERIFY(all[0].is_default && all[0].partition == "train" && all[0].cores == 4);
    QCOMPARE(all[1].gpus, 4);
    QCOMPARE(all[1].gpu_kind, std::string("a100"));
    QCOMPARE(all[1].memory_bytes, int64_t{1031000} << 20);
    QCOMPARE(all[2].gpus, 2);
    QCOMPARE(must(nodes_for({}, all)).partition, std::string("train"));
    QCOMPARE(must(nodes_for({.partition = "gpu"}, all)).cores, int64_t{64});
    QCOMPARE(must(nodes_for({.partition = "gpu", .gpus_per_node = 4}, all)).cores, int64_t{128});
    VERIFY_SAYS(nodes_for({.partition = "nope"}, all),
                "no partition nope; valid: train|gpu|closed");
    VERIFY_SAYS(nodes_for({.partition = "closed"}, all), "closed is down");
    VERIFY_SAYS(nodes_for({.partition = "gpu", .gpus_per_node = 8}, all), "valid: at most 4");
    VERIFY_SAYS(nodes_for({.nodes = 3}, all), "asks for 3 nodes, and the partition has 2");
  }

  void nodes_and_what_jobs_have_of_them() {
    using Use = ClusterNode::Use;
    const auto all = cluster_nodes_from(kShown);
    std::vector<Use> uses;
    for (const ClusterNode& node : all) uses.push_back(node.use());
    QCOMPARE(uses, std::vector({Use::mixed, Use::allocated, Use::draining, Use::down, Use::idle}));
    QCOMPARE(all[0].gpus, 8);
    QCOMPARE(all[0].gpus_used, 4);
    QCOMPARE(all[0].gpu_kind, std::string("h100"));
    QCOMPARE(all[0].cores_used, int64_t{64});
    QCOMPARE(all[0].memory_bytes, int64_t{2063000} << 20);
    QCOMPARE(all[2].reason, std::string("row remaps of GPU 3"));
    QCOMPARE(all[3].reason, std::string("Not responding"));
    QCOMPARE(all[3].gpus, 0);
    const auto names = [&](const JobRequest& request) {
      std::string names;
      for (const ClusterNode& node : nodes_in(request, "cpu", all)) names += node.name + " ";
      return names;
    };
    QCOMPARE(names({.partition = "h100"}), std::string("n1 n2 n3 "));
    QCOMPARE(names({.partition = "debug,cpu"}), std::string("n1 n4 n5 "));
    QCOMPARE(names({}), std::string("n4 n5 "));
  }

  void a_target_keeps_its_options() {
    Target target = this_machine();
    target.name = "alps";
    target.job = {.system = "slurm",
                  .partition = "gpu",
                  .account = "p",
                  .qos = "q",
                  .time_limit = "90",
                  .nodes = 3,
                  .gpus_per_node = 4,
                  .cpus_per_node = 64,
                  .options = {"--mem=0"}};
    QCOMPARE(must(target_from_json(to_json(target))), target);
    // As every Heddle since the first with Slurm has kept it.
    QVERIFY(to_json(target).find(
                "\"slurm\":{\"account\":\"p\",\"cpus_per_node\":64,\"gpus_per_node\":4,"
                "\"nodes\":3,\"options\":[\"--mem=0\"],\"partition\":\"gpu\",\"qos\":\"q\","
                "\"time_limit\":\"90\"}") != std::string::npos);
    const Target sparse =
        must(target_from_json("{\"name\": \"alps\", \"hosts\": [{}], \"slurm\": {\"nodes\": 2}}"));
    QCOMPARE(sparse.job, std::optional(JobRequest{.system = "slurm", .nodes = 2}));
    QCOMPARE(target.parts(), size_t{3});
    QVERIFY(&target.host_of(2) == &target.hosts[0]);
    QCOMPARE(target.part_name(2), std::string("node 2 of alps"));
    target.job->system = "pbs";
    VERIFY_SAYS(check(target), "target alps: there is no batch system \"pbs\"");
    target.job->system = "slurm";
    target.job->options = {"--wrap=id"};
    VERIFY_SAYS(target_from_json(to_json(target)), "target alps: option \"--wrap=id\"");
  }
};

HEDDLE_TEST(SlurmTest)
#include "slurm_test.moc"
