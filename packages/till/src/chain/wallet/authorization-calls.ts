import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import { encodeWord } from '@assay/protocol/typed-data/words'

/** Calldata in fixed layouts: a general encoder would be most of the cost of a large batch. */
const selectors = {
  transferWithSplitSignature: 'e3ee160e',
  transferWithBytesSignature: 'cf092995',
  aggregate3: '82ad56cb',
} as const

const paddedBytes = (hex: string): string => hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')

const authorizationWords = (authorization: TransferAuthorization): string =>
  encodeWord(authorization.from) +
  encodeWord(authorization.to) +
  encodeWord(authorization.value) +
  encodeWord(authorization.validAfter) +
  encodeWord(authorization.validBefore) +
  authorization.nonce.slice(2)

/** `transferWithAuthorization`, in the overload that suits the signature. */
export function transferCall(authorization: TransferAuthorization, signature: Hex): Hex {
  const words = authorizationWords(authorization)
  if (signature.length === 2 + 65 * 2) {
    const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
    return `0x${selectors.transferWithSplitSignature}${words}${v.padStart(64, '0')}${r}${s}`
  }
  const bytes = signature.slice(2)
  const offset = encodeWord(7 * 32)
  return `0x${selectors.transferWithBytesSignature}${words}${offset}${encodeWord(bytes.length / 2)}${paddedBytes(bytes)}`
}

export type MulticallCall = { target: Address; data: Hex }

/** Multicall3 `aggregate3`, every call allowed to fail: one that does must not take the others with it. */
export function aggregate3Call(calls: readonly MulticallCall[]): Hex {
  const bodies = calls.map(({ target, data }) => {
    const bytes = data.slice(2)
    return encodeWord(target) + encodeWord(1) + encodeWord(96) + encodeWord(bytes.length / 2) + paddedBytes(bytes)
  })
  let offset = calls.length * 32
  const offsets = bodies.map((body) => {
    const at = encodeWord(offset)
    offset += body.length / 2
    return at
  })
  return `0x${selectors.aggregate3}${encodeWord(32)}${encodeWord(calls.length)}${offsets.join('')}${bodies.join('')}`
}

export type MulticallResult = { success: boolean; returnData: Hex }

/** The answer of `aggregate3`; undefined when it does not have the shape of `count` results. */
export function readAggregate3(answer: unknown, count: number): MulticallResult[] | undefined {
  if (typeof answer !== 'string' || !/^0x(?:[0-9a-fA-F]{64})+$/.test(answer)) return undefined
  const words = answer.slice(2)
  const at = (byteOffset: number): number => {
    const word = words.slice(byteOffset * 2, byteOffset * 2 + 64)
    // Nothing here is longer than the answer, so a number that needs more than six bytes is nonsense.
    return word.length === 64 && /^0{52}/.test(word) ? Number.parseInt(word, 16) : Number.NaN
  }
  const list = at(0)
  if (at(list) !== count) return undefined
  const results: MulticallResult[] = []
  for (let index = 0; index < count; index += 1) {
    const result = list + 32 + at(list + 32 + index * 32)
    const bytes = result + at(result + 32)
    const length = at(bytes)
    const end = (bytes + 32 + length) * 2
    if (!Number.isInteger(end) || end > words.length) return undefined
    results.push({ success: at(result) === 1, returnData: `0x${words.slice((bytes + 32) * 2, end)}` })
  }
  return results
}
