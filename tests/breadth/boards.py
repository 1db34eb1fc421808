"""Board games: sets of squares in 64 bits, searches, puzzles."""

from __future__ import annotations

import numpy as np

from breadth.cases import case

NOT_A = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H = np.uint64(0x7F7F7F7F7F7F7F7F)
DEBRUIJN = np.uint64(0x03F79D71B4CB0A89)
ONE = np.uint64(1)


def popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)



@case(lambda rng: (rng.integers(0, 2 ** 64, 9, dtype=np.uint64),))
def popcounts(boards):
    out = np.zeros(boards.shape, dtype=np.uint8)
    for i, b in enumerate(boards):
        out[i] = popcount(b)
    return out



def king_attacks(b):
    side = ((b << ONE) & NOT_A) | ((b >> ONE) & NOT_H)
    both = side | b
    return side | (both << np.uint64(8)) | (both >> np.uint64(8))



@case(lambda rng: (rng.integers(0, 64, 9),))
def knight_and_king(squares):
    out = np.empty((len(squares), 2), dtype=np.uint64)
    for i in range(len(squares)):
        b = ONE << np.uint64(squares[i])
        out[i, 0] = king_attacks(b)
        l1 = (b >> ONE) & NOT_H
        r1 = (b << ONE) & NOT_A
        h = l1 | r1
        out[i, 1] = (h << np.uint64(16)) | (h >> np.uint64(16))
    return out



@case(lambda rng: (rng.integers(0, 64, 9), rng.integers(0, 2 ** 64, 9, dtype=np.uint64)))
def rook_attacks(squares, occupied):
    out = np.zeros(len(squares), np.uint64)
    for i in range(len(squares)):
        sq = squares[i]
        occ = occupied[i]
        rank, file = sq // 8, sq % 8
        attacks = np.uint64(0)
        for dr, df in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            r, f = rank + dr, file + df
            while 0 <= r < 8 and 0 <= f < 8:
                bit = ONE << np.uint64(8 * r + f)
                attacks |= bit
                if occ & bit:
                    break
                r += dr
                f += df
        out[i] = attacks
    return out



@case(lambda rng: (rng.integers(0, 2 ** 64, 9, dtype=np.uint64),))
def scan_bits(boards):
    total = 0
    squares = np.full((len(boards), 4), -1, dtype=np.int8)
    for i in range(len(boards)):
        b = boards[i]
        k = 0
        while b:
            low = b & (~b + ONE)
            idx = (low * DEBRUIJN) >> np.uint64(58)
            if k < 4:
                squares[i, k] = np.int8(idx)
            total += int(idx)
            b &= b - ONE
            k += 1
    return squares, total



@case(lambda rng: (int(9) + 12345, 9))
def xorshift_keys(seed, n):
    state = np.uint64(seed)
    keys = np.empty(n, dtype=np.uint64)
    for i in range(n):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        keys[i] = state * np.uint64(2685821657736338717)
    return keys



@case(lambda rng: (rng.integers(0, 2, (9, 9)).astype(np.uint8), 5))
def life(board, steps):
    h, w = board.shape
    for _ in range(steps):
        new = np.zeros_like(board)
        for y in range(h):
            for x in range(w):
                c = np.uint8(0)
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        if dy or dx:
                            c += board[(y + dy) % h, (x + dx) % w]
                new[y, x] = 1 if c == 3 or (c == 2 and board[y, x]) else 0
        board = new
    return board



def _queens(n, row, cols, d1, d2):
    if row == n:
        return 1
    count = 0
    free = ((1 << n) - 1) & ~(cols | d1 | d2)
    while free:
        bit = free & -free
        free ^= bit
        count += _queens(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1)
    return count



@case(lambda rng: (min(5, 6) if 5 < 1000 else 9,))
def queens(n):
    return _queens(n, 0, 0, 0, 0)



def _fen(r, n):
    return ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",)



@case(lambda rng: _fen(rng, 1))
def parse_fen(fen):
    board = np.zeros((8, 8), dtype=np.int8)
    r, c = 0, 0
    for ch in fen:
        if ch == "/":
            r += 1
            c = 0
        elif ch in "12345678":
            c += ord(ch) - ord("0")
        else:
            low = ch in "pnbrqk"
            k = 0
            for name in "pnbrqk":
                k += 1
                if ch == name or ord(ch) + 32 == ord(name):
                    board[r, c] = -k if low else k
            c += 1
    return board

SUDOKU = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"


def _allowed(grid, r, c, v):
    for k in range(9):
        if grid[r, k] == v or grid[k, c] == v:
            return False
    br, bc = 3 * (r // 3), 3 * (c // 3)
    return not (grid[br : br + 3, bc : bc + 3] == v).any()



@case(lambda rng: (np.array([int(c) for c in SUDOKU]).reshape(9, 9),))
def sudoku(grid):
    empty = np.argwhere(grid == 0)
    k = 0
    steps = 0
    while 0 <= k < len(empty):
        r, c = empty[k]
        v = grid[r, c] + 1
        while v <= 9 and not _allowed(grid, r, c, v):
            v += 1
        steps += 1
        if v > 9:
            grid[r, c] = 0
            k -= 1
        else:
            grid[r, c] = v
            k += 1
    return k == len(empty), steps



@case(lambda rng: (rng.integers(0, 2, (6, 7)) * rng.choice([-1, 1], (6, 7)),))
def connect_four(board):
    rows, cols = board.shape
    for r in range(rows):
        for c in range(cols):
            p = board[r, c]
            if p == 0:
                continue
            for dr, dc in [(0, 1), (1, 0), (1, 1), (1, -1)]:
                er, ec = r + 3 * dr, c + 3 * dc
                if 0 <= er < rows and 0 <= ec < cols:
                    if p == board[r + dr, c + dc] and p == board[r + 2 * dr, c + 2 * dc] and p == board[er, ec]:
                        return p, (r, c), (dr, dc)
    return None
