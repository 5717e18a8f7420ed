// The floor: node:http and nothing else, writing bytes it was given.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerCommands, cpuMicros } from '../process/commands.ts'

export type FixedAnswer = { status: number; headers: string[]; body: string }

let answer: FixedAnswer = { status: 204, headers: [], body: '' }
// The same keep-alive time as the node has, since it is in a header of every answer.
const server = createServer({ keepAliveTimeout: 20_000 }, (_request, response) => {
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body, 'latin1')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

answerCommands(
  {
    port: () => (server.address() as AddressInfo).port,
    cpu: cpuMicros,
    give: (given: FixedAnswer) => {
      answer = given
    },
  },
  async () => {
    server.closeAllConnections()
    server.close()
  },
)
