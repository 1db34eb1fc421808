"""Signals: which frequencies a chirp has when, by a windowed Fourier transform written as loops.

Complex numbers, three loops around one another, and sums that are combined."""

import numpy as np

import loopwright as lw


@lw.kernel
def spectrogram(signal, width, hop, power):
    window = np.hanning(width)
    for frame in range(power.shape[1]):
        for f in range(power.shape[0]):
            total = 0j
            for t in range(width):
                total += window[t] * signal[frame * hop + t] * np.exp(-2j * np.pi * f * t / width)
            power[f, frame] = abs(total) ** 2


def chirp(size):
    """Two tones, one of which rises and one of which warbles, in noise."""
    t = np.arange(size) / size
    rising = np.sin(2.0 * np.pi * size * (0.05 * t + 0.14 * t**2))
    warbling = 0.5 * np.sin(2.0 * np.pi * size * 0.12 * t + 120.0 * np.sin(12.0 * t))
    return rising + warbling + 0.2 * np.random.default_rng(2).standard_normal(size)


def compute(size=16384, width=256):
    signal = chirp(size)
    hop = width // 4
    power = np.empty((width // 2 + 1, (size - width) // hop + 1))
    spectrogram(signal, width, hop, power)
    return power


def check(size=400, width=64):
    frames = np.lib.stride_tricks.sliding_window_view(chirp(size), width)[:: width // 4]
    expected = np.abs(np.fft.rfft(frames * np.hanning(width), axis=1)).T ** 2
    np.testing.assert_allclose(compute(size, width), expected, rtol=1e-8, atol=1e-8)


def picture(axes, result):
    axes.imshow(10.0 * np.log10(result + 1e-3), origin="lower", aspect="auto", cmap="magma", vmin=-10)
    axes.set(xlabel="time", ylabel="frequency")


if __name__ == "__main__":
    check()
    print(f"the loudest frequency rises from {np.argmax(compute(), axis=0)[[0, -1]]}")
