/* Part of the launcher: the key of a call, all that decides which code may run. Two calls with one key have
   one Signature; tests/devices compare this with runtime/specialise.py. Layout and overlap are tested as in
   memory/overlap.py. A key is bytes: 1 where a written array may share bytes with another argument in a way that
   `same` does not tell, or with itself; then for each argument

     A code rank layout|aligned ones same       an array; `same`: 1 + the position of the earlier argument it is, or 0;
                                                `ones`: a bit for each axis of one element, where these may be stretched
     R code rank layout|aligned ones same dtype an array of records; dtype: the address of one dtype equal to it
     b i f                                 a Python bool, int that fits int64, float
     s code                                a NumPy scalar
     N, S length bytes, T count items      None, a string, a tuple of Python numbers: by value */

enum { MOST_PARAMETERS = 48, KEY_ROOM = 1024 };
enum { LAYOUT_C, LAYOUT_F, LAYOUT_LAST, LAYOUT_FIRST, LAYOUT_STRIDED };

typedef struct {
  char *data, *low, *high; /* low, high: first byte, and the one after the last; equal where empty */
  const npy_intp *sizes, *strides;
  npy_intp item;
  const void *dtype;
  int rank, place, position, first, written, flags; /* place of `same` in the key; first: view it is the same as */
} View;

typedef struct {
  unsigned char bytes[KEY_ROOM];
  int length;
  View views[MOST_PARAMETERS];
  int count;
} Key;

/* What of a kernel's parameters the key depends on. */
typedef struct {
  Py_ssize_t count;
  char written[MOST_PARAMETERS];
  char indices[MOST_PARAMETERS]; /* the fewest that an array is used with: frontend/whole.py */
  PyObject *refuses;  /* refuses(type) -> whether arrays of this subclass are left to `slow` */
  PyObject *types;    /* dict: subclass of arrays -> what refuses said, a bool */
  PyObject *describe; /* describe(dtype) -> alignment of records, 0: never aligned */
  PyObject *dtypes;   /* dict: dtype of records -> (one dtype equal to it, alignment) */
} Shape;

static int append(Key *key, const void *bytes, size_t count) {
  if (count > (size_t)(KEY_ROOM - key->length)) return 0;
  memcpy(key->bytes + key->length, bytes, count);
  key->length += (int)count;
  return 1;
}

static int append_byte(Key *key, int byte) {
  unsigned char one = (unsigned char)byte;
  return append(key, &one, 1);
}

static int layout_of(const View *view) {
  if (view->flags & NPY_ARRAY_C_CONTIGUOUS) return LAYOUT_C;
  if (view->flags & NPY_ARRAY_F_CONTIGUOUS) return LAYOUT_F;
  int last = view->rank - 1;
  if (view->strides[last] == view->item || view->sizes[last] == 1) return LAYOUT_LAST;
  if (view->strides[0] == view->item || view->sizes[0] == 1) return LAYOUT_FIRST;
  return LAYOUT_STRIDED;
}

/* Whether arrays of this subclass are left to `slow`; -1: exception. */
static int is_refused(const Shape *shape, PyTypeObject *type) {
  PyObject *known = PyDict_GetItemWithError(shape->types, (PyObject *)type);
  if (known) return known == Py_True;
  if (PyErr_Occurred()) return -1;
  PyObject *answer = PyObject_CallOneArg(shape->refuses, (PyObject *)type);
  int refused = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  if (refused < 0 || PyDict_SetItem(shape->types, (PyObject *)type, refused ? Py_True : Py_False) < 0) return -1;
  return refused;
}

/* The one dtype that stands for all equal to this one, and its records' alignment. 0: no key; -1: exception. */
static int describe_records(const Shape *shape, PyArray_Descr *descr, const void **dtype, long *alignment) {
  if (!PyDataType_HASFIELDS(descr)) return 0;
  PyObject *known = PyDict_GetItemWithError(shape->dtypes, (PyObject *)descr);
  if (!known) {
    if (PyErr_Occurred()) return -1;
    PyObject *answer = PyObject_CallOneArg(shape->describe, (PyObject *)descr);
    if (!answer) return -1;
    PyObject *pair = PyTuple_Pack(2, (PyObject *)descr, answer);
    Py_DECREF(answer);
    int stored = pair ? PyDict_SetItem(shape->dtypes, (PyObject *)descr, pair) : -1;
    Py_XDECREF(pair);
    if (stored < 0) return -1;
    known = pair; /* the dict holds it */
  }
  *dtype = PyTuple_GET_ITEM(known, 0);
  *alignment = PyLong_AsLong(PyTuple_GET_ITEM(known, 1));
  return *alignment == -1 && PyErr_Occurred() ? -1 : 1;
}

static int records_aligned(const View *view, long alignment) {
  if (alignment <= 0 || (uintptr_t)view->data % (uintptr_t)alignment) return 0;
  for (int axis = 0; axis < view->rank; axis++)
    if (view->sizes[axis] > 1 && view->strides[axis] % alignment) return 0;
  return 1;
}

/* 1: appended; 0: no key, go the slow way; -1: exception. */
static int append_array(Key *key, const Shape *shape, PyArrayObject *array, int position) {
  PyArray_Descr *descr = PyArray_DESCR(array);
  int code = code_of(descr->type_num);
  long alignment = 0;
  View *view = &key->views[key->count];
  if (code == NONE || !PyArray_ISNBO(descr->byteorder)) return 0;
  if (!PyArray_CheckExact(array)) {
    int refused = is_refused(shape, Py_TYPE(array));
    if (refused) return refused < 0 ? -1 : 0;
  }
  *view = (View){.data = PyArray_BYTES(array), .sizes = PyArray_DIMS(array), .strides = PyArray_STRIDES(array),
                 .item = PyArray_ITEMSIZE(array), .dtype = &TYPE_NUMBERS[code == RECORD ? 0 : code],
                 .rank = PyArray_NDIM(array), .position = position, .first = key->count,
                 .written = shape->written[position], .flags = PyArray_FLAGS(array)};
  if (view->written && !(view->flags & NPY_ARRAY_WRITEABLE)) return 0;
  int aligned = (view->flags & NPY_ARRAY_ALIGNED) != 0, layout = LAYOUT_STRIDED;
  if (code == RECORD) {
    int known = describe_records(shape, descr, &view->dtype, &alignment);
    if (known < 1) return known;
    aligned = records_aligned(view, alignment);
  } else {
    layout = layout_of(view);
  }
  unsigned char head[6] = {'A', (unsigned char)code, (unsigned char)view->rank,
                           (unsigned char)(layout | aligned << 4), 0, 0};
  if (view->rank > shape->indices[position])
    for (int axis = 0; axis < view->rank && axis < 8; axis++) head[4] |= (unsigned char)((view->sizes[axis] == 1) << axis);
  if (code == RECORD) head[0] = 'R';
  if (!append(key, head, sizeof head)) return 0;
  view->place = key->length - 1;
  key->count++;
  return code == RECORD ? append(key, &view->dtype, sizeof view->dtype) : 1;
}

static int append_number(Key *key, PyObject *value) {
  if (PyBool_Check(value)) return append_byte(key, 'b') && append_byte(key, value == Py_True);
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    return append_byte(key, 'f') && append(key, &number, sizeof number);
  }
  int overflow = 1;
  long long number = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
  return !overflow && append_byte(key, 'i') && append(key, &number, sizeof number);
}

static int append_constant(Key *key, PyObject *value) {
  if (value == Py_None) return append_byte(key, 'N');
  if (PyUnicode_CheckExact(value)) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text) return append_byte(key, 'S') && append(key, &length, sizeof length) && append(key, text, (size_t)length);
    PyErr_Clear(); /* lone surrogates */
    return 0;
  }
  if (!PyTuple_CheckExact(value)) return 0;
  Py_ssize_t count = PyTuple_GET_SIZE(value);
  if (!append_byte(key, 'T') || !append(key, &count, sizeof count)) return 0;
  for (Py_ssize_t k = 0; k < count; k++)
    if (!append_number(key, PyTuple_GET_ITEM(value, k))) return 0;
  return 1;
}

static int append_argument(Key *key, const Shape *shape, PyObject *value, int position) {
  if (PyArray_Check(value)) return append_array(key, shape, (PyArrayObject *)value, position);
  if (PyBool_Check(value)) return append_byte(key, 'b');
  if (PyFloat_CheckExact(value)) return append_byte(key, 'f');
  if (PyLong_CheckExact(value)) {
    int overflow;
    PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow && append_byte(key, 'i');
  }
  int code = code_of_scalar(value);
  if (code != NONE) return append_byte(key, 's') && append_byte(key, code);
  return append_constant(key, value);
}

/* ---- arguments that share memory ----------------------------------------------------------------------------- */

static int same_array(const View *one, const View *other) {
  if (one->data != other->data || one->dtype != other->dtype || one->rank != other->rank) return 0;
  size_t bytes = sizeof(npy_intp) * (size_t)one->rank;
  return !memcmp(one->sizes, other->sizes, bytes) && !memcmp(one->strides, other->strides, bytes);
}

static void find_extent(View *view) {
  view->low = view->high = view->data;
  for (int axis = 0; axis < view->rank; axis++) {
    if (view->sizes[axis] == 0) {
      view->low = view->high = view->data;
      return;
    }
    npy_intp step = (view->sizes[axis] - 1) * view->strides[axis];
    if (step < 0) view->low += step;
    else view->high += step;
  }
  view->high += view->item;
}

/* Start and width of the bytes that the axes whose stride is no multiple of `period` reach. */
static intptr_t stretch(const View *view, npy_intp period, npy_intp *width) {
  intptr_t low = (intptr_t)view->data;
  *width = view->item;
  for (int axis = 0; axis < view->rank; axis++) {
    if (view->sizes[axis] <= 1 || view->strides[axis] % period == 0) continue;
    npy_intp step = (view->sizes[axis] - 1) * view->strides[axis];
    if (step < 0) low += step;
    *width += step < 0 ? -step : step;
  }
  return low;
}

static int apart_modulo(const View *one, const View *other, npy_intp period) {
  npy_intp width, other_width;
  intptr_t low = stretch(one, period, &width), other_low = stretch(other, period, &other_width);
  npy_intp gap = (npy_intp)((other_low - low) % period);
  if (gap < 0) gap += period;
  return gap >= width && gap + other_width <= period;
}

static int disjoint(const View *one, const View *other) {
  if (one->high <= other->low || other->high <= one->low || one->low == one->high || other->low == other->high)
    return 1;
  const View *both[2] = {one, other};
  for (int k = 0; k < 2; k++)
    for (int axis = 0; axis < both[k]->rank; axis++) {
      npy_intp period = llabs(both[k]->strides[axis]);
      if (both[k]->sizes[axis] > 1 && period && apart_modulo(one, other, period)) return 1;
    }
  return 0;
}

static int overlaps_itself(const View *view) {
  if (view->low == view->high || view->flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)) return 0;
  npy_intp reach = view->item, passed = -1;
  int passed_axis = -1;
  for (;;) { /* axes from the smallest stride on; equal ones by number */
    int next = -1;
    for (int axis = 0; axis < view->rank; axis++) {
      npy_intp stride = llabs(view->strides[axis]);
      if (view->sizes[axis] <= 1 || stride < passed || (stride == passed && axis <= passed_axis)) continue;
      if (next < 0 || stride < llabs(view->strides[next])) next = axis;
    }
    if (next < 0) return 0;
    passed = llabs(view->strides[next]);
    passed_axis = next;
    if (passed < reach) return 1;
    reach += (view->sizes[next] - 1) * passed;
  }
}

/* Fill in `same` and the overlap byte: only what a written array takes part in matters. */
static void relate(Key *key) {
  View *views = key->views;
  for (int j = 0; j < key->count; j++) {
    find_extent(&views[j]);
    for (int i = 0; i < j; i++)
      if (views[i].data == views[j].data && same_array(&views[i], &views[j])) {
        views[j].first = views[i].first;
        views[views[i].first].written |= views[j].written;
        break;
      }
  }
  for (int j = 0; j < key->count; j++) {
    const View *first = &views[views[j].first];
    if (views[j].first != j) {
      if (first->written) key->bytes[views[j].place] = (unsigned char)(1 + first->position);
      continue;
    }
    if (!first->written) continue;
    if (overlaps_itself(first)) key->bytes[0] = 1;
    for (int i = 0; i < key->count && !key->bytes[0]; i++)
      if (views[i].first == i && i != j && !disjoint(first, &views[i])) key->bytes[0] = 1;
  }
}

/* 1: made; 0: no key, go the slow way; -1: exception. */
static int make_key(Key *key, const Shape *shape, PyObject *const *args) {
  int written = 0;
  key->bytes[0] = 0;
  key->length = 1;
  key->count = 0;
  for (int k = 0; k < shape->count; k++) {
    int done = append_argument(key, shape, args[k], k);
    if (done < 1) return done;
    written |= shape->written[k];
  }
  if (written) relate(key);
  return 1;
}

/* ---- the numbers of a call ----------------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 128 };

/* What a key leaves out and times depend on: lengths of all axes, integer arguments. How many; -1: too many. */
static int numbers_of(const Shape *shape, PyObject *const *args, int64_t *numbers) {
  int count = 0;
  for (Py_ssize_t k = 0; k < shape->count; k++) {
    PyObject *value = args[k];
    if (PyArray_Check(value)) {
      PyArrayObject *array = (PyArrayObject *)value;
      int rank = PyArray_NDIM(array);
      if (count + rank > MOST_NUMBERS) return -1;
      for (int axis = 0; axis < rank; axis++) numbers[count++] = PyArray_DIMS(array)[axis];
    } else if ((PyLong_Check(value) && !PyBool_Check(value)) || PyArray_IsScalar(value, Integer)) {
      lw_slot slot;
      if (count == MOST_NUMBERS) return -1;
      if (fill_slot(&slot, value) < 0) {
        PyErr_Clear();
        return -1;
      }
      numbers[count++] = slot.i;
    }
  }
  return count;
}

static uint64_t hash_of(const unsigned char *bytes, Py_ssize_t length) {
  uint64_t hash = (uint64_t)length, word;
  for (; length >= 8; bytes += 8, length -= 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  word = 0;
  memcpy(&word, bytes, (size_t)length);
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 32;
}
