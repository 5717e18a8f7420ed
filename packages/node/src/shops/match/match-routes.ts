import type { Address } from '@assay/protocol/address'
import type { PreparedAnswer } from '@assay/till/internal'
import {
  type CallContext,
  defineRoute,
  type RouteDeclaration,
  type RouteInput,
  type Unavailable,
} from '../../http/index.ts'
import { answerMatch, type MatchDeps, recordMatch } from './answer-match.ts'
import { citePage } from './cite-page.ts'
import type { Coverage } from './coverage.ts'
import { type MatchAnswer, type MatchRequest, matchAnswer, matchRequest } from './match-schemas.ts'

const matchPriceMicro = 1_000n

/** With the text of a page a search costs more by its length, up to this for a page. */
const contentPageMicro = 2_000n
const contentThousandMicro = 100n
const pagesMax = 50n

/** What is charged for texts that were given whole. */
function contentMicro(texts: readonly string[]): bigint {
  return texts.reduce((sum, text) => {
    const micro = BigInt(Math.ceil(text.length / 1_000)) * contentThousandMicro
    return sum + (micro < contentPageMicro ? micro : contentPageMicro)
  }, 0n)
}

const contentHighest = (pages: bigint): bigint => matchPriceMicro + pages * contentPageMicro

const exampleAnswer: MatchAnswer = {
  query_id: 'qry_06d1z8k4q2v7e9m3x5c0w8r2t4',
  data: [
    {
      rank: 1,
      url: 'https://example.com/short-squeeze',
      canonical_url: 'https://example.com/short-squeeze',
      title: 'What a short squeeze is',
      snippet: 'A short squeeze begins when those who sold short must buy back at any price.',
      snippet_sha256: `0x${'11'.repeat(32)}`,
      snippet_start: 0,
      snippet_end: 75,
      text_sha256: `0x${'22'.repeat(32)}`,
      matched_terms: ['short', 'squeeze'],
      domain: 'example.com',
      authors: ['Ada Lovelace'],
      publisher: 'Example News',
      language: 'en',
      type: 'html',
      citation: citePage({
        url: 'https://example.com/short-squeeze',
        title: 'What a short squeeze is',
        authors: ['Ada Lovelace'],
        publisher: 'Example News',
        publishedAt: '2026-01-01T00:00:00.000Z',
        accessedAt: '2026-01-02T00:00:00.000Z',
      }),
      cite_score: 71,
      licence: { name: 'CC-BY-4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
      terms: { snippet: true, reason: null, content: false },
      price: { attest_micro: '5000', attest_usd: '0.005', creator_micro: '4500' },
      published_at: '2026-01-01T00:00:00.000Z',
      modified_at: null,
      fetched_at: '2026-01-02T00:00:00.000Z',
      relevance: 0.6412,
      parts: {
        words: 1,
        latent: 0.94,
        proximity: 0.61,
        feedback: 0.88,
        neighbours: 1.2,
        trust: 0.855,
        freshness: 0.99,
        phrases: 1,
      },
      synthetic: false,
    },
  ],
  next_cursor: null,
  understood: { looked_for: ['short', 'squeeze'], ignored: [], unknown: [], suggestions: {} },
  searched_at: '2026-01-03T00:00:00.000Z',
  synthetic: false,
}

async function prepareMatch(deps: MatchDeps, request: MatchRequest, payer: Address): Promise<PreparedAnswer> {
  const { texts, ...prepared } = await answerMatch(deps, request, payer)
  return request.content ? { ...prepared, chargeMicro: matchPriceMicro + contentMicro(texts) } : prepared
}

export function matchRoutes(
  deps: MatchDeps,
  networks: readonly string[],
  state: { unavailable(): Unavailable | undefined; coverage(): Coverage },
): RouteDeclaration[] {
  return [
    defineRoute({
      id: 'citations.match',
      area: 'C',
      method: 'POST',
      path: '/v1/match',
      summary: 'Ranked, citable pages for a question, with quotable snippets, CiteScore, licence and price',
      description:
        'Ranked by how well the text answers; CiteScore and freshness decide between equals. At most three pages per registrable domain, unless `domains` names sites. When nothing is good enough the answer is 404 with what was understood, and nothing is charged. `content` adds whole texts, metered.',
      body: matchRequest,
      output: matchAnswer,
      example: { body: { query: 'short squeeze' }, output: exampleAnswer },
      next: '/v1/cite/attest',
      nextElse: '/',
      access: {
        kind: 'paid',
        price: {
          kind: 'fixed',
          micro: matchPriceMicro,
          more: {
            highestMicro: contentHighest(pagesMax),
            of: ({ body }) => {
              const { content, limit = 10 } = body as MatchRequest
              return content ? contentHighest(BigInt(limit)) : undefined
            },
          },
        },
        networks,
        payee: 'pay_to',
        revocable: false,
        unavailable: state.unavailable,
        dataState: state.coverage,
        prepare: (input: RouteInput, call: CallContext & { payer: Address }) =>
          prepareMatch(deps, input.body as MatchRequest, call.payer),
        commit: async (tx, sale) => {
          await recordMatch(tx, sale.reservation, sale.settledAtMs)
          return undefined
        },
      },
    }),
  ]
}
