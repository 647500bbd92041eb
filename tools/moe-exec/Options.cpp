//===- Options.cpp - the command line of moe-exec -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cstdio>
#include <cstring>

using namespace mlir::moe::exec;

static constexpr uint32_t kDefaultRepeats = 200;

static constexpr char kHelp[] = R"(usage: moe-exec BUNDLE [options]

Runs a layer that moe-compile has written, on a device of this machine. Needs
the bundle and the device's driver, and nothing of the compiler.

What to do:
  --list            print what the bundle holds: arguments, kernels, variants;
                    with --tokens the workspace too. Needs no device
  --outputs=DIR     write the results to DIR/0.npy, DIR/1.npy, ...
  --time[=N]        measure N calls (200): time on the device per call, calls
                    replayed back to back from a graph, and time that the
                    calling thread spends to launch one
  --check-twice     run again on results and workspace filled anew; the bits
                    must be the same
  --json            print the report as JSON; of the emulator with counts per
                    kernel: instructions by class, bytes, multiply-adds, waits
  --counts          print a table of what the emulator counted in one call
  --version         print which version this is

On what:
  --device=KIND     cuda (the default), or emulator: runs the bundle's PTX on
                    this machine's processors and reports what is wrong with it
  --emulator-seed=N order in which the emulator takes warps; default 0: in turns
  --ordinal=N       device number N of that kind; default 0
  --tokens=T        number of tokens; other extents follow
  --inputs=seed:N   random arguments, the same on every machine; default seed:0
  --inputs=DIR      arguments from DIR/0.npy, DIR/1.npy, ...
  --input=N:FILE    argument N from FILE, whatever --inputs says; may repeat

Examples:
  moe-exec layer.bundle --list --tokens=64
      shows which kernels 64 tokens take and how much workspace they need
  moe-exec layer.bundle --tokens=64 --check-twice --time
      runs the layer on random data and prints a summary of the results
  moe-run layer.mlir --tokens=64 --inputs=seed:7 --outputs=expected
  moe-exec layer.bundle --tokens=64 --inputs=seed:7 --outputs=found
      the same arguments here and there, so that the two folders compare

Arrays are .npy files in C order; bf16 as <u2 bit patterns. Results and
workspace hold NaN, or -1, before a run: what no kernel writes shows.

Exit status: 0 success, 1 error, 2 the second run gave other bits.
)";

void mlir::moe::exec::printHelp() { std::fputs(kHelp, stdout); }

std::string Options::inputs() const {
  return inputFolder.empty() ? "seed:" + std::to_string(seed) : inputFolder;
}

/// The whole text as a number within [0, max].
static uint64_t parseNumber(const std::string &option, const std::string &text,
                            uint64_t max) {
  uint64_t number = 0;
  bool fits = !text.empty();
  for (char c : text)
    fits = fits && c >= '0' && c <= '9' &&
           !__builtin_mul_overflow(number, uint64_t(10), &number) &&
           !__builtin_add_overflow(number, uint64_t(c - '0'), &number);
  if (!fits || number > max)
    throw Failure(option + " takes a number from 0 to " + std::to_string(max) +
                  ", but got '" + text + "'");
  return number;
}

namespace {
/// Splits "--name=value" and "--name value".
class ArgumentReader {
public:
  ArgumentReader(int argc, char **argv) : argc(argc), argv(argv) {}

  bool next() {
    if (++index >= argc)
      return false;
    name = argv[index];
    size_t equals =
        name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
    hasValue = equals != std::string::npos;
    attached = hasValue ? name.substr(equals + 1) : "";
    if (hasValue)
      name.resize(equals);
    return true;
  }
  std::string value() {
    if (hasValue)
      return attached;
    if (index + 1 >= argc)
      throw Failure(name + " needs a value; see --help");
    return argv[++index];
  }
  std::string valueOr(const std::string &other) const {
    return hasValue ? attached : other;
  }
  bool flag() const {
    if (hasValue)
      throw Failure(name + " takes no value");
    return true;
  }

  std::string name;

private:
  int argc;
  char **argv;
  int index = 0;
  bool hasValue = false;
  std::string attached;
};
} // namespace

static void parseInputFile(const std::string &text, Options &options) {
  size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size())
    throw Failure("--input=" + text + " is not of the form N:FILE.npy");
  size_t argument = parseNumber("--input", text.substr(0, colon), 1u << 16);
  options.inputFiles[argument] = text.substr(colon + 1);
}

static void parseInputs(const std::string &text, Options &options) {
  if (text.empty())
    throw Failure("--inputs takes a folder or seed:N");
  if (text.compare(0, 5, "seed:") == 0) {
    options.seed = parseNumber("--inputs=seed:", text.substr(5), UINT64_MAX);
    options.inputFolder.clear();
  } else {
    options.inputFolder = text;
  }
}

static void parseOption(ArgumentReader &reader, Options &options) {
  const std::string name = reader.name;
  if (name == "--help" || name == "-h")
    options.help = reader.flag();
  else if (name == "--version")
    options.version = reader.flag();
  else if (name == "--list")
    options.list = reader.flag();
  else if (name == "--json")
    options.json = reader.flag();
  else if (name == "--check-twice")
    options.checkTwice = reader.flag();
  else if (name == "--counts")
    options.counts = reader.flag();
  else if (name == "--emulator-seed")
    options.emulatorSeed = parseNumber(name, reader.value(), UINT64_MAX);
  else if (name == "--device")
    options.device = reader.value();
  else if (name == "--ordinal")
    options.ordinal =
        static_cast<int>(parseNumber(name, reader.value(), INT32_MAX));
  else if (name == "--tokens")
    options.tokens =
        static_cast<int64_t>(parseNumber(name, reader.value(), INT64_MAX));
  else if (name == "--inputs")
    parseInputs(reader.value(), options);
  else if (name == "--input")
    parseInputFile(reader.value(), options);
  else if (name == "--outputs")
    options.outputFolder = reader.value();
  else if (name == "--time")
    options.repeats = static_cast<uint32_t>(parseNumber(
        name, reader.valueOr(std::to_string(kDefaultRepeats)), 1000000));
  else if (name.size() > 1 && name[0] == '-')
    throw Failure("unknown option " + name + "; see --help");
  else if (options.bundle.empty())
    options.bundle = name;
  else
    throw Failure("one bundle at a time, but got " + options.bundle + " and " +
                  name);
}

Options mlir::moe::exec::parseOptions(int argc, char **argv) {
  Options options;
  ArgumentReader reader(argc, argv);
  while (reader.next())
    parseOption(reader, options);
  if (options.bundle.empty() && !options.help && !options.version)
    throw Failure("which bundle? See --help");
  if ((options.counts || options.emulatorSeed != 0) &&
      options.device != "emulator")
    throw Failure(std::string(options.counts ? "--counts" : "--emulator-seed") +
                  " goes with --device=emulator");
  return options;
}
