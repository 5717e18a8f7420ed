"""Verifies evidence files of Assay offline. Written from docs/evidence-format.md; needs Python 3.9 and nothing else.

    python3 -m assay_verify answer.json
    python3 -m assay_verify citation.json --trust-wallet 0x... --policy witnesses=1of1,key-valid --witness <vkey>

Exit codes: 0 it verifies, 5 it does not, 2 wrong use. `--json` prints {"ok", "checks": [{"name", "status", "detail"}]}.
"""
import argparse
import json
import sys
import time

from .encoding import is_text, load_json
from .evidence import verify_text
from .log import parse_note_key
from .policy import parse_policy


def read_options(argv):
    parser = argparse.ArgumentParser(prog='assay-verify', description='Verifies evidence files of Assay, offline.')
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
        return 2
    report = verify_text(text, options)
    if report is None:
        print('%s is not an evidence file' % given.file, file=sys.stderr)
        return 2
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


def command():
    sys.exit(main(sys.argv[1:]))


if __name__ == '__main__':
    command()
