// The node as it is started by `npm start`, with its embedded database (fsync on) and chains. Only what lies behind the
// two ports to the outside is answered in this process: the facilitator's settlement and reads of the chain.

import { type NodeOptions, type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import type { ChainPort } from '../../packages/till/src/chain/index.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { withoutDemoData } from './quiet-config.ts'

/** Every payer is rich, every nonce unused, and a settled transaction is in the newest block at once. */
function stubChain(real: ChainPort): ChainPort {
  const head = real.head()
  return {
    ...real,
    head: () => head,
    finalizedBlock: () => head,
    payerStatus: async () => ({ balanceMicro: 1_000_000_000_000n, nonceUsed: false, hasCode: false }),
    settlementByTransaction: async (transaction) => {
      const { number, hash } = await head
      return { status: 'confirmed', transaction, blockNumber: number, blockHash: hash, position: 0, gasGwei: 0n }
    },
  }
}

/** The nonce stands for the transaction, so that every side reports the same one. */
function stubSettlement(real: Facilitator): Facilitator {
  return {
    ...real,
    settle: async ({ paymentKey }) => ({
      status: 'submitted',
      transaction: paymentKey,
      feeMicro: 0n,
      gasGwei: 0n,
    }),
  }
}

export function startStubbedNode(
  options: Pick<NodeOptions, 'shops' | 'ownShops' | 'intercept'> & { env?: Record<string, string> } = {},
): Promise<RunningNode> {
  return startNode(
    parseConfig({
      PORT: '0',
      DEVNET_PORTS: '0,0',
      ASSAY_HOME: process.env['ASSAY_HOME'],
      INTENTS: '{"demo":"off"}',
      LOG_LEVEL: 'silent',
      ...withoutDemoData,
      ...options.env,
    }),
    {
      ...options,
      log: silentLog,
      acceptors: 8,
      intercept: { ...options.intercept, chain: stubChain, facilitator: stubSettlement },
    },
  )
}
