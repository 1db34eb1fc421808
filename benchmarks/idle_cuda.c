/* A driver of CUDA for four GPUs that do nothing: what it is asked for is done at once, memory is addresses only. What is
   left of a call's time is the host's (host_time.py). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 4 };
int64_t idle_launches, idle_copies;
static __thread void *stack[64];
static __thread int depth;
static int contexts[GPUS];
static uint64_t next = UINT64_C(1) << 40;

int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuInit(unsigned flags) { return (void)flags, 0; }
int cuDeviceGetCount(int *count) { return *count = GPUS, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceGetName(char *name, int length, int device) { return (void)device, strncpy(name, "idle GPU", length), 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return (void)device, *bytes = (size_t)141 << 30, 0; }
int cuDeviceGetAttribute(int *value, int kind, int device) {
  static const int known[][2] = {{1, 1024}, {8, 49152}, {10, 32}, {13, 1980000}, {16, 132}, {36, 2619000}, {37, 5120},
                                 {38, 50 << 20}, {39, 2048}, {75, 9}, {76, 0}, {81, 233472}, {82, 65536}, {97, 232448},
                                 {106, 32}};
  *value = 1 + 0 * device;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k][0] == kind) *value = known[k][1];
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &contexts[device], 0; }
int cuCtxGetCurrent(void **context) { return *context = depth ? stack[depth - 1] : NULL, 0; }
int cuCtxPushCurrent_v2(void *context) { return stack[depth++] = context, 0; }
int cuCtxPopCurrent_v2(void **context) { return *context = stack[--depth], 0; }
int cuMemAllocAsync(uint64_t *memory, size_t bytes, void *stream) {
  (void)stream;
  return *memory = __atomic_fetch_add(&next, (bytes + 511) & ~(uint64_t)255, __ATOMIC_SEQ_CST), 0;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  return memset(*memory, 0xff, bytes < 4096 ? bytes : 4096), 0; /* no kernel has failed */
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  (void)from, (void)stream, idle_copies++;
  return memset(to, bytes == 24 ? 0xff : 0, bytes), 0;
}
int cuMemcpyHtoDAsync_v2(void) { return idle_copies++, 0; }
int cuMemcpy3DAsync_v2(void) { return idle_copies++, 0; }
int cuMemcpy3DPeerAsync(void) { return idle_copies++, 0; }
int cuMemcpyPeerAsync(void) { return idle_copies++, 0; }
int cuLaunchKernel(void) { return idle_launches++, 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { return *free = *total = (size_t)141 << 30, 0; }
int cuEventElapsedTime_v2(float *ms, void *from, void *to) { return *ms = 1.0f + 0 * (from == to), 0; }
int cuDeviceCanAccessPeer(int *can, int device, int other) { return *can = device != other, 0; }
int cuFuncGetAttribute(int *value, int kind, void *function) { return (void)kind, (void)function, *value = 49152, 0; }
int cuGetErrorName(int code, const char **name) { return (void)code, *name = "an error", 0; }
int cuGetErrorString(int code, const char **text) { return (void)code, *text = "an error", 0; }

static int made(void **what) { return *what = malloc(8), 0; }
int cuStreamCreate(void **stream) { return made(stream); }
int cuEventCreate(void **event) { return made(event); }
int cuDeviceGetDefaultMemPool(void **pool) { return made(pool); }
int cuModuleLoadData(void **module) { return made(module); }
int cuModuleGetFunction(void **function) { return made(function); }

#define DONE(name) int name(void) { return 0; }
DONE(cuMemPoolSetAttribute) DONE(cuMemPoolSetAccess) DONE(cuMemPoolTrimTo) DONE(cuModuleUnload) DONE(cuFuncSetAttribute)
DONE(cuMemFreeAsync) DONE(cuMemFreeHost) DONE(cuMemsetD8Async) DONE(cuCtxEnablePeerAccess) DONE(cuCtxSynchronize)
DONE(cuStreamSynchronize) DONE(cuStreamQuery) DONE(cuStreamWaitEvent) DONE(cuEventDestroy_v2) DONE(cuEventRecord)
DONE(cuEventSynchronize) DONE(cuEventQuery)

int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, int *status) {
  static void *here;
  char longer[128];
  (void)version, (void)flags;
  if (!here) here = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  snprintf(longer, sizeof longer, "%s_v2", name);
  if (!(*found = dlsym(here, longer))) *found = dlsym(here, name);
  if (status) *status = !*found;
  return 0;
}
int cuGetProcAddress(const char *name, void **found, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, found, version, flags, NULL);
}
