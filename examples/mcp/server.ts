import type { Till } from '@assay/till'
import { sellTools } from '@assay/till/mcp'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { City, lookUp, Weather } from '../weather.ts'

export function makeServer(till: Till, weather = lookUp): Server {
  till.sell(
    { id: 'weather.now', path: '/weather/:city', price: '0.01', params: City, output: Weather },
    async ({ params, signal }) => weather(params.city, signal),
  )
  const server = new Server({ name: 'weather', version: '1' }, { capabilities: { tools: {} } })
  sellTools(server, till)
  return server
}
