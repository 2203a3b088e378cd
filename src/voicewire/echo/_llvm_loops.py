"""Vector loops that LLVM doesn't find by itself, written as LLVM vector code for numba.

One pass over the residual has to update it *and* tell where its largest component is. LLVM refuses to vectorise that
maximum (a NaN could change the answer), so the passes are built here from explicit vectors of `LANES` numbers,
which LLVM splits or joins to whatever the machine has: AVX-512, AVX2, SSE or NEON.

Layout. A *block* holds `LANES` positions of four real planes one after the other. For the residual the planes are the
real and imaginary parts of the even entries, then of the odd ones; for a row of R they are those of
``sum x(m') x*(m)`` and ``sum x(m') x(m)``: by the widely linear symmetry these four reals are a whole 2x2 block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from voicewire._kit._compiled import intrinsic, llvm

ir, cgutils, types = llvm()
LANES = 8
BLOCK = 4 * LANES
WORD = 64
_INDEX = ir.IntType(64)
_I32 = ir.IntType(32)
_LOW, _HIGH = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
_FIRST, _SECOND = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]


class _Loop:
    """What the body of a vector loop needs: loads, stores, arithmetic on vectors of one element type."""

    def __init__(self, context: Any, builder: Any, element: Any) -> None:
        self.context = context
        self.builder = builder
        self.scalar = context.get_value_type(element)
        self.vector = ir.VectorType(self.scalar, LANES)
        self.size = element.bitwidth // 8
        self.zero = ir.Constant(self.vector, [0.0] * LANES)

    def pointer(self, array_type: Any, array: Any) -> Any:
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def load(self, base: Any, offset: Any, lanes: int = LANES) -> Any:
        kind = ir.VectorType(self.scalar, lanes)
        value = self.builder.load(self.builder.bitcast(self.builder.gep(base, [offset]), kind.as_pointer()), typ=kind)
        value.align = self.size
        return value

    def store(self, value: Any, base: Any, offset: Any) -> None:
        where = self.builder.bitcast(self.builder.gep(base, [offset]), self.vector.as_pointer())
        self.builder.store(value, where, align=self.size)

    def splat(self, scalar: Any) -> Any:
        kind = ir.VectorType(scalar.type, LANES)
        undefined = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(_I32, 0))
        return self.shuffle(one, undefined, [0] * LANES)

    def shuffle(self, a: Any, b: Any, order: list[int]) -> Any:
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, len(order)), order))

    def _llvm(self, name: str, *operands: Any) -> Any:
        kind = ir.FunctionType(self.vector, [self.vector] * len(operands))
        full = f"llvm.{name}.v{LANES}f{8 * self.size}"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, full), operands)

    def muladd(self, a: Any, b: Any, c: Any) -> Any:
        """a*b + c, fused where the machine can; used only where the product is exact."""
        return self._llvm("fmuladd", a, b, c)

    def magnitude(self, a: Any) -> Any:
        return self._llvm("fabs", a)

    def larger(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def fold(self, vector: Any, combine: Callable[[Any, Any], Any]) -> Any:
        """Combine the lanes of a vector to one scalar by halves."""
        width = LANES
        while width > 1:
            width //= 2
            order = [i + width if i < width else i for i in range(LANES)]
            vector = combine(vector, self.shuffle(vector, vector, order))
        return self.builder.extract_element(vector, ir.Constant(_I32, 0))

    def constant(self, value: int) -> Any:
        return ir.Constant(_INDEX, value)

    def plus(self, offset: Any, constant: int) -> Any:
        return self.builder.add(offset, self.constant(constant))

    def scaled(self, number: Any, width: int) -> Any:
        return self.builder.mul(number, self.constant(width))

    def chunks(self, count: Any, body: Callable[[Any], None]) -> None:
        """Run body(number of the chunk) for each chunk."""
        with cgutils.for_range(self.builder, count, intp=_INDEX) as step:
            body(step.index)

    def next_position(self, base: Any, offset: Any, block: int = BLOCK) -> Any:
        """The vector one position on: its last lane comes from the next block."""
        return self.shuffle(
            self.load(base, offset), self.load(base, self.plus(offset, block)), list(range(1, LANES + 1))
        )

    def products(self, ring: Any, chunk: Any, re: Any, im: Any) -> tuple[Any, Any, Any, Any]:
        """re*xr, im*xi, re*xi, im*xr over a chunk of the ring; never fused, to round as the reading version does."""
        base = self.scaled(chunk, 2 * LANES)
        xr, xi = self.load(ring, base), self.load(ring, self.plus(base, LANES))
        times = self.builder.fmul
        return times(re, xr), times(im, xi), times(re, xi), times(im, xr)

    def transpose(self, lines: list[Any]) -> list[Any]:
        """Four planes of 8 lanes to four pairs of 4-vectors (lanes i and i + 4), or back: its own inverse."""
        low = [self.shuffle(lines[i], lines[i + 1], _LOW) for i in (0, 2)]
        high = [self.shuffle(lines[i], lines[i + 1], _HIGH) for i in (0, 2)]
        return [self.shuffle(pair[0], pair[1], order) for pair in (low, high) for order in (_FIRST, _SECOND)]


class _Largest:
    """The largest magnitude at each position (kept in `tops`) and of all."""

    def __init__(self, loop: _Loop, tops: Any) -> None:
        self.loop = loop
        self.tops = tops
        self.best = cgutils.alloca_once_value(loop.builder, loop.zero)

    def see(self, chunk: Any, values: list[Any]) -> None:
        larger = self.loop.larger
        tops = [self.loop.magnitude(value) for value in values]
        while len(tops) > 1:
            tops = [larger(a, b) for a, b in zip(tops[::2], tops[1::2], strict=True)]
        top = tops[0]
        self.loop.store(top, self.tops, self.loop.scaled(chunk, LANES))
        self.loop.builder.store(larger(top, self.loop.builder.load(self.best)), self.best)

    def result(self) -> Any:
        return self.loop.fold(self.loop.builder.load(self.best), self.loop.larger)


@intrinsic
def subtract_column(_: Any, r: Any, count: Any, tops: Any, R: Any, offsets: Any, signs: Any) -> Any:
    """r's plane i -= signs[i] * R[offsets[i]:]; returns the largest magnitude in the new r."""
    four = types.UniTuple(types.int64, 4), types.UniTuple(r.dtype, 4)
    signature = r.dtype(r, types.int64, tops, R, *four)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        residual, columns = (loop.pointer(sig.args[i], args[i]) for i in (0, 3))
        sources = [builder.extract_value(args[4], i) for i in range(4)]
        steps = [loop.splat(builder.fneg(builder.extract_value(args[5], i))) for i in range(4)]
        largest = _Largest(loop, loop.pointer(sig.args[2], args[2]))

        def body(chunk: Any) -> None:
            base = loop.scaled(chunk, BLOCK)
            values = []
            for i in range(4):
                at = loop.plus(base, i * LANES)
                column = loop.load(columns, builder.add(sources[i], base))
                values.append(loop.muladd(column, steps[i], loop.load(residual, at)))
                loop.store(values[i], residual, at)
            largest.see(chunk, values)

        loop.chunks(args[1], body)
        return largest.result()

    return signature, codegen


def _adder(shift: bool) -> Any:
    """Build r <- scale*r + conj(e)*x~ with r moved by one position first (a new sample) or not (data reuse)."""

    def add_input(_: Any, r: Any, count: Any, tops: Any, scale: Any, ring: Any, re: Any, im: Any) -> Any:
        f = r.dtype
        signature = f(r, types.int64, tops, f, ring, f, f)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            loop = _Loop(context, builder, sig.args[0].dtype)
            residual, window = (loop.pointer(sig.args[i], args[i]) for i in (0, 4))
            scale_, re_, im_ = (loop.splat(args[i]) for i in (3, 5, 6))
            largest = _Largest(loop, loop.pointer(sig.args[2], args[2]))

            def body(chunk: Any) -> None:
                u, v, w, z = loop.products(window, chunk, re_, im_)
                even = builder.fadd(u, v), builder.fsub(w, z)
                odd = builder.fsub(u, v), builder.fneg(builder.fadd(w, z))
                values = []
                for i, new in enumerate((*even, *odd)):
                    at = loop.plus(loop.scaled(chunk, BLOCK), i * LANES)
                    moved = builder.fmul(scale_, loop.next_position(residual, at)) if shift else None
                    old = loop.load(residual, at) if moved is None else moved
                    values.append(builder.fadd(old, new))
                    loop.store(values[i], residual, at)
                largest.see(chunk, values)

            loop.chunks(args[1], body)
            return largest.result()

        return signature, codegen

    return intrinsic(add_input)


add_first = _adder(shift=True)
add_again = _adder(shift=False)


@intrinsic
def next_row(
    _: Any, R: Any, count: Any, new: Any, old: Any, forget: Any, ring: Any, re: Any, im: Any, recent: Any, slot: Any
) -> Any:
    """Row `new` <- forget*(row `old`, one position on) + (x(m') x*(n), x(m') x(n)); transposed copy to `recent`."""
    f, i64 = R.dtype, types.int64
    signature = types.void(R, i64, i64, i64, f, ring, f, f, recent, i64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        rows, window, columns = (loop.pointer(sig.args[i], args[i]) for i in (0, 5, 8))
        forget_, re_, im_ = (loop.splat(args[i]) for i in (4, 6, 7))

        def body(chunk: Any) -> None:
            u, v, w, z = loop.products(window, chunk, re_, im_)
            news = builder.fadd(u, v), builder.fsub(w, z), builder.fsub(u, v), builder.fadd(w, z)
            base = loop.scaled(chunk, BLOCK)
            planes = []
            for i, value in enumerate(news):
                at = loop.plus(base, i * LANES)
                before = loop.next_position(rows, builder.add(args[3], at))
                planes.append(builder.fadd(builder.fmul(forget_, before), value))
                loop.store(planes[i], rows, builder.add(args[2], at))
            planes[1] = builder.fneg(planes[1])  # the Hermitian of a block: only x(m') x*(n) is conjugated
            for i, value in enumerate(loop.transpose(planes)):
                loop.store(value, columns, builder.add(args[9], loop.plus(base, i * LANES)))

        loop.chunks(args[1], body)
        return context.get_dummy_value()

    return signature, codegen


def mirror_of(planes: int) -> Any:
    """Build what writes the rows of chunk `first` as columns of all others: R[m][t] = R[t][m]^H, of 4 planes or 1."""

    def mirror_rows(_: Any, R: Any, count: Any, row: Any, first: Any) -> Any:
        i64 = types.int64
        signature = types.void(R, i64, i64, i64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            loop = _Loop(context, builder, sig.args[0].dtype)
            rows = loop.pointer(sig.args[0], args[0])
            count, row, first = args[1:]
            low = [x for i in range(LANES // 2) for x in (i, i + LANES)]
            high = [x for i in range(LANES // 2, LANES) for x in (i, i + LANES)]

            def corner(line: Any, chunk: Any, plane: int) -> Any:
                start = builder.mul(row, loop.scaled(line, LANES))
                return loop.plus(builder.add(start, loop.scaled(chunk, planes * LANES)), plane * LANES)

            def body(chunk: Any) -> None:
                with builder.if_then(builder.icmp_signed("!=", chunk, first)):
                    for plane in range(planes):
                        source, target = corner(first, chunk, plane), corner(chunk, first, plane)
                        steps = [builder.mul(row, loop.constant(i)) for i in range(LANES)]
                        lines = [loop.load(rows, builder.add(source, step)) for step in steps]
                        for _ in range(LANES.bit_length() - 1):
                            pairs = [(lines[i], lines[i + LANES // 2]) for i in range(LANES // 2)]
                            lines = [loop.shuffle(a, b, order) for a, b in pairs for order in (low, high)]
                        for step, line in zip(steps, lines, strict=True):
                            loop.store(builder.fneg(line) if plane == 1 else line, rows, builder.add(target, step))

            loop.chunks(count, body)
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(mirror_rows)


mirror = mirror_of(4)


@intrinsic
def fetch(_: Any, R: Any, target: Any, recent: Any, size: Any, source: Any, low: Any, high: Any) -> Any:
    """Lanes low..high-1 of R's block at target <- what the LANES most recent rows hold at source."""
    i64 = types.int64
    signature = types.void(R, i64, recent, i64, i64, i64, i64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        rows, columns = (loop.pointer(sig.args[i], args[i]) for i in (0, 2))
        number = ir.Constant(ir.VectorType(_INDEX, LANES), list(range(LANES)))
        above = builder.icmp_signed(">=", number, loop.splat(args[5]))
        mask = builder.and_(above, builder.icmp_signed("<", number, loop.splat(args[6])))
        entries = [
            loop.load(columns, builder.add(args[4], loop.builder.mul(args[3], loop.constant(t))), 4)
            for t in range(LANES)
        ]
        pairs = [loop.shuffle(entries[t], entries[t + 4], list(range(LANES))) for t in range(4)]
        for plane, new in enumerate(loop.transpose(pairs)):
            at = loop.plus(args[1], plane * LANES)
            loop.store(builder.select(mask, new, loop.load(rows, at)), rows, at)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def output(_: Any, h: Any, count: Any, window: Any, start: Any, plane: Any) -> Any:
    """(sum h0*xr + h1*xi, sum h2*xi + h3*xr) over the window from start on: both microphones' echo estimates."""
    f, i64 = h.dtype, types.int64
    signature = types.UniTuple(f, 2)(h, i64, window, i64, i64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        taps, signal = (loop.pointer(sig.args[i], args[i]) for i in (0, 2))
        sums = [cgutils.alloca_once_value(builder, loop.zero) for _ in range(4)]

        def body(chunk: Any) -> None:
            at = builder.add(args[3], loop.scaled(chunk, LANES))
            xr, xi = loop.load(signal, at), loop.load(signal, builder.add(at, args[4]))
            for i, value in enumerate((xr, xi, xi, xr)):
                tap = loop.load(taps, loop.plus(loop.scaled(chunk, BLOCK), i * LANES))
                total = builder.fadd(builder.fmul(tap, value), builder.load(sums[i]))  # alike on every machine
                builder.store(total, sums[i])

        loop.chunks(args[1], body)
        a, b, c, d = (builder.load(total) for total in sums)
        both = loop.fold(builder.fadd(a, b), builder.fadd), loop.fold(builder.fadd(c, d), builder.fadd)
        return context.make_tuple(builder, sig.return_type, both)

    return signature, codegen


@intrinsic
def matches(_: Any, tops: Any, word: Any, value: Any) -> Any:
    """The bits of the WORD positions at which `tops` equals value."""
    signature = types.int64(tops, types.int64, tops.dtype)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        base, wanted = loop.pointer(sig.args[0], args[0]), loop.splat(args[2])
        bits = loop.constant(0)
        for j in range(0, WORD, LANES):
            here = loop.load(base, loop.plus(loop.scaled(args[1], WORD), j))
            found = builder.bitcast(builder.fcmp_ordered("==", here, wanted), ir.IntType(LANES))
            bits = builder.or_(bits, builder.shl(builder.zext(found, _INDEX), loop.constant(j)))
        return bits

    return signature, codegen


@intrinsic
def lowest_bit(_: Any, bits: Any) -> Any:
    """Index of the lowest set bit; 64 when there is none."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@intrinsic
def halvings(_: Any, larger: Any, smaller: Any) -> Any:
    """floor(log2(larger/smaller)) of two positive normal numbers, exactly: the difference of their bit patterns."""
    bits, fraction = (32, 23) if larger.bitwidth == 32 else (64, 52)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        integer = ir.IntType(bits)
        a, b = (builder.bitcast(arg, integer) for arg in args)
        gap = builder.ashr(builder.sub(a, b), ir.Constant(integer, fraction))
        return gap if bits == 64 else builder.sext(gap, _INDEX)

    return types.int64(larger, larger), codegen
