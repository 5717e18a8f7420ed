import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { PreparedAnswer } from '@assay/till/internal'
import {
  type CallContext,
  defineRoute,
  type RouteDeclaration,
  type RouteInput,
  type Unavailable,
} from '../../http/index.ts'
import type { CreatorShares } from '../ports.ts'
import { priceMicroMax } from '../sources/index.ts'
import { answerMatch, type MatchDeps, recordMatch } from './answer-match.ts'
import { citePage } from './cite-page.ts'
import type { Coverage } from './coverage.ts'
import { type MatchAnswer, type MatchRequest, matchAnswer, matchRequest } from './match-schemas.ts'
import { contentMaxMicro, postTexts } from './sell-texts.ts'

const matchPriceMicro = 1_000n

const pagesMax = 50n

const contentHighest = (pages: bigint, most: Micro): Micro => matchPriceMicro + pages * most

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
      price: { attest_micro: '5000', attest_usd: '0.005', creator_micro: '4500', content_micro: null },
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
  const { contentMicro, ...prepared } = await answerMatch(deps, request, payer)
  return request.content ? { ...prepared, chargeMicro: matchPriceMicro + contentMicro } : prepared
}

export function matchRoutes(
  deps: MatchDeps,
  networks: readonly string[],
  state: { unavailable(): Unavailable | undefined; coverage(): Coverage },
  shares: CreatorShares | undefined,
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
            highestMicro: contentHighest(pagesMax, priceMicroMax),
            metered: true,
            ...(shares ? { payee: 'custody' as const } : {}),
            of: ({ body }) => {
              const { content, limit = 10, content_usd_max } = body as MatchRequest
              return content ? contentHighest(BigInt(limit), contentMaxMicro(content_usd_max)) : undefined
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
          await postTexts(tx, sale, sale.reservation as unknown as Parameters<typeof postTexts>[2], shares)
          return undefined
        },
      },
    }),
  ]
}
