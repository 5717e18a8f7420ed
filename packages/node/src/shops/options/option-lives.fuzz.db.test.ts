import { balanceDifferences, trialBalance } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { runOptionLives } from './option-lives.fixture.ts'

const db = await useTestDatabase()

/** `bench/options/main.ts --lives` takes any number of them. */
test('random lives of options conserve money to the micro and never leave collateral short', async () => {
  const report = await runOptionLives(db.database, 300, 7)
  expect(report).toMatchObject({ lives: 300, differenceMicro: 0n, short: 0 })
  expect(report.settled + report.voided + report.closed).toBe(report.bought - report.revoked + report.moved)
  // The dice reached every way an option can go.
  for (const count of [
    report.released,
    report.revoked,
    report.late,
    report.refused,
    report.settled,
    report.voided,
    report.moved,
    report.closed,
  ])
    expect(count).toBeGreaterThan(0)
  const { sumByUnit } = await trialBalance(db.database)
  for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
  expect(await balanceDifferences(db.database)).toEqual([])
}, 120_000)
