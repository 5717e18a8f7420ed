"""Signed responses (RFC 9421), as nodes write them."""
import re
import time
from urllib.parse import urlsplit

from .ed25519 import verify_ed25519
from .encoding import Invalid, b64, from_base64, is_int, is_text, sha256, text_of
from .keys import earlier

UNKNOWN_KEY = 'the key is not among the keys'


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


def response_problem(request, response, keys):
    """Why the signature does not count, or None. A body of None is that of a stream, whose events are signed one by one."""
    headers, body = response['headers'], response['body']
    if 'signature-input' not in headers or 'signature' not in headers:
        return 'the answer is not signed'
    given = parse_signature_input(headers['signature-input'])
    if given is None:
        return 'Signature-Input is not in the form nodes write'
    needed = ['"@status"', '"content-type"', '"@method";req', '"@authority";req', '"@path";req', '"@query";req']
    needed += [] if body is None else ['"content-digest"']
    needed += ['"%s"' % name for name in ('payment-required', 'payment-response') if name in headers]
    if any(one not in given['components'] for one in needed):
        return 'a part is not covered'
    params = given['params']
    if params.get('alg') != 'ed25519' or params.get('tag') != ('x402-stream' if body is None else 'x402-response'):
        return 'alg or tag is another'
    created, expires = params.get('created'), params.get('expires')
    if not is_int(created) or not is_int(expires) or expires < created - 60:
        return 'created or expires is wrong'
    key = keys.get(text_of(params.get('keyid')))
    if key is None or key['purpose'] != 'response':
        return UNKNOWN_KEY
    end = earlier(key['until'], key['revoked'])
    if created < key['from'] - 60 or (end is not None and created > end):
        return 'the key was not valid when this was signed'
    if body is not None and headers.get('content-digest') != 'sha-256=:%s:' % b64(sha256(body)):
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


def sent_url(url):
    """A URL in the form in which a client sends it, which is the one that is signed."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition('@')[2].lower()
    usual = {'https': ':443', 'http': ':80'}.get(parts.scheme, '')
    if usual and host.endswith(usual):
        host = host[:-len(usual)]
    return '%s://%s%s%s' % (parts.scheme, host, parts.path or '/', '?' + parts.query if parts.query else '')


def verify_response(request, response, keys, now=None, skew=60):
    """The id of the key that signed, or Invalid with the reason.

    `request`: {'method', 'url'} as sent. `response`: {'status', 'headers', 'body'}; the body in bytes as received, before
    any decoding of its text, or None for a stream. `keys`: from read_keys().
    """
    headers = {name.lower(): value.strip() for name, value in dict(response['headers']).items()}
    asked = {'method': request['method'].upper(), 'url': sent_url(request['url'])}
    problem = response_problem(asked, dict(response, headers=headers), keys)
    if problem:
        raise Invalid(problem)
    params = parse_signature_input(headers['signature-input'])['params']
    now = time.time() if now is None else now
    if params['created'] > now + skew:
        raise Invalid('created is in the future')
    if params['expires'] < now - skew:
        raise Invalid('the signature has expired')
    return params['keyid']
