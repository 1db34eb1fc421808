/* A real GPU: waiting for it, its memory, and copies between NumPy's memory and the GPU's. cuda_launch.c follows.

   Behind gpu_wait.c. It knows CUDA's driver by the addresses that cuda.py looks up, in the order of `lw_driver`; CUDA's
   headers are not needed. Every function may be called by any thread: it makes the GPU's context current for itself, and
   leaves another one that was current as it was. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STOPPED = -1, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600 }; /* the others: CUresult */
enum { MOST_DYNAMIC_SHARED = 8, EVENT_WITHOUT_TIME = 2, FOR_ALL_CONTEXTS = 1 }; /* attribute and flags of the driver */
enum { LAUNCH = 0, FETCH = 1, CLEAR = 2, ALLOCATE = 3 };                  /* what failed; DOING of cuda.py */
enum { MOST_LANES = 16, PIECE = 256, PAGE = 4096, MOST_AXES = 64 };
enum { FAILURE_BYTES = 24, SLOT_BYTES = 64, SLOTS = 64 };                 /* of the page that a module and its kernels see */
enum { IN_QUEUE = 64 }; /* launches of the main thread between two marks, of which it waits for the last but one */
#define WORK_IN_QUEUE (INT64_C(1) << 35) /* units between them, where kernels do not ask: milliseconds (most_work.py) */
#define PERIOD_NS INT64_C(8000000) /* so long at most may the GPU take from one mark to the next */
#define SOON (INT64_C(1) << 33)   /* units that are over before anybody misses an answer to Ctrl-C */
enum { MOST_UNITS = 1 << 19 }; /* of a thread that does not ask: MOST of codegen/most_work.py */
enum { SPIN_NS = 10000000, LONGEST_NAP_NS = 1000000 };
#define LW_RARE(x) __builtin_expect(!!(x), 0)

enum { ON_HOST = 1, ON_DEVICE = 2 }; /* CUmemorytype */
#define MOST_PITCH ((INT64_C(1) << 31) - 1) /* bytes from one row of a box to the next, at most */

typedef uint64_t device_memory;

typedef struct { /* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER; only the second one looks at contexts */
  size_t from_x, from_y, from_z, from_lod;
  int from_type;
  const void *from_host;
  device_memory from;
  void *from_array, *from_context;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_lod;
  int to_type;
  void *to_host;
  device_memory to;
  void *to_array, *to_context;
  size_t to_pitch, to_height;
  size_t bytes, height, depth;
} lw_copy_3d;

typedef struct { /* FUNCTIONS of cuda.py, in this order */
  int (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared_bytes, void *stream, void **arguments, void **extra);
  int (*cuFuncSetAttribute)(void *function, int attribute, int value);
  int (*cuCtxGetCurrent)(void **context);
  int (*cuCtxPushCurrent)(void *context);
  int (*cuCtxPopCurrent)(void **context);
  int (*cuMemAllocAsync)(device_memory *memory, size_t bytes, void *stream);
  int (*cuMemFreeAsync)(device_memory memory, void *stream);
  int (*cuMemPoolTrimTo)(void *pool, size_t bytes_to_keep);
  int (*cuMemsetD8Async)(device_memory memory, unsigned char value, size_t bytes, void *stream);
  int (*cuMemcpyHtoDAsync)(device_memory to, const void *from, size_t bytes, void *stream);
  int (*cuMemcpyDtoHAsync)(void *to, device_memory from, size_t bytes, void *stream);
  int (*cuStreamSynchronize)(void *stream);
  int (*cuMemHostAlloc)(void **memory, size_t bytes, unsigned flags);
  int (*cuEventCreate)(void **event, unsigned flags);
  int (*cuEventRecord)(void *event, void *stream);
  int (*cuEventSynchronize)(void *event);
  int (*cuMemFreeHost)(void *memory);
  int (*cuStreamQuery)(void *stream);
  int (*cuEventQuery)(void *event);
  int (*cuStreamWaitEvent)(void *stream, void *event, unsigned flags);
  int (*cuMemcpyPeerAsync)(device_memory to, void *to_context, device_memory from, void *from_context, size_t bytes,
                           void *stream);
  int (*cuMemcpy3DPeerAsync)(const lw_copy_3d *box, void *stream);
  int (*cuMemcpy3DAsync)(const lw_copy_3d *box, void *stream);
} lw_driver;

typedef struct lw_gpu lw_gpu; /* as in codegen/loopwright.h */
struct lw_gpu {
  int32_t (*launch)(lw_gpu *gpu, int64_t kernel, const int64_t grid[3], const int64_t block[3], int64_t shared_bytes,
                    void **arguments, int64_t work);
  int32_t (*fetch)(lw_gpu *gpu, void *to, const void *from, int64_t bytes);
  void *(*allocate)(lw_gpu *gpu, int64_t bytes);
  void (*release)(lw_gpu *gpu, void *memory);
  int32_t (*clear)(lw_gpu *gpu, void *memory, int64_t bytes);
  void *(*visible)(lw_gpu *gpu, int64_t bytes);
  int64_t (*ticket)(lw_gpu *gpu);
  const volatile int64_t *stopped;
  int64_t patience;
};

/* Two buffers of pinned memory: while the GPU copies from or to one of them, a CPU thread fills or empties the other.
   done[k]: all that was asked of the GPU with half[k] has ended. Bytes of half[now] up to `fill` are in use. */
typedef struct {
  char *half[2];
  void *done[2];
  void *stream; /* of the copy before */
  int64_t fill;
  int now;
} lane;

typedef struct {
  lw_driver cu;
  void *context, *pool;
  int64_t lanes, half_bytes;
  pthread_mutex_t copying[2]; /* one for each direction: held by the thread whose copy uses its lanes */
  lane lane[2][MOST_LANES];
  void *stop_stream;      /* its copies wait for no kernel */
  device_memory stopped;  /* calls of the main thread with this ticket or an earlier one end */
  int64_t last_stopped, launches, work, passed; /* of the main thread, since the last mark; marks so far */
  int64_t halved;    /* how often WORK_IN_QUEUE was too much by half; < 0: how often it was less than half */
  int64_t passed_ns; /* when a mark was passed that was waited for */
  void *marks[2];
  void *own;     /* the stream of kernels, if no other library's */
  int64_t ahead; /* units of the main thread in it, since that waited for all of it */
  int32_t unsure; /* it may have more to do than that: kernels that ask, or of other threads */
} lw_cuda;

/* How an array of the host lies beside its copy on the device (copy_layout.py has the same struct): there its elements
   follow one another without gaps, here each axis has a stride. A run is what has no gaps here either. Copied is what
   lies inside of a box: low .. high of each axis, and bytes first .. end of each run. */
typedef struct {
  char *host; /* of the first run */
  int64_t axes, run, first, end;
  int64_t size[MOST_AXES], stride[MOST_AXES], low[MOST_AXES], high[MOST_AXES]; /* strides in bytes */
} lw_layout;

/* A box that is copied by itself, packed in between (copy_layout.py has the same struct). Rows are what lies together on the
   device: bytes first .. first + wide of every `step` of the last axis. */
typedef struct {
  int64_t wide, first, axes;
  int64_t size[MOST_AXES], step[MOST_AXES], low[MOST_AXES], high[MOST_AXES]; /* steps in bytes */
} lw_box;

typedef struct {
  lw_gpu table; /* first: host code has its address */
  lw_cuda *gpu;
  void *stream; /* where kernels start; cuda.py may change it between calls */
  int64_t count;
  void **functions;        /* NULL: not compiled yet */
  int32_t (*wanted)(int64_t kernel); /* has it compiled, by lw_cuda_module_set; 0 where that went well */
  int32_t *shared_allowed; /* per function, in bytes */
  int64_t last;            /* the kernel started last, -1: none */
  char *page;              /* pinned: slot 0 is the failure that kernels told of; NULL: there is none */
  uint64_t taken;          /* a bit for each slot in use */
  const void *failures;    /* the device's own record of it */
  pthread_mutex_t noting;  /* held to write what is below, or shared_allowed */
  int64_t error, doing, kernel, bytes; /* the first failure; error 0: none */
} lw_cuda_module;

/* ---- the context ---------------------------------------------------------------------------------------------- */

static int enter(const lw_cuda *gpu, bool *pushed) {
  void *now = NULL;
  *pushed = false;
  int error = gpu->cu.cuCtxGetCurrent(&now);
  if (LW_RARE(error)) return error;
  if (now == gpu->context) return 0;
  error = gpu->cu.cuCtxPushCurrent(gpu->context);
  *pushed = !error;
  return error;
}

static void leave(const lw_cuda *gpu, bool pushed) {
  void *ours;
  if (pushed) gpu->cu.cuCtxPopCurrent(&ours);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

/* All calls of the main thread so far end early, those that Python has not waited for too. */
void lw_cuda_stop(lw_cuda *gpu) {
  bool pushed;
  if (!gpu->stopped || enter(gpu, &pushed)) return; /* nothing runs; a lost GPU */
  gpu->last_stopped = tickets;
  gpu->cu.cuMemcpyHtoDAsync(gpu->stopped, &gpu->last_stopped, sizeof gpu->last_stopped, gpu->stop_stream);
  gpu->cu.cuStreamSynchronize(gpu->stop_stream);
  leave(gpu, pushed);
}

/* Where kernels read what lw_cuda_stop writes; 0: no memory. */
static device_memory word_of(lw_cuda *gpu) {
  bool pushed;
  pthread_mutex_lock(&gpu->copying[0]);
  if (!gpu->stopped && !enter(gpu, &pushed)) {
    if (gpu->cu.cuMemAllocAsync(&gpu->stopped, sizeof gpu->last_stopped, gpu->stop_stream)) gpu->stopped = 0;
    leave(gpu, pushed);
    lw_cuda_stop(gpu); /* no kernel runs that asks */
  }
  pthread_mutex_unlock(&gpu->copying[0]);
  return gpu->stopped;
}

/* Until a stream or an event has nothing left to do. In the main thread signals are heard meanwhile; where a handler
   raises, the kernels end early. With naps, a 256th of the time may pass before the end is seen. */
static int wait_for(lw_cuda *gpu, int (*query)(void *), int (*synchronize)(void *), void *what) {
  if (!is_main()) return synchronize(what);
  const int64_t begun_ns = now_ns();
  int error;
  while ((error = query(what)) == NOT_READY && !is_held) {
    const int64_t waited_ns = now_ns() - begun_ns, part_ns = waited_ns / 256;
    if (waited_ns < SPIN_NS) continue;
    nanosleep(&(struct timespec){0, part_ns < LONGEST_NAP_NS ? part_ns : LONGEST_NAP_NS}, NULL);
    hears();
  }
  if (error != NOT_READY) return error;
  lw_cuda_stop(gpu);
  return synchronize(what);
}

/* What is over soon is left to the driver, which is deaf to signals, but sees the end at once. */
static int wait_for_stream(lw_cuda *gpu, void *stream) {
  if (stream != gpu->own || !is_main()) return wait_for(gpu, gpu->cu.cuStreamQuery, gpu->cu.cuStreamSynchronize, stream);
  const bool soon = !__atomic_exchange_n(&gpu->unsure, 0, __ATOMIC_ACQ_REL) && gpu->ahead < SOON;
  const int error =
      soon ? gpu->cu.cuStreamSynchronize(stream) : wait_for(gpu, gpu->cu.cuStreamQuery, gpu->cu.cuStreamSynchronize, stream);
  if (!error) gpu->ahead = 0;
  return error;
}

static int wait_for_event(lw_cuda *gpu, void *event) {
  return wait_for(gpu, gpu->cu.cuEventQuery, gpu->cu.cuEventSynchronize, event);
}

int32_t lw_cuda_wait(lw_cuda *gpu, void *stream) {
  bool pushed;
  int error = enter(gpu, &pushed);
  if (error) return error;
  error = wait_for_stream(gpu, stream);
  leave(gpu, pushed);
  return error;
}

/* Wait for a mark. full: it is there since much work was queued; by the time from one to the next it shows how long that
   really takes. */
static int pass(lw_cuda *gpu, void *mark, bool full) {
  int error = gpu->cu.cuEventQuery(mark);
  if (error != NOT_READY) {
    gpu->passed_ns = 0; /* the GPU may have had nothing to do */
    return error;
  }
  error = wait_for_event(gpu, mark);
  const int64_t now = now_ns(), took = now - gpu->passed_ns;
  if (full && gpu->passed_ns && took > PERIOD_NS && gpu->halved < 10) gpu->halved++;
  if (full && gpu->passed_ns && took < PERIOD_NS / 4 && gpu->halved > -5) gpu->halved--;
  gpu->passed_ns = now;
  return error;
}

/* The driver takes a thousand launches, and then keeps who starts more waiting, deaf to signals; and all that it has
   taken is still to be begun, to end early; or, where it does not ask, to run. STOPPED: nothing more is to be started. */
static int keep_queue_short(lw_cuda *gpu, void *stream, int64_t work) {
  const bool counts = is_main();
  if (stream == gpu->own && (!work || !counts)) __atomic_store_n(&gpu->unsure, 1, __ATOMIC_RELEASE);
  if (!counts) return is_ended() ? STOPPED : 0;
  if (gpu->ahead < SOON) gpu->ahead += work;
  gpu->work += work;
  const int64_t most = gpu->halved < 0 ? WORK_IN_QUEUE << -gpu->halved : WORK_IN_QUEUE >> gpu->halved;
  if (++gpu->launches < IN_QUEUE && gpu->work < most) return is_held ? STOPPED : 0;
  const bool full = gpu->launches < IN_QUEUE;
  gpu->launches = gpu->work = 0;
  void **mark = &gpu->marks[gpu->passed++ % 2];
  int error = *mark ? pass(gpu, *mark, full) : gpu->cu.cuEventCreate(mark, EVENT_WITHOUT_TIME);
  if (!error) error = gpu->cu.cuEventRecord(*mark, stream);
  return error ? error : hears() ? STOPPED : 0;
}

static int32_t ask_hears(lw_watch *watch) { return hears() || is_ended(); }
LW_EXPORT lw_watch lw_cuda_watch = {.ask = ask_hears};

/* ---- copies: through pinned memory ---------------------------------------------------------------------------- */

static void *pinned(const lw_cuda *gpu, int64_t bytes) {
  void *memory = NULL;
  if (!gpu->cu.cuMemHostAlloc(&memory, (size_t)bytes, FOR_ALL_CONTEXTS)) return memory;
  return aligned_alloc(PAGE, (size_t)bytes); /* no more may be pinned: slower, and as correct */
}

static int open_lane(lw_cuda *gpu, lane *l, void *stream) {
  for (int k = 0; k < 2; k++) {
    if (!l->half[k] && !(l->half[k] = pinned(gpu, gpu->half_bytes))) return OUT_OF_MEMORY;
    int error = l->done[k] ? 0 : gpu->cu.cuEventCreate(&l->done[k], EVENT_WITHOUT_TIME);
    if (error) return error;
  }
  if (l->stream == stream) return 0;
  int error = wait_for_event(gpu, l->done[0]); /* the streams are in no order */
  if (!error) error = wait_for_event(gpu, l->done[1]);
  if (error) return error;
  l->stream = stream;
  l->fill = 0;
  return 0;
}

/* Between pinned memory, which has bytes from .. from + bytes of the device's copy, and the host's array. */
static void through(const lw_layout *l, char *between, int64_t from, int64_t bytes, bool up) {
  int64_t index[MOST_AXES], row = from / l->run, within = from % l->run;
  char *host = l->host;
  for (int64_t k = l->axes - 1; k >= 0; k--) {
    index[k] = row % l->size[k];
    row /= l->size[k];
    host += index[k] * l->stride[k];
  }
  while (bytes > 0) {
    const int64_t part = bytes < l->run - within ? bytes : l->run - within;
    const int64_t low = within > l->first ? within : l->first, high = within + part < l->end ? within + part : l->end;
    bool inside = low < high;
    for (int64_t k = 0; inside && k < l->axes; k++) inside = index[k] >= l->low[k] && index[k] < l->high[k];
    if (inside && up) memcpy(between + (low - within), host + low, (size_t)(high - low));
    if (inside && !up) memcpy(host + low, between + (low - within), (size_t)(high - low));
    between += part;
    bytes -= part;
    within = 0;
    for (int64_t k = l->axes - 1; k >= 0; k--) { /* the next run */
      host += l->stride[k];
      if (++index[k] < l->size[k]) break;
      host -= l->stride[k] * l->size[k];
      index[k] = 0;
    }
  }
}

/* The same for a box that is packed in pinned memory: bytes from .. from + bytes of it. Rows of it are whole runs. */
static void through_box(const lw_layout *l, char *between, int64_t from, int64_t bytes, bool up) {
  const int64_t run = l->end - l->first;
  int64_t index[MOST_AXES], row = from / run;
  char *host = l->host + l->first;
  for (int64_t k = l->axes - 1; k >= 0; k--) {
    index[k] = l->low[k] + row % (l->high[k] - l->low[k]);
    row /= l->high[k] - l->low[k];
    host += index[k] * l->stride[k];
  }
  for (; bytes > 0; bytes -= run, between += run) {
    if (up) memcpy(between, host, (size_t)run);
    else memcpy(host, between, (size_t)run);
    for (int64_t k = l->axes - 1; k >= 0; k--) {
      host += l->stride[k];
      if (++index[k] < l->high[k]) break;
      host -= l->stride[k] * (l->high[k] - l->low[k]);
      index[k] = l->low[k];
    }
  }
}

typedef struct { /* the part of a copy that one thread does in one lane */
  lw_cuda *gpu;
  lane *lane;
  const lw_layout *host;
  const lw_box *box; /* NULL: all of the device's copy */
  device_memory device;
  int64_t from, bytes;
  void *stream;
  bool up;
  int error;
} share;

static int64_t grain(const share *s) { return s->box ? s->box->wide : 1; }

static void pack(const share *s, char *between, int64_t from, int64_t bytes) {
  (s->box ? through_box : through)(s->host, between, from, bytes, s->up);
}

static int move_bytes(const share *s, char *between, device_memory device, int64_t bytes) {
  return s->up ? s->gpu->cu.cuMemcpyHtoDAsync(device, between, (size_t)bytes, s->stream)
               : s->gpu->cu.cuMemcpyDtoHAsync(between, device, (size_t)bytes, s->stream);
}

/* `depth` times `height` rows of a box, the first one at `index`. */
static int move_rows(const share *s, char *between, const int64_t *index, int64_t height, int64_t depth) {
  const lw_box *b = s->box;
  const int64_t last = b->axes - 1, pitch = b->step[last];
  device_memory device = s->device;
  for (int64_t k = 0; k < last - 1; k++) device += (device_memory)(index[k] * b->step[k]);
  if (pitch > MOST_PITCH) {
    if (last > 0) device += (device_memory)(index[last - 1] * b->step[last - 1]);
    int error = 0;
    for (int64_t row = 0; !error && row < height; row++)
      error = move_bytes(s, between + row * b->wide, device + (device_memory)(b->first + (index[last] + row) * pitch), b->wide);
    return error;
  }
  lw_copy_3d c = {.bytes = (size_t)b->wide, .height = (size_t)height, .depth = (size_t)depth};
  const size_t z = last > 0 ? (size_t)index[last - 1] : 0;
  if (s->up) {
    c.from_type = ON_HOST, c.from_host = between, c.from_pitch = (size_t)b->wide, c.from_height = (size_t)height;
    c.to_type = ON_DEVICE, c.to = device, c.to_pitch = (size_t)pitch, c.to_height = (size_t)b->size[last];
    c.to_x = (size_t)b->first, c.to_y = (size_t)index[last], c.to_z = z;
  } else {
    c.to_type = ON_HOST, c.to_host = between, c.to_pitch = (size_t)b->wide, c.to_height = (size_t)height;
    c.from_type = ON_DEVICE, c.from = device, c.from_pitch = (size_t)pitch, c.from_height = (size_t)b->size[last];
    c.from_x = (size_t)b->first, c.from_y = (size_t)index[last], c.from_z = z;
  }
  return s->gpu->cu.cuMemcpy3DAsync(&c, s->stream);
}

/* Rows of a box that follow one another: as few copies as there are, which is three for each two axes. */
static int move_box(const share *s, char *between, int64_t from, int64_t bytes) {
  const lw_box *b = s->box;
  const int64_t last = b->axes - 1, high = b->high[last] - b->low[last];
  int64_t index[MOST_AXES], row = from / b->wide, rows = bytes / b->wide;
  int error = 0;
  for (int64_t k = last, rest = row; k >= 0; k--) {
    index[k] = b->low[k] + rest % (b->high[k] - b->low[k]);
    rest /= b->high[k] - b->low[k];
  }
  while (!error && rows > 0) {
    const int64_t left = b->high[last] - index[last];
    int64_t depth = 1, height = rows < left ? rows : left;
    if (last > 0 && left == high && rows >= 2 * high && b->step[last] <= MOST_PITCH) {
      const int64_t deep = b->high[last - 1] - index[last - 1];
      depth = rows / high < deep ? rows / high : deep;
    }
    error = move_rows(s, between, index, height, depth);
    between += depth * height * b->wide;
    rows -= depth * height;
    index[last] += height;
    if (index[last] < b->high[last]) continue;
    index[last] = b->low[last];
    int64_t step = depth;
    for (int64_t k = last - 1; k >= 0; k--, step = 1) {
      if ((index[k] += step) < b->high[k]) break;
      index[k] = b->low[k];
    }
  }
  return error;
}

static int move(const share *s, char *between, int64_t from, int64_t bytes) {
  return s->box ? move_box(s, between, from, bytes) : move_bytes(s, between, s->device + (device_memory)from, bytes);
}

/* Returns when all bytes are in pinned memory; the GPU may still be copying. Small arrays follow one another in a
   half, so that many of them wait for nothing. */
static int lane_up(const share *s) {
  lw_cuda *gpu = s->gpu;
  lane *l = s->lane;
  int64_t from = s->from, bytes = s->bytes;
  while (bytes > 0) {
    if (l->fill && bytes > gpu->half_bytes - l->fill) {
      int error = wait_for_event(gpu, l->done[l->now ^ 1]);
      if (error) return error;
      l->now ^= 1;
      l->fill = 0;
    }
    const int64_t room = (gpu->half_bytes - l->fill) / grain(s) * grain(s), part = bytes < room ? bytes : room;
    char *between = l->half[l->now] + l->fill;
    pack(s, between, from, part);
    l->fill += (part + PIECE - 1) / PIECE * PIECE;
    int error = move(s, between, from, part);
    if (!error) error = gpu->cu.cuEventRecord(l->done[l->now], s->stream);
    if (error) return error;
    from += part;
    bytes -= part;
  }
  return 0;
}

static int lane_down(const share *s) {
  lw_cuda *gpu = s->gpu;
  lane *l = s->lane;
  int error = wait_for_event(gpu, l->done[0]);
  if (!error) error = wait_for_event(gpu, l->done[1]);
  const int64_t most = gpu->half_bytes / grain(s) * grain(s), bytes = s->bytes;
  int64_t asked = 0, taken = 0;
  l->fill = gpu->half_bytes; /* if it ends early, the halves are in use */
  while (!error && taken < bytes) {
    while (asked < bytes && asked - taken < 2 * most) {
      const int k = (asked / most) & 1;
      const int64_t part = bytes - asked < most ? bytes - asked : most;
      error = move(s, l->half[k], s->from + asked, part);
      if (!error) error = gpu->cu.cuEventRecord(l->done[k], s->stream);
      if (error) return error;
      asked += part;
    }
    const int k = (taken / most) & 1;
    const int64_t part = bytes - taken < most ? bytes - taken : most;
    error = wait_for_event(gpu, l->done[k]);
    if (error) return error;
    pack(s, l->half[k], s->from + taken, part);
    taken += part;
  }
  if (!error) l->fill = 0;
  return error;
}

static void *run_share(void *argument) {
  share *s = argument;
  bool pushed;
  s->error = enter(s->gpu, &pushed);
  if (!s->error) s->error = open_lane(s->gpu, s->lane, s->stream);
  if (!s->error) s->error = s->up ? lane_up(s) : lane_down(s);
  if (s->error) s->gpu->cu.cuStreamSynchronize(s->stream); /* what was started ends before the halves are used again */
  leave(s->gpu, pushed);
  return NULL;
}

/* One part for each lane that gets at least a half to do. One thread copies to pinned memory more slowly than the bus
   moves data; threads are started anew each time, since a pool would not outlive a fork. */
static int copy(const share *all) {
  lw_cuda *gpu = all->gpu;
  const int64_t bytes = all->bytes, wanted = bytes / gpu->half_bytes, unit = all->box ? all->box->wide : PAGE;
  const int64_t parts = wanted < 1 ? 1 : wanted < gpu->lanes ? wanted : gpu->lanes;
  const int64_t each = (bytes / parts + unit - 1) / unit * unit;
  share shares[MOST_LANES];
  pthread_t threads[MOST_LANES];
  bool started[MOST_LANES] = {false};
  for (int64_t p = 0; p < parts; p++) {
    const int64_t from = p * each < bytes ? p * each : bytes;
    const int64_t rest = bytes - from, mine = p < parts - 1 && each < rest ? each : rest;
    shares[p] = *all;
    shares[p].lane = &gpu->lane[all->up][p], shares[p].from = from, shares[p].bytes = mine;
    if (p > 0) started[p] = !pthread_create(&threads[p], NULL, run_share, &shares[p]);
  }
  int error = 0;
  for (int64_t p = 0; p < parts; p++) {
    if (!started[p]) run_share(&shares[p]);
    else pthread_join(threads[p], NULL);
    if (!error) error = shares[p].error;
  }
  return error;
}

/* The same for the handler of a signal that came while its thread waited in a copy, whose lanes are in use. */
static int copy_aside(const share *s) {
  bool pushed;
  char *all = malloc((size_t)s->bytes);
  if (!all) return OUT_OF_MEMORY;
  int error = enter(s->gpu, &pushed);
  if (!error) {
    if (s->up) pack(s, all, 0, s->bytes);
    error = move(s, all, 0, s->bytes);
    if (!error) error = wait_for_stream(s->gpu, s->stream);
    if (!error && !s->up) pack(s, all, 0, s->bytes);
    leave(s->gpu, pushed);
  }
  free(all);
  return error;
}

static __thread bool copying_now[2];

/* Between an array of the host and device memory, in order with what was started on `stream`. box: NULL for all of the
   array (down: all of it moves, and what lies inside of the layout's box is kept); else what moves, in rows that fit a
   half. Up: when it returns, host memory may change. Down: host memory is there. One copy up and one copy down may go
   on at once. */
int32_t lw_cuda_copy(lw_cuda *gpu, void *stream, const lw_layout *host, const lw_box *box, device_memory device,
                     int32_t up) {
  int64_t bytes = box ? box->wide : host->run;
  if (host->axes > MOST_AXES || (box && (box->axes < 1 || box->wide > gpu->half_bytes))) return INVALID_VALUE;
  for (int64_t k = 0; box && k < box->axes; k++) bytes *= box->high[k] - box->low[k];
  for (int64_t k = 0; !box && k < host->axes; k++) bytes *= host->size[k];
  if (bytes <= 0) return bytes < 0 ? INVALID_VALUE : 0;
  const share all = {gpu, NULL, host, box, device, 0, bytes, stream, up != 0, 0};
  if (LW_RARE(copying_now[up != 0])) return copy_aside(&all);
  pthread_mutex_lock(&gpu->copying[up != 0]);
  copying_now[up != 0] = true;
  int error = copy(&all);
  copying_now[up != 0] = false;
  pthread_mutex_unlock(&gpu->copying[up != 0]);
  return error;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* At least one byte, so that each array has an address of its own. Where nothing is left, memory that was released and
   that the pool still holds is given back to the system first, for it may be in too small pieces. */
int32_t lw_cuda_allocate(lw_cuda *gpu, void *stream, int64_t bytes, device_memory *memory) {
  bool pushed;
  *memory = 0;
  int error = bytes < 0 ? INVALID_VALUE : enter(gpu, &pushed);
  if (error) return error;
  const size_t wanted = bytes > 0 ? (size_t)bytes : 1;
  error = gpu->cu.cuMemAllocAsync(memory, wanted, stream);
  if (LW_RARE(error == OUT_OF_MEMORY)) {
    error = wait_for_stream(gpu, stream);
    if (!error) error = gpu->cu.cuMemPoolTrimTo(gpu->pool, 0);
    if (!error) error = gpu->cu.cuMemAllocAsync(memory, wanted, stream);
    if (error) gpu->cu.cuMemPoolTrimTo(gpu->pool, 0); /* a pool that fails may keep all that it tried to grow by */
  }
  if (error) *memory = 0;
  leave(gpu, pushed);
  return error;
}

int32_t lw_cuda_release(lw_cuda *gpu, void *stream, device_memory memory) {
  bool pushed;
  int error = enter(gpu, &pushed);
  if (!error) error = gpu->cu.cuMemFreeAsync(memory, stream);
  leave(gpu, pushed);
  return error;
}

/* functions: addresses in the order of lw_driver. lanes: how many threads a large copy uses. NULL: no memory. */
lw_cuda *lw_cuda_new(void *const *functions, void *context, void *pool, void *stop_stream, int64_t lanes,
                     int64_t half_bytes) {
  lw_cuda *gpu = calloc(1, sizeof(lw_cuda));
  if (!gpu) return NULL;
  memcpy(&gpu->cu, functions, sizeof(lw_driver));
  gpu->context = context;
  gpu->pool = pool;
  gpu->lanes = lanes < 1 ? 1 : lanes < MOST_LANES ? lanes : MOST_LANES;
  gpu->half_bytes = (half_bytes + PAGE - 1) / PAGE * PAGE;
  for (int k = 0; k < 2; k++) pthread_mutex_init(&gpu->copying[k], NULL);
  gpu->stop_stream = stop_stream;
  return gpu;
}
