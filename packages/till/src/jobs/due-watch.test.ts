import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'
import { createDueWatch } from './index.ts'

/** Answers with the values given, and counts how often it was asked. */
function watchOver(values: Record<string, string | null>) {
  const state = { values, asked: 0, broken: false, answered: Promise.resolve() }
  const query = async () => {
    state.asked += 1
    await state.answered
    if (state.broken) throw new Error('the connection was lost')
    return { rows: [{ states: JSON.stringify(Object.values(state.values)) }], rowCount: 1 }
  }
  const database = { query } as unknown as Database
  const jobs = Object.keys(values).map((name) => ({ name, due: 'true' }))
  const watch = createDueWatch({ database, clock: systemClock, log: silentLog }, jobs)
  const poll = async () => {
    const woken: string[] = []
    await watch.poll((name) => woken.push(name))
    return woken
  }
  return { state, watch, poll }
}

const nothing = async () => {}

test('one statement for all jobs; a job is woken when its work appears, and once more when it is gone', async () => {
  const { state, watch, poll } = watchOver({ pay: 'false', seal: 'false' })
  expect(watch.isDue('pay'), 'before anything is known').toBe(true)
  expect(await poll()).toEqual([])
  for (const name of ['pay', 'seal']) await watch.run(name, nothing)
  expect([watch.isDue('pay'), watch.isDue('seal')]).toEqual([false, false])
  state.values = { pay: 'true', seal: 'false' }
  expect(await poll()).toEqual(['pay'])
  await watch.run('pay', nothing)
  expect(watch.isDue('pay'), 'as long as it is true').toBe(true)
  expect(await poll(), 'it was not idle').toEqual([])
  state.values = { pay: 'false', seal: 'false' }
  await poll()
  expect(watch.isDue('pay'), 'one round after the last work').toBe(true)
  await watch.run('pay', nothing)
  expect(watch.isDue('pay')).toBe(false)
  expect(state.asked).toBe(4)
})

test('an expression that is no condition makes work whenever its value changes', async () => {
  const { state, watch, poll } = watchOver({ show: null })
  await poll()
  await watch.run('show', nothing)
  expect(await poll()).toEqual([])
  state.values = { show: '7' }
  expect(await poll()).toEqual(['show'])
  await watch.run('show', nothing)
  expect(watch.isDue('show')).toBe(false)
})

test('a round that fails leaves its work to the next, and so does a change while it runs', async () => {
  const { state, watch, poll } = watchOver({ show: '1' })
  await poll()
  await expect(watch.run('show', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(watch.isDue('show')).toBe(true)
  await watch.run('show', async () => {
    state.values = { show: '2' }
    await poll()
  })
  expect(watch.isDue('show')).toBe(true)
})

test('without an answer of the database every job has work', async () => {
  const { state, watch, poll } = watchOver({ pay: 'false' })
  await poll()
  await watch.run('pay', nothing)
  state.broken = true
  expect(await poll()).toEqual(['pay'])
  expect(watch.isDue('pay')).toBe(true)
})

test('a job whose round ends while the state is read is woken by what was read', async () => {
  const { state, watch, poll } = watchOver({ pay: 'false' })
  await poll()
  state.values = { pay: 'true' }
  let answer = () => {}
  state.answered = new Promise((resolve) => {
    answer = resolve
  })
  const polled = poll()
  await watch.run('pay', nothing)
  expect(watch.isDue('pay'), 'by what was known then').toBe(false)
  answer()
  expect(await polled).toEqual(['pay'])
})
