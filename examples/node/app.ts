import { createServer, type Server } from 'node:http'
import type { Till } from '@assay/till'
import { listener } from '@assay/till/node'
import { Cities, City, lookUp, Report, Weather } from '../weather.ts'

export function makeServer(till: Till, weather = lookUp): Server {
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
  return createServer(listener(till))
}
