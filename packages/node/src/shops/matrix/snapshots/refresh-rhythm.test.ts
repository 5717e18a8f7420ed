import { expect, test } from 'vitest'
import { createRefreshRhythm } from './refresh-rhythm.ts'

function open() {
  const time = { ms: 0 }
  const rhythm = createRefreshRhythm({ monotonicMs: () => time.ms })
  /** Asks every second; returns the seconds at which a refresh was due. Each takes `takesMs`. */
  const run = (seconds: number, takesMs: number, newsAt: (second: number) => boolean) => {
    const due: number[] = []
    for (let second = 1; second <= seconds; second += 1) {
      time.ms += 1_000
      if (newsAt(second)) rhythm.news()
      if (!rhythm.due()) continue
      due.push(second)
      time.ms += takesMs
      rhythm.done()
    }
    return due
  }
  return { run }
}

test('a file alone is shown within a few seconds, a group of files once', () => {
  expect(open().run(12, 0, (second) => second === 1)).toEqual([4])
  expect(open().run(12, 0, (second) => second <= 5)).toEqual([8])
})

test('without news it looks every twenty seconds', () => {
  expect(open().run(45, 0, () => false)).toEqual([20, 40])
})

test('while files keep coming, a costly refresh takes a small part of the time', () => {
  const due = open().run(600, 10_000, () => true)
  expect(due[0]).toBeLessThanOrEqual(61)
  expect(due.length * 10).toBeLessThanOrEqual(600 / 10)
})
