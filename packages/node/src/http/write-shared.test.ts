import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type SharedResponse, writeShared } from './write-shared.ts'

let answer: SharedResponse
let server: Server
let written: boolean[] = []

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 20_000 }, (_request, response) => {
    const { writeHead } = response
    let byNode = false
    response.writeHead = ((...given: Parameters<typeof writeHead>) => {
      byNode = true
      return writeHead.apply(response, given)
    }) as typeof writeHead
    writeShared(response, answer)
    written.push(byNode)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

beforeEach(() => {
  written = []
  answer = {
    status: 402,
    headers: ['Content-Type', 'application/json', 'Content-Length', '2', 'X-Request-Id', '', 'RateLimit', ''],
    changing: 2,
    body: '{}',
    atMs: 0,
  }
})

/** What comes back until the server closes the connection, or for all requests of one that stays open. */
function exchange(requests: string[], change: (index: number) => void): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const answers: string[] = []
    const next = () => {
      const request = requests[answers.length]
      if (request === undefined) return socket.end()
      change(answers.length)
      socket.write(request)
    }
    socket.on('connect', next)
    socket.on('data', (bytes) => {
      answers.push(bytes.toString('latin1').replace(/^Date: .*$/m, 'Date: now'))
      next()
    })
    socket.on('close', () => resolve(answers))
    socket.on('error', reject)
  })
}

const give = (id: string, limit: string, atMs: number) => {
  answer.headers[5] = id
  answer.headers[7] = limit
  answer.atMs = atMs
}
const get = (headers = '') => `GET / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

test('an answer of the same second has the bytes that node:http would write, with the values of its caller', async () => {
  const answers = await exchange([get(), get(), get()], (index) => give(`id-${index}`, `r=${index}`, index * 600))
  expect(written).toEqual([true, false, true])
  const [first = '', second, third] = answers
  expect(first).toContain(
    '\r\nX-Request-Id: id-0\r\nRateLimit: r=0\r\nDate: now\r\nConnection: keep-alive\r\nKeep-Alive: timeout=20\r\n\r\n{}',
  )
  const of = (index: number) => first.replace('id-0', `id-${index}`).replace('r=0', `r=${index}`)
  expect(second).toBe(of(1))
  expect(third).toBe(of(2))
})

test('a connection that ends with the answer is reported by node:http, and spoils nothing for others', async () => {
  await exchange([get()], () => give('id-0', 'r=0', 0))
  const [closing] = await exchange([get('Connection: close\r\n')], () => give('id-1', 'r=1', 1))
  expect(closing).toContain('\r\nConnection: close\r\n')
  const [old] = await exchange(['GET / HTTP/1.0\r\nHost: a\r\n\r\n'], () => give('id-2', 'r=2', 2))
  expect(old).toContain('\r\nConnection: close\r\n')
  await exchange([get()], () => give('id-3', 'r=3', 3))
  expect(written).toEqual([true, true, true, false])
})

test('HEAD gets no body', async () => {
  const head = get().replace('GET', 'HEAD')
  const [first, second] = await exchange([head, head], () => give('id-0', 'r=0', 0))
  expect(first?.endsWith('\r\n\r\n')).toBe(true)
  expect(second).toBe(first)
})

test('bytes that are no text follow their head', async () => {
  answer.body = Buffer.from([0xff, 0x00])
  const [first, second] = await exchange([get(), get()], () => give('id-0', 'r=0', 0))
  expect(first?.endsWith('\r\n\r\n\xff\x00')).toBe(true)
  expect(second).toBe(first)
})
