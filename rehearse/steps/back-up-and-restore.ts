import { join } from 'node:path'
import { expectThat } from '../report.ts'
import { until } from '../until.ts'
import { at, brief, type Step } from './step.ts'
import { spendCredit, withdrawAll } from './withdraw.ts'

export const backUpAndRestore: Step = async (world, report, planted) => {
  report.step('6. backup and restore')
  const backup = join(world.home, 'backup')
  const taken = await report.check('assay backup copies the database while the node sells', async () => {
    const buyer = await world.newBuyer(5)
    const [{ code, out, err }, seen] = await Promise.all([
      world.assay('backup', backup),
      world.buy({ key: buyer.key, url: at('/v1/sandbox/echo?message=meanwhile') }),
    ])
    expectThat(code === 0 && seen.status === 200, `exit code ${code}: ${(err || out).slice(0, 300)}; ${brief(seen)}`)
    return out.trim()
  })
  if (!taken || !world.postgres.restore) {
    report.skip(
      'everything is lost and restored from the backup',
      'no backup, or no server programs of this version here',
    )
    return
  }
  let lost = 0n
  await report.check('more is sold and withdrawn, then machine and database are lost', async () => {
    const buyer = await world.newBuyer(5)
    const seen = await world.buy({ key: buyer.key, url: at('/v1/sandbox/echo?message=lost') })
    expectThat(seen.status === 200, brief(seen))
    await spendCredit(world)
    lost = await withdrawAll(world)
    return `${lost} micro-USDC were withdrawn that the backup does not know of`
  })
  await world.node?.end('SIGKILL')
  await world.postgres.stop('immediate')
  const cold = await world.balance('base', world.operator.cold)
  await report.check('the node starts on the restored database and notices', async () => {
    const restored = await world.postgres.restore?.(backup)
    if (restored) world.postgres = restored
    await world.startNode()
    const line = await until(
      'the alarm',
      async () => /^assay_alarms_total\{[^}]*"restored"[^}]*\} [1-9].*$/m.exec(await world.metrics())?.[0],
    )
    return line
  })
  await report.check('the chain is reconciled, and nothing is paid a second time', async () => {
    await until(
      'payouts continue',
      async () => {
        const lines = (await world.metrics()).split('\n')
        const of = (name: string) => lines.filter((line) => line.startsWith(`assay_${name}{`))
        const both = [...of('payouts_stopped'), ...of('reconcile_difference_micro')]
        return of('payouts_stopped').length > 0 && both.every((line) => line.endsWith(' 0'))
      },
      240,
    )
    const now = (await world.balance('base', world.operator.cold)) + (planted === 'restore' ? 1n : 0n)
    expectThat(now === cold, `the cold wallet had ${cold} and has ${now}`)
    const { code, out, err } = await world.assay('ledger', 'verify')
    expectThat(code === 0, (err || out).slice(0, 300))
    return `payouts go on, the cold wallet has what it had, the books are whole`
  })
  await report.check('it sells again', async () => {
    const buyer = await world.newBuyer(5)
    const seen = await world.buy({ key: buyer.key, url: at('/v1/sandbox/echo?message=again') })
    expectThat(seen.status === 200, brief(seen))
    return `200 in ${seen.ms} ms`
  })
}
