/* Part of the launcher: `Constants`, the facts outside of a function that code made of it relies on. What they are
   is told in ir/captured.py, where the same is read in Python. `constants_hold` is part of every call. Most facts
   are what stands in a dict: of a module, of a class. Those are looked up again only when one of the dicts has changed,
   which Python 3.11 shows as a number in the dict itself, and later ones tell when it happens. All others are a
   comparison or two, or a look-up. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* In the order of `Kind`, those that stand in dicts first. */
enum { IN_DICT, OWN, CELL, TYPE, MRO, DICT, SLOT, CODE, DEFAULTS, KEYWORDS, KIND_COUNT };
static const char *const KIND_NAMES[] = {"item", "own",  "cell", "type",     "mro",
                                         "dict", "slot", "code", "defaults", "keywords"};

typedef struct {
  int kind;
  PyObject *owner, *key, *value; /* owner of IN_DICT and OWN: the dict; value: NULL where there is nothing */
  Py_ssize_t version;            /* which of the versions is that of the dict */
} Constant;

typedef struct {
  PyObject *dict; /* borrowed from a Constant */
  uint64_t version;
  int changed;
} Version;

typedef struct {
  PyObject_HEAD
  Py_ssize_t count, in_dicts; /* those in dicts whose changes show are the first ones */
  Constant *all;
  int held;         /* whether those in dicts held when they were looked up last */
#if PY_VERSION_HEX < 0x030C0000
  Py_ssize_t version_count;
  Version *versions; /* of the dicts then */
#else
  uint64_t seen; /* `changes` then */
#endif
} Constants;

#if PY_VERSION_HEX < 0x030C0000

static int is_as_seen(const Constants *self) {
  for (Py_ssize_t k = 0; k < self->version_count; k++)
    if (((PyDictObject *)self->versions[k].dict)->ma_version_tag != self->versions[k].version) return 0;
  return 1;
}

static void note_seen(Constants *self) {
  for (Py_ssize_t k = 0; k < self->version_count; k++) {
    uint64_t now = ((PyDictObject *)self->versions[k].dict)->ma_version_tag;
    self->versions[k].changed = now != self->versions[k].version;
    self->versions[k].version = now;
  }
}

static int may_have_changed(const Constants *self, const Constant *one) { return self->versions[one->version].changed; }

/* 1: changes of this dict show from now on; 0: they do not; -1: exception. */
static int watch(Constants *self, Constant *one) {
  while (one->version < self->version_count && self->versions[one->version].dict != one->owner) one->version++;
  if (one->version == self->version_count) self->versions[self->version_count++].dict = one->owner;
  return 1; /* the version is 0: no dict has that */
}

#else

static int watcher = -1;          /* < 0: none can be had */
static uint64_t changes = 1;      /* of keys that somebody looks at, in dicts that are watched */
static PyObject *watched_keys;    /* set of str */

/* Called before a dict changes; it must not raise, and no code of the user runs. */
static int dict_changes(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value) {
  if (!key || !PyUnicode_CheckExact(key) || PySet_Contains(watched_keys, key)) changes++;
  return 0;
}

static int is_as_seen(const Constants *self) { return self->seen == changes; }

static void note_seen(Constants *self) { self->seen = changes; }

static int may_have_changed(const Constants *self, const Constant *one) { return 1; }

/* As above. Of a dict that shares its values with an instance, 3.13 does not tell each change. */
static int watch(Constants *self, Constant *one) {
  if (((PyDictObject *)one->owner)->ma_values) return 0;
  if (!watched_keys) {
    if (!(watched_keys = PySet_New(NULL))) return -1;
    watcher = PyDict_AddWatcher(dict_changes);
    if (watcher < 0) PyErr_Clear(); /* others have them all */
  }
  if (watcher < 0) return 0;
  return PySet_Add(watched_keys, one->key) < 0 || PyDict_Watch(watcher, one->owner) < 0 ? -1 : 1;
}

#endif

static int in_dict_holds(const Constant *one) {
  PyObject *now = PyDict_GetItemWithError(one->owner, one->key);
  if (!now) PyErr_Clear();
  return now == one->value;
}


static PyObject *or_none(PyObject *value) { return value ? value : Py_None; }

static int holds(const Constant *one) {
  PyObject *now;
  switch (one->kind) {
    case IN_DICT:
    case OWN: return in_dict_holds(one);
    case CELL: return PyCell_GET(one->owner) == one->value;
    case TYPE: return (PyObject *)Py_TYPE(one->owner) == one->value;
    case MRO: return ((PyTypeObject *)one->owner)->tp_mro == one->value;
    case CODE: return PyFunction_GET_CODE(one->owner) == one->value;
    case DEFAULTS: return or_none(PyFunction_GET_DEFAULTS(one->owner)) == one->value;
    case KEYWORDS: return or_none(PyFunction_GET_KW_DEFAULTS(one->owner)) == one->value;
    case DICT: now = PyObject_GenericGetDict(one->owner, NULL); break;
    case SLOT:
    default: now = Py_TYPE(one->key)->tp_descr_get(one->key, one->owner, (PyObject *)Py_TYPE(one->owner));
  }
  if (!now) PyErr_Clear();
  Py_XDECREF(now);
  return now == one->value;
}

static int look_up_again(Constants *self) {
  int all = !self->held;
  note_seen(self);
  self->held = 1;
  for (Py_ssize_t k = 0; k < self->in_dicts && self->held; k++)
    if (all || may_have_changed(self, &self->all[k])) self->held = in_dict_holds(&self->all[k]);
  return self->held;
}

static inline int constants_hold(Constants *self) {
  if (is_as_seen(self) ? !self->held : !look_up_again(self)) return 0;
  for (Py_ssize_t k = self->in_dicts; k < self->count; k++)
    if (!holds(&self->all[k])) return 0;
  return 1;
}

/* ---- the type ------------------------------------------------------------------------------------------------ */

static int is_owner(int kind, PyObject *owner, PyObject *key) {
  switch (kind) {
    case IN_DICT: return PyDict_Check(owner) && PyUnicode_CheckExact(key);
    case OWN: return PyType_Check(owner) && PyUnicode_CheckExact(key);
    case CELL: return PyCell_Check(owner);
    case MRO: return PyType_Check(owner);
    case SLOT: return Py_TYPE(key)->tp_descr_get != NULL;
    case CODE: case DEFAULTS: case KEYWORDS: return PyFunction_Check(owner);
    default: return 1;
  }
}

/* A new reference to what the facts of a kind are asked of. */
static PyObject *asked_of(int kind, PyObject *owner) {
#if PY_VERSION_HEX < 0x030C0000
  return Py_NewRef(kind == OWN ? ((PyTypeObject *)owner)->tp_dict : owner);
#else
  return kind == OWN ? PyType_GetDict((PyTypeObject *)owner) : Py_NewRef(owner);
#endif
}

/* One fact: (kind, owner, key), and its value where there is one. */
static int read_constant(PyObject *item, Constant *one) {
  const char *name;
  PyObject *owner, *key, *value = NULL;
  if (!PyArg_ParseTuple(item, "sOO|O", &name, &owner, &key, &value)) return -1;
  int kind = 0;
  while (kind < KIND_COUNT && strcmp(name, KIND_NAMES[kind])) kind++;
  if (kind == KIND_COUNT || !is_owner(kind, owner, key)) {
    PyErr_Format(PyExc_TypeError, "no constant is of kind '%s' and asked of a %s", name, Py_TYPE(owner)->tp_name);
    return -1;
  }
  *one = (Constant){kind, asked_of(kind, owner), Py_NewRef(key), Py_XNewRef(value), 0};
  return 0;
}

static PyObject *constants_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *items;
  if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &items)) return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(items);
  Constants *self = (Constants *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->held = 1;
  self->all = PyMem_Calloc((size_t)count + 1, sizeof(Constant));
#if PY_VERSION_HEX < 0x030C0000
  self->versions = PyMem_Calloc((size_t)count + 1, sizeof(Version));
  int has_room = self->all && self->versions;
#else
  int has_room = self->all != NULL;
#endif
  if (!has_room) PyErr_NoMemory();
  for (Py_ssize_t k = 0; has_room && k < count; k++) {
    Constant read;
    if (read_constant(PyTuple_GET_ITEM(items, k), &read) < 0) break;
    self->all[self->count++] = read;
    if (read.kind > OWN) continue;
    int shows = watch(self, &read);
    if (shows < 0) break;
    if (!shows) continue;
    self->all[self->count - 1] = self->all[self->in_dicts];
    self->all[self->in_dicts++] = read;
  }
  if (!PyErr_Occurred()) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static int constants_traverse(Constants *self, visitproc visit, void *arg) {
  for (Py_ssize_t k = 0; k < self->count; k++) {
    Py_VISIT(self->all[k].owner);
    Py_VISIT(self->all[k].key);
    Py_VISIT(self->all[k].value);
  }
  return 0;
}

static void constants_dealloc(Constants *self) {
  PyObject_GC_UnTrack(self);
  for (Py_ssize_t k = 0; k < self->count; k++) {
    Py_CLEAR(self->all[k].owner);
    Py_CLEAR(self->all[k].key);
    Py_CLEAR(self->all[k].value);
  }
  PyMem_Free(self->all);
#if PY_VERSION_HEX < 0x030C0000
  PyMem_Free(self->versions);
#endif
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *constants_hold_now(Constants *self, PyObject *none) { return PyBool_FromLong(constants_hold(self)); }

static PyMethodDef constants_methods[] = {
    {"hold", (PyCFunction)constants_hold_now, METH_NOARGS, "hold(): whether all of them are as they were."},
    {NULL}};

static PyTypeObject ConstantsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "loopwright_launcher.Constants",
    .tp_basicsize = sizeof(Constants),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Facts that code relies on: (kind, owner, key, value) each, without the value where there is nothing.",
    .tp_new = constants_new,
    .tp_traverse = (traverseproc)constants_traverse,
    .tp_dealloc = (destructor)constants_dealloc,
    .tp_methods = constants_methods,
};
