import type { Clock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import type { LogProof } from './open-log.ts'
import { type ProofDeps, proofAfterCommit } from './proof-after-commit.ts'

const proof = { leaf_index: 7 } as unknown as LogProof

function failing(times: number, how: 'throws' | 'is not there') {
  const slept: number[] = []
  let asked = 0
  const away = () => {
    asked += 1
    return asked <= times
  }
  const deps: ProofDeps = {
    clock: { sleep: async (ms: number) => void slept.push(ms) } as unknown as Clock,
    tree: {
      integrate: async () => {
        if (away() && how === 'throws') throw new Error('the database is away')
      },
      proofOf: async () => (asked <= times ? undefined : proof),
    } as ProofDeps['tree'],
  }
  return { deps, slept }
}

test('a moment without the database is waited out, so that an answer given again is the one given first', async () => {
  for (const how of ['throws', 'is not there'] as const) {
    const { deps, slept } = failing(2, how)
    expect(await proofAfterCommit(deps, 'att_1')).toBe(proof)
    expect(slept).toEqual([50, 250])
  }
})

test('longer than that is not waited for', async () => {
  const { deps, slept } = failing(9, 'throws')
  expect(await proofAfterCommit(deps, 'att_1')).toBeUndefined()
  expect(slept).toEqual([50, 250, 1_000])
})
