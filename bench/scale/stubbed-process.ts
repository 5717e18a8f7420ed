// One of several processes on a shared database. Only the chain's answers and the settlement are given in this process.

import { answerCommands, cpuMicros } from '../process/commands.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'

const node = await startStubbedNode({ ownShops: 'till', env: process.env as Record<string, string> })

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
  },
  () => node.stop(),
)
