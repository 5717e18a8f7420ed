import type { Account, ProvenAccount } from '@assay/protocol/account'
import { type Hex, isHex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { isSignedBy, recoverAddress } from '../kernel/secp256k1.ts'
import { type CheckContractSignature, signatureBytesMax } from './contract-signature.ts'

/** Plain wallets are checked here and now; anything else is a question to the chain, which may be out of reach. */
export async function checkAccountSignature(
  check: CheckContractSignature,
  input: { account: Account; digest: Uint8Array; signature: Hex },
  /** A signature that serves here and now and is not kept: its last byte need not let others find the signer. */
  { passing = false } = {},
): Promise<ProvenAccount | undefined> {
  const { account, digest, signature } = input
  if (!isHex(signature) || signature.length > 2 + signatureBytesMax * 2) return undefined
  // Some hardware wallets end personal signatures with 0 or 1.
  const options = { allowZeroOne: true }
  const isTheirs = passing
    ? isSignedBy(account.address, digest, fromHex(signature), options)
    : recoverAddress(digest, fromHex(signature), options) === account.address
  if (isTheirs) return { ...account, kind: 'key' }
  const outcome = await check({ ...account, digest: toHex(digest), signature })
  if (outcome === 'could_not_check') throw new Problem('proof_unchecked', { retryAfterSeconds: 5 })
  return outcome === 'valid' ? { ...account, kind: 'contract' } : undefined
}
