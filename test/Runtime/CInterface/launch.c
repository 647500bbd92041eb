/*===- launch.c - the C interface as a program uses it -*- C -*-===*
 *
 * Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * launch BUNDLE: runs the bundle of test/Runtime/Inputs on a device and prints
 * what the test expects. Counts calls of malloc on the launch path: this
 * program's malloc is the one that all of its libraries call.
 *
 *===----------------------------------------------------------------------===*/

#include "moe/Runtime/moe_runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kArguments = 5, kThreads = 8, kCalls = 500 };

/*--- malloc, counted -------------------------------------------------------*/

static __thread int counting;
static int allocations;

/* 0 where a sanitizer brings its own, and the count is of no meaning. */
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

#if OWN_MALLOC
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the
 * names of glibc. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

static void count(void) {
  if (counting)
    __sync_fetch_and_add(&allocations, 1);
}
void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
void *realloc(void *old, size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
#endif

/*--- helpers ---------------------------------------------------------------*/

static void must(moe_status status, const char *what) {
  if (status == MOE_OK)
    return;
  printf("%s failed: %d %s\n", what, (int)status, moe_last_error());
  exit(1);
}

/* A call that has to fail; prints how it did. */
static void fails(const char *what, moe_status status) {
  printf("%s: %d %s\n", what, (int)status,
         status == MOE_OK ? "" : moe_last_error());
}

/* The arguments of a call with so many tokens; the extents only. */
static void shapeArguments(moe_tensor *args, int64_t tokens) {
  static const int64_t shapes[kArguments][3] = {
      {-1, 64, 0}, {4, 64, 64}, {-1, 2, 0}, {-1, 64, 0}, {-1, 0, 0}};
  int i, j;
  memset(args, 0, kArguments * sizeof(moe_tensor));
  for (i = 0; i < kArguments; ++i)
    for (j = 0; j < 3; ++j)
      args[i].shape[j] = shapes[i][j] < 0 ? tokens : shapes[i][j];
  args[4].shape[0] = 2 * tokens;
}

/*--- one thread's work -----------------------------------------------------*/

typedef struct Job {
  const moe_bundle *bundle;
  moe_device *device;
  moe_layer *layer;
  int64_t tokens;
  int failures;
} Job;

static void *runJob(void *argument) {
  Job *self = (Job *)argument;
  moe_tensor args[kArguments];
  uint64_t bytes = 0;
  void *workspace = NULL;
  int i;
  shapeArguments(args, self->tokens);
  must(moe_bundle_workspace(self->bundle, args, kArguments, &bytes),
       "workspace");
  must(moe_device_allocate(self->device, bytes, &workspace), "allocate");
  for (i = 0; i < kArguments; ++i)
    must(moe_device_allocate(self->device, 65536, &args[i].data), "allocate");
  counting = 1;
  for (i = 0; i < kCalls; ++i)
    if (moe_layer_launch(self->layer, args, kArguments, workspace, bytes,
                         NULL) != MOE_OK)
      ++self->failures;
  counting = 0;
  for (i = 0; i < kArguments; ++i)
    moe_device_free(self->device, args[i].data);
  moe_device_free(self->device, workspace);
  return NULL;
}

static void runThreads(const moe_bundle *bundle, moe_device *device,
                       moe_layer *layer) {
  pthread_t threads[kThreads];
  Job jobs[kThreads];
  int i, failures = 0;
  for (i = 0; i < kThreads; ++i) {
    Job one = {NULL, NULL, NULL, 0, 0};
    one.bundle = bundle;
    one.device = device;
    one.layer = layer;
    one.tokens = 1 + 11 * i; /* both variants */
    jobs[i] = one;
    if (pthread_create(&threads[i], NULL, runJob, &jobs[i]) != 0)
      exit(1);
  }
  for (i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    failures += jobs[i].failures;
  }
  printf("%d calls from %d threads: %d failures, %d allocations\n",
         kThreads * kCalls, kThreads, failures, allocations);
}

/*--- calls that must fail --------------------------------------------------*/

static void runFailures(const moe_bundle *bundle, moe_device *device,
                        moe_layer *layer) {
  moe_tensor args[kArguments];
  char *memory = NULL;
  uint64_t bytes = 0;
  int i;
  must(moe_device_allocate(device, 1 << 20, (void **)&memory), "allocate");
  shapeArguments(args, 100);
  must(moe_bundle_workspace(bundle, args, kArguments, &bytes), "workspace");
  for (i = 0; i < kArguments; ++i)
    args[i].data = memory;

#define LAUNCH(count, workspace, size)                                         \
  moe_layer_launch(layer, args, count, workspace, size, NULL)
  fails("layer null",
        moe_layer_launch(NULL, args, kArguments, memory, bytes, NULL));
  fails("count", LAUNCH(kArguments - 1, memory, bytes));
  fails("args null",
        moe_layer_launch(layer, NULL, kArguments, memory, bytes, NULL));
  fails("workspace null", LAUNCH(kArguments, NULL, bytes));
  fails("workspace small", LAUNCH(kArguments, memory, bytes - 1));
  fails("workspace address", LAUNCH(kArguments, memory + 128, bytes));
  args[3].data = memory + 8;
  fails("address", LAUNCH(kArguments, memory, bytes));
  args[3].data = NULL;
  fails("address null", LAUNCH(kArguments, memory, bytes));
  args[3].data = memory;
  args[2].shape[0] = 99;
  fails("equal extents", LAUNCH(kArguments, memory, bytes));
  args[2].shape[0] = 100;
  args[1].shape[2] = 65;
  fails("static extent", LAUNCH(kArguments, memory, bytes));
  args[1].shape[2] = 64;
  args[0].shape[0] = -5;
  fails("negative", LAUNCH(kArguments, memory, bytes));
  shapeArguments(args, 5000);
  for (i = 0; i < kArguments; ++i)
    args[i].data = memory;
  fails("no variant", LAUNCH(kArguments, memory, bytes));
  /* Failing may allocate, which shows that the count counts. */
  counting = 1;
  LAUNCH(kArguments, memory, bytes);
  counting = 0;
  printf("the count counts: %s\n",
         allocations > 0 || !OWN_MALLOC ? "yes" : "NO");
  allocations = 0;
  shapeArguments(args, 100);
  for (i = 0; i < kArguments; ++i)
    args[i].data = memory;
  fails("and then", LAUNCH(kArguments, memory, 1 << 20));
  moe_device_free(device, memory);
}

static void runNulls(const char *path) {
  moe_bundle *bundle = (moe_bundle *)&bundle;
  moe_device *device = NULL;
  moe_layer *layer = NULL;
  void *data = NULL;
  fails("open null", moe_bundle_open(NULL, &bundle));
  printf("handle %s\n", bundle ? "left" : "null");
  fails("open to null", moe_bundle_open(path, NULL));
  fails("parse null", moe_bundle_parse(NULL, 0, "", 0, &bundle));
  fails("argument null", moe_bundle_argument(NULL, 0, NULL));
  fails("device null", moe_device_open(NULL, 0, &device));
  fails("device kind", moe_device_open("tpu", 0, &device));
  fails("device number", moe_device_open("cuda", 7, &device));
  fails("device minus", moe_device_open("cuda", -1, &device));
  fails("load null", moe_layer_load(NULL, NULL, &layer));
  fails("allocate null", moe_device_allocate(NULL, 1, &data));
  moe_bundle_close(NULL);
  moe_device_close(NULL);
  moe_layer_unload(NULL);
  moe_device_free(NULL, NULL);
  printf("%s %zu %s\n", moe_bundle_function(NULL) ? "name" : "null",
         moe_bundle_num_arguments(NULL),
         moe_layer_code(NULL) ? "code" : "null");
}

int main(int argc, char **argv) {
  moe_bundle *bundle = NULL;
  moe_device *device = NULL;
  moe_layer *layer = NULL;
  if (argc != 2)
    return 1;
  printf("version %u, header %d, error '%s'\n", moe_runtime_version(),
         MOE_RUNTIME_VERSION, moe_last_error());
  runNulls(argv[1]);
  must(moe_bundle_open(argv[1], &bundle), "open");
  printf("@%s for %s\n", moe_bundle_function(bundle), moe_bundle_arch(bundle));
  must(moe_device_open("cuda", 0, &device), "device");
  must(moe_layer_load(bundle, device, &layer), "load");
  runFailures(bundle, device, layer);
  runThreads(bundle, device, layer);
  must(moe_device_synchronize(device), "synchronize");
  moe_layer_unload(layer);
  moe_device_close(device);
  moe_bundle_close(bundle);
  return 0;
}
