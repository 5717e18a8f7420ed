import { expect, test } from 'vitest'
import type { NodeIndex } from './node-index.ts'
import { readinessOf } from './read-checks.ts'

const index = { networks: [{ network: 'eip155:8453', name: 'base' }] } as Pick<NodeIndex, 'networks'>

test('a node that is not ready still shows which of its checks failed', () => {
  const refused = { code: 'not_ready', checks: { database: 'ok', 'chain eip155:8453': 'failed' } }
  expect(readinessOf(index, false, refused)).toEqual({
    ready: false,
    checks: [
      { name: 'database', ok: true },
      { name: 'chain Base', ok: false },
    ],
    notSold: [],
  })
})

test('what is not sold meanwhile is shown with its reason', () => {
  const notSold = [{ route: 'matrix.live', detail: 'The newest file is missing.' }]
  expect(readinessOf(index, true, { checks: {}, not_for_sale: notSold })).toMatchObject({ ready: true, notSold })
})

test('an answer without checks is a problem', () => {
  expect(readinessOf(index, false, undefined)).toBeUndefined()
  expect(readinessOf(index, false, { title: 'Bad gateway' })).toBeUndefined()
})
