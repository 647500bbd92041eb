#include "MBarrier.h"
using namespace mlir::moe::emulator;
void mlir::moe::emulator::decodeBulkCopy(DecodeContext &) {}
void mlir::moe::emulator::addTensorCopyInstructions(InstructionTable &) {}
