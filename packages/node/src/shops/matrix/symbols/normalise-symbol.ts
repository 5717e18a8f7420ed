/**
 * One spelling for all sources: `BRK.B` for share classes, `ABR.PRD` preferred, `AAC.WS` warrants, `AAC.U` units,
 * `CELG.RT` rights, `IFF.WI` when issued. Undefined for what is no symbol at all.
 */
export type SymbolDialect = 'finra' | 'sec' | 'ibkr' | 'nasdaq' | 'plain'

const rootPattern = /^[A-Z][A-Z0-9]{0,7}$/
const canonicalPattern = /^[A-Z][A-Z0-9]{0,7}(?:\.[A-Z0-9]{1,6})?$/

export function normaliseSymbol(raw: string, dialect: SymbolDialect): string | undefined {
  // Most symbols are bare letters in every dialect.
  if (raw.length <= 8 && rootPattern.test(raw)) return raw
  const text = raw.trim()
  const spelled = dialects[dialect](text)
  return spelled !== undefined && canonicalPattern.test(spelled) ? spelled : undefined
}

export const isCanonicalSymbol = (text: string) => canonicalPattern.test(text)

const dialects: Record<SymbolDialect, (text: string) => string | undefined> = {
  // `BRK/B`, `UWMC/WS`, `HTPA/U`, `BHRpB` preferred, `IFFw` when issued, `CELGr` rights.
  finra: (text) => lowerCaseMark(text.replace('/', '.')),
  // `BRK-B`; a preferred is `BAC-PE`.
  sec: (text) => text.replace(/-P([A-Z]?)$/, '.PR$1').replace('-', '.'),
  // `BRK B`, `ABR PRF`; renamed lines carry `.OLD`.
  ibkr: (text) => (/\.OLD/.test(text) ? undefined : text.replace(' ', '.')),
  nasdaq: nasdaqSpelling,
  plain: (text) => text.replace(/[/ -]/, '.'),
}

function lowerCaseMark(text: string): string {
  const match = /^([A-Z][A-Z0-9]*)(p|w|r)([A-Z]?)$/.exec(text)
  if (!match) return text
  const [, root = '', mark, series = ''] = match
  return mark === 'p' ? `${root}.PR${series}` : mark === 'w' ? `${root}.WI` : `${root}.RT`
}

/** ACT symbols of the directory and of halts: `ABR$D`, `BFT.W`, `BFT.U`; the NASDAQ column has `ABR-D`, `BFT+`, `BFT=`, `X^`. */
function nasdaqSpelling(text: string): string {
  const marked = text
    .replace(/\$([A-Z]?)$/, '.PR$1')
    .replace(/-([A-Z])$/, '.PR$1')
    .replace(/\+$/, '.WS')
    .replace(/=$/, '.U')
    .replace(/\^$/, '.RT')
  return marked.replace(/\.W$/, '.WS').replace(/\.R$/, '.RT').replace(/\.V$/, '.WI')
}

/** The spelling without its dot, as files without separators write it: `BRKB`, `ABRPRD`, `AACWS`. */
export const joinedSpelling = (canonical: string) => canonical.replace('.', '')
