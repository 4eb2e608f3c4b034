#include "layer.hpp"

#include "engine.hpp"
#include "tensors.hpp"

namespace nb = nanobind;

namespace dynrnn {
namespace {

bool is_float(const View& view, int64_t itemsize) { return view.floating && view.itemsize == itemsize; }

// The address of a tensor of these sides without gaps, 0 for None; nothing where it is another tensor.
struct Found {
    bool fits;
    int64_t address;
};
Found find(nb::handle object, const int64_t* sides, int axes, int64_t itemsize) {
    if (object.is_none()) return {true, 0};
    View view;
    if (!look_at(object.ptr(), view) || !is_float(view, itemsize) || view.axes < axes) return {false, 0};
    const int more = view.axes - axes;  // axes of one element may come first
    for (int i = 0; i < view.axes; ++i)
        if (view.shape[i] != (i < more ? 1 : sides[i - more])) return {false, 0};
    return {view.is_contiguous(), view.address};
}

// The same for a state's tensor, [pieces, width].
Found find_state(nb::handle object, const Call& call, int64_t width) {
    const int64_t sides[] = {call.pieces, width};
    return find(object, sides, 2, call.itemsize);
}

// Three axes, of which the last one has no gaps.
bool is_rowwise(const View& view, int64_t itemsize) {
    return is_float(view, itemsize) && view.axes == 3 && (view.shape[2] <= 1 || view.strides[2] == 1);
}

}  // namespace

Weights Layer::weights_at(const std::vector<int64_t>& addresses) const {
    Weights made = constants;
    auto* fields = reinterpret_cast<int64_t*>(&made);
    for (const Place& place : places)
        if (addresses[place.weight]) fields[place.field] = addresses[place.weight] + place.offset;
    return made;
}

std::unique_ptr<LayerCall> LayerCall::of(std::shared_ptr<const Layer> layer, Way way, nb::handle inputs,
                                         nb::handle state, nb::handle lengths, nb::handle weights) {
    auto made = std::make_unique<LayerCall>();
    made->layer = std::move(layer);
    made->time_major = way.time_major;
    made->call = made->layer->known;
    made->call.reverse = way.reverse, made->call.isa = way.isa, made->call.threads = way.threads;
    const bool fits = made->take_inputs(inputs, way.time_major) && made->take_lengths(lengths) &&
                      made->take_state(state) && made->take_weights(weights);
    return fits ? std::move(made) : nullptr;
}

bool LayerCall::has_cells() const { return call.cell == kLstm; }

bool LayerCall::take_inputs(nb::handle inputs, bool time_major) {
    View view;
    if (!look_at(inputs.ptr(), view) || !is_rowwise(view, call.itemsize) || view.shape[2] != call.input_size)
        return false;
    const int row = time_major ? 1 : 0, time = 1 - row;
    call.batch = call.pieces = view.shape[row], call.time = view.shape[time];
    call.x = view.address, call.x_row = view.strides[row], call.x_time = view.strides[time];
    const int64_t width = call.width();
    call.out_row = time_major ? width : call.time * width, call.out_time = time_major ? call.batch * width : width;
    return true;
}

bool LayerCall::take_lengths(nb::handle given) {
    if (given.is_none()) return true;
    lengths.resize(call.batch);
    View view;
    if (PyList_CheckExact(given.ptr()) || PyTuple_CheckExact(given.ptr())) {
        const nb::sequence list = nb::borrow<nb::sequence>(given);
        if (int64_t(nb::len(list)) != call.batch) return false;
        for (int64_t i = 0; i < call.batch; ++i) {
            const nb::object one = list[i];
            if (!PyLong_CheckExact(one.ptr())) return false;
            int overflow = 0;
            lengths[i] = PyLong_AsLongLongAndOverflow(one.ptr(), &overflow);
            if (overflow) return false;
        }
    } else if (look_at(given.ptr(), view) && !view.floating && view.itemsize == 8 && view.axes == 1 &&
               view.shape[0] == call.batch) {
        for (int64_t i = 0; i < call.batch; ++i) lengths[i] = at<const int64_t>(view.address)[i * view.strides[0]];
    } else {
        return false;
    }
    for (const int64_t length : lengths)
        if (length < 0 || length > call.time) return false;
    call.length = reinterpret_cast<int64_t>(lengths.data());
    return true;
}

bool LayerCall::take_state(nb::handle given) {
    if (given.is_none()) return true;
    const nb::sequence state = nb::borrow<nb::sequence>(given);
    const size_t states = has_cells() ? 2 : 1;
    if (nb::len(state) != states) return false;
    const Found h = find_state(nb::object(state[states - 1]), call, call.width());
    const Found c = has_cells() ? find_state(nb::object(state[0]), call, call.units) : Found{true, 0};
    call.h0 = h.address, call.c0 = c.address;
    return h.fits && c.fits;
}

bool LayerCall::take_weights(nb::handle given) {
    const nb::sequence list = nb::borrow<nb::sequence>(given);
    const auto& shapes = layer->shapes;
    if (nb::len(list) != shapes.size()) return false;
    std::vector<int64_t> addresses(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
        const nb::object weight = list[i];
        const Found found = find(weight, shapes[i].data(), int(shapes[i].size()), call.itemsize);
        if (!found.fits || weight.is_none()) return false;
        addresses[i] = found.address;
    }
    weights = layer->weights_at(addresses);
    return true;
}

int64_t LayerCall::saved_size() const { return engine_of(call).saved_size(call, layer->numbers); }

void LayerCall::forward(int64_t out, int64_t hn, int64_t cn, int64_t saved, int64_t packed) {
    call.out = out, call.hn = hn, call.cn = cn, call.saved = saved, call.packed = packed;
    const Engine& engine = engine_of(call);
    const nb::gil_scoped_release released;
    engine.forward(call, weights, layer->numbers);
}

bool LayerCall::backward(nb::handle out, nb::handle saved, nb::handle grads, nb::handle found) {
    const int row = time_major ? 1 : 0, time = 1 - row;
    const auto fits = [&](const View& view, int64_t width) {
        return is_rowwise(view, call.itemsize) && view.shape[row] == call.batch && view.shape[time] == call.time &&
               view.shape[2] == width;
    };
    const size_t states = has_cells() ? 2 : 1, many = layer->shapes.size();
    View view;
    if (!look_at(out.ptr(), view) || !fits(view, call.width())) return false;
    call.out = view.address, call.out_row = view.strides[row], call.out_time = view.strides[time];
    if (!look_at(saved.ptr(), view) || !is_float(view, call.itemsize) || view.axes != 1 || !view.is_contiguous() ||
        view.shape[0] < saved_size())
        return false;
    call.saved = view.address;

    const nb::sequence results = nb::borrow<nb::sequence>(grads);
    if (nb::len(results) != 1 + states) return false;
    Grads given{};
    if (const nb::object dout = results[0]; !dout.is_none()) {
        if (!look_at(dout.ptr(), view) || !fits(view, call.width())) return false;
        given.dout = view.address, given.dout_row = view.strides[row], given.dout_time = view.strides[time];
    }
    const Found dhn = find_state(nb::object(results[states]), call, call.width());
    const Found dcn = has_cells() ? find_state(nb::object(results[1]), call, call.units) : Found{true, 0};
    if (!dhn.fits || !dcn.fits) return false;
    given.dhn = dhn.address, given.dcn = dcn.address;

    const nb::sequence to = nb::borrow<nb::sequence>(found);
    if (nb::len(to) != 1 + states + many) return false;
    if (const nb::object dx = to[0]; !dx.is_none()) {
        if (!look_at(dx.ptr(), view) || !fits(view, call.input_size)) return false;
        given.dx = view.address, given.dx_row = view.strides[row], given.dx_time = view.strides[time];
    }
    const Found dh0 = find_state(nb::object(to[states]), call, call.width());
    const Found dc0 = has_cells() ? find_state(nb::object(to[1]), call, call.units) : Found{true, 0};
    if (!dh0.fits || !dc0.fits) return false;
    given.dh0 = dh0.address, given.dc0 = dc0.address;
    std::vector<int64_t> addresses(many);
    for (size_t i = 0; i < many; ++i) {
        const auto& shape = layer->shapes[i];
        const Found one = find(nb::object(to[1 + states + i]), shape.data(), int(shape.size()), call.itemsize);
        if (!one.fits) return false;
        addresses[i] = one.address;
    }
    const Weights weight_grads = layer->weights_at(addresses);
    const Engine& engine = engine_of(call);
    const nb::gil_scoped_release released;
    engine.backward(call, weights, layer->numbers, given, weight_grads);
    return true;
}

}  // namespace dynrnn
