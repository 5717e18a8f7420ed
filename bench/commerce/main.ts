// npx tsx bench/commerce/main.ts [--quick]: the figures of subscriptions, rewards and payouts.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runBench } from '../run-bench.ts'
import { measureHooks } from './measure-hooks.ts'
import { measurePayouts } from './measure-payouts.ts'
import { measureRedemptions } from './measure-redemptions.ts'

await runBench(async ({ home, flag, note }) => {
  const folder = async (name: string) => {
    await mkdir(join(home, name))
    return join(home, name)
  }
  const quick = flag('quick')
  const redemptions = await measureRedemptions(await folder('redemptions'))
  const payouts = await measurePayouts(await folder('payouts'))
  const hooks = await measureHooks(await folder('hooks'), quick ? 2 : 7, quick ? 300 : 1_500)
  note('figures', { redemptions, payouts, sale_hooks: hooks })
  return [
    ...Object.entries(redemptions).map(([how, run]) => ({
      figure: `10,000 redemptions of one balance, ${how.replace('_', ' ')}`,
      asked: `${run.required_per_second}/s, exactly ${run.expected}`,
      measured: `${run.per_second}/s, ${run.succeeded}`,
      reached: run.succeeded === run.expected && run.per_second >= run.required_per_second,
    })),
    {
      figure: `${payouts.payees} payouts`,
      asked: `${payouts.required} transactions, as many as the gas limit of one demands`,
      measured: `${payouts.transactions} transactions, ${payouts.seconds} s`,
      reached: payouts.paid === payouts.payees && payouts.transactions === payouts.required,
    },
    {
      figure: 'what sale hooks add to a purchase',
      asked: '15 %',
      measured: `${hooks.added_time.percent} % of time, ${hooks.added_cpu.percent} % of CPU`,
      reached: Math.max(hooks.added_time.percent, hooks.added_cpu.percent) < 15,
    },
  ]
})
