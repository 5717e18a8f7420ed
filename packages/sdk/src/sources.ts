import type { LocalAccount, TypedDataDefinition } from 'viem'
import type { AssayClient } from './client.ts'
import { readJson } from './read-json.ts'
import { signRequest } from './sign-request.ts'

export type SourceState = 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'

export type SourceSummary = {
  domain: string
  display: string
  state: SourceState
  state_reason: string
  cite_score: number | null
  confidence: number | null
  synthetic: boolean
  registered_at: string
  updated_at: string
}

export type ProofInstructions = {
  dns: { record: 'TXT'; name: string; value: string }
  file: { url: string; content_type: 'application/json'; content: Record<string, unknown> }
  meta: { url: string; html: string }
}

export type SourceClaim = {
  id: string
  state: string
  wallet: string
  token_expires_at: string | null
  takes_over_at: string | null
  prove: ProofInstructions
  wallet_proven: boolean
  wallet_statement: Record<string, unknown>
}

export type Source = SourceSummary & {
  next_steps: { step: string; state: 'done' | 'missing' | 'waiting'; fix: string }[]
  proof: { method: string | null; proven_at: string | null; next_check_at: string | null; failures: number } | null
  payout: { state: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'; wallet: string | null }
  claim: SourceClaim | null
  score: {
    value: number
    confidence: number
    model_version: string
    computed_at: string
    components: {
      id: string
      value: number
      weight: number
      known: number
      evidence: { what: string; url: string; sha256: string | null; checked_at: string | null }[]
    }[]
    gate: { value: number; reason: string }
    advice: { component: string; signal: string; advice: string; points: number }[]
    history: { seq: number; score: number; computed_at: string; jws: string }[]
  } | null
  crawl: { pages_indexed: number; pages_known: number; finished_at: string | null; problem: string | null }
  licence: { kind: string; name: string | null; url: string } | null
  earnings: { citations: number; earned_micro: string; paid_micro: string }
}

export type RegisterSource = { domain: string; wallet: string; contact?: string; sitemap?: string }
export type ListSources = { state?: SourceState; score_min?: number; search?: string; limit?: number; cursor?: string }
export type DisputeSource = {
  kind: 'ownership' | 'content' | 'licence' | 'score' | 'other'
  statement: string
  evidence_url?: string
  contact?: string
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const at = (node: string, path: string) => new URL(path, node).href
const pathOf = (domain: string, rest = '') => `/v1/sources/${encodeURIComponent(domain)}${rest}`

/** Free and without credential; the answer says what to publish. */
export async function registerSource(client: AssayClient, node: string, source: RegisterSource): Promise<Source> {
  return readJson<Source>(await client.fetch(at(node, '/v1/sources/register'), post(source)))
}

/** With `wallet` also what that claimant has to publish. */
export async function readSource(client: AssayClient, node: string, domain: string, wallet?: string): Promise<Source> {
  return readJson<Source>(await client.fetch(at(node, pathOf(domain, wallet === undefined ? '' : `?wallet=${wallet}`))))
}

export async function listSources(
  client: AssayClient,
  node: string,
  filter: ListSources = {},
): Promise<{ data: SourceSummary[]; next_cursor: string | null }> {
  const query = new URLSearchParams(
    Object.entries(filter).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  )
  return readJson(await client.fetch(at(node, `/v1/sources${query.size === 0 ? '' : `?${query}`}`)))
}

/** Looks now. With the payout wallet's account its signature is made and sent too. */
export async function verifySource(
  client: AssayClient,
  node: string,
  domain: string,
  options: { wallet?: string; account?: LocalAccount } = {},
): Promise<Source> {
  const wallet = options.account?.address ?? options.wallet
  const signature =
    options.account === undefined
      ? undefined
      : await signPayoutStatement(await readSource(client, node, domain, options.account.address), options.account)
  return readJson<Source>(
    await client.fetch(
      at(node, pathOf(domain, '/verify')),
      post({
        ...(wallet === undefined ? {} : { wallet }),
        ...(signature === undefined ? {} : { wallet_signature: signature }),
      }),
    ),
  )
}

/** Undefined when the wallet has signed before. Signs only what the source answer shows, and only if it is of this kind. */
async function signPayoutStatement(source: Source, account: LocalAccount): Promise<`0x${string}` | undefined> {
  if (source.claim === null || source.claim.wallet_proven) return undefined
  const statement = source.claim.wallet_statement as unknown as TypedDataDefinition & {
    message: Record<string, unknown>
  }
  const { domain, wallet } = statement.message
  if (
    statement.primaryType !== 'SourcePayout' ||
    domain !== source.domain ||
    String(wallet).toLowerCase() !== account.address.toLowerCase()
  )
    throw new RangeError(
      'the node asks for another statement than one about this domain and wallet; nothing was signed',
    )
  return account.signTypedData(statement)
}

/** `current` signs with the wallet that is paid now, which shortens the wait. */
export async function changeSourceWallet(
  client: AssayClient,
  node: string,
  domain: string,
  change: { wallet: string; current?: LocalAccount; chainId?: number },
): Promise<Source> {
  const url = at(node, pathOf(domain, '/wallet'))
  const body = post({ wallet: change.wallet })
  if (change.current === undefined) return readJson<Source>(await client.fetch(url, body))
  const signed = await signRequest(url, body, {
    account: change.current,
    ...(change.chainId === undefined ? {} : { chainId: change.chainId }),
  })
  return readJson<Source>(
    await client.fetch(signed.url, { method: 'POST', headers: signed.headers, body: await signed.arrayBuffer() }),
  )
}

export async function disputeSource(
  client: AssayClient,
  node: string,
  domain: string,
  dispute: DisputeSource,
): Promise<{ id: string; state: string; note: string }> {
  return readJson(await client.fetch(at(node, pathOf(domain, '/dispute')), post(dispute)))
}
