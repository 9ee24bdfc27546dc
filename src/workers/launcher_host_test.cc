// Real launchers and workers, of the python3 on PATH.
#include "workers/launcher_host.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "rewardloop/json.h"
#include "workers/descriptor.h"
#include "workers/frames.h"
#include "workers/test_environment.h"

namespace rewardloop::workers {
namespace {

using testing::ScopedFolder;

constexpr char kOwnerIsReady[] = "the owner is ready";
constexpr auto kPatience = std::chrono::seconds(60);

// The text of a file of /proc; empty when it is gone.
std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Processes that run and carry `mark` in their environment or command line: zombies have neither.
std::set<pid_t> Marked(const std::string& mark) {
  std::set<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid())) continue;
    if (ReadFile("/proc/" + name + "/environ").find(mark) != std::string::npos) pids.insert(std::stoi(name));
  }
  return pids;
}

// Waits for what no event tells: the ends of processes of others.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds limit = kPatience) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    never.wait_for(lock, std::chrono::milliseconds(5));
  }
  return true;
}

// One worker and what it said.
class Conversation {
 public:
  Conversation(WorkerHost* host, const std::string& source, Json memory = 0) {
    WorkerEvents events;
    events.on_frame = [this](uint8_t kind, std::string_view body) { Add(kind, std::string(body)); };
    events.on_exit = [this](const std::string& how) { Add(0, how); };
    process = host->Start(8, std::move(events));
    if (!process) return;
    const Json hello = Json::MakeObject({{"protocol", int64_t{kProtocol}},
                                         {"name", "f.py:fn"},
                                         {"module", ""},
                                         {"attribute", "fn"},
                                         {"path", "/no/f.py"},
                                         {"source", source},
                                         {"arguments", Json::MakeObject()},
                                         {"form", Json()},
                                         {"threads", int64_t{2}},
                                         {"memory", memory},
                                         {"network", true},
                                         {"sys_path", Json()}});
    process->Send(Frame(kHello, hello.Dump()));
  }

  void Call(uint64_t id, const std::string& items = R"([{"item_id":"a"}])") {
    std::string body;
    const std::string payload = CallPayload(items);
    AppendCall({.id = id, .slot = static_cast<uint32_t>(id % 8), .items = 1, .seed = 1, .payload = payload}, &body);
    process->Send(Frame(kCalls, body));
  }
  // The next word of that kind; 0: how it ended. Others are skipped.
  std::string Next(uint8_t kind) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      if (!changed_.wait_for(lock, kPatience, [&] { return !said_.empty(); })) return "nothing came";
      const auto [what, body] = said_.front();
      said_.pop_front();
      if (what == kind) return body;
      if (what == 0) return "it " + body;
    }
  }
  // The JSON of the next reply; several may come in one frame.
  std::string Reply() {
    if (replies_.empty()) {
      (void)ForEachReply(Next(kReplies), [this](uint64_t, std::string_view json) { replies_.emplace_back(json); });
    }
    if (replies_.empty()) return "no reply came";
    std::string reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

  std::shared_ptr<WorkerProcess> process;

 private:
  void Add(uint8_t kind, std::string body) {
    std::lock_guard<std::mutex> lock(mutex_);
    said_.emplace_back(kind, std::move(body));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<uint8_t, std::string>> said_;
  std::deque<std::string> replies_;
};

class LauncherHostTest : public ::testing::Test {
 protected:
  LauncherHostTest() : variable_("REWARDLOOP_TEST_MARK", mark_) {}

  static LauncherOptions Options() { return {.interpreter = *FindInterpreter("python3"), .hidden_env = {}, .gpus = ""}; }
  std::unique_ptr<WorkerHost> StartHost() {
    Result<std::unique_ptr<WorkerHost>> host = StartLauncher(Options());
    if (!host.ok()) ADD_FAILURE() << host.status().ToString();
    return std::move(*host);
  }
  bool NothingLeft(std::chrono::milliseconds limit) const {
    return Eventually([&] { return Marked(mark_).empty(); }, limit);
  }

  static std::string Mark() {
    const char* const inherited = std::getenv("REWARDLOOP_TEST_MARK");
    return inherited ? inherited : "rewardloop-test-" + std::to_string(getpid());
  }
  const std::string mark_ = Mark();
  const testing::ScopedVariable variable_;
};

TEST_F(LauncherHostTest, FunctionAnswers) {
  const auto host = StartHost();
  Conversation worker(host.get(), "def fn(item):\n    print('seen', item['item_id'])\n    return 0.5\n");
  const Result<Json> info = Json::Parse(worker.Next(kReady));
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->Find("form")->AsString(), "item");
  EXPECT_FALSE(info->Find("async")->AsBool());
  worker.Call(7);
  EXPECT_EQ(worker.Next(kText), R"([7, "seen a", null])");
  EXPECT_EQ(worker.Reply(), "[0.5]");
  EXPECT_GT(worker.process->ReadBoard().heartbeat_ns, 0);
}

TEST_F(LauncherHostTest, BoardShowsWhatRunsAndThreadsWhatTheyCompute) {
  const auto host = StartHost();
  Conversation worker(host.get(), "def fn(item):\n    while True: pass\n");
  worker.Next(kReady);
  worker.Call(9);
  ASSERT_TRUE(Eventually([&] { return worker.process->ReadBoard().slots[1].call == 9; }));
  const BoardSlot slot = worker.process->ReadBoard().slots[1];
  EXPECT_GT(slot.started_ns, 0);
  const int64_t before_ns = worker.process->ThreadCpuNs(slot.thread);
  EXPECT_TRUE(Eventually([&] { return worker.process->ThreadCpuNs(slot.thread) > before_ns + 20'000'000; }));
  EXPECT_EQ(worker.process->ThreadCpuNs(1 << 22), -1) << "no such thread";
}

TEST_F(LauncherHostTest, ExitsSayHow) {
  const auto host = StartHost();
  Conversation killed(host.get(), "import os\ndef fn(item):\n    os.kill(os.getpid(), 9)\n");
  killed.Next(kReady);
  killed.Call(1);
  EXPECT_EQ(killed.Next(0), "was killed by signal 9");
  Conversation left(host.get(), "import os\ndef fn(item):\n    os._exit(3)\n");
  left.Next(kReady);
  left.Call(1);
  EXPECT_EQ(left.Next(0), "ended with exit code 3");
  Conversation stuck(host.get(), "def fn(item):\n    return 9**9**9\n");
  stuck.Next(kReady);
  stuck.Call(1);
  stuck.process->Kill();
  EXPECT_EQ(stuck.Next(0), "was killed by signal 9");
}

TEST_F(LauncherHostTest, ReplyGivenJustBeforeTheDeathCounts) {
  const auto host = StartHost();
  Conversation worker(host.get(),
                      "import os, threading\n"
                      "def fn(item):\n"
                      "    if item['item_id'] == 'last': os.kill(os.getpid(), 9)\n"
                      "    return 1\n");
  worker.Next(kReady);
  for (int i = 1; i < 8; ++i) {
    worker.Call(static_cast<uint64_t>(i));
    worker.Reply();
  }
  worker.Call(8);
  worker.Reply();
  worker.Call(9, R"([{"item_id":"last"}])");
  EXPECT_EQ(worker.Next(0), "was killed by signal 9");
}

// Double fork, setsid, and children of those: all of it ends with the worker, or with the host.
constexpr char kDaemons[] = R"py(
import os, signal, subprocess, sys, time
def daemon(depth):
    if os.fork():
        return
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    if depth:
        daemon(depth - 1)
    while True:
        time.sleep(1000)
def fn(item):
    daemon(2)
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    while len(open("/proc/%d/task/%d/children" % (os.getppid(), os.getppid())).read().split()) < 2:
        time.sleep(0.01)
    if item["item_id"] == "die":
        os._exit(0)
    return 1
)py";

TEST_F(LauncherHostTest, NothingBelowADeadWorkerStays) {
  const auto host = StartHost();
  Conversation worker(host.get(), kDaemons);
  worker.Next(kReady);
  worker.Call(1, R"([{"item_id":"die"}])");
  EXPECT_EQ(worker.Next(0), "ended with exit code 0");
  EXPECT_TRUE(Eventually([&] { return Marked(mark_).size() == 1; })) << "the launcher alone is left";
}

TEST_F(LauncherHostTest, NothingIsLeftAfterClose) {
  const auto host = StartHost();
  Conversation worker(host.get(), kDaemons);
  worker.Next(kReady);
  worker.Call(1);
  worker.Reply();
  Conversation stuck(host.get(), "import signal\ndef fn(item):\n    signal.alarm\n    return 9**9**9\n");
  stuck.Next(kReady);
  stuck.Call(1);
  EXPECT_GE(Marked(mark_).size(), 5u);
  host->Close();
  EXPECT_TRUE(Marked(mark_).empty());
  EXPECT_EQ(host->Start(1, {}), nullptr);
  host->Close();
}

// Not a test: the program that the next one kills.
TEST_F(LauncherHostTest, DISABLED_OwnerThatWaitsToBeKilled) {
  const auto host = StartHost();
  Conversation worker(host.get(), kDaemons);
  worker.Next(kReady);
  worker.Call(1);
  worker.Reply();
  (void)!write(1, kOwnerIsReady, sizeof(kOwnerIsReady));
  pause();
}

TEST_F(LauncherHostTest, NothingIsLeftWhenTheOwnerWasKilled) {
  int output[2];
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  std::string arguments[] = {"workers_test", "--gtest_also_run_disabled_tests", "--gtest_filter=*OwnerThatWaitsToBeKilled"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
  pid_t owner = 0;
  ASSERT_EQ(posix_spawn(&owner, "/proc/self/exe", &actions, nullptr, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  std::string said;
  char part[256];
  for (ssize_t count; said.find(kOwnerIsReady) == std::string::npos && (count = read(output[0], part, sizeof(part))) > 0;) {
    said.append(part, static_cast<size_t>(count));
  }
  close(output[0]);
  EXPECT_GE(Marked(mark_).size(), 5u) << said;
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(NothingLeft(std::chrono::seconds(5))) << Marked(mark_).size() << " processes are left";
}

size_t OpenDescriptors() {
  const auto range = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(range), end(range)));
}

TEST_F(LauncherHostTest, TwoHundredStartsLeaveNoDescriptorSlow) {
  { (void)StartHost(); }  // what is opened once
  const size_t before = OpenDescriptors();
  {
    const auto host = StartHost();
    const size_t with_host = OpenDescriptors();
    for (int i = 0; i < 50; ++i) {
      std::deque<Conversation> four;
      for (int k = 0; k < 4; ++k) four.emplace_back(host.get(), "def fn(item):\n    return 1\n");
      for (Conversation& one : four) one.process->Kill();
      for (Conversation& one : four) EXPECT_EQ(one.Next(0).find("nothing"), std::string::npos);
    }
    EXPECT_TRUE(Eventually([&] { return OpenDescriptors() <= with_host; })) << OpenDescriptors() << " of " << with_host;
    std::deque<Conversation> alive;  // closed with the host
    for (int k = 0; k < 4; ++k) alive.emplace_back(host.get(), "def fn(item):\n    return 1\n");
    for (Conversation& one : alive) one.Next(kReady);
    host->Close();
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(LauncherHostTest, CloseLetsGoOfEverythingAtOnce) {
  { (void)StartHost(); }
  for (int i = 0; i < 20; ++i) {
    const size_t before = OpenDescriptors();
    const auto host = StartHost();
    Conversation starting(host.get(), "def fn(item):\n    return 1\n");
    Conversation busy(host.get(), "import time\ndef fn(item):\n    time.sleep(1000)\n");
    busy.Next(kReady);
    busy.Call(1);
    host->Close();
    starting.process = busy.process = nullptr;
    EXPECT_EQ(OpenDescriptors(), before) << "the host itself is still there";
    EXPECT_EQ(ReadFile("/proc/self/maps").find("rewardloop-board"), std::string::npos);
  }
}

TEST_F(LauncherHostTest, WorkersInheritNoDescriptor) {
  // Also when the program has many: a descriptor of ours may have any number.
  std::deque<int> open;
  for (int i = 0; i < 120; ++i) open.push_back(dup(0));  // inheritable
  {
    const auto host = StartHost();
    Conversation worker(host.get(),
                        "import os, stat\n"
                        "def fn(item):\n"
                        "    links = {int(fd): os.path.realpath('/proc/self/fd/' + fd) for fd in os.listdir('/proc/self/fd')\n"
                        "             if os.path.exists('/proc/self/fd/' + fd) or os.path.lexists('/proc/self/fd/' + fd)}\n"
                        "    kinds = sorted('socket' if 'socket:' in l else 'board' if 'board' in l else str(fd)\n"
                        "                   for fd, l in links.items() if '/proc/' not in l or ':' in l or 'memfd' in l)\n"
                        "    return {'score': len(links), 'reason': ' '.join(kinds)}\n");
    worker.Next(kReady);
    worker.Call(1);
    const Result<Json> reply = Json::Parse(worker.Reply());
    ASSERT_TRUE(reply.ok());
    // 0, 1, 2, the socket, the board, and the folder that is being listed.
    EXPECT_LE(reply->AsArray()[0].Find("score")->AsDouble(), 6) << reply->Dump();
  }
  for (const int descriptor : open) close(descriptor);
}

TEST_F(LauncherHostTest, KilledLauncherIsReplaced) {
  const auto host = StartHost();
  Conversation first(host.get(), "def fn(item):\n    return 1\n");
  first.Next(kReady);
  for (const pid_t pid : Marked(mark_)) {
    if (ReadFile("/proc/" + std::to_string(pid) + "/cmdline").find("rewardloop-launcher") != std::string::npos) kill(pid, SIGKILL);
  }
  EXPECT_EQ(first.Next(0), "was lost with its launcher");
  Conversation second(host.get(), "def fn(item):\n    return 2\n");
  second.Next(kReady);
  second.Call(1);
  EXPECT_EQ(second.Reply(), "[2.0]");
  EXPECT_EQ(Marked(mark_).size(), 2u) << "the first worker died with its launcher";
  host->Close();
  EXPECT_TRUE(Marked(mark_).empty());
}

TEST_F(LauncherHostTest, ProgramMayIgnoreItsChildren) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  {
    const auto host = StartHost();
    Conversation worker(host.get(), "import subprocess\ndef fn(item):\n    return subprocess.run(['true']).returncode\n");
    worker.Next(kReady);
    worker.Call(1);
    EXPECT_EQ(worker.Reply(), "[0.0]");
    host->Close();
    EXPECT_TRUE(Marked(mark_).empty());
  }
  signal(SIGCHLD, before);
}

TEST_F(LauncherHostTest, ProgramMayHaveNoStandardDescriptors) {
  const Descriptor saved(fcntl(2, F_DUPFD_CLOEXEC, 20));
  close(2);
  {
    const auto host = StartHost();
    Conversation worker(host.get(), "import os, sys\ndef fn(item):\n    os.write(2, b'x')\n    return 1\n");
    worker.Next(kReady);
    worker.Call(1);
    EXPECT_EQ(worker.Reply(), "[1.0]");
  }
  dup2(saved.get(), 2);
}

TEST_F(LauncherHostTest, LargeCallsAndRepliesPass) {
  const auto host = StartHost();
  Conversation worker(host.get(), "def fn(item):\n    return {'score': len(item['response']), 'reason': 'r' * 3_000_000}\n");
  worker.Next(kReady);
  const std::string text(10 << 20, 'x');
  for (uint64_t id = 1; id <= 4; ++id) worker.Call(id, R"([{"item_id":"a","response":")" + text + "\"}]");
  for (int i = 0; i < 4; ++i) {
    const std::string reply = worker.Reply();
    EXPECT_EQ(reply.substr(0, 43), R"([{"status": "scored", "score": 10485760.0, )");
    EXPECT_GT(reply.size(), 3'000'000u);
  }
}

TEST_F(LauncherHostTest, SocketThatUserCodeClosesEndsTheWorker) {
  const auto host = StartHost();
  Conversation low(host.get(), "import os\ndef fn(item):\n    os.closerange(3, 100)\n    return 1\n");
  low.Next(kReady);
  low.Call(1);
  EXPECT_EQ(low.Reply(), "[1.0]") << "ours is out of the way";
  Conversation all(host.get(), "import os\ndef fn(item):\n    os.closerange(3, 1000)\n    return 1\n");
  all.Next(kReady);
  all.Call(1);
  EXPECT_NE(all.Next(0), "nothing came");
}

TEST_F(LauncherHostTest, InterpreterThatIsNoneSaysWhoNamedIt) {
  const ScopedFolder folder;
  const std::string path = folder.Write("python", "#!/bin/sh\nexit 1\n", true);
  const Result<std::unique_ptr<WorkerHost>> host = StartLauncher({.interpreter = {path, "VIRTUAL_ENV"}});
  ASSERT_FALSE(host.ok());
  EXPECT_NE(host.status().message().find("'" + path + "' (from VIRTUAL_ENV)"), std::string::npos) << host.status().message();
  EXPECT_NE(host.status().hint().find("--python"), std::string::npos);
  const Result<std::unique_ptr<WorkerHost>> none = StartLauncher({.interpreter = {folder.path(), "--python"}});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("(from --python) cannot be started"), std::string::npos) << none.status().message();
}

}  // namespace
}  // namespace rewardloop::workers
