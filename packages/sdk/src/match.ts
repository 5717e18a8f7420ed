import type { AssayClient } from './client.ts'
import { readJson } from './read-json.ts'

export type MatchRequest = {
  query: string
  limit?: number
  min_score?: number
  licence?: string
  language?: string
  max_age_days?: number
  domains?: readonly string[]
  explain?: boolean
}

export type MatchedPage = {
  url: string
  title: string
  /** Words of the page as they stand in it. */
  snippet: string
  snippet_sha256: string
  text_sha256: string
  domain: string
  cite_score: number | null
  licence: { name: string | null; url: string } | null
  price: { attest_micro: string; attest_usd: string; creator_micro: string }
  published_at: string | null
  modified_at: string | null
  fetched_at: string
  relevance: number
  synthetic: boolean
  explain?: { relevance: number; trust: number; freshness: number; phrases: number }
}

export type Match = {
  query_id: string
  data: MatchedPage[]
  corrected: Record<string, string>
  searched_at: string
  synthetic: boolean
}

/** Ranked, citable pages for a question; pays for one search within the client's policy. */
export async function matchSources(client: Pick<AssayClient, 'fetch'>, request: MatchRequest): Promise<Match> {
  const result = await client.fetch('/v1/match', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  return readJson<Match>(result)
}
