"""Ed25519 verification (RFC 8032)."""
import functools
import hashlib

from .encoding import base64url, from_base64url, sha256

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def ed_add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def ed_times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = ed_add(result, point)
        point = ed_add(point, point)
        scalar >>= 1
    return result


def ed_x(y, sign):
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if x2 == 0:
        return None if sign else 0
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    if (x * x - x2) % P:
        return None
    return P - x if (x & 1) != sign else x


def ed_decode(data):
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y & ((1 << 255) - 1)
    x = ed_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def ed_encode(point):
    z = pow(point[2], P - 2, P)
    x, y = point[0] * z % P, point[1] * z % P
    return (y | ((x & 1) << 255)).to_bytes(32, 'little')


_base_y = 4 * pow(5, P - 2, P) % P
_base_x = ed_x(_base_y, 0)
BASE = (_base_x, _base_y, 1, _base_x * _base_y % P)


@functools.lru_cache(maxsize=4096)
def verify_ed25519(x, message, signature):
    raw = from_base64url(x) if isinstance(x, str) else None
    if raw is None or len(raw) != 32 or signature is None or len(signature) != 64:
        return False
    point = ed_decode(raw)
    s = int.from_bytes(signature[32:], 'little')
    if point is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + raw + message).digest(), 'little') % L
    negative = (P - point[0], point[1], 1, P - point[3])
    return ed_encode(ed_add(ed_times(s, BASE), ed_times(h, negative))) == signature[:32]


def thumbprint(x):
    return base64url(sha256(('{"crv":"Ed25519","kty":"OKP","x":"%s"}' % x).encode()))
