import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import { openThreadEngine } from './thread-engine-adapter.ts'

const page = {
  domain: 'a.test',
  title: 'Short squeeze',
  text: 'The squeeze of January.',
  language: 'en',
  licence: '',
  type: 'html',
  day: 1,
}

test('the index answers from its thread, with what was added and scored', async () => {
  const engine = openThreadEngine({ log: silentLog, onLost: () => {} })
  await engine.add([{ ...page, pageId: 7 }])
  await engine.setScores([['a.test', 50]])
  expect((await engine.search('squeezes', { minScore: 50 }, 5)).candidates).toMatchObject([
    { pageId: 7, domain: 'a.test' },
  ])
  expect((await engine.search('squeezes', { minScore: 51 }, 5)).candidates).toEqual([])
  expect(await engine.size()).toEqual({ docs: 1, segments: 1 })
  await expect(
    engine.add([
      { ...page, pageId: 9 },
      { ...page, pageId: 8 },
    ]),
  ).rejects.toThrow('in order')
  await engine.stop()
  await expect(engine.search('squeeze', {}, 1)).rejects.toMatchObject({ code: 'not_ready' })
})

test('a second thread reuses what the first one kept, and builds nothing of it again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-match-'))
  const docs = Array.from({ length: 1_200 }, (_, at) => ({ ...page, pageId: at + 1, text: `number ${at}` }))
  const first = openThreadEngine({ log: silentLog, folder, onLost: () => {} })
  expect(await first.indexedTo()).toBe(0)
  await first.add(docs)
  const before = await first.search('squeeze 77', {}, 5)
  await first.stop()
  const second = openThreadEngine({ log: silentLog, folder, onLost: () => {} })
  expect(await second.indexedTo()).toBe(1_200)
  expect(await second.search('squeeze 77', {}, 5)).toEqual(before)
  await second.stop()
  await rm(folder, { recursive: true })
})
