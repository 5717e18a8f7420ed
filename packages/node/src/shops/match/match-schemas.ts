import { parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { contentMicroMin, domainInput, priceMicroMax } from '../sources/index.ts'
import { contentTypes, isStorable } from '../sources/page/index.ts'
import { tokenize } from './tokenize.ts'

const queryCharsMax = 500
const day = z.iso.date()

export const matchRequest = z.strictObject({
  query: z
    .string()
    .max(queryCharsMax)
    .refine(isStorable, 'must be text')
    .refine((text) => tokenize(text).length > 0, 'must contain a word to look for')
    .describe('What the sources should be about; "quoted phrases" count more.'),
  limit: z.int().min(1).max(50).optional().describe('Default: 10.'),
  min_score: z.int().min(0).max(100).optional().describe('Least CiteScore of the source.'),
  licence: z
    .string()
    .regex(/^[A-Za-z0-9.+-]{2,40}$/)
    .optional()
    .describe('Only pages under this licence, by its short name such as CC-BY-4.0.'),
  language: z
    .string()
    .regex(/^[a-zA-Z]{2,3}$/)
    .optional()
    .describe('Only pages that declare this language, such as en; en-GB is en.'),
  max_age_days: z.int().min(1).max(36_500).optional(),
  since: day.optional().describe('Only pages dated on this day (UTC) or later.'),
  until: day.optional().describe('Only pages dated on this day (UTC) or earlier.'),
  type: z.enum(contentTypes).optional().describe('Only pages of this kind.'),
  domains: z
    .array(domainInput)
    .min(1)
    .max(20)
    .optional()
    .describe('Only these sites, with everything below them. All their pages compete: no limit per site.'),
  content: z
    .boolean()
    .optional()
    .describe(
      'Adds the whole text of pages whose creator or licence lets it be sold. The price is then a maximum of 0.001 USD and `content_usd_max` for each page of `limit`; by the scheme upto what the texts cost is charged.',
    ),
  content_usd_max: z
    .string()
    .max(20)
    .refine((text) => {
      const micro = parseUsd(text)
      return micro !== undefined && micro >= contentMicroMin && micro <= priceMicroMax
    }, 'must be decimal USD, 0.0001 to 1')
    .optional()
    .describe('The most that the text of one page may cost. Default: 0.002.'),
})

export type MatchRequest = z.infer<typeof matchRequest>

const matchedPage = z.strictObject({
  rank: z.int().min(1).describe('Place in this answer.'),
  url: z.string(),
  canonical_url: z.string().describe('The address that the page names as its own, where that is on the same site.'),
  title: z.string(),
  snippet: z
    .string()
    .nullable()
    .describe('The passage that answers best, in the words of the page, to be quoted; null where its terms forbid it.'),
  snippet_sha256: z.string().nullable(),
  snippet_start: z.int().nullable().describe('Where it starts in the normal text, in UTF-16 units.'),
  snippet_end: z.int().nullable(),
  text_sha256: z.string().describe('Of the normal text of the whole page.'),
  matched_terms: z.array(z.string()).describe('Words of the query that stand in the page.'),
  domain: z.string(),
  authors: z.array(z.string()),
  publisher: z.string().nullable(),
  language: z.string().nullable(),
  type: z.enum(contentTypes),
  citation: z
    .strictObject({ apa: z.string(), mla: z.string(), bibtex: z.string(), markdown: z.string() })
    .describe('Ready to be pasted.'),
  cite_score: z.int().min(0).max(100).nullable(),
  licence: z
    .looseObject({ name: z.string().nullable(), url: z.string() })
    .nullable()
    .describe('As found on the page or for the whole site; null when none was found.'),
  terms: z
    .strictObject({
      snippet: z.boolean(),
      reason: z.string().nullable(),
      content: z.boolean().describe('Whether the whole text may be given.'),
    })
    .describe('What the creator allows, and where that was read.'),
  price: z
    .strictObject({
      attest_micro: z.string(),
      attest_usd: z.string(),
      creator_micro: z.string().describe('What of it goes to the creator.'),
      content_micro: z.string().nullable().describe('The whole text; null where it is not sold.'),
    })
    .nullable()
    .describe('Of a stamp, as its creator set it; null where the creator lets no citation be stamped.'),
  published_at: z.string().nullable(),
  modified_at: z.string().nullable(),
  fetched_at: z.string(),
  relevance: z.number().describe('How well the text answers, 0 to 1, by any author; comparable between searches.'),
  parts: z
    .record(z.string(), z.number())
    .describe('What the place was made of: findings in the text, trust and freshness.'),
  synthetic: z.boolean(),
  content: z
    .string()
    .nullable()
    .optional()
    .describe('The normal text, where `content` was asked for; null where its creator does not let it be sold whole.'),
})

export type MatchedPage = z.infer<typeof matchedPage>

const understood = z.strictObject({
  looked_for: z.array(z.string()),
  ignored: z.array(z.string()).describe('Words of asking, which say nothing about the subject.'),
  unknown: z.array(z.string()).describe('Words that stand in no page.'),
  suggestions: z.record(z.string(), z.string()).describe('Known words one slip away from unknown ones. Not searched.'),
})

export type Understood = z.infer<typeof understood>

export const matchAnswer = z.strictObject({
  query_id: z.string().describe('Name it when you attest one of these pages.'),
  data: z.array(matchedPage),
  next_cursor: z.null(),
  understood,
  searched_at: z.string(),
  synthetic: z.boolean(),
})

export type MatchAnswer = z.infer<typeof matchAnswer>
