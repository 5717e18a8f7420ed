import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { joinProgram } from '@assay/till/kernel/join-program.fixture'
import { afterEach, expect, test } from 'vitest'
import type { OutboundOptions } from './index.ts'
import { type Listening, listenHttp, listenTcp, ordinary, outboundFor, tableResolver } from './outbound.fixture.ts'

const open: Listening[] = []
const track = <T extends Listening>(listening: T): T => {
  open.push(listening)
  return listening
}
afterEach(async () => {
  for (const listening of open.splice(0)) await listening.close()
})

/** `site.test` is asked at this port. */
const mapped = (port: number, more: Partial<OutboundOptions> = {}) =>
  outboundFor({
    loopbackHosts: new Map([['site.test', { address: '127.0.0.1', port }]]),
    resolvers: [tableResolver({})],
    ...more,
  })

const site = 'http://site.test/'

test('an ordinary answer has status, headers, decoded bytes, address and final URL', async () => {
  const server = track(
    await listenHttp((request, response) =>
      response
        .setHeader('set-cookie', 'a=1')
        .setHeader('x-host', request.headers.host ?? '')
        .end('hello'),
    ),
  )
  const outcome = await mapped(server.port).fetch('http://site.test/a?b=1#c', ordinary)
  expect(outcome).toMatchObject({
    status: 'ok',
    httpStatus: 200,
    url: 'http://site.test/a?b=1',
    address: '127.0.0.1',
    secure: false,
    cut: false,
  })
  if (outcome.status !== 'ok') throw new Error('not ok')
  expect(Buffer.from(outcome.bytes).toString()).toBe('hello')
  expect(outcome.headers.get('x-host')).toBe('site.test')
  expect(outcome.headers.has('set-cookie')).toBe(false)
})

test('gzip, brotli, zlib and bare deflate are decoded; what is unknown, stacked or damaged fails', async () => {
  const text = 'some text '.repeat(1_000)
  const answers: Record<string, [string, Buffer]> = {
    '/gzip': ['gzip', gzipSync(text)],
    '/br': ['br', brotliCompressSync(text)],
    '/deflate': ['deflate', deflateSync(text)],
    '/raw': ['deflate', deflateRawSync(text)],
    '/stacked': ['gzip, gzip', gzipSync(gzipSync(text))],
    '/unknown': ['zstd', Buffer.from('x')],
    '/damaged': ['gzip', Buffer.from('not gzip at all')],
    '/half': ['gzip', gzipSync(text).subarray(0, 30)],
  }
  const server = track(
    await listenHttp((request, response) => {
      const [coding, body] = answers[request.url ?? ''] ?? ['identity', Buffer.alloc(0)]
      response.setHeader('content-encoding', coding).end(body)
    }),
  )
  const outbound = mapped(server.port)
  for (const path of ['/gzip', '/br', '/deflate', '/raw']) {
    const outcome = await outbound.fetch(`http://site.test${path}`, ordinary)
    expect(outcome.status === 'ok' && Buffer.from(outcome.bytes).toString(), path).toBe(text)
  }
  for (const path of ['/stacked', '/unknown', '/damaged', '/half'])
    expect(await outbound.fetch(`http://site.test${path}`, ordinary), path).toMatchObject({
      status: 'failed',
      reason: 'encoding',
    })
})

test('S16: bombs stop at the cap, and the process grows by less than 32 MiB', async () => {
  const hundred = Buffer.alloc(100 * 1024 * 1024)
  const gzip = gzipSync(hundred, { level: 9 })
  const window = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const brotli = brotliCompressSync(hundred, { params: window })
  expect(gzip.length).toBeLessThan(110_000)
  expect(brotli.length).toBeLessThan(1_000)
  const bodies: Record<string, [string, Buffer]> = {
    '/plain': ['gzip', gzipSync('an ordinary page '.repeat(10_000))],
    '/gzip': ['gzip', gzip],
    '/br': ['br', brotli],
    '/twice': ['gzip, gzip', gzipSync(gzip)],
    '/hidden-twice': ['gzip', gzipSync(gzip)],
  }
  const server = track(
    await listenHttp((request, response) => {
      const [coding, body] = bodies[request.url ?? ''] ?? ['identity', Buffer.alloc(0)]
      response.setHeader('content-encoding', coding).end(body)
    }),
  )
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--expose-gc',
      await joinProgram(fileURLToPath(new URL('./bomb-process.fixture.ts', import.meta.url))),
      String(server.port),
      ...['/gzip', '/br', '/twice', '/hidden-twice'],
    ],
    { timeout: 30_000 },
  )
  const results = JSON.parse(stdout) as Record<string, { outcome: string; risenMb: number }>
  for (const path of ['/gzip', '/br']) {
    expect(results[`${path} fail`]?.outcome).toMatch(/ratio|too_large/)
    expect(results[`${path} cut`]?.outcome).toBe(`ok ${ordinary.maxBytes}`)
  }
  expect(results['/twice fail']?.outcome).toBe('encoding')
  // One layer is unpacked and never a second: what is inside is data.
  expect(results['/hidden-twice fail']?.outcome).toBe(`ok ${gzip.length}`)
  for (const [name, { risenMb }] of Object.entries(results)) expect(risenMb, name).toBeLessThan(32)
})

test('S17, S18: endless, false, slow and silent answers end at the cap or the deadline', async () => {
  const server = track(
    await listenTcp((socket) => {
      socket.once('data', (data) => {
        const path = data.toString().split(' ')[1]
        if (path === '/long') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and much more than five')
        else if (path === '/short') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello')
        else if (path === '/chunks') {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
          const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
          const pump = () => {
            while (!socket.destroyed && socket.write(chunk));
          }
          socket.on('drain', pump)
          pump()
        } else if (path === '/headers') {
          socket.write('HTTP/1.1 200 OK\r\n')
          const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('X-A: 1\r\n')), 20)
        } else if (path === '/drip') {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('x')), 20)
        }
      })
    }),
  )
  const outbound = mapped(server.port)
  const ask = (path: string) => outbound.fetch(`http://site.test${path}`, { ...ordinary, totalMs: 400 })
  const long = await outbound.fetch('http://site.test/long', ordinary)
  expect(long.status === 'ok' ? Buffer.from(long.bytes).toString() : long.reason).toMatch(/^(?:hello|protocol)$/)
  expect(await outbound.fetch('http://site.test/short', ordinary)).toMatchObject({
    status: 'failed',
    reason: 'protocol',
  })
  expect(await outbound.fetch('http://site.test/chunks', ordinary)).toMatchObject({
    status: 'failed',
    reason: 'too_large',
  })
  for (const path of ['/headers', '/drip', '/silent'])
    expect(await ask(path), path).toMatchObject({ status: 'failed', reason: 'timeout' })
})

test('S19: header floods, long lines and what is not HTTP fail, and the process lives', async () => {
  const server = track(
    await listenTcp((socket) => {
      socket.once('data', (data) => {
        const path = data.toString().split(' ')[1]
        if (path === '/flood')
          socket.end(
            `HTTP/1.1 200 OK\r\n${Array.from({ length: 100_000 }, (_, i) => `X-${i}: 1`).join('\r\n')}\r\n\r\n`,
          )
        else if (path === '/line') socket.end(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(1_000_000)}\r\n\r\n`)
        else if (path === '/chunk') socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n')
        else if (path === '/upgrade')
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
        else if (path === '/smuggle')
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
        else socket.end('\u0016\u0003\u0001 not http')
      })
    }),
  )
  const outbound = mapped(server.port)
  for (const path of ['/flood', '/line', '/chunk', '/upgrade', '/smuggle', '/noise'])
    expect(await outbound.fetch(`http://site.test${path}`, { ...ordinary, totalMs: 30_000 }), path).toMatchObject({
      status: 'failed',
      reason: 'protocol',
    })
})

test('S8, S9, S27: redirects are followed by hand, re-checked, at most three, and carry nothing along', async () => {
  const canary = track(await listenTcp((socket) => socket.destroy()))
  const seen: Record<string, string | string[] | undefined>[] = []
  const targets: Record<string, string> = {
    '/one': '/two',
    '/two': '/three',
    '/three': '/four',
    '/loop': '/loop',
    '/private': `http://127.0.0.1:${canary.port}/`,
    '/metadata': 'http://169.254.169.254/',
    '/file': 'file:///etc/passwd',
    '/user': 'http://u:p@site.test/end',
    '/other': 'http://other.test/end',
    '/odd': 'http://[',
    '/scheme-relative': `//127.0.0.1:${canary.port}/`,
  }
  const server = track(
    await listenHttp((request, response) => {
      seen.push(request.headers)
      const target = targets[request.url ?? '']
      if (target === undefined) return response.end('end')
      response.writeHead(302, { location: target, 'set-cookie': 'session=1' }).end()
    }),
  )
  const outbound = outboundFor({
    loopbackHosts: new Map(
      ['site.test', 'other.test'].map((host) => [host, { address: '127.0.0.1', port: server.port }]),
    ),
    resolvers: [tableResolver({})],
  })
  const ask = (path: string, redirectsMax = 3) =>
    outbound.fetch(`http://site.test${path}`, { ...ordinary, redirectsMax, headers: { 'X-Trace': '1' } })
  expect(await ask('/one')).toMatchObject({
    status: 'ok',
    url: 'http://site.test/four',
    redirectedFrom: ['http://site.test/one', 'http://site.test/two', 'http://site.test/three'],
  })
  expect(await ask('/one', 2)).toMatchObject({ status: 'refused', reason: 'too_many_redirects' })
  expect(await ask('/loop')).toMatchObject({ status: 'refused', reason: 'redirect_loop' })
  expect(await ask('/other')).toMatchObject({ status: 'ok', url: 'http://other.test/end' })
  for (const path of ['/private', '/metadata', '/file', '/user', '/odd', '/scheme-relative'])
    expect((await ask(path)).status, path).toBe('refused')
  expect(canary.connections).toBe(0)
  expect(
    seen.every(
      (headers) =>
        headers['cookie'] === undefined && headers['authorization'] === undefined && headers['referer'] === undefined,
    ),
  ).toBe(true)
  await expect(outbound.fetch(site, { ...ordinary, headers: { Authorization: 'x' } })).rejects.toThrow(/never sent/)
  await expect(outbound.fetch(site, { ...ordinary, headers: { cookie: 'x' } })).rejects.toThrow(/never sent/)
})

test('S7: the vetted address is the one connected to, and the next call is vetted again', async () => {
  const canary = track(await listenTcp((socket) => socket.destroy()))
  let answers = 0
  // Public when asked first, private ever after: only one question may be asked for a request.
  const resolver = tableResolver({ 'rebind.example.org': () => (answers++ === 0 ? ['192.0.3.7'] : ['127.0.0.1']) })
  const outbound = outboundFor({ resolvers: [resolver], connectMs: 200 })
  const first = await outbound.fetch('https://rebind.example.org/', { ...ordinary, totalMs: 1_000 })
  expect(first.status).toBe('failed')
  expect(resolver.asked).toEqual(['rebind.example.org'])
  expect(await outbound.fetch('https://rebind.example.org/', ordinary)).toMatchObject({
    status: 'refused',
    reason: 'address_not_global',
  })
  expect(canary.connections).toBe(0)
})

test('S20: another media type is refused before its body, errors keep theirs', async () => {
  const server = track(
    await listenHttp((request, response) => {
      response.statusCode = request.url === '/missing' ? 404 : 200
      response
        .setHeader('content-type', request.url === '/typed' ? 'text/html; charset=utf-8' : 'application/octet-stream')
        .end('x')
    }),
  )
  const outbound = mapped(server.port)
  const ask = (path: string) => outbound.fetch(`http://site.test${path}`, { ...ordinary, accept: ['text/html'] })
  expect(await ask('/typed')).toMatchObject({ status: 'ok' })
  expect(await ask('/other')).toMatchObject({ status: 'refused', reason: 'content_type' })
  expect(await ask('/missing')).toMatchObject({ status: 'ok', httpStatus: 404 })
})

test('a caller who aborts gets the reason, and production can never map to loopback', async () => {
  const stop = new AbortController()
  const server = track(await listenTcp(() => stop.abort()))
  const asked = mapped(server.port).fetch(site, { ...ordinary, signal: stop.signal })
  expect(await asked).toMatchObject({ status: 'failed', reason: 'aborted' })
  expect(() => mapped(server.port, { mode: 'production' })).toThrow(/never maps/)
  expect(() => outboundFor({ loopbackOrigins: ['http://127.0.0.1:1'], mode: 'production' })).toThrow(/never maps/)
  expect(() => outboundFor({ loopbackHosts: new Map([['x.test', { address: '10.0.0.1', port: 1 }]]) })).toThrow(
    /loopback/,
  )
})
