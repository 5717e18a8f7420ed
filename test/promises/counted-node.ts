// A node in its own process, whose calls to the outside are counted; asked by the proofs that measure it.
import { answerCommands, cpuMicros } from '../../bench/process/commands.ts'
import { openProofNode } from './proof-node.ts'

const outside = { rpc: 0, facilitator: 0, database: 0 }
const proofNode = await openProofNode({
  ownShops: 'till',
  jobs: false,
  intercept: {
    rpc: (real) => ({
      name: real.name,
      send: (calls) => {
        outside.rpc += 1
        return real.send(calls)
      },
    }),
    facilitator: (real) => ({
      ...real,
      settle: (payment, signal) => {
        outside.facilitator += 1
        return real.settle(payment, signal)
      },
    }),
    database: (real) => ({
      ...real,
      query: (statement, values) => {
        outside.database += 1
        return real.query(statement, values)
      },
    }),
  },
})

answerCommands(
  {
    port: () => Number(new URL(proofNode.till.node.address).port),
    outside: () => ({ ...outside, prepared: proofNode.callCounts.prepared }),
    cpu: cpuMicros,
    usage: () => ({ rss: process.memoryUsage.rss() }),
  },
  () => proofNode.till.close(),
)
