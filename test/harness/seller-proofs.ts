import { fork } from 'node:child_process'
import { dirname } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Database } from '../../packages/till/src/store/database.ts'
import type { Buyer, TestTill } from '../../packages/till/src/testing/index.ts'
import type { Life } from '../kill-points/run-deaths.ts'
import { requireExactly } from './broken.ts'
import { buyThroughDeath } from './buy-through-death.ts'
import { type CrashChild, controlChild } from './control-child.ts'
import type { KillPlan } from './kill-points.ts'

/** A seller in two processes on one database: one that may die, and one that is left. */
export type TwoSellers = {
  kit: TestTill
  owner: Database
  leftUrl: string
  start(plan?: KillPlan): Promise<CrashChild>
  /** One that counts its calls and does not die, where that need not be another process. */
  count?(): Promise<CrashChild>
}

/** What a seller of seller-child-main.ts needs to know. */
export const sellerEnv = ({ databaseUrl }: { databaseUrl: string }, { chain }: TestTill) => ({
  DATABASE_URL: databaseUrl,
  RPC_URL: chain.url,
})

/** A seller as `joinInProject` built it, with the packages of its project. */
export const startPacked = (program: string, env: Record<string, string>): Promise<CrashChild> =>
  controlChild(
    fork(program, {
      ...{ cwd: dirname(program), execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
      // Express prints every refused address otherwise.
      env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...env },
    }),
  )

const priceMicro = 10_000n

export const spentBy = async ({ chain }: TestTill, { address }: Buyer): Promise<bigint> =>
  10_000_000n - (await chain.balanceOf(address))

async function servedTo(owner: Database, buyer: Buyer) {
  const { rows } = await owner.query<{ micro: bigint; n: bigint }>(
    `select coalesce(sum(amount_micro), 0)::bigint as micro, count(*) as n from payment where payer = $1 and state in ('served', 'settled', 'credited')`,
    [buyer.address],
  )
  return rows[0]
}

let city = 0

/** A buyer buys from a process that dies as planned, and gets the answer from the one that is left, paid once. */
export async function buyFromDying(sellers: TwoSellers, plan?: KillPlan): Promise<Life> {
  const { kit, owner, leftUrl } = sellers
  const buyer = await kit.buyer(fetch)
  const child = await (plan === undefined && sellers.count ? sellers.count() : sellers.start(plan))
  city += 1
  const wanted = { path: `/weather/city-${city}`, init: {} }
  await buyThroughDeath({ base: { control: kit.chain } }, privateKeyToAccount(buyer.privateKey), wanted, {
    first: child.url,
    quoted: child.arm,
    after: async () => {
      if ((await child.ended) !== 'SIGKILL') throw new Error('it ended otherwise')
      return leftUrl
    },
  })
  const calls = plan === undefined ? await child.seen() : []
  await child.stop()
  requireExactly('charged', await spentBy(kit, buyer), priceMicro)
  requireExactly('posted', (await servedTo(owner, buyer))?.micro ?? 0n, priceMicro)
  return { calls, died: (await child.ended) === 'SIGKILL', recoveryMs: 0 }
}

/** Sends that many copies of one payment to both processes. */
export async function expectServedOnce({ kit, owner, leftUrl, start }: TwoSellers, copies: number): Promise<void> {
  const child = await start()
  const buyer = await kit.buyer(fetch)
  const path = '/weather/once'
  const payment = await buyer.sign(await fetch(`${leftUrl}${path}`))
  const send = async (url: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { 'payment-signature': payment } })
    await answer.arrayBuffer()
    return answer.status
  }
  const urls = Array.from({ length: copies }, (_, index) => (index % 2 === 0 ? leftUrl : child.url))
  const statuses = await Promise.all(urls.map(send))
  // And those that come when the answer is stored.
  for (const url of [leftUrl, child.url]) statuses.push(await send(url))
  await child.stop()
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(new Set(statuses)).not.toContain(402)
  expect([await servedTo(owner, buyer), await spentBy(kit, buyer)]).toEqual([{ micro: priceMicro, n: 1n }, priceMicro])
}
