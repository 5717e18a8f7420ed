// The stock seller: @x402/express, with the stock facilitator in the same process.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paymentMiddleware } from '@x402/express'
import express from 'express'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { keepAliveTimeout } from './keep-alive.ts'
import { resourceServer, route, routes } from './stock-seller.ts'

const app = express()
app.use(paymentMiddleware(routes, resourceServer))
app.get(route.path, (request, response) => {
  response.json({ echo: String(request.query['message'] ?? ''), at: new Date().toISOString() })
})
const server = createServer({ keepAliveTimeout }, app).listen(0, '127.0.0.1')

answerCommands({ port: () => (server.address() as AddressInfo).port, cpu: cpuMicros }, async () => {
  server.close()
})
