import type { Till } from '@assay/till'
import { all, sell } from '@assay/till/next'
import { Cities, City, lookUp, Report, Weather } from '../weather.ts'

export const makeHandlers = (till: Till, weather = lookUp) => ({
  weather: sell(
    till,
    { id: 'weather.now', path: '/weather/:city', price: '0.01', params: City, output: Weather },
    async ({ params, signal }) => weather(params.city, signal),
  ),
  reports: sell(
    till,
    {
      id: 'weather.report',
      path: '/reports',
      price: { lowest: '0.01', highest: '0.10', of: ({ body }) => BigInt(body.cities.length) * 10_000n },
      body: Cities,
      bodyBytesMax: 2_000,
      output: Report,
    },
    async ({ body, signal }) => ({ cities: await Promise.all(body.cities.map((city) => weather(city, signal))) }),
  ),
  documents: all(till),
})
