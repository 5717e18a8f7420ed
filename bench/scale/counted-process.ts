// One process of a node that counts what it does behind its listener: runs of paid handlers, and settlements asked for.

import { createLog } from '../../packages/node/src/http/index.ts'
import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { type CallCounts, countHandlers, countSettles } from '../../test/harness/call-counters.ts'
import { answerCommands } from '../process/commands.ts'

const callCounts: CallCounts = { prepared: 0, settled: 0 }

const config = parseConfig(process.env)
const node = await startNode(config, {
  // As main.ts starts it.
  acceptors: 8,
  log: createLog({ level: config.logLevel, destination: process.stderr }),
  intercept: {
    shop: (shop) => countHandlers(shop, callCounts),
    facilitator: (real) => countSettles(real, callCounts),
  },
})

answerCommands({ port: () => Number(new URL(node.address).port), callCounts: () => callCounts }, () => node.stop())
