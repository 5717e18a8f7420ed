import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    const { makeApp } = await import('../../examples/fastify/app.ts')
    const app = makeApp(till, weather)
    return { url: await app.listen({ port, host: '127.0.0.1' }), close: () => app.close() }
  }
  const server = await serverOf(adapter, till, weather)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A process that serves one framework loads no other. */
async function serverOf(
  adapter: Exclude<HttpAdapter, 'fastify'>,
  till: Till,
  weather?: WeatherSource,
): Promise<Server> {
  if (adapter === 'node') {
    const { makeServer } = await import('../../examples/node/app.ts')
    return makeServer(till, weather)
  }
  if (adapter === 'express') {
    const { makeApp } = await import('../../examples/express/app.ts')
    return createServer(makeApp(till, weather))
  }
  const { getRequestListener } = await import('@hono/node-server')
  if (adapter === 'next') return createServer(getRequestListener(await nextRouter(till, weather)))
  const { makeApp } = await import('../../examples/hono/app.ts')
  return createServer(getRequestListener(makeApp(till, weather).fetch))
}

/** What Next does for its route files: finds the handler and parses the parameters. */
async function nextRouter(till: Till, weather?: WeatherSource) {
  const { makeHandlers } = await import('../../examples/next/handlers.ts')
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
