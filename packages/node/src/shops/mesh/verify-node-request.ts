import { clockSkewMs, type PeerKey } from '@assay/protocol/mesh/statement'
import { requestExpiryMs } from '@assay/protocol/signatures/request-expiry'
import { contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import { parseSignature, parseSignatureInput, type SignatureInput } from '@assay/protocol/signatures/signature-input'
import { equalBytes, sha256 } from '@assay/till/kernel/bytes'
import { Problem } from '@assay/till/kernel/problem'
import { verifyEd25519 } from '@assay/till/signing'
import { requestTag, requestValiditySecondsMax } from './limits.ts'
import { signedComponents } from './sign-request.ts'

export type NodeRequest = {
  method: string
  authority: string
  path: string
  headers: ReadonlyMap<string, string>
  rawBody: Uint8Array
}

export type ReadRequest = {
  keyId: string
  nonce: string
  expiresAtMs: number
  signedBy(keys: readonly PeerKey[]): boolean
}

/** All that can be checked of a node's request before its keys are known; throws a Problem when it cannot be one. */
export function readNodeRequest(request: NodeRequest, nowMs: number): ReadRequest {
  const input = selectInput(request)
  const limits = { nowMs, validitySecondsMax: requestValiditySecondsMax, skewMs: clockSkewMs }
  const expiresAtMs = requestExpiryMs(input, limits)
  if (typeof expiresAtMs === 'string') throw refused(expiresAtMs)
  const missing = signedComponents.filter((component) => !input.components.includes(component))
  if (missing.length > 0) throw refused(`The signature must also cover ${missing.join(' ')}.`)
  const digest = request.headers.get('content-digest') ?? ''
  if (!equalBytes(Buffer.from(digest), Buffer.from(contentDigest(sha256(request.rawBody)))))
    throw refused('Content-Digest does not fit the body.')
  const nonce = input.params.get('nonce')
  const keyId = input.params.get('keyid')
  if (typeof nonce !== 'string' || nonce.length < 16 || nonce.length > 128)
    throw refused('A nonce of 16 to 128 characters is required.')
  if (typeof keyId !== 'string' || keyId.length > 64) throw refused('keyid must be the thumbprint of a node key.')
  const signature = parseSignature(request.headers.get('signature') ?? '', input.label)
  if (signature === undefined) throw refused(`The Signature header has no bytes for ${input.label}.`)
  const base = Buffer.from(signatureBase(coveredValues(input, request), input.inner), 'latin1')
  return {
    keyId,
    nonce,
    expiresAtMs,
    signedBy: (keys) => {
      const nowSeconds = nowMs / 1000
      const key = keys.find(({ kid, exp }) => kid === keyId && (exp === undefined || exp > nowSeconds))
      return key !== undefined && verifyEd25519(key.x, base, signature)
    },
  }
}

function selectInput(request: NodeRequest): SignatureInput {
  const header = request.headers.get('signature-input')
  if (header === undefined || !request.headers.has('signature'))
    throw new Problem('proof_required', {
      detail: 'An announcement is signed with the key of the node that is announced.',
      hint: 'Sign it as docs/mesh-protocol.md says: RFC 9421, ed25519, tag x402-mesh.',
    })
  const ours = (parseSignatureInput(header) ?? []).filter((input) => input.params.get('tag') === requestTag)
  const [input] = ours
  if (input === undefined || ours.length !== 1)
    throw refused(`Signature-Input must hold exactly one signature with tag ${requestTag}.`)
  if (input.params.get('alg') !== 'ed25519') throw refused('alg must be ed25519.')
  return input
}

function coveredValues(input: SignatureInput, request: NodeRequest) {
  const derived: Record<string, string> = {
    '@method': request.method,
    '@authority': request.authority,
    '@path': request.path,
  }
  return input.components.map((id) => {
    const name = id.slice(1, -1)
    const value = name.startsWith('@') ? derived[name] : request.headers.get(name)?.trim()
    if (value === undefined) throw refused(`The signature covers ${id}, which this request does not have.`)
    return { id, value }
  })
}

export function refused(detail: string): Problem {
  return new Problem('proof_invalid', {
    detail,
    hint: 'Sign this request with the key of the announced node, with a fresh nonce; see docs/mesh-protocol.md.',
  })
}
