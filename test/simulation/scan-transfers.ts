import { topicAddress, topics } from '../../packages/node/src/chain/index.ts'
import type { Scene } from './buyers.ts'

type Log = { transactionHash: string; logIndex: string; topics: string[]; data: string }

/** Writes down every transfer of the token in blocks not looked at yet, and in the last `again` blocks once more. */
export async function scanTransfers({ world, history }: Scene, again = 0): Promise<void> {
  for (const chain of world.chains) {
    const head = chain.control.head().number
    const from = Math.max(0, Math.min((history.scannedTo.get(chain.chainId) ?? -1) + 1, head + 1 - again))
    history.scannedTo.set(chain.chainId, head)
    if (from > head) continue
    const logsOf = async (topic: string) =>
      (await chain.request('eth_getLogs', [
        {
          address: chain.usdc,
          fromBlock: `0x${from.toString(16)}`,
          toBlock: `0x${head.toString(16)}`,
          topics: [topic],
        },
      ])) as Log[]
    for (const log of await logsOf(topics.transfer))
      history.transfers.set(`${chain.chainId} ${log.transactionHash} ${Number(log.logIndex)}`, {
        chainId: chain.chainId,
        transaction: log.transactionHash,
        from: topicAddress(log.topics[1] ?? '') ?? '',
        to: topicAddress(log.topics[2] ?? '') ?? '',
        micro: BigInt(log.data),
      })
    for (const log of await logsOf(topics.authorizationUsed)) {
      const { from: sender } = (await chain.request('eth_getTransactionByHash', [log.transactionHash])) as {
        from: string
      }
      const authorizer = topicAddress(log.topics[1] ?? '') ?? ''
      const outsider = world.buyers.some(({ address }) => address.toLowerCase() === sender.toLowerCase())
      if (!outsider && authorizer !== world.custody)
        history.carried.set(`${authorizer} ${log.topics[2]?.slice(2)}`, { transaction: log.transactionHash })
    }
  }
}
