import { expect, test } from 'vitest'
import { beginLife, createVirtualTime } from './virtual-time.ts'

const slowWork = () => new Promise<void>((resolve) => setTimeout(resolve, 300))

test('no time passes for the sleepers of a dead process', async () => {
  const time = createVirtualTime(0)
  const [dead, alive] = [beginLife(), beginLife()]
  const day = 86_400_000
  void time.clockFor(dead).sleep(day)
  dead.end()
  await time.until(slowWork())
  expect(time.nowMs()).toBe(0)
  await time.until(time.clockFor(alive).sleep(5))
  expect(time.nowMs()).toBe(5)
})

test('time is fixed while a port is at work, however slow the machine is', async () => {
  const time = createVirtualTime(0)
  const clock = time.clockFor(beginLife())
  const seen: string[] = []
  void clock.sleep(10).then(() => seen.push('the sleeper wakes'))
  const work = time.busy(slowWork).then(() => seen.push('the work ends'))
  await time.pass(20)
  await work
  expect(seen).toEqual(['the work ends', 'the sleeper wakes'])
})

test('work that sleeps lets time pass, and is work again when it wakes', async () => {
  const time = createVirtualTime(0)
  const clock = time.clockFor(beginLife())
  const seen: string[] = []
  void clock.sleep(20).then(() => seen.push('the sleeper wakes'))
  const work = time.busy(async () => {
    await clock.sleep(10)
    await slowWork()
    seen.push('the work ends')
  })
  await time.pass(30)
  await work
  expect(seen).toEqual(['the work ends', 'the sleeper wakes'])
})
