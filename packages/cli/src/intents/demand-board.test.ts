import type { IntentTick } from '@assay/sdk'
import { expect, test } from 'vitest'
import { createDemandBoard } from './demand-board.ts'

const tick = (id: string, minute: number, demand: number) =>
  ({
    cluster: { id, name: `Topic ${id}` },
    ends_at: `2026-11-16T10:0${minute}:00.000Z`,
    demand,
    bonded: demand,
    error_95: { demand: 4.2, bonded: 3 },
    trend: { ewma: demand, change_pct: null },
    rising: [],
    synthetic: false,
  }) as unknown as IntentTick

test('a topic of which the newest bucket says nothing is not shown with its old figures', () => {
  const board = createDemandBoard()
  board.add(tick('52', 1, 40))
  board.add(tick('53', 1, 30))
  board.close('2026-11-16T10:01:00.000Z')
  expect(board.text()).toContain('Topic 53')
  expect(board.text()).toContain('30 ± 4.2')
  board.add(tick('52', 2, 41))
  board.close('2026-11-16T10:02:00.000Z')
  expect(board.text()).toContain('Topic 52')
  expect(board.text()).not.toContain('Topic 53')
  board.close('2026-11-16T10:03:00.000Z')
  expect(board.text()).toContain('too few agents')
})
