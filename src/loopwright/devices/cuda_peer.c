/* What several GPUs of one machine are asked for together: to wait for one another, and then to copy what one of them has.
   Behind cuda_memory.c. */

typedef struct { /* a GPU, by its queue of work; the event is recorded there */
  lw_cuda *gpu;
  void *stream, *event;
  void *pull; /* kernel lw_pull of cuda_pull.cuh; NULL: there is none */
} lw_point;

typedef struct { /* rows of bytes, from a GPU's memory to that of the point number `at` */
  int64_t at;
  device_memory to, from;
  void *from_context;
  int64_t bytes, rows, pitch;
} lw_peer_copy;

typedef struct { /* Exchange of cuda_peer.py */
  const lw_point *points;
  int64_t point_count, recorded; /* others wait for the first `recorded` of them */
  const int64_t *waits;          /* pairs of points: the first one waits for the second one; by the first one */
  int64_t wait_count;
  const lw_peer_copy *copies; /* by the point that they go to */
  int64_t copy_count;
} lw_exchange;

enum { MOST_PULLS = 8, PULLERS = 256, MOST_BLOCKS = 256 };
#define MOST_PULLED (INT64_C(16) << 20) /* bytes of a box: of more, copy engines are as fast */

typedef struct { /* of cuda_pull.cuh */
  uint64_t to[MOST_PULLS], from[MOST_PULLS], pitch[MOST_PULLS];
  uint32_t rows[MOST_PULLS], units[MOST_PULLS], bytes[MOST_PULLS];
} lw_pulls;

/* What a thread copies at once, in bytes; 0: that is none for it. */
static uint32_t unit_of(const lw_peer_copy *c) {
  const uint64_t all = c->to | c->from | (uint64_t)c->bytes | (c->rows > 1 ? (uint64_t)c->pitch : 0);
  if (c->rows < 1 || c->bytes < 1 || c->bytes > MOST_PULLED / c->rows) return 0;
  return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
}

/* All copies of one GPU in one kernel, if they are few and small. Whether that was done; *error: how. */
static bool pull(const lw_point *point, const lw_peer_copy *copies, int64_t count, int *error) {
  lw_pulls pulls;
  uint32_t most = 0;
  if (!point->pull || count > MOST_PULLS) return false;
  for (int64_t k = 0; k < count; k++) {
    const lw_peer_copy *c = &copies[k];
    const uint32_t unit = unit_of(c);
    if (!unit) return false;
    pulls.to[k] = c->to;
    pulls.from[k] = c->from;
    pulls.pitch[k] = (uint64_t)c->pitch;
    pulls.rows[k] = (uint32_t)c->rows;
    pulls.units[k] = (uint32_t)c->bytes / unit;
    pulls.bytes[k] = unit;
    if (pulls.rows[k] * pulls.units[k] > most) most = pulls.rows[k] * pulls.units[k];
  }
  const uint32_t blocks = (most + PULLERS - 1) / PULLERS;
  void *arguments[] = {&pulls};
  *error = point->gpu->cu.cuLaunchKernel(point->pull, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, (unsigned)count, 1, PULLERS,
                                         1, 1, 0, point->stream, arguments, NULL);
  return true;
}

static int copy_from_peer(const lw_point *point, const lw_peer_copy *c) {
  const lw_driver *cu = &point->gpu->cu;
  if (c->rows > 1 && c->pitch <= MOST_PITCH) {
    const lw_copy_3d box = {
        .from_type = ON_DEVICE, .from = c->from, .from_context = c->from_context, .from_pitch = (size_t)c->pitch,
        .from_height = (size_t)c->rows, .to_type = ON_DEVICE, .to = c->to, .to_context = point->gpu->context,
        .to_pitch = (size_t)c->pitch, .to_height = (size_t)c->rows, .bytes = (size_t)c->bytes,
        .height = (size_t)c->rows, .depth = 1,
    };
    return cu->cuMemcpy3DPeerAsync(&box, point->stream);
  }
  int error = 0;
  for (int64_t row = 0; !error && row < c->rows; row++)
    error = cu->cuMemcpyPeerAsync(c->to + (device_memory)(row * c->pitch), point->gpu->context,
                                  c->from + (device_memory)(row * c->pitch), c->from_context, (size_t)c->bytes,
                                  point->stream);
  return error;
}

static int record(const lw_point *point) {
  bool pushed;
  int error = enter(point->gpu, &pushed);
  if (!error) error = point->gpu->cu.cuEventRecord(point->event, point->stream);
  leave(point->gpu, pushed);
  return error;
}

/* What one GPU waits for, and copies: from the waits and copies of others before on. */
static int wait_and_copy(const lw_exchange *e, int64_t at, int64_t *wait, int64_t *copy) {
  const lw_point *point = &e->points[at];
  bool pushed, waits = *wait < e->wait_count && e->waits[2 * *wait] == at;
  if (!waits && (*copy >= e->copy_count || e->copies[*copy].at != at)) return 0;
  int error = enter(point->gpu, &pushed);
  if (waits) __atomic_store_n(&point->gpu->unsure, 1, __ATOMIC_RELEASE); /* the others may have much to do */
  for (; !error && *wait < e->wait_count && e->waits[2 * *wait] == at; ++*wait)
    error = point->gpu->cu.cuStreamWaitEvent(point->stream, e->points[e->waits[2 * *wait + 1]].event, 0);
  int64_t count = 0;
  while (*copy + count < e->copy_count && e->copies[*copy + count].at == at) count++;
  if (!error && count && pull(point, &e->copies[*copy], count, &error)) {
    __atomic_store_n(&point->gpu->unsure, 1, __ATOMIC_RELEASE);
    *copy += count;
  }
  for (; !error && *copy < e->copy_count && e->copies[*copy].at == at; ++*copy)
    error = copy_from_peer(point, &e->copies[*copy]);
  leave(point->gpu, pushed);
  return error;
}

/* All of it, without waiting. *failed: the point that an error is of. Events are recorded before anybody waits, so that one
   for each GPU does for all exchanges, as long as one is asked for at a time. */
int32_t lw_cuda_exchange(const lw_exchange *e, int64_t *failed) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  int64_t wait = 0, copy = 0;
  int error = 0;
  pthread_mutex_lock(&one_at_a_time);
  for (int64_t k = 0; !error && k < e->recorded; k++) error = record(&e->points[*failed = k]);
  for (int64_t k = 0; !error && k < e->point_count; k++) error = wait_and_copy(e, *failed = k, &wait, &copy);
  pthread_mutex_unlock(&one_at_a_time);
  return error;
}
