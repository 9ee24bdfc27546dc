#include "io/resume.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "io/atomic_file.h"
#include "io/line_reader.h"
#include "io/ordered_output.h"
#include "io/row_parser.h"

namespace rewardloop {
namespace {

constexpr size_t kHashBlockBytes = size_t{1} << 20;

std::string Shown(const Json* value) {
  if (!value) return "nothing";
  std::string text = value->Dump();
  if (text.size() > 200) text = text.substr(0, 197) + "...";
  return text;
}

// The first entry in which the two differ, one level down: "config.scorer: was "a", is "b"". Empty
// when there is none.
std::string FirstDifference(const std::string& name, const Json* then, const Json* now) {
  if (then && now && then->is_object() && now->is_object()) {
    for (const auto& [key, value] : now->AsObject()) {
      const std::string difference = FirstDifference(name + "." + key, then->Find(key), &value);
      if (!difference.empty()) return difference;
    }
    for (const auto& [key, value] : then->AsObject()) {
      if (!now->Find(key)) return name + "." + key + " was " + Shown(&value) + ", is nothing";
    }
    return "";
  }
  if (then && now && *then == *now) return "";
  return name + " was " + Shown(then) + ", is " + Shown(now);
}

Result<Json> ReadSidecar(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(path + ": cannot be opened: " + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  auto parsed = Json::Parse(text.str());
  if (!parsed.ok()) return DataLoss(path + ":" + parsed.status().message());
  return parsed;
}

bool HasScore(const Json& columns) {
  const Json* status = columns.Find("status");
  const Json* score = columns.Find("score");
  return status && *status == Json("scored") && score && score->is_number();
}

}  // namespace

std::string SidecarPath(const std::string& output) { return output + ".rewardloop.json"; }

Result<Json> FingerprintFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NotFound(path + ": cannot be opened: " + std::strerror(errno));
  Hash128 hash;
  std::string block(kHashBlockBytes, '\0');
  int64_t bytes = 0;
  size_t filled = 0;
  while (true) {
    const ssize_t count = ::read(fd, block.data() + filled, block.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      ::close(fd);
      return InvalidArgument(path + ": cannot be read: " + std::strerror(error));
    }
    filled += static_cast<size_t>(count);
    bytes += count;
    if (filled == block.size() || count == 0) {
      // Whole blocks whatever sizes the reads had, so that the same bytes give the same hash.
      hash.Add(std::string_view(block.data(), filled));
      filled = 0;
    }
    if (count == 0) break;
  }
  ::close(fd);
  const Digest digest = hash.Finish();
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(digest[0]),
                static_cast<unsigned long long>(digest[1]));
  return Json::MakeObject({{"bytes", bytes}, {"hash", text}});
}

Status CheckSidecar(const std::string& output, const Json& now) {
  const std::string path = SidecarPath(output);
  const auto then = ReadSidecar(path);
  const char* const hint = "run without --resume to start over, or write to another file";
  if (!then.ok()) {
    return InvalidArgument(output + ": cannot be resumed: " + then.status().message(), hint);
  }
  for (const char* const key : {"schema", "input", "config", "scorers", "timing"}) {
    const std::string difference = FirstDifference(key, then->Find(key), now.Find(key));
    if (!difference.empty()) {
      return InvalidArgument(
          output + ": cannot be resumed, it comes from another run: " + difference, hint);
    }
  }
  return Status();
}

Result<DoneRows> ReadDoneRows(const std::string& output, const std::vector<std::string>& columns,
                              const std::function<void(const DoneRow&)>& row,
                              const std::function<bool(const DoneRow&)>& keep) {
  std::vector<std::string> wanted = {"item_id", "status", "score"};
  wanted.insert(wanted.end(), columns.begin(), columns.end());
  RowParser parser(std::move(wanted), {});
  DoneRows done;
  int64_t line_number = 0;
  bool rewrite = false;
  const auto take = [&](int64_t offset, std::string_view line) -> Status {
    ++line_number;
    const std::string where = output + ":" + std::to_string(line_number) + ":";
    std::string text;
    text.reserve(line.size() + kLinePadding);
    text.assign(line);
    DoneRow kept;
    bool unused;
    if (const Status parsed = parser.Parse(text, &kept.columns, &unused); !parsed.ok()) {
      return DataLoss(where + parsed.message(), "this line is not a row that rewardloop wrote");
    }
    const Json* id = kept.columns.Find("item_id");
    if (!id || !id->is_string())
      return DataLoss(where + "1: the row has no item_id, so rewardloop did not write it");
    kept.item_id = id->AsString();
    if (!HasScore(kept.columns) || (keep && !keep(kept))) {
      rewrite = true;
      ++done.dropped;
      return Status();
    }
    const uint32_t index = static_cast<uint32_t>(done.offsets.size());
    if (done.ordinals.Insert(kept.item_id, index) != IdTable::kAbsent) {
      rewrite = true;  // the same row twice: one is enough
      return Status();
    }
    done.offsets.push_back(offset);
    row(kept);
    return Status();
  };
  RL_RETURN_IF_ERROR(ForEachWholeLine(output, take, &done.bytes));
  if (!rewrite) return done;

  RL_RETURN_IF_ERROR(RewriteLines(output, done.offsets));
  size_t next = 0;
  const auto renumber = [&](int64_t offset, std::string_view) -> Status {
    if (next < done.offsets.size()) done.offsets[next++] = offset;
    return Status();
  };
  RL_RETURN_IF_ERROR(ForEachWholeLine(output, renumber, &done.bytes));
  return done;
}

}  // namespace rewardloop
