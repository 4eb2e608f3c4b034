#include "room.hpp"

#include <memory>

#include "dlpack.hpp"
#include "scratch.hpp"

namespace nb = nanobind;

namespace dynrnn {

using namespace dlpack;

namespace {

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

nb::object kept_room(int64_t elements, int64_t itemsize) {
    if (!exchange) return nb::none();
    auto room = std::make_unique<Room>(elements, itemsize);
    void* object = nullptr;
    if (exchange->adopt(&room->managed, &object)) throw nb::python_error();
    room.release();
    return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace dynrnn
