import { type Action, actionsOf } from './actions.ts'
import { copyWorld, decode, encode } from './encode.ts'
import { createHash } from './hash.ts'
import { checkAlways, checkWhenIdle } from './invariants.ts'
import { createStateSet, type StateSet } from './state-set.ts'
import { type Bound, initialWorld, Violation, type World } from './world.ts'

export type Found = { what: string; trace: readonly string[] }
export type Explored = {
  states: number
  transitions: number
  /** States in which nothing happens by itself any more. */
  idleStates: number
  depth: number
  complete: boolean
  /** What the bound allows and no run of it used: it shows nothing about that. */
  unused: readonly string[]
  violation?: Found
}

export type ExploreOptions = {
  /** The exploration stops at the end of the level in which it has found more. */
  statesMax?: number
  onLevel?(reached: { depth: number; states: number; waiting: number }): void
}

/** States of a level that wait as they are; a text takes longer and needs less memory. */
const unpackedMax = 200_000

/**
 * Breadth first through every state that the bound reaches. Each must keep what `checkAlways` says; following what happens
 * by itself must lead from each to an idle state, which must keep what `checkWhenIdle` says.
 */
export function explore(
  bound: Bound,
  { statesMax = Number.POSITIVE_INFINITY, onLevel }: ExploreOptions = {},
): Explored {
  const known = createStateSet()
  const hash = createHash()
  const start = initialWorld(bound)
  const unused = new Set(Object.keys(start.left).filter((what) => start.left[what] !== 0))
  const result: Omit<Explored, 'unused'> = { states: 0, transitions: 0, idleStates: 0, depth: 0, complete: false }
  known.add(hash(start), -1)
  let level: (World | string)[] = [start]
  let firstOfLevel = 0
  const stop = (index: number, what: string, last?: string): Explored => {
    const trace = [...traceTo(bound, known, hash, index), ...(last === undefined ? [] : [last])]
    return { ...result, states: known.size(), unused: [...unused], violation: { what, trace } }
  }
  for (; level.length > 0; result.depth += 1) {
    const following: (World | string)[] = []
    for (const [place, waiting] of level.entries()) {
      const from = firstOfLevel + place
      const world = typeof waiting === 'string' ? decode(waiting) : waiting
      let fair: { priority: number; index: number } | undefined
      for (const action of actionsOf(bound, world)) {
        const next = copyWorld(world)
        const failed = violationOf(() => action.run(next))
        if (failed === false) continue
        if (typeof failed === 'string') return stop(from, failed, action.label())
        const { index, isNew } = known.add(hash(next), from)
        if (index === from) continue
        result.transitions += 1
        if (isNew) {
          for (const what of unused) if (next.left[what] !== start.left[what]) unused.delete(what)
          const wrong = violationOf(() => checkAlways(bound, next))
          if (typeof wrong === 'string') return stop(from, wrong, action.label())
          following.push(following.length < unpackedMax ? next : encode(next))
        }
        if (action.fair !== undefined && (!fair || action.fair < fair.priority)) fair = { priority: action.fair, index }
      }
      known.setFair(from, fair?.index ?? -1)
      if (fair) continue
      result.idleStates += 1
      const wrong = violationOf(() => checkWhenIdle(bound, world))
      if (typeof wrong === 'string') return stop(from, `when idle: ${wrong}`)
    }
    firstOfLevel += level.length
    level = following
    onLevel?.({ depth: result.depth, states: known.size(), waiting: level.length })
    if (known.size() > statesMax) return { ...result, states: known.size(), unused: [...unused] }
  }
  const circle = known.firstOnCircle()
  if (circle >= 0) return stop(circle, 'nothing that happens by itself leads to an idle state from here')
  return { ...result, states: known.size(), unused: [...unused], complete: true }
}

/** What is wrong, in words; false when nothing came of the action. */
function violationOf(run: () => unknown): string | false | undefined {
  try {
    return run() === false ? false : undefined
  } catch (error) {
    if (error instanceof Violation) return error.message
    return `the code failed: ${error}`
  }
}

/** The shortest way to a state, in words: its predecessors are found again one after the other. */
function traceTo(bound: Bound, known: StateSet, hash: (world: World) => Uint32Array, index: number): string[] {
  const path: number[] = []
  for (let at = index; at > 0; at = known.parentOf(at)) path.unshift(at)
  const trace: string[] = []
  let world = initialWorld(bound)
  for (const wanted of path) {
    const step = actionsOf(bound, world)
      .map((action: Action) => ({ action, next: copyWorld(world) }))
      .find(
        ({ action, next }) => violationOf(() => action.run(next)) === undefined && known.indexOf(hash(next)) === wanted,
      )
    if (!step) throw new Error('a state cannot be reached again')
    trace.push(step.action.label())
    world = step.next
  }
  return trace
}
