/* Part of the launcher: `Dispatcher`, which finds the Entry for a call, and the module.

   A call with known kinds of arguments costs: one pass over the arguments to make a key, one look-up, the guard,
   and the loop itself without the GIL. An Entry may be for calls with certain numbers only (sizes, integers): where
   several variants were measured, the numbers choose among them. In any doubt the Dispatcher calls `slow`, which raises the proper error,
   converts, or compiles, and perhaps adds an Entry. Everything but the loop runs under the GIL. */

enum { MOST_SLOTS = 256, MOST_FOR_ONE_KEY = 8, MOST_WITH_NUMBERS = 128, NEAR = 4 };

typedef struct {
  uint64_t hash;
  PyObject *config, *key; /* the key: bytes */
  PyObject *numbers;      /* bytes: the only ones that the entry is for, or NULL */
  Entry *entry;
} Slot;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Shape shape;
  PyObject *slow, *context, *names;
  PyObject *failed, *own;                  /* or None */
  PyObject *defaults;                      /* a tuple, the trailing ones; or the function that has them now */
  PyObject *configs;                       /* dict: Config -> one Config equal to it */
  PyObject *last_config, *last_one;        /* the Config seen last, and the one that stands for it */
  PyObject *last_asked, *last_own;         /* the Config in force last, and what the kernel's own options make of it */
  Slot slots[MOST_SLOTS];                  /* roughly the most recently used first */
  int slot_count;
  Expansion expansions[MOST_EXPANSIONS];
  int expansion_count;
} Dispatcher;

/* The one Config that stands for all equal to `config`: borrowed, NULL with an exception. */
static PyObject *one_config(Dispatcher *self, PyObject *config) {
  if (config == self->last_config) return self->last_one;
  PyObject *one = PyDict_GetItemWithError(self->configs, config);
  if (!one) {
    if (PyErr_Occurred() || PyDict_SetItem(self->configs, config, config) < 0) return NULL;
    one = config;
  }
  Py_XSETREF(self->last_config, Py_NewRef(config));
  self->last_one = one;
  return one;
}

/* Put the Config that holds in the kernel in the place of the one in force; 0 with an exception. */
static int own_config(Dispatcher *self, PyObject **config) {
  if (*config != self->last_asked) {
    PyObject *own = PyObject_CallOneArg(self->own, *config);
    if (!own) return 0;
    Py_XSETREF(self->last_own, own);
    Py_XSETREF(self->last_asked, Py_NewRef(*config));
  }
  Py_SETREF(*config, Py_NewRef(self->last_own));
  return 1;
}

static PyObject *config_in_force(Dispatcher *self) {
  PyObject *config;
  if (PyContextVar_Get(self->context, NULL, &config) < 0) return NULL;
  if (!config) {
    PyErr_SetString(PyExc_LookupError, "the context variable has no default");
    return NULL;
  }
  if (PyList_Check(config)) Py_SETREF(config, Py_NewRef(PyList_GET_ITEM(config, 0))); /* config.ProcessOptions */
  PyObject *one = self->own == Py_None || own_config(self, &config) ? one_config(self, config) : NULL;
  Py_DECREF(config);
  return one;
}

static int slot_is(const Slot *slot, uint64_t hash, const void *key, Py_ssize_t length, const PyObject *config) {
  return slot->hash == hash && slot->config == config && PyBytes_GET_SIZE(slot->key) == length &&
         !memcmp(PyBytes_AS_STRING(slot->key), key, (size_t)length);
}

/* Borrowed; NULL without an exception where there is none. */
static Entry *find_entry(Dispatcher *self, const void *key, Py_ssize_t length, const PyObject *config,
                         PyObject *const *args) {
  uint64_t hash = hash_of(key, length);
  int64_t numbers[MOST_NUMBERS];
  int count = -2; /* not known yet */
  for (int k = 0; k < self->slot_count; k++) {
    if (!slot_is(&self->slots[k], hash, key, length, config)) continue;
    const PyObject *wanted = self->slots[k].numbers;
    if (wanted) {
      if (count == -2) count = numbers_of(&self->shape, args, numbers);
      if (count < 0 || PyBytes_GET_SIZE(wanted) != 8 * (Py_ssize_t)count ||
          memcmp(PyBytes_AS_STRING(wanted), numbers, 8 * (size_t)count))
        continue;
    }
    const Entry *entry = self->slots[k].entry;
    if (entry->retired || !entry->fail || !constants_hold(entry->constants)) continue;
    if (k >= NEAR) {
      Slot found = self->slots[k];
      memmove(self->slots + 1, self->slots, sizeof(Slot) * (size_t)k);
      self->slots[0] = found;
      k = 0;
    }
    return self->slots[k].entry;
  }
  return NULL;
}

/* Without giving back what it holds, which may run code that calls this Dispatcher. */
static Slot take_slot(Dispatcher *self, int place) {
  Slot gone = self->slots[place];
  self->slot_count--;
  memmove(self->slots + place, self->slots + place + 1, sizeof(Slot) * (size_t)(self->slot_count - place));
  return gone;
}

static void free_slot(Slot gone) {
  Py_DECREF(gone.config);
  Py_DECREF(gone.key);
  Py_XDECREF(gone.numbers);
  Py_DECREF(gone.entry);
}

/* After an exception of `slow`: `failed` says what is raised, with the frames that its traceback has and no others, or
   what makes the call instead. */
static PyObject *after_failure(Dispatcher *self, PyObject *positional, PyObject *named) {
  PyObject *type, *error, *trace, *told, *result = NULL;
  if (self->failed == Py_None || !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  if (trace) PyException_SetTraceback(error, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  told = PyObject_CallOneArg(self->failed, error);
  Py_DECREF(error);
  if (told && PyExceptionInstance_Check(told)) {
    PyErr_Restore(Py_NewRef(Py_TYPE(told)), told, PyException_GetTraceback(told));
    return NULL;
  }
  if (told) result = PyObject_Call(told, positional, named);
  Py_XDECREF(told);
  return result;
}

static PyObject *call_slow(Dispatcher *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  PyObject *positional = as_tuple(args, count), *named = NULL, *result = NULL;
  if (!positional) return NULL;
  if (keywords && (named = PyDict_New()))
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords); k++)
      if (PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, k), args[count + k]) < 0) Py_CLEAR(named);
  if (!keywords || named)
    result = PyObject_CallFunctionObjArgs(self->slow, positional, named ? named : Py_None, NULL);
  if (!result && PyErr_Occurred()) result = after_failure(self, positional, named);
  Py_DECREF(positional);
  Py_XDECREF(named);
  return result;
}

/* The default of a parameter now: borrowed, NULL without an exception where it has none. */
static PyObject *default_of(const Dispatcher *self, Py_ssize_t place) {
  PyObject *values = self->defaults, *named = NULL;
  Py_ssize_t positional = self->shape.count;
  if (!PyTuple_Check(values)) {
    positional = ((PyCodeObject *)PyFunction_GET_CODE(values))->co_argcount;
    named = PyFunction_GET_KW_DEFAULTS(values);
    values = PyFunction_GET_DEFAULTS(values);
  }
  if (place >= positional) {
    PyObject *found = named ? PyDict_GetItemWithError(named, PyTuple_GET_ITEM(self->names, place)) : NULL;
    PyErr_Clear();
    return found;
  }
  Py_ssize_t first = positional - (values ? PyTuple_GET_SIZE(values) : 0);
  return place < first ? NULL : PyTuple_GET_ITEM(values, place - first);
}

/* Put keyword arguments and defaults in their places; 0 where that is left to `slow`. kept: new
   references to the defaults, as somebody may give the function others during the call. */
static int bind_all(const Dispatcher *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                    PyObject **bound, PyObject **kept) {
  Py_ssize_t wanted = self->shape.count;
  if (count > wanted) return 0;
  memset(bound, 0, sizeof(PyObject *) * (size_t)wanted);
  memcpy(bound, args, sizeof(PyObject *) * (size_t)count);
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); k++) {
    Py_ssize_t place = 0;
    while (place < wanted && PyTuple_GET_ITEM(self->names, place) != PyTuple_GET_ITEM(keywords, k)) place++;
    if (place == wanted || bound[place]) return 0;
    bound[place] = args[count + k];
  }
  for (Py_ssize_t k = 0; k < wanted; k++) {
    if (bound[k]) continue;
    if (!(bound[k] = default_of(self, k))) return 0;
    *kept++ = Py_NewRef(bound[k]);
  }
  return 1;
}

/* A call with all arguments in their places. */
static PyObject *call_bound(Dispatcher *self, PyObject *const *all, PyObject *const *args, Py_ssize_t count,
                            PyObject *keywords) {
  Key key;
  int made = make_key(&key, &self->shape, all);
  if (made < 0) return NULL;
  if (made) {
    PyObject *config = config_in_force(self);
    if (!config) return NULL;
    Entry *entry = find_entry(self, key.bytes, key.length, config, all);
    if (entry) return launch(entry, all, all, self->shape.count);
  } else if (self->expansion_count) {
    PyObject *result = call_expanded(self->expansions, self->expansion_count, all, self->shape.count);
    if (result || PyErr_Occurred()) return result;
  }
  return call_slow(self, args, count, keywords);
}

static PyObject *call_with_defaults(Dispatcher *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  PyObject *bound[MOST_PARAMETERS], *kept[MOST_PARAMETERS + 1] = {NULL}, *result;
  int whole = bind_all(self, args, count, keywords, bound, kept);
  result = whole ? call_bound(self, bound, args, count, keywords) : call_slow(self, args, count, keywords);
  for (PyObject **one = kept; *one; one++) Py_DECREF(*one);
  return result;
}

static PyObject *dispatcher_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords) {
  Dispatcher *self = (Dispatcher *)callable;
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (!keywords && count == self->shape.count) return call_bound(self, args, args, count, NULL);
  return call_with_defaults(self, args, count, keywords);
}

static int read_shape(Dispatcher *self, PyObject *written, PyObject *indices) {
  Shape *shape = &self->shape;
  shape->count = PyTuple_GET_SIZE(written);
  if (shape->count > MOST_PARAMETERS || PyTuple_GET_SIZE(self->names) != shape->count ||
      PyTuple_GET_SIZE(indices) != shape->count ||
      (PyTuple_Check(self->defaults) && PyTuple_GET_SIZE(self->defaults) > shape->count)) {
    PyErr_Format(PyExc_ValueError, "names, written and indices have one item per parameter, of at most %d", MOST_PARAMETERS);
    return -1;
  }
  for (Py_ssize_t k = 0; k < shape->count; k++)
    shape->written[k] = (char)PyObject_IsTrue(PyTuple_GET_ITEM(written, k));
  for (Py_ssize_t k = 0; k < shape->count; k++) {
    const long fewest = PyLong_AsLong(PyTuple_GET_ITEM(indices, k));
    if (fewest == -1 && PyErr_Occurred()) return -1;
    shape->indices[k] = (char)fewest;
  }
  return 0;
}

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"slow", "context", "names", "defaults", "written", "refuses", "describe", "indices",
                          "failed", "own", NULL};
  PyObject *slow, *context, *names, *defaults, *written, *refuses, *describe, *indices, *failed, *own;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$OO!O!OO!OOO!OO", words, &slow, &PyContextVar_Type, &context,
                                   &PyTuple_Type, &names, &defaults, &PyTuple_Type, &written, &refuses, &describe,
                                   &PyTuple_Type, &indices, &failed, &own))
    return NULL;
  if (!PyTuple_Check(defaults) && !PyFunction_Check(defaults)) {
    PyErr_SetString(PyExc_TypeError, "defaults are a tuple, or a function's");
    return NULL;
  }
  Dispatcher *self = (Dispatcher *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->vectorcall = dispatcher_call;
  self->slow = Py_NewRef(slow);
  self->context = Py_NewRef(context);
  self->names = Py_NewRef(names);
  self->defaults = Py_NewRef(defaults);
  self->failed = Py_NewRef(failed);
  self->own = Py_NewRef(own);
  self->shape.refuses = Py_NewRef(refuses);
  self->shape.describe = Py_NewRef(describe);
  self->shape.types = PyDict_New();
  self->shape.dtypes = PyDict_New();
  self->configs = PyDict_New();
  if (self->shape.types && self->shape.dtypes && self->configs && read_shape(self, written, indices) == 0) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static int dispatcher_traverse(Dispatcher *self, visitproc visit, void *arg) {
  Py_VISIT(self->slow);
  Py_VISIT(self->context);
  Py_VISIT(self->names);
  Py_VISIT(self->defaults);
  Py_VISIT(self->shape.refuses);
  Py_VISIT(self->shape.types);
  Py_VISIT(self->shape.describe);
  Py_VISIT(self->shape.dtypes);
  Py_VISIT(self->configs);
  Py_VISIT(self->last_config);
  Py_VISIT(self->last_asked);
  Py_VISIT(self->last_own);
  Py_VISIT(self->failed);
  Py_VISIT(self->own);
  for (int k = 0; k < self->expansion_count; k++) {
    Py_VISIT(self->expansions[k].structures);
    Py_VISIT(self->expansions[k].target);
  }
  for (int k = 0; k < self->slot_count; k++) {
    Py_VISIT(self->slots[k].config);
    Py_VISIT(self->slots[k].key);
    Py_VISIT(self->slots[k].numbers);
    Py_VISIT(self->slots[k].entry);
  }
  return 0;
}

/* Only the tables are cleared: it is what closes a cycle with the kernel that owns this, through the entries and
   through `slow`, whose other half is a plain Python object. */
static int dispatcher_clear(Dispatcher *self) {
  while (self->slot_count) free_slot(take_slot(self, self->slot_count - 1));
  while (self->expansion_count) {
    Expansion gone = self->expansions[--self->expansion_count];
    Py_DECREF(gone.structures);
    Py_DECREF(gone.target);
  }
  return 0;
}

static void dispatcher_dealloc(Dispatcher *self) {
  PyObject_GC_UnTrack(self);
  dispatcher_clear(self);
  Py_CLEAR(self->slow);
  Py_CLEAR(self->context);
  Py_CLEAR(self->names);
  Py_CLEAR(self->defaults);
  Py_CLEAR(self->shape.refuses);
  Py_CLEAR(self->shape.types);
  Py_CLEAR(self->shape.describe);
  Py_CLEAR(self->shape.dtypes);
  Py_CLEAR(self->configs);
  Py_CLEAR(self->last_config);
  Py_CLEAR(self->last_asked);
  Py_CLEAR(self->last_own);
  Py_CLEAR(self->failed);
  Py_CLEAR(self->own);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static int is_call(const Dispatcher *self, PyObject *arguments) {
  if (PyTuple_Check(arguments) && PyTuple_GET_SIZE(arguments) == self->shape.count) return 1;
  PyErr_SetString(PyExc_TypeError, "a tuple of all arguments is wanted");
  return 0;
}

static PyObject *dispatcher_key(Dispatcher *self, PyObject *arguments) {
  Key key;
  if (!is_call(self, arguments)) return NULL;
  int made = make_key(&key, &self->shape, ((PyTupleObject *)arguments)->ob_item);
  if (made < 0) return NULL;
  if (made) return PyBytes_FromStringAndSize((const char *)key.bytes, key.length);
  Py_RETURN_NONE;
}

static PyObject *dispatcher_find(Dispatcher *self, PyObject *args) {
  PyObject *key, *config, *arguments;
  if (!PyArg_ParseTuple(args, "SOO", &key, &config, &arguments) || !is_call(self, arguments)) return NULL;
  if (!(config = one_config(self, config))) return NULL;
  Entry *entry = find_entry(self, PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key), config,
                            ((PyTupleObject *)arguments)->ob_item);
  return Py_NewRef(entry ? (PyObject *)entry : Py_None);
}

/* The numbers of a call as bytes; NULL without an exception where there are too many. */
static PyObject *numbers_as_bytes(const Dispatcher *self, PyObject *arguments) {
  int64_t numbers[MOST_NUMBERS];
  int count = numbers_of(&self->shape, ((PyTupleObject *)arguments)->ob_item, numbers);
  return count < 0 ? NULL : PyBytes_FromStringAndSize((const char *)numbers, 8 * (Py_ssize_t)count);
}

static PyObject *dispatcher_add(Dispatcher *self, PyObject *args) {
  PyObject *key, *config, *entry, *arguments = Py_None, *numbers = NULL;
  if (!PyArg_ParseTuple(args, "SOO!|O", &key, &config, &EntryType, &entry, &arguments)) return NULL;
  if (arguments != Py_None) {
    if (!is_call(self, arguments)) return NULL;
    numbers = numbers_as_bytes(self, arguments);
    if (PyErr_Occurred()) return NULL;
    if (!numbers) Py_RETURN_NONE; /* such calls go the slow way each time */
  }
  if (!(config = one_config(self, config))) {
    Py_XDECREF(numbers);
    return NULL;
  }
  const void *bytes = PyBytes_AS_STRING(key);
  Py_ssize_t length = PyBytes_GET_SIZE(key);
  uint64_t hash = hash_of(bytes, length);
  int alike = 0, oldest = -1, gone_count = 0;
  Slot gone[MOST_SLOTS + 2];
  for (int k = self->slot_count - 1; k >= 0; k--) {
    Slot *slot = &self->slots[k];
    if (!slot_is(slot, hash, bytes, length, config)) continue;
    if ((PyObject *)slot->entry == entry && !numbers && !slot->numbers) goto done;
    if (slot->entry->retired) {
      gone[gone_count++] = take_slot(self, k);
      if (oldest > k) oldest--;
    } else if (!numbers == !slot->numbers) {
      alike++;
      if (oldest < 0) oldest = k;
    }
  }
  if (alike >= (numbers ? MOST_WITH_NUMBERS : MOST_FOR_ONE_KEY)) gone[gone_count++] = take_slot(self, oldest);
  if (self->slot_count == MOST_SLOTS) gone[gone_count++] = take_slot(self, MOST_SLOTS - 1);
  memmove(self->slots + 1, self->slots, sizeof(Slot) * (size_t)self->slot_count++);
  self->slots[0] = (Slot){hash, Py_NewRef(config), Py_NewRef(key), numbers, (Entry *)Py_NewRef(entry)};
done:
  while (gone_count) free_slot(gone[--gone_count]);
  Py_RETURN_NONE;
}

static PyObject *dispatcher_expand(Dispatcher *self, PyObject *args) {
  PyObject *structures, *target;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &structures, &target)) return NULL;
  add_expansion(self->expansions, &self->expansion_count, Py_NewRef(structures), Py_NewRef(target));
  Py_RETURN_NONE;
}

static PyObject *dispatcher_forget(Dispatcher *self, PyObject *none) {
  while (self->slot_count) free_slot(take_slot(self, self->slot_count - 1));
  Py_RETURN_NONE;
}

static PyMethodDef dispatcher_methods[] = {
    {"key", (PyCFunction)dispatcher_key, METH_O, "key(arguments): what decides which Entry runs, or None."},
    {"find", (PyCFunction)dispatcher_find, METH_VARARGS, "find(key, config, arguments): the Entry, or None."},
    {"add", (PyCFunction)dispatcher_add, METH_VARARGS, "add(key, config, entry, arguments=None): with arguments, for calls with their numbers only."},
    {"expand", (PyCFunction)dispatcher_expand, METH_VARARGS, "expand(structures, target): who makes calls with such arguments."},
    {"clear", (PyCFunction)dispatcher_forget, METH_NOARGS, "Forget all entries."},
    {NULL}};

static PyTypeObject DispatcherType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "loopwright_launcher.Dispatcher",
    .tp_basicsize = sizeof(Dispatcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "The callable for all kinds of calls of one kernel.",
    .tp_new = dispatcher_new,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Dispatcher, vectorcall),
    .tp_traverse = (traverseproc)dispatcher_traverse,
    .tp_clear = (inquiry)dispatcher_clear,
    .tp_dealloc = (destructor)dispatcher_dealloc,
    .tp_methods = dispatcher_methods,
};

/* ---- the module ---------------------------------------------------------------------------------------------- */

static PyObject *limit_threads(PyObject *module, PyObject *most) {
  long long number = PyLong_AsLongLong(most);
  if (number < 1) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "at least one thread is needed");
  most_threads = number;
  Py_RETURN_NONE;
}

static PyObject *pool_was_started(PyObject *module, PyObject *none) { return PyBool_FromLong(pool_started); }

static PyObject *on_limited(PyObject *module, PyObject *notify) {
  Py_XSETREF(notify_limited, Py_NewRef(notify));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"limit_threads", limit_threads, METH_O, "limit_threads(most): cap the threads of every later call."},
    {"pool_started", pool_was_started, METH_NOARGS, "Whether a call may have started threads."},
    {"completed", completed, METH_VARARGS,
     "completed(target, slow, wanted, outside, drawn=None): calls target with `wanted` arguments, what stands outside, and a generator."},
    {"on_limited", on_limited, METH_O, "on_limited(notify): called once, when the cap changes a call."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "loopwright_launcher", "Calls compiled loops.", -1,
                                        functions};

PyMODINIT_FUNC PyInit_loopwright_launcher(void) {
  import_array();
  if (PyType_Ready(&ConstantsType) < 0 || PyType_Ready(&EntryType) < 0 || PyType_Ready(&DispatcherType) < 0 ||
      PyType_Ready(&CompletedType) < 0)
    return NULL;
  PyObject *module = PyModule_Create(&definition);
  if (module && (PyModule_AddObjectRef(module, "Constants", (PyObject *)&ConstantsType) < 0 ||
                 PyModule_AddObjectRef(module, "Entry", (PyObject *)&EntryType) < 0 ||
                 PyModule_AddObjectRef(module, "Dispatcher", (PyObject *)&DispatcherType) < 0))
    Py_CLEAR(module);
  return module;
}
