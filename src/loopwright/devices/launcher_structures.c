/* Part of the launcher: arguments that hold others, which go to another callable that has a parameter for each of them
   (frontend/structured.py). A structure is None for an argument as any other, (value,) for this very object, which is
   known at compile time, (kind, names, structures) for an object of that class, a tuple where `names` is None, or (kind,
   number) for a list or a dict (launcher_lists.c). */

enum { MOST_EXPANSIONS = 8 };

typedef struct { PyObject *structures, *target; } Expansion; /* a structure for each parameter, and what makes the call */

static int is_leaf(PyObject *value) {
  if (PyArray_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBool_Check(value)) return 1;
  if (value == Py_None || PyUnicode_CheckExact(value) || code_of_scalar(value) != NONE) return 1;
  if (!PyTuple_CheckExact(value)) return 0;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); k++) {
    PyObject *item = PyTuple_GET_ITEM(value, k);
    if (!PyLong_CheckExact(item) && !PyFloat_CheckExact(item) && !PyBool_Check(item)) return 0;
  }
  return 1;
}

/* 1: the value has this structure; 0: another one; -1: exception. */
static int find_leaves(Leaves *leaves, PyObject *value, PyObject *structure) {
  if (structure == Py_None) {
    if (leaves->count == MOST_PARAMETERS || !is_leaf(value)) return 0;
    leaves->items[leaves->count++] = value;
    return 1;
  }
  if (PyTuple_GET_SIZE(structure) == 1) return value == PyTuple_GET_ITEM(structure, 0);
  if (PyTuple_GET_SIZE(structure) == 2) {
    const long number = PyLong_AsLong(PyTuple_GET_ITEM(structure, 1));
    return number < 0 ? -1 : find_packed(leaves, value, PyTuple_GET_ITEM(structure, 0), (int)number);
  }
  PyObject *kind = PyTuple_GET_ITEM(structure, 0), *names = PyTuple_GET_ITEM(structure, 1);
  PyObject *parts = PyTuple_GET_ITEM(structure, 2);
  if ((PyObject *)Py_TYPE(value) != kind) return 0;
  if (names == Py_None && !PyTuple_Check(value)) return 0;
  if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) != PyTuple_GET_SIZE(parts)) return 0;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(parts); k++) {
    PyObject *part;
    if (names == Py_None) {
      part = PyTuple_GET_ITEM(value, k);
    } else {
      if (leaves->held_count == MOST_PARAMETERS) return 0;
      if (!(part = PyObject_GetAttr(value, PyTuple_GET_ITEM(names, k)))) return -1;
      leaves->held[leaves->held_count++] = part;
    }
    int found = find_leaves(leaves, part, PyTuple_GET_ITEM(parts, k));
    if (found < 1) return found;
  }
  return 1;
}

/* The bytes from the first element of an array to its last. */
static View extent_of(PyObject *value) {
  PyArrayObject *array = (PyArrayObject *)value;
  View view = {.data = PyArray_BYTES(array), .sizes = PyArray_DIMS(array), .strides = PyArray_STRIDES(array),
               .item = PyArray_ITEMSIZE(array), .rank = PyArray_NDIM(array)};
  find_extent(&view);
  return view;
}

/* Whether an array in one of the lists that are to be apart may lie in the memory of another argument. */
static int may_share(PyObject *structures, PyObject *const *all, Py_ssize_t parameters) {
  for (Py_ssize_t i = 0; i < parameters; i++) {
    PyObject *structure = PyTuple_GET_ITEM(structures, i);
    if (structure == Py_None || PyTuple_GET_SIZE(structure) != 2) continue;
    if (!PyList_Check(all[i]) || !(PyLong_AsLong(PyTuple_GET_ITEM(structure, 1)) & APART)) continue;
    for (Py_ssize_t j = 0; j < parameters; j++) {
      if (PyTuple_GET_ITEM(structures, j) != Py_None || !PyArray_Check(all[j])) continue;
      View other = extent_of(all[j]);
      for (Py_ssize_t k = 0; k < PyList_GET_SIZE(all[i]); k++) {
        View one = extent_of(PyList_GET_ITEM(all[i], k));
        if (one.low < other.high && other.low < one.high) return 1;
      }
    }
  }
  return 0;
}

/* The result of the call by the target whose structures these arguments have; NULL with an exception, or without one
   where there is none. */
static PyObject *call_expanded(const Expansion *expansions, int count, PyObject *const *all, Py_ssize_t parameters) {
  for (int k = 0; k < count; k++) {
    Leaves leaves = {.count = 0, .held_count = 0};
    PyObject *structures = Py_NewRef(expansions[k].structures), *target = Py_NewRef(expansions[k].target), *result = NULL;
    int found = PyTuple_GET_SIZE(structures) == parameters;
    for (Py_ssize_t i = 0; found == 1 && i < parameters; i++)
      found = find_leaves(&leaves, all[i], PyTuple_GET_ITEM(structures, i));
    if (found == 1) found = !may_share(structures, all, parameters);
    if (found == 1) result = PyObject_Vectorcall(target, leaves.items, (size_t)leaves.count, NULL);
    for (int i = 0; i < leaves.held_count; i++) Py_DECREF(leaves.held[i]);
    Py_DECREF(structures);
    Py_DECREF(target);
    if (found) return result;
  }
  return NULL;
}

/* Newest first; the oldest of many is forgotten. Takes references. */
static void add_expansion(Expansion *expansions, int *count, PyObject *structures, PyObject *target) {
  if (*count == MOST_EXPANSIONS) {
    Expansion gone = expansions[--*count];
    Py_DECREF(gone.structures);
    Py_DECREF(gone.target);
  }
  memmove(expansions + 1, expansions, sizeof(Expansion) * (size_t)*count);
  expansions[0] = (Expansion){structures, target};
  ++*count;
}
