import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createReadWriteLock } from './read-write-lock.ts'

test('a writer waits for readers, keeps later readers out, and lets them in when it is done', async () => {
  const lock = createReadWriteLock()
  const events: string[] = []
  const step = (name: string, turns: number) => async () => {
    events.push(`${name} begins`)
    for (let i = 0; i < turns; i += 1) await turn()
    events.push(`${name} ends`)
  }
  await Promise.all([
    lock.shared(step('reader 1', 3)),
    lock.shared(step('reader 2', 1)),
    lock.exclusive(step('writer 1', 2)),
    lock.exclusive(step('writer 2', 2)),
    lock.shared(step('reader 3', 1)),
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

test('work that fails releases the lock', async () => {
  const lock = createReadWriteLock()
  const failing = async () => {
    throw new Error('no')
  }
  await expect(lock.exclusive(failing)).rejects.toThrow('no')
  await expect(lock.shared(failing)).rejects.toThrow('no')
  expect(await lock.exclusive(async () => 1)).toBe(1)
  expect(await lock.shared(async () => 2)).toBe(2)
})
