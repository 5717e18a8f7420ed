import { expect, test } from 'vitest'
import { layoutControl } from './graph-layout.ts'

const party = (account: string, how = 'holds a role') => ({ account, how, label: { kind: 'eoa' } })
const power = (who: string[], could: string[] = []) => ({
  state: 'armed' as const,
  now: 'armed' as const,
  exercised: 0,
  who: who.map((account) => party(account)),
  who_count: who.length,
  could_become: could.map((account) => party(account)),
  could_become_count: could.length,
  why: '',
})

test('every holder has a line to what it holds, and who could get it a dashed one', () => {
  const graph = layoutControl({ mint: power(['0xa'], ['0xb']), seize: power(['0xa']) })
  expect(graph.accounts.map(({ id }) => id)).toEqual(['0xa', '0xb'])
  expect(graph.edges).toHaveLength(3)
  expect(graph.edges.filter(({ now }) => !now)).toMatchObject([{ from: 1, to: 0 }])
})

test('a token with many holders shows those who hold most and counts the others', () => {
  const many = Array.from({ length: 40 }, (_, index) => `0x${index}`)
  const graph = layoutControl({ mint: power(many), seize: power(['0x7']) })
  expect(graph.accounts).toHaveLength(14)
  expect(graph.accounts[0]?.id).toBe('0x7')
  expect(graph.leftOut).toBe(26)
})

test('nobody holding anything is a picture of the powers alone', () => {
  const graph = layoutControl({ mint: power([]) })
  expect(graph.accounts).toEqual([])
  expect(graph.height).toBeGreaterThan(0)
})
