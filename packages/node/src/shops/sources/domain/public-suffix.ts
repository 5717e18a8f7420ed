import { readFileSync } from 'node:fs'

export type SuffixMatch = {
  /** The part under which others register: `co.uk`, `github.io`. */
  suffix: string
  /** One label more, or undefined when the name is itself a suffix. */
  registrable: string | undefined
}

type Rules = { exact: ReadonlySet<string>; wildcard: ReadonlySet<string>; exception: ReadonlySet<string> }

let loaded: Rules | undefined

/** Read once, at the first question: most processes that load this file never ask. */
function rules(): Rules {
  loaded ??= parseRules(readFileSync(new URL('./public-suffixes.txt', import.meta.url), 'utf8'))
  return loaded
}

export function parseRules(text: string): Rules {
  const exact = new Set<string>()
  const wildcard = new Set<string>()
  const exception = new Set<string>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('//') || line === 'icann' || line === 'private') continue
    if (line.startsWith('!')) exception.add(line.slice(1))
    else if (line.startsWith('*.')) wildcard.add(line.slice(2))
    else exact.add(line)
  }
  return { exact, wildcard, exception }
}

/** The algorithm of publicsuffix.org, private section included: user.github.io is not github.io. Takes A-labels. */
export function matchSuffix(domain: string, list: Rules = rules()): SuffixMatch {
  const labels = domain.split('.')
  // From the longest candidate down: the longest rule prevails, an exception beats all.
  for (let start = 0; start < labels.length; start += 1) {
    const candidate = labels.slice(start).join('.')
    const parent = labels.slice(start + 1).join('.')
    if (list.exception.has(candidate)) return split(labels, start + 1)
    // The parent of a wildcard has no rule of its own, but what lies below it belongs to others all the same.
    if (list.exact.has(candidate) || list.wildcard.has(parent) || list.wildcard.has(candidate))
      return split(labels, start)
  }
  return split(labels, labels.length - 1)
}

function split(labels: readonly string[], suffixStart: number): SuffixMatch {
  return {
    suffix: labels.slice(suffixStart).join('.'),
    registrable: suffixStart === 0 ? undefined : labels.slice(suffixStart - 1).join('.'),
  }
}
