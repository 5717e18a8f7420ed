// The same route sold with the till on the same framework, on its own embedded database with fsync on. The till is the
// published one, as the peer is: sources run through a loader that slows down every function made for a request.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { z } from 'zod'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { keepAliveTimeout } from './keep-alive.ts'
import { stubChain, stubSettlement } from './stubs.ts'

type Adapter<Name extends 'express' | 'hono'> = {
  express: typeof import('../../packages/till/src/adapters/express.ts')
  hono: typeof import('../../packages/till/src/adapters/hono.ts')
}[Name]
type Kit = typeof import('../../packages/till/src/testing/index.ts')

const published = <Module>(file: string): Promise<Module> => import(`${process.env['TILL']}/dist/${file}`)
const { sold: onExpress } = await published<Adapter<'express'>>('adapters/express.js')
const { sold: onHono } = await published<Adapter<'hono'>>('adapters/hono.js')
const { testTill } = await published<Kit>('testing/index.js')

const path = '/v1/sandbox/echo'
const kit = await testTill({
  publicUrl: 'http://127.0.0.1',
  exposureCap: '1000000000',
  mpp: process.env['MPP'] === 'on',
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
