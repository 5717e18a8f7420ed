import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CarelessSeller, holes, startCarelessSeller } from './careless/index.ts'
import { catalogue } from './catalogue.ts'
import { connectFacilitator } from './facilitator/control.ts'
import { startTestFacilitator, type TestFacilitator } from './facilitator/test-facilitator.ts'
import { judge, type Report } from './run.ts'

let facilitator: TestFacilitator
let seller: CarelessSeller
beforeAll(async () => {
  facilitator = await startTestFacilitator({ hangMs: 6_000, slowMs: 600 })
  seller = await startCarelessSeller(facilitator)
}, 120_000)
afterAll(async () => {
  await seller?.stop()
  await facilitator?.stop()
})

async function judged(only?: readonly string[]): Promise<Report> {
  const account = privateKeyToAccount(generatePrivateKey())
  const control = connectFacilitator(facilitator.url)
  await control.fund(account.address)
  return judge({
    ...{ url: seller.url, account, capMicro: 1_000_000n, mayPay: true, only, patienceMs: 45_000 },
    ...{ rpc: facilitator.rpc, facilitator: control },
  })
}

/** They need the command that starts the seller. */
const elsewhere = ['crash']

test('every case has a hole that it must find', () => {
  expect(Object.keys(holes).sort()).toEqual(
    catalogue
      .map(({ id }) => id)
      .filter((id) => !elsewhere.includes(id))
      .sort(),
  )
})

/** Each of these is reason enough to stop settling through the facilitator. */
const lies = ['false-success', 'foreign-transaction', 'settled-twice', 'refused-then-settled', 'settled-late']

test('a seller without holes passes every case', async () => {
  seller.open()
  const others = catalogue.map(({ id }) => id).filter((id) => !lies.includes(id) && !elsewhere.includes(id))
  const notPassed = async (ids: readonly string[]) =>
    (await judged(ids)).cases.filter(({ verdict }) => verdict !== 'passed').map(({ id, seen }) => `${id}: ${seen}`)
  expect(await notPassed(others)).toEqual([])
  for (const lie of lies) {
    await seller.restart()
    expect(await notPassed([lie])).toEqual([])
  }
}, 300_000)

/** Every fourth; all of them with `SELF_TEST=all npx vitest run packages/conformance/src/self-test.test.ts`. */
const chosen = Object.keys(holes).filter((_, index) => index % 4 === 0 || process.env['SELF_TEST'] === 'all')

describe('each hole is found by its case', () => {
  test.each(chosen)(
    '%s',
    async (id) => {
      if (lies.includes(id)) await seller.restart()
      seller.open(id)
      const { cases } = await judged([id])
      expect(cases.map((one) => `${one.id} ${one.verdict}: ${one.seen}`)).toEqual([
        expect.stringContaining(`${id} failed`),
      ])
    },
    120_000,
  )
})
