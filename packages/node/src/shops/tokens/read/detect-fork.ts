import { type Fork, forkOrder, roles, selectors } from '../abi/b20.ts'
import { type ForkFact, known, unknown } from '../facts.ts'
import type { View } from './views.ts'
import { readWord } from './words.ts'

export type ForkSchedule = {
  /** When each fork came; undefined where no table applies, as on an embedded chain. */
  times: Record<Fork, number> | undefined
  /** Seconds since 1970 of the first scheduled fork this release was not reviewed for. */
  nextUnreviewedAt: number | undefined
}

type Probe = 'yes' | 'no' | 'unclear'

/** An old fork answers an unknown selector with that selector and nothing else; anything in between is no answer. */
function probe(view: View | undefined, selector: string, isYes: (word: bigint) => boolean): Probe {
  if (view?.status === 'reverted') return view.data === selector ? 'no' : 'unclear'
  if (view?.status !== 'returned') return 'unclear'
  const word = readWord(view.data)
  return word !== undefined && isYes(word) ? 'yes' : 'unclear'
}

export function detectFork(
  seizeRole: View | undefined,
  invertedZero: View | undefined,
  scaling: View | undefined,
  timestamp: number,
  schedule: ForkSchedule,
): ForkFact {
  const cobalt = probe(seizeRole, selectors['SEIZE_ROLE()'], (word) => word === BigInt(roles.SEIZE_ROLE))
  const denim = probe(invertedZero, selectors['invertedPolicyId(uint64)'], (word) => word === 1n << 63n)
  const second = scaling && probe(scaling, selectors['supportsInterface(bytes4)'], (word) => word === 1n)
  const scheduled = scheduledFork(schedule, timestamp)
  const decided = decideFork(cobalt, denim)
  // Two probes of the same thing that differ: one of them lies.
  const torn = decided !== undefined && second !== undefined && second !== cobalt
  const fork = decided === undefined || torn ? unknown<Fork>(torn ? 'integrity' : 'unread') : known(decided)
  return {
    fork,
    seizeRole: cobalt,
    invertedPolicyId: denim,
    scheduled,
    mismatch: fork.known && scheduled !== undefined && fork.value !== scheduled,
    unreviewed: schedule.nextUnreviewedAt !== undefined && timestamp >= schedule.nextUnreviewedAt,
  }
}

function decideFork(cobalt: Probe, denim: Probe): Fork | undefined {
  if (cobalt === 'yes' && denim === 'yes') return 'denim'
  if (cobalt === 'yes' && denim === 'no') return 'cobalt'
  if (cobalt === 'no' && denim === 'no') return 'beryl'
  return undefined
}

function scheduledFork({ times }: ForkSchedule, timestamp: number): Fork | undefined {
  return times && forkOrder.findLast((fork) => times[fork] <= timestamp)
}
