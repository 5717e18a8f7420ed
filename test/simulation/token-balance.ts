import type { Devnet } from '../../packages/node/src/devnet/index.ts'

export async function tokenBalance(chain: Devnet, address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt((await chain.request('eth_call', [{ to: chain.usdc, data }, 'latest'])) as string)
}
