#include "AsyncCopy.h"
#include "Decode.h"
using namespace mlir::moe::emulator;
void mlir::moe::emulator::addAsyncCopyInstructions(InstructionTable &) {}
bool mlir::moe::emulator::completeAsyncCopies(Warp &) { return false; }
