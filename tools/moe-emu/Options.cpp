//===- Options.cpp - the command line of moe-emu -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

using namespace mlir::moe::emu;

static constexpr char kHelp[] = R"(usage: moe-emu KERNEL.ptx [options]

Runs a kernel of a PTX text on this machine's processors and reports what is
wrong with it: no GPU, no driver, nothing of CUDA is needed.

The launch:
  --entry=NAME      which entry; not needed where the text has one
  --grid=X[,Y,Z]    blocks of the grid (1)
  --block=X[,Y,Z]   threads of a block (what the entry asks for)
  --cluster=X[,Y,Z] blocks of a cluster (what the entry asks for)
  --shared=BYTES    dynamic shared memory of a block (0)

Memory and parameters:
  --buffer=NAME:TYPE:VALUES
                    global memory. TYPE is f64, f32, f16, bf16, f8E4M3FN,
                    f8E5M2, i64, i32, i16 or i8; VALUES is FILE.npy, or
                    new=N, zero=N, random=N: N elements that nobody wrote,
                    zeros, or floats from -0.5 to 0.5
  --map=NAME:BUFFER:dims=D0,D1,..:strides=S1,..:box=B0,B1,..[:swizzle=BYTES]
                    a tensor map of a buffer, the innermost dimension first;
                    strides in bytes, of dimensions 1 and up
  --arg=VALUE       one for each parameter, in order: BUFFER, BUFFER+BYTES, MAP,
                    null, or a number such as 5, -1 or 0.5 (a float where it has
                    a point)
  --save=BUFFER:FILE.npy
                    writes a buffer after the run
  --contract=BUFFER:KEY:...
                    what the kernel must do to a buffer: no-read, no-write, once
                    (write no byte twice), complete (write every byte),
                    untouched=FIRST-LAST[,..] (leave elements alone: neither read
                    nor write them), pieces=N (report the bytes that it reads of
                    each of N equal pieces)

How:
  --no-checks       only bounds and alignment: faster
  --seed=N          another order of warps for every N; 0, the default: in turn
  --threads=N       host threads; default: all processors
  --list            print the entries of the text and their parameters
  --json            print the report as JSON

The status is 0 where nothing is wrong, 2 where the report has something, and 1
where the kernel cannot be run.
)";

void mlir::moe::emu::printHelp() { std::fputs(kHelp, stdout); }

int64_t mlir::moe::emu::parseNumber(const std::string &what,
                                    const std::string &text, int64_t least,
                                    int64_t most) {
  errno = 0;
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0' || errno != 0 || value < least ||
      value > most)
    throw Failure(what + " takes a number from " + std::to_string(least) +
                  " to " + std::to_string(most) + ", but got \"" + text + "\"");
  return value;
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != text.npos;
       begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

static void parseExtents(const std::string &name, const std::string &text,
                         uint32_t extents[3]) {
  std::vector<std::string> parts = split(text, ',');
  if (parts.size() > 3)
    throw Failure(name + " takes up to three numbers");
  for (size_t i = 0; i < 3; ++i)
    extents[i] =
        i < parts.size()
            ? static_cast<uint32_t>(parseNumber(name, parts[i], 0, INT32_MAX))
            : 1;
}

static std::vector<uint64_t> parseList(const std::string &name,
                                       const std::string &text) {
  std::vector<uint64_t> list;
  for (const std::string &part : split(text, ','))
    list.push_back(
        static_cast<uint64_t>(parseNumber(name, part, 0, INT64_MAX)));
  return list;
}

static BufferOption parseBuffer(const std::string &text) {
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3)
    throw Failure("--buffer=" + text + " is not of the form NAME:TYPE:VALUES");
  return {parts[0], parts[1], parts[2]};
}

static MapOption parseMap(const std::string &text) {
  std::vector<std::string> parts = split(text, ':');
  MapOption map;
  if (parts.size() < 2)
    throw Failure("--map=" + text + " is not of the form NAME:BUFFER:...");
  map.name = parts[0];
  map.buffer = parts[1];
  for (size_t i = 2; i < parts.size(); ++i) {
    size_t equals = parts[i].find('=');
    std::string key = parts[i].substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    if (key == "dims")
      map.extents = parseList("--map: dims", value);
    else if (key == "strides")
      map.strides = parseList("--map: strides", value);
    else if (key == "box")
      map.box = parseList("--map: box", value);
    else if (key == "swizzle")
      map.swizzle =
          static_cast<uint64_t>(parseNumber("--map: swizzle", value, 0, 128));
    else
      throw Failure("--map: \"" + key + "\" is not known");
  }
  return map;
}

/// "3-5,9": pairs of the first and of the one past the last.
static std::vector<std::pair<uint64_t, uint64_t>>
parseRanges(const std::string &text) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const std::string &part : split(text, ',')) {
    std::vector<std::string> ends = split(part, '-');
    if (ends.size() > 2)
      throw Failure("--contract: untouched takes FIRST-LAST, but got \"" +
                    part + "\"");
    int64_t first =
        parseNumber("--contract: untouched", ends[0], 0, INT64_MAX - 1);
    int64_t last =
        parseNumber("--contract: untouched", ends.back(), first, INT64_MAX - 1);
    ranges.emplace_back(first, last + 1);
  }
  return ranges;
}

static ContractOption parseContract(const std::string &text) {
  std::vector<std::string> parts = split(text, ':');
  ContractOption contract;
  contract.buffer = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    size_t equals = parts[i].find('=');
    std::string key = parts[i].substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : parts[i].substr(equals + 1);
    if (key == "no-read")
      contract.mayRead = false;
    else if (key == "no-write")
      contract.mayWrite = false;
    else if (key == "once")
      contract.once = true;
    else if (key == "complete")
      contract.complete = true;
    else if (key == "untouched")
      contract.untouched = parseRanges(value);
    else if (key == "pieces")
      contract.pieces = static_cast<uint32_t>(
          parseNumber("--contract: pieces", value, 1, 1 << 20));
    else
      throw Failure("--contract: \"" + key +
                    "\" is not known: no-read, no-write, once, complete, "
                    "untouched=.. or pieces=N");
  }
  return contract;
}

static SaveOption parseSave(const std::string &text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw Failure("--save=" + text + " is not of the form BUFFER:FILE.npy");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

/// An option with a value; false where the name is not known.
static bool parseValued(const std::string &name, const std::string &value,
                        Options &options) {
  if (name == "--entry")
    options.entry = value;
  else if (name == "--grid")
    parseExtents(name, value, options.grid);
  else if (name == "--block")
    parseExtents(name, value, options.block);
  else if (name == "--cluster")
    parseExtents(name, value, options.cluster);
  else if (name == "--shared")
    options.sharedBytes =
        static_cast<uint32_t>(parseNumber(name, value, 0, 1 << 24));
  else if (name == "--buffer")
    options.buffers.push_back(parseBuffer(value));
  else if (name == "--map")
    options.maps.push_back(parseMap(value));
  else if (name == "--arg")
    options.arguments.push_back(value);
  else if (name == "--save")
    options.saves.push_back(parseSave(value));
  else if (name == "--contract")
    options.contracts.push_back(parseContract(value));
  else if (name == "--seed")
    options.seed =
        static_cast<uint64_t>(parseNumber(name, value, 0, INT64_MAX));
  else if (name == "--threads")
    options.threads = static_cast<unsigned>(parseNumber(name, value, 0, 1024));
  else
    return false;
  return true;
}

static bool parseFlag(const std::string &name, Options &options) {
  if (name == "--help" || name == "-h")
    options.help = true;
  else if (name == "--list")
    options.list = true;
  else if (name == "--json")
    options.json = true;
  else if (name == "--no-checks")
    options.checks = false;
  else
    return false;
  return true;
}

Options mlir::moe::emu::parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    if (text.compare(0, 1, "-") != 0) {
      if (!options.ptx.empty())
        throw Failure("there is more than one PTX file: " + options.ptx +
                      " and " + text);
      options.ptx = text;
      continue;
    }
    if (parseFlag(text, options))
      continue;
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    bool attached = equals != std::string::npos;
    if (!attached && i + 1 >= argc)
      throw Failure(name + " is not known or lacks a value; see --help");
    std::string value = attached ? text.substr(equals + 1) : argv[++i];
    if (!parseValued(name, value, options))
      throw Failure("option " + name + " is not known; see --help");
  }
  if (options.ptx.empty() && !options.help)
    throw Failure("which PTX file? See --help");
  return options;
}
