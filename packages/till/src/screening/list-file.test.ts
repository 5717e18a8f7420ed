import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import { createListScreening, ScreeningUnavailable } from './index.ts'

const one = `0x${'11'.repeat(20)}` as const
const two = `0x${'22'.repeat(20)}` as const
const folder = useFolder('screening')

test('a list is read again when it changes, and a broken one refuses everybody until it is repaired', async () => {
  const file = join(folder, 'list.txt')
  let nowMs = 0
  const alarms: string[] = []
  const screening = createListScreening(file, {
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: silentLog,
    metrics: {
      count: (_, labels) => alarms.push(labels?.['alarm'] ?? ''),
      gauge: () => {},
      observeMs: () => {},
    },
  })
  await expect(screening.find(one)).rejects.toThrow('SCREENING_LIST: cannot be read (ENOENT)')
  const write = async (text: string) => {
    await writeFile(file, text)
    nowMs += 10_000
  }
  await write(`${one}\n`)
  expect([await screening.find(one), await screening.find(two)]).toEqual([
    { source: 'list', reason: 'sanctions_list' },
    undefined,
  ])
  await write(`${one}\n${two}\n`)
  expect(await screening.find(two)).toBeDefined()
  await write(`${one}\n0x22`)
  await expect(screening.find(two)).rejects.toThrow(ScreeningUnavailable)
  await expect(screening.find(two)).rejects.toThrow('SCREENING_LIST: line 2 is no address')
  expect(alarms).toEqual(['screening_list_broken', 'screening_list_broken'])
  await write(`${two}\n`)
  expect([await screening.find(one), await screening.find(two)]).toEqual([undefined, expect.anything()])
})
