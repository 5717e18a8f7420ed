import type { CreditRating } from '@assay/protocol/rating'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'

export type DidDocument = {
  id: string
  alsoKnownAs?: string[]
  verificationMethod: { id: string; type: string; controller: string; blockchainAccountId?: string }[]
  authentication: string[]
  assertionMethod: string[]
  service: { id: string; type: string; serviceEndpoint: unknown }[]
  /** Only in documents of wallets. */
  capabilities?: Record<string, unknown>[]
  /** Null where the node knows no payments; left out of earlier versions of a document. */
  creditRating?: CreditRating | null
  paymentAuthorizations?: unknown[]
}

export type DidError = { type: string; title: string; status: number; detail: string }

export type DidResolution =
  | { status: 'resolved'; document: DidDocument; metadata: Record<string, unknown> }
  | { status: 'deactivated'; metadata: Record<string, unknown> }
  | { status: 'failed'; error: DidError }

export type ResolveOptions = { versionId?: string; versionTime?: string }

type Result = {
  didDocument: DidDocument | null
  didResolutionMetadata: { error?: DidError }
  didDocumentMetadata: Record<string, unknown>
}

/** Asks a node for a DID, with the answer's signature checked as the client is configured. */
export async function resolveDid(
  client: AssayClient,
  node: string,
  did: string,
  options: ResolveOptions = {},
): Promise<DidResolution> {
  const query = new URLSearchParams(options as Record<string, string>)
  const url = new URL(`/1.0/identifiers/${encodeURIComponent(did)}${query.size === 0 ? '' : `?${query}`}`, node)
  const { response } = await client.fetch(url, { headers: { accept: 'application/did-resolution' } })
  const result = (await response.json().catch(() => undefined)) as Partial<Result> | undefined
  const error = result?.didResolutionMetadata?.error
  if (error !== undefined) return { status: 'failed', error }
  const metadata = result?.didDocumentMetadata
  if (metadata?.deactivated === true) return { status: 'deactivated', metadata }
  if (metadata === undefined || !result?.didDocument)
    throw new AssayError('request_failed', { detail: `status ${response.status} instead of a resolution result` })
  return { status: 'resolved', document: result.didDocument, metadata }
}
