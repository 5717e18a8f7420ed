import type { Hex } from '../../packages/protocol/src/bytes.ts'
import type { ChainPort } from '../../packages/till/src/chain/index.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'

/** Every payer and channel is rich, every nonce unused, and a settled transaction is in the newest block at once. */
export function stubChain(real: ChainPort): ChainPort {
  const head = real.head()
  const rich = { balanceMicro: 1_000_000_000_000n, nonceUsed: false, hasCode: false }
  const confirmed = async (transaction: Hex) => {
    const { number, hash } = await head
    return { status: 'confirmed', transaction, blockNumber: number, blockHash: hash, position: 0, gasGwei: 0n } as const
  }
  return {
    ...real,
    head: () => head,
    finalizedBlock: () => head,
    payerStatus: async () => rich,
    settlementByTransaction: confirmed,
    channels: {
      ...real.channels,
      // Read as ever. The chain has none of the channels: each would be a loss, posted again for every sale.
      claimedBalances: async (ids, at) =>
        (await real.channels.claimedBalances(ids, at)).map(() => ({ ...rich, claimedMicro: 0n })),
    },
    permit2: {
      ...real.permit2,
      payerStatus: async () => ({ ...rich, allowanceMicro: rich.balanceMicro }),
      byTransaction: confirmed,
    },
  }
}

/** The nonce stands for the transaction, so that every side reports the same one. */
export function stubSettlement(real: Facilitator): Facilitator {
  return {
    ...real,
    settle: async ({ paymentKey }) => ({
      status: 'submitted',
      transaction: `0x${paymentKey.slice(-64)}`,
      feeMicro: 0n,
      gasGwei: 0n,
    }),
  }
}
