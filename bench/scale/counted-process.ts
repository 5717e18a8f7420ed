// One process of a node that counts what it does behind its door: runs of paid handlers, and settlements asked for.
import { parseConfig } from '../../packages/node/src/config.ts'
import { createLog, type RouteDeclaration, type Shop } from '../../packages/node/src/http/index.ts'
import { startNode } from '../../packages/node/src/node.ts'
import { answerCommands } from '../process/commands.ts'

export type Deeds = { handled: number; settled: number }

const deeds: Deeds = { handled: 0, settled: 0 }

const countHandlers = (shop: Shop): Shop => ({
  ...shop,
  routes: shop.routes.map((route): RouteDeclaration => {
    const { access } = route
    if (access.kind === 'free') return route
    return {
      ...route,
      access: {
        ...access,
        prepare: (input, call) => {
          deeds.handled += 1
          return access.prepare(input, call)
        },
      },
    }
  }),
})

const config = parseConfig(process.env)
const node = await startNode(config, {
  // As main.ts starts it.
  hands: 8,
  log: createLog({ level: config.logLevel, destination: process.stderr }),
  intercept: {
    shop: countHandlers,
    facilitator: (real) => ({
      ...real,
      settle: (payment, signal) => {
        deeds.settled += 1
        return real.settle(payment, signal)
      },
    }),
  },
})

answerCommands({ port: () => Number(new URL(node.address).port), deeds: () => deeds }, () => node.stop())
