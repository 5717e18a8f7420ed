import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { createIds } from '../../kernel/ids.ts'
import { silentLog } from '../../kernel/log.ts'
import { systemRng } from '../../kernel/random.ts'
import { accounts, balanceOf, owedTo } from '../../ledger/index.ts'
import { useTestDatabase } from '../../store/use-database.fixture.ts'
import { base, openTestCredit, polygon, randomWallet } from '../credit.fixture.ts'
import { activeBonds, slashBond } from './index.ts'
import { lockBondOf } from './lock-bond.ts'
import { askRelease, releaseDue } from './release-bond.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 10, 15)

let nowMs = startMs
const clock = { ...systemClock, nowMs: () => nowMs }
const db = await useTestDatabase()

const ids = createIds(systemClock, systemRng)
const deps = () => ({ database: db.database, clock, ids, log: silentLog, releaseDelaySeconds: 7 * 86_400 })
const lock = (wallet: Address, micro: bigint, days: number, network = base) =>
  lockBondOf(deps(), { wallet, network, micro, days })
const owner = (address: Address) => ({ address, onlyNetwork: undefined })
const bonded = (wallet: Address) => owedTo(db.database, accounts.creditBonded(base, wallet))
const richWallet = async (network = base) => {
  const wallet = randomWallet()
  await openTestCredit(db).topUp(wallet, 10_000n, network)
  return wallet
}

test('a bond comes back after the time it was locked for and the delay, and not before', async () => {
  nowMs = startMs
  const wallet = await richWallet()
  const long = await lock(wallet, 3_000n, 30)
  const short = await lock(wallet, 1_000n, 1)
  expect([await openTestCredit(db).balance(wallet), await bonded(wallet)]).toEqual([6_000n, 4_000n])
  expect(await askRelease(deps(), owner(wallet), long.id)).toMatchObject({ releaseAtMs: startMs + 30 * dayMs })
  nowMs = startMs + 2 * dayMs
  expect(await askRelease(deps(), owner(wallet), short.id)).toMatchObject({ releaseAtMs: startMs + 9 * dayMs })
  nowMs = startMs + 9 * dayMs - 1
  await releaseDue(deps())
  expect(await bonded(wallet)).toBe(4_000n)
  nowMs += 1
  await releaseDue(deps())
  expect(await bonded(wallet)).toBe(3_000n)
  nowMs = startMs + 30 * dayMs
  await Promise.all([releaseDue(deps()), releaseDue(deps())])
  expect([await openTestCredit(db).balance(wallet), await bonded(wallet)]).toEqual([10_000n, 0n])
  await expect(askRelease(deps(), owner(wallet), long.id)).rejects.toMatchObject({ code: 'bond_ended' })
})

test('one bond that cannot be released keeps no other waiting', async () => {
  nowMs = startMs
  const wallets = [await richWallet(), await richWallet()] as const
  const locked = [await lock(wallets[0], 1_000n, 1), await lock(wallets[1], 1_000n, 1)] as const
  for (const [place, { id }] of locked.entries()) await askRelease(deps(), owner(wallets[place] as Address), id)
  nowMs = startMs + 9 * dayMs
  await db.owner.query(
    `create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'stuck'; end $$;
     create trigger refuse_one before update on agent_bond for each row when (old.id = '${locked[0].id}')
       execute function refuse_one()`,
  )
  try {
    expect(await releaseDue(deps())).toBe(1)
    expect([await bonded(wallets[0]), await bonded(wallets[1])]).toEqual([1_000n, 0n])
  } finally {
    await db.owner.query('drop trigger refuse_one on agent_bond; drop function refuse_one')
  }
  expect(await releaseDue(deps())).toBe(1)
})

test('no more is locked than there is, and a stranger cannot ask for a bond', async () => {
  nowMs = startMs
  const wallet = await richWallet()
  const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => lock(wallet, 3_000n, 5)))
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(await bonded(wallet)).toBe(9_000n)
  const [first] = attempts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const ask = (by: Parameters<typeof askRelease>[1]) => askRelease(deps(), by, first?.id ?? '')
  await expect(ask(owner(randomWallet()))).rejects.toMatchObject({ code: 'bond_unknown' })
  await expect(ask({ address: wallet, onlyNetwork: polygon })).rejects.toMatchObject({ code: 'bond_unknown' })
})

test('what counts at a moment is what was locked then and not asked back', async () => {
  nowMs = startMs
  const [one, two] = [await richWallet(), await richWallet(polygon)]
  await lock(one, 1_000n, 10)
  nowMs = startMs + dayMs
  const second = await lock(one, 500n, 2)
  await lock(two, 700n, 20, polygon)
  nowMs = startMs + 2 * dayMs
  await askRelease(deps(), owner(one), second.id)
  const at = async (ms: number, wallets: readonly Address[] | 'all' = [one, two]) => {
    const active = await activeBonds(db.database, wallets, ms)
    return [active.get(one)?.micro, active.get(two)?.micro]
  }
  expect(await at(startMs - 1)).toEqual([undefined, undefined])
  expect(await at(startMs)).toEqual([1_000n, undefined])
  expect(await at(startMs + dayMs)).toEqual([1_500n, 700n])
  expect(await at(startMs + 2 * dayMs)).toEqual([1_000n, 700n])
  expect(await at(startMs + 2 * dayMs, 'all')).toEqual([1_000n, 700n])
  expect((await activeBonds(db.database, [one], startMs + dayMs)).get(one)?.lockedUntilMs).toBe(startMs + 3 * dayMs)
})

test('a ruling takes from a bond once, also while it is on its way back, and never more than is left', async () => {
  nowMs = startMs
  const wallet = await richWallet()
  const bond = await lock(wallet, 1_000n, 1)
  await askRelease(deps(), owner(wallet), bond.id)
  const before = await balanceOf(db.database, accounts.revenue(base, 'credit.bond_slash'))
  const slash = (ruling: string, micro?: bigint) =>
    slashBond(
      db.database,
      { bondId: bond.id, ruling, reason: 'upheld', by: 'test', nowMs, ...(micro === undefined ? {} : { micro }) },
      async () => true,
    )
  expect(await slash('r1', 1_001n)).toMatchObject({ why: 'more_than_left' })
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => slash('r1', 400n)))
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['refused', 'refused', 'refused', 'refused', 'slashed'])
  expect(await slash('r2')).toMatchObject({ status: 'slashed', micro: 600n, bond: { state: 'slashed' } })
  expect(await slash('r3')).toMatchObject({ why: 'ended' })
  expect((await balanceOf(db.database, accounts.revenue(base, 'credit.bond_slash'))) - before).toBe(-1_000n)
  nowMs = startMs + 30 * dayMs
  await releaseDue(deps())
  expect([await openTestCredit(db).balance(wallet), await bonded(wallet)]).toEqual([9_000n, 0n])
  expect((await activeBonds(db.database, [wallet], startMs)).size).toBe(0)
})

test('a ruling that was not upheld against the wallet takes nothing', async () => {
  nowMs = startMs
  const wallet = await richWallet()
  const bond = await lock(wallet, 1_000n, 1)
  const order = { bondId: bond.id, reason: 'upheld', by: 'test', micro: 10n, nowMs }
  const isUpheld = async (_tx: unknown, ruling: string, against: string) => ruling === 'upheld' && against === wallet
  const slash = (ruling: string) => slashBond(db.database, { ...order, ruling }, isUpheld)
  expect(await slash('any words')).toEqual({ status: 'refused', why: 'not_upheld' })
  expect(await bonded(wallet)).toBe(1_000n)
  expect(await slash('upheld')).toMatchObject({ status: 'slashed', micro: 10n })
})
