#include "tensors.hpp"

#include "dlpack.hpp"

namespace nb = nanobind;

namespace dynrnn {

using namespace dlpack;

const Exchange* dlpack::exchange = nullptr;

namespace {

nb::handle known[2];  // the classes
nb::handle names[4];  // of methods, which live as long as the process
enum { kIsNeg, kStorage, kBytes, kOffset };

nb::object ask(nb::handle object, int name) {
    PyObject* self = object.ptr();
    return nb::steal(PyObject_VectorcallMethod(names[name].ptr(), &self, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

int64_t number(const nb::object& value) { return value.is_valid() ? PyLong_AsLongLong(value.ptr()) : -1; }

// Whether all elements stand within the storage: memory may have been given back, or never have been there.
bool is_inside(nb::handle object, const View& view) {
    int64_t last = 0;
    for (int i = 0; i < view.axes; ++i) {
        if (view.shape[i] == 0) return true;
        last += (view.shape[i] - 1) * view.strides[i];
    }
    if (!view.address) return false;
    const nb::object storage = ask(object, kStorage);
    if (!storage.is_valid()) return false;
    return (number(ask(object, kOffset)) + last + 1) * view.itemsize <= number(ask(storage, kBytes));
}

}  // namespace

bool View::is_contiguous() const {
    int64_t expected = 1;
    for (int i = axes - 1; i >= 0; --i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

bool meet(nb::tuple classes) {
    const nb::object capsule = nb::getattr(classes[0], "__dlpack_c_exchange_api__", nb::none());
    if (classes.size() != 2 || !PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return false;
    const auto* found = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (found->version.major != 1 || !found->look || !found->adopt) return false;
    for (int i = 0; i < 2; ++i) known[i] = nb::object(classes[i]).release();
    const char* methods[] = {"is_neg", "untyped_storage", "nbytes", "storage_offset"};
    for (int i = 0; i < 4; ++i) names[i] = nb::steal(PyUnicode_InternFromString(methods[i])).release();
    exchange = found;
    return true;
}

bool look_at(PyObject* object, View& view) {
    const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    if (!exchange || (type != known[0].ptr() && type != known[1].ptr())) return false;
    Seen seen;
    if (exchange->look(object, &seen)) {
        PyErr_Clear();
        return false;
    }
    if (seen.device_type != kCpu || seen.lanes != 1 || (seen.kind != kFloat && seen.kind != kSigned)) return false;
    view.address = reinterpret_cast<int64_t>(seen.data) + int64_t(seen.byte_offset);
    view.itemsize = seen.bits / 8, view.floating = seen.kind == kFloat;
    view.axes = seen.axes, view.shape = seen.shape, view.strides = seen.strides;
    const nb::handle tensor(object);
    const bool plain = is_inside(tensor, view) && ask(tensor, kIsNeg).ptr() == Py_False;
    if (PyErr_Occurred()) PyErr_Clear();
    return plain;
}

}  // namespace dynrnn
