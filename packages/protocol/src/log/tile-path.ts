export type TilePath = {
  /** A level of hashes, or the entries themselves. */
  level: number | 'entries'
  tile: number
  /** 1..255 for a partial tile, 256 for a full one. */
  width: number
}

const levelPattern = /^(?:0|[1-9]|[1-5][0-9]|6[0-3])$/
const widthPattern = /^(?:[1-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$/

/** Index in groups of three digits, all but the last marked by `x`: 1234067 is `x001/x234/067`. */
export function tileIndexPath(tile: number): string {
  const groups = [String(tile % 1000).padStart(3, '0')]
  for (let rest = Math.floor(tile / 1000); rest > 0; rest = Math.floor(rest / 1000))
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`)
  return groups.join('/')
}

/** Strict: one tile has one path. Undefined for anything else. */
export function parseTilePath(levelText: string, segments: readonly string[]): TilePath | undefined {
  const level = levelText === 'entries' ? 'entries' : levelPattern.test(levelText) ? Number(levelText) : undefined
  if (level === undefined) return undefined
  const partial = segments.at(-2)?.endsWith('.p') === true
  const width = partial ? segments.at(-1) : undefined
  if (partial && !widthPattern.test(width ?? '')) return undefined
  const groups = partial ? [...segments.slice(0, -2), (segments.at(-2) as string).slice(0, -2)] : [...segments]
  const last = groups.pop() ?? ''
  if (!/^[0-9]{3}$/.test(last) || !groups.every((group) => /^x[0-9]{3}$/.test(group))) return undefined
  const tile = Number([...groups.map((group) => group.slice(1)), last].join(''))
  if (!Number.isSafeInteger(tile) || tileIndexPath(tile) !== [...groups, last].join('/')) return undefined
  return { level, tile, width: width === undefined ? 256 : Number(width) }
}
