import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from './judge.ts'
import { freezesAlone, freezing, isIndispensable, search } from './search.fixture.ts'
import { addressOf, factsOf, type History, history } from './search-facts.fixture.ts'
import { admitted, everybody, people, type Ref, role, type State, stranger } from './search-model.fixture.ts'
import { type PowerName, powerNames } from './types.ts'

/** The same few in every run of the suite; the command with a count takes new ones each time. */
const { HISTORIES, SEED = HISTORIES === undefined ? '1' : undefined } = process.env
const histories = Number(HISTORIES ?? 40)
const addresses = (who: Iterable<number>) => [...who].map(addressOf).sort()

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
    return admitted(s, ref, stranger) ? everybody.filter((one) => !admitted(s, ref, one)) : []
  })
  return new Set(stopped).size
}

test('every field agrees with what everybody can do, found by trying it', { timeout: 3_600_000 }, () => {
  fc.assert(
    fc.property(history, (told) => {
      const judged = judge(factsOf(told))
      expect(judged.missing).toEqual([])
      const found = Object.fromEntries(powerNames.map((name) => [name, search(told.state, name)])) as Record<
        PowerName,
        ReturnType<typeof search>
      >
      for (const name of powerNames) {
        const power = judged.powers[name]
        const { now, who, partners } = found[name]
        expect([name, power.now]).toEqual([name, now])
        expect([name, power.who.map(({ account }) => account).sort()]).toEqual([name, addresses(who)])
        const named = new Set<string>(power.couldBecome.map(({ account }) => account))
        const unnamed = [...partners].filter((one) => !named.has(addressOf(one)))
        const missed = unnamed.filter((one) => isIndispensable(told.state, name, one, found[name]))
        expect([name, addresses(missed)]).toEqual([name, []])
        if (now === 'impossible') expect([name, [...named]]).toEqual([name, []])
        const used = name === 'mint' ? 1 : name === 'freeze' ? frozenNow(told.state) : told.used[name]
        expect([name, power.exercised]).toEqual([name, used])
      }
      for (const { account, alone } of judged.powers.freeze.who)
        if (alone !== undefined)
          expect([account, alone]).toEqual([
            account,
            freezesAlone(told.state, people.find((one) => addressOf(one) === account) ?? stranger),
          ])
      expect(judged.verdict).toBe(verdictOf(told, found))
    }),
    {
      numRuns: histories,
      endOnFailure: process.env.SHRINK === undefined,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    },
  )
})
