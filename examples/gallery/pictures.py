"""Draw the gallery: `python -m examples.gallery.pictures` writes docs/images/*.png (it needs the extra `docs`).

Of a program it draws what `picture` says, of a notebook what its cells do."""

import importlib
import io
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from PIL import Image

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "docs" / "images"
PROGRAMS = ("heat", "galaxies", "poisson", "routes", "denoise", "american_put", "spectrogram", "dbscan")
NOTEBOOKS = ("ising", "lensing", "alignment", "predator_prey")
WIDTH, COLOURS = 480, 128


def of_program(name):
    module = importlib.import_module(f"examples.gallery.{name}")
    figure, axes = plt.subplots()
    axes.set(xticks=[], yticks=[])
    module.picture(axes, module.compute())
    return figure


def of_notebook(name):
    """Its code cells one after the other, each as a text of its own, so that kernels find their source."""
    import linecache

    names = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads((HERE / f"{name}.ipynb").read_text())["cells"]):
        if cell["cell_type"] == "code":
            text, file = "".join(cell["source"]) + "\n", f"<{name} {number}>"
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            exec(compile(text, file, "exec"), names)
    return plt.gcf()


def save(figure, name):
    """With few colours, so that a picture takes some tens of kilobytes."""
    figure.set_size_inches(4.8, 3.6)
    figure.tight_layout(pad=0.3)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=WIDTH / 4.8)
    plt.close(figure)
    OUT.mkdir(exist_ok=True)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(OUT / f"{name}.png", optimize=True)


if __name__ == "__main__":
    for name in PROGRAMS:
        save(of_program(name), name)
    for name in NOTEBOOKS:
        save(of_notebook(name), name)
    print(f"{sum(path.stat().st_size for path in OUT.glob('*.png')) // 1024} KiB in {OUT}")
