//===- moe-run.cpp - execute a function and compare executions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "moe/Execution/Device.h"
#include "moe/Execution/NumpyFile.h"
#include "moe/Execution/ShapeSolver.h"
#include "moe/MoE/MoEDialect.h"
#include "moe/MoE/UncountedExperts.h"
#include "moe/Pipelines/CheckNesting.h"
#include "moe/Pipelines/FindFunction.h"
#include "moe/Pipelines/Registration.h"
#include "moe/Reference/Reference.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>

using namespace mlir;
using namespace mlir::moe;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static constexpr int kError = 1;
static constexpr int kDisagreement = 2;

namespace {
struct Options {
  cl::OptionCategory category{"moe-run options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"),
                            cl::init("-"), cl::cat(category)};
  cl::opt<std::string> function{
      "function", cl::value_desc("name"), cl::cat(category),
      cl::desc("Function to run. Default: the only public one, else @layer")};
  cl::opt<std::string> device{
      "device", cl::value_desc("name"), cl::init("reference"),
      cl::cat(category),
      cl::desc("What runs it: reference (the definition of the ops, slow), cpu "
               "(compiled), emulator (the PTX for a GPU, executed and checked "
               "on this machine's processors) or cuda (compiled, on the first "
               "NVIDIA GPU). Default: reference")};
  cl::opt<std::string> compare{
      "compare", cl::value_desc("name"), cl::cat(category),
      cl::desc("Run this device as well and compare the results. The reference "
               "then keeps bf16 and f16 intermediates in f32")};
  cl::opt<int64_t> tokens{
      "tokens", cl::value_desc("T"), cl::init(-1), cl::cat(category),
      cl::desc("Number of tokens; other dynamic extents follow from the ops")};
  cl::opt<std::string> inputs{
      "inputs", cl::value_desc("DIR|seed:N"), cl::init("seed:0"),
      cl::cat(category),
      cl::desc("Arguments from DIR/0.npy, DIR/1.npy, ..., or random by a seed. "
               "Default: seed:0")};
  cl::list<std::string> input{
      "input", cl::value_desc("N:FILE.npy"), cl::cat(category),
      cl::desc("Argument N from a file, whatever --inputs says; may repeat")};
  cl::opt<std::string> saveInputs{
      "save-inputs", cl::value_desc("DIR"), cl::cat(category),
      cl::desc("Write the arguments to DIR/0.npy, DIR/1.npy, ...")};
  cl::opt<std::string> outputs{
      "outputs", cl::value_desc("DIR"), cl::cat(category),
      cl::desc("Write the results to DIR/0.npy, DIR/1.npy, ...")};
  cl::opt<bool> json{"json", cl::cat(category),
                     cl::desc("Print the report as JSON; of the emulator with "
                              "counts per kernel: instructions by class, "
                              "bytes, multiply-adds, waits")};
  cl::opt<bool> counts{"counts", cl::cat(category),
                       cl::desc("Print a table of what the emulator counted")};
  cl::opt<uint64_t> emulatorSeed{
      "emulator-seed", cl::value_desc("N"), cl::init(0), cl::cat(category),
      cl::desc("Order in which the emulator takes warps. Default: 0, in "
               "turns")};
  cl::opt<bool> print{"print", cl::cat(category),
                      cl::desc("Print the elements of the results")};
  cl::opt<bool> f64{"f64", cl::cat(category),
                    cl::desc("The reference sums in f64 instead of f32")};
  cl::opt<bool> wide{
      "f32-intermediates", cl::cat(category),
      cl::desc("The reference keeps bf16 and f16 intermediates in f32, as in "
               "a comparison")};
};
} // namespace

static constexpr StringLiteral kOverview =
    "run a function of moe ops on arrays, and compare two executions of it\n";

static constexpr StringLiteral kMoreHelp = R"(
Examples:
  moe-run layer.mlir --tokens=64
      runs @layer by the reference on random inputs and summarises the results
  moe-run layer.mlir --tokens=64 --inputs=seed:7 --device=cpu --compare=reference
      runs the compiled layer too and prints how far the results are apart
  moe-run layer.mlir --inputs=in --input=3:ids.npy --outputs=out
      reads in/0.npy, in/1.npy, ... but argument 3 from ids.npy; writes out/0.npy

Arrays are .npy files in C order; bf16 as <u2 bit patterns, fp8 as |u1.
Random floats are uniform in [-0.5, 0.5), weights of a gate or a GEMM scaled by
1/sqrt(fan-in); integers take their range from the op that consumes them. The
data depend on seed, argument and index alone: python/moe/random_inputs.py makes
the same. Elements that nobody writes are NaN, or -1, on every device.

Results agree where the relative L2 error is at most 5e-3 for bf16, 2e-3 for
f16 and 1e-5 for f32, integers are equal, and NaN and infinity are at the same
places. Where gate and route both run, tokens that a difference below 1e-5 of
two keys decides are left out, at most 1 % of them.

Exit status: 0 the run succeeded and the results agree, 1 error, 2 the results
disagree.
)";

static int fail(const llvm::Twine &message) {
  llvm::errs() << "moe-run: error: " << message << "\n";
  return kError;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// Makes or reads the arguments of one function.
class InputReader {
public:
  InputReader(const Options &options, func::FuncOp function)
      : options(options), function(function), solver(function),
        arrays(function.getNumArguments()), plans(function.getNumArguments()) {}

  /// Fails after printing why.
  LogicalResult run();

  std::vector<Array> takeArrays() {
    std::vector<Array> all;
    for (std::optional<Array> &array : arrays)
      all.push_back(std::move(*array));
    return all;
  }
  std::vector<InputPlan> takePlans() { return std::move(plans); }

private:
  LogicalResult readFile(unsigned argument, StringRef path);
  LogicalResult readOverrides();
  LogicalResult readFolder();
  LogicalResult makeRandom(uint64_t seed);
  LogicalResult checkTokens();

  const Options &options;
  func::FuncOp function;
  ShapeSolver solver;
  std::vector<std::optional<Array>> arrays;
  std::vector<InputPlan> plans;
};
} // namespace

LogicalResult InputReader::readFile(unsigned argument, StringRef path) {
  FailureOr<ElementKind> kind = argumentKind(function, argument);
  if (failed(kind))
    return failure();
  llvm::Expected<Array> array = readNpy(path, *kind);
  if (!array)
    return failure(fail("argument " + llvm::Twine(argument) + ": " +
                        llvm::toString(array.takeError())));
  solver.setShape(function.getArgument(argument), array->shape());
  plans[argument].kind = *kind;
  plans[argument].shape = llvm::to_vector(array->shape());
  arrays[argument] = std::move(*array);
  return success();
}

LogicalResult InputReader::readOverrides() {
  for (StringRef text : options.input) {
    auto [number, path] = text.split(':');
    unsigned argument;
    if (number.getAsInteger(10, argument) || path.empty())
      return failure(
          fail("--input=" + text + " is not of the form N:FILE.npy"));
    if (argument >= arrays.size())
      return failure(fail("--input=" + text + ": @" + function.getName() +
                          " has " + llvm::Twine(arrays.size()) + " arguments"));
    if (failed(readFile(argument, path)))
      return failure();
  }
  return success();
}

LogicalResult InputReader::readFolder() {
  for (unsigned i = 0; i < arrays.size(); ++i)
    if (!arrays[i] && failed(readFile(i, npyPath(options.inputs, i))))
      return failure();
  return success();
}

LogicalResult InputReader::makeRandom(uint64_t seed) {
  if (options.tokens >= 0)
    solver.solveWithTokens(options.tokens);
  else
    solver.solve();
  for (unsigned i = 0; i < arrays.size(); ++i) {
    if (arrays[i])
      continue;
    Value argument = function.getArgument(i);
    if (options.tokens >= 0 && isa<ShapedType>(argument.getType()) &&
        !solver.shape(argument))
      return function.emitOpError("leaves an extent of argument ")
             << i << ", " << argument.getType()
             << ", open: no op ties it to the number of tokens; give the array "
                "with --input="
             << i << ":FILE.npy";
    FailureOr<InputPlan> plan = planInput(function, i, solver);
    if (failed(plan))
      return failure();
    llvm::Expected<Array> array =
        randomArray(plan->role, plan->bound, plan->kind, plan->shape, seed, i);
    if (!array)
      return failure(fail("argument " + llvm::Twine(i) + ": " +
                          llvm::toString(array.takeError())));
    plans[i] = std::move(*plan);
    arrays[i] = std::move(*array);
  }
  return success();
}

/// The arrays of files may say another T than --tokens.
LogicalResult InputReader::checkTokens() {
  if (options.tokens < 0)
    return success();
  solver.solve();
  std::optional<int64_t> tokens = solver.tokens();
  if (!tokens || *tokens == options.tokens)
    return success();
  return failure(fail("--tokens=" + llvm::Twine(options.tokens.getValue()) +
                      ", but the arrays from files have " +
                      llvm::Twine(*tokens) + " tokens; leave --tokens out"));
}

LogicalResult InputReader::run() {
  if (options.tokens.getNumOccurrences() > 0 && options.tokens < 0)
    return failure(fail("--tokens must not be negative"));
  if (failed(readOverrides()))
    return failure();
  StringRef inputs = options.inputs;
  bool random = inputs.consume_front("seed:");
  if (!random && failed(readFolder()))
    return failure();
  if ((!random || !options.input.empty()) && failed(checkTokens()))
    return failure();
  if (!random)
    return success();
  uint64_t seed;
  if (inputs.getAsInteger(10, seed))
    return failure(
        fail("--inputs=" + options.inputs + " has no number behind seed:"));
  return makeRandom(seed);
}

static LogicalResult writeArrays(StringRef folder, ArrayRef<Array> arrays) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return failure(fail(folder + ": " + error.message()));
  for (auto [i, array] : llvm::enumerate(arrays))
    if (llvm::Error error = writeNpy(npyPath(folder, i), array))
      return failure(fail(llvm::toString(std::move(error))));
  return success();
}

/// The device of that name, or null after printing what there is.
static Device findDevice(StringRef name, const ReferenceOptions &reference,
                         const emulator::DeviceOptions &emulated) {
  if (name == "reference")
    return [&reference](func::FuncOp function, ArrayRef<Array> inputs) {
      return runOnReference(function, inputs, reference);
    };
  if (name == "cpu")
    return runOnCpu;
  if (name == "cuda")
    return runOnCuda;
  if (name == "emulator")
    return [&emulated](func::FuncOp function, ArrayRef<Array> inputs) {
      return runOnEmulator(function, inputs, emulated);
    };
  fail("device " + name +
       " is unknown; choose reference, cpu, emulator or cuda");
  return {};
}

static FailureOr<std::vector<Array>> runTimed(const Device &device,
                                              func::FuncOp function,
                                              ArrayRef<Array> inputs,
                                              std::vector<double> &seconds) {
  auto start = std::chrono::steady_clock::now();
  FailureOr<std::vector<Array>> results = device(function, inputs);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  seconds.push_back(elapsed.count());
  return results;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Whether the keys of a routing come from a gate, whose sums may differ, and
/// the slots per token; 0 if not. The gate of a shared expert routes as well,
/// with one slot: the largest number is the layer's.
static int64_t slotsOfGatedRouting(func::FuncOp function) {
  bool gate = false;
  int64_t slots = 0;
  for (func::FuncOp reached : reachableFunctions(function))
    reached.walk([&](Operation *op) {
      gate |= isa<GateOp>(op);
      if (auto route = dyn_cast<RouteOp>(op))
        slots = std::max(slots, route.getTopK());
    });
  return gate ? slots : 0;
}

/// The rows of an output that belong to the tokens in `nearTies`: its first
/// dimension counts tokens, or flat rows of `slots` per token.
static llvm::BitVector rowsOfTokens(const llvm::BitVector &nearTies,
                                    const Array &output, int64_t slots) {
  int64_t tokens = nearTies.size();
  int64_t rows = output.rank() == 0 ? 0 : output.dim(0);
  int64_t perToken = rows == tokens ? 1 : rows == tokens * slots ? slots : 0;
  llvm::BitVector leftOut(perToken == 0 ? 0 : rows);
  for (unsigned row = 0; row < leftOut.size(); ++row)
    leftOut[row] = nearTies[row / perToken];
  return leftOut;
}

static void compareOutputs(func::FuncOp function, ArrayRef<Array> expected,
                           const llvm::BitVector &nearTies,
                           run::Report &report) {
  int64_t slots = slotsOfGatedRouting(function);
  bool leaveOut = slots > 0 && nearTies.any();
  if (slots > 0) {
    report.tokens = nearTies.size();
    report.nearTies = nearTies.count();
  }
  for (auto [output, other] : llvm::zip_equal(report.outputs, expected))
    report.comparisons.push_back(compare(
        output, other,
        leaveOut ? rowsOfTokens(nearTies, output, slots) : llvm::BitVector()));
}

/// Fails after printing which options contradict one another.
static LogicalResult checkOptions(const Options &options) {
  if (options.json && options.print)
    return failure(
        fail("--print writes no JSON; leave --json out, or write the results "
             "to files with --outputs"));
  bool emulates = options.device == "emulator" || options.compare == "emulator";
  if (!emulates && (options.counts || options.emulatorSeed != 0))
    return failure(
        fail(llvm::Twine(options.counts ? "--counts" : "--emulator-seed") +
             " goes with --device=emulator or --compare=emulator"));
  return success();
}

/// How to emulate: what is counted goes into the report.
static emulator::DeviceOptions emulatorOptions(const Options &options,
                                               run::Report &report) {
  emulator::DeviceOptions emulated;
  emulated.seed = options.emulatorSeed;
  emulated.finished = [&report](const std::string &kernel,
                                const emulator::Report &launch) {
    report.counts.add(kernel, launch);
  };
  return emulated;
}

/// Runs the devices and prints the report; the exit status.
static int runFunction(const Options &options, func::FuncOp function) {
  if (failed(checkOptions(options)))
    return kError;
  llvm::BitVector nearTies;
  ReferenceOptions reference;
  reference.wideIntermediates = options.wide || !options.compare.empty();
  reference.computeInF64 = options.f64;
  reference.nearTies = &nearTies;
  run::Report report;
  emulator::DeviceOptions emulated = emulatorOptions(options, report);
  Device device = findDevice(options.device, reference, emulated);
  Device other = options.compare.empty()
                     ? Device()
                     : findDevice(options.compare, reference, emulated);
  if (!device || (!options.compare.empty() && !other))
    return kError;

  InputReader reader(options, function);
  if (failed(reader.run()))
    return kError;
  std::vector<Array> inputs = reader.takeArrays();
  warnAboutUncountedExperts(function);
  if (!options.saveInputs.empty() &&
      failed(writeArrays(options.saveInputs, inputs)))
    return kError;

  report.function = function.getName().str();
  report.device = options.device;
  report.comparedWith = options.compare;
  report.inputs = options.inputs;
  report.arguments = reader.takePlans();
  auto outputs = runTimed(device, function, inputs, report.seconds);
  if (failed(outputs))
    return kError;
  report.outputs = std::move(*outputs);
  for (unsigned token : nearTies.set_bits())
    report.nearTieTokens.push_back(token);
  if (other) {
    auto expected = runTimed(other, function, inputs, report.seconds);
    if (failed(expected))
      return kError;
    compareOutputs(function, *expected, nearTies, report);
  }
  if (!options.outputs.empty() &&
      failed(writeArrays(options.outputs, report.outputs)))
    return kError;
  if (options.json)
    run::printJson(report, llvm::outs());
  else if (!options.print || other)
    run::printTable(report, llvm::outs());
  if (options.counts && !options.json)
    llvm::outs() << report.counts.table();
  if (options.print)
    run::printElements(report, llvm::outs());
  return report.agrees() ? 0 : kDisagreement;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::extrahelp moreHelp(kMoreHelp);
  setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv, kOverview);
  if (options.file.getNumOccurrences() == 0 &&
      llvm::sys::Process::StandardInIsUserInput()) {
    cl::PrintHelpMessage();
    return fail("there is no FILE.mlir");
  }

  DialectRegistry registry;
  registerAllDialectsAndInterfaces(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.file);
  if (!file)
    return fail(options.file + ": " + file.getError().message());
  if (failed(checkNesting(**file)))
    return kError;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return kError;
  std::string error;
  func::FuncOp function =
      findFunction(*module, options.file, options.function, error);
  return function ? runFunction(options, function) : fail(error);
}
