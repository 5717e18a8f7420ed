import { type ProvenAccount, parseKeyId } from '@assay/protocol/account'
import { toHex } from '@assay/protocol/bytes'
import { requestExpiryMs } from '@assay/protocol/signatures/request-expiry'
import { type CoveredComponent, signatureBase } from '@assay/protocol/signatures/signature-base'
import { parseSignature, parseSignatureInput, type SignatureInput } from '@assay/protocol/signatures/signature-input'
import { equalBytes, sha256 } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { checkAccountSignature } from './check-account-signature.ts'
import { personalMessageDigest } from './personal-message.ts'
import { clockSkewMs, type RequestProofDeps } from './proof-deps.ts'

/** A request as it was received; the authority alone comes from configuration. */
export type SignedRequest = {
  method: string
  authority: string
  path: string
  /** With its leading `?`; "?" alone when there is none. */
  query: string
  headers: ReadonlyMap<string, string>
  rawBody: Uint8Array
}

export const proofValiditySecondsMax = 60

/** What a 401 asks for; the query and the digest are needed only where there is one. */
export const acceptSignature =
  'sig1=("@method" "@authority" "@path" "@query" "content-digest");keyid;created;expires;nonce'

/** ERC-8128 in one narrow profile: bound to this request, valid for a minute at most, used once. */
export async function verifySignedRequest(
  deps: RequestProofDeps,
  request: SignedRequest,
  /** Headers that change what the request means, so that the signature must cover them too. */
  headersToCover: readonly string[] = [],
): Promise<ProvenAccount> {
  const input = selectInput(request)
  const account = parseKeyId(String(input.params.get('keyid')))
  if (account === undefined || !deps.chainIds.includes(account.chainId))
    throw refused('keyid must be erc8128:<chain id>:<address> of a chain this node accepts.')
  const limits = { nowMs: deps.clock.nowMs(), validitySecondsMax: proofValiditySecondsMax, skewMs: clockSkewMs }
  const expiresAtMs = requestExpiryMs(input, limits)
  if (typeof expiresAtMs === 'string') throw refused(expiresAtMs)
  checkCovered(input, request, headersToCover)
  const nonce = input.params.get('nonce')
  if (typeof nonce !== 'string' || nonce.length < 8 || nonce.length > 128)
    throw refused('A nonce of 8 to 128 characters is required.')
  const signature = parseSignature(request.headers.get('signature') ?? '', input.label)
  if (signature === undefined) throw refused(`The Signature header has no bytes for ${input.label}.`)
  const base = signatureBase(coveredValues(input, request), input.inner)
  const digest = personalMessageDigest(Buffer.from(base, 'latin1'))
  const signed = { account, digest, signature: toHex(signature) }
  const proven = await checkAccountSignature(deps.checkContractSignature, signed, { passing: true })
  if (proven === undefined) throw refused('The signature is not one of this account for this request.')
  // Claimed after the signature check: claiming first would let a stranger burn someone else's nonce.
  const key = `${account.chainId}:${account.address}:${nonce}`
  if (!(await deps.claimNonce({ scope: 'erc8128', key, expiresAtMs })))
    throw refused('This signature has been used before.')
  return proven
}

function selectInput(request: SignedRequest): SignatureInput {
  const header = request.headers.get('signature-input')
  if (header === undefined || !request.headers.has('signature'))
    throw new Problem('proof_required', { headers: { 'accept-signature': acceptSignature } })
  const inputs = parseSignatureInput(header)
  // Other parties, such as a bot's own key, may sign the same request under other labels.
  const ours = inputs?.filter((input) => String(input.params.get('keyid')).startsWith('erc8128:'))
  const [input] = ours ?? []
  if (input === undefined || ours?.length !== 1)
    throw refused('Signature-Input must hold exactly one ERC-8128 signature.')
  return input
}

function checkCovered(input: SignatureInput, request: SignedRequest, headers: readonly string[]): void {
  const required = ['"@method"', '"@authority"', '"@path"', ...headers.map((name) => `"${name}"`)]
  if (request.query !== '?') required.push('"@query"')
  if (request.rawBody.byteLength > 0) required.push('"content-digest"')
  const missing = required.filter((component) => !input.components.includes(component))
  if (missing.length > 0) throw refused(`The signature must also cover ${missing.join(' ')}.`)
  if (input.components.includes('"content-digest"') && !digestFits(request))
    throw refused('Content-Digest does not fit the body.')
}

const digestMember = /^sha-256=:([A-Za-z0-9+/]{43}=):$/

function digestFits(request: SignedRequest): boolean {
  const members = (request.headers.get('content-digest') ?? '')
    .split(',')
    .map((member) => digestMember.exec(member.trim()))
  const found = members.filter((match) => match !== null)
  const value = found.length === 1 ? found[0]?.[1] : undefined
  return value !== undefined && equalBytes(Buffer.from(value, 'base64'), sha256(request.rawBody))
}

function coveredValues(input: SignatureInput, request: SignedRequest): CoveredComponent[] {
  return input.components.map((id) => {
    const name = id.slice(1, -1)
    const value = name.startsWith('@') ? derivedValue(name, request) : request.headers.get(name)?.trim()
    if (value === undefined) throw refused(`The signature covers ${id}, which this request does not have.`)
    return { id, value }
  })
}

function derivedValue(name: string, request: SignedRequest): string | undefined {
  if (name === '@method') return request.method
  if (name === '@authority') return request.authority
  if (name === '@path') return request.path
  return name === '@query' ? request.query : undefined
}

function refused(detail: string): Problem {
  return new Problem('proof_invalid', {
    detail,
    hint: 'Sign this request as Accept-Signature says, with a fresh nonce and at most 60 seconds of validity.',
    headers: { 'accept-signature': acceptSignature },
  })
}
