import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGate } from './gate.ts'

test('a writer waits for readers, keeps later readers out, and lets them in when it is done', async () => {
  const gate = createGate()
  const events: string[] = []
  const step = (name: string, turns: number) => async () => {
    events.push(`${name} begins`)
    for (let i = 0; i < turns; i += 1) await turn()
    events.push(`${name} ends`)
  }
  await Promise.all([
    gate.shared(step('reader 1', 3)),
    gate.shared(step('reader 2', 1)),
    gate.exclusive(step('writer 1', 2)),
    gate.exclusive(step('writer 2', 2)),
    gate.shared(step('reader 3', 1)),
  ])
  expect(events).toEqual([
    'reader 1 begins',
    'reader 2 begins',
    'reader 2 ends',
    'reader 1 ends',
    'writer 1 begins',
    'writer 1 ends',
    'writer 2 begins',
    'writer 2 ends',
    'reader 3 begins',
    'reader 3 ends',
  ])
})

test('work that fails leaves the gate open', async () => {
  const gate = createGate()
  const failing = async () => {
    throw new Error('no')
  }
  await expect(gate.exclusive(failing)).rejects.toThrow('no')
  await expect(gate.shared(failing)).rejects.toThrow('no')
  expect(await gate.exclusive(async () => 1)).toBe(1)
  expect(await gate.shared(async () => 2)).toBe(2)
})
