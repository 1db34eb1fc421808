"""Text and sequences: checksums, distances, searches."""

from __future__ import annotations

import numpy as np

from breadth.cases import case



def _crc_table():
    t = np.zeros(256, np.uint32)
    for i in range(256):
        c = i
        for _ in range(8):
            c = (0xEDB88320 ^ (c >> 1)) if c & 1 else c >> 1
        t[i] = c
    return t

CRC = _crc_table()
COMPLEMENT = np.zeros(256, dtype=np.uint8)
for x, y in zip(b"ACGTacgt", b"TGCAtgca"):
    COMPLEMENT[x] = y
CODONS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"


def _bytes(r, n, k=4):
    return np.frombuffer(b"ACGT", np.uint8)[r.integers(0, k, n)]



@case(lambda rng: (rng.integers(0, 256, 9).astype(np.uint8),))
def crc32(data):
    crc = np.uint32(0xFFFFFFFF)
    for b in data:
        crc = CRC[(crc ^ b) & 0xFF] ^ (crc >> 8)
    return crc ^ np.uint32(0xFFFFFFFF)



def rotl(x, r):
    return (x << np.uint32(r)) | (x >> np.uint32(32 - r))



@case(lambda rng: (rng.integers(0, 2 ** 32, 9, dtype=np.uint32), 42))
def murmur3(words, seed):
    h = np.uint32(seed)
    for k in words:
        k = k * np.uint32(0xCC9E2D51)
        k = rotl(k, 15) * np.uint32(0x1B873593)
        h = rotl(h ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    h ^= np.uint32(4 * len(words))
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))



@case(lambda rng: ('kitten' * (9 // 6 + 1), 'sitting' + 'a' * (9 % 5)))
def levenshtein(a, b):
    if len(a) < len(b):
        a, b = b, a
    prev = np.arange(len(b) + 1)
    for i in range(len(a)):
        cur = np.empty(len(b) + 1, dtype=np.int64)
        cur[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost)
        prev = cur
    return prev[-1]



@case(lambda rng: (_bytes(rng, 9, 2), _bytes(rng, 3, 2)))
def kmp(text, pattern):
    m = len(pattern)
    fail = np.zeros(m, dtype=np.int32)
    k = 0
    for i in range(1, m):
        while k > 0 and pattern[k] != pattern[i]:
            k = fail[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        fail[i] = k
    hits = []
    k = 0
    for i in range(len(text)):
        while k > 0 and pattern[k] != text[i]:
            k = fail[k - 1]
        if pattern[k] == text[i]:
            k += 1
        if k == m:
            hits.append(i - m + 1)
            k = fail[k - 1]
    return hits



@case(lambda rng: (_bytes(rng, 9),))
def reverse_complement(seq):
    out = np.empty_like(seq)
    n = len(seq)
    for i in range(n):
        out[n - 1 - i] = COMPLEMENT[seq[i]]
    gc = ((seq == ord("G")) | (seq == ord("C"))).sum()
    return out, gc / n if n else 0.0



@case(lambda rng: (_bytes(rng, 9), 5, 3))
def minimizers(seq, k, w):
    mask = (np.uint64(1) << np.uint64(2 * k)) - np.uint64(1)
    code = np.uint64(0)
    hashes = []
    for i in range(len(seq)):
        c = seq[i]
        v = 0 if c == 65 else 1 if c == 67 else 2 if c == 71 else 3
        code = ((code << np.uint64(2)) | np.uint64(v)) & mask
        if i >= k - 1:
            h = code
            h = (~h + (h << np.uint64(21))) & mask
            h = h ^ (h >> np.uint64(4))
            hashes.append(h)
    out = []
    last = -1
    for i in range(len(hashes) - w + 1):
        best = i
        for j in range(i + 1, i + w):
            if hashes[j] < hashes[best]:
                best = j
        if best != last:
            out.append((best, int(hashes[best])))
            last = best
    return out



@case(lambda rng: (_bytes(rng, 9),))
def translate(seq):
    protein = np.zeros(len(seq) // 3, dtype=np.uint8)
    for i in range(0, len(seq) - 2, 3):
        idx = 0
        for j in range(3):
            b = seq[i + j]
            if b == ord("T"):
                d = 0
            elif b == ord("C"):
                d = 1
            elif b == ord("A"):
                d = 2
            elif b == ord("G"):
                d = 3
            else:
                raise ValueError("invalid base")
            idx = idx * 4 + d
        protein[i // 3] = ord(CODONS[idx])
    return protein



@case(lambda rng: ('-12.5e1' if 9 % 2 else '  42', 9))
def parse_number(s, base):
    i = 0
    while i < len(s) and s[i] == " ":
        i += 1
    sign = 1
    if s[i] == "-":
        sign = -1
        i += 1
    value = 0.0
    scale = 0.0
    while i < len(s):
        c = ord(s[i]) - 48
        if s[i] == ".":
            scale = 1.0
        elif 0 <= c <= 9:
            value = 10 * value + c
            scale *= 10.0
        else:
            break
        i += 1
    if scale > 0:
        value /= scale
    return sign * value, i



@case(lambda rng: (_bytes(rng, 9), _bytes(rng, 9)))
def gotoh(a, b, match=2, mismatch=-1, open_=-3, extend=-1):
    n, m = len(a), len(b)
    NEG = -10**9
    M = np.full((n + 1, m + 1), NEG)
    X = np.full((n + 1, m + 1), NEG)
    Y = np.full((n + 1, m + 1), NEG)
    M[0, 0] = 0
    for i in range(1, n + 1):
        X[i, 0] = open_ + (i - 1) * extend
    for j in range(1, m + 1):
        Y[0, j] = open_ + (j - 1) * extend
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            M[i, j] = s + max(M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1])
            X[i, j] = max(M[i - 1, j] + open_, X[i - 1, j] + extend)
            Y[i, j] = max(M[i, j - 1] + open_, Y[i, j - 1] + extend)
    return max(M[n, m], X[n, m], Y[n, m])
