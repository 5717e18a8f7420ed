"""secp256k1 recovery, addresses and EIP-712."""
import functools

from .encoding import Invalid, is_text, utf8
from .keccak import keccak256

FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
             0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def ec_double(p):
    x, y, z = p
    if y == 0:
        return 0, 1, 0
    s = 4 * x * y * y % FIELD
    m = 3 * x * x % FIELD
    nx = (m * m - 2 * s) % FIELD
    return nx, (m * (s - nx) - 8 * y**4) % FIELD, 2 * y * z % FIELD


def ec_add(p, q):
    if p[2] == 0:
        return q
    if q[2] == 0:
        return p
    z1, z2 = p[2] * p[2] % FIELD, q[2] * q[2] % FIELD
    u1, u2 = p[0] * z2 % FIELD, q[0] * z1 % FIELD
    s1, s2 = p[1] * z2 * q[2] % FIELD, q[1] * z1 * p[2] % FIELD
    if u1 == u2:
        return ec_double(p) if s1 == s2 else (0, 1, 0)
    h, r = (u2 - u1) % FIELD, (s2 - s1) % FIELD
    h2 = h * h % FIELD
    h3 = h * h2 % FIELD
    nx = (r * r - h3 - 2 * u1 * h2) % FIELD
    return nx, (r * (u1 * h2 - nx) - s1 * h3) % FIELD, h * p[2] * q[2] % FIELD


def ec_times(scalar, point):
    result = (0, 1, 0)
    for bit in bin(scalar)[2:]:
        result = ec_double(result)
        if bit == '1':
            result = ec_add(result, point)
    return result


@functools.lru_cache(maxsize=4096)
def recover(digest, r, s, v):
    """The address that signed, in checksum form, or None."""
    if not (0 < r < ORDER and 0 < s < ORDER and v in (27, 28)):
        return None
    y2 = (pow(r, 3, FIELD) + 7) % FIELD
    y = pow(y2, (FIELD + 1) // 4, FIELD)
    if y * y % FIELD != y2:
        return None
    if (y & 1) != v - 27:
        y = FIELD - y
    inverse = pow(r, ORDER - 2, ORDER)
    z = int.from_bytes(digest, 'big')
    point = ec_add(ec_times(s * inverse % ORDER, (r, y, 1)), ec_times(-z * inverse % ORDER, GENERATOR + (1,)))
    if point[2] == 0:
        return None
    zi = pow(point[2], FIELD - 2, FIELD)
    x, y = point[0] * zi * zi % FIELD, point[1] * zi**3 % FIELD
    return checksum(keccak256(x.to_bytes(32, 'big') + y.to_bytes(32, 'big'))[12:])


def checksum(data):
    text = data.hex()
    digest = keccak256(text.encode()).hex()
    return '0x' + ''.join(c.upper() if int(digest[i], 16) >= 8 else c for i, c in enumerate(text))


def is_address(text):
    """In small letters, or with a right checksum."""
    if not is_text(text, r'0x[0-9a-fA-F]{40}'):
        return False
    return text == text.lower() or text == checksum(bytes.fromhex(text[2:]))


def word(value):
    return int(value).to_bytes(32, 'big')


def address_word(text):
    if not is_address(text):
        raise Invalid('not an address')
    return b'\x00' * 12 + bytes.fromhex(text[2:])


def hex_bytes(text, length=None):
    if not is_text(text, r'0x(?:[0-9a-f]{2})*'):
        raise Invalid('not hex in small letters')
    data = bytes.fromhex(text[2:])
    if length is not None and len(data) != length:
        raise Invalid('not %d bytes' % length)
    return data


def encode_field(kind, value):
    if kind == 'string':
        return keccak256(utf8(value))
    if kind == 'bytes':
        return keccak256(value)
    if kind == 'address':
        return address_word(value)
    if kind == 'bytes32':
        return value
    if kind == 'bool':
        return word(1 if value else 0)
    bits = int(kind[4:])
    if not 0 <= value < 2**bits:
        raise Invalid('out of range')
    return word(value)


def struct_hash(name, fields):
    kind = name + '(' + ','.join('%s %s' % (t, n) for t, n, _ in fields) + ')'
    return keccak256(keccak256(kind.encode()) + b''.join(encode_field(t, v) for t, _, v in fields))


def typed_digest(domain, name, fields):
    return keccak256(b'\x19\x01' + struct_hash('EIP712Domain', domain) + struct_hash(name, fields))
