import { expect, test } from 'vitest'
import { sampleClaim } from '../gate/claim.fixture.ts'
import { insertClaims } from '../gate/store-claim.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { paymentStatusRoute } from './payment-status-route.ts'

const [primary, behind] = [await useTestDatabase(), await useTestDatabase()]
const ids = createIds(systemClock, systemRng)
const worker = { owner: 1n, nowMs: Date.now(), leaseMs: 60_000 }

const route = paymentStatusRoute({ ...primary.database, within: () => behind.database }, '/payments/:id')
const statusOf = async (id: string) => {
  const access = route.access as unknown as { handle(input: object): Promise<{ body: string }> }
  return JSON.parse(String((await access.handle({ params: { id } })).body)).state as string
}

test('a replica tells only of payments that are over', async () => {
  const claim = { ...sampleClaim(1), id: ids.next('pay') }
  for (const { database } of [primary, behind]) await database.transaction((tx) => insertClaims(tx, [claim], worker))
  const { id } = claim
  await primary.owner.query(`update payment set state = 'settling' where id = $1`, [id])
  expect(await statusOf(id), 'what is still under way').toBe('settling')
  await behind.owner.query(`update payment set state = 'credited', final = true where id = $1`, [id])
  expect(await statusOf(id), 'what is over').toBe('credited')
  await behind.owner.query('delete from payment where id = $1', [id])
  expect(await statusOf(id), 'what is not there yet').toBe('settling')
})
