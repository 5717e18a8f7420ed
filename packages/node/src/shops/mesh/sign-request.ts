import { contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import { sha256 } from '@assay/till/kernel/bytes'
import { nowSeconds } from '@assay/till/kernel/clock'
import type { MeshDeps } from './deps.ts'
import { requestTag } from './limits.ts'

const validSeconds = 30
export const signedComponents = ['"@method"', '"@authority"', '"@path"', '"content-digest"', '"content-type"'] as const

/** Headers of a POST that only this node can have sent, to that very place, now (RFC 9421, ed25519). */
export function signNodeRequest(
  deps: Pick<MeshDeps, 'signer' | 'clock' | 'rng'>,
  request: { authority: string; path: string; body: string },
): Record<string, string> {
  const created = nowSeconds(deps.clock)
  const nonce = Buffer.from(deps.rng.bytes(18)).toString('base64url')
  const inner = `(${signedComponents.join(' ')});created=${created};expires=${created + validSeconds};nonce="${nonce}";keyid="${deps.signer.keyId()}";alg="ed25519";tag="${requestTag}"`
  const digest = contentDigest(sha256(request.body))
  const values = ['POST', request.authority, request.path, digest, 'application/json']
  const base = signatureBase(
    signedComponents.map((id, index) => ({ id, value: values[index] ?? '' })),
    inner,
  )
  const { signature } = deps.signer.signBytes(Buffer.from(base, 'latin1'))
  return {
    'content-type': 'application/json',
    'content-digest': digest,
    'signature-input': `mesh=${inner}`,
    signature: `mesh=:${Buffer.from(signature).toString('base64')}:`,
  }
}
