# %% [markdown]
# # A kernel for another machine
#
# A classifier of scanned digits (scikit-learn's `digits`) is trained here, and runs on a computer like
# a Raspberry Pi: with an AArch64 processor, without Python, and without xtensor. `xt.export` compiles
# the function for that processor, and writes a C library with a header. Here the emulator
# `qemu-aarch64` stands for the other machine.
#
# The C compiler and the emulator are Debian's packages gcc-aarch64-linux-gnu and qemu-user. Without
# them, the program says so, and draws what this machine finds.
#
# Run with `python examples/raspberry.py`; writes `out/raspberry.png`.

# %%
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xtensor as xt
from sklearn.datasets import load_digits
from tqdm import tqdm

SHORT = "GALLERY_SHORT" in os.environ  # fewer steps of the fit
STEPS = 15 if SHORT else 60
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"

# %% [markdown]
# ## Fit
#
# The scores of the digits are linear in the pixels. The penalty keeps the weights small.

# %%
digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
train, test = order[:1400], order[1400:]
images = (digits.data / 16.0).astype("f4")
x, y = xt.array(images[train], ("sample", "pixel")), xt.array(digits.target[train], "sample")


def scores(p, image):
    """image(pixel, ..) -> (digit, ..)"""
    return xt.dot(image, p["w"], dim="pixel") + p["b"]


def loss(p):
    xt.debug.callback(bar.update)
    return xt.mean(xt.nn.cross_entropy(scores(p, x), y, dim="digit")) + 1e-3 * xt.sum(p["w"] ** 2)


start = {"w": xt.zeros(pixel=64, digit=10, dtype="f4"), "b": xt.zeros(digit=10, dtype="f4")}
with tqdm(desc="fitting", total=STEPS, unit=" values") as bar:  # most steps need one value of the loss
    model = xt.optim.lbfgs(loss, start, max_steps=STEPS).parameters

# %% [markdown]
# ## Ship
#
# The weights go into the library as constants. Its header declares the function `digit_classify`.


# %%
def classify(image):
    """The digit that the image shows, and its probability."""
    probability = xt.nn.softmax(scores(model, image), "digit")
    return xt.argmax(probability, "digit"), xt.max(probability, "digit")


bundle = xt.export(classify, args=(xt.spec(pixel=64, dtype="f4"),), name="digit", targets="cpu:aarch64-linux-gnu")
MAIN = r"""
#include "digit.h"
#include <stdio.h>

int main(void) {
  float pixels[64], probability;
  int64_t digit;
  while (fread(pixels, sizeof pixels, 1, stdin) == 1) {
    digit_classify_image image = {pixels, 64};
    digit_classify_result0 first = {&digit};
    digit_classify_result1 second = {&probability};
    if (digit_classify(&image, &first, &second, 0) != XT_OK)
      return 1;
    printf("%d %.6f\n", (int)digit, probability);
  }
  return 0;
}
"""


def on_the_other_machine(pictures):
    """What the program for AArch64 prints: a digit and a probability for each picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = bundle.extract(Path(name) / "digit")
        source, program = Path(name) / "main.c", Path(name) / "main"
        source.write_text(MAIN)
        library = folder / bundle.manifest.targets[0].archive
        subprocess.run([COMPILER, f"-I{folder}", source, library, "-lm", "-o", program], check=True)
        command = [EMULATOR, "-L", "/usr/aarch64-linux-gnu", program]
        printed = subprocess.run(command, input=pictures.tobytes(), capture_output=True, check=True).stdout
    return np.array([line.split() for line in printed.decode().splitlines()], "f8").T


# %% [markdown]
# ## Compare
#
# Both machines find the same digits, with probabilities that differ by rounding.

# %%
here = [r.values for r in xt.jit(xt.vectorize(classify, "sample"))(xt.array(images[test], ("sample", "pixel")))]
missing = [tool for tool in (COMPILER, EMULATOR) if not shutil.which(tool)]
there = None
if missing:
    print(f"nothing runs on the other machine: {' and '.join(missing)} not installed (packages "
          "gcc-aarch64-linux-gnu and qemu-user)")  # fmt: skip
else:
    there = on_the_other_machine(images[test])
    apart = np.abs(there[1] - here[1]).max()
    print(f"same digits for {np.mean(there[0] == here[0]):.1%} of the images; probabilities differ by {apart:.0e}")
digit, probability = here if there is None else there
accuracy = np.mean(digit == digits.target[test])
print(f"accuracy on images that were not used for the fit: {accuracy:.1%}")

# %% [markdown]
# ## Picture

# %%
figure, grid = plt.subplots(3, 8, figsize=(10, 4.6), layout="constrained")
for axes, i in zip(grid.flat, np.argsort(probability), strict=False):  # those that it is least sure of
    axes.imshow(images[test][i].reshape(8, 8), cmap="Greys")
    right = digit[i] == digits.target[test][i]
    axes.set_title(f"{digit[i]:.0f}  ({probability[i]:.0%})", color="black" if right else "red", fontsize=10)
    axes.axis("off")
machine = "this machine" if there is None else "AArch64"
figure.suptitle(f"the images that the classifier is least sure of, on {machine}; errors in red")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/raspberry.png", dpi=100)
