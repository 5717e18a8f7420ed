import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { systemClock } from '@assay/till/kernel/clock'
import { systemRng } from '@assay/till/kernel/random'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameBytes, reply } from './dns-server.fixture.ts'
import { createDnsResolver } from './udp-resolver-adapter.ts'
import { decodeReply, encodeQuery } from './wire.ts'

test('any bytes decode to a reply or to nothing, and only to the question that was asked', () => {
  const query = encodeQuery(7, 'example.com', 'TXT')
  if (!query) throw new Error('no query')
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      (bytes) => decodeReply(bytes, 7, 'example.com', 'TXT') === undefined || bytes.length >= 12,
    ),
  )
  const whole = reply(query, [{ type: 16, data: [5, ...Buffer.from('hello'), 2, 33, 33] }])
  expect(decodeReply(whole, 7, 'example.com', 'TXT')).toMatchObject({
    authenticated: true,
    answers: [{ text: 'hello!!', ttlSeconds: 60 }],
  })
  expect(decodeReply(whole, 8, 'example.com', 'TXT')).toBeUndefined()
  expect(decodeReply(whole, 7, 'example.org', 'TXT')).toBeUndefined()
  expect(decodeReply(whole, 7, 'example.com', 'A')).toBeUndefined()
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
      const altered = Buffer.from(whole)
      altered[at] = byte
      decodeReply(altered, 7, 'example.com', 'TXT')
      decodeReply(whole.subarray(0, at), 7, 'example.com', 'TXT')
    }),
  )
  // A pointer to itself or forward would never end.
  expect(
    decodeReply(
      Buffer.from([0, 7, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 16, 0, 1]),
      7,
      'example.com',
      'TXT',
    ),
  ).toBeUndefined()
})

test('a reply that is cut off, or has an address of another length, is no reply', () => {
  const address = [0x26, 6, 0x47, 0, ...Buffer.alloc(11), 1]
  const records = {
    A: { type: 1, data: [8, 8, 4, 4] },
    AAAA: { type: 28, data: address },
    TXT: { type: 16, data: [5, ...Buffer.from('hello'), 2, 33, 33] },
    CAA: { type: 257, data: [0, 5, ...Buffer.from('issueca.org')] },
    SRV: { type: 33, data: [0, 1, 0, 2, 1, 187, ...nameBytes('node.example.com')] },
  } as const
  for (const type of ['A', 'AAAA', 'TXT', 'CAA', 'SRV'] as const) {
    const { type: code, data } = records[type]
    const query = encodeQuery(7, 'example.com', type) ?? new Uint8Array()
    const whole = reply(query, [{ type: code, data: [...data] }])
    expect(decodeReply(whole, 7, 'example.com', type)?.answers).toHaveLength(1)
    for (let end = 0; end < whole.length; end += 1)
      expect(decodeReply(whole.subarray(0, end), 7, 'example.com', type), `${type} ${end}`).toBeUndefined()
  }
  const bare = encodeQuery(7, 'example.com', 'A') ?? new Uint8Array()
  for (const data of [[], [8], [8, 8, 4], [8, 8, 4, 4, 4], address])
    expect(decodeReply(reply(bare, [{ type: 1, data }]), 7, 'example.com', 'A'), `${data.length}`).toBeUndefined()
})

test('what is no name is never asked', () => {
  for (const name of ['', '.', 'a..b', 'a b', `${'a'.repeat(64)}.com`, 'ä.com', 'a.com\u0000', '-a.com'])
    expect(encodeQuery(1, name, 'A'), name).toBeUndefined()
  expect(encodeQuery(1, '_citemarket.example.com', 'TXT')).toBeDefined()
})

test('a resolver answers over UDP, turns to TCP for long answers, ignores forgeries, and says when it failed', async () => {
  const tcp = createServer((socket) =>
    socket.on('data', (data) => {
      const answer = reply(
        data.subarray(2),
        Array.from({ length: 20 }, () => ({ type: 16, data: [200, ...Buffer.alloc(200, 'x')] })),
      )
      socket.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]))
    }),
  )
  const udp = createSocket('udp4')
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  const port = (tcp.address() as { port: number }).port
  udp.on('message', (query, from) => {
    const name = query.subarray(12).toString('latin1')
    const send = (bytes: Uint8Array) => udp.send(bytes, from.port, from.address)
    if (name.includes('silent')) return
    if (name.includes('long')) return send(reply(query, [], 0x8380))
    if (name.includes('broken')) return send(reply(query, [], 0x8182))
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1)
    const forged = Buffer.from(reply(query, [{ type: 1, data: [127, 0, 0, 1] }]))
    forged[0] = (forged[0] ?? 0) ^ 1
    send(forged)
    if (type === 1)
      send(
        reply(query, [
          { type: 5, data: nameBytes('real.example') },
          { type: 1, data: [8, 8, 4, 4] },
        ]),
      )
    else if (type === 28) send(reply(query, [{ type: 28, data: [0x26, 6, 0x47, 0, ...Buffer.alloc(11), 1] }]))
    else send(reply(query, [{ type: 257, data: [0, 5, ...Buffer.from('issueca.org')] }]))
  })
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve))
  try {
    const resolver = createDnsResolver({
      server: '127.0.0.1',
      port,
      clock: systemClock,
      rng: systemRng,
      attemptMs: 200,
    })
    const { signal } = new AbortController()
    expect(await resolver.addresses('example.com', signal)).toEqual({
      status: 'ok',
      addresses: ['8.8.4.4', '2606:4700:0:0:0:0:0:1'],
    })
    expect(await resolver.caa('example.com', signal)).toMatchObject({
      status: 'ok',
      records: ['0 issue ca.org'],
      authenticated: true,
    })
    expect(await resolver.txt('long.example', signal)).toMatchObject({
      status: 'ok',
      records: expect.arrayContaining([expect.stringMatching(/^x{200}$/)]),
    })
    expect(await resolver.addresses('silent.example', signal)).toMatchObject({ status: 'failed' })
    expect(await resolver.addresses('broken.example', signal)).toMatchObject({ status: 'failed' })
    expect(await resolver.txt('not a name', signal)).toMatchObject({ status: 'failed' })
  } finally {
    udp.close()
    await new Promise((resolve) => tcp.close(resolve))
  }
})

test('a server that the network has no route to fails the lookup, and ended the process', async () => {
  // No socket may connect to the broadcast address: the same path as a network that is down.
  const resolver = createDnsResolver({ server: '255.255.255.255', clock: systemClock, rng: systemRng })
  const { signal } = new AbortController()
  expect(await resolver.txt('example.com', signal)).toMatchObject({ status: 'failed' })
})
