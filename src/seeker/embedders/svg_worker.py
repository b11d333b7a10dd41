"""The process that draws SVG pictures for `seeker.embedders.svg`; it imports nothing of Seeker.

It reads (side, length, contents) from its standard input and answers (good, length, PNG or reason)
until the input ends. It may take a fixed amount of memory and no more.
"""

import struct
import sys

_MEMORY_BYTES = 2_000_000_000


def main() -> None:
    """Draw until there is nothing more to draw; the first argument is where the library is."""
    sys.path.append(sys.argv[1])
    import resvg_py

    try:
        import resource
    except ImportError:  # Windows has no such limits; the time limit remains
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    standard_in, standard_out = sys.stdin.buffer, sys.stdout.buffer
    while request := standard_in.read(8):
        side, length = struct.unpack("<II", request)
        text = standard_in.read(length).decode()
        try:
            # System fonts would make the picture differ from machine to machine.
            drawing = resvg_py.svg_to_bytes(
                svg_string=text, width=side, height=side, skip_system_fonts=True
            )
            good = True
        except Exception as problem:
            drawing, good = str(problem)[:120].encode(), False
        standard_out.write(struct.pack("<?I", good, len(drawing)) + drawing)
        standard_out.flush()


if __name__ == "__main__":
    main()
