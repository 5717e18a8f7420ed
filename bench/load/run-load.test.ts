import { createServer, type RequestListener, type Server } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'
import { requestText } from './requests.ts'
import { runLoad } from './run-load.ts'

async function listen(answer: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer({ keepAliveTimeout: 20 }, answer)
  const { port, close } = await onLoopback(server)
  onTestFinished(close)
  return { server, port }
}

/** Each request once, then none. */
function requestsOf(...targets: string[]) {
  const requests = targets.map((target) => Buffer.from(requestText('127.0.0.1', target)))
  return () => requests.shift()
}

test('a connection that has nothing more to send and is closed by the server is not a failure', async () => {
  let closed = 0
  let finishSlow = () => {}
  const { server, port } = await listen((request, response) => {
    const finish = () => response.setHeader('Content-Length', 2).end('ok')
    if (request.url === '/slow') finishSlow = finish
    else finish()
  })
  // The slow answer comes after the server has closed both idle connections.
  server.on('connection', (socket) =>
    socket.on('close', () => {
      closed += 1
      if (closed === 2) finishSlow()
    }),
  )
  const result = await runLoad({ port, connections: 3, secondsMax: 60 }, requestsOf('/slow', '/fast', '/fast'))
  expect(closed).toBeGreaterThanOrEqual(2)
  expect(result).toMatchObject({ requests: 3, statuses: { 200: 3 } })
})

test('a connection closed or reset before its answer is a failure', async () => {
  for (const how of ['destroy', 'resetAndDestroy'] as const) {
    const { port } = await listen((request) => request.socket[how]())
    await expect(runLoad({ port, connections: 1, secondsMax: 60 }, requestsOf('/'))).rejects.toThrow(
      how === 'destroy' ? 'the server closed a connection' : 'ECONNRESET',
    )
  }
})

test('a connection closed in the middle of its answer is a failure', async () => {
  const { port } = await listen((request, response) => {
    response.setHeader('Content-Length', 10)
    response.write('half', () => request.socket.destroy())
  })
  await expect(runLoad({ port, connections: 1, secondsMax: 60 }, requestsOf('/'))).rejects.toThrow(
    'the server closed a connection',
  )
})
