"""keccak-256."""
import functools

ROUNDS = []
_lfsr = 1
for _round in range(24):
    _constant = 0
    for _j in range(7):
        if _lfsr & 1:
            _constant |= 1 << ((1 << _j) - 1)
        _lfsr = (_lfsr << 1) ^ (0x171 if _lfsr & 0x80 else 0)
    ROUNDS.append(_constant)
MASK = (1 << 64) - 1


def rotl(value, count):
    return ((value << count) | (value >> (64 - count))) & MASK if count else value


def keccak_f(lanes):
    for constant in ROUNDS:
        c = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        d = [c[(x - 1) % 5] ^ rotl(c[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, lanes[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x][y] = lanes[x][y], rotl(current, (t + 1) * (t + 2) // 2 % 64)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & MASK)
        lanes[0][0] ^= constant
    return lanes


@functools.lru_cache(maxsize=4096)
def keccak256(data):
    rate = 136
    padded = data + b'\x01' + b'\x00' * (-(len(data) + 1) % rate)
    padded = padded[:-1] + bytes([padded[-1] | 0x80])
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), rate):
        for i in range(rate // 8):
            lanes[i % 5][i // 5] ^= int.from_bytes(padded[start + 8 * i:start + 8 * i + 8], 'little')
        lanes = keccak_f(lanes)
    return b''.join(lanes[i % 5][i // 5].to_bytes(8, 'little') for i in range(4))
