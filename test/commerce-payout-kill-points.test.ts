import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Devnet, startDevnet } from '../packages/node/src/devnet/index.ts'
import { topicAddress, topics } from '../packages/till/src/chain/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import {
  accounts,
  balanceOf,
  credit,
  debit,
  openClearing,
  owedTo,
  post,
  trialBalance,
} from '../packages/till/src/ledger/index.ts'
import { openTestDatabase, type TestDatabase } from '../packages/till/src/store/testing.ts'
import type { KillPlan } from './harness/kill-points.ts'
import { custodyKey, openPayoutDesk, type Place, payees, purpose, senderKey } from './harness/payout-harness.ts'

/**
 * A process that pays is killed with SIGKILL at each of its port calls in the life of two payouts of one batch: intent,
 * signature, broadcast, confirmation, books. Another process goes on from the database and the chain alone. Each debt
 * must end as one intent, one transfer and balanced books.
 *
 * `KILL_POINTS=all` kills before and after every call; the usual run kills before each kind of write, and after the
 * broadcast.
 */
const writes = [
  'insert into payout',
  'ledger_post',
  "set state = 'signed'",
  'settlement-transaction-store',
  'eth_sendRawTransaction',
  'settlement-transaction-mined',
  'update payout set transaction = $2 where',
  'update payout set transaction = $2, bloc',
  "set state = 'paid'",
]

const network = 'eip155:8453'
const owedMicro = 12_345_678n
const finalityLag = 2

type Scene = { db: TestDatabase; devnet: Devnet; place: Place; close(): Promise<void> }

/** A database and a chain of its own per death, so that each one meets exactly the same sequence of calls. */
async function openScene(): Promise<Scene> {
  const db = await openTestDatabase()
  const devnet = await startDevnet({ chainId: 8453, port: 0, clock: systemClock, log: silentLog })
  await devnet.control.fund(custodyKey.address, { microUsdc: 100_000_000n, wei: 0n })
  await devnet.control.fund(senderKey.address, { microUsdc: 0n })
  await devnet.control.mine(finalityLag + 1)
  devnet.control.setFinalityLag(finalityLag)
  await post(
    db.database,
    payees.map((payee) => ({
      reference: `owe:${payee}`,
      kind: 'opening',
      lines: [
        debit(accounts.onchain(network, 'custody'), owedMicro),
        credit(accounts.payable(network, payee, purpose), owedMicro),
      ],
    })),
  )
  const place = { databaseUrl: db.databaseUrl, rpcUrl: devnet.url ?? '', usdc: devnet.usdc }
  const close = async () => {
    await devnet.stop()
    await db.close()
  }
  return { db, devnet, place, close }
}

type Payer = { round(): Promise<readonly string[] | 'killed'>; stop(): Promise<void> }

async function startPayer(place: Place, plan?: KillPlan): Promise<Payer> {
  const child = fork(join(import.meta.dirname, 'harness/child-payouts.ts'), {
    // Loaded before the hooks of tsx, which would look at each of its hundreds of files.
    execArgv: ['--import', 'viem', '--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      PLACE: JSON.stringify(place),
      ...(plan === undefined ? {} : { KILL_AT: String(plan.at), KILL_WHEN: plan.when }),
    },
  })
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const next = () =>
    Promise.race([
      once(child, 'message').then(([sent]) => sent as unknown),
      exit.then(([code, signal]) => {
        if (signal === 'SIGKILL') return 'killed' as const
        throw new Error(`the paying process ended by itself with ${code}`)
      }),
    ])
  expect(await next()).toBe('ready')
  return {
    round: async () => {
      child.send('round')
      const answer = await next()
      return answer === 'killed' ? 'killed' : (answer as { seen: string[] }).seen
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exit
    },
  }
}

const paidCount = async ({ db }: Scene) => {
  const { rows } = await db.database.query<{ n: bigint }>(`select count(*) as n from payout where state = 'paid'`)
  return Number(rows[0]?.n)
}

/** Rounds of the crashing process until it is dead, or until all is paid where it has no plan to die. */
async function payUntilDeath(scene: Scene, plan?: KillPlan): Promise<{ killed: boolean; calls: readonly string[] }> {
  const payer = await startPayer(scene.place, plan)
  let calls: readonly string[] = []
  try {
    for (let round = 0; round < 6; round += 1) {
      const seen = await payer.round()
      if (seen === 'killed') return { killed: true, calls }
      calls = seen
      if ((await paidCount(scene)) === payees.length) return { killed: false, calls }
      await scene.devnet.control.mine(finalityLag + 1)
    }
    return { killed: false, calls }
  } finally {
    await payer.stop()
  }
}

async function finishElsewhere(scene: Scene): Promise<void> {
  const harness = await openPayoutDesk(scene.place)
  try {
    const deadlineMs = systemClock.monotonicMs() + 20_000
    while ((await paidCount(scene)) < payees.length) {
      if (systemClock.monotonicMs() > deadlineMs)
        throw new Error('the next process did not bring the payouts to their end')
      await harness.run()
      await scene.devnet.control.mine(finalityLag + 1)
      await systemClock.sleep(50)
    }
    // Whatever is still done after the end changes nothing.
    await harness.run()
  } finally {
    await harness.close()
  }
}

async function transfersFromCustody({ devnet }: Scene): Promise<string[]> {
  const logs = (await devnet.request('eth_getLogs', [
    { address: devnet.usdc, fromBlock: '0x0', toBlock: 'latest', topics: [topics.transfer] },
  ])) as { topics: `0x${string}`[]; data: string }[]
  return logs
    .filter((log) => topicAddress(log.topics[1] ?? '0x') === custodyKey.address)
    .map((log) => `${topicAddress(log.topics[2] ?? '0x')} ${BigInt(log.data)}`)
    .sort()
}

async function expectPaidOnce(scene: Scene): Promise<void> {
  const sql = scene.db.database
  expect(await transfersFromCustody(scene)).toEqual(payees.map((payee) => `${payee} ${owedMicro}`).sort())
  const { rows } = await sql.query<{ payee: string; state: string }>(`select payee, state from payout order by payee`)
  expect(rows).toEqual([...payees].sort().map((payee) => ({ payee, state: 'paid' })))
  for (const payee of payees) expect(await owedTo(sql, accounts.payable(network, payee, purpose))).toBe(0n)
  expect(await balanceOf(sql, accounts.onchain(network, 'custody'))).toBe(0n)
  expect(await openClearing(sql)).toEqual([])
  for (const sum of Object.values((await trialBalance(sql)).sumByUnit)) expect(sum).toBe(0n)
}

async function dieAt(plan: KillPlan): Promise<boolean> {
  const scene = await openScene()
  try {
    const { killed } = await payUntilDeath(scene, plan)
    await finishElsewhere(scene)
    await expectPaidOnce(scene)
    return killed
  } finally {
    await scene.close()
  }
}

async function callsOfOneLife(): Promise<readonly string[]> {
  const scene = await openScene()
  try {
    const { killed, calls } = await payUntilDeath(scene)
    expect(killed).toBe(false)
    await expectPaidOnce(scene)
    return calls
  } finally {
    await scene.close()
  }
}

const everyPlan = (calls: readonly string[]) =>
  calls.flatMap((_, index): KillPlan[] => [
    { at: index + 1, when: 'before' },
    { at: index + 1, when: 'after' },
  ])

function plansAtWrites(calls: readonly string[]): KillPlan[] {
  const places = writes.flatMap((write) => {
    const last = calls.findLastIndex((call) => call.includes(write))
    if (last < 0) throw new Error(`a payout no longer makes the call "${write}"`)
    return [...new Set([calls.findIndex((call) => call.includes(write)), last])]
  })
  const broadcast = calls.findIndex((call) => call.includes('eth_sendRawTransaction'))
  return [...places.map((index): KillPlan => ({ at: index + 1, when: 'before' })), { at: broadcast + 1, when: 'after' }]
}

test('a process that dies at any step of a payout leaves one intent, one transfer and balanced books', async () => {
  const calls = await callsOfOneLife()
  const plans = process.env['KILL_POINTS'] === 'all' ? everyPlan(calls) : plansAtWrites(calls)
  const queue = [...plans]
  let killed = 0
  const worker = async () => {
    for (let plan = queue.shift(); plan; plan = queue.shift()) {
      const name = `killed ${plan.when} call ${plan.at} (${calls[plan.at - 1]})`
      const died = await dieAt(plan).catch((error: unknown) => {
        throw new Error(`${name}: ${String(error)}`)
      })
      if (died) killed += 1
    }
  }
  await Promise.all([worker(), worker(), worker()])
  // Polling for a receipt may take a call more or less, so the last few may come after the end.
  expect(killed).toBeGreaterThan(plans.length * 0.8)
}, 600_000)
