import type { ChainPort } from '../../packages/till/src/chain/index.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'

/** Every payer is rich, every nonce unused, and a settled transaction is in the newest block at once. */
export function stubChain(real: ChainPort): ChainPort {
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
export function stubSettlement(real: Facilitator): Facilitator {
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
