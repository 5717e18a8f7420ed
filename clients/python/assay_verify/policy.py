"""Policies such as `witnesses=2of3,key-valid`: what an evidence file must show."""
import re


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
