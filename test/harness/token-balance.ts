import type { TestChain } from './send-transaction.ts'

export async function tokenBalance(
  chain: TestChain,
  address: string,
  at: 'latest' | 'finalized' = 'latest',
): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt((await chain.request('eth_call', [{ to: chain.usdc, data }, at])) as string)
}
