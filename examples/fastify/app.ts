import type { Till } from '@assay/till'
import { sold } from '@assay/till/fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { Cities, City, lookUp, Report, Weather } from '../weather.ts'

export function makeApp(till: Till, weather = lookUp): FastifyInstance {
  till.sell(
    { id: 'weather.now', path: '/weather/:city', price: '0.01', params: City, output: Weather },
    async ({ params, signal }) => weather(params.city, signal),
  )
  till.sell(
    {
      id: 'weather.report',
      path: '/reports',
      price: { lowest: '0.01', highest: '0.10', of: ({ body }) => BigInt(body.cities.length) * 10_000n },
      body: Cities,
      bodyBytesMax: 2_000,
      output: Report,
    },
    async ({ body, signal }) => ({ cities: await Promise.all(body.cities.map((city) => weather(city, signal))) }),
  )
  const app = fastify()
  app.register(sold(till))
  return app
}
