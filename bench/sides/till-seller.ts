// The same route sold with the till on the same framework, on its own embedded database with fsync on.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { z } from 'zod'
import { sold as onExpress } from '../../packages/till/src/adapters/express.ts'
import { sold as onHono } from '../../packages/till/src/adapters/hono.ts'
import { testTill } from '../../packages/till/src/testing/index.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { keepAliveTimeout } from './keep-alive.ts'
import { stubChain, stubSettlement } from './stubs.ts'

const path = '/v1/sandbox/echo'
const kit = await testTill({
  publicUrl: 'http://127.0.0.1',
  exposureCap: '1000000000',
  intercept: { chain: stubChain, facilitator: stubSettlement, job: () => async () => {} },
})
const echo = kit.till.sell(
  {
    id: 'sandbox.echo',
    path,
    price: '0.001',
    summary: 'Echo a text, to try paying',
    query: z.strictObject({ message: z.string().max(1_000).optional() }),
  },
  async ({ query }) => ({ echo: query.message ?? '', at: new Date().toISOString() }),
)
const server = createServer(
  { keepAliveTimeout },
  process.env['FRAMEWORK'] === 'express'
    ? express().get(path, onExpress(echo))
    : getRequestListener(new Hono().get(path, onHono(echo)).fetch),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

answerCommands({ port: () => (server.address() as AddressInfo).port, cpu: cpuMicros }, async () => {
  server.closeAllConnections()
  server.close()
  await kit.close()
})
