// A node whose payments really settle, on a chain that makes a block every two seconds, as Base does.

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { openFeedShop } from '../../test/harness/feed-shop.ts'
import { benchPayer } from '../load/sign-payments.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { withoutDemoData } from '../sides/quiet-config.ts'

const node = await startNode(
  parseConfig({
    PORT: '0',
    DEVNET_PORTS: '0,0',
    ASSAY_HOME: process.env['ASSAY_HOME'],
    LOG_LEVEL: 'silent',
    ...withoutDemoData,
  }),
  { log: silentLog, shops: [openFeedShop], ownShops: 'till' },
)
const [base] = node.devnets
if (!base) throw new Error('there is no chain')
let blocks: NodeJS.Timeout | undefined

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    fund: async (count: number) => {
      for (let n = 0; n < count; n += 1)
        await base.control.fund(benchPayer(n).address, { microUsdc: 10_000_000n, wei: 0n })
    },
    blocks: async (everyMs: number) => {
      await base.control.holdMining()
      blocks = setInterval(() => void base.control.mine(1), everyMs)
    },
  },
  async () => {
    clearInterval(blocks)
    await node.stop()
  },
)
