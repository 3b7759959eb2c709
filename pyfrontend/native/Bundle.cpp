#include "Bundle.h"
#include "Ref.h"
#include "Zip.h"

#include <atomic>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <structmember.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace xtensor;

namespace {

/// A view of any bytes-like object.
class Bytes {
public:
  explicit Bytes(PyObject *object) { ok = PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) == 0; }
  ~Bytes() {
    if (ok)
      PyBuffer_Release(&view);
  }
  Bytes(const Bytes &) = delete;
  explicit operator bool() const { return ok; }
  std::string_view text() const {
    return {static_cast<const char *>(view.buf), static_cast<size_t>(view.len)};
  }

private:
  Py_buffer view;
  bool ok;
};

PyObject *placesIn(const bundle::Source &file, PyObject *checked) {
  std::vector<bundle::Place> places;
  std::string error;
  bool ok = bundle::readZip(file, places, error);
  auto result = steal(PyDict_New());
  for (const bundle::Place &p : places) {
    auto name = steal(result ? PyUnicode_FromString(p.name.c_str()) : nullptr);
    int check = !name ? -1 : checked == Py_None ? 1 : PySequence_Contains(checked, name.get());
    if (check < 0)
      return nullptr;
    ok = ok && (check != 1 || bundle::isWhole(file, p, error));
    auto place =
        steal(Py_BuildValue("(KK)", (unsigned long long)p.begin, (unsigned long long)p.end));
    if (!place || PyDict_SetItem(result.get(), name.get(), place.get()) < 0)
      return nullptr;
  }
  if (ok)
    return result.release();
  if (result)
    PyErr_SetString(PyExc_ValueError, error.c_str());
  return nullptr;
}

PyObject *readZip(PyObject *, PyObject *args) {
  PyObject *file, *checked = Py_None;
  if (!PyArg_ParseTuple(args, "O|O:read_zip", &file, &checked))
    return nullptr;
  if (PyLong_Check(file)) {
    auto descriptor = static_cast<int>(PyLong_AsLong(file));
    struct stat about;
    if (descriptor == -1 && PyErr_Occurred())
      return nullptr;
    if (fstat(descriptor, &about))
      return PyErr_SetFromErrno(PyExc_OSError);
    return placesIn(bundle::Source(descriptor, about.st_size), checked);
  }
  Bytes bytes(file);
  return bytes ? placesIn(bundle::Source(bytes.text()), checked) : nullptr;
}

PyObject *writeZip(PyObject *, PyObject *list) {
  auto items = steal(PySequence_Fast(list, "members are a sequence of (name, bytes)"));
  if (!items)
    return nullptr;
  std::vector<bundle::Member> members;
  std::vector<std::string> kept(PySequence_Fast_GET_SIZE(items.get()));
  for (size_t i = 0; i < kept.size(); ++i) {
    const char *name;
    const char *data;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items.get(), i), "sy#", &name, &data, &size))
      return nullptr;
    kept[i].assign(data, size);
    members.push_back({name, kept[i]});
  }
  std::string error, file = bundle::writeZip(members, error);
  if (!error.empty()) {
    PyErr_SetString(PyExc_ValueError, error.c_str());
    return nullptr;
  }
  return PyBytes_FromStringAndSize(file.data(), file.size());
}

PyObject *hasProcessor(PyObject *, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    return nullptr;
  std::string_view n = text;
  bool has = false;
#if defined(__x86_64__)
  __builtin_cpu_init();
  has = n == "x86-64" || (n == "x86-64-v2" && __builtin_cpu_supports("x86-64-v2")) ||
        (n == "x86-64-v3" && __builtin_cpu_supports("x86-64-v3")) ||
        (n == "x86-64-v4" && __builtin_cpu_supports("x86-64-v4"));
#elif defined(__aarch64__)
  has = n == "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  has = n == "riscv64";
#endif
  return PyBool_FromLong(has);
}

/// Code of a bundle, loaded. Its file does not have a name, so no process can change it after the
/// check of its hash.
struct Code {
  PyObject_HEAD void *handle;
  PyObject *entry, *signature;
};

Code *self(PyObject *o) { return reinterpret_cast<Code *>(o); }

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(file, bytes.data(), bytes.size());
    if (n <= 0)
      return false;
    bytes.remove_prefix(n);
  }
  return true;
}

/// A name of an open file that no other one had before: the loader tells libraries apart by their
/// names, and numbers of files come again. The calls' number is spelled as ways of saying nothing.
std::string pathOf(int file) {
  static std::atomic<uint64_t> calls = 0;
  std::string path = "/proc/self/fd";
  for (uint64_t n = ++calls; n; n >>= 1)
    path += n & 1 ? "/." : "//";
  return path + "/" + std::to_string(file);
}

/// A symbol of the library itself, not one of libc.
void *ownSymbol(void *handle, const char *name) {
  void *address = dlsym(handle, name);
  link_map *map;
  Dl_info info;
  bool own = address && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && dladdr(address, &info) &&
             reinterpret_cast<uintptr_t>(info.dli_fbase) == map->l_addr;
  return own ? address : nullptr;
}

PyObject *construct(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"library", "entry", "signature", nullptr};
  PyObject *library;
  const char *entry, *signature;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oss:Code", const_cast<char **>(keywords),
                                   &library, &entry, &signature))
    return nullptr;
  Bytes bytes(library);
  if (!bytes)
    return nullptr;
  auto c = steal(self(cls->tp_alloc(cls, 0)));
  if (!c)
    return nullptr;
  int file = memfd_create("xtensor", MFD_CLOEXEC);
  if (file < 0 || !writeAll(file, bytes.text())) {
    PyErr_SetFromErrno(PyExc_OSError);
    if (file >= 0)
      close(file);
    return nullptr;
  }
  c->handle = dlopen(pathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file); // what is mapped stays
  if (!c->handle) {
    PyErr_SetString(PyExc_OSError, dlerror());
    return nullptr;
  }
  void *address = ownSymbol(c->handle, entry);
  auto *text = static_cast<const char *>(ownSymbol(c->handle, signature));
  if (!address || !text) {
    PyErr_SetString(PyExc_OSError, "the code lacks what its manifest names");
    return nullptr;
  }
  c->entry = PyLong_FromVoidPtr(address);
  c->signature = PyUnicode_FromString(text);
  if (!c->entry || !c->signature)
    return nullptr;
  return c.releaseObject();
}

void dealloc(PyObject *o) {
  Code *c = self(o);
  Py_XDECREF(c->entry);
  Py_XDECREF(c->signature);
  if (c->handle)
    dlclose(c->handle);
  PyTypeObject *cls = Py_TYPE(o);
  cls->tp_free(o);
  Py_DECREF(cls);
}

PyMemberDef members[] = {{"entry", T_OBJECT, offsetof(Code, entry), READONLY, nullptr},
                         {"signature", T_OBJECT, offsetof(Code, signature), READONLY, nullptr},
                         {}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("Code(library, entry, signature)\n--\n\nA shared library, given as its "
                        "bytes, loaded: the address of the symbol `entry` and the text at the "
                        "symbol `signature`.")},
    {Py_tp_new, reinterpret_cast<void *>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_members, members},
    {0, nullptr}};
PyType_Spec spec = {"xtensor._native.Code", sizeof(Code), 0, Py_TPFLAGS_DEFAULT, slots};

PyMethodDef functions[] = {
    {"read_zip", readZip, METH_VARARGS,
     "read_zip(file, checked=None)\n--\n\n{name: (begin, end)} of the members of a bundle, given "
     "as "
     "bytes or as the descriptor of an open file; ValueError says what is wrong with it. The "
     "checksums of the members `checked` are looked at, or of all."},
    {"write_zip", writeZip, METH_O,
     "write_zip(members)\n--\n\nThe bytes of a bundle with these (name, bytes) as its members."},
    {"has_processor", hasProcessor, METH_O,
     "has_processor(name)\n--\n\nWhether code for \"x86-64-v3\", .. runs here."},
    {}};

} // namespace

bool xtensor::initBundle(PyObject *module) {
  PyObject *cls = PyType_FromSpec(&spec);
  return cls && PyModule_AddObjectRef(module, "Code", cls) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
