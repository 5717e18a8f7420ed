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

test('timers of a late process strike together, those of others on time', async () => {
  const time = createVirtualTime(0)
  const late = time.clockFor(beginLife({ late: true }))
  const onTime = time.clockFor(beginLife())
  const seen: string[] = []
  for (const ms of [1_000, 1_500, 20]) void late.sleep(ms).then(() => seen.push(`${ms} at ${time.nowMs()}`))
  void onTime.sleep(1_200).then(() => seen.push(`1200 at ${time.nowMs()}`))
  await time.pass(5_000)
  expect(seen).toEqual(['20 at 500', '1200 at 1200', '1000 at 5000', '1500 at 5000'])
})
