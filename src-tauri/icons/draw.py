#!/usr/bin/env python3
"""Draws the icon, an oar over its wake, and writes every file that tauri.conf.json names.

Only the standard library. Run it from anywhere: python3 src-tauri/icons/draw.py
"""
import math
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
GROUND = (15, 24, 27)
GROUND_LOW = (18, 52, 50)
WOOD = (231, 234, 236)
BLADE = (79, 183, 165)
WAKE = (79, 183, 165)
SAMPLES = 3  # per axis


def mix(a, b, t):
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def rounded(x, y, cx, cy, half_w, half_h, radius):
    """Signed distance to a rounded rectangle; negative inside."""
    dx, dy = abs(x - cx) - half_w + radius, abs(y - cy) - half_h + radius
    return math.hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius


def at(x, y):
    """Colour and opacity at a point of the unit square, y downwards."""
    if rounded(x, y, 0.5, 0.5, 0.47, 0.47, 0.215) > 0:
        return (0, 0, 0, 0)
    colour = mix(GROUND, GROUND_LOW, y)
    # The wake: two arcs under the blade.
    for radius, width, strength in ((0.27, 0.013, 0.75), (0.37, 0.011, 0.45)):
        angle = math.atan2(y - 0.70, x - 0.30)
        if abs(math.hypot(x - 0.30, y - 0.70) - radius) < width and -0.45 < angle < 1.32 - radius * 1.3:
            colour = mix(colour, WAKE, strength)
    # The oar lies on the diagonal: u along it from the blade's tip to the handle, v across.
    u, v = (x - y) / math.sqrt(2), (x + y - 1) / math.sqrt(2)
    if rounded(u, v, 0.07, 0, 0.40, 0.021, 0.021) < 0:
        colour = WOOD
    if rounded(u, v, 0.42, 0, 0.075, 0.034, 0.034) < 0:
        colour = WOOD
    # The blade widens towards its tip.
    along = (u + 0.47) / 0.27
    if 0 <= along <= 1:
        half = 0.098 - 0.066 * along**1.6
        corner = 0.045
        if along * 0.27 < corner:
            half -= corner - math.sqrt(max(corner**2 - (corner - along * 0.27) ** 2, 0))
        if abs(v) < half:
            colour = BLADE if abs(v) > 0.012 or along > 0.94 else mix(BLADE, WOOD, 0.85)
    return (*colour, 255)


def draw(size):
    rows = []
    step = 1 / (size * SAMPLES)
    for row in range(size):
        line = bytearray()
        for column in range(size):
            r = g = b = a = 0.0
            for i in range(SAMPLES):
                for j in range(SAMPLES):
                    x = (column * SAMPLES + i + 0.5) * step
                    y = (row * SAMPLES + j + 0.5) * step
                    pr, pg, pb, pa = at(x, y)
                    r, g, b, a = r + pr * pa, g + pg * pa, b + pb * pa, a + pa
            n = SAMPLES * SAMPLES
            line += bytes(round(c / a) if a else 0 for c in (r, g, b)) + bytes([round(a / n)])
        rows.append(bytes(line))
    return rows


def png(rows):
    size = len(rows)

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    # Filter "up" suits the flat areas.
    packed, above = bytearray(), bytes(size * 4)
    for row in rows:
        packed += b"\x02" + bytes((x - y) & 255 for x, y in zip(row, above))
        above = row
    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(packed), 9)) + chunk(b"IEND", b"")


def main():
    images = {size: png(draw(size)) for size in (16, 32, 48, 64, 128, 256, 512)}
    for name, size in (("32x32", 32), ("128x128", 128), ("128x128@2x", 256), ("icon", 512)):
        (HERE / f"{name}.png").write_bytes(images[size])
    # ICO: a directory, then PNGs. Width and height 0 mean 256.
    sizes = (16, 32, 48, 64, 256)
    offset = 6 + 16 * len(sizes)
    head, body = struct.pack("<HHH", 0, 1, len(sizes)), b""
    for size in sizes:
        data = images[size]
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), offset + len(body))
        body += data
    (HERE / "icon.ico").write_bytes(head + body)
    # ICNS: typed chunks of PNG.
    chunks = b""
    for kind, size in ((b"icp4", 16), (b"icp5", 32), (b"ic07", 128), (b"ic08", 256), (b"ic09", 512)):
        chunks += kind + struct.pack(">I", len(images[size]) + 8) + images[size]
    (HERE / "icon.icns").write_bytes(b"icns" + struct.pack(">I", len(chunks) + 8) + chunks)


if __name__ == "__main__":
    main()
