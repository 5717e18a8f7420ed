"""The vectors that the SDK and the node are tested with."""
import glob
import hashlib
import json
import os
import unittest

import assay_verify as v

VECTORS = os.path.join(os.path.dirname(__file__), '..', '..', '..', 'test', 'vectors')


def vector(*path):
    with open(os.path.join(VECTORS, *path), encoding='utf-8') as source:
        return json.load(source)


def evidence_file(one):
    """A vector holds its file, or the changes (RFC 6902) that make it from the file of another."""
    if 'base' not in one:
        return one['file']
    root = {'': evidence_file(vector('evidence', one['base'] + '.json'))}
    for change in one['changes']:
        *path, last = [part.replace('~1', '/').replace('~0', '~') for part in change['path'].split('/')]
        holder = root
        for part in path:
            holder = holder[int(part) if isinstance(holder, list) else part]
        at = int(last) if isinstance(holder, list) else last
        if change['op'] == 'remove':
            del holder[at]
        elif isinstance(holder, list) and at == len(holder):
            holder.append(change['value'])
        else:
            holder[at] = change['value']
    return root['']


class Responses(unittest.TestCase):
    def setUp(self):
        self.signed = vector('signatures.json')
        one = self.signed['response']
        self.keys = v.read_keys(self.signed['directory'])
        self.now = one['signed_at_ms'] / 1000
        self.request = {'method': one['method'],
                        'url': 'http://%s%s%s' % (one['authority'], one['path'], one['query'])}
        headers = dict(one['headers'], **{'Content-Type': one['content_type'], 'Payment-Required': one['payment_required']})
        self.response = {'status': one['status'], 'headers': headers, 'body': one['body'].encode()}

    def outcome(self, request=None, response=None, headers=None, keys=None, now=None):
        answer = dict(self.response, **(response or {}))
        answer['headers'] = dict(self.response['headers'], **(headers or {}))
        try:
            return v.verify_response(dict(self.request, **(request or {})), answer,
                                     self.keys if keys is None else keys, self.now if now is None else now)
        except v.Invalid as problem:
            return 'invalid: %s' % problem

    def test_a_signed_response_verifies(self):
        self.assertEqual(self.outcome(), self.signed['key']['key_id'])
        self.assertEqual(self.outcome({'method': 'get'}), self.signed['key']['key_id'])

    def test_any_change_breaks_it(self):
        url = self.request['url']
        for change in ({'response': {'status': 200}}, {'response': {'body': b'{}'}}, {'response': {'body': None}},
                       {'headers': {'Content-Type': 'text/plain'}}, {'headers': {'Payment-Required': 'e30='}},
                       {'headers': {'Payment-Response': 'e30='}}, {'request': {'method': 'POST'}},
                       {'request': {'url': url.replace('echo', 'ech0')}}, {'request': {'url': url.replace('4020', '4021')}},
                       {'request': {'url': url.replace('a%20b', 'c')}}, {'now': self.now + 400}, {'now': self.now - 100},
                       {'keys': {}}):
            self.assertTrue(self.outcome(**change).startswith('invalid: '), change)

    def test_a_key_counts_until_it_was_revoked(self):
        key_id = self.signed['key']['key_id']
        for revoked, ends in ((self.now - 1, 'invalid: the key was not valid when this was signed'), (self.now + 1, key_id)):
            keys = {key_id: dict(self.keys[key_id], revoked=revoked)}
            self.assertEqual(self.outcome(keys=keys), ends)

    def test_the_url_is_taken_as_a_client_sends_it(self):
        self.assertEqual(v.response.sent_url('HTTPS://Api.Example.ORG:443?x=1#y'), 'https://api.example.org/?x=1')
        self.assertEqual(v.response.sent_url('http://api.example.org:80/a'), 'http://api.example.org/a')
        self.assertEqual(v.response.sent_url('http://api.example.org:8080'), 'http://api.example.org:8080/')


class Receipts(unittest.TestCase):
    def test_a_receipt_is_of_its_seller_payer_and_resource(self):
        signed = vector('signatures.json')
        keys, receipt = v.read_keys(signed['directory']), signed['receipt']
        said = json.loads(receipt['json'])
        expected = {name: said[name] for name in ('payer', 'resourceUrl', 'network')}
        self.assertEqual(v.verify_receipt(receipt['jws'], keys, receipt['authority'], **expected)['payer'], said['payer'])
        jws = receipt['jws']
        for text, known, authority, more in (
                (jws, keys, 'other.example', {}), (jws, {}, receipt['authority'], {}),
                (jws, keys, receipt['authority'], {'payer': '0x' + '01' * 20}),
                (jws, keys, receipt['authority'], {'resourceUrl': 'http://127.0.0.1:4020/'}),
                (jws, keys, receipt['authority'], {'network': 'eip155:137'}),
                (jws[:-10] + 'AAAAAAAAAA', keys, receipt['authority'], {}), ('nonsense', keys, receipt['authority'], {})):
            with self.assertRaises(v.Invalid):
                v.verify_receipt(text, known, authority, **more)


def node(left, right):
    return hashlib.sha256(b'\x01' + left + right).digest()


def split(count):
    return 1 << (count - 1).bit_length() - 1


def root_of(leaves):
    if len(leaves) == 1:
        return leaves[0]
    at = split(len(leaves))
    return node(root_of(leaves[:at]), root_of(leaves[at:]))


def path_of(index, leaves):
    """RFC 6962, 2.1.1, written from the text of the RFC."""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return path_of(index, leaves[:at]) + [root_of(leaves[at:])]
    return path_of(index - at, leaves[at:]) + [root_of(leaves[:at])]


def growth_of(old, leaves, whole=True):
    """RFC 6962, 2.1.2."""
    if old == len(leaves):
        return [] if whole else [root_of(leaves)]
    at = split(len(leaves))
    if old <= at:
        return growth_of(old, leaves[:at], whole) + [root_of(leaves[at:])]
    return growth_of(old - at, leaves[at:], False) + [root_of(leaves[:at])]


class LogProofs(unittest.TestCase):
    leaves = [v.leaf_hash(b'entry %d' % number) for number in range(37)]

    def test_inclusion(self):
        for size in (1, 2, 3, 8, 21, 37):
            root = root_of(self.leaves[:size])
            for index in range(size):
                path = path_of(index, self.leaves[:size])
                self.assertTrue(v.verify_inclusion(self.leaves[index], index, size, path, root))
                self.assertFalse(v.verify_inclusion(v.leaf_hash(b'other'), index, size, path, root))
                self.assertFalse(v.verify_inclusion(self.leaves[index], index, size, path + [root], root))
                self.assertFalse(v.verify_inclusion(self.leaves[index], size, size, path, root))

    def test_consistency(self):
        for size in (2, 7, 16, 37):
            for old in range(1, size + 1):
                old_root, root = root_of(self.leaves[:old]), root_of(self.leaves[:size])
                proof = growth_of(old, self.leaves[:size])
                self.assertTrue(v.verify_consistency(old, old_root, size, root, proof), (old, size))
                self.assertFalse(v.verify_consistency(old, node(old_root, old_root), size, root, proof))
                self.assertFalse(v.verify_consistency(old, old_root, size, node(root, root), proof))


class EvidenceFiles(unittest.TestCase):
    """All of them are compared with the command line by the tests of the repository; here through the package's face."""

    def test_files_verify_or_not_as_their_vectors_say(self):
        plain = 0
        for path in sorted(glob.glob(os.path.join(VECTORS, 'evidence', '*.json'))):
            one = vector('evidence', os.path.basename(path))
            if one['args']:
                continue
            plain += 1
            report = v.verify_evidence(json.dumps(evidence_file(one)))
            self.assertEqual(bool(report and report['ok']), one['expected']['ok'], one['name'])
        self.assertGreater(plain, 5)

    def test_what_is_no_evidence_and_no_policy(self):
        self.assertIsNone(v.verify_evidence('{}'))
        self.assertIsNone(v.verify_evidence('nonsense'))
        with self.assertRaises(ValueError):
            v.verify_evidence('{}', policy='enough')


if __name__ == '__main__':
    unittest.main()
