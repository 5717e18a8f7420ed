/** What kind of paper a symbol is; only shares of companies are ranked for squeezes, and funds among themselves. */
export type SecurityKind =
  | 'share'
  | 'adr'
  | 'etf'
  | 'preferred'
  | 'warrant'
  | 'unit'
  | 'right'
  | 'note'
  | 'fund'
  | 'test'

export const securityKinds: readonly SecurityKind[] = [
  'share',
  'adr',
  'etf',
  'preferred',
  'warrant',
  'unit',
  'right',
  'note',
  'fund',
  'test',
]

export function classifySecurity(input: {
  symbol: string
  name: string
  testIssue: boolean
  etf: boolean
}): SecurityKind {
  if (input.testIssue) return 'test'
  if (input.etf) return 'etf'
  return bySuffix(input.symbol) ?? byName(input.name) ?? 'share'
}

export function bySuffix(symbol: string): SecurityKind | undefined {
  const suffix = symbol.split('.')[1]
  if (suffix === undefined) return undefined
  if (suffix.startsWith('PR')) return 'preferred'
  return { WS: 'warrant', WSA: 'warrant', U: 'unit', RT: 'right' }[suffix] as SecurityKind | undefined
}

/** Names say `- Warrants`, `Units, each consisting of …`: the word of the paper itself comes before what it consists of. */
function byName(name: string): SecurityKind | undefined {
  const own = name.split(/,? each (?:consist|represent|whole|entitl)/i)[0] ?? name
  if (/\bwarrants?\b/i.test(own)) return 'warrant'
  if (/\bunits?\b(?! of beneficial)/i.test(own) && !/\bcommon units?\b|partnership/i.test(name)) return 'unit'
  if (/\brights?\b/i.test(own) && !/common stock|ordinary shares?/i.test(own)) return 'right'
  if (/\b(notes?|debentures?|bonds?)\b.*\b(due|20\d\d)\b/i.test(name)) return 'note'
  if (/\b(preferred|preference|pfd)\b/i.test(own) || /\bdepositary sh\w* .*\b(preferred|pfd)\b/i.test(name))
    return 'preferred'
  if (/\b(ETN|exchange[- ]traded notes?)\b/i.test(name)) return 'note'
  if (/american depositary|\bADS\b|\bADR\b/i.test(name)) return 'adr'
  return /\b(closed[- ]end|municipal (income|bond) fund)\b/i.test(name) ? 'fund' : undefined
}
