import { expect, test } from 'vitest'
import { createResolveCache } from './resolve-cache.ts'

function open() {
  let nowMs = 0
  const cache = createResolveCache<string>({ nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} })
  return { cache, pass: (ms: number) => (nowMs += ms) }
}
const always = () => true

test('an answer is kept for seconds', async () => {
  const { cache, pass } = open()
  await cache.fill('wallet', 'key', async () => 'read', always)
  expect(cache.get('wallet', 'key')).toBe('read')
  pass(5_001)
  expect(cache.get('wallet', 'key')).toBeUndefined()
})

test('a change drops everything about its owner and nothing about others', async () => {
  const { cache } = open()
  for (const owner of ['a', 'b']) for (const key of ['1', '2']) await cache.fill(owner, key, async () => owner, always)
  cache.evict('a')
  expect([cache.get('a', '1'), cache.get('a', '2'), cache.get('b', '1')]).toEqual([undefined, undefined, 'b'])
})

test('what was read while it changed is given once and not kept', async () => {
  const { cache } = open()
  const value = await cache.fill(
    'wallet',
    'key',
    async () => {
      cache.evict('wallet')
      return 'older than the change'
    },
    always,
  )
  expect(value).toBe('older than the change')
  expect(cache.get('wallet', 'key')).toBeUndefined()
})

test('says for how long nothing about an owner changed', () => {
  const { cache, pass } = open()
  expect(cache.isUnchangedFor('a', 2_000)).toBe(false)
  pass(2_001)
  cache.evict('a')
  expect([cache.isUnchangedFor('a', 2_000), cache.isUnchangedFor('b', 2_000)]).toEqual([false, true])
  pass(2_001)
  expect(cache.isUnchangedFor('a', 2_000)).toBe(true)
  cache.clear()
  expect(cache.isUnchangedFor('b', 2_000)).toBe(false)
})

test('failures are not kept', async () => {
  const { cache } = open()
  await cache.fill(
    'wallet',
    'key',
    async () => 'failed',
    () => false,
  )
  expect(cache.get('wallet', 'key')).toBeUndefined()
  await expect(cache.fill('wallet', 'key', () => Promise.reject(new Error('down')), always)).rejects.toThrow('down')
  await cache.fill('wallet', 'key', async () => 'read', always)
  expect(cache.get('wallet', 'key')).toBe('read')
})

test('it stays bounded', async () => {
  const { cache } = open()
  for (let index = 0; index < 20_100; index += 1) await cache.fill(`w${index}`, 'key', async () => 'x', always)
  expect(cache.get('w0', 'key')).toBeUndefined()
  expect(cache.get('w20099', 'key')).toBe('x')
  for (let index = 0; index < 50; index += 1) await cache.fill('one', `k${index}`, async () => 'x', always)
  expect(cache.get('one', 'k0')).toBe('x')
  expect(cache.get('one', 'k40')).toBeUndefined()
})
