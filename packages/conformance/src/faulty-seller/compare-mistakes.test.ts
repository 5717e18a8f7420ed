import { expect, test } from 'vitest'
import { compareMistakes } from './compare-mistakes.ts'
import type { Asked } from './exchange.ts'

const asked = (change: Partial<Asked>) =>
  ({ method: 'GET', target: '/echo', headers: {}, now: () => 0, ...change }) as Asked
const given = { status: 402, headers: { 'cache-control': 'no-store' }, body: '{}' }

async function noted(...requests: Partial<Asked>[]): Promise<string[]> {
  const names = new Set<string>()
  const { mistake, done } = compareMistakes(
    () => undefined,
    (name) => names.add(name),
  )
  const sell = mistake(async () => given)
  for (const request of requests) expect(await sell(asked(request))).toBe(given)
  await done()
  return [...names]
}

test('notes the mistakes that would have changed an answer, and gives the right one', async () => {
  const always = await noted({})
  expect(always).toContain('shared-caches')
  expect(always).not.toContain('methods')
  expect(new Set(await noted({ method: 'PUT' }))).toEqual(new Set([...always, 'methods']))
})
