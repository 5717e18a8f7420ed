import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { headerLinesMax } from '@assay/till/selling'
import { afterEach, describe, expect, test } from 'vitest'
import { opsRoutes } from '../faces/ops/routes.ts'
import { fixtureRoutes, testApp } from './http-app.fixture.ts'
import { createMetrics } from './metrics.ts'
import { defineRoute } from './route.ts'
import { type Listener, type ListenOptions, openListener } from './server.ts'

const open: Listener[] = []
const opsDeps = { checks: [], routes: [], metrics: createMetrics(), metricsPublic: false, clock: systemClock }
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const listener of open.splice(0)) await listener.drain()
})

type Started = Pick<ListenOptions, 'headersTimeoutMs' | 'keepAliveMs'> & { routes?: ReturnType<typeof fixtureRoutes> }

async function start({ routes, ...times }: Started = {}) {
  const listener = await openListener({
    port: 0,
    host: '127.0.0.1',
    log: silentLog,
    ...times,
  })
  open.push(listener)
  const app = testApp({
    ...(routes ? { routes } : {}),
    config: { baseUrl: listener.url, apiUrl: listener.url } as never,
  })
  await listener.serve(app)
  return { listener, app }
}

/** Sends raw bytes and gives back everything until the other side closes, or until `enough` was seen. */
async function talk(port: number, bytes: string, enough?: (text: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.on('error', () => {})
  socket.write(bytes)
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk
      if (enough?.(text)) resolve()
    })
    socket.on('close', resolve)
  })
  socket.destroy()
  return text
}

/** As a process does that gets no time of its machine. */
const freeze = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const get = (port: number, path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}\r\n`

describe('over a socket', () => {
  test('answers, shares and keeps the connection', async () => {
    const { listener } = await start()
    for (let i = 0; i < 3; i += 1) {
      const response = await fetch(`${listener.url}/v1/report/1`)
      expect(response.status).toBe(402)
      expect(response.headers.has('date')).toBe(true)
      expect(((await response.json()) as { code: string }).code).toBe('payment_required')
    }
  })

  test('text beyond ASCII arrives whole, shared or not', async () => {
    const routes = fixtureRoutes()
    const cached = routes.find((route) => route.id === 'free.cached')
    if (cached?.access.kind === 'free')
      cached.access.handle = async () => ({ status: 200, contentType: 'text/plain; charset=utf-8', body: 'Größe €' })
    if (cached) Object.assign(cached, { representations: ['text/plain'] })
    const { listener } = await start({ routes })
    for (let i = 0; i < 3; i += 1) expect(await (await fetch(`${listener.url}/cached`)).text()).toBe('Größe €')
  })

  test('the answer counts as delivered once its last byte was handed over', async () => {
    const { listener, app } = await start()
    const response = await fetch(`${listener.url}/v1/report/1`, { headers: { 'PAYMENT-SIGNATURE': 'good' } })
    expect(await response.json()).toEqual({ echo: '1' })
    expect(app.gate.delivered).toBe(1)
  })

  test('an answer whose caller hung up is never counted as delivered, and the gate hears that the caller has gone', async () => {
    const routes = fixtureRoutes()
    const report = routes.find((route) => route.id === 'paid.report')
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    if (report?.access.kind === 'paid') {
      const { prepare } = report.access
      report.access.prepare = async (input, call) => {
        await held
        return prepare(input, call)
      }
    }
    const { listener, app } = await start({ routes })
    const socket = connect(listener.port, '127.0.0.1')
    socket.write(get(listener.port, '/v1/report/1', 'PAYMENT-SIGNATURE: good\r\n'))
    await expect.poll(() => app.gate.calls.length).toBeGreaterThan(0)
    const gone = once(app.gate.calls[0]?.clientGone as AbortSignal, 'abort')
    socket.destroy()
    await gone
    release()
    await expect.poll(() => app.gate.prepared).toBe(1)
    // The next answer is delivered, the lost one still is not.
    const next = get(listener.port, '/v1/report/1', 'PAYMENT-SIGNATURE: good\r\n')
    await talk(listener.port, next, (seen) => seen.startsWith('HTTP/1.1 200'))
    await expect.poll(() => app.gate.delivered).toBe(1)
    expect(app.gate.prepared).toBe(2)
  })

  test('E2: a huge body is refused before it is read, and the connection ends', async () => {
    const { listener } = await start()
    const head = `POST /v1/order HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nContent-Type: application/json\r\n`
    const announced = await talk(listener.port, `${head}Content-Length: 104857600\r\n\r\n{"a":`)
    expect(announced).toMatch(/^HTTP\/1.1 413 /)
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`
    const streamed = await talk(listener.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`)
    expect(streamed).toMatch(/^HTTP\/1.1 413 /)
    expect(streamed.toLowerCase()).toContain('connection: close')
  })

  test('Expect: 100-continue is answered only when the body is wanted', async () => {
    const { listener } = await start()
    const head = `POST /v1/order HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`
    const refused = await talk(listener.port, `${head}Content-Length: 9999999\r\n\r\n`)
    expect(refused).toMatch(/^HTTP\/1.1 413 /)
    const wanted = await talk(listener.port, `${head}Content-Length: 12\r\n\r\n`, (text) =>
      text.includes('100 Continue'),
    )
    expect(wanted).toMatch(/^HTTP\/1.1 100 Continue/)
  })

  test('A32: headers of 17 kB are 431 in our own shape; unreadable requests are 400', async () => {
    const { listener } = await start()
    const large = await talk(listener.port, get(listener.port, '/', `PAYMENT-SIGNATURE: ${'x'.repeat(17_000)}\r\n`))
    expect(large).toMatch(/^HTTP\/1.1 431 /)
    expect(large).toContain('"code":"headers_too_large"')
    expect(large).toContain('Signature-Input: ')
    expect(large).toContain('X-X402-Royalty-Bps: 250')
    for (const bytes of ['rubbish\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET / HTTP/1.1\r\nA b: c\r\n\r\n'])
      expect(await talk(listener.port, bytes), bytes).toMatch(
        /^HTTP\/1.1 400 [\s\S]*"detail":"The request could not be read: Invalid [\w ]+\."/,
      )
    expect(await (await fetch(`${listener.url}/cached`)).json()).toEqual({ echo: 'cached' })
  })

  test('more than a thousand header lines hide the ones behind them from every check', async () => {
    const { listener } = await start({ routes: [...fixtureRoutes(), ...opsRoutes(opsDeps)] })
    const lines = (count: number) => 'a:\r\n'.repeat(count)
    // From here on there is a shared answer that a flood must not find.
    expect((await fetch(`${listener.url}/cached`)).status).toBe(200)
    const behind = [
      ['GET', '/metrics', 'X-Forwarded-For: 198.51.100.7\r\n'],
      ['GET', '/cached', 'Host: other.example\r\n'],
      ['GET', '/v1/report/1', 'PAYMENT-SIGNATURE: good\r\nPAYMENT-SIGNATURE: bad\r\n'],
    ]
    for (const [method, path, last] of behind) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nConnection: close\r\n`
      for (const count of [headerLinesMax, 900, 1_000, 1_100, 2_500]) {
        const text = await talk(listener.port, `${head}${lines(count)}${last}\r\n`)
        expect(text, `${path} ${count}`).toMatch(/^HTTP\/1.1 431 /)
        expect(text).toContain(`"max_lines":${headerLinesMax}`)
        expect(text).toContain('Signature-Input: ')
      }
    }
    expect(await talk(listener.port, get(listener.port, '/cached', `Connection: close\r\n${lines(90)}`))).toMatch(
      /^HTTP\/1.1 200 /,
    )
  })

  test('a refused header flood of a route in area C still carries the royalty headers', async () => {
    const { listener } = await start()
    const flood = `Connection: close\r\nContent-Length: 0\r\n${'a:\r\n'.repeat(500)}`
    const note = get(listener.port, '/v1/note', flood).replace('GET', 'POST')
    expect(await talk(listener.port, note)).toMatch(/^HTTP\/1.1 431 [\s\S]*X-X402-Royalty-Bps: 250/)
    expect(await talk(listener.port, get(listener.port, '/cached', flood))).not.toContain('X-X402-Royalty-Bps: ')
  })

  test('two lengths for one body are refused', async () => {
    const { listener, app } = await start()
    const head = `POST /v1/order HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\nContent-Length: 3\r\n`
    for (const second of ['Content-Length: 4', 'Transfer-Encoding: chunked'])
      expect(await talk(listener.port, `${head}${second}\r\n\r\n{}`)).toMatch(/^HTTP\/1.1 400 /)
    expect(app.gate.calls).toHaveLength(0)
  })

  test('E1: headers that drip in forever are cut off', async () => {
    const { listener } = await start({ headersTimeoutMs: 300 })
    const socket = connect(listener.port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    await once(socket, 'close')
    expect(answer).toContain('"detail":"The request did not arrive whole in time."')
  })

  test('a request that arrived while the process was frozen is answered, however long that was', async () => {
    const { listener } = await start({ headersTimeoutMs: 300 })
    const statuses: Promise<string>[] = []
    // Some of the connections are taken by now and nothing is read of them yet, whatever comes first.
    for (let turn = 0; turn < 10; turn += 1) {
      const answer = talk(listener.port, get(listener.port, '/v1/report/1'), (text) => text.includes('\r\n'))
      statuses.push(answer.then((text) => text.split('\r\n')[0] ?? ''))
      await new Promise(setImmediate)
    }
    freeze(2_000)
    expect(new Set(await Promise.all(statuses))).toEqual(new Set(['HTTP/1.1 402 Payment Required']))
  })

  test('a request on a kept connection that arrived while the process was frozen is answered', async () => {
    const { listener } = await start({ keepAliveMs: 2_000 })
    const socket = connect(listener.port, '127.0.0.1')
    sockets.push(socket)
    for (const stillMs of [0, 4_000]) {
      const answer = once(socket, 'data')
      socket.write(get(listener.port, '/v1/report/1'))
      freeze(stillMs)
      expect(String(await answer)).toMatch(/^HTTP\/1.1 402 /)
    }
    await once(socket, 'close')
  })

  test('E11: an upgrade is never made, and pipelined requests are answered in order', async () => {
    const { listener } = await start()
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
    expect(await talk(listener.port, get(listener.port, '/cached', upgrade))).not.toContain('101 Switching')
    const websocket =
      'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQ==\r\n'
    expect(await talk(listener.port, get(listener.port, '/v1/report/1', websocket))).toMatch(/^HTTP\/1.1 402 /)
    const port = listener.port
    const both = await talk(port, get(port, '/v1/thing/7') + get(port, '/cached', 'Connection: close\r\n'))
    expect(both.match(/HTTP\/1.1 200/g)).toHaveLength(2)
    expect(both.indexOf('"id":"7"')).toBeLessThan(both.indexOf('"cached"'))
  })

  test('before the node is complete every request is asked to retry later', async () => {
    const listener = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
    open.push(listener)
    const response = await fetch(`${listener.url}/`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  })

  test('at a port that was named nobody is let in before the node is complete: a proxy goes to the next process', async () => {
    const earlier = await openListener({ port: 0, host: '127.0.0.1', log: silentLog })
    const { port } = earlier
    await earlier.drain()
    const listener = await openListener({ port, host: '127.0.0.1', log: silentLog })
    open.push(listener)
    await expect(fetch(`${listener.url}/cached`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
    await listener.serve(testApp({ config: { baseUrl: listener.url, apiUrl: listener.url } as never }))
    expect((await fetch(`${listener.url}/cached`)).status).toBe(200)
    const second = openListener({ port, host: '127.0.0.1', log: silentLog })
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('streams', () => {
  function streaming(next: () => Promise<string | undefined>, onReturn: () => void, ready?: () => Promise<void>) {
    const base = fixtureRoutes()
    const cached = base[1]
    if (!cached) throw new Error('the fixture has a free route')
    const stream = defineRoute({
      ...cached,
      id: 'free.stream',
      path: '/stream',
      representations: ['text/event-stream'],
      access: {
        kind: 'free',
        handle: async () => {
          await ready?.()
          const body = (async function* () {
            try {
              for (let event = await next(); event !== undefined; event = await next()) yield event
            } finally {
              onReturn()
            }
          })()
          return { status: 200, contentType: 'text/event-stream', body }
        },
      },
    })
    return [...base, stream]
  }

  test('events arrive as they are made, signed without digest, and the source stops when the reader leaves', async () => {
    let returned = () => {}
    const stopped = new Promise<void>((resolve) => {
      returned = resolve
    })
    let count = 0
    const tick = async () => {
      count += 1
      await new Promise((resolve) => setTimeout(resolve, 5))
      return `data: ${count}\n\n`
    }
    const { listener } = await start({ routes: streaming(tick, returned) })
    const text = await talk(listener.port, get(listener.port, '/stream'), (seen) => seen.includes('data: 3'))
    expect(text.toLowerCase()).not.toContain('content-digest:')
    expect(text.toLowerCase()).toContain('signature-input:')
    await stopped
  })

  test('a source that breaks cuts the stream instead of ending it cleanly', async () => {
    let count = 0
    const breaks = async () => {
      count += 1
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (count > 2) throw new Error('gone')
      return 'data: x\n\n'
    }
    const { listener } = await start({ routes: streaming(breaks, () => {}) })
    const text = await talk(listener.port, get(listener.port, '/stream'))
    expect(text).toContain('data: x')
    expect(text.endsWith('0\r\n\r\n')).toBe(false)
  })

  test('a reader that does not read stops the source after a bounded buffer', async () => {
    let made = 0
    const big = 'x'.repeat(16 * 1024)
    const flood = async () => {
      made += 1
      return `data: ${big}\n\n`
    }
    const { listener } = await start({ routes: streaming(flood, () => {}) })
    const socket = connect(listener.port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    socket.pause()
    socket.write(get(listener.port, '/stream'))
    let before = -1
    while (made !== before || made === 0) {
      before = made
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // What the kernel buffers is not ours; our own share of it is small.
    expect(made * big.length).toBeLessThan(32 * 1024 * 1024)
  })

  test('draining ends streams with a hint to reconnect, lets requests end, and then closes', async () => {
    let pulled = 0
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      pulled += 1
      return 'data: x\n\n'
    }
    const { listener } = await start({ routes: streaming(slow, () => {}) })
    const reading = talk(listener.port, get(listener.port, '/stream'))
    await expect.poll(() => pulled, { timeout: 10_000 }).toBeGreaterThan(1)
    await listener.drain()
    open.splice(0)
    expect(await reading).toContain('retry: 1000')
    await expect(fetch(`${listener.url}/cached`)).rejects.toThrow()
  })

  test('a stream that opens while the node is stopping gives its first piece and ends with the same hint', async () => {
    let open = () => {}
    let asked = false
    const ready = () => {
      asked = true
      return new Promise<void>((resolve) => {
        open = resolve
      })
    }
    let pulled = 0
    const once = () => {
      pulled += 1
      return pulled === 1 ? Promise.resolve('data: bought\n\n') : new Promise<string>(() => {})
    }
    const { listener } = await start({ routes: streaming(once, () => {}, ready) })
    const reading = talk(listener.port, get(listener.port, '/stream'))
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(true)
    const drained = listener.drain()
    open()
    expect(await reading).toMatch(/data: bought[\s\S]*retry: 1000/)
    await drained
  })
})
