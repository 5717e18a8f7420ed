import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { decodeAbiParameters } from 'viem'

const magic = '6492649264926492649264926492649264926492649264926492649264926492'

/** ERC-6492: a signature of a wallet that is yet to be deployed, with the call that deploys it. */
export type WrappedSignature = { factory: Address; deployCall: Hex; signature: Hex }

export function unwrapSignature(signature: Hex): WrappedSignature | undefined {
  if (!signature.endsWith(magic)) return undefined
  try {
    const body = signature.slice(0, -magic.length) as Hex
    const [factoryText, deployCall, inner] = decodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      body,
    )
    const factory = parseAddress(factoryText)
    return factory && { factory, deployCall, signature: inner }
  } catch {
    return undefined
  }
}
