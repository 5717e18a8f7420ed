import type { Address } from '@assay/protocol/address'
import { ChainUnreadable } from '../chain-port.ts'
import type { Rpc } from '../rpc.ts'

/** How many transactions of a wallet as many endpoints as must agree count at least: one alone could leave a gap. */
export async function transactionCount(rpc: Rpc, wallet: Address, tag: 'latest' | 'pending'): Promise<bigint> {
  const count = await rpc.collect('eth_getTransactionCount', [wallet, tag], (answers, complete) => {
    const counts = answers.flatMap(parseCount).sort((a, b) => (a < b ? 1 : -1))
    const enough = counts[rpc.quorum - 1]
    return complete || counts[0] === enough ? enough : undefined
  })
  if (count === undefined) throw new ChainUnreadable('too few endpoints count the transactions of a wallet')
  return count
}

const parseCount = (answer: unknown): bigint[] =>
  typeof answer === 'string' && /^0x[0-9a-f]{1,16}$/i.test(answer) ? [BigInt(answer)] : []
