import { type Call, keyOf, perform, type State } from './search-model.fixture.ts'

/**
 * Something that somebody is able and willing to do; without a call, to use what the others prepared. `or`: calls that
 * are the same act upon somebody else.
 */
export type Act = { by: number; call?: Call; or?: readonly Call[] }

const statesMax = 5_000

/** Whether these acts, as often and in whatever order, lead to such a state. */
export function reaches(start: State, acts: readonly Act[], done: (state: State) => boolean): boolean {
  if (done(start)) return true
  const seen = new Set([keyOf(start)])
  const waiting = [start]
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop())
    for (const next of statesAfter(state, acts)) {
      const key = keyOf(next)
      if (seen.has(key)) continue
      if (done(next)) return true
      if (seen.size >= statesMax) throw new Error('more states than the search can hold')
      seen.add(key)
      waiting.push(next)
    }
  return false
}

function* statesAfter(state: State, acts: readonly Act[]): Generator<State> {
  for (const { by, call, or = [] } of acts)
    for (const one of call === undefined ? [] : [call, ...or]) {
      const next = perform(state, by, one)
      if (next !== undefined && next !== state) yield next
    }
}

const keyed = (all: readonly Act[], held: readonly Act[]): string => {
  const kept = new Set(held)
  return all.map((act) => (kept.has(act) ? 1 : 0)).join('')
}

/** Remembers which sets of acts win. */
export function remember(all: readonly Act[], wins: (held: readonly Act[]) => boolean): typeof wins {
  const tried = new Map<string, boolean>()
  return (held) => {
    const key = keyed(all, held)
    const found = tried.get(key) ?? wins(held)
    tried.set(key, found)
    return found
  }
}

const checksMax = 24

/**
 * Whether somebody has an act in a set of acts that wins and of which none can be left out. Such sets are found by
 * leaving acts out while the rest wins, those of others first, and again without one of the acts that remained.
 */
export function partOf(one: number, all: readonly Act[], wins: (held: readonly Act[]) => boolean): boolean {
  if (!all.some(({ by }) => by === one)) return false
  const seen = new Set<string>()
  const look = (allowed: readonly Act[]): boolean => {
    const key = keyed(all, allowed)
    if (seen.has(key) || seen.size >= checksMax || !wins(allowed)) return false
    seen.add(key)
    const left = leaveOut(
      leaveOut(allowed, ({ by }) => by !== one, wins),
      ({ by }) => by === one,
      wins,
    )
    if (left.some(({ by }) => by === one)) return true
    return left.some((act) => look(allowed.filter((other) => other !== act)))
  }
  return look(all)
}

/** Leaves out as many of the chosen acts as possible, large parts first. */
function leaveOut(
  held: readonly Act[],
  chosen: (act: Act) => boolean,
  wins: (held: readonly Act[]) => boolean,
): readonly Act[] {
  const drop = (kept: readonly Act[], part: readonly Act[]): readonly Act[] => {
    if (part.length === 0) return kept
    const fewer = kept.filter((act) => !part.includes(act))
    if (wins(fewer)) return fewer
    if (part.length === 1) return kept
    const half = part.length >> 1
    return drop(drop(kept, part.slice(0, half)), part.slice(half))
  }
  return drop(held, held.filter(chosen))
}
