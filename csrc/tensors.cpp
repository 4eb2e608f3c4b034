#include "tensors.hpp"

#include <memory>

#include "team.hpp"

namespace nb = nanobind;

namespace dynrnn {
namespace {

// DLPack 1: the parts of its header that are used here.
struct Version {
    uint32_t major, minor;
};
enum DeviceType : int32_t { kCpu = 1 };
enum Kind : uint8_t { kSigned = 0, kFloat = 2 };
struct Seen {  // DLTensor
    void* data;
    int32_t device_type, device_id;
    int32_t axes;
    uint8_t kind, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct Managed {  // DLManagedTensorVersioned
    Version version;
    void* owner;
    void (*release)(Managed*);
    uint64_t flags;
    Seen seen;
};
struct Exchange {  // DLPackExchangeAPI
    Version version;
    const void* older;
    const void *allocate, *export_owned;
    int (*adopt)(Managed*, void** object);
    int (*look)(void* object, Seen*);
    const void* stream;
};

const Exchange* exchange = nullptr;
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

struct Room {
    Scratch scratch;
    int64_t elements, one = 1;
    Managed managed;

    Room(int64_t elements, int64_t itemsize) : scratch(elements * itemsize), elements(elements), managed{} {
        managed.version = {1, 0};
        managed.owner = this;
        managed.release = [](Managed* self) { delete static_cast<Room*>(self->owner); };
        managed.seen = {
            scratch.take(elements * itemsize), kCpu, 0, 1, kFloat, uint8_t(8 * itemsize), 1, &this->elements, &one, 0};
    }
    Room(const Room&) = delete;
};

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

nb::object kept_room(int64_t elements, int64_t itemsize) {
    if (!exchange) return nb::none();
    auto room = std::make_unique<Room>(elements, itemsize);
    void* object = nullptr;
    if (exchange->adopt(&room->managed, &object)) throw nb::python_error();
    room.release();
    return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace dynrnn
