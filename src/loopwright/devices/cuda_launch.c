/* What host code can ask of a real GPU (struct lw_gpu). Behind cuda_memory.c. */

/* A call that another thread has begun by lw_gpu_begin ends early, and so do those of the main thread before it. */
void lw_cuda_end_call(lw_cuda *gpu, int64_t ticket) {
  bool pushed;
  note_end(ticket);
  if (!gpu->stopped || enter(gpu, &pushed)) return;
  int64_t now = __atomic_load_n(&gpu->last_stopped, __ATOMIC_RELAXED);
  while (now < ticket &&
         !__atomic_compare_exchange_n(&gpu->last_stopped, &now, ticket, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  gpu->cu.cuMemcpyHtoDAsync(gpu->stopped, &gpu->last_stopped, sizeof gpu->last_stopped, gpu->stop_stream);
  gpu->cu.cuStreamSynchronize(gpu->stop_stream);
  leave(gpu, pushed);
}

static int32_t note(lw_cuda_module *self, int error, int doing, int64_t kernel, int64_t bytes) {
  if (error == STOPPED) return error;
  pthread_mutex_lock(&self->noting);
  if (!self->error) {
    self->error = error;
    self->doing = doing;
    self->kernel = kernel;
    self->bytes = bytes;
  }
  pthread_mutex_unlock(&self->noting);
  return error;
}

static int64_t last_kernel(const lw_cuda_module *self) { return __atomic_load_n(&self->last, __ATOMIC_RELAXED); }

/* Kernels may have 48 KiB of shared memory unless more is allowed. It is never lowered: another thread may rely on it. */
static int allow_shared(lw_cuda_module *self, int64_t kernel, int64_t shared) {
  int error = 0;
  pthread_mutex_lock(&self->noting);
  if (shared > self->shared_allowed[kernel]) {
    error = self->gpu->cu.cuFuncSetAttribute(self->functions[kernel], MOST_DYNAMIC_SHARED, (int)shared);
    if (!error) __atomic_store_n(&self->shared_allowed[kernel], (int32_t)shared, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&self->noting);
  return error;
}

static int start(lw_cuda_module *self, int64_t kernel, const int64_t grid[3], const int64_t block[3], int64_t shared,
                 void **arguments) {
  if (LW_RARE(shared > __atomic_load_n(&self->shared_allowed[kernel], __ATOMIC_ACQUIRE))) {
    int error = allow_shared(self, kernel, shared);
    if (error) return error;
  }
  __atomic_store_n(&self->last, kernel, __ATOMIC_RELAXED);
  return self->gpu->cu.cuLaunchKernel(self->functions[kernel], (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                                      (unsigned)block[0], (unsigned)block[1], (unsigned)block[2], (unsigned)shared,
                                      self->stream, arguments, NULL);
}

static bool is_there(const lw_cuda_module *self, int64_t kernel) {
  return __atomic_load_n(&self->functions[kernel], __ATOMIC_ACQUIRE);
}

/* The driver looks at the sizes, but takes them as 32 bits. A grid without blocks is no launch: nothing is to do. */
static int32_t launch(lw_gpu *table, int64_t kernel, const int64_t grid[3], const int64_t block[3], int64_t shared,
                      void **arguments, int64_t work) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  const int64_t all = grid[0] | grid[1] | grid[2] | block[0] | block[1] | block[2] | shared;
  if (LW_RARE((uint64_t)kernel >= (uint64_t)self->count || (uint64_t)all > INT32_MAX))
    return note(self, INVALID_VALUE, LAUNCH, kernel, shared);
  if (!grid[0] || !grid[1] || !grid[2]) return 0;
  if (LW_RARE(!is_there(self, kernel)) && (self->wanted(kernel) || !is_there(self, kernel)))
    return note(self, NOT_FOUND, LAUNCH, kernel, shared);
  bool pushed;
  int error = enter(self->gpu, &pushed);
  if (!error) error = keep_queue_short(self->gpu, self->stream, work);
  if (!error) error = start(self, kernel, grid, block, shared, arguments);
  leave(self->gpu, pushed);
  return LW_RARE(error) ? note(self, error, LAUNCH, kernel, shared) : 0;
}

/* Where the host finds what the device has at an address, without a copy; NULL: it has to be copied. */
static const char *seen(const lw_cuda_module *self, const void *from, int64_t bytes) {
  if (!self->page) return NULL;
  if (from == self->failures && bytes == FAILURE_BYTES) return self->page;
  const uintptr_t place = (uintptr_t)from - (uintptr_t)self->page;
  return place < PAGE ? self->page + place : NULL;
}

static int32_t fetch(lw_gpu *table, void *to, const void *from, int64_t bytes) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  const char *here = seen(self, from, bytes);
  if (here) {
    bool pushed;
    int error = enter(self->gpu, &pushed);
    if (!error) error = wait_for_stream(self->gpu, self->stream);
    leave(self->gpu, pushed);
    if (LW_RARE(error)) return note(self, error, FETCH, last_kernel(self), bytes);
    memcpy(to, here, (size_t)bytes);
    return (is_held && is_main()) || is_ended() ? STOPPED : 0;
  }
  const lw_layout host = {.host = to, .run = bytes, .end = bytes};
  int error = lw_cuda_copy(self->gpu, self->stream, &host, NULL, (device_memory)(uintptr_t)from, 0);
  if (LW_RARE(error)) return note(self, error, FETCH, last_kernel(self), bytes);
  return (is_held && is_main()) || is_ended() ? STOPPED : 0;
}

static void *allocate(lw_gpu *table, int64_t bytes) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  device_memory memory;
  int error = lw_cuda_allocate(self->gpu, self->stream, bytes, &memory);
  if (LW_RARE(error)) note(self, error, ALLOCATE, last_kernel(self), bytes);
  return (void *)(uintptr_t)memory;
}

/* A slot of the page, or device memory where all are in use. */
static void *visible(lw_gpu *table, int64_t bytes) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  uint64_t taken = __atomic_load_n(&self->taken, __ATOMIC_RELAXED);
  while (self->page && bytes <= SLOT_BYTES && ~taken) {
    const int slot = __builtin_ctzll(~taken);
    if (__atomic_compare_exchange_n(&self->taken, &taken, taken | UINT64_C(1) << slot, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return self->page + slot * SLOT_BYTES;
  }
  return allocate(table, bytes);
}

/* An error is not lost: the driver gives those that matter again at the next call. After one a kernel that nobody waited
   for may still write to a slot. */
static void release(lw_gpu *table, void *memory) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  const uintptr_t place = (uintptr_t)memory - (uintptr_t)self->page;
  if (self->page && place < PAGE) {
    bool pushed;
    int error = 0;
    if (LW_RARE(__atomic_load_n(&self->error, __ATOMIC_RELAXED)) && !(error = enter(self->gpu, &pushed))) {
      error = self->gpu->cu.cuStreamSynchronize(self->stream);
      leave(self->gpu, pushed);
    }
    if (!error) __atomic_fetch_and(&self->taken, ~(UINT64_C(1) << place / SLOT_BYTES), __ATOMIC_RELEASE);
  } else if (memory) lw_cuda_release(self->gpu, self->stream, (device_memory)(uintptr_t)memory);
}

static int32_t clear(lw_gpu *table, void *memory, int64_t bytes) {
  lw_cuda_module *self = (lw_cuda_module *)table;
  if (bytes == 0) return 0;
  bool pushed;
  int error = bytes < 0 ? INVALID_VALUE : enter(self->gpu, &pushed);
  if (error) return note(self, error, CLEAR, last_kernel(self), bytes);
  error = self->gpu->cu.cuMemsetD8Async((device_memory)(uintptr_t)memory, 0, (size_t)bytes, self->stream);
  leave(self->gpu, pushed);
  return LW_RARE(error) ? note(self, error, CLEAR, last_kernel(self), bytes) : 0;
}

static int64_t ticket(lw_gpu *table) { return new_ticket(); }

void lw_cuda_module_end(lw_cuda_module *self) {
  if (!self) return;
  bool pushed;
  if (self->page && !enter(self->gpu, &pushed)) {
    self->gpu->cu.cuMemFreeHost(self->page);
    leave(self->gpu, pushed);
  }
  free(self->functions);
  free(self->shared_allowed);
  free(self);
}

/* functions: CUfunction by number; shared_allowed: how much dynamic shared memory each may use, in bytes. NULL: no
   memory. */
lw_cuda_module *lw_cuda_module_new(lw_cuda *gpu, void *stream, void *const *functions, const int32_t *shared_allowed,
                                   int64_t count, int32_t (*wanted)(int64_t kernel)) {
  lw_cuda_module *self = calloc(1, sizeof(lw_cuda_module));
  if (!self) return NULL;
  self->table = (lw_gpu){launch, fetch, allocate, release, clear, visible, ticket};
  self->table.stopped = (const int64_t *)(uintptr_t)word_of(gpu);
  self->table.patience = MOST_UNITS;
  self->gpu = gpu;
  self->stream = gpu->own = stream;
  self->count = count;
  self->wanted = wanted;
  self->last = -1;
  self->functions = calloc((size_t)count + 1, sizeof(void *));
  self->shared_allowed = calloc((size_t)count + 1, sizeof(int32_t));
  pthread_mutex_init(&self->noting, NULL);
  if (!self->functions || !self->shared_allowed || !self->table.stopped) {
    lw_cuda_module_end(self);
    return NULL;
  }
  memcpy(self->functions, functions, (size_t)count * sizeof(void *));
  memcpy(self->shared_allowed, shared_allowed, (size_t)count * sizeof(int32_t));
  return self;
}

/* A kernel that was missing is there now. */
void lw_cuda_module_set(lw_cuda_module *self, int64_t kernel, void *function, int32_t shared_allowed) {
  __atomic_store_n(&self->shared_allowed[kernel], shared_allowed, __ATOMIC_RELAXED);
  __atomic_store_n(&self->functions[kernel], function, __ATOMIC_RELEASE);
}

/* Where the host finds what kernels tell of a failure, beside their own record at `failures`; NULL: nowhere. */
void *lw_cuda_module_told(lw_cuda_module *self, const void *failures) {
  bool pushed;
  void *page = NULL;
  if (self->page || enter(self->gpu, &pushed)) return self->page;
  if (self->gpu->cu.cuMemHostAlloc(&page, PAGE, FOR_ALL_CONTEXTS)) page = NULL;
  leave(self->gpu, pushed);
  self->failures = failures;
  self->taken = 1;
  self->page = page;
  return page;
}

void lw_cuda_module_stream(lw_cuda_module *self, void *stream) { self->stream = stream; }

/* found: error, what failed, kernel, bytes of the first failure since the last time, then the kernel started last. */
void lw_cuda_module_fault(lw_cuda_module *self, int64_t found[5]) {
  pthread_mutex_lock(&self->noting);
  found[0] = self->error;
  found[1] = self->doing;
  found[2] = self->kernel;
  found[3] = self->bytes;
  found[4] = last_kernel(self);
  self->error = 0;
  pthread_mutex_unlock(&self->noting);
}
