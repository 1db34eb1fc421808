/* Part of the launcher: the calling convention, the types, and `Entry`, which calls compiled code. The meaning is
   documented in devices/base.py. launcher_interrupt.c, launcher_constants.c and launcher_results.c stand before it,
   launcher_key.c, launcher_lists.c, launcher_structures.c, launcher_outside.c and launcher.c follow; all are compiled
   as one file. */
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stdlib.h>
#include <time.h>

/* ---- the calling convention: as in codegen/loopwright.h ------------------------------------------------------ */

typedef union { int64_t i; uint64_t u; double d; float f; } lw_slot;

typedef struct { int64_t site, index, size; } lw_failure; /* site < 0: none */

typedef struct lw_gpu lw_gpu; /* what only GPUs' programs look at */
typedef struct lw_kept lw_kept;

typedef struct {
  char *const *data;              /* per argument position, then per result array; NULL for scalars */
  const int64_t *const *shape;    /* likewise, in elements */
  const int64_t *const *strides;  /* likewise, in bytes */
  const lw_slot *scalars;         /* per argument position */
  lw_slot *returned;              /* per returned scalar */
  int64_t threads;                /* how many threads may be used, at least 1 */
  lw_failure *failure;
  lw_watch *watch;                /* NULL: nobody will want to stop it */
  lw_gpu *gpu;                    /* the last three only in programs for a GPU: `data` is device memory then */
  lw_failure *device_failure;     /* in device memory */
  lw_kept *kept;                  /* per loop that is sorted, as far as its order is kept */
} lw_call;

_Static_assert(sizeof(npy_intp) == sizeof(int64_t), "a 64-bit machine");

/* ---- types: codes are places in ir.types.ALL ----------------------------------------------------------------- */

enum {
  BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64, /* the rest only in arrays: */
  RECORD, COMPLEX64, COMPLEX128, NONE = -1
};
static const int TYPE_NUMBERS[] = {NPY_BOOL,   NPY_INT8,    NPY_INT16,   NPY_INT32, NPY_INT64,     NPY_UINT8,     NPY_UINT16,
                                   NPY_UINT32, NPY_UINT64,  NPY_FLOAT32, NPY_FLOAT64, NPY_VOID, NPY_COMPLEX64, NPY_COMPLEX128};

static int code_of(int type_number) {
  switch (type_number) {
    case NPY_BOOL: return BOOL;
    case NPY_BYTE: return INT8;
    case NPY_SHORT: return INT16;
    case NPY_INT: return INT32;
    case NPY_LONG: return sizeof(long) == 8 ? INT64 : INT32;
    case NPY_LONGLONG: return INT64;
    case NPY_UBYTE: return UINT8;
    case NPY_USHORT: return UINT16;
    case NPY_UINT: return UINT32;
    case NPY_ULONG: return sizeof(long) == 8 ? UINT64 : UINT32;
    case NPY_ULONGLONG: return UINT64;
    case NPY_FLOAT: return FLOAT32;
    case NPY_DOUBLE: return FLOAT64;
    case NPY_VOID: return RECORD;
    case NPY_CFLOAT: return COMPLEX64;
    case NPY_CDOUBLE: return COMPLEX128;
    default: return NONE;
  }
}

static int code_of_scalar(PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
#define IS(Name, code) if (type == &Py##Name##ArrType_Type) return code
  IS(Double, FLOAT64); IS(Long, sizeof(long) == 8 ? INT64 : INT32); IS(Float, FLOAT32); IS(Int, INT32);
  IS(Bool, BOOL); IS(Byte, INT8); IS(Short, INT16); IS(LongLong, INT64); IS(UByte, UINT8); IS(UShort, UINT16);
  IS(UInt, UINT32); IS(ULong, sizeof(long) == 8 ? UINT64 : UINT32); IS(ULongLong, UINT64);
#undef IS
  return NONE;
}

/* ---- Entry --------------------------------------------------------------------------------------------------- */

enum {
  ARGUMENT = 0, FRESH = 1, TUPLE = 2, NOTHING = 3, CUT = 4, MAYBE = 5, LIST = 6, ZIP = 7, AS_SET = 8, AS_DICT = 9,
  COMPLEX = 10, VIEW = 11, NAMED = 12, PYTHON_SCALAR = 32, NUMPY_SCALAR = 64
};

enum { MOST_TIMES = 64 }; /* that an observer is told at once */

enum { SHORT_NS = 2000 }; /* for which the GIL is not released */

typedef struct { int code, number; } Value;

typedef struct {
  PyObject_HEAD
  int (*entry)(const lw_call *);
  int (*guard)(const lw_call *);
  int parallel, returns;
  Py_ssize_t value_count;
  Value *values;
  Constants *constants;
  PyObject *fresh, *fail, *guard_failed, *payload;
  Results results; /* what makes them without `fresh`, if count */
  long long threads, calls, total_ns, min_ns, last_ns, ended_ns;
  PyObject *observer;              /* observer(times in ns, oldest first) when there is enough to tell, or NULL */
  long long wanted_calls, wanted_ns, seen_calls, seen_ns; /* since it was told last; enough is either of them */
  int64_t times[MOST_TIMES];       /* of the last calls, in a ring: that of call k at k % MOST_TIMES */
  char retired;                    /* the Dispatcher must not find it any more */
} Entry;

/* A scalar as NumPy keeps it. */
typedef union { npy_int8 b; npy_int16 h; npy_int32 i; npy_uint8 ub; npy_uint16 uh; npy_uint32 ui; lw_slot s; } Raw;

static long long most_threads = INT64_MAX;
static int pool_started;
static PyObject *notify_limited;

/* -1 with an exception where `notify` raised: its warning may be an error. */
static int64_t allowed_threads(const Entry *entry) {
  if (entry->threads <= most_threads) {
    if (entry->parallel && entry->threads > 1) pool_started = 1;
    return entry->threads;
  }
  if (entry->parallel && notify_limited) {
    PyObject *notify = notify_limited;
    notify_limited = NULL;
    PyObject *done = PyObject_CallNoArgs(notify);
    Py_DECREF(notify);
    if (!done) return -1;
    Py_DECREF(done);
  }
  return most_threads;
}

static int fill_slot_from_numpy(lw_slot *slot, PyObject *value) {
  Raw raw = {.s.u = 0};
  int code = code_of_scalar(value);
  if (code == NONE) { /* an instance of a subclass, perhaps */
    PyArray_Descr *descr = PyArray_DescrFromScalar(value);
    if (!descr) return -1;
    code = code_of(descr->type_num);
    Py_DECREF(descr);
  }
  if (code == NONE || code >= RECORD) {
    PyErr_Format(PyExc_TypeError, "a scalar of type %s is not supported", Py_TYPE(value)->tp_name);
    return -1;
  }
  PyArray_ScalarAsCtype(value, &raw);
  switch (code) {
    case INT8: slot->i = raw.b; break;
    case INT16: slot->i = raw.h; break;
    case INT32: slot->i = raw.i; break;
    case BOOL: case UINT8: slot->u = raw.ub; break;
    case UINT16: slot->u = raw.uh; break;
    case UINT32: slot->u = raw.ui; break;
    default: *slot = raw.s;
  }
  return 0;
}

static int fill_slot(lw_slot *slot, PyObject *value) {
  slot->u = 0;
  if (PyBool_Check(value)) {
    slot->i = value == Py_True;
  } else if (PyArray_IsScalar(value, Generic)) {
    return fill_slot_from_numpy(slot, value);
  } else if (PyFloat_Check(value)) {
    slot->d = PyFloat_AS_DOUBLE(value);
  } else if (PyLong_Check(value)) {
    slot->i = PyLong_AsLongLong(value);
    if (slot->i == -1 && PyErr_Occurred()) return -1;
  }
  return 0; /* None, strings and tuples are constants of the code */
}

static PyObject *scalar_object(const lw_slot *slot, int code) {
  int python = code < NUMPY_SCALAR, type = code - (python ? PYTHON_SCALAR : NUMPY_SCALAR);
  Raw raw = {.s = *slot};
  switch (type) {
    case BOOL:
      raw.ub = (slot->u & 0xFF) != 0;
      if (python) return PyBool_FromLong(raw.ub);
      break;
    case INT8: raw.b = (npy_int8)slot->i; break;
    case INT16: raw.h = (npy_int16)slot->i; break;
    case INT32: raw.i = (npy_int32)slot->i; break;
    case UINT8: raw.ub = (npy_uint8)slot->u; break;
    case UINT16: raw.uh = (npy_uint16)slot->u; break;
    case UINT32: raw.ui = (npy_uint32)slot->u; break;
    case INT64: if (python) return PyLong_FromLongLong(slot->i); break;
    case UINT64: if (python) return PyLong_FromUnsignedLongLong(slot->u); break;
    case FLOAT32: if (python) return PyFloat_FromDouble(slot->f); break;
    case FLOAT64: if (python) return PyFloat_FromDouble(slot->d); break;
  }
  PyArray_Descr *descr = PyArray_DescrFromType(TYPE_NUMBERS[type]);
  PyObject *object = PyArray_Scalar(&raw, descr, NULL);
  Py_DECREF(descr);
  if (!python || !object) return object;
  PyObject *plain = PyNumber_Long(object);
  Py_DECREF(object);
  return plain;
}

static PyObject *returned_value(Value value, PyObject *const *originals, PyObject *fresh, const lw_slot *returned) {
  if (value.code == ARGUMENT) return Py_NewRef(originals[value.number]);
  if (value.code == FRESH) return Py_NewRef(PyTuple_GET_ITEM(fresh, value.number));
  return scalar_object(&returned[value.number], value.code);
}

static PyObject *as_tuple(PyObject *const *items, Py_ssize_t count) {
  PyObject *tuple = PyTuple_New(count);
  for (Py_ssize_t k = 0; tuple && k < count; k++) PyTuple_SET_ITEM(tuple, k, Py_NewRef(items[k]));
  return tuple;
}

/* Whether one value alone is this array of `fresh`. */
static int is_once(const Entry *entry, PyObject *fresh, PyObject *array) {
  int found = 0;
  for (Py_ssize_t k = 0; k < entry->value_count; k++) {
    Value value = entry->values[k];
    found += value.code == FRESH && PyTuple_GET_ITEM(fresh, value.number) == array;
  }
  return found == 1;
}

/* Whether the array is cut only for a list of numbers that the next value makes of it. */
static int is_list_of_numbers(const Entry *entry, Py_ssize_t next, PyObject *array) {
  return next < entry->value_count && entry->values[next].code == LIST && PyArray_Check(array) &&
         PyArray_NDIM((PyArrayObject *)array) == 1;
}

/* What the values make in postfix order. */
static PyObject *packed_result(const Entry *entry, PyObject *const *originals, PyObject *fresh,
                               const lw_slot *returned) {
  PyObject *few[32] = {NULL}, **stack = few, *one = NULL;
  if (entry->value_count > 32 && !(stack = PyMem_Calloc((size_t)entry->value_count, sizeof(PyObject *)))) return PyErr_NoMemory();
  Py_ssize_t top = 0;
  for (Py_ssize_t k = 0; k < entry->value_count; k++) {
    Value value = entry->values[k];
    if (value.code == TUPLE || value.code == CUT) {
      Py_ssize_t count = value.number;
      top -= count;
      if (value.code == CUT) top--;
      one = value.code == TUPLE ? as_tuple(stack + top, count)
            : is_list_of_numbers(entry, k + 1, stack[top])
                ? taken_part(stack[top], stack + top + 1, count)
                : cut_array(stack[top], stack + top + 1, count, is_once(entry, fresh, stack[top]));
      for (Py_ssize_t i = 0; i < count; i++) Py_CLEAR(stack[top + i + (value.code == CUT)]);
    } else if (value.code == VIEW) {
      top -= value.number + 1;
      one = view_of(stack[top], stack + top + 1, value.number);
      for (Py_ssize_t i = 0; i <= value.number; i++) Py_CLEAR(stack[top + i]);
    } else if (value.code == MAYBE) {
      PyObject *flag = stack[--top], *thing = stack[--top];
      one = flag == Py_True ? thing : Py_NewRef(Py_None);
      if (flag != Py_True) Py_DECREF(thing);
      Py_DECREF(flag);
    } else if (value.code == LIST) {
      PyObject *things = stack[--top];
      int is_plain = PyArray_Check(things) && !value.number;
      one = is_plain ? PyArray_ToList((PyArrayObject *)things) : items_of(things);
      Py_DECREF(things);
    } else if (value.code == AS_SET) {
      PyObject *items = stack[--top];
      one = PySet_New(items);
      Py_DECREF(items);
    } else if (value.code == AS_DICT) {
      top -= 2;
      PyObject *pairs = zipped(stack + top, 2);
      one = pairs ? PyDict_New() : NULL;
      if (one && PyDict_MergeFromSeq2(one, pairs, 1) < 0) Py_CLEAR(one);
      Py_XDECREF(pairs);
      for (Py_ssize_t i = 0; i < 2; i++) Py_CLEAR(stack[top + i]);
    } else if (value.code == ZIP) {
      top -= value.number;
      one = zipped(stack + top, value.number);
      for (Py_ssize_t i = 0; i < value.number; i++) Py_CLEAR(stack[top + i]);
    } else if (value.code == NAMED) {
      one = named(value.number, stack[--top]);
    } else if (value.code == COMPLEX && value.number < 2) {
      one = (value.number ? complex_array : pairs_of)((PyArrayObject *)stack[--top]);
    } else if (value.code == COMPLEX) {
      top -= 2;
      one = complex_number(stack[top], stack[top + 1]);
      Py_CLEAR(stack[top]);
      Py_CLEAR(stack[top + 1]);
    } else if (value.code == NOTHING) {
      one = Py_NewRef(Py_None);
    } else {
      one = returned_value(value, originals, fresh, returned);
    }
    stack[top] = one;
    if (!one) break;
    top++;
  }
  PyObject *result = one ? stack[--top] : NULL;
  for (Py_ssize_t k = 0; k < top; k++) Py_XDECREF(stack[k]);
  if (stack != few) PyMem_Free(stack);
  return result;
}

static PyObject *result_of(const Entry *entry, PyObject *const *originals, PyObject *fresh, const lw_slot *returned) {
  if (entry->returns == 0) Py_RETURN_NONE;
  if (entry->returns == 3) return packed_result(entry, originals, fresh, returned);
  if (entry->returns == 1) return returned_value(entry->values[0], originals, fresh, returned);
  PyObject *result = PyTuple_New(entry->value_count);
  for (Py_ssize_t k = 0; result && k < entry->value_count; k++) {
    PyObject *one = returned_value(entry->values[k], originals, fresh, returned);
    if (!one) Py_CLEAR(result);
    else PyTuple_SET_ITEM(result, k, one);
  }
  return result;
}

/* The arrays that the call allocates, as a tuple; NULL with an exception. */
static PyObject *fresh_arrays(Entry *entry, PyObject *const *args, Py_ssize_t count) {
  if (entry->results.count) {
    PyObject *made = new_results(&entry->results, args, count);
    if (made || PyErr_Occurred()) return made;
  }
  PyObject *arguments = as_tuple(args, count);
  if (!arguments) return NULL;
  PyObject *fresh = PyObject_CallOneArg(entry->fresh, arguments);
  Py_DECREF(arguments);
  if (!fresh) return NULL;
  int right = PyTuple_CheckExact(fresh);
  for (Py_ssize_t k = 0; right && k < PyTuple_GET_SIZE(fresh); k++) right = PyArray_Check(PyTuple_GET_ITEM(fresh, k));
  if (right) return fresh;
  Py_DECREF(fresh);
  PyErr_SetString(PyExc_TypeError, "fresh(arguments) must give a tuple of arrays");
  return NULL;
}

static PyObject *guard_failed(const Entry *entry, PyObject *const *args, PyObject *const *originals, Py_ssize_t count) {
  PyObject *first = as_tuple(args, count), *second = as_tuple(originals, count), *result = NULL;
  if (first && second) result = PyObject_CallFunctionObjArgs(entry->guard_failed, first, second, NULL);
  Py_XDECREF(first);
  Py_XDECREF(second);
  return result;
}

static PyObject *raise_failure(const Entry *entry, const lw_failure *failure) {
  PyObject *error = PyObject_CallFunction(entry->fail, "LLL", (long long)failure->site, (long long)failure->index,
                                          (long long)failure->size);
  if (!error) return NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_DECREF(error);
  return NULL;
}

static void note_time(Entry *entry, int64_t spent) {
  if (!entry->calls || spent < entry->min_ns) entry->min_ns = spent;
  entry->times[entry->calls % MOST_TIMES] = spent;
  entry->calls++;
  entry->total_ns += spent;
  entry->last_ns = spent;
  entry->seen_calls++;
  entry->seen_ns += spent;
}

/* Tell the observer, whose failure is no failure of the call. */
static void tell_observer(Entry *entry) {
  if (!entry->observer || (entry->seen_calls < entry->wanted_calls && entry->seen_ns < entry->wanted_ns)) return;
  Py_ssize_t count = entry->seen_calls < MOST_TIMES ? (Py_ssize_t)entry->seen_calls : MOST_TIMES;
  entry->seen_calls = entry->seen_ns = 0;
  PyObject *observer = Py_NewRef(entry->observer), *times = PyTuple_New(count), *done = NULL;
  for (Py_ssize_t k = 0; times && k < count; k++) {
    PyObject *one = PyLong_FromLongLong(entry->times[(entry->calls - count + k) % MOST_TIMES]);
    if (!one) Py_CLEAR(times);
    else PyTuple_SET_ITEM(times, k, one);
  }
  if (times) done = PyObject_CallOneArg(observer, times);
  if (!done) PyErr_WriteUnraisable(observer);
  Py_XDECREF(done);
  Py_XDECREF(times);
  Py_DECREF(observer);
}

/* The guard, then the loop. 1: ran; 0: the guard was false; 2: failed; -1: an exception is set. How long it took until
   it was stopped tells nothing of the code, and is not noted. */
static int execute(Entry *entry, lw_call *call) {
  if (entry->guard && !entry->guard(call)) return 0;
  call->threads = allowed_threads(entry);
  if (call->threads < 0) return -1;
  lw_watch watch;
  int64_t spent;
  call->watch = &watch;
  int is_short = entry->calls && entry->last_ns < SHORT_NS;
  int failed = lw_run((int (*)(const void *))entry->entry, call, &watch, &call->failure->site, is_short, &spent, NULL);
  if (failed < 0) return -1;
  entry->ended_ns = watch.begun_ns + spent;
  note_time(entry, spent);
  return failed ? 2 : 1;
}

/* Sizes and strides are copied: another thread may give an array a new shape while the loop runs. */
static PyObject *launch(Entry *entry, PyObject *const *args, PyObject *const *originals, Py_ssize_t count) {
  PyObject *fresh = NULL, *result = NULL;
  int64_t room[384], *memory = room;
  lw_failure failure = {-1, 0, 0};
  Py_INCREF(entry); /* `fresh`, too, may lead to its end: it runs Python, and so other threads */
  if (entry->fresh != Py_None && !(fresh = fresh_arrays(entry, args, count))) goto done;
  Py_ssize_t total = count + (fresh ? PyTuple_GET_SIZE(fresh) : 0), axes = 0;
#define ITEM(k) ((k) < count ? args[k] : PyTuple_GET_ITEM(fresh, (k) - count))
  for (Py_ssize_t k = 0; k < total; k++)
    if (PyArray_Check(ITEM(k))) axes += PyArray_NDIM((PyArrayObject *)ITEM(k));
  size_t words = (size_t)(3 * total + count + entry->value_count + 2 * axes);
  if (words > sizeof room / sizeof *room && !(memory = PyMem_Malloc(8 * words))) {
    PyErr_NoMemory();
    goto done;
  }
  char **data = (char **)memory;
  int64_t **shape = (int64_t **)(data + total), **strides = shape + total;
  lw_slot *scalars = (lw_slot *)(strides + total), *returned = scalars + count;
  int64_t *numbers = (int64_t *)(returned + entry->value_count);
  memset(returned, 0, sizeof(lw_slot) * (size_t)entry->value_count);
  for (Py_ssize_t k = 0; k < total; k++) {
    PyObject *item = ITEM(k);
    data[k] = NULL;
    shape[k] = strides[k] = NULL;
    if (k < count) scalars[k].u = 0;
    if (PyArray_Check(item)) {
      PyArrayObject *array = (PyArrayObject *)item;
      int rank = PyArray_NDIM(array);
      data[k] = PyArray_BYTES(array);
      shape[k] = numbers;
      strides[k] = numbers + rank;
      for (int axis = 0; axis < rank; axis++) {
        shape[k][axis] = PyArray_DIMS(array)[axis];
        strides[k][axis] = PyArray_STRIDES(array)[axis];
      }
      numbers += 2 * rank;
    } else if (fill_slot(&scalars[k], item) < 0) {
      goto done;
    }
  }
#undef ITEM
  lw_call call = {data, (const int64_t *const *)shape, (const int64_t *const *)strides, scalars, returned, 1, &failure};
  switch (execute(entry, &call)) {
    case 0: result = guard_failed(entry, args, originals, count); break;
    case 1:
      result = result_of(entry, originals, fresh, returned);
      if (fresh && !entry->retired) keep_spares(&entry->results, fresh);
      if (result) tell_observer(entry);
      break;
    case 2: result = raise_failure(entry, &failure); break;
  }
done:
  if (memory != room) PyMem_Free(memory);
  Py_XDECREF(fresh);
  Py_DECREF(entry);
  return result;
}

static int read_values(Entry *self, PyObject *values) {
  self->value_count = PyTuple_GET_SIZE(values);
  self->values = PyMem_Calloc((size_t)self->value_count + 1, sizeof(Value));
  if (!self->values) return -1;
  for (Py_ssize_t k = 0; k < self->value_count; k++)
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(values, k), "ii", &self->values[k].code, &self->values[k].number)) return -1;
  if (self->returns != 1 || self->value_count == 1) return 0;
  PyErr_SetString(PyExc_ValueError, "returns=1 wants exactly one value");
  return -1;
}

static int read_constants(Entry *self, PyObject *constants) {
  self->constants = (Constants *)PyObject_CallOneArg((PyObject *)&ConstantsType, constants);
  return self->constants ? 0 : -1;
}

static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"entry", "guard", "threads", "parallel", "returns", "values", "constants", "fresh", "fail",
                          "guard_failed", "payload", NULL};
  unsigned long long entry, guard;
  PyObject *values, *constants, *fresh, *fail, *failed, *payload;
  Entry *self = (Entry *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$KKLpiO!O!OOOO", names, &entry, &guard, &self->threads,
                                   &self->parallel, &self->returns, &PyTuple_Type, &values, &PyTuple_Type, &constants,
                                   &fresh, &fail, &failed, &payload)) {
    Py_DECREF(self);
    return NULL;
  }
  self->entry = (int (*)(const lw_call *))(uintptr_t)entry;
  self->guard = (int (*)(const lw_call *))(uintptr_t)guard;
  self->fresh = Py_NewRef(fresh);
  self->fail = Py_NewRef(fail);
  self->guard_failed = Py_NewRef(failed);
  self->payload = Py_NewRef(payload);
  if (!entry || read_values(self, values) < 0 || read_constants(self, constants) < 0 || find_results(&self->results, fresh) < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no entry, or no memory");
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static int entry_traverse(Entry *self, visitproc visit, void *arg) {
  Py_VISIT(self->fresh);
  Py_VISIT(self->fail);
  Py_VISIT(self->guard_failed);
  Py_VISIT(self->payload);
  Py_VISIT(self->observer);
  Py_VISIT(self->constants);
  return 0;
}

/* `payload` keeps the code loaded and `fresh` is read by every call: an Entry in a cycle loses only its callbacks. */
static int entry_clear(Entry *self) {
  Py_CLEAR(self->fail);
  Py_CLEAR(self->guard_failed);
  Py_CLEAR(self->observer);
  return 0;
}

static void entry_dealloc(Entry *self) {
  PyObject_GC_UnTrack(self);
  entry_clear(self);
  Py_CLEAR(self->fresh);
  free_results(&self->results);
  Py_CLEAR(self->payload);
  Py_CLEAR(self->constants);
  PyMem_Free(self->values);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *entry_run(Entry *self, PyObject *args) {
  PyObject *arguments, *originals = Py_None;
  if (!PyArg_ParseTuple(args, "O!|O", &PyTuple_Type, &arguments, &originals)) return NULL;
  if (originals == Py_None) originals = arguments;
  if (!PyTuple_Check(originals) || PyTuple_GET_SIZE(originals) != PyTuple_GET_SIZE(arguments) || !self->fail) {
    PyErr_SetString(PyExc_TypeError, "run(arguments, originals) wants two tuples of one length");
    return NULL;
  }
  return launch(self, ((PyTupleObject *)arguments)->ob_item, ((PyTupleObject *)originals)->ob_item,
                PyTuple_GET_SIZE(arguments));
}

static PyObject *entry_watch(Entry *self, PyObject *args) {
  PyObject *observer;
  long long calls, spent;
  if (!PyArg_ParseTuple(args, "OLL", &observer, &calls, &spent)) return NULL;
  Py_XSETREF(self->observer, observer == Py_None ? NULL : Py_NewRef(observer));
  self->wanted_calls = calls;
  self->wanted_ns = spent;
  Py_RETURN_NONE;
}

/* What it has measured is still asked for, but it keeps no memory. */
static PyObject *entry_retire(Entry *self, PyObject *none) {
  self->retired = 1;
  drop_spares(&self->results);
  Py_RETURN_NONE;
}

static PyMethodDef entry_methods[] = {
    {"run", (PyCFunction)entry_run, METH_VARARGS, "run(arguments, originals=None): call the code."},
    {"watch", (PyCFunction)entry_watch, METH_VARARGS, "watch(observer, calls, spent_ns): whom to tell times, how often."},
    {"retire", (PyCFunction)entry_retire, METH_NOARGS, "retire(): no Dispatcher finds it any more."},
    {NULL}};

static PyMemberDef entry_members[] = {{"calls", T_LONGLONG, offsetof(Entry, calls), READONLY},
                                      {"total_ns", T_LONGLONG, offsetof(Entry, total_ns), READONLY},
                                      {"min_ns", T_LONGLONG, offsetof(Entry, min_ns), READONLY},
                                      {"last_ns", T_LONGLONG, offsetof(Entry, last_ns), READONLY},
                                      {"ended_ns", T_LONGLONG, offsetof(Entry, ended_ns), READONLY},
                                      {"threads", T_LONGLONG, offsetof(Entry, threads), READONLY},
                                      {"payload", T_OBJECT, offsetof(Entry, payload), READONLY},
                                      {NULL}};

static PyTypeObject EntryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "loopwright_launcher.Entry",
    .tp_basicsize = sizeof(Entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Code ready to be called for one kind of call, and what was measured of it.",
    .tp_new = entry_new,
    .tp_traverse = (traverseproc)entry_traverse,
    .tp_clear = (inquiry)entry_clear,
    .tp_dealloc = (destructor)entry_dealloc,
    .tp_methods = entry_methods,
    .tp_members = entry_members,
};
