// The stock seller: @x402/hono on @hono/node-server, with the stock facilitator in the same process.

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { paymentMiddleware } from '@x402/hono'
import { Hono } from 'hono'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { keepAliveTimeout } from './keep-alive.ts'
import { resourceServer, route, routes } from './stock-seller.ts'

const app = new Hono()
app.use(paymentMiddleware(routes, resourceServer))
app.get(route.path, (context) =>
  context.json({ echo: context.req.query('message') ?? '', at: new Date().toISOString() }),
)

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', serverOptions: { keepAliveTimeout } })

answerCommands(
  {
    port: () => (server.address() as AddressInfo).port,
    cpu: cpuMicros,
  },
  async () => {
    server.close()
  },
)
