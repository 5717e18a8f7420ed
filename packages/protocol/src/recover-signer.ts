import { recoverAddress } from 'viem/utils'
import type { Address } from './address.ts'
import type { Hex } from './bytes.ts'

/** Half the group order: a larger s is the same signature written a second way, and USDC refuses it too. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const pattern = /^0x[0-9a-f]{64}([0-9a-f]{64})(?:1b|1c)$/

const knownMax = 256
/** Files of one node name the same keys, each with the same signatures: what a signature says of a digest never changes. */
const known = new Map<string, Address>()

async function recover(hash: Hex, signature: Hex): Promise<Address> {
  const asked = hash + signature
  const before = known.get(asked)
  if (before !== undefined) return before
  const found = (await recoverAddress({ hash, signature })).toLowerCase() as Address
  if (known.size >= knownMax) known.delete(known.keys().next().value as string)
  known.set(asked, found)
  return found
}

/**
 * The wallet behind a 65-byte signature in its one form: low s, v of 27 or 28, small letters. Undefined for anything else,
 * and where the digest cannot be made.
 */
export async function recoverSigner(digest: () => Hex, signature: string): Promise<Address | undefined> {
  const [, s] = pattern.exec(signature) ?? []
  if (s === undefined || BigInt(`0x${s}`) > halfOrder) return undefined
  try {
    return await recover(digest(), signature as Hex)
  } catch {
    return undefined
  }
}
