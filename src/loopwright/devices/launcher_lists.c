/* Part of the launcher: lists and dicts as arguments of calls that change none of them, put into arrays as
   frontend/packed.py does it. What is no list of one type's numbers or arrays is left to it. */

/* The arguments that were found, and the references that have to be given back. */
typedef struct { PyObject *items[MOST_PARAMETERS], *held[MOST_PARAMETERS]; int count, held_count; } Leaves;

enum { PYTHON_NUMBERS = 0, NUMPY_NUMBERS = 1, ARRAYS = 2, APART = 64 }; /* ARRAYS + their axes; with APART, those that lie
                                                                           in no other argument (launcher_structures.c) */

/* The type of a number, where it is Python's or NumPy's as wanted. */
static int code_of_number(PyObject *value, int kind) {
  if (kind == NUMPY_NUMBERS) return code_of_scalar(value);
  return PyFloat_CheckExact(value) ? FLOAT64 : PyLong_CheckExact(value) ? INT64 : PyBool_Check(value) ? BOOL : NONE;
}

/* A number where an array has it; 0 where its type does not hold it. */
static int put_number(char *place, PyObject *value, int kind, int code) {
  int overflow = 0;
  if (kind == NUMPY_NUMBERS) {
    PyArray_ScalarAsCtype(value, place);
  } else if (code == FLOAT64) {
    *(double *)place = PyFloat_AS_DOUBLE(value);
  } else if (code == INT64) {
    *(int64_t *)place = PyLong_AsLongLongAndOverflow(value, &overflow);
  } else {
    *place = value == Py_True;
  }
  return !overflow;
}

/* Numbers of one type as an array; NULL with an exception, or without one where they are none. */
static PyObject *array_of_numbers(PyObject *const *items, npy_intp count, int kind) {
  int code = count ? code_of_number(items[0], kind) : NONE;
  if (code == NONE) return NULL;
  PyObject *array = PyArray_EMPTY(1, &count, TYPE_NUMBERS[code], 0);
  char *place = array ? PyArray_BYTES((PyArrayObject *)array) : NULL;
  npy_intp size = array ? PyArray_ITEMSIZE((PyArrayObject *)array) : 0;
  PyTypeObject *type = Py_TYPE(items[0]);
  for (npy_intp k = 0; array && k < count; k++, place += size)
    if (Py_TYPE(items[k]) != type || !put_number(place, items[k], kind, code)) Py_CLEAR(array);
  return array;
}

/* Whether these are arrays of one type of elements, with as many axes. */
static int are_alike(PyObject *const *items, npy_intp count, int axes) {
  int code = NONE;
  for (npy_intp k = 0; k < count; k++) {
    PyArrayObject *one = (PyArrayObject *)items[k];
    if (!PyArray_CheckExact(one) || PyArray_NDIM(one) != axes) return 0;
    if (!PyArray_ISNOTSWAPPED(one) || (k && code_of(PyArray_TYPE(one)) != code)) return 0;
    code = code_of(PyArray_TYPE(one));
  }
  return axes > 0 && code != NONE && code != RECORD;
}

/* The elements of arrays, one array behind another. */
static PyObject *joined(PyObject *const *items, npy_intp count, npy_intp total) {
  PyObject *all = PyArray_EMPTY(1, &total, TYPE_NUMBERS[code_of(PyArray_TYPE((PyArrayObject *)items[0]))], 0);
  char *place = all ? PyArray_BYTES((PyArrayObject *)all) : NULL;
  for (npy_intp k = 0; all && k < count; k++) {
    PyArrayObject *one = PyArray_GETCONTIGUOUS((PyArrayObject *)items[k]); /* in C's order, a copy where it is not */
    if (!one) {
      Py_CLEAR(all);
    } else {
      memcpy(place, PyArray_DATA(one), (size_t)PyArray_NBYTES(one));
      place += PyArray_NBYTES(one);
      Py_DECREF(one);
    }
  }
  return all;
}

/* A leaf that the call owns; takes the reference. */
static int add_owned(Leaves *leaves, PyObject *array) {
  if (!array) return PyErr_Occurred() ? -1 : 0;
  leaves->held[leaves->held_count++] = array;
  leaves->items[leaves->count++] = array;
  return 1;
}

/* Of arrays in a list: their numbers, where each begins, the sizes of their axes, and the elements. */
static int find_arrays(Leaves *leaves, PyObject *const *items, npy_intp count, int axes) {
  if (!are_alike(items, count, axes)) return 0;
  int first = leaves->count;
  npy_intp total = 0;
  for (int k = 0; k < axes + 2; k++) {
    int added = add_owned(leaves, PyArray_EMPTY(1, &count, NPY_INT64, 0));
    if (added < 1) return added;
  }
  for (npy_intp k = 0; k < count; k++) {
    PyArrayObject *one = (PyArrayObject *)items[k];
    for (int part = 0; part < axes + 2; part++) {
      int64_t *numbers = PyArray_DATA((PyArrayObject *)leaves->items[first + part]);
      numbers[k] = part == 0 ? k : part == 1 ? total : PyArray_DIM(one, part - 2);
    }
    total += PyArray_SIZE(one);
  }
  return add_owned(leaves, joined(items, count, total));
}

/* As find_leaves, of a list of this class, or of a dict, of which `number` says the kinds of keys and of values. */
static int find_packed(Leaves *leaves, PyObject *value, PyObject *kind, int number) {
  number &= ~APART;
  if ((PyObject *)Py_TYPE(value) != kind || MOST_PARAMETERS - leaves->count < number + 3) return 0;
  if (MOST_PARAMETERS - leaves->held_count < number + 3) return 0;
  if (PyList_Check(value)) {
    PyObject *const *items = ((PyListObject *)value)->ob_item;
    if (number >= ARRAYS) return find_arrays(leaves, items, PyList_GET_SIZE(value), number - ARRAYS);
    return add_owned(leaves, array_of_numbers(items, PyList_GET_SIZE(value), number));
  }
  if (!PyDict_Check(value)) return 0;
  PyObject *parts[2] = {PyDict_Keys(value), PyDict_Values(value)};
  int found = parts[0] && parts[1] ? 1 : -1;
  for (int k = 0; found == 1 && k < 2; k++)
    found = add_owned(leaves, array_of_numbers(((PyListObject *)parts[k])->ob_item, PyList_GET_SIZE(parts[k]), number >> k & 1));
  Py_XDECREF(parts[0]);
  Py_XDECREF(parts[1]);
  return found;
}
