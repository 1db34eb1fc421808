"""Textbook algorithms: sorts, heaps, searches, dynamic programming, small machines."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


@case(lambda rng: (rng.integers(0, 3, 9).astype(np.int8), rng.integers(0, 3, 9).astype(np.int8)))
def edit_distance(a, b):
    n, m = (len(a), len(b))
    t = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n + 1):
        t[i, 0] = i
    for j in range(m + 1):
        t[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1]
            else:
                t[i, j] = 1 + min(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1])
    return t[n, m]


@case(lambda rng: (rng.integers(0, 3, 9).astype(np.int8), rng.integers(0, 3, 9).astype(np.int8)))
def common_subsequence(a, b):
    n, m = (len(a), len(b))
    t = np.zeros((n + 1, m + 1), np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            elif t[i - 1, j] >= t[i, j - 1]:
                t[i, j] = t[i - 1, j]
            else:
                t[i, j] = t[i, j - 1]
    return t[n, m]


@case(lambda rng: (rng.integers(0, 3, 9).astype(np.int8),))
def palindrome(s):
    n = len(s)
    t = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        t[i, i] = 1
        for j in range(i + 1, n):
            if s[i] == s[j]:
                t[i, j] = 2 if j == i + 1 else t[i + 1, j - 1] + 2
            else:
                t[i, j] = max(t[i + 1, j], t[i, j - 1])
    return t[0, n - 1]


@case(lambda rng: (rng.random(9) < 0.6,))
def streaks(win):
    run = np.zeros(len(win) + 1, np.int64)
    for i in range(len(win)):
        if win[i]:
            run[i + 1] = run[i] + 1
        else:
            run[i + 1] = 0
    return run.max()


@case(lambda rng: (rng.random(9),))
def shell_sort(a):
    n = len(a)
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            x = a[i]
            j = i
            while j >= gap and a[j - gap] > x:
                a[j] = a[j - gap]
                j -= gap
            a[j] = x
        gap //= 2


@case(lambda rng: (rng.random(9),))
def heap_sort(x):
    a = x.copy()
    n = len(a)
    for start in range(n // 2 - 1, -1, -1):
        root = start
        while True:
            child = 2 * root + 1
            if child >= n:
                break
            if child + 1 < n and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            t = a[root]
            a[root] = a[child]
            a[child] = t
            root = child
    for end in range(n - 1, 0, -1):
        t = a[0]
        a[0] = a[end]
        a[end] = t
        root = 0
        while True:
            child = 2 * root + 1
            if child >= end:
                break
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            t = a[root]
            a[root] = a[child]
            a[child] = t
            root = child
    return a


@case(lambda rng: (rng.random(9),))
def event_queue(times):
    n = len(times)
    heap = np.empty(n)
    size = 0
    for t in times:
        k = size
        heap[k] = t
        size += 1
        while k > 0 and heap[(k - 1) // 2] > heap[k]:
            p = (k - 1) // 2
            heap[k], heap[p] = (heap[p], heap[k])
            k = p
    out = np.empty(n)
    m = 0
    while size > 0:
        out[m] = heap[0]
        m += 1
        size -= 1
        heap[0] = heap[size]
        k = 0
        while True:
            c = 2 * k + 1
            if c >= size:
                break
            if c + 1 < size and heap[c + 1] < heap[c]:
                c += 1
            if heap[k] <= heap[c]:
                break
            heap[k], heap[c] = (heap[c], heap[k])
            k = c
    return out


@case(lambda rng: (rng.integers(0, 2, 30).astype(np.uint8), np.array([0, 1], dtype=np.uint8)))
def horspool(text, pat):
    m = len(pat)
    n = len(text)
    skip = np.full(256, m, np.int64)
    for i in range(m - 1):
        skip[pat[i]] = m - 1 - i
    hits = 0
    i = 0
    while i <= n - m:
        j = m - 1
        while j >= 0 and text[i + j] == pat[j]:
            j -= 1
        if j < 0:
            hits += 1
        i += skip[text[i + m - 1]]
    return hits


@case(lambda rng: (rng.integers(0, 3, 9), rng.integers(0, 10, 9)))
def postfix(kind, value):
    stack = np.zeros(2000, np.int64)
    top = 0
    for i in range(len(kind)):
        if kind[i] == 0 or top < 2:
            stack[top] = value[i]
            top += 1
        elif kind[i] == 1:
            stack[top - 2] = stack[top - 2] + stack[top - 1]
            top -= 1
        else:
            stack[top - 2] = stack[top - 2] * stack[top - 1] % 1000003
            top -= 1
    return stack[:top].sum()


@case(lambda rng: (rng.integers(0, 5, 9), rng.integers(0, 5, 9), np.zeros((5, 5), np.int64), 4, 4))
def walkers(x, y, grid, steps, seed):
    n = grid.shape[0]
    st = seed
    for t in range(steps):
        for a in range(len(x)):
            st = (st * 1103515245 + 12345) % 2147483648
            d = st >> 16 & 3
            if d == 0:
                x[a] = (x[a] + 1) % n
            elif d == 1:
                x[a] = (x[a] - 1) % n
            elif d == 2:
                y[a] = (y[a] + 1) % n
            else:
                y[a] = (y[a] - 1) % n
            grid[x[a], y[a]] += 1


@case(lambda rng: (rng.random(9), 3))
def sliding_max(x, w):
    n = len(x)
    dq = np.empty(n, np.int64)
    head = 0
    tail = 0
    out = np.empty(n - w + 1)
    for i in range(n):
        while tail > head and x[dq[tail - 1]] <= x[i]:
            tail -= 1
        dq[tail] = i
        tail += 1
        if dq[head] <= i - w:
            head += 1
        if i >= w - 1:
            out[i - w + 1] = x[dq[head]]
    return out


@case(lambda rng: (1, 50))
def shift_register(seed, n):
    s = seed
    ones = 0
    for i in range(n):
        s = s >> 1 ^ 46080 if s & 1 else s >> 1
        ones += s & 1
    return ones


@case(lambda rng: (np.sort(rng.random(9)), rng.random(5)))
def places(a, q):
    t = 0
    for x in q:
        lo = 0
        hi = len(a)
        while lo < hi:
            m = (lo + hi) // 2
            hi = m if a[m] >= x else hi
            lo = m + 1 if a[m] < x else lo
        t += lo
    return t


@case(lambda rng: (5,))
def queens_by_stack(n):
    full = (1 << n) - 1
    cols = np.zeros(n + 1, np.int64)
    left = np.zeros(n + 1, np.int64)
    right = np.zeros(n + 1, np.int64)
    free = np.zeros(n + 1, np.int64)
    depth = 0
    free[0] = full
    count = 0
    while depth >= 0:
        if free[depth] == 0:
            depth -= 1
            continue
        bit = free[depth] & -free[depth]
        free[depth] ^= bit
        if depth == n - 1:
            count += 1
            continue
        cols[depth + 1] = cols[depth] | bit
        left[depth + 1] = (left[depth] | bit) << 1
        right[depth + 1] = (right[depth] | bit) >> 1
        depth += 1
        free[depth] = full & ~(cols[depth] | left[depth] | right[depth])
    return count
