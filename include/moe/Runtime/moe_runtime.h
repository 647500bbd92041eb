/*===- moe_runtime.h - load and launch compiled MoE layers -*- C -*-===*
 *
 * Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The whole interface of libmoe_runtime. Plain C; the library needs libc and,
 * once a device is opened, that device's driver (cuda: libcuda.so.1).
 *
 *   moe_bundle *bundle;  moe_device *device;  moe_layer *layer;
 *   moe_bundle_open("layer.bundle", &bundle);        // checked here, once
 *   moe_device_open("cuda", 0, &device);
 *   moe_layer_load(bundle, device, &layer);          // the driver sees the PTX
 *   moe_tensor args[] = {{x, {T, 2048}}, ..., {out, {T, 2048}}};
 *   uint64_t bytes;
 *   moe_bundle_workspace(bundle, args, n, &bytes);   // pure arithmetic
 *   moe_layer_launch(layer, args, n, workspace, bytes, stream);
 *
 * Arguments: in the order of the function's parameters, results last, each a
 * device address and its extents. Static extents and extents that follow from
 * others are checked at every call, and so is the alignment of the address.
 *
 * Launching allocates nothing, waits for nothing and reads nothing back from
 * the device, so a launch may be captured into a CUDA graph; replays read the
 * addresses of the capture. The workspace is scratch: its contents need not be
 * kept nor set, and launches that may run at the same time need one each.
 * The kernels of a call reach the driver together, as a graph made when the
 * layer was loaded, which costs a third of separate launches; the first call on
 * another stream than the one before, and a captured one, launch each.
 *
 * Threads: a loaded layer may be launched from any number of threads at once.
 * Objects are closed by one thread, after their last use, in reverse order of
 * opening. Null may be closed.
 *
 * Errors: every call returns a status; moe_last_error() then has one sentence
 * that names the argument, field or kernel, what was found and what is needed.
 * No call aborts, throws or prints. A bundle from an untrusted source can at
 * worst compute nonsense within the kernels' own PTX, which runs with the
 * rights of the process: load only bundles that you trust to run.
 *
 *===----------------------------------------------------------------------===*/

#ifndef MOE_RUNTIME_MOE_RUNTIME_H
#define MOE_RUNTIME_MOE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): C writes names its own way. */

#ifdef __cplusplus
extern "C" {
#endif

#define MOE_RUNTIME_API __attribute__((visibility("default")))

/* Grows when a function or a struct changes; moe_runtime_version() tells what
 * the loaded library has. */
#define MOE_RUNTIME_VERSION 1
/* Greatest rank of an argument. */
#define MOE_MAX_RANK 8

typedef enum moe_status {
  MOE_OK = 0,
  MOE_INVALID_ARGUMENT = 1, /* of this call: shape, alignment, null, range */
  MOE_INVALID_BUNDLE = 2,   /* unreadable, truncated, or not a bundle */
  MOE_NO_DEVICE = 3,        /* no such device, or its driver is missing */
  MOE_DEVICE_ERROR = 4,     /* the driver refused; its words are in the text */
  MOE_OUT_OF_MEMORY = 5
} moe_status;

typedef enum moe_type {
  MOE_F32 = 0,
  MOE_F16 = 1,
  MOE_BF16 = 2,
  MOE_I32 = 3,
  MOE_I64 = 4,
  MOE_I8 = 5
} moe_type;

typedef struct moe_bundle moe_bundle;
typedef struct moe_device moe_device;
typedef struct moe_layer moe_layer;

/* One argument of a call. `data` is an address on the device; extents in
 * elements, row-major, entries past the rank are ignored. `data` may be null
 * where an extent is 0. */
typedef struct moe_tensor {
  void *data;
  int64_t shape[MOE_MAX_RANK];
} moe_tensor;

/* What a bundle says of an argument. */
typedef struct moe_argument {
  moe_type type;
  int32_t rank;
  int32_t is_result;             /* a result of the layer */
  uint32_t alignment;            /* bytes the address must be a multiple of */
  int64_t shape[MOE_MAX_RANK];   /* -1: given at the call */
  int64_t strides[MOE_MAX_RANK]; /* in elements; -1: row-major from shape */
} moe_argument;

/* One kernel of a bundle. The texts live as long as the bundle. */
typedef struct moe_kernel {
  const char *name;
  const char *schedule;  /* how it was tiled; "" where that says nothing */
  uint32_t threads;      /* of a block */
  uint32_t shared_bytes; /* of dynamic shared memory */
} moe_kernel;

/* One launch list of a bundle: numbers of tokens from min to max take it. */
typedef struct moe_variant {
  int64_t min_tokens;
  int64_t max_tokens; /* -1: no bound */
  size_t num_launches;
  size_t num_tensor_maps;
  size_t num_workspace_buffers;
} moe_variant;

/* Microseconds of one call. */
typedef struct moe_timing {
  double device; /* on the device, calls back to back in a graph */
  double host;   /* of the calling thread inside moe_layer_launch */
} moe_timing;

MOE_RUNTIME_API uint32_t moe_runtime_version(void);
/* The text of this thread's last failed call; never null. */
MOE_RUNTIME_API const char *moe_last_error(void);

/*--- Bundles: no device needed ---------------------------------------------*/

/* Opens a folder that moe-compile wrote, and checks all of it. */
MOE_RUNTIME_API moe_status moe_bundle_open(const char *path,
                                           moe_bundle **bundle);
/* As moe_bundle_open, from the texts of manifest.json and kernels.ptx. */
MOE_RUNTIME_API moe_status moe_bundle_parse(const char *manifest,
                                            size_t manifest_bytes,
                                            const char *ptx, size_t ptx_bytes,
                                            moe_bundle **bundle);
MOE_RUNTIME_API void moe_bundle_close(moe_bundle *bundle);

/* Name of the compiled function; the chip, such as "sm_90a"; null for a null
 * bundle. */
MOE_RUNTIME_API const char *moe_bundle_function(const moe_bundle *bundle);
MOE_RUNTIME_API const char *moe_bundle_arch(const moe_bundle *bundle);
MOE_RUNTIME_API size_t moe_bundle_num_arguments(const moe_bundle *bundle);
MOE_RUNTIME_API moe_status moe_bundle_argument(const moe_bundle *bundle,
                                               size_t index,
                                               moe_argument *argument);
/* Whether the layer writes this argument: every result, and what it changes in
 * place, which has to be set again before the same call is made again. */
MOE_RUNTIME_API moe_status moe_bundle_argument_is_written(
    const moe_bundle *bundle, size_t index, int32_t *is_written);
/* The role and the number from which include/moe/Data/RandomInputs.h makes a
 * random array for this argument. `role` is null where the bundle names none:
 * for a result, and for integers whose meaning it does not know. All extents
 * must be known. */
MOE_RUNTIME_API moe_status moe_bundle_random_input(
    const moe_bundle *bundle, const moe_tensor *args, size_t num_args,
    size_t index, const char **role, int64_t *bound);
/* Writes T to the one extent of the arguments that counts tokens; an error
 * where there is none. */
MOE_RUNTIME_API moe_status moe_bundle_set_tokens(const moe_bundle *bundle,
                                                 int64_t tokens,
                                                 moe_tensor *args,
                                                 size_t num_args);
/* Fills in every extent that follows from those given: unknown ones are -1
 * before; after MOE_OK none is. Extents that contradict each other are an
 * error. */
MOE_RUNTIME_API moe_status moe_bundle_solve_shapes(const moe_bundle *bundle,
                                                   moe_tensor *args,
                                                   size_t num_args);
/* Bytes of workspace that a call with these extents needs; addresses are not
 * looked at. Never decreases when the number of tokens grows within one
 * variant. */
MOE_RUNTIME_API moe_status moe_bundle_workspace(const moe_bundle *bundle,
                                                const moe_tensor *args,
                                                size_t num_args,
                                                uint64_t *bytes);

MOE_RUNTIME_API size_t moe_bundle_num_kernels(const moe_bundle *bundle);
MOE_RUNTIME_API moe_status moe_bundle_kernel(const moe_bundle *bundle,
                                             size_t index, moe_kernel *kernel);
MOE_RUNTIME_API size_t moe_bundle_num_variants(const moe_bundle *bundle);
MOE_RUNTIME_API moe_status moe_bundle_variant(const moe_bundle *bundle,
                                              size_t index,
                                              moe_variant *variant);
/* Kernel number of launch `launch` of a variant; both numbers are below what
 * moe_variant and moe_bundle_num_kernels say. */
MOE_RUNTIME_API moe_status moe_bundle_launch(const moe_bundle *bundle,
                                             size_t variant, size_t launch,
                                             size_t *kernel);
/* The variant that a call with these extents takes. */
MOE_RUNTIME_API moe_status moe_bundle_choose(const moe_bundle *bundle,
                                             const moe_tensor *args,
                                             size_t num_args, size_t *variant);

/*--- Devices ---------------------------------------------------------------*/

/* Opens device number `ordinal` of kind `name`: "cuda". Uses the primary
 * context, as the CUDA runtime and PyTorch do. */
MOE_RUNTIME_API moe_status moe_device_open(const char *name, int ordinal,
                                           moe_device **device);
MOE_RUNTIME_API void moe_device_close(moe_device *device);
/* What the device calls itself, such as "NVIDIA H200 (sm_90)". */
MOE_RUNTIME_API const char *moe_device_description(const moe_device *device);
/* The chip to compile for to get the most out of the device, such as
 * "sm_90a". */
MOE_RUNTIME_API const char *moe_device_arch(const moe_device *device);
/* For tools and tests that bring no allocator: device memory, 256-byte aligned,
 * copies and waits. A null stream is the device's default stream. */
MOE_RUNTIME_API moe_status moe_device_allocate(moe_device *device,
                                               uint64_t bytes, void **data);
MOE_RUNTIME_API void moe_device_free(moe_device *device, void *data);
MOE_RUNTIME_API moe_status moe_device_upload(moe_device *device, void *target,
                                             const void *source,
                                             uint64_t bytes);
MOE_RUNTIME_API moe_status moe_device_download(moe_device *device, void *target,
                                               const void *source,
                                               uint64_t bytes);
/* Says that nothing has written these bytes, whatever was uploaded. A device
 * that looks for uses of such memory takes note; others do not care. */
MOE_RUNTIME_API moe_status moe_device_mark_unwritten(moe_device *device,
                                                     void *data,
                                                     uint64_t bytes);
MOE_RUNTIME_API moe_status moe_device_synchronize(moe_device *device);

/*--- Layers ----------------------------------------------------------------*/

/* Loads the kernels of every variant. The bundle and the device must outlive
 * the layer. */
MOE_RUNTIME_API moe_status moe_layer_load(const moe_bundle *bundle,
                                          moe_device *device,
                                          moe_layer **layer);
MOE_RUNTIME_API void moe_layer_unload(moe_layer *layer);
/* Enqueues the layer on `stream` (cuda: a CUstream; null: the default stream)
 * and returns. `workspace` is 256-byte aligned, `workspace_bytes` at least what
 * moe_bundle_workspace says. */
MOE_RUNTIME_API moe_status moe_layer_launch(moe_layer *layer,
                                            const moe_tensor *args,
                                            size_t num_args, void *workspace,
                                            uint64_t workspace_bytes,
                                            void *stream);
/* Measures the layer over `repeats` calls, at least 1, after a few that warm
 * up. Waits for the device and allocates: for tools, not for serving. */
MOE_RUNTIME_API moe_status moe_layer_time(moe_layer *layer,
                                          const moe_tensor *args,
                                          size_t num_args, void *workspace,
                                          uint64_t workspace_bytes,
                                          uint32_t repeats, moe_timing *timing);
/* "cubin" or "ptx": which of the two the driver took. */
MOE_RUNTIME_API const char *moe_layer_code(const moe_layer *layer);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */

#endif /* MOE_RUNTIME_MOE_RUNTIME_H */
