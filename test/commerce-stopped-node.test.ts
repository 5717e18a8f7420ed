import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { openStore, type Store } from '../packages/till/src/store/open-store.ts'
import { allOwners } from '../packages/till/src/store/testing.ts'

/** The operator's commands on the data folder of a node that is stopped, and then beside one that runs. */
const open = async (): Promise<Store> =>
  openStore({
    home,
    port: 0,
    migrations: (await allOwners()).slice(1),
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
    onLockLost: () => {},
  })
const home = useFolder('stopped')
await (await open()).stop()

async function assay(...args: string[]) {
  const terminal = createTestTerminal({ env: { ASSAY_HOME: home } })
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

test('a stopped node’s books, payouts, subscriptions and pauses are read and changed, and its database is stopped again', async () => {
  const trial = await assay('ledger', 'trial-balance', '--json')
  expect([trial.code, JSON.parse(trial.out)]).toEqual([0, expect.objectContaining({ balanced: true })])
  expect(trial.err).toContain('is stopped; its database is started for this command')
  expect((await assay('payouts', 'list')).out).toContain('no payouts')
  expect((await assay('subscriptions', 'list')).out).toContain('no subscriptions')
  expect((await assay('payouts', 'pause', '--reason', 'while it is down')).code).toBe(0)
  expect((await assay('payouts', 'accept-loss', 'eip155:8453', '--reason', 'test')).err).toContain(
    'no money is missing',
  )
  expect((await assay('payouts', 'approve', 'po_none')).err).toContain('there is no payout po_none')
  const store = await open()
  try {
    const beside = await assay('pauses', '--json')
    expect(beside.err).toBe('')
    expect(JSON.parse(beside.out)).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ name: 'payouts', paused: true, reason: 'while it is down' }),
      ]),
    })
    const decided = await assay('review', 'decide', '4711', '--credit')
    expect([decided.code, decided.err]).toEqual([3, expect.stringContaining('there is no such transfer')])
    const refund = await assay('refund', 'pay_none', '--reason', 'test', '--yes')
    expect([refund.code, refund.err]).toEqual([1, expect.stringContaining('there is no payment pay_')])
  } finally {
    await store.stop()
  }
})
