import type { TestChain } from './send-transaction.ts'

const word = (hex: string) => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')

const call = async ({ usdc, request }: TestChain, data: string, at: string): Promise<bigint> =>
  BigInt((await request('eth_call', [{ to: usdc, data }, at])) as string)

export const tokenBalance = (chain: TestChain, address: string, at: 'latest' | 'finalized' = 'latest') =>
  call(chain, `0x70a08231${word(address)}`, at)

/** authorizationState, from the token itself: whether an authorization was used. */
export const isCharged = async (chain: TestChain, payer: string, nonce: string): Promise<boolean> =>
  (await call(chain, `0xe94a0102${word(payer)}${word(nonce)}`, 'latest')) === 1n
