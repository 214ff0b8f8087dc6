"""Writes small images to the folder images, and what Pillow makes of them to images.hpp here.

    python -m venv venv && venv/bin/pip install pillow numpy
    venv/bin/python tests/golden/make_images.py
"""
from pathlib import Path

import numpy
import PIL
from PIL import Image

HERE = Path(__file__).parent
FOLDER = HERE / "images"
FOLDER.mkdir(exist_ok=True)
ROWS, COLUMNS = 13, 19
r, c, k = numpy.meshgrid(numpy.arange(ROWS), numpy.arange(COLUMNS), numpy.arange(3), indexing="ij")
pixels = (127.5 + 127.5 * numpy.sin(0.3 * r + 0.2 * c * (k + 1) + k)).astype(numpy.uint8)
colour = Image.fromarray(pixels)
alpha = Image.fromarray(numpy.dstack([pixels, 255 - pixels[:, :, :1]]))
files = {"colour.png": colour, "alpha.png": alpha, "grey.png": colour.convert("L"), "palette.png": colour.quantize(16),
         "colour.jpg": colour, "grey.jpg": colour.convert("L"), "progressive.jpg": colour, "cmyk.jpg": colour.convert("CMYK")}
deep = Image.fromarray(pixels[:, :, 0].astype(numpy.uint16) * 257)  # 16 bits, of which the upper and the lower 8 are equal
deep.save(FOLDER / "deep.png")
for name, image in files.items():
    options = {"quality": 90, "subsampling": 0, "progressive": name == "progressive.jpg"} if name.endswith("jpg") else {}
    image.save(FOLDER / name, **options)


lists = {}  # of bytes: their names. Some files hold the same pixels


def text(image):
    """Returns the name of a list of the image's bytes."""
    return lists.setdefault(tuple(int(x) for x in numpy.asarray(image).flatten()), f"bytes_{len(lists)}")


def covered(rows, columns):
    """The image scaled to cover rows x columns, and the middle of it, as by torchvision."""
    scaled = (ROWS * columns // COLUMNS, columns) if ROWS * columns > COLUMNS * rows else (rows, COLUMNS * rows // ROWS)
    image = colour.resize(scaled[::-1], Image.Resampling.BILINEAR)
    top, left = (int(round((n - m) / 2)) for n, m in zip(scaled, (rows, columns)))
    return image.crop((left, top, left + columns, top + rows))


rows = [f'    {{"{name}", {text(Image.open(FOLDER / name).convert("RGB"))}}},' for name in files if name != "cmyk.jpg"]
rows.append(f'    {{"deep.png", {text(numpy.repeat(pixels[:, :, :1], 3, 2))}}},')
sizes = [f"    {{{rows_}, {columns}, {text(colour.resize((columns, rows_), Image.Resampling.BILINEAR))}}},"
         for rows_, columns in ((13, 7), (5, 19), (4, 3), (29, 40), (1, 1), (13, 19))]
fits = [f"    {{{rows_}, {columns}, {text(covered(rows_, columns))}}}," for rows_, columns in ((8, 8), (7, 7), (20, 10), (5, 12))]
grey, line = text(colour.convert("L")), "\n"
(HERE / "images.hpp").write_text(f"""// Written by make_images.py with Pillow {PIL.__version__}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace golden {{

{line.join(f"inline const std::vector<std::uint8_t> {name}{{{', '.join(map(str, values))}}};" for values, name in lists.items())}

// The red, green and blue of each file in the folder images, of {ROWS} x {COLUMNS} pixels.
struct Decoded {{
  const char* file;
  const std::vector<std::uint8_t>& bytes;
}};
inline const Decoded decoded_images[] = {{
{line.join(rows)}
}};

// colour.png in other sizes.
struct Resized {{
  std::size_t rows, columns;
  const std::vector<std::uint8_t>& bytes;
}};
inline const Resized resized_images[] = {{
{line.join(sizes)}
}};

// colour.png, scaled to cover these sizes, and cropped.
inline const Resized fitted_images[] = {{
{line.join(fits)}
}};

inline const std::vector<std::uint8_t>& grey_of_colour = {grey};

}}  // namespace golden
""")
