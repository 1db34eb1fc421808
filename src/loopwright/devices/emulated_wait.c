/* Calls on the emulated device, behind gpu_wait.c. Its launches are functions in Python. In the main thread Python would
   run handlers of signals at the first line of one, and nobody would get to know what they raise: so another thread
   makes the call, and the main thread hears signals meanwhile. */
#define LW_STOPPED (-1)

typedef struct {
  int32_t (*entry)(const void *call);
  const void *call;
  int64_t ticket;
  int32_t failed, is_over;
  pthread_mutex_t lock;
  pthread_cond_t over;
} aside;

LW_EXPORT volatile int64_t lw_emulated_stopped;

LW_EXPORT int64_t lw_emulated_ticket(void *gpu) { return new_ticket(); }

/* Whether the call that this thread makes has to end. */
static int32_t has_to_end(lw_watch *watch) { return own_ticket && lw_emulated_stopped >= own_ticket ? LW_STOPPED : 0; }
LW_EXPORT int32_t lw_emulated_ends(void) { return has_to_end(NULL); }
LW_EXPORT void lw_emulated_end_call(int64_t ticket) {
  note_end(ticket);
  if (lw_emulated_stopped < ticket) lw_emulated_stopped = ticket;
}
LW_EXPORT lw_watch lw_emulated_watch = {.ask = has_to_end};

static void *run_aside(void *argument) {
  aside *one = argument;
  role = OTHER;
  own_ticket = one->ticket;
  one->failed = one->entry(one->call);
  pthread_mutex_lock(&one->lock);
  one->is_over = 1;
  pthread_cond_signal(&one->over);
  pthread_mutex_unlock(&one->lock);
  return NULL;
}

/* What entry(call) returns; not 0 where it was ended. Called without the GIL. */
LW_EXPORT int32_t lw_emulated_call(int32_t (*entry)(const void *call), const void *call) {
  pthread_t thread;
  if (!is_main()) return entry(call);
  aside one = {entry, call, new_ticket(), 0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
  if (pthread_create(&thread, NULL, run_aside, &one)) return entry(call);
  pthread_mutex_lock(&one.lock);
  while (!one.is_over) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += HEAR_EVERY_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&one.over, &one.lock, &until);
    if (one.is_over) break;
    pthread_mutex_unlock(&one.lock);
    if (hears()) lw_emulated_stopped = one.ticket > lw_emulated_stopped ? one.ticket : lw_emulated_stopped;
    pthread_mutex_lock(&one.lock);
  }
  pthread_mutex_unlock(&one.lock);
  pthread_join(thread, NULL);
  return is_held ? LW_STOPPED : one.failed;
}
