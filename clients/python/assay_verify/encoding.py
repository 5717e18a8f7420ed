"""Numbers, texts, JSON and base64 as the formats have them."""
import base64
import binascii
import calendar
import hashlib
import json
import math
import re
import time


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
