import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { SoldRoute } from '../till.ts'
import { sold } from './hono.ts'
import { answerOver } from './node-exchange.ts'

/** As a challenge that was made before. */
const refusing = { answer: () => ({ status: 402, headers: [], body: 'pay' }) } as unknown as SoldRoute
/** As one whose body was too long. */
const refusingLater = { answer: async () => ({ status: 413, headers: [], body: 'less' }) } as unknown as SoldRoute

const listeners: Record<string, (route: SoldRoute) => RequestListener> = {
  node: (route) => (incoming, response) => {
    void answerOver(route, incoming, response, { params: {}, target: incoming.url ?? '', bodyErrorHint: '' })
  },
  hono: (route) => getRequestListener(new Hono().all('/a', sold(route)).fetch, { overrideGlobalObjects: false }),
}

async function connectionAfter(listener: RequestListener, request: string): Promise<string | undefined> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
  socket.destroy()
  server.closeAllConnections()
  server.close()
  return /^connection: (.*)$/im.exec(head)?.[1]
}

const unread = 'POST /a HTTP/1.1\r\nHost: seller.test\r\nContent-Length: 9\r\n\r\nleft'

test.each(Object.entries(listeners))(
  'a refusal keeps the connection, unless a body is left unread, which is never read: %s',
  async (_, listenerOf) => {
    const listener = listenerOf(refusing)
    expect(await connectionAfter(listener, 'GET /a HTTP/1.1\r\nHost: seller.test\r\n\r\n')).toBe('keep-alive')
    expect(await connectionAfter(listener, unread)).toBe('close')
    expect(await connectionAfter(listenerOf(refusingLater), unread)).toBe('close')
  },
)
