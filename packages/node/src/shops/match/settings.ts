import { z } from 'zod'
import { parseMembers, SettingsError, type Variables } from '../shop-settings.ts'
import { type EngineName, engineNames } from './match-engine.ts'
import type { OpenSearchOptions } from './opensearch-adapter.ts'

export const matchVariables = {
  MATCH_ENGINE: {
    kind: 'text',
    must: [new RegExp(`^(?:${engineNames.join('|')})$`), `must be one of ${engineNames.join(', ')}`],
    default: 'index',
    description:
      'What finds pages: `index`, the index of this node; `postgres`, the full text search of PostgreSQL; `opensearch`, a cluster that `MATCH` names.',
    secret: false,
  },
  MATCH: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with the address of an OpenSearch cluster and the model of a re-ranker; docs/match.md lists the members.',
    // The cluster may ask for a password.
    secret: true,
  },
} as const satisfies Variables

export type RerankSettings = { model: string; vocabulary: string; pages: number }

export type MatchSettings = {
  engine: EngineName
  opensearch: OpenSearchOptions | undefined
  rerank: RerankSettings | undefined
}

const schema = z.strictObject({
  opensearch_url: z
    .url({ protocol: /^https?$/ })
    .refine(
      (text) =>
        new URL(text).protocol === 'https:' || /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(new URL(text).hostname),
      'must be https, or http on this machine',
    )
    .optional(),
  opensearch_index: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,60}$/, 'must be lower-case letters, digits, - and _')
    .default('assay-pages'),
  opensearch_authorization: z.string().min(1).max(4_096).optional(),
  rerank_model: z.string().min(1).optional(),
  rerank_vocabulary: z.string().min(1).optional(),
  rerank_pages: z.int().min(1).max(100).default(30),
})

/** From `MATCH_ENGINE` and the JSON of `MATCH`. */
export function parseMatchSettings(engine: string | undefined, given: unknown): MatchSettings {
  const data = parseMembers('MATCH', schema, given)
  const name = engineNames.find((known) => known === engine) ?? 'index'
  if (name === 'opensearch' && data.opensearch_url === undefined)
    throw new SettingsError(['MATCH: opensearch_url is missing, which MATCH_ENGINE=opensearch needs'])
  if ((data.rerank_model === undefined) !== (data.rerank_vocabulary === undefined))
    throw new SettingsError(['MATCH: rerank_model and rerank_vocabulary belong together'])
  return {
    engine: name,
    opensearch:
      data.opensearch_url === undefined
        ? undefined
        : { url: data.opensearch_url, index: data.opensearch_index, authorization: data.opensearch_authorization },
    rerank:
      data.rerank_model === undefined || data.rerank_vocabulary === undefined
        ? undefined
        : { model: data.rerank_model, vocabulary: data.rerank_vocabulary, pages: data.rerank_pages },
  }
}
