"""Payments of x402: what was signed, and by whom, as other languages find it."""
import base64
import hashlib
import json
import unittest

from assay_verify.keccak import keccak256
from assay_verify.secp256k1 import recover, typed_digest
from test_vectors import vector

FIELDS = (('from', 'address'), ('to', 'address'), ('value', 'uint256'), ('validAfter', 'uint256'),
          ('validBefore', 'uint256'), ('nonce', 'bytes32'))


class Payments(unittest.TestCase):
    def setUp(self):
        self.vectors = vector('payments.json')

    def test_digests_and_signers(self):
        domain = self.vectors['domain']
        seen = 0
        for one in self.vectors['payments']:
            if 'digest' not in one:
                continue
            payload = json.loads(base64.b64decode(one['header']))['payload']
            digest = self.digest(domain, payload['authorization'])
            self.assertEqual('0x' + digest.hex(), one['digest'], one['id'])
            signature = bytes.fromhex(payload['signature'][2:])
            r, s = (int.from_bytes(signature[at:at + 32], 'big') for at in (0, 32))
            self.assertEqual(recover(digest, r, s, signature[64]).lower(), one['signer'], one['id'])
            seen += 1
        self.assertGreater(seen, 10)

    def digest(self, domain, authorization):
        values = {'uint256': int, 'bytes32': lambda text: bytes.fromhex(text[2:]), 'address': str.lower}
        fields = [(kind, name, values[kind](authorization[name])) for name, kind in FIELDS]
        own = [('string', 'name', domain['name']), ('string', 'version', domain['version']),
               ('uint256', 'chainId', domain['chain_id']), ('address', 'verifyingContract', domain['verifying_contract'])]
        return typed_digest(own, 'TransferWithAuthorization', fields)

    def test_bindings(self):
        tag = keccak256(b'assay:request-binding:v1')[:8]
        for one in self.vectors['bindings']:
            self.assertEqual(hashlib.sha256(one['body'].encode()).hexdigest(), one['body_sha256'][2:])
            texts = [one[name].encode() for name in ('method', 'resource', 'content_type')]
            heads, tails = [(1).to_bytes(32, 'big')], b''
            for text in texts:
                heads.append((6 * 32 + len(tails)).to_bytes(32, 'big'))
                tails += len(text).to_bytes(32, 'big') + text + b'\0' * (-len(text) % 32)
            heads += [bytes.fromhex(one[name][2:]) for name in ('body_sha256', 'salt')]
            nonce = tag + keccak256(b''.join(heads) + tails)[:24]
            self.assertEqual('0x' + nonce.hex(), one['nonce'])


if __name__ == '__main__':
    unittest.main()
