import { z } from 'zod'
import { domainInput } from '../sources/index.ts'
import { isStorable } from '../sources/page/index.ts'
import { tokenize } from './tokenize.ts'

const queryCharsMax = 500

export const matchRequest = z.strictObject({
  query: z
    .string()
    .max(queryCharsMax)
    .refine(isStorable, 'must be text')
    .refine((text) => tokenize(text).length > 0, 'must contain a word to look for')
    .describe('What the sources should be about; "quoted phrases" count more.'),
  limit: z.int().min(1).max(50).optional().describe('10 unless told.'),
  min_score: z.int().min(0).max(100).optional().describe('Least CiteScore of the source.'),
  licence: z
    .string()
    .regex(/^[A-Za-z0-9.+-]{2,40}$/)
    .optional()
    .describe('Only pages under this licence, by its short name such as CC-BY-4.0.'),
  language: z
    .string()
    .regex(/^[a-zA-Z]{2,3}$/)
    .optional(),
  max_age_days: z.int().min(1).max(36_500).optional(),
  domains: z.array(domainInput).min(1).max(20).optional().describe('Only pages of these domains.'),
  explain: z.boolean().optional().describe('Shows the parts of each rank.'),
})

export type MatchRequest = z.infer<typeof matchRequest>

const matchedPage = z.strictObject({
  url: z.string(),
  title: z.string(),
  snippet: z.string().describe('Words of the page as they stand in it, to be quoted.'),
  snippet_sha256: z.string(),
  text_sha256: z.string().describe('Of the normal text of the whole page.'),
  domain: z.string(),
  cite_score: z.int().min(0).max(100).nullable(),
  licence: z
    .looseObject({ name: z.string().nullable(), url: z.string() })
    .nullable()
    .describe('As found on the page or for the whole site; null when none was found.'),
  price: z.strictObject({
    attest_micro: z.string(),
    attest_usd: z.string(),
    creator_micro: z.string().describe('What of it goes to the creator.'),
  }),
  published_at: z.string().nullable(),
  modified_at: z.string().nullable(),
  fetched_at: z.string(),
  relevance: z.number().describe('Rank of the page; the best possible is about 1.'),
  synthetic: z.boolean(),
  explain: z
    .strictObject({ relevance: z.number(), trust: z.number(), freshness: z.number(), phrases: z.number() })
    .optional(),
})

export type MatchedPage = z.infer<typeof matchedPage>

export const matchAnswer = z.strictObject({
  query_id: z.string().describe('Name it when you attest one of these pages.'),
  data: z.array(matchedPage),
  next_cursor: z.null(),
  corrected: z.record(z.string(), z.string()).describe('Words found nowhere, and what was looked for instead.'),
  searched_at: z.string(),
  synthetic: z.boolean(),
})

export type MatchAnswer = z.infer<typeof matchAnswer>
