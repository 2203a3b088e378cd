"""The vector loops of `_kernel_mono`: R has one real plane, r two, one behind the other (see `_llvm_loops`)."""

from __future__ import annotations

from typing import Any

from voicewire._kit._compiled import intrinsic, llvm
from voicewire.echo._llvm_loops import LANES, _Largest, _Loop, mirror_of

ir, cgutils, types = llvm()


def _planes(loop: _Loop, count: Any, chunk: Any) -> list[Any]:
    """Where a chunk of the residual lies in its two planes; a spare chunk is between them."""
    at = loop.scaled(chunk, LANES)
    return [at, loop.builder.add(at, loop.plus(loop.scaled(count, LANES), LANES))]


@intrinsic
def subtract_column(_: Any, r: Any, count: Any, tops: Any, R: Any, offset: Any, step: Any) -> Any:
    """Both planes of r -= step * R[offset:]; returns the largest magnitude in the new r."""
    signature = r.dtype(r, types.int64, tops, R, types.int64, r.dtype)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        residual, columns = (loop.pointer(sig.args[i], args[i]) for i in (0, 3))
        scale = loop.splat(builder.fneg(args[5]))
        largest = _Largest(loop, loop.pointer(sig.args[2], args[2]))

        def body(chunk: Any) -> None:
            column = loop.load(columns, builder.add(args[4], loop.scaled(chunk, LANES)))
            values = []
            for at in _planes(loop, args[1], chunk):
                values.append(loop.muladd(column, scale, loop.load(residual, at)))
                loop.store(values[-1], residual, at)
            largest.see(chunk, values)

        loop.chunks(args[1], body)
        return largest.result()

    return signature, codegen


def _adder(shift: bool) -> Any:
    """Build r <- scale*r + e*x with r moved by one position first (a new sample) or not (data reuse)."""

    def add_input(_: Any, r: Any, count: Any, tops: Any, scale: Any, ring: Any, error: Any) -> Any:
        f = r.dtype
        signature = f(r, types.int64, tops, f, ring, f)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            loop = _Loop(context, builder, sig.args[0].dtype)
            residual, window = (loop.pointer(sig.args[i], args[i]) for i in (0, 4))
            scale_, error_ = (loop.splat(args[i]) for i in (3, 5))
            largest = _Largest(loop, loop.pointer(sig.args[2], args[2]))

            def body(chunk: Any) -> None:
                new = builder.fmul(error_, loop.load(window, loop.scaled(chunk, LANES)))
                values = []
                for at in _planes(loop, args[1], chunk):
                    moved = builder.fmul(scale_, loop.next_position(residual, at, LANES)) if shift else None
                    old = loop.load(residual, at) if moved is None else moved
                    values.append(builder.fadd(old, new))
                    loop.store(values[-1], residual, at)
                largest.see(chunk, values)

            loop.chunks(args[1], body)
            return largest.result()

        return signature, codegen

    return intrinsic(add_input)


add_first = _adder(shift=True)
add_again = _adder(shift=False)


@intrinsic
def next_row(_: Any, R: Any, count: Any, new: Any, old: Any, forget: Any, ring: Any, sample: Any) -> Any:
    """Row `new` <- forget*(row `old`, one position on) + x(m') x(n)."""
    f, i64 = R.dtype, types.int64
    signature = types.void(R, i64, i64, i64, f, ring, f)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        rows, window = (loop.pointer(sig.args[i], args[i]) for i in (0, 5))
        forget_, sample_ = (loop.splat(args[i]) for i in (4, 6))

        def body(chunk: Any) -> None:
            at = loop.scaled(chunk, LANES)
            before = loop.next_position(rows, builder.add(args[3], at), LANES)
            new = builder.fmul(sample_, loop.load(window, at))
            loop.store(builder.fadd(builder.fmul(forget_, before), new), rows, builder.add(args[2], at))

        loop.chunks(args[1], body)
        return context.get_dummy_value()

    return signature, codegen


mirror = mirror_of(1)


@intrinsic
def output(_: Any, h: Any, count: Any, window: Any, start: Any) -> Any:
    """sum h*x over the window from start on: the microphone's echo estimate."""
    f, i64 = h.dtype, types.int64
    signature = f(h, i64, window, i64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loop = _Loop(context, builder, sig.args[0].dtype)
        taps, signal = (loop.pointer(sig.args[i], args[i]) for i in (0, 2))
        total = cgutils.alloca_once_value(builder, loop.zero)

        def body(chunk: Any) -> None:
            at = loop.scaled(chunk, LANES)
            product = builder.fmul(loop.load(taps, at), loop.load(signal, builder.add(args[3], at)))
            builder.store(builder.fadd(product, builder.load(total)), total)

        loop.chunks(args[1], body)
        return loop.fold(builder.load(total), builder.fadd)

    return signature, codegen
