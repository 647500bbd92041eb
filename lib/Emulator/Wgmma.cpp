#include "AsyncCopy.h"
#include "Decode.h"
using namespace mlir::moe::emulator;
void mlir::moe::emulator::addWgmmaInstructions(InstructionTable &) {}
