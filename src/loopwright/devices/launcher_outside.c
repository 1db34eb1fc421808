/* Part of the launcher: calls of a function that reads arrays from outside (frontend/global_arrays.py), or draws from
   NumPy's global generator (frontend/random_state.py). Another callable makes them, which takes what stands there now,
   and then the state of the generator, behind the arguments that the caller writes. */

typedef struct { PyObject *owner, *key; } Outside; /* a dict, or a cell where `key` is NULL */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *target, *slow;
  Py_ssize_t wanted, count; /* arguments of the caller; those from outside */
  Outside items[MOST_PARAMETERS];
  PyObject *drawn; /* ir.captured.Drawn, or NULL */
} Completed;

/* The normal number that is left over, where NumPy keeps it. */
typedef struct { int is_there; double number; } LeftOver;

/* A new reference to what stands there; NULL, maybe with an exception, where nothing does. */
static PyObject *stands_there(const Outside *one) {
  PyObject *found = one->key ? PyDict_GetItemWithError(one->owner, one->key) : PyCell_GET(one->owner);
  return Py_XNewRef(found);
}

/* Whether the module's generator still is the one whose state is known. */
static int is_same_generator(PyObject *drawn) {
  PyObject *rand = PyObject_GetAttrString(PyTuple_GET_ITEM(drawn, 0), "_rand");
  PyObject *bits = rand ? PyObject_GetAttrString(rand, "_bit_generator") : NULL;
  int same = bits && rand == PyTuple_GET_ITEM(drawn, 1) && bits == PyTuple_GET_ITEM(drawn, 2);
  Py_XDECREF(rand);
  Py_XDECREF(bits);
  PyErr_Clear();
  return same;
}

/* A call that draws: NumPy's own draws wait while it runs, and go on where it ends. `all` has room for two more. */
static PyObject *call_drawing(PyObject *target, PyObject *drawn, PyObject **all, Py_ssize_t count) {
  PyObject *lock = PyTuple_GET_ITEM(drawn, 3), *result = NULL, *type, *value, *trace;
  npy_intp two = 2;
  PyObject *gauss = PyArray_EMPTY(1, &two, NPY_DOUBLE, 0), *held = gauss ? PyObject_CallMethod(lock, "acquire", NULL) : NULL;
  if (held) {
    LeftOver *left = PyLong_AsVoidPtr(PyTuple_GET_ITEM(drawn, 5));
    double *now = PyArray_DATA((PyArrayObject *)gauss), before[2] = {left->is_there, left->number};
    memcpy(now, before, sizeof before);
    all[count] = PyTuple_GET_ITEM(drawn, 4);
    all[count + 1] = gauss;
    result = PyObject_Vectorcall(target, all, (size_t)(count + 2), NULL);
    if (memcmp(now, before, sizeof before)) *left = (LeftOver){(int)now[0], now[1]};
    PyErr_Fetch(&type, &value, &trace);
    PyObject *given_back = PyObject_CallMethod(lock, "release", NULL);
    if (!given_back) PyErr_WriteUnraisable(lock);
    Py_XDECREF(given_back);
    PyErr_Restore(type, value, trace);
  }
  Py_XDECREF(held);
  Py_XDECREF(gauss);
  return result;
}

/* Calls with keywords or defaults, and those for which something is missing outside, are left to `slow`. */
static PyObject *completed_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords) {
  Completed *self = (Completed *)callable;
  PyObject *all[MOST_PARAMETERS + 2], *result = NULL;
  Py_ssize_t found = 0;
  Py_INCREF(self); /* the call may give the kernel another callable */
  int is_whole = !keywords && PyVectorcall_NARGS(flags) == self->wanted;
  if (is_whole) memcpy(all, args, sizeof(PyObject *) * (size_t)self->wanted);
  while (is_whole && found < self->count && (all[self->wanted + found] = stands_there(&self->items[found]))) found++;
  if (is_whole && found == self->count && (!self->drawn || is_same_generator(self->drawn)))
    result = self->drawn ? call_drawing(self->target, self->drawn, all, self->wanted + found)
                         : PyObject_Vectorcall(self->target, all, (size_t)(self->wanted + found), NULL);
  else if (!PyErr_Occurred()) result = PyObject_Vectorcall(self->slow, args, flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  while (found) Py_DECREF(all[self->wanted + --found]);
  Py_DECREF(self);
  return result;
}

/* It is never changed, and so not cleared: a cycle with the kernel that owns it ends at the kernel. */
static int completed_traverse(Completed *self, visitproc visit, void *arg) {
  Py_VISIT(self->target);
  Py_VISIT(self->slow);
  Py_VISIT(self->drawn);
  for (Py_ssize_t k = 0; k < self->count; k++) {
    Py_VISIT(self->items[k].owner);
    Py_VISIT(self->items[k].key);
  }
  return 0;
}

static void completed_dealloc(Completed *self) {
  PyObject_GC_UnTrack(self);
  Py_CLEAR(self->target);
  Py_CLEAR(self->slow);
  Py_CLEAR(self->drawn);
  while (self->count) {
    Outside *last = &self->items[--self->count];
    Py_XDECREF(last->owner);
    Py_XDECREF(last->key);
  }
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyTypeObject CompletedType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "loopwright_launcher.Completed",
    .tp_basicsize = sizeof(Completed),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "The callable for calls that take arrays from outside.",
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Completed, vectorcall),
    .tp_traverse = (traverseproc)completed_traverse,
    .tp_dealloc = (destructor)completed_dealloc,
};

static PyObject *completed(PyObject *module, PyObject *args) {
  PyObject *target, *slow, *outside, *drawn = Py_None;
  Py_ssize_t wanted;
  if (!PyArg_ParseTuple(args, "OOnO!|O", &target, &slow, &wanted, &PyTuple_Type, &outside, &drawn)) return NULL;
  if (drawn != Py_None && !(PyTuple_Check(drawn) && PyTuple_GET_SIZE(drawn) == 6)) return Py_NewRef(slow);
  if (wanted < 0 || wanted + PyTuple_GET_SIZE(outside) > MOST_PARAMETERS) return Py_NewRef(slow);
  Completed *self = (Completed *)CompletedType.tp_alloc(&CompletedType, 0);
  if (!self) return NULL;
  self->vectorcall = completed_call;
  self->target = Py_NewRef(target);
  self->slow = Py_NewRef(slow);
  self->wanted = wanted;
  self->drawn = drawn == Py_None ? NULL : Py_NewRef(drawn);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(outside); k++) {
    PyObject *owner, *key;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(outside, k), "OO", &owner, &key)) goto wrong;
    int is_cell = PyCell_Check(owner);
    if (!is_cell && !PyDict_Check(owner)) {
      PyErr_SetString(PyExc_TypeError, "what stands outside is in a dict or in a cell");
      goto wrong;
    }
    self->items[k] = (Outside){Py_NewRef(owner), is_cell ? NULL : Py_NewRef(key)};
    self->count = k + 1;
  }
  return (PyObject *)self;
wrong:
  Py_DECREF(self);
  return NULL;
}
