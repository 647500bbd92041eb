//===- CheckNesting.cpp - refuse text that overflows the parser -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Pipelines/CheckNesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Deeper than any program nests, far from what fits the stack.
constexpr int kMaxNesting = 1000;

/// The end of the string literal or comment that starts at `at`, or `at`.
static size_t skipText(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] == '\\')
      ++end;
    else if (text[end] == '"' || text[end] == '\n')
      return end;
  }
  return text.size();
}

LogicalResult moe::checkNesting(const llvm::MemoryBuffer &buffer) {
  StringRef text = buffer.getBuffer();
  if (text.starts_with("ML\xefR"))
    return success();
  int depth = 0, signs = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    at = skipText(text, at);
    if (at >= text.size())
      break;
    char c = text[at];
    // A chain of prefix signs nests as brackets do.
    if (c == '-')
      ++signs;
    else if (!llvm::isSpace(c))
      signs = 0;
    bool arrow = c == '>' && at > 0 && text[at - 1] == '-';
    bool comparison =
        (c == '<' || c == '>') && text.substr(at + 1).starts_with("=");
    if (arrow || comparison)
      continue;
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c))
      depth = std::max(depth - 1, 0);
    if (depth + signs <= kMaxNesting)
      continue;
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef(),
                                         /*RequiresNullTerminator=*/false),
        llvm::SMLoc());
    sources.PrintMessage(llvm::SMLoc::getFromPointer(text.data() + at),
                         llvm::SourceMgr::DK_Error,
                         "brackets or signs nest deeper than " +
                             llvm::Twine(kMaxNesting) +
                             " here; split the program");
    return failure();
  }
  return success();
}
