"""Pictures nobody vouches for: what is read, and what is refused with a reason."""

from __future__ import annotations

import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seeker.embedders.pictures import open_picture, thumbnail
from seeker.embedders.svg import draw_svg
from seeker.errors import BadInput, NotFound, SeekerError
from support.builds import png_that_claims

RED, WHITE = (255, 0, 0), (255, 255, 255)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '

MODES = [
    *(("1", "PNG"), ("L", "PNG"), ("LA", "PNG"), ("P", "PNG"), ("P", "GIF"), ("RGBA", "PNG")),
    *(("CMYK", "JPEG"), ("CMYK", "TIFF"), ("YCbCr", "JPEG"), ("LAB", "TIFF"), ("I;16", "PNG")),
    *(("I;16", "TIFF"), ("I", "TIFF"), ("F", "TIFF")),
]


def encoded(image: Image.Image, kind: str, **settings: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def two_halves(mode: str = "RGB") -> Image.Image:
    """Return a picture that is black on the left and white on the right, 40 × 20."""
    image = Image.new("L", (40, 20), 255)
    image.paste(0, (0, 0, 20, 20))
    return image.convert(mode)


def svg(inside: str, size: str = 'width="40" height="20"', before: str = "") -> bytes:
    return f"{before}{SVG}{size}>{inside}</svg>".encode()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_every_format_is_read_alike(kind: str) -> None:
    image = open_picture(encoded(two_halves(), kind))
    assert (image.mode, image.size) == ("RGB", (40, 20))
    pixels = np.asarray(image).astype(int)
    assert pixels[:, :18].max() < 30
    assert pixels[:, 22:].min() > 225


@pytest.mark.parametrize(
    ("mode", "kind"),
    MODES,
)
def test_every_mode_becomes_the_same_rgb(mode: str, kind: str) -> None:
    if mode == "I;16":
        deep = np.asarray(two_halves("L")).astype(np.uint16) * 257
        image = Image.fromarray(deep)
    else:
        image = two_halves("RGB").convert(mode) if mode == "LAB" else two_halves().convert(mode)
    pixels = np.asarray(open_picture(encoded(image, kind))).astype(int)
    assert pixels.shape == (20, 40, 3)
    assert pixels[:, :18].max() < 40
    assert pixels[:, 22:].min() > 215


def test_what_is_transparent_is_white() -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    image.paste((255, 0, 0, 255), (0, 0, 10, 20))
    for kind in ("PNG", "WEBP"):
        opened = open_picture(
            encoded(image, kind, **({"lossless": True} if kind == "WEBP" else {}))
        )
        assert opened.getpixel((2, 10)) == RED
        assert opened.getpixel((17, 10)) == WHITE
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([0, 0, 0, 9, 9, 9])
    assert open_picture(encoded(palette, "PNG", transparency=1)).getpixel((1, 1)) == WHITE


def test_an_animation_is_its_first_frame() -> None:
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue", "lime")]
    for kind in ("GIF", "WEBP", "PNG"):
        contents = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
        red, green, blue = open_picture(contents).getpixel((8, 8))  # type: ignore[misc]
        assert red > 240
        assert max(green, blue) < 15


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize(
    ("orientation", "corner"),
    [(1, "top left"), (3, "bottom right"), (6, "top right"), (8, "bottom left")],
)
def test_pictures_stand_upright(kind: str, orientation: int, corner: str) -> None:
    image = Image.new("RGB", (64, 32), "white")
    image.paste("black", (0, 0, 16, 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = open_picture(encoded(image, kind, exif=exif))
    wide, high = upright.size
    assert (wide, high) == ((32, 64) if orientation in (6, 8) else (64, 32))
    x = 6 if "left" in corner else wide - 6
    y = 6 if "top" in corner else high - 6
    assert max(upright.getpixel((x, y))) < 40  # type: ignore[arg-type]


def test_exif_that_cannot_be_read_does_no_harm() -> None:
    contents = encoded(two_halves(), "JPEG", exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff broken")
    assert open_picture(contents).size == (40, 20)


def test_large_pictures_are_reduced() -> None:
    image = Image.new("RGB", (3000, 1500), "red")
    assert open_picture(encoded(image, "PNG")).size == (512, 256)
    assert open_picture(encoded(image, "JPEG"), side=100).size == (100, 50)


@pytest.mark.parametrize("size", [(20_000, 20_000), (2**31 - 1, 2**31 - 1), (1, 2**31 - 1)])
def test_a_picture_that_claims_too_much_is_refused_without_decoding(size: tuple[int, int]) -> None:
    contents = png_that_claims(*size)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="more than the 50,000,000 that are read"):
            open_picture(contents)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_other_formats_that_claim_too_much_are_refused() -> None:
    gif = b"GIF89a" + struct.pack("<HHBBB", 60_000, 60_000, 0, 0, 0)
    gif += b"," + struct.pack("<HHHHB", 0, 0, 60_000, 60_000, 0) + b"\x02\x01\x00\x00;"
    bmp = bytearray(encoded(two_halves(), "BMP"))
    bmp[18:26] = struct.pack("<ii", 60_000, 60_000)
    extended = b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\xfe\x3f\x00" * 2
    webp = b"RIFF" + struct.pack("<I", len(extended) + 4) + b"WEBP" + extended
    lossless = b"VP8L" + struct.pack("<I", 10) + b"\x2f\xff\xff\xff\x0f" + bytes(5)
    webp_lossless = b"RIFF" + struct.pack("<I", len(lossless) + 4) + b"WEBP" + lossless
    lossy = bytearray(encoded(two_halves(), "WEBP"))
    assert lossy[12:16] == b"VP8 "
    lossy[26:30] = struct.pack("<HH", 16_000, 16_000)
    for contents in (gif, bytes(bmp), webp, webp_lossless, bytes(lossy)):
        with pytest.raises(BadInput, match="more than the 50,000,000 that are read"):
            open_picture(contents)


def test_a_jpeg_beyond_the_limit_is_reduced_on_the_way_but_not_endlessly() -> None:
    image = Image.new("L", (2000, 1500), 128)
    plain = encoded(image, "JPEG")
    assert open_picture(plain, limit=1_000_000).size == (512, 384)
    with pytest.raises(BadInput, match=r"2,000 × 1,500 pixels, more than"):
        open_picture(plain, limit=500_000)
    with pytest.raises(BadInput, match=r"2,000 × 1,500 pixels, more than"):
        open_picture(encoded(image, "JPEG", progressive=True), limit=1_000_000)


def test_a_jpeg_of_endless_passes_is_refused() -> None:
    contents = encoded(two_halves(), "JPEG", progressive=True)
    start = contents.rindex(b"\xff\xda")
    last = contents[start:-2]
    with pytest.raises(BadInput, match="too many passes"):
        open_picture(contents[:-2] + last * 300 + contents[-2:])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_pictures_cut_off_anywhere_are_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    contents = encoded(Image.fromarray(noise), kind)
    for length in (12, 25, 60, len(contents) // 2, len(contents) - 40):
        with pytest.raises(SeekerError):
            open_picture(contents[:length])


def test_files_that_are_no_pictures_are_refused(tmp_path: Path) -> None:
    archive = tmp_path / "holiday.jpg"
    archive.write_bytes(b"PK\x03\x04" + bytes(200))
    with pytest.raises(BadInput, match="not a picture in a format that is read"):
        open_picture(archive)
    with pytest.raises(BadInput, match="not a picture"):
        open_picture(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n")
    with pytest.raises(BadInput, match="empty"):
        open_picture(b"")
    with pytest.raises(BadInput, match="not a file"):
        open_picture(tmp_path)
    with pytest.raises(BadInput, match="not a file"):
        open_picture("/dev/zero" if Path("/dev/zero").exists() else tmp_path)
    with pytest.raises(NotFound, match="no such file"):
        open_picture(tmp_path / "nothing.png")
    with pytest.raises(BadInput, match="cannot be read"):
        open_picture("with\0null.png")


def test_damage_at_random_gives_a_picture_or_a_reason() -> None:
    rng = np.random.default_rng(1)
    for kind in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"):
        whole = np.frombuffer(encoded(two_halves(), kind), np.uint8)
        for _ in range(40):
            damaged = whole.copy()
            damaged[rng.integers(len(damaged), size=5)] = rng.integers(256, size=5)
            try:
                said = open_picture(damaged.tobytes()).mode
            except SeekerError as problem:
                said = problem.message
            assert said
            assert "\n" not in said
            assert len(said) < 250


def test_an_svg_is_drawn_on_white_in_its_proportions() -> None:
    image = open_picture(svg('<rect width="20" height="20" fill="red"/>'), side=128)
    assert image.size == (128, 64)
    assert image.getpixel((10, 10)) == RED
    assert image.getpixel((120, 10)) == WHITE
    huge = open_picture(svg('<rect width="9e5" height="9e5"/>', 'width="1e6" height="1e6"'))
    assert huge.size == (320, 320)
    long = open_picture(svg("<rect/>", 'width="1000000" height="10"'))
    assert max(long.size) == 320


def test_an_svg_with_a_picture_inside_and_inner_references_is_drawn() -> None:
    import base64

    inner = base64.b64encode(encoded(Image.new("RGB", (4, 4), "red"), "PNG")).decode()
    picture = f'<image width="20" height="20" href="data:image/png;base64,{inner}"/>'
    reused = '<defs><rect id="r" width="10" height="20" fill="red"/></defs><use href="#r" x="25"/>'
    link = '<a href="https://example.org/"><rect width="1" height="1"/></a>'
    doctype = '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">'
    image = open_picture(svg(picture + reused + link, before=doctype), side=40)
    assert image.getpixel((10, 10)) == RED
    assert image.getpixel((30, 10)) == RED


def test_an_svg_never_loads_another_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(encoded(Image.new("RGB", (40, 20), "red"), "PNG"))
    for reference in (
        str(secret),
        f"file://{secret}",
        "secret.png",
        "../x",
        "http://localhost/x.png",
    ):
        for attribute in ("href", "xlink:href", "XLINK:HREF"):
            inside = f'<image width="40" height="20" {attribute}="{reference}"/>'
            with pytest.raises(BadInput, match="outside itself"):
                open_picture(svg(inside))
    with pytest.raises(BadInput, match="outside itself"):
        open_picture(svg(f'<use href="{secret}#id"/>'))
    with pytest.raises(BadInput, match="outside itself"):
        open_picture(svg('<q:image xmlns:q="http://www.w3.org/1999/xlink" q:href="/x.png"/>'))
    for style in ("@import 'x.css';", "rect { fill: url(http://localhost/x) }"):
        with pytest.raises(BadInput, match="another file"):
            open_picture(svg(f"<style>{style}</style>"))
    with pytest.raises(BadInput, match="another file"):
        open_picture(svg('<rect style="fill:url(x.svg#p)"/>'))


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (svg("<script>alert(1)</script>"), "script"),
        (svg('<rect onload="alert(1)"/>'), "script"),
        (svg("", before='<?xml-stylesheet href="x.css"?>'), "instruction"),
        (svg("<text>&x;</text>", before='<!DOCTYPE svg [<!ENTITY x "x">]>'), "entities"),
        (svg('<image href="data:image/svg+xml,<svg/>"/>'.replace("<svg/>", "x")), "another SVG"),
        (svg("<rect>"), "not well-formed"),
        (svg("", 'width="0" height="0"'), "cannot be drawn"),
        (svg("\xff").decode().encode("latin-1"), "UTF-8"),
    ],
)
def test_an_svg_that_is_more_than_a_picture_is_refused(contents: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        open_picture(contents)


def test_an_svg_of_endless_text_is_refused() -> None:
    with pytest.raises(BadInput, match=r"more than 20,000,000"):
        open_picture(svg(" " * 20_000_000))


def test_an_svg_that_brings_down_its_painter_is_refused_and_the_next_is_drawn() -> None:
    nested = "<g>" * 20_000 + '<rect width="9" height="9"/>' + "</g>" * 20_000
    with pytest.raises(BadInput, match="cannot be drawn"):
        open_picture(svg(nested))
    uses = ""
    for level in range(1, 9):
        again = f'<use href="#a{level - 1}"/>' * 10
        uses += f'<g id="a{level}">{again}</g>'
    with pytest.raises(BadInput, match="cannot be drawn"):
        open_picture(svg(f'<defs><g id="a0"><rect/></g>{uses}</defs><use href="#a8"/>'))
    assert open_picture(svg('<rect width="40" height="20" fill="red"/>')).getpixel((9, 9)) == RED


def test_an_svg_that_takes_for_ever_is_stopped() -> None:
    clouds = '<filter id="f"><feTurbulence numOctaves="100000" baseFrequency="0.1"/></filter>'
    with pytest.raises(BadInput, match="seconds to draw"):
        draw_svg(svg(clouds + '<rect width="40" height="20" filter="url(#f)"/>'), 64, seconds=0.5)


def test_a_thumbnail_is_a_small_webp() -> None:
    contents = thumbnail(Image.new("RGB", (800, 400), "red"), 256)
    small = Image.open(io.BytesIO(contents))
    assert (small.format, small.size) == ("WEBP", (256, 128))
    assert Image.open(io.BytesIO(thumbnail(two_halves("RGB"), 256))).size == (40, 20)
