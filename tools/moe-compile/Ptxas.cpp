//===- Ptxas.cpp - the assembler of the CUDA toolkit ------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::moe;
using llvm::StringRef;

std::string moe::findPtxas() {
  llvm::SmallVector<std::string> folders;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> root = llvm::sys::Process::GetEnv(name);
        root && !root->empty())
      folders.push_back(*root + "/bin");
  for (StringRef folder : folders) {
    llvm::SmallString<128> file(folder);
    llvm::sys::path::append(file, "ptxas");
    if (llvm::sys::fs::can_execute(file))
      return file.str().str();
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  StringRef usual = "/usr/local/cuda/bin/ptxas";
  return llvm::sys::fs::can_execute(usual) ? usual.str() : "";
}

/// Runs a program and returns its exit status and what it printed.
static llvm::Expected<std::pair<int, std::string>>
runProgram(llvm::ArrayRef<StringRef> command) {
  llvm::SmallString<128> log;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("moe-ptxas", "log", log))
    return llvm::createStringError(code, "cannot make a temporary file");
  llvm::FileRemover remover(log);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(command.front(), command,
                                         /*Env=*/std::nullopt, redirects,
                                         /*SecondsToWait=*/300,
                                         /*MemoryLimit=*/0, &error);
  auto text = llvm::MemoryBuffer::getFile(log);
  std::string output = text ? (*text)->getBuffer().str() : "";
  if (status < 0)
    return llvm::createStringError("cannot run " + command.front() + ": " +
                                   error);
  return std::pair(status, output);
}

namespace {
/// Reads what `ptxas -v` prints, line by line.
class ReportReader {
public:
  explicit ReportReader(PtxasReport &report) : report(report) {}

  void read(StringRef line);

private:
  /// The number at group `i` of the last match.
  int64_t number(unsigned i) const {
    int64_t value = 0;
    (void)groups[i].getAsInteger(10, value);
    return value;
  }

  PtxasReport &report;
  std::string kernel;
  llvm::SmallVector<StringRef> groups;
  llvm::Regex entry{"Compiling entry function '([^']+)'"};
  llvm::Regex memory{"([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, "
                     "([0-9]+) bytes spill loads"};
  llvm::Regex registers{"Used ([0-9]+) registers"};
  llvm::Regex shared{"([0-9]+) bytes smem"};
  llvm::Regex slow{"\\(C75[0-9][0-9]\\).*"};
};
} // namespace

void ReportReader::read(StringRef line) {
  if (entry.match(line, &groups))
    kernel = groups[1].str();
  if (slow.match(line, &groups)) {
    // These come before the line that opens the kernel, and name it.
    report.warnings.push_back("ptxas: " + groups[0].rtrim().str());
    return;
  }
  if (kernel.empty())
    return;
  KernelUse &use = report.kernels[kernel];
  if (memory.match(line, &groups)) {
    use.stackBytes = number(1);
    use.spillBytes = number(2) + number(3);
    if (use.spillBytes || use.stackBytes)
      report.warnings.push_back(
          kernel + " spills registers to memory: " + groups[0].str());
  }
  if (registers.match(line, &groups))
    use.registers = number(1);
  if (shared.match(line, &groups))
    use.staticShared = number(1);
}

static llvm::Expected<std::string> versionOf(StringRef ptxas) {
  auto done = runProgram({ptxas, "--version"});
  if (!done)
    return done.takeError();
  llvm::SmallVector<StringRef> groups;
  if (llvm::Regex("V([0-9][0-9.]*)").match(done->second, &groups))
    return groups[1].str();
  return llvm::createStringError(ptxas + " --version prints no version");
}

llvm::Expected<PtxasReport> moe::runPtxas(StringRef ptxas, StringRef arch,
                                          StringRef ptx, StringRef cubin) {
  PtxasReport report;
  llvm::Expected<std::string> version = versionOf(ptxas);
  if (!version)
    return version.takeError();
  report.version = *version;
  std::string archFlag = "-arch=" + arch.str();
  auto done = runProgram({ptxas, archFlag, "-O3", "-v", ptx, "-o", cubin});
  if (!done)
    return done.takeError();
  auto [status, output] = *done;
  if (status != 0)
    return llvm::createStringError("ptxas " + report.version +
                                   " refuses the kernels:\n" + output);
  ReportReader reader(report);
  llvm::SmallVector<StringRef> lines;
  llvm::SplitString(output, lines, "\n");
  for (StringRef line : lines)
    reader.read(line);
  return report;
}
