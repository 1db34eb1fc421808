/* Part of the launcher: the arrays that a call allocates. Their sizes are small programs in postfix order
   (ir/size_programs.py). What they have no word for, or what is no usual size, is left to the Entry's `fresh`. And the
   parts of arguments that a call returns. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
  TAKE_NUMBER, TAKE_DIM, TAKE_ARGUMENT,
  ADD, SUB, MUL, FLOORDIV, MIN, MAX, MOD, POW, SHL, SHR,
  ADD_FLOAT, SUB_FLOAT, MUL_FLOAT, DIV_FLOAT, MIN_FLOAT, MAX_FLOAT,
  FLOOR, CEIL, TRUNC, RINT, SQRT, TO_FLOAT, TO_INT,
  EQ, NE, LT, LE, EQ_FLOAT, NE_FLOAT, LT_FLOAT, LE_FLOAT,
  SELECT, LOG, LOG2, LOG10, EXP, POW_FLOAT, ABS, ABS_FLOAT
};
enum { MOST_AXES = 16, LONGEST_PROGRAM = 64 };
#define RESERVED (INT64_C(1) << 26) /* bytes: from there on it may be room for what is not known before */
#define MOST_RESERVED (INT64_C(1) << 27) /* elements: RESERVED of ir/nodes.py */
#define LEFT_IN_SPARE (INT64_C(1) << 20)
#define SMALL_PAGES ((size_t)4 << 20) /* bytes at the beginning of a room that get no huge pages */
#define BEFORE_ROOM ((size_t)64)      /* bytes before a room that tell how many there are */
#define UNTOUCHED UINT64_C(0x9E3779B97F4A7C15)

typedef struct { int length; int64_t code[LONGEST_PROGRAM]; } SizeProgram;

typedef struct {
  PyArray_Descr *descr;
  PyObject *fill; /* None: nothing; the integer 0: zeros of any type */
  int rank;
  SizeProgram *sizes;
  PyObject *spare; /* an array of a call before that nobody has seen, where only part of it was used; or NULL */
  int is_kept;     /* whether it may be one: addresses had no limit when the last one was made */
} Result;

typedef struct { Py_ssize_t count; Result *items; } Results;

static void drop_spares(Results *results) {
  for (Py_ssize_t k = 0; results->items && k < results->count; k++) Py_CLEAR(results->items[k].spare);
}

static void free_results(Results *results) {
  for (Py_ssize_t k = 0; results->items && k < results->count; k++) {
    Py_XDECREF(results->items[k].descr);
    Py_XDECREF(results->items[k].fill);
    Py_XDECREF(results->items[k].spare);
    PyMem_Free(results->items[k].sizes);
  }
  PyMem_Free(results->items);
  *results = (Results){0, NULL};
}

static int read_program(SizeProgram *program, PyObject *code) {
  program->length = (int)PyTuple_GET_SIZE(code);
  if (program->length > LONGEST_PROGRAM) return 0;
  for (int k = 0; k < program->length; k++) {
    program->code[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(code, k));
    if (program->code[k] == -1 && PyErr_Occurred()) return -1;
  }
  return 1;
}

/* From a tuple of (dtype, fill, a tuple for each axis): 1; 0: left to `fresh`; -1: exception. */
static int read_results(Results *results, PyObject *given) {
  if (!given || !PyTuple_CheckExact(given)) return 0;
  results->count = PyTuple_GET_SIZE(given);
  results->items = PyMem_Calloc((size_t)results->count + 1, sizeof(Result));
  if (!results->items) return PyErr_NoMemory(), -1;
  for (Py_ssize_t k = 0; k < results->count; k++) {
    Result *one = &results->items[k];
    PyObject *dtype, *fill, *sizes;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given, k), "OOO!", &dtype, &fill, &PyTuple_Type, &sizes)) return -1;
    one->fill = Py_NewRef(fill);
    if (!PyArray_DescrConverter(dtype, &one->descr)) return -1;
    one->rank = (int)PyTuple_GET_SIZE(sizes);
    if (one->rank > MOST_AXES) return 0;
    one->sizes = PyMem_Calloc((size_t)one->rank + 1, sizeof(SizeProgram));
    if (!one->sizes) return PyErr_NoMemory(), -1;
    for (int axis = 0; axis < one->rank; axis++) {
      int read = read_program(&one->sizes[axis], PyTuple_GET_ITEM(sizes, axis));
      if (read < 1) return read;
    }
  }
  return 1;
}

typedef union { int64_t i; double d; } Number;

static int64_t floor_division(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int find_power(int64_t base, int64_t exponent, int64_t *result) {
  *result = 1;
  if (exponent < 0 || exponent > 63) return 0;
  for (; exponent; exponent--)
    if (__builtin_mul_overflow(*result, base, result)) return 0;
  return 1;
}

/* An operation on what is last in the stack, whose result takes the place of its operands; how many these were, 0 where
   there is no such number. */
static int operate(int64_t code, Number *last, int depth) {
  Number *one = last, *b = last, *a = last - 1;
  if ((code >= FLOOR && code <= TO_INT) || (code >= LOG && code <= EXP) || code == ABS || code == ABS_FLOAT) {
    switch (code) {
      case FLOOR: one->d = floor(one->d); break;
      case CEIL: one->d = ceil(one->d); break;
      case TRUNC: one->d = trunc(one->d); break;
      case RINT: one->d = rint(one->d); break;
      case SQRT: one->d = sqrt(one->d); break;
      case TO_FLOAT: one->d = (double)one->i; break;
      case LOG: one->d = log(one->d); break;
      case LOG2: one->d = log2(one->d); break;
      case LOG10: one->d = log10(one->d); break;
      case EXP: one->d = exp(one->d); break;
      case ABS: if (one->i == INT64_MIN) return 0; one->i = one->i < 0 ? -one->i : one->i; break;
      case ABS_FLOAT: one->d = fabs(one->d); break;
      case TO_INT: if (!(fabs(one->d) < 0x1p63)) return 0; one->i = (int64_t)one->d; break;
    }
    return 1;
  }
  if (code == SELECT) {
    if (depth < 3) return 0;
    a[-1] = a[-1].i ? *a : *b;
    return 3;
  }
  if (depth < 2) return 0;
  switch (code) {
    case ADD: if (__builtin_add_overflow(a->i, b->i, &a->i)) return 0; break;
    case SUB: if (__builtin_sub_overflow(a->i, b->i, &a->i)) return 0; break;
    case MUL: if (__builtin_mul_overflow(a->i, b->i, &a->i)) return 0; break;
    case FLOORDIV: if (b->i == 0 || b->i == -1) return 0; a->i = floor_division(a->i, b->i); break;
    case MOD: if (b->i == 0 || b->i == -1) return 0; a->i -= floor_division(a->i, b->i) * b->i; break;
    case POW: if (!find_power(a->i, b->i, &a->i)) return 0; break;
    case SHL: if (b->i < 0 || b->i > 62 || a->i < 0 || a->i > INT64_MAX >> b->i) return 0; a->i <<= b->i; break;
    case SHR: if (b->i < 0 || b->i > 63) return 0; a->i >>= b->i; break;
    case MIN: a->i = b->i < a->i ? b->i : a->i; break;
    case MAX: a->i = b->i > a->i ? b->i : a->i; break;
    case ADD_FLOAT: a->d += b->d; break;
    case SUB_FLOAT: a->d -= b->d; break;
    case MUL_FLOAT: a->d *= b->d; break;
    case DIV_FLOAT: a->d /= b->d; break;
    case MIN_FLOAT: a->d = b->d < a->d ? b->d : a->d; break;
    case MAX_FLOAT: a->d = b->d > a->d ? b->d : a->d; break;
    case POW_FLOAT: a->d = pow(a->d, b->d); break;
    case EQ: a->i = a->i == b->i; break;
    case NE: a->i = a->i != b->i; break;
    case LT: a->i = a->i < b->i; break;
    case LE: a->i = a->i <= b->i; break;
    case EQ_FLOAT: a->i = a->d == b->d; break;
    case NE_FLOAT: a->i = a->d != b->d; break;
    case LT_FLOAT: a->i = a->d < b->d; break;
    case LE_FLOAT: a->i = a->d <= b->d; break;
    default: return 0;
  }
  return 2;
}

/* A Python int that fits, or a Python float. */
static int read_number(Number *number, PyObject *value) {
  int overflow = 0;
  if (PyFloat_CheckExact(value)) number->d = PyFloat_AS_DOUBLE(value);
  else if (PyLong_CheckExact(value)) number->i = PyLong_AsLongLongAndOverflow(value, &overflow);
  else return 0;
  return !overflow;
}

/* Whether there is such a size; it is one that arrays have. */
static int find_size(const SizeProgram *program, PyObject *const *args, Py_ssize_t count, npy_intp *size) {
  Number stack[LONGEST_PROGRAM];
  int depth = 0;
  for (int k = 0; k < program->length; k++) {
    int64_t code = program->code[k], position, axis;
    if (code == TAKE_NUMBER) {
      stack[depth++].i = program->code[++k];
    } else if (code == TAKE_DIM) {
      position = program->code[++k], axis = program->code[++k];
      if (position >= count || !PyArray_Check(args[position])) return 0;
      PyArrayObject *array = (PyArrayObject *)args[position];
      if (axis >= PyArray_NDIM(array)) return 0;
      stack[depth++].i = PyArray_DIM(array, (int)axis);
    } else if (code == TAKE_ARGUMENT) {
      position = program->code[++k];
      if (position >= count || !read_number(&stack[depth++], args[position])) return 0;
    } else {
      int taken = depth ? operate(code, &stack[depth - 1], depth) : 0;
      if (!taken) return 0;
      depth -= taken - 1;
    }
  }
  if (depth != 1 || stack[0].i < 0) return 0;
  *size = (npy_intp)stack[0].i;
  return 1;
}

/* Whether an array of so many bytes may be room of which mostly little is used. */
static int is_reserved(const Result *one, npy_intp bytes) { return one->fill == Py_None && bytes >= RESERVED; }

/* The first number behind what a spare array may keep of the memory that was touched. */
static uint64_t *end_of_spare(PyObject *array) {
  return (uint64_t *)((char *)PyArray_DATA((PyArrayObject *)array) + LEFT_IN_SPARE);
}

/* Keep what nobody else has of the arrays of a call, for the next one: to map and unmap memory takes longer than most
   calls. Where addresses were limited when it was made it is not kept. */
static void keep_spares(Results *results, PyObject *fresh) {
  for (Py_ssize_t k = 0; k < results->count && k < PyTuple_GET_SIZE(fresh); k++) {
    Result *one = &results->items[k];
    PyObject *array = PyTuple_GET_ITEM(fresh, k);
    if (one->spare || Py_REFCNT(array) != 1 || !is_reserved(one, PyArray_NBYTES((PyArrayObject *)array))) continue;
    if (!one->is_kept || *end_of_spare(array) != UNTOUCHED) continue;
    one->spare = Py_NewRef(array);
  }
}

/* Room of which mostly little is used: addresses of which the system gives what is touched. malloc would write to all
   of it under MALLOC_PERTURB_, and systems that are short of memory refuse it. What has grown gets huge pages, as from
   NumPy. */
static void *new_room(void *Py_UNUSED(context), size_t bytes) {
  if (bytes > SIZE_MAX - BEFORE_ROOM) return NULL;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char *made = mmap(NULL, bytes + BEFORE_ROOM, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (made == MAP_FAILED) return NULL;
  if (bytes > SMALL_PAGES) madvise(made + SMALL_PAGES, bytes + BEFORE_ROOM - SMALL_PAGES, MADV_HUGEPAGE);
  *(size_t *)made = bytes + BEFORE_ROOM;
  return made + BEFORE_ROOM;
}

static void *new_rooms(void *context, size_t count, size_t bytes) {
  size_t total;
  return __builtin_mul_overflow(count, bytes, &total) ? NULL : new_room(context, total);
}

static void give_room_back(void *Py_UNUSED(context), void *room, size_t Py_UNUSED(bytes)) {
  char *made = room ? (char *)room - BEFORE_ROOM : NULL;
  if (made) munmap(made, *(size_t *)made);
}

static void *other_room(void *context, void *room, size_t bytes) {
  if (!room || bytes > SIZE_MAX - BEFORE_ROOM) return room ? NULL : new_room(context, bytes);
  char *made = (char *)room - BEFORE_ROOM;
  made = mremap(made, *(size_t *)made, bytes + BEFORE_ROOM, MREMAP_MAYMOVE);
  if (made == MAP_FAILED) return NULL;
  *(size_t *)made = bytes + BEFORE_ROOM;
  return made + BEFORE_ROOM;
}

static PyDataMem_Handler room_handler = {"loopwright_room", 1, {NULL, new_room, new_rooms, other_room, give_room_back}};

/* An array whose elements are not defined; in a room where there are so many bytes that it may be one. */
static PyObject *empty_array(Result *one, npy_intp *sizes) {
  npy_intp elements = PyArray_MultiplyList(sizes, one->rank);
  PyObject *own = NULL, *usual = NULL;
  if (elements <= MOST_RESERVED && is_reserved(one, elements * PyDataType_ELSIZE(one->descr))) {
    own = PyCapsule_New(&room_handler, "mem_handler", NULL);
    usual = own ? PyDataMem_SetHandler(own) : NULL;
    Py_XDECREF(own);
    if (!usual) return NULL;
  }
  Py_INCREF(one->descr);
  PyObject *array = PyArray_Empty(one->rank, sizes, one->descr, 0);
  if (usual) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    own = PyDataMem_SetHandler(usual);
    Py_DECREF(usual);
    if (!own) PyErr_WriteUnraisable(array);
    Py_XDECREF(own);
    PyErr_Restore(type, value, trace);
  }
  return array;
}

/* A new array of these sizes; NULL with an exception. */
static PyObject *new_array(Result *one, npy_intp *sizes) {
  int zeros = PyLong_CheckExact(one->fill) && PyObject_Not(one->fill) == 1;
  if (zeros) Py_INCREF(one->descr);
  PyObject *array = zeros ? PyArray_Zeros(one->rank, sizes, one->descr, 0)
                          : empty_array(one, sizes);
  if (!array || zeros) return array;
  if (one->fill == Py_None) {
    if (is_reserved(one, PyArray_NBYTES((PyArrayObject *)array))) {
      struct rlimit limit;
      one->is_kept = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur == RLIM_INFINITY;
      *end_of_spare(array) = UNTOUCHED;
    }
    return array;
  }
  if (PyArray_FillWithScalar((PyArrayObject *)array, one->fill) < 0) Py_CLEAR(array);
  return array;
}

/* A tuple of new arrays; NULL with an exception, or without one where `fresh` is to make them. */
static PyObject *new_results(Results *results, PyObject *const *args, Py_ssize_t count) {
  PyObject *made = PyTuple_New(results->count);
  for (Py_ssize_t k = 0; made && k < results->count; k++) {
    Result *one = &results->items[k];
    npy_intp sizes[MOST_AXES];
    int64_t total = 1;
    for (int axis = 0; axis < one->rank; axis++) {
      if (!find_size(&one->sizes[axis], args, count, &sizes[axis]) ||
          __builtin_mul_overflow(total, (int64_t)(sizes[axis] ? sizes[axis] : 1), &total) || total > INT64_C(1) << 40) {
        Py_DECREF(made);
        return NULL;
      }
    }
    PyObject *array = one->spare; /* taken before anything is made, which may let another thread keep one */
    one->spare = NULL;
    if (array && memcmp(PyArray_DIMS((PyArrayObject *)array), sizes, sizeof(npy_intp) * (size_t)one->rank)) Py_CLEAR(array);
    if (!array) array = new_array(one, sizes);
    if (!array) Py_CLEAR(made);
    else PyTuple_SET_ITEM(made, k, array);
  }
  return made;
}

/* A part of an argument: where it begins along each axis, and for each axis of the part its size and how far it steps
   along each axis of the array. NULL with an exception. */
static PyObject *view_of(PyObject *array, PyObject *const *numbers, Py_ssize_t count) {
  PyArrayObject *whole = (PyArrayObject *)array;
  if (!PyArray_Check(array)) {
    PyErr_SetString(PyExc_TypeError, "a part of what is no NumPy array cannot be returned");
    return NULL;
  }
  Py_ssize_t rank = PyArray_NDIM(whole), axes = (count - rank) / (rank + 1), used = rank;
  npy_intp sizes[NPY_MAXDIMS] = {0}, strides[NPY_MAXDIMS] = {0}, start = 0, elements = 1;
  for (Py_ssize_t k = 0; k < rank; k++) start += PyLong_AsSsize_t(numbers[k]) * PyArray_STRIDE(whole, (int)k);
  for (Py_ssize_t axis = 0; axis < axes; axis++) {
    sizes[axis] = PyLong_AsSsize_t(numbers[used++]);
    elements *= sizes[axis];
    for (int k = 0; k < rank; k++) strides[axis] += PyLong_AsSsize_t(numbers[used++]) * PyArray_STRIDE(whole, k);
  }
  if (PyErr_Occurred()) return NULL;
  PyArray_Descr *descr = PyArray_DESCR(whole);
  Py_INCREF(descr);
  PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, (int)axes, sizes, strides,
                                        PyArray_BYTES(whole) + (elements ? start : 0),
                                        PyArray_FLAGS(whole) & NPY_ARRAY_WRITEABLE, NULL);
  if (view && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(array)) < 0) Py_CLEAR(view);
  return view;
}

/* An array of complex numbers as one of floats, two along a last axis; takes its reference. */
static PyObject *pairs_of(PyArrayObject *whole) {
  int rank = PyArray_NDIM(whole), type = PyArray_TYPE(whole) == NPY_CFLOAT ? NPY_FLOAT : NPY_DOUBLE;
  npy_intp sizes[NPY_MAXDIMS] = {0}, strides[NPY_MAXDIMS] = {0};
  for (int k = 0; k < rank; k++) sizes[k] = PyArray_DIM(whole, k), strides[k] = PyArray_STRIDE(whole, k);
  sizes[rank] = 2;
  strides[rank] = PyArray_ITEMSIZE(whole) / 2;
  PyObject *result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(type), rank + 1, sizes, strides,
                                          PyArray_DATA(whole), PyArray_FLAGS(whole) & NPY_ARRAY_WRITEABLE, NULL);
  if (!result) Py_DECREF(whole);
  else if (PyArray_SetBaseObject((PyArrayObject *)result, (PyObject *)whole) < 0) Py_CLEAR(result);
  return result;
}

/* `fresh` may say in an attribute how the launcher makes the arrays by itself. -1: exception. */
static int find_results(Results *results, PyObject *fresh) {
  if (fresh == Py_None) return 0;
  PyObject *given = PyObject_GetAttrString(fresh, "results");
  if (!given) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
  }
  int read = read_results(results, given);
  Py_DECREF(given);
  if (read < 1) free_results(results);
  return read < 0 ? -1 : 0;
}

/* The type of elements that a field's own array has; borrowed, NULL where a field holds something else. */
static PyArray_Descr *element_of(PyArray_Descr *field, PyArray_Descr *plane) {
  if (PyDataType_HASSUBARRAY(field)) field = PyDataType_SUBARRAY(field)->base;
  return field->type_num == plane->type_num && PyDataType_ISNOTSWAPPED(field) ? field : NULL;
}

/* Put the elements of a field, which lie one behind another, where it stands in each record. */
static void scatter(char *to, npy_intp step, const char *from, npy_intp size, npy_intp count) {
  switch (size) {
    case 4: for (npy_intp k = 0; k < count; k++) memcpy(to + k * step, from + 4 * k, 4); break;
    case 8: for (npy_intp k = 0; k < count; k++) memcpy(to + k * step, from + 8 * k, 8); break;
    default: for (npy_intp k = 0; k < count; k++) memcpy(to + k * step, from + size * k, (size_t)size);
  }
}

/* An array of records from an array for each field, as ir/made_values.py makes it; NULL with an exception, or without
   one where that is left to it. */
static PyObject *records_of(PyArray_Descr *descr, PyObject *planes) {
  PyObject *names = PyDataType_NAMES(descr), *fields = PyDataType_FIELDS(descr), *result = NULL;
  if (!names || PyTuple_GET_SIZE(names) != PyTuple_GET_SIZE(planes) || !PyTuple_GET_SIZE(planes)) return NULL;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(planes); k++) {
    PyArrayObject *plane = (PyArrayObject *)PyTuple_GET_ITEM(planes, k);
    PyObject *field = PyDict_GetItemWithError(fields, PyTuple_GET_ITEM(names, k));
    if (!field || !PyArray_Check(plane) || !PyArray_IS_C_CONTIGUOUS(plane)) goto other;
    PyArray_Descr *kind = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
    npy_intp offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(field, 1)), size = PyDataType_ELSIZE(kind);
    PyObject *inner = PyDataType_HASSUBARRAY(kind) ? PyDataType_SUBARRAY(kind)->shape : NULL;
    int rank = PyArray_NDIM(plane) - (inner ? (int)PyTuple_GET_SIZE(inner) : 0);
    if (rank < 0 || !element_of(kind, PyArray_DESCR(plane))) goto other;
    if (!result) {
      Py_INCREF(descr);
      if (!(result = PyArray_Empty(rank, PyArray_DIMS(plane), descr, 0))) return NULL;
    }
    npy_intp count = PyArray_SIZE((PyArrayObject *)result);
    if (PyArray_NBYTES(plane) != count * size) goto other;
    scatter(PyArray_BYTES((PyArrayObject *)result) + offset, PyDataType_ELSIZE(descr), PyArray_BYTES(plane), size, count);
  }
  return result;
other:
  Py_XDECREF(result);
  return NULL;
}

/* What stands in a tuple or a list as an object of one of the classes that devices/base.py knows; takes its
   reference. */
static PyObject *named(int number, PyObject *items) {
  static PyObject *classes; /* the list itself */
  PyObject *result = NULL, *module = classes ? NULL : PyImport_ImportModule("loopwright.devices.base");
  if (module) classes = PyObject_GetAttrString(module, "CLASSES");
  Py_XDECREF(module);
  PyObject *kind = classes ? Py_XNewRef(PyList_GetItem(classes, number)) : NULL;
  PyObject *descr = kind ? PyDict_GetItemString(((PyTypeObject *)kind)->tp_dict, "__loopwright_records__") : NULL;
  if (!PyTuple_Check(items)) Py_SETREF(items, PySequence_Tuple(items));
  if (items && descr && PyArray_DescrCheck(descr)) result = records_of((PyArray_Descr *)descr, items);
  if (items && kind && !result && !PyErr_Occurred()) result = PyObject_CallObject(kind, items);
  Py_XDECREF(kind);
  Py_XDECREF(items);
  return result;
}

/* Whether the array was shortened in place, along its first axis: only `fresh` and the caller have it, the other axes
   stay as they are, and it is no room of which little is used. -1: exception. */
static int shorten(PyArrayObject *array, PyObject *const *sizes, Py_ssize_t count) {
  npy_intp own[NPY_MAXDIMS] = {0}, bytes = PyArray_ITEMSIZE(array);
  int rank = PyArray_NDIM(array);
  if (count > rank || Py_REFCNT(array) != 2 || PyArray_BASE(array) || !PyArray_IS_C_CONTIGUOUS(array)) return 0;
  if (!PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)) return 0;
  for (int axis = 0; axis < rank; axis++) {
    own[axis] = axis < count ? PyLong_AsSsize_t(sizes[axis]) : PyArray_DIM(array, axis);
    if (own[axis] == -1 && PyErr_Occurred()) return -1;
    if (own[axis] < 0 || own[axis] > PyArray_DIM(array, axis) || (axis && own[axis] != PyArray_DIM(array, axis))) return 0;
    bytes *= own[axis];
  }
  if (PyArray_NBYTES(array) >= RESERVED && bytes <= LEFT_IN_SPARE) return 0;
  PyArray_Dims dims = {own, rank};
  PyObject *none = rank ? PyArray_Resize(array, &dims, 0, NPY_CORDER) : NULL;
  Py_XDECREF(none);
  if (!none && rank) return -1;
  return rank > 0;
}

/* A view of the array that ends after some sizes along its first axes. */
static PyObject *part_of(PyObject *array, PyObject *const *sizes, Py_ssize_t count) {
  PyArrayObject *whole = (PyArrayObject *)array;
  npy_intp own[NPY_MAXDIMS] = {0};
  if (!PyArray_Check(array) || count > PyArray_NDIM(whole)) {
    PyErr_SetString(PyExc_IndexError, "too many indices: an array with as many axes is wanted");
    return NULL;
  }
  int rank = PyArray_NDIM(whole);
  for (int axis = 0; axis < rank; axis++) {
    const npy_intp size = PyArray_DIM(whole, axis), wanted = axis < count ? PyLong_AsSsize_t(sizes[axis]) : size;
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    own[axis] = wanted < 0 ? 0 : wanted < size ? wanted : size;
  }
  PyArray_Descr *descr = PyArray_DESCR(whole);
  Py_INCREF(descr);
  PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, rank, own, PyArray_STRIDES(whole), PyArray_BYTES(whole),
                                        PyArray_FLAGS(whole) & NPY_ARRAY_WRITEABLE, NULL);
  if (view && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(array)) < 0) Py_CLEAR(view);
  return view;
}

/* The same; takes the array's reference. */
static PyObject *taken_part(PyObject *array, PyObject *const *sizes, Py_ssize_t count) {
  PyObject *part = part_of(array, sizes, count);
  Py_DECREF(array);
  return part;
}

/* The array cut to some sizes along its first axes, as an array of its own; takes its reference. once: it is returned
   nowhere else. */
static PyObject *cut_array(PyObject *array, PyObject *const *sizes, Py_ssize_t count, int once) {
  int shortened = once ? shorten((PyArrayObject *)array, sizes, count) : 0;
  if (shortened > 0) return array;
  if (shortened < 0) {
    Py_DECREF(array);
    return NULL;
  }
  PyObject *part = part_of(array, sizes, count), *copy = NULL;
  if (part) copy = PyArray_NewCopy((PyArrayObject *)part, NPY_CORDER);
  Py_XDECREF(part);
  Py_DECREF(array);
  return copy;
}

/* A scalar of NumPy for one element; the two frequent types without NumPy's general way, which takes twice as long. */
static PyObject *scalar_at(PyArrayObject *array, const char *place, int is_plain) {
  if (is_plain && PyArray_TYPE(array) == NPY_LONG) {
    PyObject *item = PyArrayScalar_New(Long);
    if (item) PyArrayScalar_ASSIGN(item, Long, *(const npy_long *)place);
    return item;
  }
  if (is_plain && PyArray_TYPE(array) == NPY_DOUBLE) {
    PyObject *item = PyArrayScalar_New(Double);
    if (item) PyArrayScalar_ASSIGN(item, Double, *(const npy_double *)place);
    return item;
  }
  return PyArray_ToScalar((void *)place, array);
}

enum { LEAST_SHARED = -5, MOST_SHARED = 256, FEWEST_SHARING = 64 };

/* The elements of an array of one axis as NumPy's scalars. Equal small integers are one object, as in Python's own
   lists: who makes each of them makes some hundred thousand for a board of zeros and ones. */
static PyObject *scalars_of(PyArrayObject *array) {
  PyObject *shared[MOST_SHARED - LEAST_SHARED + 1] = {NULL};
  const Py_ssize_t count = PyArray_DIM(array, 0), step = PyArray_STRIDE(array, 0);
  const int is_plain = PyArray_ISBEHAVED_RO(array), shares = is_plain && count >= FEWEST_SHARING && PyArray_TYPE(array) == NPY_LONG;
  const char *place = PyArray_BYTES(array);
  PyObject *result = PyList_New(count);
  for (Py_ssize_t k = 0; result && k < count; k++, place += step) {
    const npy_long value = shares ? *(const npy_long *)place : 0;
    const int is_small = shares && value >= LEAST_SHARED && value <= MOST_SHARED;
    PyObject *item = is_small ? Py_XNewRef(shared[value - LEAST_SHARED]) : NULL;
    if (!item) item = scalar_at(array, place, is_plain);
    if (!item) Py_CLEAR(result);
    else PyList_SET_ITEM(result, k, item);
    if (item && is_small && !shared[value - LEAST_SHARED]) shared[value - LEAST_SHARED] = Py_NewRef(item);
  }
  for (int k = 0; shares && k <= MOST_SHARED - LEAST_SHARED; k++) Py_XDECREF(shared[k]);
  return result;
}

/* The items of an array along its first axis, as NumPy's scalars where it has no other; or of anything else. */
static PyObject *items_of(PyObject *things) {
  if (!PyArray_Check(things) || !PyArray_NDIM((PyArrayObject *)things)) return PySequence_List(things);
  PyArrayObject *array = (PyArrayObject *)things;
  if (PyArray_NDIM(array) == 1) return scalars_of(array);
  PyObject *result = PyList_New(PyArray_DIM(array, 0));
  for (Py_ssize_t k = 0; result && k < PyArray_DIM(array, 0); k++) {
    PyObject *item = PySequence_GetItem(things, k);
    if (!item) Py_CLEAR(result);
    else PyList_SET_ITEM(result, k, item);
  }
  return result;
}

/* The tuples of the items that lists of one length have in each place; NULL with an exception. */
static PyObject *zipped(PyObject *const *lists, Py_ssize_t count) {
  Py_ssize_t length = PyList_GET_SIZE(lists[0]);
  PyObject *result = PyList_New(length);
  for (Py_ssize_t k = 0; result && k < length; k++) {
    PyObject *items = PyTuple_New(count);
    for (Py_ssize_t i = 0; items && i < count; i++) {
      PyTuple_SET_ITEM(items, i, Py_NewRef(PyList_GET_ITEM(lists[i], k)));
    }
    if (!items) Py_CLEAR(result);
    else PyList_SET_ITEM(result, k, items);
  }
  return result;
}

/* A fresh array of floats whose last axis has two elements, as one of complex numbers; takes its reference. */
static PyObject *complex_array(PyArrayObject *pairs) {
  int type = PyArray_TYPE(pairs) == NPY_FLOAT ? NPY_CFLOAT : NPY_CDOUBLE;
  PyObject *result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(type), PyArray_NDIM(pairs) - 1,
                                          PyArray_DIMS(pairs), NULL, PyArray_DATA(pairs), NPY_ARRAY_WRITEABLE, NULL);
  if (!result) Py_DECREF(pairs);
  else if (PyArray_SetBaseObject((PyArrayObject *)result, (PyObject *)pairs) < 0) Py_CLEAR(result);
  return result;
}

/* Two floats, Python's or NumPy's, as a complex number of the same kind. */
static PyObject *complex_number(PyObject *real, PyObject *imag) {
  Py_complex value = {PyFloat_AsDouble(real), PyFloat_AsDouble(imag)};
  if (PyFloat_CheckExact(real)) return PyComplex_FromCComplex(value);
  float single[2] = {(float)value.real, (float)value.imag};
  int is_single = PyArray_IsScalar(real, Float);
  PyArray_Descr *descr = PyArray_DescrFromType(is_single ? NPY_CFLOAT : NPY_CDOUBLE);
  PyObject *result = PyArray_Scalar(is_single ? (void *)single : (void *)&value, descr, NULL);
  Py_DECREF(descr);
  return result;
}
