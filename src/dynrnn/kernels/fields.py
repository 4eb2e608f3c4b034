"""What the compiled module is given, field by field; it has the same lists, and a test compares them.

`csrc/call.hpp` says what each field is.
"""

from __future__ import annotations


def _fields(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CALL = _fields(
    "isa cell itemsize threads batch time input_size units projection reverse pieces row start length "
    "x x_row x_time out out_row out_time h0 c0 hn cn saved packed "
    "states gate0 gate1 gate2 gate3 trace_row trace_time"
)
WEIGHTS = (
    *(
        name.replace("#", str(gate))
        for gate in range(4)
        for name in _fields("xk# xk#_row xk#_column hk# hk#_row hk#_column bx# bh#")
    ),
    *_fields("peephole_i peephole_f peephole_o projection projection_row projection_column"),
)
NUMBERS = _fields("forget_bias cell_clip proj_clip")
GRADS = _fields(
    "dout dout_row dout_time dhn dcn dstates dgate0 dgate1 dgate2 dgate3 dtrace_row dtrace_time "
    "dx dx_row dx_time dh0 dc0"
)
