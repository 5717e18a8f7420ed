// The node of the paid figure, whose sale hooks can be switched off: the difference is what they cost.
import type { ChainPort } from '../../packages/node/src/chain/index.ts'
import { parseConfig } from '../../packages/node/src/config.ts'
import { silentLog } from '../../packages/node/src/kernel/log.ts'
import { startNode } from '../../packages/node/src/node.ts'
import type { Facilitator } from '../../packages/node/src/payments/index.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { withoutDemoData } from '../sides/quiet-config.ts'

let hooksOn = true

function stubChain(real: ChainPort): ChainPort {
  const head = real.head()
  return {
    ...real,
    head: () => head,
    finalizedBlock: () => head,
    payerStatus: async () => ({ balanceMicro: 1_000_000_000_000n, nonceUsed: false }),
    settlementByTransaction: async (transaction) => {
      const { number, hash } = await head
      return { status: 'confirmed', transaction, blockNumber: number, blockHash: hash, logIndex: 0, gasUsed: 0n }
    },
  }
}

const stubSettlement = (real: Facilitator): Facilitator => ({
  ...real,
  settle: async ({ authorization }) => ({
    status: 'submitted',
    transaction: authorization.nonce,
    feeMicro: 0n,
    gasGwei: 0n,
  }),
})

const node = await startNode(
  parseConfig({
    PORT: '0',
    DEVNET_PORTS: '0,0',
    ASSAY_HOME: process.env['ASSAY_HOME'],
    LOG_LEVEL: 'silent',
    ...withoutDemoData,
  }),
  {
    log: silentLog,
    intercept: {
      chain: stubChain,
      facilitator: stubSettlement,
      shop: (shop) =>
        shop.saleHooks === undefined
          ? shop
          : {
              ...shop,
              saleHooks: shop.saleHooks.map((hook) => async (tx, sales) => {
                if (hooksOn) await hook(tx, sales)
              }),
            },
    },
  },
)

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    hooks: (on: boolean) => {
      hooksOn = on
    },
  },
  () => node.stop(),
)
