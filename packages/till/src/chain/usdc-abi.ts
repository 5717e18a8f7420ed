import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { encodeWord } from '@assay/protocol/typed-data/words'

/** The few functions of USDC that we call, written as fixed layouts: these reads are on the path of every payment. */
export const topics = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  authorizationCanceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
} as const

const selectors = {
  balanceOf: '0x70a08231',
  authorizationState: '0xe94a0102',
  name: '0x06fdde03',
  version: '0x54fd4d50',
  domainSeparator: '0x3644e515',
  decimals: '0x313ce567',
} as const

export const addressTopic = (address: Address): Hex => `0x${encodeWord(address)}`
export const topicAddress = (topic: string): Address | undefined => parseAddress(`0x${topic.slice(-40)}`)

export const calls = {
  balanceOf: (owner: Address): Hex => `${selectors.balanceOf}${encodeWord(owner)}`,
  authorizationState: (payer: Address, nonce: Hex): Hex =>
    `${selectors.authorizationState}${encodeWord(payer)}${nonce.slice(2)}`,
  name: (): Hex => selectors.name,
  version: (): Hex => selectors.version,
  domainSeparator: (): Hex => selectors.domainSeparator,
  decimals: (): Hex => selectors.decimals,
}

/** A 32-byte word as a number; undefined for an empty or odd answer, which is no answer. */
export function word(answer: unknown): bigint | undefined {
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer) ? BigInt(answer) : undefined
}

/** ABI-encoded string. */
export function text(answer: unknown): string | undefined {
  if (typeof answer !== 'string' || !/^0x(?:[0-9a-fA-F]{64}){2,}$/.test(answer)) return undefined
  const bytes = Buffer.from(answer.slice(2), 'hex')
  const length = Number(BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`))
  return length <= bytes.byteLength - 64 ? bytes.subarray(64, 64 + length).toString('utf8') : undefined
}
