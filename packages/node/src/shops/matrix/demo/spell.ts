/** A canonical symbol as each publisher would write it: the counterpart of the normaliser. */
export function spell(symbol: string, dialect: 'finra' | 'ibkr' | 'nasdaq' | 'joined' | 'sec'): string {
  // Most are bare.
  if (!symbol.includes('.')) return symbol
  const [root = symbol, suffix = ''] = symbol.split('.')
  const preferred = suffix.startsWith('PR') ? suffix.slice(2) : undefined
  if (dialect === 'joined') return root + suffix
  if (dialect === 'ibkr') return `${root} ${suffix}`
  if (dialect === 'finra') return preferred === undefined ? `${root}/${suffix}` : `${root}p${preferred}`
  if (dialect === 'sec') return preferred === undefined ? `${root}-${suffix}` : `${root}-P${preferred}`
  return preferred === undefined ? `${root}.${suffix === 'WS' ? 'W' : suffix}` : `${root}$${preferred}`
}
