/*===- parse.c - feed bundles to the runtime -*- C -*-===*
 *
 * Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Reads from its input any number of
 *
 *   <bytes of manifest> <bytes of ptx> <tokens>\n<manifest><ptx>
 *
 * and prints one line for each: the status of parsing and, where that is 0, of
 * solving the extents for so many tokens, then the text of the failure or what
 * was solved. Everything that needs no device is called.
 *
 *===----------------------------------------------------------------------===*/

#include "moe/Runtime/moe_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The bytes, or null at the end of the input. */
static char *readBytes(size_t bytes) {
  char *text = (char *)malloc(bytes + 1);
  if (text && fread(text, 1, bytes, stdin) != bytes) {
    free(text);
    return NULL;
  }
  return text;
}

/* Prints a text on one line. */
static void printText(const char *text) {
  for (; *text; ++text)
    putchar(*text == '\n' || *text == '\r' ? ' ' : *text);
  putchar('\n');
}

/* Looks at everything that a bundle lists. */
static void lookAround(const moe_bundle *bundle) {
  moe_argument argument;
  moe_kernel kernel;
  moe_variant variant;
  size_t i, j, number;
  for (i = 0; i <= moe_bundle_num_arguments(bundle); ++i)
    moe_bundle_argument(bundle, i, &argument);
  for (i = 0; i <= moe_bundle_num_kernels(bundle); ++i)
    moe_bundle_kernel(bundle, i, &kernel);
  for (i = 0; i < moe_bundle_num_variants(bundle); ++i)
    if (moe_bundle_variant(bundle, i, &variant) == MOE_OK)
      for (j = 0; j <= variant.num_launches; ++j)
        moe_bundle_launch(bundle, i, j, &number);
}

static void solve(const moe_bundle *bundle, int64_t tokens) {
  size_t count = moe_bundle_num_arguments(bundle), i, variant = 0;
  moe_tensor *args = (moe_tensor *)calloc(count + 1, sizeof(moe_tensor));
  moe_argument argument;
  const char *role;
  int64_t bound;
  uint64_t bytes = 0;
  moe_status status;
  int32_t j;
  if (!args)
    return;
  for (i = 0; i < count; ++i) {
    moe_bundle_argument(bundle, i, &argument);
    for (j = 0; j < argument.rank; ++j)
      args[i].shape[j] = argument.shape[j];
  }
  moe_bundle_set_tokens(bundle, tokens, args, count);
  status = moe_bundle_solve_shapes(bundle, args, count);
  for (i = 0; status == MOE_OK && i < count; ++i)
    moe_bundle_random_input(bundle, args, count, i, &role, &bound);
  if (status == MOE_OK)
    status = moe_bundle_choose(bundle, args, count, &variant);
  if (status == MOE_OK)
    status = moe_bundle_workspace(bundle, args, count, &bytes);
  printf("0 %d ", (int)status);
  if (status == MOE_OK) {
    printf("variant %zu, workspace %" PRIu64 ", last argument", variant, bytes);
    moe_bundle_argument(bundle, count - 1, &argument);
    for (j = 0; count > 0 && j < argument.rank; ++j)
      printf(" %" PRId64, args[count - 1].shape[j]);
    putchar('\n');
  } else {
    printText(moe_last_error());
  }
  free(args);
}

int main(void) {
  size_t manifestBytes, ptxBytes;
  int64_t tokens;
  /* The test writes the numbers. */
  /* NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion) */
  while (scanf("%zu %zu %" SCNd64, &manifestBytes, &ptxBytes, &tokens) == 3 &&
         getchar() == '\n') {
    char *manifest = readBytes(manifestBytes);
    char *ptx = readBytes(ptxBytes);
    moe_bundle *bundle = NULL;
    moe_status status;
    if (!manifest || !ptx)
      return 1;
    status = moe_bundle_parse(manifest, manifestBytes, ptx, ptxBytes, &bundle);
    free(manifest);
    free(ptx);
    if (status == MOE_OK) {
      lookAround(bundle);
      solve(bundle, tokens);
    } else {
      printf("%d - ", (int)status);
      printText(moe_last_error());
    }
    moe_bundle_close(bundle);
  }
  return 0;
}
