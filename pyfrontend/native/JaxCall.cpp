// Compiled functions as custom calls of XLA: one handler for all. Where XLA makes an executable
// ("instantiate"), Python finds the compiled function by the attribute `program` of the call. The
// executable of XLA keeps it until it goes. A call ("execute") then needs no Python.
#include "JaxCall.h"
#include "Executable.h"
#include "Services.h"
#include "Signals.h"

#include "xla/ffi/api/c_api.h"

#include <string>

using namespace xtensor;

namespace {

PyObject *find; // called with the key of a program; returns its Executable, or raises
XLA_FFI_TypeId stateType = XLA_FFI_UNKNOWN_TYPE_ID; // XLA sets it when the type is registered

XLA_FFI_Error *errorOf(XLA_FFI_CallFrame *frame, const char *message, XLA_FFI_Error_Code code) {
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, message, code};
  return frame->api->XLA_FFI_Error_Create(&args);
}

/// What Python has raised, as an error of XLA with its text.
XLA_FFI_Error *raised(XLA_FFI_CallFrame *frame) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  auto ownType = steal(type), ownValue = steal(value), ownTraceback = steal(traceback);
  auto text = steal(value ? PyObject_Str(value) : nullptr);
  const char *name = type ? reinterpret_cast<PyTypeObject *>(type)->tp_name : "error";
  const char *message = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string all = std::string(name) + ": " + (message ? message : "");
  PyErr_Clear();
  return errorOf(frame, all.c_str(), XLA_FFI_Error_Code_INVALID_ARGUMENT);
}

/// Answers what XLA asks when a handler is registered: for which version it was built.
bool isQuestion(XLA_FFI_CallFrame *frame) {
  XLA_FFI_Extension_Base *extension = frame->extension_start;
  if (!extension || extension->type != XLA_FFI_Extension_Metadata)
    return false;
  auto *metadata = reinterpret_cast<XLA_FFI_Metadata_Extension *>(extension)->metadata;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = XLA_FFI_API_MINOR;
  metadata->traits = 0;
  if (metadata->struct_size >= sizeof(XLA_FFI_Metadata))
    metadata->state_type_id = stateType;
  return true;
}

void forget(void *state) {
  Interpreter interpreter;
  if (interpreter.there)
    steal(static_cast<PyObject *>(state));
}

XLA_FFI_TypeInfo stateInfo = {XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, forget};

XLA_FFI_Error *instantiate(XLA_FFI_CallFrame *frame) {
  if (isQuestion(frame))
    return nullptr;
  if (frame->attrs.size != 1 || frame->attrs.types[0] != XLA_FFI_AttrType_STRING)
    return errorOf(frame, "the call has not the attribute that says which program it runs",
                   XLA_FFI_Error_Code_INVALID_ARGUMENT);
  auto *key = static_cast<XLA_FFI_ByteSpan *>(frame->attrs.attrs[0]);
  Interpreter interpreter;
  if (!interpreter.there)
    return errorOf(frame, "Python has ended", XLA_FFI_Error_Code_FAILED_PRECONDITION);
  auto name = steal(PyUnicode_FromStringAndSize(key->ptr, static_cast<Py_ssize_t>(key->len)));
  auto found = steal(name ? PyObject_CallOneArg(find, name.get()) : nullptr);
  if (found && !PyObject_TypeCheck(found.get(), executableClass)) {
    PyErr_SetString(PyExc_TypeError, "an Executable is needed");
    found = nullptr;
  }
  if (!found)
    return raised(frame);
  XLA_FFI_State_Set_Args args{XLA_FFI_State_Set_Args_STRUCT_SIZE, nullptr,    frame->ctx,
                              XLA_FFI_ExecutionStage_INSTANTIATE, &stateType, found.get()};
  XLA_FFI_Error *error = frame->api->XLA_FFI_State_Set(&args);
  if (!error)
    found.release(); // `forget` lets it go
  return error;
}

/// Whether XLA's buffers are what the code was compiled for; puts their memory into `data`.
bool fits(const std::vector<TypePattern> &types, int64_t count, void **given, void **data) {
  if (count != static_cast<int64_t>(types.size()))
    return false;
  for (size_t i = 0; i < types.size(); ++i) {
    auto *buffer = static_cast<XLA_FFI_Buffer *>(given[i]);
    Type *type = types[i].fixed.get();
    // A 64-bit array may be given as pairs of words (bridges/jax.py), so only the leading sizes are
    // those of the type.
    if (!type || buffer->rank < type->rank ||
        !std::equal(type->sizes, type->sizes + type->rank, buffer->dims))
      return false;
    data[i] = buffer->data;
  }
  return true;
}

XLA_FFI_Error *execute(XLA_FFI_CallFrame *frame) {
  if (isQuestion(frame))
    return nullptr;
  XLA_FFI_State_Get_Args args{XLA_FFI_State_Get_Args_STRUCT_SIZE, nullptr,    frame->ctx,
                              XLA_FFI_ExecutionStage_INSTANTIATE, &stateType, nullptr};
  if (XLA_FFI_Error *error = frame->api->XLA_FFI_State_Get(&args))
    return error;
  auto *e = static_cast<Executable *>(args.state);
  Signature &signature = *e->signature;
  Pointers buffers(signature.inputs.size() + signature.outputs.size());
  if (!fits(signature.inputs, frame->args.size, frame->args.args, buffers) ||
      !fits(signature.outputs, frame->rets.size, frame->rets.rets,
            buffers + signature.inputs.size()))
    return errorOf(frame, "the arrays are not those that the program was compiled for",
                   XLA_FFI_Error_Code_INVALID_ARGUMENT);
  xt_call call = {{0, 0, 0, 0}, &runtimeServices, nullptr};
  int64_t sizes = 0; // all are fixed
  e->entry(buffers, &sizes, &call.status);
  if (call.status.code == 0)
    return nullptr;
  Interpreter interpreter;
  if (!interpreter.there)
    return errorOf(frame, "Python has ended", XLA_FFI_Error_Code_FAILED_PRECONDITION);
  raiseStatus(e->sites, call.status);
  return raised(frame);
}

PyObject *handlers(PyObject *, PyObject *callable) {
  if (!steal(replaceCallable(find, callable)))
    return nullptr;
  auto capsule = [](void *pointer) { return PyCapsule_New(pointer, nullptr, nullptr); };
  return Py_BuildValue("{s:N,s:N,s:N,s:N}", "instantiate",
                       capsule(reinterpret_cast<void *>(instantiate)), "execute",
                       capsule(reinterpret_cast<void *>(execute)), "type_id", capsule(&stateType),
                       "type_info", capsule(&stateInfo));
}

PyMethodDef functions[] = {
    {"jax_handlers", handlers, METH_O,
     "jax_handlers(find)\n--\n\nThe handlers of XLA's custom call by the stages of a call, and the "
     "type of their state, as capsules. find(key): the Executable of a program."},
    {}};

} // namespace

bool xtensor::initJaxCall(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}
