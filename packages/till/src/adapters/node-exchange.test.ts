import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import type { SoldRoute } from '../till.ts'
import { answerOver } from './node-exchange.ts'

/** As a challenge that was made before. */
const refusing = { answer: () => ({ status: 402, headers: [], body: 'pay' }) } as unknown as SoldRoute

async function connectionAfter(request: string): Promise<string | undefined> {
  const server = createServer((incoming, response) => {
    void answerOver(refusing, incoming, response, { params: {}, target: incoming.url ?? '', bodyFix: '' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
  socket.destroy()
  server.closeAllConnections()
  server.close()
  return /^connection: (.*)$/im.exec(head)?.[1]
}

test('a refusal that is ready at once keeps the connection, unless a body is left unread', async () => {
  expect(await connectionAfter('GET /a HTTP/1.1\r\nHost: seller.test\r\n\r\n')).toBe('keep-alive')
  const head = 'POST /a HTTP/1.1\r\nHost: seller.test\r\nContent-Length: 9\r\n\r\n'
  expect(await connectionAfter(`${head}left`)).toBe('close')
})
