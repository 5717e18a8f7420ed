import type { Address } from '../../packages/protocol/src/address.ts'
import { type Devnet, demoAccount } from '../../packages/till/src/devnet/index.ts'
import { keccak256 } from '../../packages/till/src/kernel/keccak.ts'
import { type BenchTerms, benchPayer } from '../load/sign-payments.ts'

export const payees = (count: number): Address[] =>
  Array.from({ length: count }, (_, index) => benchPayer(index).address)

/** What every payment of the settlement figure pays. */
export function settleTerms(devnet: Pick<Devnet, 'chainId' | 'usdc'>): BenchTerms {
  return {
    resourceUrl: 'http://127.0.0.1/v1/sandbox/echo',
    accepted: {
      network: `eip155:${devnet.chainId}`,
      amount: '1000',
      asset: devnet.usdc,
      payTo: demoAccount('operator').address,
      maxTimeoutSeconds: 90,
      extra: { name: 'USD Coin', version: '2' },
    },
  }
}

const usedTopic = `0x${keccak256(Buffer.from('AuthorizationUsed(address,bytes32)')).toString('hex')}`

/** Authorizations the token itself says were used, each counted once. */
export async function countSettled(devnet: Devnet, fromBlock: number): Promise<number> {
  const logs = (await devnet.request('eth_getLogs', [
    { address: devnet.usdc, topics: [usedTopic], fromBlock: `0x${fromBlock.toString(16)}`, toBlock: 'latest' },
  ])) as { topics: string[] }[]
  return new Set(logs.map((log) => log.topics.slice(1).join())).size
}
