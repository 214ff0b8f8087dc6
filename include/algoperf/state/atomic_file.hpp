// AtomicFile: a file that appears complete or not at all. It is written to <path>.tmp and then renamed to its path. A
// killed process leaves at most that temporary file, which the next writer reuses; a writer holds a lock on it. If the
// path is a symbolic link, the file that it points to is replaced and the link stays. Devices, pipes and folders are
// rejected. The file gets the permissions of the file that it replaces.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "../core/error.hpp"

namespace algoperf {

class AtomicFile {
 public:
  // Throws Error if the file cannot be written (the message has the path and the system's reason), if another writer
  // holds the lock, or if the path exists and is not a regular file.
  explicit AtomicFile(std::string path)
      : path_(std::move(path)), target_(behind_links(path_)), temporary_(target_ + ".tmp") {
    for (int attempt = 0; file_ == nullptr; ++attempt) open(attempt < 100);
  }
  ~AtomicFile() {
    if (file_ == nullptr) return;
    std::remove(temporary_.c_str());  // while this object holds the lock
    std::fclose(file_);
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t n) {
    const bool written = std::fwrite(data, 1, n, file_) == n;
    require(written, path_, ": cannot be written: ", std::strerror(errno));
  }
  void write(const std::string& text) { write(text.data(), text.size()); }

  // Flushes the data to disk, then renames the temporary file to its path.
  void commit() {
    struct stat replaced {};
    if (stat(target_.c_str(), &replaced) == 0) {
      const bool kept = fchmod(fileno(file_), replaced.st_mode & 0777) == 0;
      require(kept, path_, ": cannot be given the permissions of the file that it replaces: ", std::strerror(errno));
    }
    const bool flushed = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
    require(flushed, path_, ": cannot be written: ", std::strerror(errno));
    const bool renamed = std::rename(temporary_.c_str(), target_.c_str()) == 0;
    require(renamed, path_, ": cannot be renamed into place: ", std::strerror(errno));
    std::fclose(file_);  // also releases the lock
    file_ = nullptr;
  }

 private:
  // Opens, locks and empties the temporary file. If another writer renamed or removed the file in the meantime, leaves
  // file_ null if `again` is true (for another attempt), and otherwise throws Error.
  void open(bool again) {
    const int descriptor = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    require(descriptor >= 0, path_, ": cannot be written: ", std::strerror(errno));
    const bool busy =
        flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;  // some file systems do not support locks
    struct stat mine {
    }, named{};
    const bool ours = !busy && fstat(descriptor, &mine) == 0 && stat(temporary_.c_str(), &named) == 0 &&
                      mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
    const bool empty = ours && ftruncate(descriptor, 0) == 0;
    if (empty) file_ = fdopen(descriptor, "wb");
    if (file_ != nullptr) return;
    const int reason = errno;
    ::close(descriptor);
    require(!busy, path_, ": is being written by another writer, which holds a lock on ", temporary_);
    require(again && !ours, path_, ": cannot be written: ", std::strerror(reason));
  }

  // Returns the location of the file: `path` with symbolic links followed; the last may point to a file that does not
  // exist yet.
  static std::string behind_links(const std::string& path) {
    struct stat there {
    }, found{};
    const bool exists = stat(path.c_str(), &there) == 0;
    require(!exists || S_ISREG(there.st_mode), path, ": is not a regular file, expected a regular file or none");
    std::string target = path;
    char link[4096];
    int links = 0;
    for (; lstat(target.c_str(), &found) == 0 && S_ISLNK(found.st_mode); ++links) {
      const ssize_t length = readlink(target.c_str(), link, sizeof link);
      require(length > 0 && links < 40, path, ": cannot be written: ", std::strerror(length > 0 ? ELOOP : errno));
      const std::size_t folder = link[0] == '/' ? 0 : target.rfind('/') + 1;  // 0 if there is no '/'
      target.replace(folder, std::string::npos, link, static_cast<std::size_t>(length));
    }
    // A path through /proc/self/fd may refer to an open file that has no name. The check is repeated, because another
    // writer may be renaming its file.
    bool same = !exists || links == 0;
    for (int attempt = 0; !same && attempt < 100; ++attempt)
      same = stat(path.c_str(), &there) == 0 && lstat(target.c_str(), &found) == 0 && found.st_ino == there.st_ino &&
             found.st_dev == there.st_dev;
    require(same, path, ": is an open file without a name, expected a file that can be replaced");
    return target;
  }

  std::string path_, target_, temporary_;
  std::FILE* file_ = nullptr;
};

// Writes a whole file, or throws Error and leaves an existing one unchanged.
inline void write_file(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace algoperf
