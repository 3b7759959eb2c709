// Processes of this machine that die. A thread waits for their end, which mpirun does not name. It
// waits for the end of a connection, too: that comes first, and mpirun soon kills this process.
#include "Agreement.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#if defined(__linux__)
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace xtensor;

namespace {

#if defined(__linux__) && defined(SYS_pidfd_open)

struct Peer {
  int64_t communicator, process;
  int64_t pid;
  int handle; ///< a pidfd, or a socket
  bool isSocket;
};

/// How a process ended, as far as /proc still tells: an exit status as wait() gives it; -1:
/// unknown.
int statusOf(int64_t pid) {
  char path[64], text[2048];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(pid));
  std::FILE *file = std::fopen(path, "r");
  if (!file)
    return -1;
  size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = 0;
  const char *last = std::strrchr(text, ' ');
  const char *name = std::strrchr(text, ')');
  int status = -1;
  bool isDead = name && (name[2] == 'Z' || name[2] == 'X');
  if (isDead && last)
    std::sscanf(last, "%d", &status);
  return status;
}

/// It is never destroyed: its thread goes on until the process ends.
class Watch {
public:
  void add(const Peer &peer) {
    std::lock_guard<std::mutex> guard(lock);
    peers.push_back(peer);
    if (isRunning)
      return;
    isRunning = true;
    std::thread([this] { run(); }).detach();
  }

  void forget(int64_t communicator, int64_t process = -1) {
    std::lock_guard<std::mutex> guard(lock);
    auto isMeant = [&](const Peer &peer) {
      bool is = peer.communicator == communicator && (process < 0 || peer.process == process);
      if (!is)
        return false;
      if (peer.isSocket && send(peer.handle, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        errno = 0; // it has gone already
      close(peer.handle);
      return true;
    };
    peers.erase(std::remove_if(peers.begin(), peers.end(), isMeant), peers.end());
  }

private:
  void run() {
    std::vector<pollfd> handles;
    std::vector<Peer> there;
    for (;;) {
      {
        std::lock_guard<std::mutex> guard(lock);
        there = peers;
      }
      handles.clear();
      for (const Peer &peer : there)
        handles.push_back({peer.handle, POLLIN, 0});
      poll(handles.data(), handles.size(), 500);
      for (size_t i = 0; i < there.size(); ++i)
        if (handles[i].revents)
          end(there[i]);
    }
  }

  /// The others of this machine see it, too: the first of them tells.
  bool tells(const Peer &dead) {
    Path &path = pathOf(dead.communicator);
    std::lock_guard<std::mutex> guard(lock);
    for (const Peer &peer : peers)
      if (peer.communicator == dead.communicator && peer.process < path.with.index &&
          peer.process != dead.process) {
        pollfd handle{peer.handle, POLLIN, 0};
        if (poll(&handle, 1, 0) == 0)
          return false;
      }
    return true;
  }

  static bool isExpected(Path &path) {
    int isFinalized = 0;
    mpiLibrary().is_finalized(&isFinalized);
    std::lock_guard<std::mutex> guard(path.lock);
    return isFinalized || path.isEnding || path.isOver;
  }

  void end(const Peer &peer) {
    char byte;
    if (peer.isSocket && recv(peer.handle, &byte, 1, MSG_DONTWAIT) > 0) {
      forget(peer.communicator, peer.process); // it needs these processes no more
      return;
    }
    Path &path = pathOf(peer.communicator);
    bool isFirst = tells(peer);
    forget(peer.communicator, peer.process);
    if (isExpected(path))
      return;
    char how[80] = "has died";
    int status = statusOf(peer.pid);
    if (status >= 0 && (status & 127))
      std::snprintf(how, sizeof how, "was killed by signal %d (%s)", status & 127,
                    strsignal(status & 127));
    else if (status >= 0)
      std::snprintf(how, sizeof how, "has ended without a word, with exit code %d", status >> 8);
    std::string text = path.name(peer.process) + " " + how;
    if (isFirst) {
      std::string line = "xtensor: " + text + ", so all processes end\n";
      // Launchers kill this process soon.
      if (write(2, line.data(), line.size()) < 0)
        isFirst = false;
    }
    if (status == 0) // for which they return 0
      mpiLibrary().abort(mpiLibrary().world, 1);
    text.resize(XT_TOLD - 1);
    text.push_back(0);
    path.end(XT_GONE, std::vector<char>(text.begin(), text.end()));
    std::thread([&path] { endLater(path); }).detach();
  }

  /// A thread that waits in a call raises the error, and ends all. One that does not gets some
  /// time.
  static void endLater(Path &path) {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    int isFinalized = 0;
    mpiLibrary().is_finalized(&isFinalized);
    if (!isFinalized && !path.isRaised)
      mpiLibrary().abort(mpiLibrary().world, 1);
  }

  std::mutex lock;
  bool isRunning = false;
  std::vector<Peer> peers;
};

Watch &watch() {
  static auto *made = new Watch;
  return *made;
}

void watchPeer(int64_t communicator, int64_t process, int64_t pid, int connection) {
  if (int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); handle >= 0)
    watch().add({communicator, process, pid, handle, false});
  if (connection >= 0)
    watch().add({communicator, process, pid, connection, true});
}

void forgetPeers(int64_t communicator) { watch().forget(communicator); }

#else

void watchPeer(int64_t, int64_t, int64_t, int) {}
void forgetPeers(int64_t) {}

#endif

} // namespace

void xt_name_peer(int64_t communicator, int64_t process, const char *name) {
  Path &path = pathOf(communicator);
  std::lock_guard<std::mutex> guard(path.lock);
  path.names[process] = name;
}

void xt_watch_peer(int64_t communicator, int64_t process, int64_t pid, int32_t connection) {
  watchPeer(communicator, process, pid, connection);
}

void xt_peers_end(int64_t communicator) {
  Path &path = pathOf(communicator);
  std::lock_guard<std::mutex> guard(path.lock);
  path.isEnding = true;
}

void xt_forget_peers(int64_t communicator) {
  xt_peers_end(communicator);
  Path &path = pathOf(communicator);
  int isFinalized = 0;
  if (path.isPrepared && !path.isOver && !(mpiLibrary().is_finalized(&isFinalized), isFinalized))
    mpiLibrary().free_request(&path.comparison), path.isPrepared = false;
  forgetPeers(communicator);
}

int32_t xt_is_gone(int64_t communicator) {
  Path &path = pathOf(communicator);
  std::lock_guard<std::mutex> guard(path.lock);
  return path.isOver && (path.why == XT_GONE || path.why == XT_STUCK || path.why == XT_PATHS);
}
