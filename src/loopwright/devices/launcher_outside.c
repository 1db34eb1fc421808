/* Part of the launcher: calls of a function that reads arrays from outside (frontend/global_arrays.py). Another callable
   makes them, which takes what stands there now behind the arguments that the caller writes. */

typedef struct { PyObject *owner, *key; } Outside; /* a dict, or a cell where `key` is NULL */

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *target, *slow;
  Py_ssize_t wanted, count; /* arguments of the caller; those from outside */
  Outside items[MOST_PARAMETERS];
} Completed;

/* A new reference to what stands there; NULL, maybe with an exception, where nothing does. */
static PyObject *stands_there(const Outside *one) {
  PyObject *found = one->key ? PyDict_GetItemWithError(one->owner, one->key) : PyCell_GET(one->owner);
  return Py_XNewRef(found);
}

/* Calls with keywords or defaults, and those for which something is missing outside, are left to `slow`. */
static PyObject *completed_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords) {
  Completed *self = (Completed *)callable;
  PyObject *all[MOST_PARAMETERS], *result = NULL;
  Py_ssize_t found = 0;
  Py_INCREF(self); /* the call may give the kernel another callable */
  int is_whole = !keywords && PyVectorcall_NARGS(flags) == self->wanted;
  if (is_whole) memcpy(all, args, sizeof(PyObject *) * (size_t)self->wanted);
  while (is_whole && found < self->count && (all[self->wanted + found] = stands_there(&self->items[found]))) found++;
  if (is_whole && found == self->count) result = PyObject_Vectorcall(self->target, all, (size_t)(self->wanted + found), NULL);
  else if (!PyErr_Occurred()) result = PyObject_Vectorcall(self->slow, args, flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  while (found) Py_DECREF(all[self->wanted + --found]);
  Py_DECREF(self);
  return result;
}

/* It is never changed, and so not cleared: a cycle with the kernel that owns it ends at the kernel. */
static int completed_traverse(Completed *self, visitproc visit, void *arg) {
  Py_VISIT(self->target);
  Py_VISIT(self->slow);
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
  PyObject *target, *slow, *outside;
  Py_ssize_t wanted;
  if (!PyArg_ParseTuple(args, "OOnO!", &target, &slow, &wanted, &PyTuple_Type, &outside)) return NULL;
  if (wanted < 0 || wanted + PyTuple_GET_SIZE(outside) > MOST_PARAMETERS) return Py_NewRef(slow);
  Completed *self = (Completed *)CompletedType.tp_alloc(&CompletedType, 0);
  if (!self) return NULL;
  self->vectorcall = completed_call;
  self->target = Py_NewRef(target);
  self->slow = Py_NewRef(slow);
  self->wanted = wanted;
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
