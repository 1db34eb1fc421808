/* The parts of one region of a loop that GPUs share: started together, and waited for together. Behind cuda_launch.c. */

typedef struct { /* CudaPart of cuda_parts.py */
  int32_t (*entry)(void *call);
  void *call;
  int64_t *site; /* of the failure that the call records on the host */
  lw_cuda_module *module;
  const int64_t *told;  /* what kernels tell of a failure; NULL: nothing */
  void *begun, *ended;  /* events that are recorded before and behind; NULL: nobody asks how long it takes */
  int64_t failed, suspect; /* it could not be started; Python has to look how it ended */
} lw_part;

static int record_in(const lw_part *part, void *event) {
  lw_cuda_module *module = part->module;
  bool pushed;
  if (!event) return 0;
  int error = enter(module->gpu, &pushed);
  if (!error) error = module->gpu->cu.cuEventRecord(event, module->stream);
  leave(module->gpu, pushed);
  return error ? note(module, error, LAUNCH, last_kernel(module), 0) : 0;
}

/* Start all of them, whichever fails. How many have failed. */
int64_t lw_cuda_start_parts(lw_part *parts, int64_t count) {
  int64_t failed = 0;
  for (lw_part *part = parts; part < parts + count; part++) {
    *part->site = -1;
    part->failed = record_in(part, part->begun) || part->entry(part->call) || record_in(part, part->ended);
    failed += part->failed;
  }
  return failed;
}

/* Wait for those that were started. How many are suspect. */
int64_t lw_cuda_wait_parts(lw_part *parts, int64_t count) {
  int64_t suspect = 0;
  for (lw_part *part = parts; part < parts + count; part++) {
    lw_cuda_module *module = part->module;
    bool pushed;
    int error = part->failed ? 1 : enter(module->gpu, &pushed);
    if (!error) {
      error = wait_for_stream(module->gpu, module->stream);
      leave(module->gpu, pushed);
    }
    pthread_mutex_lock(&module->noting);
    part->suspect = error || module->error || (part->told && part->told[0] >= 0);
    pthread_mutex_unlock(&module->noting);
    suspect += part->suspect;
  }
  return suspect;
}
