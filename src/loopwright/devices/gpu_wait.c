/* How a thread that waits for a GPU hears signals. Behind launcher_interrupt.c, whose clock and test for the main thread
   it uses, and before cuda_memory.c; the emulated device has it alone.

   Each call has a ticket, and its kernels end early once the device's word `stopped` is not below it: so what ends one
   call ends none that comes later. Only the main thread hears anything. What a handler raises there is held
   until Python asks for it (lw_gpu_raise): in between, what the GPU has been given comes to its end. */
#include <stdlib.h>

int PyGILState_Ensure(void); /* it returns an enum */
void PyGILState_Release(int);
void PyErr_Fetch(struct _object **, struct _object **, struct _object **);
void PyErr_Restore(struct _object *, struct _object *, struct _object *);

#define LW_EXPORT __attribute__((visibility("default")))
#define HEAR_EVERY_NS INT64_C(10000000) /* to take the GIL may take as long, where other threads are busy */

static int64_t tickets;                       /* the last one that a call got */
static struct _object *held[3];               /* an exception: type, value, traceback */
static int is_held;
static __thread int64_t heard_ns;             /* when this thread asked last */
static __thread enum { UNKNOWN, MAIN, OTHER } role; /* a thread that works for the main one is OTHER */
static __thread int64_t own_ticket;           /* of a call that another thread runs for the main one; 0: none */
static int64_t last_ended;                    /* calls with a ticket of their own and this one or an earlier one end */

static int is_main(void) {
  if (!role) role = is_main_thread() ? MAIN : OTHER;
  return role == MAIN;
}

/* What this thread asks of GPUs from now on is one call, which another thread may end by the ticket that this gives. */
LW_EXPORT int64_t lw_gpu_begin(void) { return own_ticket = __atomic_add_fetch(&tickets, 1, __ATOMIC_RELAXED); }
LW_EXPORT void lw_gpu_end(void) { own_ticket = 0; }

/* Whether another thread has ended the call of this one. */
static int is_ended(void) { return own_ticket && __atomic_load_n(&last_ended, __ATOMIC_RELAXED) >= own_ticket; }

static void note_end(int64_t ticket) {
  int64_t before = __atomic_load_n(&last_ended, __ATOMIC_RELAXED);
  while (before < ticket && !__atomic_compare_exchange_n(&last_ended, &before, ticket, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* Calls of other threads than the main one run to their end, unless they have begun by `lw_gpu_begin`. */
static int64_t new_ticket(void) {
  if (own_ticket) return own_ticket;
  if (!is_main()) return INT64_MAX;
  return __atomic_add_fetch(&tickets, 1, __ATOMIC_RELAXED);
}

/* Have Python run the handlers of signals that came. Whether one has raised, now or before. */
static int hear(void) {
  heard_ns = now_ns();
  const int state = PyGILState_Ensure();
  if (PyErr_CheckSignals()) {
    struct _object *found[3];
    PyErr_Fetch(&found[0], &found[1], &found[2]);
    for (int k = 0; k < 3; k++) {
      struct _object *before = held[k];
      held[k] = found[k];
      Py_DecRef(before);
    }
    is_held = 1;
  }
  PyGILState_Release(state);
  return is_held;
}

/* The same, if it is time. */
static int hears(void) {
  if (!is_main()) return 0;
  return is_held || (now_ns() - heard_ns >= HEAR_EVERY_NS && hear());
}

/* Raise what is held. Called with the GIL. */
LW_EXPORT void lw_gpu_raise(void) {
  if (!is_held || !is_main()) return;
  is_held = 0;
  struct _object *found[3] = {held[0], held[1], held[2]};
  held[0] = held[1] = held[2] = NULL;
  PyErr_Restore(found[0], found[1], found[2]);
}
