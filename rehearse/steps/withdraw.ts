import { expectThat } from '../report.ts'
import { until } from '../until.ts'
import type { World } from '../world.ts'
import { at, brief, jsonOf, type Step } from './step.ts'

/** Custody has money of the operator once credit is spent: five calls of 0.25 USD each. */
export async function spendCredit(world: World): Promise<void> {
  const wallet = await world.newBuyer(50)
  const topUp = await world.buy({ key: wallet.key, url: at('/v1/credit/topup?usd=5') })
  expectThat(topUp.status === 200, brief(topUp))
  for (let call = 0; call < 5; call += 1) {
    const seen = await world.signed({ key: wallet.key, url: at(`/matrix/ftd/vip?limit=${call + 1}`) })
    expectThat(seen.status === 200, brief(seen))
  }
}

/** Until the money is final and free, and on the cold wallet. */
export async function withdrawAll(world: World): Promise<bigint> {
  const before = await world.balance('base', world.operator.cold)
  return until(
    'a withdrawal',
    async () => {
      await world.assay('payouts', 'withdraw', '--all', '--to', world.operator.cold.address, '--yes', '--wait', '30')
      const gained = (await world.balance('base', world.operator.cold)) - before
      return gained > 0n && gained
    },
    120,
  )
}

export const withdraw: Step = async (world, report, planted) => {
  report.step('5. withdrawal')
  await report.check('the operator takes its own money out of custody, and no more', async () => {
    await spendCredit(world)
    const custody = await world.balance('base', world.operator.custody)
    const gained = planted === 'withdrawal' ? 0n : await withdrawAll(world)
    const left = await world.balance('base', world.operator.custody)
    expectThat(gained >= 1_250_000n && custody - left === gained, `${gained} arrived, ${custody - left} left custody`)
    return `${gained} micro-USDC arrived, ${left} stay for others`
  })
  await report.check('books and chain agree', async () => {
    const { code, out } = await world.assay('ledger', 'verify', '--json')
    const lines = (await world.metrics())
      .split('\n')
      .filter((line) => line.startsWith('assay_reconcile_difference_micro{'))
    expectThat(
      code === 0 && lines.length > 0 && lines.every((line) => line.endsWith(' 0')),
      `${code} ${out.slice(0, 200)} ${lines.join(' ')}`,
    )
    return `ledger verified (${Object.keys(jsonOf({ text: out })).length} parts), ${lines.length} differences of 0`
  })
}
