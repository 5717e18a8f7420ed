import type { Address } from '@assay/protocol/address'
import { expect } from 'vitest'
import type { TokenFacts } from '../facts.ts'
import { evaluate } from './evaluate.ts'
import { type Found, freezersOf, freezing, search } from './search.fixture.ts'
import { addressOf, type History } from './search-facts.fixture.ts'
import {
  admitted,
  everybody,
  nobody,
  people,
  type Ref,
  role,
  type State,
  tokenItself,
  untouched,
} from './search-model.fixture.ts'
import { type PowerName, powerNames } from './types.ts'

type Name = (who: number) => Address

/** The verdict by what the search found, and by who could change what is bound. */
function verdictOf({ state: s }: History, found: Record<PowerName, ReturnType<typeof search>>): string {
  if (found.admin.now !== 'impossible') return 'ISSUER_CONTROLLED'
  const idle = powerNames.every((name) => name === 'unpause' || found[name].now === 'impossible')
  const held = [role.MINT, role.SEIZE, role.BURN_BLOCKED, role.PAUSE, role.OPERATOR, role.METADATA].some((r) =>
    people.some((one) => canTake(s, r, one)),
  )
  return idle && !held && !listsGoverned(s) && s.paused === 0 ? 'LOCKED' : 'PARTIALLY_CONTROLLED'
}

const holds = (s: State, r: number, one: number) => (((s.roles[r] as number) >> one) & 1) === 1

function canTake(s: State, r: number, one: number, seen: number[] = []): boolean {
  if (holds(s, r, one)) return true
  if (s.roles[role.ADMIN] === 0 || seen.includes(r)) return false
  return canTake(s, s.roleAdmins[r] as number, one, [...seen, r])
}

function listsGoverned(s: State): boolean {
  const bound = s.scopes.flatMap(({ list }) => (typeof list === 'number' ? [list] : []))
  const all = bound.flatMap((list) => [list, ...(s.lists[list]?.children ?? []).map((child) => child.list)])
  return all.some((list) => {
    const one = typeof list === 'number' ? s.lists[list] : undefined
    return one !== undefined && [one.admin, one.pending].some((who) => people.includes(who as never))
  })
}

function frozenNow(s: State): number {
  const stopped = freezing(s).flatMap((place) => {
    const ref = s.scopes[place] as Ref
    return admitted(s, ref, untouched) ? everybody.filter((one) => !admitted(s, ref, one)) : []
  })
  return new Set(stopped).size
}

/** What accounts that can never call have of the token or of a list that it follows. */
function unreachableOf({ state: s }: History, name: Name): [string, number][] {
  const followed = new Set(
    s.scopes.flatMap(({ list }) =>
      typeof list === 'number' ? [list, ...(s.lists[list]?.children ?? []).map((child) => child.list)] : [],
    ),
  )
  return [tokenItself, nobody].flatMap((one): [string, number][] => {
    const held = s.roles.filter((mask) => (mask >> one) & 1).length
    const lists = s.lists.filter((list, i) => one !== nobody && followed.has(i) && list.admin === one).length
    return held + lists > 0 ? [[name(one), held + lists]] : []
  })
}

/** What is evaluated from the facts is what everybody can do from the state, in every field. */
export function expectSame(history: History, facts: TokenFacts, name: Name = addressOf): void {
  const evaluated = evaluate(facts)
  const addresses = (who: Iterable<number>) => [...who].map(name).sort()
  expect([evaluated.complete, evaluated.missing]).toEqual([true, []])
  const found = Object.fromEntries(powerNames.map((name) => [name, search(history.state, name)])) as Record<
    PowerName,
    Found
  >
  for (const of of powerNames) {
    const power = evaluated.powers[of]
    const { now, who, partners } = found[of]
    const used = of === 'mint' ? Number(history.minted) : of === 'freeze' ? frozenNow(history.state) : history.used[of]
    expect({
      of,
      now: power.now,
      who: power.who.map(({ account }) => account).sort(),
      couldBecome: power.couldBecome.map(({ account }) => account).sort(),
      exercised: power.exercised,
    }).toEqual({ of, now, who: addresses(who), couldBecome: addresses(partners), exercised: used })
  }
  const alone = evaluated.powers.freeze.who.map((party) => [party.account, party.alone]).sort()
  expect(alone).toEqual([...freezersOf(history.state)].map(([one, able]) => [name(one), able]).sort())
  expect(evaluated.unreachable.map(({ account, holds }) => [account, holds.length]).sort()).toEqual(
    unreachableOf(history, name).sort(),
  )
  expect(evaluated.verdict).toBe(verdictOf(history, found))
}
