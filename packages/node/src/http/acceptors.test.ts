import { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, Server as NetServer, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { openAcceptors } from './acceptors.ts'

afterEach(() => vi.restoreAllMocks())

const backlog = 4_096

async function openServer(acceptors: number) {
  const server = createServer((_request, response) => response.end('answer'))
  server.listen(0, '127.0.0.1', backlog)
  await once(server, 'listening')
  return {
    server,
    acceptors: openAcceptors(server, acceptors - 1, backlog),
    port: (server.address() as AddressInfo).port,
  }
}

/** Twenty callers come at once; how many are taken in each turn of the loop. */
async function acceptedPerTurn(server: Server, port: number): Promise<number[]> {
  let taken = 0
  const count = () => {
    taken += 1
  }
  server.on('connection', count)
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  const turns: number[] = []
  while (taken < 20) {
    const before = taken
    await new Promise((resolve) => setImmediate(resolve))
    turns.push(taken - before)
  }
  server.off('connection', count)
  for (const socket of sockets) socket.destroy()
  return turns
}

const ask = (socket: Socket) =>
  new Promise<string>((resolve, reject) => {
    let text = ''
    socket.on('data', (piece) => {
      text += piece
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
    // Half closed at once: the answer must come nevertheless.
    socket.end('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n')
  })

test('a server with more acceptors takes more than one connection per turn of its loop', async () => {
  const one = await openServer(1)
  expect(Math.max(...(await acceptedPerTurn(one.server, one.port)))).toBe(1)
  const many = await openServer(4)
  await expect
    .poll(async () => Math.max(...(await acceptedPerTurn(many.server, many.port))), { timeout: 20_000 })
    .toBe(4)
  for (const { server, acceptors } of [one, many]) {
    server.close()
    await acceptors.close()
  }
})

test('what any acceptor took is answered, and none takes anything once closed', async () => {
  const { server, acceptors, port } = await openServer(4)
  await expect.poll(async () => Math.max(...(await acceptedPerTurn(server, port))), { timeout: 20_000 }).toBe(4)
  const answers = await Promise.all(Array.from({ length: 24 }, () => ask(connect(port, '127.0.0.1'))))
  expect(answers.filter((text) => text.endsWith('answer'))).toHaveLength(24)
  server.close()
  await acceptors.close()
  await expect(ask(connect(port, '127.0.0.1'))).rejects.toThrow('ECONNREFUSED')
})

test('closing before any acceptor came leaves nothing behind', async () => {
  const { server, acceptors, port } = await openServer(4)
  await acceptors.close()
  server.close()
  await once(server, 'close')
  await expect(ask(connect(port, '127.0.0.1'))).rejects.toThrow('ECONNREFUSED')
})

test('acceptors leave the queue of their socket as long as it was', async () => {
  const listens = vi.spyOn(NetServer.prototype, 'listen')
  const { server, acceptors } = await openServer(4)
  await expect.poll(() => listens.mock.calls.length, { timeout: 20_000 }).toBe(4)
  expect(listens.mock.calls.map((given) => (given as unknown[]).at(-1))).toEqual([backlog, backlog, backlog, backlog])
  server.close()
  await acceptors.close()
})

test('a handle that comes back while all is being closed is closed too', async () => {
  const spawns = vi.spyOn(ChildProcess.prototype as ChildProcess & { spawn(): void }, 'spawn')
  const { server, acceptors } = await openServer(4)
  server.close()
  const closed = acceptors.close()
  const late = { close: vi.fn() }
  const [child] = spawns.mock.contexts as ChildProcess[]
  child?.emit('message', '', late)
  expect(late.close).toHaveBeenCalledOnce()
  await closed
})

test('where no process can be started, the server answers with its own acceptors', async () => {
  vi.spyOn(ChildProcess.prototype as ChildProcess & { spawn(): void }, 'spawn').mockImplementation(() => {
    throw new Error('spawn EPERM')
  })
  const { server, acceptors, port } = await openServer(4)
  expect(await ask(connect(port, '127.0.0.1'))).toMatch(/answer$/)
  server.close()
  await acceptors.close()
})
