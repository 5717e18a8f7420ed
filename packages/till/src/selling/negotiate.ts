type Range = { type: string; subtype: string; q: number }

const choices = new WeakMap<readonly string[], Map<string, string>>()
const choicesMax = 64

/** The representation the caller prefers among those offered, or undefined. No Accept, or an unreadable one, takes the first. */
export function negotiate(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept === '*/*') return offered[0]
  // Callers send few different values, so each is read once per list of offers.
  const known = choices.get(offered)?.get(accept)
  if (known !== undefined) return known
  const choice = choose(accept, offered)
  if (choice !== undefined && accept.length <= 256) remember(accept, offered, choice)
  return choice
}

function remember(accept: string, offered: readonly string[], choice: string): void {
  const known = choices.get(offered) ?? new Map<string, string>()
  choices.set(offered, known)
  if (known.size < choicesMax) known.set(accept, choice)
}

function choose(accept: string, offered: readonly string[]): string | undefined {
  const first = offered[0]
  const ranges = accept.split(',').flatMap(parseRange)
  if (ranges.length === 0) return first
  let best: string | undefined
  let bestQ = 0
  for (const media of offered) {
    const q = qualityOf(media, ranges)
    if (q > bestQ) {
      best = media
      bestQ = q
    }
  }
  return best
}

function parseRange(text: string): Range[] {
  const [media = '', ...parameters] = text.split(';')
  const [type, subtype, ...rest] = media.trim().toLowerCase().split('/')
  if (!type || !subtype || rest.length > 0) return []
  const q = parameters.map((p) => p.trim().toLowerCase()).find((p) => p.startsWith('q='))
  const value = q === undefined ? 1 : Number(q.slice(2))
  return [{ type, subtype, q: value >= 0 && value <= 1 ? value : 0 }]
}

/** The most specific range decides, as RFC 9110 12.5.1 says. */
function qualityOf(media: string, ranges: readonly Range[]): number {
  const [type = '', subtype = ''] = (media.split(';')[0] ?? '').split('/')
  // The route returns an earlier answer, whose type this caller has accepted before.
  if (type === '*') return 1
  const exact = ranges.find((range) => range.type === type && range.subtype === subtype)
  const kind = ranges.find((range) => range.type === type && range.subtype === '*')
  const any = ranges.find((range) => range.type === '*' && range.subtype === '*')
  return (exact ?? kind ?? any)?.q ?? 0
}
