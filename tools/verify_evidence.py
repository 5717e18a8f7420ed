#!/usr/bin/env python3
"""Verifies evidence files of Assay offline. Written from docs/evidence-format.md; needs Python 3.9 and nothing else.

    python3 verify_evidence.py answer.json
    python3 verify_evidence.py citation.json --trust-wallet 0x... --policy witnesses=1of1,key-valid --witness <vkey>

Exit codes: 0 it verifies, 5 it does not, 2 wrong use. `--json` prints {"ok", "checks": [{"name", "status", "detail"}]}.
"""
import argparse
import base64
import binascii
import calendar
import functools
import hashlib
import json
import math
import re
import sys
import time
from urllib.parse import parse_qsl, urlsplit

# ---------------------------------------------------------------- numbers, texts and JSON as the format has them


class Invalid(Exception):
    """What cannot be read does not verify."""


def as_number(text):
    value = float(text)
    if math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def refuse_constant(_):
    raise ValueError('not JSON')


def load_json(text):
    return json.loads(text, parse_int=as_number, parse_float=as_number, parse_constant=refuse_constant)


def utf8(text):
    return re.sub('[\ud800-\udfff]', '\ufffd', text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')).encode()


def number_text(value):
    """As ECMAScript writes a number."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise Invalid('not a finite number')
    mantissa, _, exponent = ('%r' % abs(value)).partition('e')
    whole, _, fraction = mantissa.partition('.')
    fraction = '' if fraction == '0' else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip('0')
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip('0') or '0'
    count = len(digits)
    sign = '-' if value < 0 else ''
    if count <= point <= 21:
        return sign + digits + '0' * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + '.' + digits[point:]
    if -6 < point <= 0:
        return sign + '0.' + '0' * -point + digits
    power = point - 1
    head = digits if count == 1 else digits[0] + '.' + digits[1:]
    return '%s%se%s%d' % (sign, head, '+' if power >= 0 else '-', abs(power))


def quoted(text):
    text = json.dumps(text, ensure_ascii=False)
    joined = text.encode('utf-16-be', 'surrogatepass').decode('utf-16-be', 'surrogatepass')
    return ''.join('\\u%04x' % ord(c) if 0xD800 <= ord(c) <= 0xDFFF else c for c in joined)


def canonical(value):
    """RFC 8785."""
    if value is None or value is True or value is False:
        return {None: 'null', True: 'true', False: 'false'}[value]
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return '[' + ','.join(canonical(item) for item in value) + ']'
    names = sorted(value, key=lambda name: name.encode('utf-16-be', 'surrogatepass'))
    return '{' + ','.join(quoted(name) + ':' + canonical(value[name]) for name in names) + '}'


def is_int(value):
    return type(value) is int and abs(value) < 2**53


def is_text(value, pattern=None):
    return isinstance(value, str) and (pattern is None or re.fullmatch(pattern, value) is not None)


def text_of(value):
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return 'true' if value else 'false'
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def from_base64(text):
    """None for anything but base64 with no spare bits; padding may be absent."""
    if not is_text(text, r'[A-Za-z0-9+/]*={0,2}'):
        return None
    if '=' in text and len(text) % 4 != 0:
        return None
    bare = text.rstrip('=')
    if len(bare) % 4 == 1:
        return None
    try:
        data = base64.b64decode(bare + '=' * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode().rstrip('=') == bare else None


def from_base64url(text):
    if not is_text(text, r'[A-Za-z0-9_-]*'):
        return None
    return from_base64(text.replace('-', '+').replace('_', '/'))


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


def b64(data):
    return base64.b64encode(data).decode()


def sha256(data):
    return hashlib.sha256(data).digest()


def json_object(data):
    try:
        value = load_json(data.decode('utf-8')) if data is not None else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def seconds_of(text):
    match = re.fullmatch(r'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z', text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        return calendar.timegm(time.strptime(match.group(1), '%Y-%m-%dT%H:%M:%S'))
    except ValueError:
        return None


def time_text(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(seconds))


# ---------------------------------------------------------------- keccak-256

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


# ---------------------------------------------------------------- Ed25519 (RFC 8032)

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


# ---------------------------------------------------------------- secp256k1, addresses, EIP-712

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


# ---------------------------------------------------------------- the log: RFC 6962 and C2SP notes


def leaf_hash(entry):
    return sha256(b'\x00' + entry)


def node_hash(left, right):
    return sha256(b'\x01' + left + right)


def verify_inclusion(leaf, index, size, path, root):
    if not (is_int(index) and 0 <= index < size):
        return False
    at, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0 or len(sibling) != 32:
            return False
        if at % 2 == 1 or at == last:
            node = node_hash(sibling, node)
            while at % 2 == 0 and at != 0:
                at, last = at // 2, last // 2
        else:
            node = node_hash(node, sibling)
        at, last = at // 2, last // 2
    return last == 0 and node == root


def verify_consistency(old_size, old_root, size, root, proof):
    if not 1 <= old_size <= size:
        return False
    if old_size == size:
        return not proof and old_root == root
    at, last = old_size - 1, size - 1
    while at % 2 == 1:
        at, last = at // 2, last // 2
    proof = [old_root] + proof if at == 0 else proof
    if not proof or any(len(one) != 32 for one in proof):
        return False
    old = grown = proof[0]
    for sibling in proof[1:]:
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            old, grown = node_hash(sibling, old), node_hash(sibling, grown)
            while at % 2 == 0 and at != 0:
                at, last = at // 2, last // 2
        else:
            grown = node_hash(grown, sibling)
        at, last = at // 2, last // 2
    return last == 0 and old == old_root and grown == root


def parse_checkpoint(note):
    if not isinstance(note, str) or len(note) > 1_000_000 or not note.endswith('\n') or '\n\n' not in note:
        return None
    if re.search('[\x00-\x09\x0b-\x1f\ufffd]', note):
        return None
    split = note.rindex('\n\n')
    text, tail = note[:split + 1], note[split + 2:-1]
    lines = (text.split('\n') + ['', ''])[:3]
    root = from_base64(lines[2])
    if not lines[0] or not is_text(lines[1], r'0|[1-9][0-9]{0,15}') or int(lines[1]) >= 2**53 or root is None or len(root) != 32:
        return None
    if tail.count('\n') >= 100:
        return None
    signatures = []
    for line in tail.split('\n'):
        match = re.fullmatch(r'\u2014 ([^\s+]{1,255}) ([A-Za-z0-9+/]+={0,2})', line)
        data = from_base64(match.group(2)) if match else None
        if data is None or len(data) < 5:
            return None
        signatures.append((match.group(1), data[:4].hex(), data[4:]))
    return {'text': text, 'origin': lines[0], 'size': int(lines[1]), 'root': root, 'signatures': signatures}


def parse_note_key(vkey):
    match = re.fullmatch(r'([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)', vkey) if isinstance(vkey, str) else None
    material = from_base64(match.group(3)) if match else None
    if material is None or len(material) != 33:
        return None
    name, key_id = match.group(1), match.group(2)
    if sha256(utf8(name + '\n') + material)[:4].hex() != key_id:
        return None
    return {'name': name, 'id': key_id, 'type': material[0], 'x': base64url(material[1:])}


def line_of(head, key):
    return next((s for name, key_id, s in head['signatures'] if name == key['name'] and key_id == key['id']), None)


def is_signed_by_log(head, key):
    lines = [s for name, key_id, s in head['signatures'] if name == key['name'] and key_id == key['id']]
    return key['type'] == 1 and len(lines) > 0 and all(verify_ed25519(key['x'], utf8(head['text']), s) for s in lines)


def cosigned_at(head, key):
    line = line_of(head, key)
    if key['type'] != 4 or line is None or len(line) != 72:
        return None
    seconds = int.from_bytes(line[:8], 'big')
    message = utf8('cosignature/v1\ntime %d\n%s' % (seconds, head['text']))
    return seconds if verify_ed25519(key['x'], message, line[8:]) else None


# ---------------------------------------------------------------- keys and what is said about them

ZERO_WALLET = '0x' + '00' * 20
STATEMENT_TEXTS = ('action', 'purpose', 'key_id', 'public_key', 'node', 'api', 'origin', 'wallet', 'predecessor_key_id')
STATEMENT_NUMBERS = ('not_before', 'not_after', 'tree_size', 'predecessor_until', 'chain_id')


def read_statements(listed):
    return [one for one in (listed[:256] if isinstance(listed, list) else []) if is_statement(one)]


def is_statement(one):
    return (isinstance(one, dict) and all(is_text(one.get(name)) for name in STATEMENT_TEXTS)
            and all(is_int(one.get(name)) and one[name] >= 0 for name in STATEMENT_NUMBERS)
            and all(name in one and (one[name] is None or is_text(one[name]))
                    for name in ('wallet_signature', 'predecessor_signature'))
            and one['action'] in ('add', 'rotate', 'revoke') and one['purpose'] in ('response', 'log') and is_text(one['wallet'], r'0x[0-9a-f]{40}')
            and is_text(one['public_key'], r'[A-Za-z0-9_-]{43}') and thumbprint(one['public_key']) == one['key_id'])


def statement_digest(one):
    domain = [('string', 'name', 'Assay'), ('string', 'version', '1'), ('uint256', 'chainId', one['chain_id']),
              ('bytes32', 'salt', keccak256(utf8(one['node'])))]
    return typed_digest(domain, 'KeyStatement', [
        ('string', 'action', one['action']), ('string', 'purpose', one['purpose']), ('string', 'keyId', one['key_id']),
        ('string', 'publicKey', one['public_key']), ('uint64', 'notBefore', one['not_before']),
        ('uint64', 'notAfter', one['not_after']), ('string', 'node', one['node']), ('string', 'api', one['api']),
        ('string', 'origin', one['origin']),
        ('uint64', 'treeSize', one['tree_size']), ('address', 'operator', one['wallet']),
        ('string', 'predecessor', one['predecessor_key_id']),
        ('uint64', 'predecessorUntil', one['predecessor_until'])])


def signed_by_wallet(one):
    match = re.fullmatch(r'0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)', one['wallet_signature'] or '')
    if match is None or one['wallet'] == ZERO_WALLET:
        return False
    r, s, v = (int(part, 16) for part in match.groups())
    if s > ORDER // 2:
        return False
    signer = recover(statement_digest(one), r, s, v)
    return signer is not None and signer.lower() == one['wallet']


def signed_by_predecessor(one, x):
    signature = from_base64url(one['predecessor_signature'] or '')
    return verify_ed25519(x, ('assay key statement 0x' + statement_digest(one).hex()).encode(), signature)


def earlier(a, b):
    return min(a, b) if a is not None and b is not None else (b if a is None else a)


def new_key(key_id, x, purpose, **more):
    return dict({'id': key_id, 'x': x, 'purpose': purpose, 'from': 0, 'until': None, 'revoked': None,
                 'origin': None, 'size': None}, **more)


def follow_keys(statements, anchors, wallets, named, homes):
    """Every key that what is trusted leads to, by id."""
    revoked, keys, accepted, node = {}, {}, set(), None
    wallets = {wallet.lower() for wallet in wallets}
    for one in statements:
        if one['action'] == 'revoke':
            revoked[one['key_id']] = earlier(revoked.get(one['key_id']), one['not_after'])
    by_wallet = [signed_by_wallet(one) for one in statements]

    def add(key_id, x, purpose, **more):
        key = dict(keys.get(key_id) or new_key(key_id, x, purpose), x=x, purpose=purpose, **more)
        key['revoked'] = earlier(earlier((keys.get(key_id) or key)['revoked'], more.get('revoked')), revoked.get(key_id))
        keys[key_id] = key

    for key in anchors:
        add(key['id'], key['x'], key['purpose'], **{n: key[n] for n in ('from', 'until', 'revoked', 'origin', 'size')})

    def vouched(place, one):
        if node is not None and one['node'] != node:
            return False
        # A wallet may run several nodes: it names keys for one at a time.
        own = all(home in (one['node'], one['api']) for home in homes)
        if own and by_wallet[place] and one['wallet'] in wallets:
            return True
        old = keys.get(one['predecessor_key_id'])
        if old is None:
            return False
        if one['action'] == 'rotate':
            if old['purpose'] != one['purpose']:
                return False
        elif not (old['purpose'] == 'response' and one['purpose'] == 'log'):
            return False
        end = earlier(old['until'], old['revoked'])
        if end is not None and one['not_before'] > end:
            return False
        return signed_by_predecessor(one, old['x'])

    found = True
    while found:
        found = False
        for place, one in enumerate(statements):
            if place in accepted or not vouched(place, one):
                continue
            accepted.add(place)
            found = True
            node = one['node'] if node is None else node
            if one['wallet'] != ZERO_WALLET:
                wallets.add(one['wallet'])
            if one['action'] == 'revoke':
                continue
            is_log = one['purpose'] == 'log'
            where = {'origin': one['origin'], 'size': one['tree_size']} if is_log else {}
            add(one['key_id'], one['public_key'], one['purpose'], **{'from': one['not_before'], **where})
            if one['action'] != 'rotate':
                continue
            old = keys.get(one['predecessor_key_id'])
            x = old['x'] if old else named.get(one['predecessor_key_id'])
            if x is not None:
                until = earlier(old['until'] if old else None, one['predecessor_until'])
                where = {} if old or not one['origin'] else {'origin': one['origin'], 'size': 0}
                add(one['predecessor_key_id'], x, one['purpose'], **{'until': until, **where})
    return keys


def directory_keys(directory):
    found = []
    listed = directory.get('keys') if isinstance(directory, dict) else None
    for one in (listed[:256] if isinstance(listed, list) else []):
        if not isinstance(one, dict) or one.get('kty') != 'OKP' or one.get('crv') != 'Ed25519':
            continue
        number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (is_text(one.get('kid')) and is_text(one.get('x')) and number(one.get('nbf', 0))):
            continue
        if 'exp' in one and not number(one['exp']):
            continue
        if thumbprint(one['x']) != one['kid']:
            continue
        lost = (seconds_of(one['revoked_at']) or 0) if 'revoked_at' in one else None
        found.append(new_key(one['kid'], one['x'], 'response', revoked=lost,
                             **{'from': one.get('nbf', 0), 'until': one.get('exp')}))
    return found


def statements_in(directory):
    if not isinstance(directory, dict) or not isinstance(directory.get('keys'), list):
        return []
    return read_statements(directory.get('statements'))


def resolve_keys(file, options):
    attestation, own_directory = file['attestation'], file['directory']
    statements = read_statements(attestation['log'].get('key_statements')) if attestation else []
    listed = own_directory.get('statements') if isinstance(own_directory, dict) else None
    statements = statements + read_statements(listed)
    named = {}
    for key in directory_keys(own_directory):
        named[key['id']] = key

    def name(x, purpose, **more):
        named.setdefault(thumbprint(x), new_key(thumbprint(x), x, purpose, **more))

    for one in statements:
        name(one['public_key'], one['purpose'], **({'origin': one['origin'], 'size': 0} if one['purpose'] == 'log' else {}))
    if attestation:
        name(text_of(attestation['attestation'].get('public_key')), 'response')
    trusted = options['directory'] is not None or bool(options['keys']) or bool(options['wallets'])
    if trusted:
        anchors = directory_keys(options['directory'])
        for text in options['keys']:
            anchors += trusted_key(text, list(named.values()), statements)
    else:
        anchors = [key for key in named.values() if key['purpose'] == 'response']
    more = statements_in(options['directory'])
    # Without trust from outside the file names its wallets as it names its keys.
    wallets = options['wallets'] if trusted else [one['wallet'] for one in statements]
    keys = follow_keys(statements + more, anchors, wallets, {key['id']: key['x'] for key in named.values()},
                       file['homes'])
    source = 'what you trust' if trusted else 'the file itself'
    return {'keys': keys, 'trusted': trusted, 'source': source}


def trusted_key(text, own, statements):
    note = parse_note_key(text)
    if note:
        if note['type'] != 1:
            return []
        return [new_key(thumbprint(note['x']), note['x'], 'log', origin=note['name'], size=0)]
    for key in own:
        if text in (key['x'], key['id']):
            return [key]
    key_id = thumbprint(text)
    for one in statements:
        if one['action'] == 'rotate' and one['predecessor_key_id'] == key_id:
            where = {'origin': one['origin'], 'size': 0} if one['purpose'] == 'log' else {}
            return [new_key(key_id, text, one['purpose'], **where)]
    return [new_key(key_id, text, 'response')]


def was_valid(key, signed_at, proven_by=None):
    if not signed_at >= key['from'] - 60 or (key['until'] is not None and signed_at > key['until']):
        return False
    proven_by = signed_at if proven_by is None else proven_by
    return key['revoked'] is None or max(signed_at, proven_by) <= key['revoked']


# ---------------------------------------------------------------- reading a file


def parse_attestation(value):
    if not isinstance(value, dict) or not all(isinstance(value.get(n), dict) for n in ('record', 'attestation', 'log')):
        return None
    record, sig = value['record'], value['attestation'].get('sig')
    if not is_text(record.get('type'), r'assay\.(?:citation|claim|royalty)/v1') or not is_text(record.get('node')):
        return None
    if not isinstance(sig, dict) or not all(isinstance(sig.get(n), dict) for n in ('message', 'signature', 'domain')):
        return None
    return value


def plain_base64(text):
    data = from_base64(text)
    return data is not None and b64(data) == text


URL = r'https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/[!-~]*'


def is_request(one):
    return (isinstance(one, dict) and is_text(one.get('method')) and is_text(one.get('url'), URL)
            and '#' not in one['url'] and 'content_type' in one
            and (one['content_type'] is None or is_text(one['content_type'])) and plain_base64(one.get('body_base64')))


def is_response(one):
    if not isinstance(one, dict) or not is_int(one.get('status')) or not isinstance(one.get('headers'), dict):
        return False
    name, visible = r"[!#$%&'*+.^_`|~0-9a-z-]+", '[\x21-\x7e\x80-\xff]'
    value = '(?:%s(?:[\t\x20-\x7e\x80-\xff]*%s)?)?' % (visible, visible)
    return all(is_text(n, name) and is_text(v, value) for n, v in one['headers'].items()) \
        and plain_base64(one.get('body_base64'))


def is_payment(one):
    if not isinstance(one, dict) or not isinstance(one.get('authorization'), dict):
        return False
    by, hex32, digits = one['authorization'], r'0x[0-9a-f]{64}', r'0|[1-9][0-9]{0,77}'
    or_null = lambda name: name in one and (one[name] is None or is_text(one[name], hex32))
    return (is_text(one.get('resource')) and bool(urlsplit(one['resource']).scheme)
            and is_text(one.get('network'), r'eip155:[1-9][0-9]{0,14}')
            and all(is_address(a) for a in (one.get('asset'), by.get('from'), by.get('to')))
            and all(is_text(by.get(n), digits) for n in ('value', 'validAfter', 'validBefore'))
            and is_text(by.get('nonce'), hex32) and is_text(one.get('signature'), r'0x(?:[0-9a-f]{2})*')
            and is_text(one.get('asset_name')) and is_text(one.get('asset_version'))
            and or_null('binding_salt') and or_null('transaction'))


def parse_evidence(value):
    """One shape for both versions and for an attestation by itself; None for anything else."""
    bare = parse_attestation(value)
    if bare:
        return {'saved': None, 'request': None, 'response': None, 'origin': bare['record']['node'], 'directory': None,
                'homes': [bare['record']['node']], 'payment': None, 'receipt': None, 'attestation': bare}
    if not isinstance(value, dict) or value.get('format') != 'assay-evidence' or not is_int(value.get('version')):
        return None
    names = {'format', 'version', 'saved_at', 'request', 'response', 'keys', 'payment', 'receipt'}
    if value['version'] not in (1, 2) or set(value) != names | ({'attestation'} if value['version'] == 2 else set()):
        return None
    keys, request, response = value.get('keys'), value.get('request', 0), value.get('response', 0)
    payment, receipt, attestation = (value.get(name) for name in ('payment', 'receipt', 'attestation'))
    if not isinstance(keys, dict) or not is_text(keys.get('origin')) or not is_text(value.get('saved_at')):
        return None
    alone = request is None and response is None
    if not alone and not (is_request(request) and is_response(response)):
        return None
    if receipt is not None and not is_text(receipt) or payment is not None and not is_payment(payment):
        return None
    given = parse_attestation(attestation)
    if attestation is not None and given is None:
        return None
    found = given or (None if alone else parse_attestation(json_object(from_base64(response['body_base64']))))
    if alone and (found is None or payment is not None or receipt is not None):
        return None
    homes = [keys['origin']] + ([found['record']['node']] if found else [])
    return {'saved': value['saved_at'], 'request': request, 'response': response, 'origin': keys['origin'], 'homes': homes,
            'directory': keys.get('directory'), 'payment': payment, 'receipt': receipt, 'attestation': found}


# ---------------------------------------------------------------- an answer: signature, receipt, payment


def check(name, status, detail):
    return {'name': name, 'status': status, 'detail': detail}


def passed(name, detail):
    return check(name, 'passed', detail)


def failed(name, detail):
    return check(name, 'failed', detail)


def open_(name, detail):
    return check(name, 'not_checked', detail)


def url_parts(url):
    scheme, _, rest = url.partition('://')
    authority, slash, tail = rest.partition('/')
    path, mark, query = (slash + tail).partition('?')
    return scheme + '://' + authority, authority, path, mark + query if query else '?'


def parse_signature_input(header):
    pattern = r'([a-z*][a-z0-9_.*-]{0,63})=\(([^()]*)\)((?:;[a-z]+=(?:[0-9]{1,15}|"[^"\\]*"))*)'
    match = re.fullmatch(pattern, header) if len(header) <= 8192 else None
    if match is None:
        return None
    components = match.group(2).split(' ')
    if not all(is_text(one, r'"[@a-z0-9-]{1,64}"(?:;req)?') for one in components):
        return None
    if len(set(components)) != len(components):
        return None
    params = {}
    for name, integer, text in re.findall(r';([a-z]+)=(?:([0-9]{1,15})|"([^"\\]*)")', match.group(3)):
        if name in params:
            return None
        params[name] = int(integer) if integer else text
    return {'label': match.group(1), 'components': components, 'params': params,
            'inner': '(%s)%s' % (match.group(2), match.group(3))}


def response_problem(file, keys):
    request, response, headers = file['request'], file['response'], file['response']['headers']
    if 'signature-input' not in headers or 'signature' not in headers:
        return 'the answer is not signed'
    given = parse_signature_input(headers['signature-input'])
    if given is None:
        return 'Signature-Input is not in the form nodes write'
    needed = ['"@status"', '"content-type"', '"@method";req', '"@authority";req', '"@path";req', '"@query";req',
              '"content-digest"']
    needed += ['"%s"' % name for name in ('payment-required', 'payment-response') if name in headers]
    if any(one not in given['components'] for one in needed):
        return 'a part is not covered'
    params = given['params']
    if params.get('alg') != 'ed25519' or params.get('tag') != 'x402-response':
        return 'alg or tag is another'
    created, expires = params.get('created'), params.get('expires')
    if not is_int(created) or not is_int(expires) or expires < created - 60:
        return 'created or expires is wrong'
    key = keys.get(text_of(params.get('keyid')))
    if key is None or key['purpose'] != 'response':
        return 'the key is not among the keys'
    end = earlier(key['until'], key['revoked'])
    if created < key['from'] - 60 or (end is not None and created > end):
        return 'the key was not valid when this was signed'
    body = from_base64(response['body_base64'])
    if headers.get('content-digest') != 'sha-256=:%s:' % b64(sha256(body)):
        return 'Content-Digest does not fit the body'
    _, authority, path, query = url_parts(request['url'])
    values = {'"@status"': str(response['status']), '"@method";req': request['method'],
              '"@authority";req': authority, '"@path";req': path, '"@query";req': query}
    lines = []
    for one in given['components']:
        value = values.get(one, headers.get(one[1:-1]))
        if value is None:
            return 'a covered part is missing'
        lines.append('%s: %s' % (one, value))
    base = '\n'.join(lines + ['"@signature-params": ' + given['inner']])
    text, prefix = headers['signature'], given['label'] + '=:'
    signature = from_base64(text[len(prefix):-1]) if text.startswith(prefix) and text.endswith(':') else None
    if not verify_ed25519(key['x'], bytes(ord(c) & 0xFF for c in base), signature):
        return 'the signature does not fit'
    return None


def check_exchange(file, keys):
    checks = check_response(file, keys) + check_receipt(file, keys) + check_payment(file)
    return checks + [open_('time', 'when it was signed is the word of the node')]


def check_response(file, keys):
    problem = response_problem(file, keys)
    if problem:
        return [failed('signature', problem)]
    if url_parts(file['request']['url'])[0] != file['origin']:
        return [failed('request', 'the keys of the file are of %s' % file['origin'])]
    return [passed('signature', 'status, body and headers were signed'),
            passed('request', 'it answers %s %s' % (file['request']['method'], file['request']['url'])),
            passed('digest', 'the body is the one that was signed'),
            passed('key', 'the key was valid then and had not been revoked')]


def receipt_in(header):
    node = json_object(from_base64(header)) if header is not None and len(header) <= 16384 else None
    for name in ('extensions', 'offer-receipt', 'info', 'receipt'):
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, dict) or node.get('format') != 'jws' or not is_text(node.get('signature')):
        return None
    return node['signature']


def check_receipt(file, keys):
    receipt, payment = file['receipt'], file['payment']
    if receipt_in(file['response']['headers'].get('payment-response')) != receipt:
        return [failed('receipt', 'it is not the one in PAYMENT-RESPONSE')]
    if receipt is None:
        return [] if payment is None else [open_('receipt', 'the seller gave none')]
    problem = receipt_problem(receipt, keys, url_parts(file['request']['url'])[1], payment)
    if problem:
        return [failed('receipt', problem)]
    return [passed('receipt', 'the seller signed that it was paid')] + check_leaf(file, receipt)


def check_leaf(file, receipt):
    promised = json_object(from_base64url(receipt.split('.')[1])).get('log')
    attestation = file['attestation']
    if promised is None:
        return []
    if attestation is None:
        return [failed('leaf', 'the receipt promises an entry that the answer does not show')]
    if promised['leaf_hash'] != b64(leaf_hash(utf8(canonical(attestation['record'])))):
        return [failed('leaf', 'the receipt promises another entry than this attestation')]
    shown = attestation['log'].get('origin')
    if shown is not None and shown != promised['origin']:
        return [failed('leaf', 'the receipt promises a place in another log')]
    return [passed('leaf', 'the seller signed that this entry gets a place in the log')]


def receipt_problem(receipt, keys, authority, payment):
    match = re.fullmatch(r'([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})', receipt)
    if match is None or len(receipt) > 8192:
        return 'it cannot be read'
    head, body, signature = match.groups()
    header, said = json_object(from_base64url(head)), json_object(from_base64url(body))
    bytes_ = from_base64url(signature)
    if header is None or said is None or bytes_ is None or said.get('version') != 1:
        return 'it cannot be read'
    if not all(is_text(said.get(n)) for n in ('network', 'resourceUrl', 'payer')):
        return 'it cannot be read'
    issued = said.get('issuedAt')
    if isinstance(issued, bool) or not isinstance(issued, (int, float)):
        return 'it cannot be read'
    if 'transaction' in said and not is_text(said['transaction']):
        return 'it cannot be read'
    if 'log' in said and not (isinstance(said['log'], dict) and is_text(said['log'].get('origin'))
                              and is_text(said['log'].get('leaf_hash'))):
        return 'it cannot be read'
    if header.get('alg') != 'EdDSA' or 'crit' in header or not is_text(header.get('kid')):
        return 'it is not an EdDSA JWS with a key id'
    parts = header['kid'].split('#')
    if parts[0] != 'did:web:' + authority.replace(':', '%3A', 1):
        return 'it is of another seller'
    key = keys.get(parts[1] if len(parts) > 1 else '')
    if key is None or key['purpose'] != 'response':
        return 'the key is not known'
    end = earlier(key['until'], key['revoked'])
    if issued < key['from'] - 60 or (end is not None and issued > end):
        return 'the key was not valid at that time'
    if not verify_ed25519(key['x'], (head + '.' + body).encode(), bytes_):
        return 'the signature does not fit'
    if payment is None:
        return None
    if said['resourceUrl'] != payment['resource'] or said['network'] != payment['network'] \
            or said['payer'].lower() != payment['authorization']['from'].lower():
        return 'resource, network or payer is another one'
    if payment['transaction'] is not None and said.get('transaction') and said['transaction'] != payment['transaction']:
        return 'it names another transaction'
    return None


def check_payment(file):
    payment = file['payment']
    if payment is None:
        return []
    by = payment['authorization']
    if payment_signer(payment) != by['from'].lower():
        return [failed('payment', 'the authorization is not signed by the payer')]
    return [passed('payment', '%s authorized %s micro-USDC for %s' % (by['from'], by['value'], by['to'])),
            check_binding(file['request'], payment),
            open_('settlement', 'look up the transfer on %s' % payment['network'])]


def payment_signer(payment):
    match = re.fullmatch(r'0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)', payment['signature'])
    if match is None:
        return None
    by = payment['authorization']
    domain = [('string', 'name', payment['asset_name']), ('string', 'version', payment['asset_version']),
              ('uint256', 'chainId', int(payment['network'][7:])),
              ('address', 'verifyingContract', payment['asset'].lower())]
    try:
        digest = typed_digest(domain, 'TransferWithAuthorization', [
            ('address', 'from', by['from']), ('address', 'to', by['to']), ('uint256', 'value', int(by['value'])),
            ('uint256', 'validAfter', int(by['validAfter'])), ('uint256', 'validBefore', int(by['validBefore'])),
            ('bytes32', 'nonce', hex_bytes(by['nonce'], 32))])
    except Invalid:
        return None
    signer = recover(digest, *(int(part, 16) for part in match.groups()))
    return signer.lower() if signer else None


def abi_string(text):
    data = utf8(text)
    return word(len(data)) + data + b'\x00' * (-len(data) % 32)


def check_binding(request, payment):
    tag = keccak256(b'assay:request-binding:v1')[:8]
    nonce = hex_bytes(payment['authorization']['nonce'])
    if nonce[:8] != tag:
        return open_('binding', 'the payment does not name what it bought')
    if payment['binding_salt'] is None:
        return open_('binding', 'the salt is missing, so the nonce cannot be opened')
    kind = (request['content_type'] or '').split(';', 1)[0].strip().lower()
    texts = [abi_string(t) for t in (request['method'].upper(), payment['resource'], kind)]
    heads, at = [word(1)], 6 * 32
    for text in texts:
        heads.append(word(at))
        at += len(text)
    heads += [sha256(from_base64(request['body_base64'])), hex_bytes(payment['binding_salt'], 32)]
    made = tag + keccak256(b''.join(heads + texts))[:24]
    if made != nonce or not same_resource(request['url'], payment['resource']):
        return failed('binding', 'the payment was made for another request')
    return passed('binding', 'the signature of the payer names this very request')


def same_resource(asked, quoted_url):
    def parts(url):
        origin, _, path, query = url_parts(url.split('#')[0] if '/' in url.partition('://')[2] else url + '/')
        pairs = parse_qsl(query[1:], keep_blank_values=True, errors='replace')
        return origin, path, sorted(pair for pair in pairs if pair[0] not in ('ref', 'aff'))
    return parts(asked) == parts(quoted_url)


# ---------------------------------------------------------------- an attestation: record, signature, log, witnesses

ZERO32 = '0x' + '00' * 32
SCHEMA = ('bytes32 recordSha256,string sourceUrl,bytes32 contentSha256,bytes32 textSha256,bytes32 quoteSha256,'
          'bytes32 claimSha256,address agent,address payer,uint64 priceMicro')
SCHEMA_UID = '0x' + keccak256(SCHEMA.encode() + b'\x00' * 21).hex()
ATTEST = (('uint16', 'version'), ('bytes32', 'schema'), ('address', 'recipient'), ('uint64', 'time'),
          ('uint64', 'expirationTime'), ('bool', 'revocable'), ('bytes32', 'refUID'), ('bytes', 'data'),
          ('bytes32', 'salt'))


def is_royalty(record):
    return record['type'] == 'assay.royalty/v1'


def address_of(record):
    kind = 'royalties' if is_royalty(record) else 'attestations'
    return '%s/v1/%s/%s' % (record['node'], kind, text_of(record.get('id')))


def first_page(record):
    pages = record['sources'] if isinstance(record.get('sources'), list) else [record]
    return pages[0] if pages and isinstance(pages[0], dict) else {}


def lower_hex(text, length):
    return hex_bytes(text_of(text).lower(), length)


def expected_data(record):
    agent = record.get('agent_wallet')
    agent = record.get('payer') if agent is None else agent
    royalty, page, quote = is_royalty(record), first_page(record), record.get('quote')
    found = isinstance(quote, dict) and quote.get('found') is True
    claim = record.get('claim_sha256')
    url = utf8(address_of(record) if royalty else text_of(page.get('source_url')))
    heads = [sha256(utf8(canonical(record))), word(9 * 32)]
    heads += [lower_hex(ZERO32 if royalty else one, 32) for one in (
        page.get('content_sha256'), page.get('text_sha256'), quote['sha256'] if found else ZERO32,
        claim if isinstance(claim, str) else ZERO32)]
    heads += [b'\x00' * 12 + lower_hex(one, 20) for one in (agent, record.get('payer'))]
    heads.append(word(int(text_of(record.get('royalty_micro' if royalty else 'price_micro')))))
    return b''.join(heads) + word(len(url)) + url + b'\x00' * (-len(url) % 32)


def check_record(file):
    record, message = file['record'], file['attestation']['sig']['message']
    if hex_bytes(message['data']) != expected_data(record):
        return failed('record', 'the signed data differ from the record')
    at = record.get('attested_at')
    creator = first_page(record).get('creator_wallet')
    recipient = creator if isinstance(creator, str) else ZERO_WALLET
    fits = (message['schema'] == SCHEMA_UID
            and message['time'] == str(seconds_of(record.get('remitted_at') if at is None else at))
            and message['expirationTime'] == '0' and message['recipient'].lower() == recipient.lower())
    if not fits:
        return failed('record', 'the attestation names another time, recipient or schema')
    return passed('record', 'the signed data are those of the record')


def check_attestation(file):
    sig = file['attestation']['sig']
    message, domain, signature = sig['message'], sig['domain'], sig['signature']
    if set(domain) - {'name', 'version', 'chainId', 'verifyingContract', 'salt'} != set() or 'salt' in domain:
        raise Invalid('another domain')
    if not is_int(domain['chainId']) or not is_text(domain['name']) or not is_text(domain['version']):
        raise Invalid('another domain')
    digits = r'0|[1-9][0-9]{0,19}'
    if not is_int(message['version']) or type(message['revocable']) is not bool \
            or not is_text(message['time'], digits) or not is_text(message['expirationTime'], digits):
        raise Invalid('not a message')
    r, s, v = signature['r'], signature['s'], signature['v']
    if not is_text(r, '0x[0-9a-f]{64}') or not is_text(s, '0x[0-9a-f]{64}') or v not in (27, 28) or not is_int(v):
        raise Invalid('no signature')
    if int(s, 16) > ORDER // 2:
        raise Invalid('no signature')
    values = dict(message, time=int(message['time']), expirationTime=int(message['expirationTime']),
                  data=hex_bytes(message['data']), **{n: hex_bytes(message[n], 32) for n in ('schema', 'refUID', 'salt')})
    digest = typed_digest(
        [('string', 'name', domain['name']), ('string', 'version', domain['version']),
         ('uint256', 'chainId', domain['chainId']), ('address', 'verifyingContract', domain['verifyingContract'])],
        'Attest', [(kind, name, values[name]) for kind, name in ATTEST])
    if recover(digest, int(r, 16), int(s, 16), v) != file['attestation'].get('signer'):
        return failed('attestation', 'it was not signed by the signer it names')
    packed = (values['version'].to_bytes(2, 'big') + utf8(message['schema']) + bytes.fromhex(message['recipient'][2:])
              + b'\x00' * 20 + values['time'].to_bytes(8, 'big') + values['expirationTime'].to_bytes(8, 'big')
              + (b'\x01' if values['revocable'] else b'\x00') + values['refUID'] + values['data'] + values['salt']
              + b'\x00' * 4)
    if sig.get('uid') != '0x' + keccak256(packed).hex():
        return failed('attestation', 'the identifier does not follow from the attestation')
    return passed('attestation', 'signed by %s' % file['attestation']['signer'])


def check_attester(file):
    said = file['attestation']
    parts = said['attester_statement'].split('.')
    if len(parts) != 3:
        return failed('attester', 'the statement about the attester cannot be read')
    header, body = json_object(from_base64url(parts[0])), json_object(from_base64url(parts[1]))
    signature = from_base64url(parts[2])
    if header is None or body is None or signature is None or header.get('alg') != 'EdDSA':
        return failed('attester', 'the statement about the attester cannot be read')
    about = (body.get('type') == 'assay-attester' and text_of(body.get('attester')).lower() == said['signer'].lower()
             and body.get('node') == file['record']['node']
             and text_of(body.get('chain_id')) == text_of(said['sig']['domain'].get('chainId'))
             and text_of(header.get('kid')).endswith('#' + said['key_id']))
    if not about:
        return failed('attester', 'the statement is about another attester or node')
    if not verify_ed25519(said['public_key'], (parts[0] + '.' + parts[1]).encode(), signature):
        return failed('attester', 'the statement about the attester is not signed by the key it names')
    return passed('attester', 'the key %s of %s names it' % (said['key_id'], file['record']['node']))


ABSENT = object()


def check_shown(file):
    record, sig, split = file['record'], file['attestation']['sig'], file.get('split')
    split = split if isinstance(split, dict) else {}
    types = {'Attest': [{'name': name, 'type': kind} for kind, name in ATTEST]}
    fields = [(file.get('id', ABSENT), record.get('id', ABSENT)), (file.get('url', ABSENT), address_of(record)),
              (sig.get('version', ABSENT), sig['message'].get('version', ABSENT)),
              (sig.get('primaryType', ABSENT), 'Attest'), (sig.get('types', ABSENT), types)]
    if is_royalty(record):
        fields.append((file.get('royalty_micro', ABSENT), record.get('royalty_micro', ABSENT)))
    else:
        fields += [(split.get(n, ABSENT), record.get(n, ABSENT)) for n in ('price_micro', 'creator_micro', 'toll_micro')]
    payouts = file.get('payouts')
    if not isinstance(payouts, list) or not all(isinstance(one, dict) for one in payouts):
        return failed('shown', 'the payouts are not those of the record')
    for one in payouts:
        wallet = one.get('wallet')
        follow = '%s/v1/creators/%s' % (record['node'], wallet) if isinstance(wallet, str) else None
        fields += [(one.get('network', ABSENT), record.get('network', ABSENT)), (one.get('follow', ABSENT), follow)]
    if is_royalty(record):
        if str(sum(int(text_of(one.get('micro'))) for one in payouts)) != record.get('creator_micro'):
            return failed('shown', 'the payouts are not those of the record')
        fields += [(one.get('micro', ABSENT), text_of(one.get('micro'))) for one in payouts]
    else:
        pages = record['sources'] if isinstance(record.get('sources'), list) else [record]
        shares = [one for one in pages if isinstance(one, dict) and one.get('creator_micro') != '0']
        if len(shares) != len(payouts):
            return failed('shown', 'the payouts are not those of the record')
        for one, share in zip(payouts, shares):
            fields += share_fields(one, share)
    if any(signed is ABSENT or shown is ABSENT or canonical(shown) != canonical(signed) for shown, signed in fields):
        return failed('shown', 'not what was signed')
    return passed('shown', 'what the file shows beside the record follows from it')


def share_fields(one, share):
    fields = [(one.get('micro', ABSENT), share.get('creator_micro', ABSENT))]
    domain, wallet = one.get('domain', ABSENT), one.get('wallet', ABSENT)
    above = isinstance(domain, str) and '.' in domain and text_of(share.get('domain')).endswith('.' + domain)
    if not above:
        fields.append((domain, share.get('domain', ABSENT)))
    if share.get('creator_wallet', ABSENT) is not None or wallet is None:
        fields.append((wallet, share.get('creator_wallet', ABSENT)))
    return fields


def check_key(file, logged, resolved, policy):
    said = file['attestation']
    key = resolved['keys'].get(said.get('key_id'))
    if key is None or key['x'] != said.get('public_key') or key['purpose'] != 'response':
        return failed('keys', 'the key does not follow from %s' % resolved['source'])
    times = logged['trusted_times'] if logged else []
    text = said['sig']['message'].get('time')
    signed_at = int(text) if is_text(text, r'[0-9]{1,20}') else float('nan')
    if not was_valid(key, signed_at, min(times) if times else math.inf):
        return failed('keys', 'the key was not valid when it signed')
    if resolved['trusted']:
        return passed('keys', 'the key follows from what you trust, and was valid when it signed')
    detail = 'the key comes from the file itself; whether it is that of %s is not known' % file['record']['node']
    return (failed if policy and policy['key_valid'] else open_)('keys', detail)


def witness_key(vkey):
    key = parse_note_key(vkey)
    return key if key and key['type'] == 4 else None


def read_head(log, options):
    head = parse_checkpoint(log.get('checkpoint')) if log.get('state') == 'logged' else None
    if head is None:
        return None
    listed = log.get('witness_keys')
    too_many = isinstance(listed, list) and len(listed) > 32
    named = [witness_key(one) for one in listed] if isinstance(listed, list) and not too_many else []
    given = None
    if options['witnesses'] is not None:
        given = [witness_key(one) for one in dict.fromkeys(options['witnesses'])]
    verified = []
    for key in named + (given or []):
        seconds = cosigned_at(head, key) if key else None
        if seconds is None or seconds > 253402300799 or any(same_key(one, key) for one in verified):
            continue
        verified.append({'name': key['name'], 'id': key['id'], 'seconds': seconds})
    counted = verified if given is None else [one for one in verified if any(same_key(one, key) for key in given)]
    return {'head': head, 'too_many': too_many, 'named': named, 'given': given, 'verified': verified,
            'times': [one['seconds'] for one in counted],
            'trusted_times': [one['seconds'] for one in counted] if given is not None else []}


def same_key(one, key):
    return key is not None and one['name'] == key['name'] and one['id'] == key['id']


def check_log(file, logged, resolved, options):
    log, policy = file['log'], options['policy']
    if log.get('state') != 'logged':
        return [check_unlogged(file, log, options)]
    if logged is None:
        return [failed('log', 'the tree head cannot be read')]
    head = logged['head']
    found, readable, listed = [], True, log.get('keys') or []
    too_many = isinstance(listed, list) and len(listed) > 8
    for vkey in [] if too_many else listed:
        key = parse_note_key(text_of(vkey))
        readable = readable and key is not None
        known = next((one for one in resolved['keys'].values()
                      if key and one['purpose'] == 'log' and one['x'] == key['x']), None)
        if key and known and key['name'] == head['origin'] == known['origin'] and is_signed_by_log(head, key):
            found.append(known)
    return [guarded('inclusion', lambda: check_inclusion(file, log, head)),
            failed('checkpoint', 'the file lists %d keys, 8 at most are read' % len(listed)) if too_many
            else check_head(head, found, readable),
            check_head_key(head, found, logged, resolved, policy),
            guarded('witnesses', lambda: check_witnesses(log, logged, policy)),
            guarded('anchor', lambda: check_anchor(log, head, options))]


def check_unlogged(file, log, options):
    if log.get('state') != 'pending' or set(log) - {'state', 'url'}:
        return failed('log', 'the file carries a proof and does not say that it is logged')
    if log.get('url') != address_of(file['record']):
        return failed('log', 'the address is not that of the record')
    if options['policy'] is None or options['policy']['logged'] or options['witnesses'] is not None:
        return failed('log', 'the file says that it is not in the log yet; fetch the attestation again')
    return open_('log', 'the file was saved before the entry had its place in the log')


def check_inclusion(file, log, head):
    leaf = leaf_hash(utf8(canonical(file['record'])))
    path = [from_base64(one) or b'' for one in log.get('inclusion_proof') or []]
    text = log.get('leaf_index')
    index = int(text) if is_text(text, r'0|[1-9][0-9]{0,14}') else -1
    if not verify_inclusion(leaf, index, head['size'], path, head['root']):
        return failed('inclusion', 'the record is not in the tree that the log signed')
    derived = {'origin': head['origin'], 'leaf_index': str(index), 'leaf_hash': b64(leaf), 'tree_size': str(head['size'])}
    if any(log.get(name) != value for name, value in derived.items()):
        return failed('inclusion', 'not what was signed')
    return passed('inclusion', 'entry %d of %d in %s' % (index, head['size'], head['origin']))


def check_head(head, found, readable):
    if not found:
        return failed('checkpoint', 'the tree head is not signed by a key of this log')
    if not readable:
        return failed('checkpoint', 'a key of the log cannot be read')
    return passed('checkpoint', 'the tree head is signed by %s' % head['origin'])


def check_head_key(head, found, logged, resolved, policy):
    if not found:
        return failed('head_key', 'no key of the log follows from %s' % resolved['source'])
    times, trusted = logged['times'], logged['trusted_times']
    at = min(times) if times else None
    fits = [key for key in found if head['size'] > (key['size'] or 0)
            and (key['revoked'] is None if at is None
                 else was_valid(key, at, min(trusted) if trusted else math.inf))]
    if not fits:
        return failed('head_key', 'the key was not valid when the head was signed')
    unsure = failed if policy and policy['key_valid'] else open_
    if not resolved['trusted']:
        return unsure('head_key', 'the key of the log comes from the file itself')
    if at is None:
        return unsure('head_key', 'when the tree head was signed is not known without a witness')
    return passed('head_key', 'the key of the log was valid when the head was signed')


def check_witnesses(log, logged, policy):
    shown, verified, named = log.get('witnesses'), logged['verified'], logged['named']
    if logged['too_many']:
        return failed('witnesses', 'the file lists more than 32 keys of witnesses')
    if not isinstance(shown, list) or not all(isinstance(one, dict) for one in shown):
        return failed('witnesses', 'the list of witnesses is missing')
    if None in named:
        return failed('witnesses', 'a key of a witness in the file cannot be read')
    for one in shown:
        if not any(key and key['name'] == one.get('name') for key in named + (logged['given'] or [])):
            continue
        at = one.get('cosigned_at')
        if not any(v['name'] == one.get('name') and at in iso_forms(v['seconds']) for v in verified):
            return failed('witnesses', 'the tree head does not hold a signature that the file lists')
    listed = [one.get('name') for one in shown]
    if any(v['name'] not in listed and any(v['id'] == key['id'] for key in named) for v in verified):
        return failed('witnesses', 'the file does not list every witness that signed')
    return count_given(logged, policy) if logged['given'] is not None else count_named(verified, policy)


def iso_forms(seconds):
    text = time_text(seconds)
    return text, text[:-1] + '.000Z'


def count_given(logged, policy):
    given = logged['given']
    if not given or None in given:
        return failed('witnesses', 'a given key is not the key of a witness')
    keys = {key['x']: key for key in given}
    at_least, of = (policy and policy['witnesses']) or (len(keys), len(keys))
    if len(keys) != of:
        return failed('witnesses', 'the policy speaks of %d witnesses, and the keys of %d were given' % (of, len(keys)))
    signed = [one for key in keys.values() for one in logged['verified'] if same_key(one, key)]
    if len(signed) < at_least:
        return failed('witnesses', '%d of %d trusted witnesses signed, at least %d must' % (len(signed), of, at_least))
    return passed('witnesses', ', '.join('%s at %s' % (one['name'], time_text(one['seconds'])) for one in signed))


def count_named(verified, policy):
    if policy and policy['witnesses']:
        return failed('witnesses', 'the policy counts witnesses that you trust, and no key of one was given')
    if verified:
        return passed('witnesses', ', '.join(one['name'] for one in verified) + '; their keys come from the file itself')
    return (open_ if policy else failed)('witnesses', 'no witness has signed this tree head yet')


def check_anchor(log, head, options):
    heads = [(head['size'], head['root'])]
    if 'anchor' in log:
        named = log['anchor']
        if not isinstance(named, dict) or not isinstance(named.get('consistency_proof'), list) \
                or not is_text(text_of(named.get('size')), r'[1-9][0-9]{0,14}') \
                or not is_text(named.get('root'), r'0x[0-9a-f]{64}'):
            return failed('anchor', 'the anchor that the file names cannot be read')
        proof = [from_base64(text_of(one)) or b'' for one in named['consistency_proof']]
        size, root = int(text_of(named['size'])), bytes.fromhex(named['root'][2:])
        both = sorted([(size, root), heads[0]], key=lambda one: one[0])
        index = int(log['leaf_index'])
        if size <= index or not verify_consistency(*both[0], *both[1], proof):
            return failed('anchor', 'the tree head and the anchor that the file names are not of one tree')
        heads.append((size, root))
    pairs = [(own, seen) for own in heads for seen in options['anchors'] if seen[0] == own[0]]
    if any(own[1] != seen[1] for own, seen in pairs):
        return failed('anchor', 'the chain holds another tree of this size')
    if pairs:
        return passed('anchor', 'the tree of size %d is on chain' % pairs[0][0][0])
    unsure = failed if options['policy'] and options['policy']['anchor'] else open_
    return unsure('anchor', 'no such head that was read on chain was given')


def check_age(file, options):
    policy = options['policy']
    if not policy or policy['max_age'] is None:
        return []
    text = file['attestation']['sig']['message'].get('time')
    age = options['now'] - int(text) if is_text(text, r'[0-9]{1,20}') else math.inf
    fits = -300 <= age <= policy['max_age']
    return [passed('age', 'attested lately') if fits else failed('age', 'attested too long ago, or in the future')]


def guarded(name, work):
    try:
        return work()
    except (Invalid, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError):
        return failed(name, 'it cannot be read')


def check_attested(file, resolved, options):
    logged = read_head(file['log'], options)
    return [guarded('record', lambda: check_record(file)), guarded('attestation', lambda: check_attestation(file)),
            guarded('attester', lambda: check_attester(file)), guarded('shown', lambda: check_shown(file)),
            guarded('keys', lambda: check_key(file, logged, resolved, options['policy']))] \
        + check_log(file, logged, resolved, options) + check_age(file, options) \
        + [open_('truth', 'that these bytes were served and paid for is attested, never that they are true')]


# ---------------------------------------------------------------- the whole file


def is_shallow(value, depth):
    if not isinstance(value, (dict, list)):
        return True
    return depth > 0 and all(is_shallow(one, depth - 1) for one in (value.values() if isinstance(value, dict) else value))


def verify(value, options):
    """The checks of a parsed file, or None when it is no evidence."""
    file = parse_evidence(value) if is_shallow(value, 200) else None
    if file is None:
        return None
    attestation = file['attestation']
    resolved = resolve_keys(file, options)
    checks = check_exchange(file, resolved['keys']) if file['request'] else []
    attested = check_attested(attestation, resolved, options) if attestation else []
    if file['request'] and attestation:
        answer = json_object(from_base64(file['response']['body_base64'])) or {}
        same = all(n in answer and canonical(answer[n]) == canonical(attestation[n]) for n in ('record', 'attestation'))
        checks.append(passed('answer', 'the attestation is the one that was answered') if same
                      else failed('answer', 'the attestation is another one than was answered'))
    if not attestation:
        unsure = failed if options['policy'] and options['policy']['key_valid'] else open_
        checks.append(passed('keys', 'they follow from what you trust') if resolved['trusted']
                      else unsure('keys', 'they come from the file itself'))
    checks += attested
    return {'ok': all(one['status'] != 'failed' for one in checks), 'checks': checks, 'attestation': bool(attestation)}


def parse_policy(text):
    policy = {'logged': False, 'witnesses': None, 'anchor': False, 'key_valid': False, 'max_age': None}
    seen = set()
    for term in text.split(',') if len(text) <= 100 else ['']:
        name = term.split('=')[0]
        witnesses = re.fullmatch(r'witnesses=([1-9][0-9]?)of([1-9][0-9]?)', term)
        age = re.fullmatch(r'max-age=([1-9][0-9]{0,5})([smhd])', term)
        if name in seen:
            return None
        seen.add(name)
        if term in ('logged', 'anchor'):
            policy['logged'] = True
            policy['anchor'] = policy['anchor'] or term == 'anchor'
        elif term == 'key-valid':
            policy['key_valid'] = True
        elif witnesses and int(witnesses.group(1)) <= int(witnesses.group(2)):
            policy['witnesses'] = (int(witnesses.group(1)), int(witnesses.group(2)))
            policy['logged'] = True
        elif age:
            policy['max_age'] = int(age.group(1)) * {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[age.group(2)]
        else:
            return None
    return policy


def read_options(argv):
    parser = argparse.ArgumentParser(description='Verifies evidence files of Assay, offline.')
    parser.add_argument('file', help='the evidence file, or - for standard input')
    parser.add_argument('--keys', help='a key directory that you trust')
    for name, text in (('--trust-key', 'a key of the node that you know; may be repeated'),
                       ('--trust-wallet', 'the wallet of the operator; may be repeated'),
                       ('--witness', 'key of a witness that must have signed; may be repeated'),
                       ('--anchor', 'size:root of a tree head that you read on chain; may be repeated')):
        parser.add_argument(name, action='append', default=[], help=text)
    parser.add_argument('--policy', help='logged, witnesses=2of3, anchor, key-valid, max-age=30d; separated by commas')
    parser.add_argument('--json', action='store_true')
    # A key may begin with a dash: it is the value of the option before it.
    options = ('--keys', '--trust-key', '--trust-wallet', '--witness', '--anchor', '--policy')
    joined, rest = [], list(argv)
    while rest:
        one = rest.pop(0)
        joined.append('%s=%s' % (one, rest.pop(0)) if one in options and rest else one)
    given = parser.parse_args(joined)
    policy = parse_policy(given.policy) if given.policy is not None else None
    if given.policy is not None and policy is None:
        parser.error('--policy: not a policy: %s' % given.policy)
    anchors = []
    for text in given.anchor:
        if not is_text(text, r'[1-9][0-9]{0,14}:0x[0-9a-fA-F]{64}'):
            parser.error('--anchor: not size:root: %s' % text)
        size, root = text.split(':')
        anchors.append((int(size), bytes.fromhex(root[2:])))
    for text in given.trust_wallet:
        if not is_text(text, r'0x[0-9a-fA-F]{40}'):
            parser.error('--trust-wallet: not an address: %s' % text)
    for text in given.trust_key:
        if not is_text(text, r'[A-Za-z0-9_-]{43}') and parse_note_key(text) is None:
            parser.error('--trust-key: not a key: %s' % text)
    directory = None
    if given.keys is not None:
        with open(given.keys, encoding='utf-8') as source:
            directory = load_json(source.read())
    return given, {'directory': directory, 'keys': given.trust_key, 'wallets': given.trust_wallet,
                   'witnesses': given.witness or None, 'anchors': anchors, 'policy': policy, 'now': time.time()}


def verify_text(text, options):
    try:
        return verify(load_json(text), options)
    except (ValueError, RecursionError, Invalid):
        return None


MARKS = {'passed': 'ok ', 'failed': 'NO ', 'not_checked': ' - '}


def main(argv):
    given, options = read_options(argv)
    try:
        if given.file == '-':
            text = sys.stdin.buffer.read().decode('utf-8')
        else:
            with open(given.file, 'rb') as source:
                text = source.read().decode('utf-8')
    except OSError:
        print('cannot read %s' % given.file, file=sys.stderr)
        return 2
    except UnicodeDecodeError:
        print('%s is not valid UTF-8' % given.file, file=sys.stderr)
        return 5
    report = verify_text(text, options)
    if report is None:
        print('%s is not an evidence file' % given.file, file=sys.stderr)
        return 5
    if not report.pop('attestation') and (options['policy'] or options['witnesses'] or options['anchors']):
        print('%s is not an attestation' % given.file, file=sys.stderr)
        return 5
    if given.json:
        print(json.dumps(dict(report, file=given.file), indent=2))
    else:
        for one in report['checks']:
            print('%s %s %s' % (MARKS[one['status']], one['name'].ljust(11), one['detail']))
        print('\nEverything that was checked verifies.' if report['ok'] else '\nThis does not verify.')
    return 0 if report['ok'] else 5


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
