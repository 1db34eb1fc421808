/* A driver of CUDA for tests: device memory is the host's. As with a real one, nothing of a stream happens before
   someone waits for it, and then of other streams only what it waits for: a copy from a buffer that was filled again too
   early shows, and so does a stream that does not wait for another one. Memory that is released while a stream still
   uses it is a fault. The kernel "endless" ends when the word that it is given is not below its ticket; to ask for the
   third time whether a stream or an event is done is to wait. It fails on command (fake_fail), and after a fault every call fails. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 2, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, MOST = 4096, KERNELS = 8 };
typedef uint64_t memory;

typedef struct { int64_t open, last, asked; void *stream; } event; /* records that are not done; the latest one and its stream */
typedef struct {
  char kind, done;
  void *stream, *other; /* other: whose task number `n` a waiting stream waits for */
  char *to;
  const char *from;
  size_t bytes;
  event *event;
  int kernel;
  int64_t n;
  float a;
} task;

int fake_version = 13000, fake_devices = 1, fake_pools = 1;
int64_t fake_events, fake_total, fake_used, fake_contexts, fake_modules, fake_copies, fake_launches, fake_pinned, fake_trims, fake_records, fake_waits;
void *fake_stream; /* of the latest launch */
static char failing[64];
static int fail_code, fail_after, sticky;
static task tasks[MOST];
static int64_t first_task, task_count;
static int dynamic_shared[KERNELS];
static const char *const names[KERNELS] = {"saxpy", "fault", "nothing", "work_32", "work_64", "work_even", "endless", "lw_pull"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread void *stack[16];
static __thread int depth;
static int the_context;

void fake_reset(void) {
  fake_version = 13000, fake_devices = 1, fake_pools = 1;
  fake_total = 1 << 30, fake_used = fake_contexts = fake_modules = fake_copies = fake_launches = fake_pinned = 0;
  fake_trims = fake_records = fake_waits = 0;
  failing[0] = 0, sticky = 0, first_task = task_count = 0;
  for (int k = 0; k < KERNELS; k++) dynamic_shared[k] = 49152;
}

/* The call number `after` (0: the next) of a function gives `code`. */
void fake_fail(const char *name, int code, int after) {
  strncpy(failing, name, sizeof failing - 1);
  fail_code = code, fail_after = after;
}

int fake_depth(void) { return depth; }

static int failed(const char *name) {
  if (sticky) return sticky;
  if (strcmp(name, failing) || fail_after-- > 0) return 0;
  failing[0] = 0;
  if (fail_code >= ILLEGAL_ADDRESS) sticky = fail_code;
  return fail_code;
}
#define START(name)             \
  pthread_mutex_lock(&lock);    \
  int error = failed(name);     \
  pthread_mutex_unlock(&lock);  \
  if (error) return error
#define NEEDS_CONTEXT \
  if (!depth || stack[depth - 1] != &the_context) return 201

static void run_until(void *stream, int64_t last);

static void run(task *t) {
  if (t->kind == 'c') memcpy(t->to, t->from, t->bytes);
  if (t->kind == 'z') memset(t->to, 0, t->bytes);
  if (t->kind == 'e') t->event->open -= 1;
  if (t->kind == 'w') run_until(t->other, t->n);
  if (t->kind == 'k' && t->kernel == 1) sticky = ILLEGAL_ADDRESS;
  if (t->kind == 'k' && t->kernel == 0)
    for (int64_t i = 0; i < t->n; i++) ((float *)t->to)[i] += t->a * ((const float *)t->from)[i];
}

/* The tasks of a stream up to one of them. */
static void run_until(void *stream, int64_t last) {
  for (int64_t k = first_task; k <= last && k < task_count && !sticky; k++) {
    task *t = &tasks[k % MOST];
    if (t->done || t->stream != stream) continue;
    if (t->kind == 'k' && t->kernel == 6 && *(const volatile int64_t *)t->from < t->n) break;
    t->done = 1;
    run(t);
  }
  while (first_task < task_count && tasks[first_task % MOST].done) first_task++;
}

static int is_done(void *stream, int64_t last) {
  for (int64_t k = first_task; k <= last && k < task_count && !sticky; k++)
    if (!tasks[k % MOST].done && tasks[k % MOST].stream == stream) return 0;
  return 1;
}

/* The same, with the lock, for as long as it takes. */
static void finish(void *stream, int64_t last) {
  for (run_until(stream, last); !is_done(stream, last); run_until(stream, last)) {
    pthread_mutex_unlock(&lock);
    usleep(1000);
    pthread_mutex_lock(&lock);
  }
}

static int all_done(void) {
  while (first_task < task_count && !sticky) run_until(tasks[first_task % MOST].stream, first_task);
  return sticky;
}

static int later(task t) {
  pthread_mutex_lock(&lock);
  if (task_count - first_task == MOST) all_done();
  if (t.kind == 'e') t.event->open++, t.event->last = task_count, t.event->stream = t.stream;
  tasks[task_count++ % MOST] = t;
  pthread_mutex_unlock(&lock);
  return 0;
}

/* ---- what only Python asks --------------------------------------------------------------------------------------- */

int cuDriverGetVersion(int *version) { *version = fake_version; return 0; }
int cuInit(unsigned flags) { START("cuInit"); return flags || !fake_devices ? 100 : 0; }
int cuDeviceGetCount(int *count) { *count = fake_devices; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int length, int device) { (void)device; strncpy(name, "Fake GPU", length); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = fake_total; return 0; }
int cuDeviceGetAttribute(int *value, int kind, int device) {
  (void)device;
  *value = kind == 75 ? 9 : kind == 76 ? 0 : kind == 115 ? fake_pools : kind == 10 ? 32 : kind;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  START("cuDevicePrimaryCtxRetain");
  (void)device, fake_contexts++;
  *context = &the_context;
  return 0;
}
int cuStreamCreate(void **stream, unsigned flags) { START("cuStreamCreate"); *stream = malloc(8); return flags != 1; }
int cuDeviceGetDefaultMemPool(void **pool, int device) { (void)device; *pool = &fake_trims; return 0; }
int cuMemPoolSetAttribute(void *pool, int kind, uint64_t *value) { return !(pool == &fake_trims && kind == 4 && !~*value); }
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  NEEDS_CONTEXT;
  *free = fake_total - fake_used, *total = fake_total;
  return 0;
}
int cuModuleLoadData(void **module, const char *image) {
  START("cuModuleLoadData");
  NEEDS_CONTEXT;
  *module = malloc(8), fake_modules++;
  return memcmp(image, "fake", 4) ? 200 : 0;
}
int cuModuleUnload(void *module) { START("cuModuleUnload"); free(module), fake_modules--; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  for (int k = 0; k < KERNELS; k++)
    if (!strcmp(name, names[k])) return *function = &dynamic_shared[k], 0;
  return NOT_FOUND;
}
int cuFuncGetAttribute(int *value, int kind, int *function) { *value = *function; return kind != 8; }
int cuEventElapsedTime_v2(float *ms, void *from, void *to) { *ms = from != to ? 1.5f : 0; return 0; }
int cuGetErrorName(int code, const char **name) {
  *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : "something else";
  return 0;
}

/* ---- what cuda_launch.c asks ------------------------------------------------------------------------------------- */

int cuCtxGetCurrent(void **context) { START("cuCtxGetCurrent"); *context = depth ? stack[depth - 1] : NULL; return 0; }
int cuCtxPushCurrent_v2(void *context) { stack[depth++] = context; return 0; }
int cuCtxPopCurrent_v2(void **context) { *context = stack[--depth]; return 0; }
int cuMemAllocAsync(memory *to, size_t bytes, void *stream) {
  START("cuMemAllocAsync");
  NEEDS_CONTEXT;
  (void)stream;
  if (!bytes) return 1;
  if (fake_used + (int64_t)bytes > fake_total) return OUT_OF_MEMORY;
  int64_t *block = aligned_alloc(256, (bytes + 511) / 256 * 256);
  block[0] = (int64_t)bytes;
  __atomic_fetch_add(&fake_used, (int64_t)bytes, __ATOMIC_SEQ_CST);
  *to = (memory)(block + 32);
  return 0;
}
int cuMemFreeAsync(memory from, void *stream) {
  START("cuMemFreeAsync");
  NEEDS_CONTEXT;
  int64_t *block = (int64_t *)from - 32;
  const char *low = (const char *)from, *high = low + block[0];
  pthread_mutex_lock(&lock);
  run_until(stream, task_count - 1);
  for (int64_t k = first_task; k < task_count; k++) {
    task *t = &tasks[k % MOST];
    if (!t->done && ((t->to >= low && t->to < high) || (t->from >= low && t->from < high))) sticky = ILLEGAL_ADDRESS;
  }
  error = sticky;
  pthread_mutex_unlock(&lock);
  __atomic_fetch_sub(&fake_used, block[0], __ATOMIC_SEQ_CST);
  free(block);
  return error;
}
int cuMemPoolTrimTo(void *pool, size_t keep) { fake_trims++; return pool != &fake_trims || keep; }
int cuMemsetD8Async(memory to, unsigned char value, size_t bytes, void *stream) {
  START("cuMemsetD8Async");
  NEEDS_CONTEXT;
  return value ? 1 : later((task){.kind = 'z', .stream = stream, .to = (char *)to, .bytes = bytes});
}
int cuMemcpyHtoDAsync_v2(memory to, const void *from, size_t bytes, void *stream) {
  START("cuMemcpyHtoDAsync");
  NEEDS_CONTEXT;
  __atomic_fetch_add(&fake_copies, 1, __ATOMIC_SEQ_CST);
  return later((task){.kind = 'c', .stream = stream, .to = (char *)to, .from = from, .bytes = bytes});
}
int cuMemcpyDtoHAsync_v2(void *to, memory from, size_t bytes, void *stream) {
  START("cuMemcpyDtoHAsync");
  NEEDS_CONTEXT;
  __atomic_fetch_add(&fake_copies, 1, __ATOMIC_SEQ_CST);
  return later((task){.kind = 'c', .stream = stream, .to = to, .from = (const char *)from, .bytes = bytes});
}
typedef struct {
  size_t from_x, from_y, from_z, from_lod;
  int from_type;
  const void *from_host;
  memory from;
  void *from_array, *from_context;
  size_t from_pitch, from_height, to_x, to_y, to_z, to_lod;
  int to_type;
  void *to_host;
  memory to;
  void *to_array, *to_context;
  size_t to_pitch, to_height, bytes, height, depth;
} box_copy;
static int copy_box(const box_copy *b, void *stream) {
  if (b->from_lod | b->to_lod || !b->bytes || !b->height || !b->depth || b->from_pitch >> 31 || b->to_pitch >> 31) return 1;
  if (b->from_x + b->bytes > b->from_pitch || b->to_x + b->bytes > b->to_pitch) return 1;
  if (b->from_y + b->height > b->from_height || b->to_y + b->height > b->to_height) return 1;
  const char *from = (b->from_type == 1 ? b->from_host : (const char *)b->from) + b->from_x;
  char *to = (b->to_type == 1 ? (char *)b->to_host : (char *)b->to) + b->to_x;
  __atomic_fetch_add(&fake_copies, 1, __ATOMIC_SEQ_CST);
  for (size_t z = 0; z < b->depth; z++)
    for (size_t y = 0; y < b->height; y++)
      later((task){.kind = 'c', .stream = stream, .bytes = b->bytes,
                   .to = to + ((b->to_z + z) * b->to_height + b->to_y + y) * b->to_pitch,
                   .from = from + ((b->from_z + z) * b->from_height + b->from_y + y) * b->from_pitch});
  return 0;
}
int cuMemcpy3DAsync_v2(const box_copy *box, void *stream) {
  START("cuMemcpy3DAsync");
  NEEDS_CONTEXT;
  return box->from_type == 2 && box->to_type == 2 ? 1 : copy_box(box, stream);
}
int cuMemcpy3DPeerAsync(const box_copy *box, void *stream) {
  START("cuMemcpy3DPeerAsync");
  NEEDS_CONTEXT;
  if (box->from_context != &the_context || box->to_context != &the_context) return 201;
  return box->from_type == 2 && box->to_type == 2 ? copy_box(box, stream) : 1;
}
int cuMemcpyPeerAsync(memory to, void *to_context, memory from, void *from_context, size_t bytes, void *stream) {
  START("cuMemcpyPeerAsync");
  NEEDS_CONTEXT;
  if (from_context != &the_context || to_context != &the_context) return 201;
  __atomic_fetch_add(&fake_copies, 1, __ATOMIC_SEQ_CST);
  return later((task){.kind = 'c', .stream = stream, .to = (char *)to, .from = (const char *)from, .bytes = bytes});
}
int cuDeviceCanAccessPeer(int *can, int device, int other) { *can = 0; return device == other; }
int cuStreamSynchronize(void *stream) {
  START("cuStreamSynchronize");
  NEEDS_CONTEXT;
  pthread_mutex_lock(&lock);
  finish(stream, task_count - 1);
  error = sticky;
  pthread_mutex_unlock(&lock);
  return error;
}
int cuStreamQuery(void *stream) {
  START("cuStreamQuery");
  NEEDS_CONTEXT;
  static __thread int64_t asked;
  pthread_mutex_lock(&lock);
  if (++asked % 3 == 0) run_until(stream, task_count - 1);
  error = is_done(stream, task_count - 1) ? sticky : 600;
  pthread_mutex_unlock(&lock);
  return error;
}
int cuCtxSynchronize(void) {
  START("cuCtxSynchronize");
  NEEDS_CONTEXT;
  pthread_mutex_lock(&lock);
  error = all_done();
  pthread_mutex_unlock(&lock);
  return error;
}
int cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
  START("cuMemHostAlloc");
  NEEDS_CONTEXT;
  __atomic_fetch_add(&fake_pinned, (int64_t)bytes, __ATOMIC_SEQ_CST);
  *to = malloc(bytes);
  return flags != 1;
}
int cuMemFreeHost(void *memory) { free(memory); return 0; }
int cuEventCreate(event **made, unsigned flags) {
  NEEDS_CONTEXT;
  (void)flags;
  *made = calloc(1, sizeof(event));
  fake_events++;
  return 0;
}
int cuEventDestroy_v2(event *gone) {
  START("cuEventDestroy");
  __atomic_fetch_sub(&fake_events, 1, __ATOMIC_SEQ_CST);
  if (!gone->open) free(gone); /* else it is still written to: a leak, in tests */
  return 0;
}
int cuEventRecord(event *here, void *stream) {
  START("cuEventRecord");
  NEEDS_CONTEXT;
  __atomic_fetch_add(&fake_records, 1, __ATOMIC_SEQ_CST);
  return later((task){.kind = 'e', .stream = stream, .event = here});
}
int cuEventSynchronize(event *here) {
  START("cuEventSynchronize");
  pthread_mutex_lock(&lock);
  if (here->open) finish(here->stream, here->last);
  pthread_mutex_unlock(&lock);
  return sticky;
}
int cuEventQuery(event *here) {
  START("cuEventQuery");
  NEEDS_CONTEXT;
  pthread_mutex_lock(&lock);
  if (here->open && ++here->asked % 3 == 0) run_until(here->stream, here->last);
  pthread_mutex_unlock(&lock);
  return here->open && !sticky ? 600 : sticky;
}
int cuStreamWaitEvent(void *stream, event *here, unsigned flags) {
  START("cuStreamWaitEvent");
  NEEDS_CONTEXT;
  if (flags) return 1;
  __atomic_fetch_add(&fake_waits, 1, __ATOMIC_SEQ_CST);
  return here->open ? later((task){.kind = 'w', .stream = stream, .other = here->stream, .n = here->last}) : 0;
}
int cuFuncSetAttribute(int *function, int kind, int value) {
  if (kind != 8 || value > 232448) return 1;
  *function = value;
  return 0;
}
typedef struct { /* of cuda_pull.cuh */
  memory to[8], from[8], pitch[8];
  uint32_t rows[8], units[8], bytes[8];
} pulls;
static void pull(const pulls *p, unsigned boxes, void *stream) {
  for (unsigned k = 0; k < boxes; k++)
    for (uint32_t row = 0; row < p->rows[k]; row++)
      later((task){.kind = 'c', .stream = stream, .to = (char *)(p->to[k] + row * p->pitch[k]),
                   .from = (const char *)(p->from[k] + row * p->pitch[k]), .bytes = (size_t)p->units[k] * p->bytes[k]});
}
int cuLaunchKernel(int *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  START("cuLaunchKernel");
  NEEDS_CONTEXT;
  if (!(gx && gy && gz && bx && by && bz) || bx * by * bz > 1024 || (int)shared > *function || extra) return 1;
  const int kernel = (int)(function - dynamic_shared);
  fake_stream = stream, fake_launches++;
  task t = {.kind = 'k', .stream = stream, .kernel = kernel};
  if (kernel == 0) {
    t.n = *(int64_t *)arguments[0], t.a = *(float *)arguments[1];
    t.from = *(const char **)arguments[2], t.to = *(char **)arguments[3];
  }
  if (kernel == 7) return pull(arguments[0], gy, stream), 0;
  if (kernel == 6) t.from = *(const char **)arguments[0], t.n = *(int64_t *)arguments[1];
  return later(t);
}
