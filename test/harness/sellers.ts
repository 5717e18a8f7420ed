import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { makeApp as makeExpress } from '../../examples/express/app.ts'
import { makeApp as makeFastify } from '../../examples/fastify/app.ts'
import { makeApp as makeHono } from '../../examples/hono/app.ts'
import { makeHandlers } from '../../examples/next/handlers.ts'
import { makeServer as makeNode } from '../../examples/node/app.ts'
import type { WeatherSource } from '../../examples/weather.ts'
import type { AdapterName } from '../../packages/till/src/adapters/promises.ts'
import type { Till } from '../../packages/till/src/index.ts'

export type HttpAdapter = Exclude<AdapterName, 'mcp'>
export const httpAdapters: readonly HttpAdapter[] = ['node', 'express', 'fastify', 'hono', 'next']

export type Seller = { url: string; close(): Promise<void> }

/** The example of an adapter, listening. */
export async function startSeller(
  adapter: HttpAdapter,
  till: Till,
  weather?: WeatherSource,
  port = 0,
): Promise<Seller> {
  if (adapter === 'fastify') {
    const app = makeFastify(till, weather)
    return { url: await app.listen({ port, host: '127.0.0.1' }), close: () => app.close() }
  }
  const server = serverOf(adapter, till, weather)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function serverOf(adapter: Exclude<HttpAdapter, 'fastify'>, till: Till, weather?: WeatherSource): Server {
  if (adapter === 'node') return makeNode(till, weather)
  if (adapter === 'express') return createServer(makeExpress(till, weather))
  if (adapter === 'hono') return createServer(getRequestListener(makeHono(till, weather).fetch))
  return createServer(getRequestListener(nextRouter(till, weather)))
}

/** What Next does for its route files: finds the handler and parses the parameters. */
function nextRouter(till: Till, weather?: WeatherSource) {
  const handlers = makeHandlers(till, weather)
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const city = /^\/weather\/([^/]+)$/.exec(pathname)?.[1]
    if (city !== undefined)
      return handlers.weather(request, { params: Promise.resolve({ city: decodeURIComponent(city) }) })
    return pathname === '/reports'
      ? handlers.reports(request, { params: Promise.resolve({}) })
      : handlers.documents(request)
  }
}
