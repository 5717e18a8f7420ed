import { formatUsd, type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { normalPath } from '../crawl/robots.ts'
import type { RslTerms } from '../crawl/rsl.ts'

/** What a stamp costs where nobody asks for more; less does not pay for taking the money. */
export const citationMicro: Micro = 5_000n
export const priceMicroMax: Micro = 1_000_000n
export const contentMicroMin: Micro = 100n

/** What a proven creator says about a part of its site; prices in micro-USDC, as text. */
export type CreatorRule = {
  /** Pattern of RFC 9309: `*` for any run, `$` for the end. The longest that matches decides. */
  path: string
  /** May pages be read and found at all. */
  crawl: boolean
  snippet: boolean
  /** May a citation be stamped, and for how much. */
  attest: boolean
  attest_micro: string
  /** May the whole text be sold, and for how much a page. */
  content: boolean
  content_micro: string | null
}

/** Our reader keeps 50 licences of a site, and a rule can need two. */
export const rulesMax = 25

const price = (least: Micro) =>
  z
    .string()
    .max(20)
    .refine(
      (text) => {
        const micro = parseUsd(text)
        return micro !== undefined && micro >= least && micro <= priceMicroMax
      },
      `must be decimal USD, ${formatUsd(least)} to ${formatUsd(priceMicroMax)}`,
    )

const ruleInput = z
  .strictObject({
    path: z
      .string()
      .max(512)
      .regex(/^\/[\x21-\x7e]*$/, 'must start with / and be percent-encoded')
      .describe('Such as /news/ or /*.pdf$, by the rules of robots.txt; the longest that matches decides.'),
    crawl: z.boolean().optional().describe('May pages be read and found. Default: true.'),
    snippet: z.boolean().optional().describe('May passages be given. Default: as crawl.'),
    attest: z.boolean().optional().describe('May citations be stamped. Default: as crawl.'),
    attest_usd: price(citationMicro).optional().describe('Price of a stamp, 0.005 (default) to 1 USD.'),
    content: z.boolean().optional().describe('May the whole text be sold. Default: false.'),
    content_usd: price(contentMicroMin).optional().describe('Price of the text of a page, 0.0001 to 1 USD.'),
  })
  .superRefine((rule, context) => {
    const { crawl = true, snippet = crawl, attest = crawl, content = false } = rule
    const say = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (!crawl && snippet) say('snippet', 'needs crawl')
    if (!crawl && attest) say('attest', 'needs crawl')
    if (content && !snippet) say('content', 'needs snippet')
    if (content !== (rule.content_usd !== undefined)) say('content_usd', 'belongs to content, and content to it')
    if (!attest && rule.attest_usd !== undefined) say('attest_usd', 'needs attest')
  })

export const rulesInput = z
  .array(ruleInput)
  .max(rulesMax)
  .refine((rules) => new Set(rules.map(({ path }) => normalPath(path))).size === rules.length, 'names a path twice')

/** With everything said that the input leaves open. */
export function completeRules(rules: z.infer<typeof rulesInput>): CreatorRule[] {
  return rules.map(({ path, crawl = true, snippet = crawl, attest = crawl, content = false, ...prices }) => ({
    path,
    crawl,
    snippet,
    attest,
    attest_micro: (parseUsd(prices.attest_usd ?? '') ?? citationMicro).toString(),
    content,
    content_micro: content ? (parseUsd(prices.content_usd ?? '') as Micro).toString() : null,
  }))
}

/** The same as RSL says it. What is obeyed and what is published are both made from this. */
export function licencesOf(rules: readonly CreatorRule[], origin: string): RslTerms[] {
  return rules.flatMap((rule) => {
    const licence = (terms: Pick<RslTerms, 'permits' | 'prohibits' | 'payments'>): RslTerms => ({
      content: `${origin}${rule.path}`,
      standard: undefined,
      ...terms,
    })
    if (!rule.crawl) return [licence({ permits: [], prohibits: ['all'], payments: [] })]
    const found = licence({
      permits: rule.snippet ? ['search', 'ai-index', 'ai-input'] : ['search'],
      prohibits: [],
      payments: [rule.attest ? paid('use', rule.attest_micro) : free('attribution')],
    })
    const whole = { permits: ['search', 'ai-index', 'ai-input'], prohibits: [] }
    return rule.content_micro === null
      ? [found]
      : [found, licence({ ...whole, payments: [paid('crawl', rule.content_micro)] })]
  })
}

const free = (type: string) => ({ type, amount: undefined, currency: undefined })
const paid = (type: string, micro: string) => ({ type, amount: formatUsd(BigInt(micro)), currency: 'USD' })
