// npx tsx bench/commerce/main.ts [--quick]: the figures of subscriptions, rewards and payouts; exit code 1 when one is missed.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { handOut } from '../hand-out.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { measureHooks } from './measure-hooks.ts'
import { measurePayouts } from './measure-payouts.ts'
import { measureRedemptions } from './measure-redemptions.ts'

const quick = process.argv.includes('--quick')
const home = await temporaryHome()
const folder = async (name: string) => {
  await mkdir(join(home, name))
  return join(home, name)
}
try {
  const redemptions = await measureRedemptions(await folder('redemptions'))
  const payouts = await measurePayouts(await folder('payouts'))
  const hooks = await measureHooks(await folder('hooks'), quick ? 2 : 7, quick ? 300 : 1_500)
  process.stdout.write(`${JSON.stringify({ redemptions, payouts, sale_hooks: hooks }, null, 2)}\n`)
  for (const [how, run] of Object.entries(redemptions))
    handOut({
      figure: `10,000 redemptions of one balance, ${how.replace('_', ' ')}`,
      asked: `${run.required_per_second}/s, exactly ${run.expected}`,
      measured: `${run.per_second}/s, ${run.succeeded}`,
      reached: run.succeeded === run.expected && run.per_second >= run.required_per_second,
    })
  handOut(
    {
      figure: `${payouts.payees} payouts`,
      asked: 'one transaction',
      measured: `${payouts.transactions}, ${payouts.seconds} s`,
      reached: payouts.paid === payouts.payees && payouts.transactions === 1,
    },
    {
      figure: 'what sale hooks add to a purchase',
      asked: '15 %',
      measured: `${hooks.added_time_percent} % of time, ${hooks.added_cpu_percent} % of CPU`,
      reached: hooks.added_time_percent < 15,
    },
  )
  const runs = [redemptions.without_signature, redemptions.with_signature]
  const reached =
    runs.every((run) => run.succeeded === run.expected && run.per_second >= run.required_per_second) &&
    payouts.paid === payouts.payees &&
    payouts.transactions === 1 &&
    hooks.added_time_percent < 15
  process.exitCode = reached ? 0 : 1
} finally {
  await rm(home, { recursive: true, force: true })
}
