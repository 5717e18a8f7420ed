import type { Address } from '@assay/protocol/address'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createStreamPlaces } from './stream-places.ts'

const db = await useTestDatabase()

const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const open = (process: string, connections = 5, product: 'feeds' | 'stream' = 'stream') =>
  createStreamPlaces({ database: db.database, clock: systemClock, log: silentLog, process, product, connections })
const refusal = (error: { code?: string }) => error.code

test('two processes together open no more streams of a subscription than it may have', async () => {
  const [one, two] = [open('one'), open('two')]
  const taken = await Promise.all(Array.from({ length: 24 }, (_, n) => (n % 2 ? one : two).take(wallet(1))))
  const places = taken.flatMap((place) => place ?? [])
  expect(places).toHaveLength(5)
  for (const process of [one, two]) expect(await process.requireFree(wallet(1)).catch(refusal)).toBe('rate_limited')
  await two.requireFree(wallet(2))
  // Given back twice is given back once.
  places[0]?.()
  places[0]?.()
  await expect.poll(() => one.requireFree(wallet(1)).then(() => 'free', refusal), { timeout: 20_000 }).toBe('free')
  expect(await two.take(wallet(1))).toBeDefined()
  expect(await one.take(wallet(1))).toBeUndefined()
})

test('feeds and the intent stream of one wallet have places apart', async () => {
  const [feeds, stream] = [open('feeds', 1, 'feeds'), open('stream', 1, 'stream')]
  expect(await feeds.take(wallet(5))).toBeDefined()
  expect(await stream.take(wallet(5))).toBeDefined()
  expect(await feeds.take(wallet(5))).toBeUndefined()
})

test('what a process had open that died or stopped is free again', async () => {
  const [dying, stopping, next] = [open('dying', 1), open('stopping', 1), open('next', 1)]
  await dying.take(wallet(3))
  expect(await next.take(wallet(3))).toBeUndefined()
  await db.database.query(`update stream_process set until = clock_timestamp() where id = 'dying'`)
  expect(await next.take(wallet(3))).toBeDefined()
  await stopping.take(wallet(4))
  await stopping.stop()
  expect(await next.take(wallet(4))).toBeDefined()
  await next.renew()
  expect((await db.database.query(`select from stream_place where process = 'stopping'`)).rowCount).toBe(0)
})

test('only a process that has streams open says that it lives', async () => {
  const process = open('idle')
  const lives = async () => {
    await db.database.query(`update stream_process set until = clock_timestamp() where id = 'idle'`)
    await process.renew()
    const { rows } = await db.database.query<{ lives: boolean }>(
      `select until > clock_timestamp() as lives from stream_process where id = 'idle'`,
    )
    return rows[0]?.lives
  }
  await process.renew()
  expect(await lives()).toBe(false)
  const release = await process.take(wallet(6))
  expect(await lives()).toBe(true)
  release?.()
  const left = async () => (await db.database.query(`select from stream_place where process = 'idle'`)).rowCount
  await expect.poll(async () => process.renew().then(left)).toBe(0)
})
