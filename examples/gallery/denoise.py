"""Images: a median filter takes out specks and keeps edges.

Each pixel sorts its own neighbourhood: a small local array for each iteration of a parallel loop."""

import numpy as np
import scipy.ndimage

import loopwright as lw


@lw.kernel
def median(image, out, radius):
    side = 2 * radius + 1
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            window = np.empty(side * side)
            for di in range(side):
                for dj in range(side):
                    y = min(max(i + di - radius, 0), image.shape[0] - 1)
                    x = min(max(j + dj - radius, 0), image.shape[1] - 1)
                    value = image[y, x]
                    k = di * side + dj
                    while k > 0 and window[k - 1] > value:
                        window[k] = window[k - 1]
                        k -= 1
                    window[k] = value
            out[i, j] = window[side * side // 2]


def photograph(size):
    """Circles and stripes, with one pixel in five white or black."""
    random = np.random.default_rng(5)
    y, x = np.mgrid[:size, :size] / size
    image = 0.3 + 0.3 * (np.sin(25.0 * x * (1.0 + y)) > 0.0)
    image[(x - 0.4) ** 2 + (y - 0.5) ** 2 < 0.05] = 0.9
    image[(x - 0.65) ** 2 + (y - 0.35) ** 2 < 0.03] = 0.15
    specks = random.random(image.shape)
    return np.where(specks < 0.1, 0.0, np.where(specks > 0.9, 1.0, image))


def compute(size=256):
    image = photograph(size)
    out = np.empty_like(image)
    median(image, out, 2)
    return image, out


def check(size=40):
    image, out = compute(size)
    np.testing.assert_array_equal(out, scipy.ndimage.median_filter(image, 5, mode="nearest"))


def picture(axes, result):
    half = result[0].shape[1] // 2
    axes.imshow(np.concatenate([result[0][:, :half], result[1][:, half:]], axis=1), cmap="gray")
    axes.axvline(half, color="#ff8f00", linewidth=1.0)


if __name__ == "__main__":
    check()
    image, out = compute()
    print(f"{np.mean(image != out):.1%} of the pixels were changed")
