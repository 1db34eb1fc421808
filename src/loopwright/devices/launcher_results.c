/* Part of the launcher: the arrays that a call allocates. Their sizes are small programs in postfix order
   (ir/size_programs.py). What they have no word for, or what is no usual size, is left to the Entry's `fresh`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <stdint.h>

enum { TAKE_NUMBER, TAKE_DIM, TAKE_ARGUMENT, DO_ADD, DO_SUB, DO_MUL, DO_FLOORDIV, DO_MIN, DO_MAX };
enum { MOST_AXES = 16, LONGEST_PROGRAM = 64 };

typedef struct { int length; int64_t code[LONGEST_PROGRAM]; } SizeProgram;

typedef struct {
  PyArray_Descr *descr;
  int zeros, rank;
  SizeProgram *sizes;
} Result;

typedef struct { Py_ssize_t count; Result *items; } Results;

static void free_results(Results *results) {
  for (Py_ssize_t k = 0; results->items && k < results->count; k++) {
    Py_XDECREF(results->items[k].descr);
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

/* From a tuple of (dtype, zeros, a tuple for each axis): 1; 0: left to `fresh`; -1: exception. */
static int read_results(Results *results, PyObject *given) {
  if (!given || !PyTuple_CheckExact(given)) return 0;
  results->count = PyTuple_GET_SIZE(given);
  results->items = PyMem_Calloc((size_t)results->count + 1, sizeof(Result));
  if (!results->items) return PyErr_NoMemory(), -1;
  for (Py_ssize_t k = 0; k < results->count; k++) {
    Result *one = &results->items[k];
    PyObject *dtype, *sizes;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given, k), "OpO!", &dtype, &one->zeros, &PyTuple_Type, &sizes)) return -1;
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

static int64_t floor_division(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Whether there is such a size; it is one that arrays have. */
static int find_size(const SizeProgram *program, PyObject *const *args, Py_ssize_t count, npy_intp *size) {
  int64_t stack[LONGEST_PROGRAM], a, b;
  int top = 0;
  for (int k = 0; k < program->length; k++) {
    switch (program->code[k]) {
      case TAKE_NUMBER:
        stack[top++] = program->code[++k];
        continue;
      case TAKE_DIM: {
        int64_t position = program->code[++k], axis = program->code[++k];
        if (position >= count || !PyArray_Check(args[position])) return 0;
        PyArrayObject *array = (PyArrayObject *)args[position];
        if (axis >= PyArray_NDIM(array)) return 0;
        stack[top++] = PyArray_DIM(array, (int)axis);
        continue;
      }
      case TAKE_ARGUMENT: {
        int64_t position = program->code[++k];
        int overflow = 0;
        if (position >= count || !PyLong_CheckExact(args[position])) return 0;
        stack[top++] = PyLong_AsLongLongAndOverflow(args[position], &overflow);
        if (overflow) return 0;
        continue;
      }
    }
    if (top < 2) return 0;
    b = stack[--top];
    a = stack[--top];
    int64_t result = 0;
    switch (program->code[k]) {
      case DO_ADD: if (__builtin_add_overflow(a, b, &result)) return 0; break;
      case DO_SUB: if (__builtin_sub_overflow(a, b, &result)) return 0; break;
      case DO_MUL: if (__builtin_mul_overflow(a, b, &result)) return 0; break;
      case DO_FLOORDIV: if (b == 0 || b == -1) return 0; result = floor_division(a, b); break;
      case DO_MIN: result = a < b ? a : b; break;
      case DO_MAX: result = a > b ? a : b; break;
      default: return 0;
    }
    stack[top++] = result;
  }
  if (top != 1 || stack[0] < 0) return 0;
  *size = (npy_intp)stack[0];
  return 1;
}

/* A tuple of new arrays; NULL with an exception, or without one where `fresh` is to make them. */
static PyObject *new_results(const Results *results, PyObject *const *args, Py_ssize_t count) {
  PyObject *made = PyTuple_New(results->count);
  for (Py_ssize_t k = 0; made && k < results->count; k++) {
    const Result *one = &results->items[k];
    npy_intp sizes[MOST_AXES];
    int64_t total = 1;
    for (int axis = 0; axis < one->rank; axis++) {
      if (!find_size(&one->sizes[axis], args, count, &sizes[axis]) ||
          __builtin_mul_overflow(total, (int64_t)(sizes[axis] ? sizes[axis] : 1), &total) || total > INT64_C(1) << 40) {
        Py_DECREF(made);
        return NULL;
      }
    }
    Py_INCREF(one->descr);
    PyObject *array = one->zeros ? PyArray_Zeros(one->rank, sizes, one->descr, 0)
                                 : PyArray_Empty(one->rank, sizes, one->descr, 0);
    if (!array) Py_CLEAR(made);
    else PyTuple_SET_ITEM(made, k, array);
  }
  return made;
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

/* A tuple as an object of one of the classes that devices/base.py knows; takes its reference. */
static PyObject *named(int number, PyObject *items) {
  PyObject *module = PyImport_ImportModule("loopwright.devices.base");
  return module ? PyObject_CallMethod(module, "named", "iN", number, items) : NULL;
}
