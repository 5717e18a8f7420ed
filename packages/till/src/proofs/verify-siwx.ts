import type { ProvenAccount } from '@assay/protocol/account'
import { siweMessage } from '@assay/protocol/siwe-message'
import { Problem } from '../kernel/problem.ts'
import { checkAccountSignature } from './check-account-signature.ts'
import { challengeTtlMs } from './create-auth-challenge.ts'
import { parseSiwx, type SiwxProof } from './parse-siwx.ts'
import { personalMessageDigest } from './personal-message.ts'
import { clockSkewMs, type ProofDeps } from './proof-deps.ts'

/** Who signed the challenge we issued for `origin`; each challenge is accepted once. */
export async function verifySiwx(deps: ProofDeps, header: string, origin: string): Promise<ProvenAccount> {
  const proof = parseSiwx(header)
  if (proof === undefined) throw refused('SIGN-IN-WITH-X is not base64 JSON of a signed challenge.')
  const expiresAtMs = checkFields(deps, proof, origin)
  const digest = personalMessageDigest(Buffer.from(siweMessage(proof.info, proof.account)))
  const { account, signature } = proof
  const proven = await checkAccountSignature(deps.checkContractSignature, { account, digest, signature })
  if (proven === undefined) throw refused('The signature is not one of this account.')
  // Claimed after the signature check: claiming first would let a stranger burn someone else's nonce.
  const first = await deps.claimNonce({ scope: 'siwx', key: proof.info.nonce, expiresAtMs })
  if (!first) throw refused('This challenge has been used before.')
  return proven
}

/** Everything that can be refused without a curve operation. Returns when the nonce expires. */
function checkFields(deps: ProofDeps, { info, account }: SiwxProof, origin: string): number {
  const nowMs = deps.clock.nowMs()
  if (info.domain !== new URL(origin).host) throw refused('The challenge is for another domain.')
  if (!URL.canParse(info.uri) || new URL(info.uri).origin !== origin)
    throw refused('The challenge is for another origin.')
  if (!deps.chainIds.includes(account.chainId)) throw refused('Accounts of this chain are not accepted here.')
  const issuedAtMs = Date.parse(info.issuedAt)
  if (!(issuedAtMs <= nowMs + clockSkewMs && issuedAtMs > nowMs - challengeTtlMs))
    throw refused('issuedAt is out of range.')
  if (info.expirationTime !== undefined && !(Date.parse(info.expirationTime) > nowMs))
    throw refused('The challenge has expired.')
  if (info.notBefore !== undefined && !(Date.parse(info.notBefore) <= nowMs + clockSkewMs))
    throw refused('The challenge is not valid yet.')
  const expiresAtMs = deps.nonces.check(info.nonce, origin)
  if (expiresAtMs === undefined) throw refused('The nonce was not issued by this node, or has expired.')
  return expiresAtMs
}

function refused(detail: string): Problem {
  return new Problem('proof_invalid', { detail })
}
