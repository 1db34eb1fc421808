/* What ends a long kernel where a signal's handler in Python raises: Ctrl-C, SIGTERM, SIGALRM and their like. First part
   of the launcher; devices/by_ctypes.py compiles it alone, so it needs no header of Python: the few functions of its
   stable interface that it calls are declared here.

   Python's own handlers run between instructions of Python, and there are none while a kernel runs. So kernels ask, by
   `lw_watch.ask`, every few microseconds or milliseconds of work. Short kernels never come to that. In the thread that
   runs Python's handlers, and once a kernel has taken LISTEN_AFTER_NS, the first question puts a handler in front of each
   that there is: it leaves a note and calls the one behind it. From then on a question reads that note, and only where
   there is one takes the GIL and has Python run its handlers. What they raise ends the kernel. Where Python's
   default handler will raise KeyboardInterrupt for sure, all threads of the kernel stop at once.

   What was there before is put back at the end. Nothing is installed by kernels of other threads, and they run on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

struct _object;
struct _ts;
extern struct _object *PyExc_KeyboardInterrupt;
int PyErr_CheckSignals(void);
void PyErr_Clear(void);
void PyErr_SetNone(struct _object *);
struct _ts *PyEval_SaveThread(void);
void PyEval_RestoreThread(struct _ts *);
struct _object *PyImport_ImportModule(const char *);
struct _object *PyObject_GetAttrString(struct _object *, const char *);
struct _object *PyObject_CallFunction(struct _object *, const char *, ...);
void Py_DecRef(struct _object *);

#define LISTEN_AFTER_NS INT64_C(30000000)
#define HOLD_AT_MOST_NS INT64_C(50000) /* of the GIL, by a call that was thought to be short */

/* One call of a kernel. ask: 1 where it has to stop; the only part that kernels know (codegen/loopwright.h). */
typedef struct lw_watch lw_watch;
struct lw_watch {
  int32_t (*ask)(lw_watch *watch);
  int32_t *stop;     /* read by all threads of the kernel: `own`, or `main_stop` while it listens */
  int32_t own;
  int32_t raised;    /* an exception is set, in `state` */
  enum { NOT_YET, LISTENING, NEVER } hears;
  pthread_t caller;
  struct _ts *state; /* of the caller, while the GIL is released; NULL: it is held */
  int64_t begun_ns;
  const int32_t *until; /* not 0 there: another thread wants the kernel to end; NULL: nobody will */
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- signals ------------------------------------------------------------------------------------------------- */

static const int HEARD[] = {SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGUSR1, SIGUSR2};
enum { HEARD_COUNT = sizeof HEARD / sizeof *HEARD };

static struct sigaction behind[HEARD_COUNT]; /* what was there before */
static int listeners;                        /* kernels that listen: more than one where a handler calls a kernel */
static int32_t main_stop;                    /* static: a handler may still run when the call is over */
static volatile sig_atomic_t noted, sure;    /* a signal came; KeyboardInterrupt is what SIGINT leads to */

static void on_signal(int number, siginfo_t *info, void *context) {
  int before = errno;
  noted = 1;
  if (number == SIGINT && sure) __atomic_store_n(&main_stop, 1, __ATOMIC_RELAXED);
  errno = before;
  for (int k = 0; k < HEARD_COUNT; k++) {
    if (HEARD[k] != number) continue;
    if (behind[k].sa_flags & SA_SIGINFO) behind[k].sa_sigaction(number, info, context);
    else if (behind[k].sa_handler != SIG_DFL && behind[k].sa_handler != SIG_IGN) behind[k].sa_handler(number);
  }
}

static int is_ours(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* Signals that are ignored, or left to the system, stay so. */
static void put_in_front(void) {
  for (int k = 0; k < HEARD_COUNT; k++) {
    struct sigaction now, ours;
    if (sigaction(HEARD[k], NULL, &now) || is_ours(&now) || (now.sa_flags & SA_RESETHAND)) continue;
    if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) continue;
    behind[k] = ours = now;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = on_signal;
    sigaction(HEARD[k], &ours, NULL);
  }
}

static void put_back(void) {
  for (int k = 0; k < HEARD_COUNT; k++) {
    struct sigaction now;
    if (!sigaction(HEARD[k], NULL, &now) && is_ours(&now)) sigaction(HEARD[k], &behind[k], NULL);
  }
}

/* Whether Python's handler of SIGINT is the one that raises KeyboardInterrupt. Under the GIL. */
static int raises_for_sure(void) {
  struct _object *module = PyImport_ImportModule("_signal"), *now = NULL, *usual = NULL;
  if (module) {
    struct _object *get = PyObject_GetAttrString(module, "getsignal");
    if (get) now = PyObject_CallFunction(get, "i", SIGINT);
    usual = PyObject_GetAttrString(module, "default_int_handler");
    Py_DecRef(get);
  }
  int same = now && now == usual;
  PyErr_Clear();
  Py_DecRef(now);
  Py_DecRef(usual);
  Py_DecRef(module);
  return same;
}

/* Whether this is the thread that runs Python's handlers. */
static int is_main_thread(void) {
#ifdef __linux__
  return (long)getpid() == syscall(SYS_gettid);
#elif defined(__APPLE__)
  return pthread_main_np();
#else
  return 0;
#endif
}

/* ---- questions of kernels ------------------------------------------------------------------------------------ */

/* Have Python run the handlers of what came; they may also have put others in place. */
static int32_t answer(lw_watch *watch) {
  if (watch->state) PyEval_RestoreThread(watch->state);
  put_in_front();
  noted = 0; /* before the handlers run, so that nothing that comes meanwhile is lost */
  if (PyErr_CheckSignals() < 0) {
    watch->raised = 1;
    __atomic_store_n(watch->stop, 1, __ATOMIC_RELAXED);
  } else {
    put_in_front();
    sure = raises_for_sure();
    if (PyErr_CheckSignals() < 0) { /* what came before `sure` said so */
      watch->raised = 1;
      __atomic_store_n(watch->stop, 1, __ATOMIC_RELAXED);
    }
  }
  watch->state = PyEval_SaveThread();
  return watch->raised;
}

static int32_t ask(lw_watch *watch) {
  if (__atomic_load_n(__atomic_load_n(&watch->stop, __ATOMIC_RELAXED), __ATOMIC_RELAXED)) return 1;
  if (watch->until && __atomic_load_n(watch->until, __ATOMIC_RELAXED)) return 1;
  if (watch->hears == NEVER || !pthread_equal(pthread_self(), watch->caller)) return 0;
  if (watch->hears == LISTENING) return noted ? answer(watch) : 0;
  int64_t taken = now_ns() - watch->begun_ns;
  if (!watch->state && taken >= HOLD_AT_MOST_NS) watch->state = PyEval_SaveThread();
  if (taken < LISTEN_AFTER_NS) return 0;
  watch->hears = is_main_thread() ? LISTENING : NEVER;
  if (watch->hears == NEVER) return 0;
  listeners++;
  main_stop = sure = 0;
  __atomic_store_n(&watch->stop, &main_stop, __ATOMIC_RELAXED);
  return answer(watch);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* Call entry(call) without the GIL, or with it where that is known to be over soon: to release it takes longer than many
   a call. `call` holds `watch`. site: where it writes which place failed, -1 for none. until: see lw_watch. What it
   returns; -1 with an exception where a signal's handler has stopped it. */
#ifdef LW_ALONE
__attribute__((visibility("default"))) int
#else
static inline int
#endif
lw_run(int (*entry)(const void *call), const void *call, lw_watch *watch, const int64_t *site, int is_short,
       int64_t *spent_ns, const int32_t *until) {
  *watch = (lw_watch){.ask = ask, .stop = &watch->own, .caller = pthread_self(), .until = until};
  if (!is_short) watch->state = PyEval_SaveThread();
  watch->begun_ns = now_ns();
  int failed = entry(call);
  *spent_ns = now_ns() - watch->begun_ns;
  int stopped = watch->raised;
  if (watch->hears == LISTENING) {
    stopped |= failed && *site < 0 && __atomic_load_n(&main_stop, __ATOMIC_RELAXED);
    if (!--listeners) put_back();
  }
  if (watch->state) PyEval_RestoreThread(watch->state);
  if (!stopped) return failed;
  if (!watch->raised && !PyErr_CheckSignals()) PyErr_SetNone(PyExc_KeyboardInterrupt);
  return -1;
}

#ifdef LW_ALONE
__attribute__((visibility("default"))) int64_t lw_watch_bytes(void) { return sizeof(lw_watch); }
#endif
