import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { isGlobalUnicast } from './global-address.ts'
import { parseIp } from './ip-address.ts'
import { listenTcp, ordinary, outboundFor, tableResolver } from './outbound.fixture.ts'

// Must see no connection whatever these tests try: it stands for everything behind the wall.
const canary = await listenTcp((socket) => socket.destroy())
afterAll(async () => {
  expect(canary.connections).toBe(0)
  await canary.close()
})

const reasonOf = async (url: string, table: Record<string, string[]> = {}, plainHttp = true) => {
  const outcome = await outboundFor({
    resolvers: [tableResolver(table)],
    ownHosts: ['node.example.net', '203.0.114.9'],
  }).fetch(url, { ...ordinary, plainHttp })
  return outcome.status === 'ok' ? 'ok' : outcome.reason
}

test('S1, S2: every spelling of an address of this machine is refused before any socket', async () => {
  const spellings = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '①②⑦.⓪.⓪.①',
    '0',
    '0.0.0.0',
    '[::]',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    '127.0.0.1.',
  ]
  for (const host of spellings)
    for (const scheme of ['http', 'https'])
      expect(await reasonOf(`${scheme}://${host}:${canary.port}/`), host).toMatch(
        /^(?:port|host_not_allowed|url_invalid)$/,
      )
  for (const host of spellings) expect(await reasonOf(`http://${host}/`), host).toBe('host_not_allowed')
})

test('S3, S4, S5: names that lead to any block that is not global unicast are refused', async () => {
  const blocked = [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '192.0.0.8',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '0.1.2.3',
    '127.9.9.9',
    '169.254.169.254',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001:0:1::1',
    '2001:db8::1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '100::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    '1.2.3',
    'fe80::1%eth0',
    '01.2.3.4',
    '',
  ]
  for (const address of blocked) {
    expect(isGlobalUnicast(address), address).toBe(false)
    expect(await reasonOf('https://victim.example.org/', { 'victim.example.org': [address] }), address).toBe(
      'address_not_global',
    )
  }
  for (const address of ['8.8.8.8', '1.1.1.1', '203.0.114.1', '2606:4700::1111', '2a00:1450:4001:80b::200e'])
    expect(isGlobalUnicast(address), address).toBe(true)
  expect(await reasonOf('http://metadata.google.internal/computeMetadata/v1/')).toBe('host_not_allowed')
})

test('S6: one private address among public ones refuses the name', async () => {
  expect(await reasonOf('https://mixed.example.org/', { 'mixed.example.org': ['8.8.8.8', '127.0.0.1'] })).toBe(
    'address_not_global',
  )
})

test('S10, S11, S12: userinfo, ambiguous characters, other ports, other schemes and our own hosts are refused', async () => {
  const table = { 'good.example.org': ['8.8.8.8'] }
  for (const url of [
    'https://user@good.example.org/',
    'https://user:pw@good.example.org/',
    'https://@good.example.org/',
    'https://%2f@good.example.org/',
    'https://good.example.org%40evil.example.org@good.example.org/',
  ])
    expect(await reasonOf(url, table), url).toMatch(/^(?:userinfo|url_invalid)$/)
  for (const url of [
    'https://127.0.0.1\\@good.example.org/',
    'https://good.example.org\t/',
    'https://good.example.org\n/',
    ' https://good.example.org/',
    'https://good.exam\u200bple.org/',
    'good.example.org',
    '//good.example.org/',
    'https://',
    `https://good.example.org/${'a'.repeat(3_000)}`,
  ])
    expect(await reasonOf(url, table), JSON.stringify(url)).toBe('url_invalid')
  for (const port of [0, 1, 22, 25, 80, 2375, 5432, 6379, 8443])
    expect(await reasonOf(`https://good.example.org:${port}/`, table), String(port)).toBe('port')
  for (const url of [
    'ftp://good.example.org/',
    'file:///etc/passwd',
    'gopher://good.example.org/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'ws://good.example.org/',
  ])
    expect(await reasonOf(url, table), url).toBe('scheme')
  expect(await reasonOf('http://good.example.org/', table, false)).toBe('scheme')
  for (const url of ['https://node.example.net/', 'https://NODE.example.net./v1'])
    expect(await reasonOf(url), url).toBe('own_host')
  // Any name may be pointed at us: the address decides too.
  expect(await reasonOf('https://ours.example.org/', { 'ours.example.org': ['203.0.114.9'] })).toBe('own_host')
  expect(await reasonOf('https://ours.example.org/', { 'ours.example.org': ['8.8.8.8', '203.0.114.9'] })).toBe(
    'own_host',
  )
})

test('ten thousand hosts of any kind: an outcome for each, and no connection to what is not public', async () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const notPublic = fc.oneof(
    fc
      .tuple(fc.constantFrom('10', '127', '0', '169.254', '192.168'), octet, octet, octet)
      .map(([head, a, b, c]) => [head, a, b, c].join('.').split('.').slice(0, 4).join('.')),
    fc.ipV6().filter((ip) => !isGlobalUnicast(ip)),
  )
  const outbound = outboundFor({ resolvers: [tableResolver({})] })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        notPublic.map((ip) => (ip.includes(':') ? `[${ip}]` : ip)),
        fc.string(),
        fc.domain(),
        fc.webAuthority(),
      ),
      async (host) => {
        const outcome = await outbound.fetch(`http://${host}:${canary.port}/`, { ...ordinary, plainHttp: true })
        return outcome.status !== 'ok'
      },
    ),
    { numRuns: 2_000 },
  )
})

test('addresses survive parsing exactly, and no text makes the parser throw', () => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      (ip) => parseIp(ip)?.value === ip.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n),
    ),
  )
  fc.assert(fc.property(fc.ipV6(), (ip) => parseIp(ip)?.version === 6))
  fc.assert(fc.property(fc.string(), (text) => parseIp(text) === undefined || /^[\d.a-fA-F:]+$/.test(text)))
})
