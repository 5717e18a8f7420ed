import { fromHex, type Hex, isHex, toHex } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { isSignedBy } from '../kernel/secp256k1.ts'
import type { Account, ProvenAccount } from './account.ts'
import { type CheckContractSignature, signatureBytesMax } from './contract-signature.ts'

/** Plain wallets are checked here and now; anything else is a question to the chain, which may be out of reach. */
export async function checkAccountSignature(
  check: CheckContractSignature,
  input: { account: Account; digest: Uint8Array; signature: Hex },
): Promise<ProvenAccount | undefined> {
  const { account, digest, signature } = input
  if (!isHex(signature) || signature.length > 2 + signatureBytesMax * 2) return undefined
  // Some hardware wallets end personal signatures with 0 or 1.
  if (isSignedBy(account.address, digest, fromHex(signature), { allowZeroOne: true }))
    return { ...account, kind: 'key' }
  const outcome = await check({ ...account, digest: toHex(digest), signature })
  if (outcome === 'could_not_check') throw new Problem('proof_unchecked', { retryAfterSeconds: 5 })
  return outcome === 'valid' ? { ...account, kind: 'contract' } : undefined
}
