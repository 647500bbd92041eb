//===- NpyFile.cpp - the .npy format -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/NpyFile.h"

#include "NpyHeader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlir::moe {

static constexpr std::string_view kMagic("\x93NUMPY");
/// Data starts at a multiple of this.
static constexpr size_t kAlignment = 64;

/// Reads up to `bytes` bytes; fewer only at the end of the file. -1 on failure.
static int64_t readBytes(int descriptor, void *target, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    ssize_t count = ::read(descriptor, static_cast<char *>(target) + done,
                           static_cast<size_t>(bytes - done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return -1;
    if (count == 0)
      break;
    done += count;
  }
  return done;
}

static bool writeBytes(int descriptor, const void *source, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    ssize_t count =
        ::write(descriptor, static_cast<const char *>(source) + done,
                static_cast<size_t>(bytes - done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    done += count;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

NpyReader::~NpyReader() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::string NpyReader::open(const std::string &file, ElementKind wanted) {
  path = file;
  kind = wanted;
  // A pipe without a writer must not block.
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0)
    return path + ": " + std::strerror(errno);
  // A device or a pipe may never end.
  if (!S_ISREG(status.st_mode))
    return path + ": not a regular file";
  end = status.st_size;
  std::string problem = readHeader();
  return problem.empty() ? problem : path + ": " + problem;
}

std::string NpyReader::readHeader() {
  // Magic, two bytes of version, two or four bytes of length.
  unsigned char prefix[12] = {};
  int64_t got = readBytes(descriptor, prefix, 10);
  if (got < 10 || std::memcmp(prefix, kMagic.data(), kMagic.size()) != 0)
    return "not a .npy file";
  unsigned major = prefix[6];
  if (major < 1 || major > 3)
    return "unknown .npy version " + std::to_string(major);
  start = 10;
  int64_t length = prefix[8] | prefix[9] << 8;
  if (major > 1) {
    start = 12;
    if (readBytes(descriptor, prefix + 10, 2) < 2)
      return "the file ends inside its header";
    length |= static_cast<int64_t>(prefix[10]) << 16 |
              static_cast<int64_t>(prefix[11]) << 24;
  }
  if (end - start < length)
    return "the file ends inside its header";
  std::string text(static_cast<size_t>(length), '\0');
  if (readBytes(descriptor, &text[0], length) != length)
    return "the file ends inside its header";
  start += length;
  return parseHeader(text);
}

std::string NpyReader::parseHeader(const std::string &text) {
  NpyHeader header;
  if (!parseNpyHeader(text, header))
    return "malformed header";
  extents = std::move(header.shape);
  if (header.fortranOrder && extents.size() > 1)
    return "the array is in Fortran order; save numpy.ascontiguousarray of it";
  if (!npyStoredKind(header.descr, kind, stored))
    return "requires elements of " + std::string(elementKindName(kind)) +
           ", stored as " + std::string(npyDescr(kind)) + ", but got " +
           header.descr;
  return "";
}

std::string NpyReader::read(void *target) {
  int64_t bytes;
  if (!bytesOfArray(stored, view(), bytes) || bytes != end - start)
    return path + ": requires " + std::to_string(bytes) + " bytes for " +
           describeArray(stored, view()) + " behind the header, but got " +
           std::to_string(end - start);
  if (stored != kind) {
    std::string problem = convert(target, bytes / elementBytes(stored));
    return problem.empty() ? problem : path + ": " + problem;
  }
  if (readBytes(descriptor, target, bytes) != bytes)
    return path + ": cannot be read to its end";
  return "";
}

/// Integers of another width.
std::string NpyReader::convert(void *target, int64_t elements) {
  char chunk[8192];
  int64_t size = elementBytes(stored);
  int64_t perChunk = static_cast<int64_t>(sizeof(chunk)) / size;
  for (int64_t done = 0; done < elements;) {
    int64_t count = std::min(perChunk, elements - done);
    if (readBytes(descriptor, chunk, count * size) != count * size)
      return "cannot be read to its end";
    for (int64_t i = 0; i < count; ++i, ++done) {
      int64_t value = loadInt(stored, chunk, i);
      storeInt(kind, target, done, value);
      if (loadInt(kind, target, done) != value)
        return "element " + std::to_string(done) + " of an array of " +
               describeArray(stored, view()) + " is not representable in " +
               std::string(elementKindName(kind));
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string writeNpyFile(const std::string &path, ElementKind kind,
                         ShapeView shape, const void *data) {
  int64_t bytes;
  if (!bytesOfArray(kind, shape, bytes))
    return path + ": an array of " + describeArray(kind, shape) +
           " is too large";
  std::string text = npyHeaderText(npyDescr(kind), shape);
  // Magic, version and length take 10 bytes; a line feed ends the header.
  size_t total =
      (10 + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - 10 - text.size() - 1, ' ');
  text.push_back('\n');
  std::string header(kMagic);
  header += {1, 0, static_cast<char>(text.size() & 0xff),
             static_cast<char>(text.size() >> 8)};
  header += text;

  int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return path + ": " + std::strerror(errno);
  bool written = writeBytes(descriptor, header.data(),
                            static_cast<int64_t>(header.size())) &&
                 writeBytes(descriptor, data, bytes);
  int error = errno;
  if (::close(descriptor) != 0 && written) {
    written = false;
    error = errno;
  }
  return written ? "" : path + ": " + std::strerror(error);
}

} // namespace mlir::moe
