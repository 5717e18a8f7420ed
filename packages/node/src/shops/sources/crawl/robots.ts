/** `pattern` in the one spelling of `normalPath`. */
export type RobotsRule = { allow: boolean; pattern: string }

export type Robots = {
  /** Rules of the group that is meant for us. */
  rules: readonly RobotsRule[]
  crawlDelaySeconds: number | undefined
  sitemaps: readonly string[]
  /** `License:` lines of RSL. */
  licences: readonly string[]
  /** `Content-Signal` of the group that is meant for us; absent: nothing said. */
  signals?: ContentSignals
}

/** contentsignals.org: whether pages may be found by search, and whether models may read them. */
export type ContentSignals = { search?: boolean; aiInput?: boolean }

/** RFC 9309 asks parsers to read at least this much. */
export const robotsBytesMax = 500 * 1024

export const allowAll: Robots = { rules: [], crawlDelaySeconds: undefined, sitemaps: [], licences: [] }
export const disallowAll: Robots = { ...allowAll, rules: [{ allow: false, pattern: '/' }] }

type Group = { agents: string[]; rules: RobotsRule[]; delay: number | undefined; signals: ContentSignals | undefined }

/** Reads RFC 9309. `productToken` is our name in it, lower case. */
export function parseRobots(text: string, productToken: string): Robots {
  const groups: Group[] = []
  const sitemaps: string[] = []
  const licences: string[] = []
  let current: Group | undefined
  let agentsOpen = false
  for (const raw of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    if (!raw.includes(':')) continue
    const line = (raw.split('#', 1)[0] ?? '').trim()
    const colon = line.indexOf(':')
    if (colon <= 0 || line.length > 4_096) continue
    const key = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (key === 'user-agent') {
      if (!agentsOpen || !current) {
        current = { agents: [], rules: [], delay: undefined, signals: undefined }
        groups.push(current)
      }
      current.agents.push(value.toLowerCase())
      agentsOpen = true
      continue
    }
    if (key === 'sitemap' && sitemaps.length < 20) sitemaps.push(valueWithScheme(raw, key))
    else if (key === 'license' && licences.length < 20) licences.push(valueWithScheme(raw, key))
    else if ((key === 'allow' || key === 'disallow') && current) {
      agentsOpen = false
      // An empty Disallow forbids nothing.
      if (value !== '' && current.rules.length < 5_000)
        current.rules.push({ allow: key === 'allow', pattern: normalPath(value) })
    } else if (key === 'content-signal' && current) {
      agentsOpen = false
      current.signals = { ...current.signals, ...readSignals(value) }
    } else if (key === 'crawl-delay' && current) {
      agentsOpen = false
      if (/^\d{1,4}(?:\.\d{1,3})?$/.test(value)) current.delay = Number(value)
    }
  }
  return { ...chosenGroup(groups, productToken), sitemaps, licences }
}

// The comment mark may be part of an address only after a space.
const valueWithScheme = (raw: string, key: string) =>
  raw
    .trim()
    .slice(key.length)
    .replace(/^\s*:\s*/, '')
    .split(/\s/, 1)[0]
    ?.slice(0, 2_048) ?? ''

function readSignals(value: string): ContentSignals {
  const said = new Map(
    value.split(',').map((pair) => {
      const [name = '', answer = ''] = pair.split('=').map((word) => word.trim().toLowerCase())
      return [name, answer] as const
    }),
  )
  const answer = (name: string) => (said.get(name) === 'no' ? false : said.get(name) === 'yes' ? true : undefined)
  const [search, aiInput] = [answer('search'), answer('ai-input')]
  return { ...(search === undefined ? {} : { search }), ...(aiInput === undefined ? {} : { aiInput }) }
}

function chosenGroup(
  groups: readonly Group[],
  productToken: string,
): Pick<Robots, 'rules' | 'crawlDelaySeconds' | 'signals'> {
  const ours = groups.filter((group) => group.agents.includes(productToken))
  const chosen = ours.length > 0 ? ours : groups.filter((group) => group.agents.includes('*'))
  return {
    ...(chosen.some((group) => group.signals)
      ? { signals: Object.assign({}, ...chosen.map((group) => group.signals)) as ContentSignals }
      : {}),
    rules: chosen.flatMap((group) => group.rules),
    crawlDelaySeconds: chosen.map((group) => group.delay).find((delay) => delay !== undefined),
  }
}

/** The longest matching rule decides, and of equals the one that allows. robots.txt itself may always be read. */
export function isAllowed(robots: Robots, url: string): boolean {
  const { pathname, search } = new URL(url)
  const path = normalPath(`${pathname}${search}`)
  if (path === '/robots.txt') return true
  let best: { length: number; allow: boolean } | undefined
  for (const { pattern, allow } of robots.rules) {
    // Only a rule that would win is worth matching.
    if (best && (pattern.length < best.length || (pattern.length === best.length && !allow))) continue
    if (matchesPath(path, pattern)) best = { length: pattern.length, allow }
  }
  return best?.allow ?? true
}

/** Percent-encoding in one spelling, so that both sides compare. */
export function normalPath(path: string): string {
  return path
    .replace(/[^\x21-\x7e]/gu, (letter) => encodeURIComponent(/^[\ud800-\udfff]$/.test(letter) ? '\ufffd' : letter))
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const unit = Number.parseInt(code.slice(1), 16)
      const letter = String.fromCharCode(unit)
      return /[A-Za-z0-9._~-]/.test(letter) ? letter : code.toUpperCase()
    })
}

/** `*` for any run and `$` for the end, in linear time: the pieces between stars are looked for from left to right. */
export function matchesPath(path: string, rule: string): boolean {
  const anchored = rule.endsWith('$')
  const pieces = (anchored ? rule.slice(0, -1) : rule).split('*')
  const first = pieces[0] ?? ''
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const [index, piece] of pieces.slice(1).entries()) {
    const last = index === pieces.length - 2
    if (last && anchored) return path.length - piece.length >= at && path.endsWith(piece)
    const found = path.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return !anchored || pieces.length > 1 || at === path.length
}

/** All entries of the longest pattern that matches (RFC 9309), by path or by address. */
export function longestMatch<Entry>(
  url: string,
  entries: readonly Entry[],
  patternOf: (entry: Entry) => string,
): Entry[] {
  const { origin, pathname, search } = new URL(url)
  const path = normalPath(`${pathname}${search}`)
  let [length, found]: [number, Entry[]] = [-1, []]
  for (const entry of entries) {
    const given = patternOf(entry)
    const pattern = normalPath(given.startsWith(origin) ? given.slice(origin.length) || '/' : given)
    if (!pattern.startsWith('/') && !pattern.startsWith('*')) continue
    if (pattern.length < length || !matchesPath(path, pattern)) continue
    if (pattern.length > length) [length, found] = [pattern.length, []]
    found.push(entry)
  }
  return found
}
