import { domainToUnicode } from 'node:url'
import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalDomain, type DomainRules } from './canonical-domain.ts'
import { matchSuffix } from './public-suffix.ts'

const rules: DomainRules = { ownHosts: new Set(['node.example.net']), demoHosts: new Set(['my.test']) }
const of = (text: string) => canonicalDomain(text, rules)
const keyOf = (text: string) => {
  const outcome = of(text)
  return outcome.ok ? outcome.domain : outcome.problem
}

test('any text gives one canonical domain or a named problem, and the canonical form is its own canonical form', () => {
  const labels = fc.array(fc.stringMatching(/^[a-z0-9-]{1,12}$/), { minLength: 1, maxLength: 5 })
  const texts = fc.oneof(
    anyText(),
    fc.string(),
    fc.domain(),
    labels.map((parts) => parts.join('.')),
    fc.webUrl(),
    fc.ipV4Extended(),
    fc.ipV6(),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const outcome = of(text)
      if (!outcome.ok) return outcome.detail.length > 0
      const again = of(outcome.domain)
      return (
        again.ok &&
        again.domain === outcome.domain &&
        /^[a-z0-9.-]+$/.test(outcome.domain) &&
        outcome.domain.endsWith(outcome.registrable)
      )
    }),
    { numRuns: 1_000 },
  )
})

test('case, trailing dot and Unicode spelling do not make another domain', () => {
  fc.assert(
    fc.property(fc.domain(), (domain) => {
      const key = keyOf(domain)
      expect(keyOf(domain.toUpperCase())).toBe(key)
      expect(keyOf(`${domain}.`)).toBe(key)
      if (of(domain).ok) expect(keyOf(domainToUnicode(key))).toBe(key)
    }),
  )
  expect(keyOf('EXAMPLE.com.')).toBe('example.com')
  expect(keyOf('ｅｘａｍｐｌｅ。ｃｏｍ')).toBe('example.com')
  expect(keyOf('bücher.de')).toBe('xn--bcher-kva.de')
  expect(keyOf('XN--BCHER-KVA.de')).toBe('xn--bcher-kva.de')
  // IDNA 2008 keeps the sharp s; IDNA 2003 would have made another domain of it.
  expect(keyOf('faß.de')).toBe('xn--fa-hia.de')
})

test('S14: suffixes cannot be claimed, private ones neither, and what is registered below them can', () => {
  for (const suffix of ['com', 'co.uk', 'github.io', 'xn--p1ai', 'blogspot.com', 'city.kawasaki.jp.'.slice(5, -1)])
    expect(keyOf(suffix), suffix).toBe('public_suffix')
  expect(of('user.github.io')).toMatchObject({ ok: true, registrable: 'user.github.io' })
  expect(of('a.b.user.github.io')).toMatchObject({ registrable: 'user.github.io' })
  expect(of('news.bbc.co.uk')).toMatchObject({ registrable: 'bbc.co.uk' })
  expect(matchSuffix('www.ck')).toEqual({ suffix: 'ck', registrable: 'www.ck' })
  expect(matchSuffix('a.b.ck')).toEqual({ suffix: 'b.ck', registrable: 'a.b.ck' })
  expect(matchSuffix('city.kawasaki.jp').registrable).toBe('city.kawasaki.jp')
})

test('addresses, reserved names, our own name and what is no domain are refused with the reason', () => {
  for (const ip of ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '①②⑦.0.0.1', '[::1]', '::1', '8.8.8.8'])
    expect(keyOf(ip), ip).toBe('ip_address')
  for (const name of [
    'localhost',
    'a.localhost',
    'printer.local',
    'x.internal',
    'other.test',
    'foo.example',
    'x.onion',
    '1.168.192.in-addr.arpa',
  ])
    expect(keyOf(name), name).toBe('reserved_name')
  expect(keyOf('my.test')).toBe('my.test')
  for (const own of ['node.example.net', 'NODE.example.net.', 'sub.node.example.net'])
    expect(keyOf(own)).toBe('own_domain')
  for (const odd of [
    '',
    '.',
    'a..b.com',
    '-a.com',
    'a-.com',
    'a b.com',
    'https://example.com',
    'example.com/x',
    'u@example.com',
    'example.com:80',
    'exa\u0000mple.com',
    'ab--cd.com',
    'xn--a.com',
    `${'a'.repeat(64)}.com`,
  ])
    expect(['not_a_domain', 'public_suffix'], odd).toContain(keyOf(odd))
})

test('S13: names that imitate another are flagged and shown as punycode', () => {
  expect(of('аррӏе.com')).toMatchObject({
    ok: true,
    homograph: { kind: 'looks_latin', looksLike: 'apple.com' },
    display: 'xn--80ak6aa92e.com',
  })
  expect(of('pаypal.com')).toMatchObject({ homograph: { kind: 'mixed_script', looksLike: 'paypal.com' } })
  expect(of('bücher.de')).toMatchObject({ homograph: undefined, display: 'bücher.de' })
  expect(of('россия.рф')).toMatchObject({ homograph: undefined })
  expect(of('日本語.jp')).toMatchObject({ homograph: undefined })
})
