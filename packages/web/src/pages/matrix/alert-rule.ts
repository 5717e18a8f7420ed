import type { Column } from './types.ts'

export type Alert = { field: string; operator: string; figure: string }

const notNumbers = new Set(['text', 'code', 'time', 'flag'])
const figurePattern = /^-?\d{1,12}(?:\.\d{1,6})?$/

/** What an alert can wait for: the numbers of the live tier. */
export const fieldsOf = (columns: readonly Column[]): Column[] =>
  columns.filter(({ tier, unit }) => tier === 'live' && !notNumbers.has(unit))

/** As the node spells it, such as `squeeze:GME:score>=95`; undefined until there is a figure. */
export const ruleOf = (feed: string, symbol: string, { field, operator, figure }: Alert): string | undefined =>
  figurePattern.test(figure) ? `${feed}:${symbol}:${field}${operator}${figure}` : undefined

export function targetOf(text: string): { kind: 'webhook' | 'email'; target: string } | undefined {
  if (/^https?:\/\/\S+$/.test(text)) return { kind: 'webhook', target: text }
  return /^\S+@\S+\.\S+$/.test(text) ? { kind: 'email', target: text } : undefined
}
