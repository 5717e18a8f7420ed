import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { checkPorts } from './ports.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** Undefined where this machine has no such address. */
async function listen(host: string, isNode: boolean): Promise<number | undefined> {
  const server = createServer((_, response) => {
    if (isNode) response.setHeader('x-x402-next', '/')
    response.end()
  })
  servers.push(server)
  const up = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(0, host, () => resolve(true))
  })
  return (await up) ? (server.address() as AddressInfo).port : undefined
}

const check = async (host: string, port: number) =>
  (await checkPorts({ host, port, mode: 'production', networks: [] } as never))[0]

test.each(['127.0.0.1', '0.0.0.0', '::'])('a node that listens at %s is found there', async (host) => {
  const port = await listen(host, true)
  if (port === undefined) return
  expect(await check(host, port)).toMatchObject({ status: 'ok', detail: 'a node is running there' })
})

test('what answers otherwise is another program', async () => {
  const port = (await listen('127.0.0.1', false)) ?? 0
  expect(await check('127.0.0.1', port)).toMatchObject({ status: 'fail', detail: 'taken by another program' })
})
