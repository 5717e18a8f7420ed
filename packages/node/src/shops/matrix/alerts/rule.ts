import { feeds } from '../feeds/catalogue.ts'
import { type FeedId, isFeedId } from '../feeds/feed.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'

type Comparison = '>=' | '<=' | '>' | '<'

/** What an alert waits for. `~` is a move by that many places, up or down. */
export type Rule = {
  /** The one spelling, which is the subject that is watched. */
  text: string
  feed: FeedId
  /** `*`: every symbol of the feed. */
  symbol: string
  field: string
  operator: Comparison | '~'
  figure: number
}

const pattern = /^([a-z-]{2,20}):([A-Za-z0-9./ *-]{1,14}):([a-z_.]{1,60})(?:(>=|<=|>|<|~)(-?\d{1,12}(?:\.\d{1,6})?))?$/
const notNumbers = new Set(['text', 'code', 'time'])

/** `squeeze:GME:score>=95`, `borrow:GME:fee_pct>50`, `squeeze:GME:rank~25`, `threshold:*:entered`. Undefined for anything else. */
export function parseRule(given: string, tier: 'live' | 'vip' = 'live'): Rule | undefined {
  const [, feed = '', name = '', field = '', operator = '>=', figure = '1'] = pattern.exec(given.trim()) ?? []
  if (!isFeedId(feed) || (given.includes('~') && field !== 'rank')) return undefined
  const column = feeds[feed].columns.find((one) => one.name === field && (one.tier === 'live' || tier === 'vip'))
  const known = field === 'rank' || (column !== undefined && !notNumbers.has(column.unit))
  // Without a figure only a flag says what is meant.
  const bare = /^[^<>=~]*$/.test(given)
  if (!known || (bare && column?.unit !== 'flag')) return undefined
  // Of all symbols at once only new entries are few.
  const every = name === '*' && feed === 'threshold' && field === 'entered'
  const symbol = every ? '*' : normaliseSymbol(name.toUpperCase(), 'plain')
  if (symbol === undefined) return undefined
  const rule = { feed, symbol, field, operator: operator as Rule['operator'], figure: Number(figure) }
  if (rule.operator === '~' && !(rule.figure >= 1)) return undefined
  const condition = column?.unit === 'flag' ? '' : `${rule.operator}${rule.figure}`
  return { ...rule, text: `${feed}:${symbol}:${field}${condition}` }
}

const rulesMax = 20

/** Rules of a stream, which shows vip columns as well. */
export function parseRules(text: string): Rule[] | undefined {
  const rules = text.split(',').map((one) => parseRule(one, 'vip'))
  return rules.length <= rulesMax && rules.every((rule) => rule !== undefined) ? (rules as Rule[]) : undefined
}
