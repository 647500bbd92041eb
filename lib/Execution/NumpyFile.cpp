//===- NumpyFile.cpp - arrays in .npy files -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/NumpyFile.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::moe;

static constexpr StringLiteral kMagic("\x93NUMPY");
/// NumPy's own limit on the number of dimensions.
static constexpr size_t kMaxRank = 64;

namespace {
/// What the header of a file says.
struct Header {
  StringRef descr;
  bool fortranOrder = false;
  SmallVector<int64_t> shape;
  /// The bytes behind the header.
  StringRef contents;
};

/// Parses the header's text, a Python dictionary with the keys descr,
/// fortran_order and shape. Every method returns false on malformed text.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  bool parse(Header &header) {
    bool descr = false, order = false, shape = false;
    if (!consume('{'))
      return false;
    while (!consume('}')) {
      StringRef key;
      if (!parseString(key) || !consume(':'))
        return false;
      if (key == "descr" && !descr)
        descr = parseString(header.descr);
      else if (key == "fortran_order" && !order)
        order = parseBool(header.fortranOrder);
      else if (key == "shape" && !shape)
        shape = parseShape(header.shape);
      else
        return false;
      if (!consume(',') && !text.ltrim().starts_with("}"))
        return false;
    }
    return descr && order && shape && text.trim().empty();
  }

private:
  bool consume(char c) {
    text = text.ltrim();
    return text.consume_front(StringRef(&c, 1));
  }
  bool parseString(StringRef &value) {
    if (!consume('\''))
      return false;
    size_t end = text.find('\'');
    if (end == StringRef::npos)
      return false;
    value = text.take_front(end);
    text = text.drop_front(end + 1);
    return true;
  }
  bool parseBool(bool &value) {
    text = text.ltrim();
    value = text.starts_with("True");
    return text.consume_front("True") || text.consume_front("False");
  }
  bool parseShape(SmallVectorImpl<int64_t> &shape) {
    if (!consume('('))
      return false;
    while (!consume(')')) {
      int64_t extent;
      text = text.ltrim();
      if (text.consumeInteger(10, extent) || extent < 0 ||
          shape.size() == kMaxRank)
        return false;
      shape.push_back(extent);
      if (!consume(',') && !text.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef text;
};
} // namespace

/// The type codes a file may have for arrays of `kind`; the first is written.
static SmallVector<StringRef, 3> descrsOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return {"<f8"};
  case ElementKind::F32:
    return {"<f4"};
  case ElementKind::F16:
    return {"<f2"};
  case ElementKind::BF16:
    return {"<u2", "|V2", "<V2"};
  case ElementKind::F8E4M3FN:
  case ElementKind::F8E5M2:
    return {"|u1", "|V1"};
  case ElementKind::I64:
    return {"<i8"};
  case ElementKind::I32:
    return {"<i4"};
  case ElementKind::I16:
    return {"<i2"};
  case ElementKind::I8:
    return {"|i1"};
  case ElementKind::I1:
    return {"|b1"};
  }
  llvm_unreachable("all kinds are listed");
}

/// The kind in which the file's elements are read before they become `wanted`.
static std::optional<ElementKind> storedKind(StringRef descr,
                                             ElementKind wanted) {
  if (llvm::is_contained(descrsOf(wanted), descr))
    return wanted;
  if (moe::isFloat(wanted) || wanted == ElementKind::I1)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ElementKind>>(descr)
      .Case("<i8", ElementKind::I64)
      .Case("<i4", ElementKind::I32)
      .Case("<i2", ElementKind::I16)
      .Case("|i1", ElementKind::I8)
      .Default(std::nullopt);
}

/// Splits the file into header and contents.
static llvm::Error readHeader(StringRef file, Header &header) {
  if (!file.consume_front(kMagic) || file.size() < 4)
    return llvm::createStringError("not a .npy file");
  unsigned major = static_cast<uint8_t>(file[0]);
  if (major < 1 || major > 3)
    return llvm::createStringError("unknown .npy version %u", major);
  size_t lengthBytes = major == 1 ? 2 : 4;
  file = file.drop_front(2);
  if (file.size() < lengthBytes)
    return llvm::createStringError("the file ends inside its header");
  size_t length = major == 1 ? llvm::support::endian::read16le(file.data())
                             : llvm::support::endian::read32le(file.data());
  file = file.drop_front(lengthBytes);
  if (file.size() < length)
    return llvm::createStringError("the file ends inside its header");
  if (!HeaderParser(file.take_front(length)).parse(header))
    return llvm::createStringError("malformed header");
  header.contents = file.drop_front(length);
  return llvm::Error::success();
}

static llvm::Expected<Array> readContents(StringRef file, ElementKind kind) {
  Header header;
  if (llvm::Error error = readHeader(file, header))
    return error;
  if (header.fortranOrder && header.shape.size() > 1)
    return llvm::createStringError(
        "the array is in Fortran order; save numpy.ascontiguousarray of it");
  std::optional<ElementKind> stored = storedKind(header.descr, kind);
  if (!stored)
    return llvm::createStringError("requires elements of " + elementName(kind) +
                                   ", stored as " + descrsOf(kind).front() +
                                   ", but got " + header.descr);
  llvm::Expected<Array> array = Array::create(*stored, header.shape);
  if (!array)
    return array;
  if (static_cast<uint64_t>(array->bytes()) != header.contents.size())
    return llvm::createStringError("requires " + llvm::Twine(array->bytes()) +
                                   " bytes for " + describe(*array) +
                                   " behind the header, but got " +
                                   llvm::Twine(header.contents.size()));
  if (!header.contents.empty())
    std::memcpy(array->data(), header.contents.data(), header.contents.size());
  return *stored == kind ? std::move(array) : array->convert(kind);
}

llvm::Expected<Array> moe::readNpy(StringRef path, ElementKind kind) {
  // A device or a pipe may never end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return llvm::createStringError(path + ": not a regular file");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError(path + ": " + file.getError().message());
  llvm::Expected<Array> array = readContents((*file)->getBuffer(), kind);
  if (!array)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(array.takeError()));
  return array;
}

llvm::Error moe::writeNpy(StringRef path, const Array &array) {
  std::string header;
  llvm::raw_string_ostream text(header);
  text << "{'descr': '" << descrsOf(array.kind()).front()
       << "', 'fortran_order': False, 'shape': (";
  llvm::interleaveComma(array.shape(), text);
  text << (array.rank() == 1 ? ",), }" : "), }");
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  size_t total = llvm::alignTo(10 + header.size() + 1, 64);
  header.append(total - 10 - header.size() - 1, ' ');
  header.push_back('\n');

  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return llvm::createStringError(path + ": " + error.message());
  char prefix[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                    static_cast<char>(header.size() >> 8)};
  os << kMagic << StringRef(prefix, sizeof(prefix)) << header;
  os << StringRef(static_cast<const char *>(array.data()), array.bytes());
  os.close();
  if (!os.has_error())
    return llvm::Error::success();
  error = os.error();
  os.clear_error();
  return llvm::createStringError(path + ": " + error.message());
}

std::string moe::npyPath(StringRef folder, unsigned number) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, llvm::Twine(number) + ".npy");
  return std::string(path);
}
