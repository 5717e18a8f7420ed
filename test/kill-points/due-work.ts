import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { requestRefund } from '../../packages/node/src/payments/index.ts'
import { setSwitch } from '../../packages/node/src/store/kill-switches.ts'
import type { KillPlan } from '../support/kill-points.ts'
import { buy, openTill, type TillFixture } from '../support/till-fixture.ts'
import { createMoneyCheck } from './check-outside.ts'
import { housesOf } from './houses.ts'
import { siteHost } from './request-paths.ts'
import { startDoomed } from './start-doomed.ts'

const deathsWanted = 24
const patienceMs = 90_000

/**
 * What jobs do with money: a refund asked for, an affiliate's share and a creator's share that are due. A process comes
 * up to all of it and is killed at one of its port calls, whichever job makes it; the next process goes on from there.
 */
export async function dieAtWork(every: number, say: (text: string) => void): Promise<number> {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<html><body><article><h1>Page</h1><p>Words that somebody cites again.</p></article></body></html>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const env = {
    DEMO_HOSTS: `${siteHost}=127.0.0.1:${(site.address() as AddressInfo).port}`,
    CITATIONS: '{"root_seconds":1,"root_minimum_usd":"0.001"}',
  }
  const house = housesOf.shops
  const till = await openTill({ ownShops: house.ownShops, shops: house.shops(), env })
  await till.node.stop()
  const life = (plan?: KillPlan) => oneLife(till, env, plan)
  let broken = 0
  try {
    const check = await createMoneyCheck(till)
    const calls = await life()
    const deaths = Math.max(1, Math.floor(deathsWanted / every))
    for (let death = 0; death < deaths; death += 1) {
      const at = 1 + Math.floor((calls * death) / deaths)
      const plan: KillPlan = { at, when: death % 2 === 0 ? 'before' : 'after' }
      await life(plan).catch((error: unknown) => {
        broken += 1
        say(`BROKEN due work, killed ${plan.when} call ${at}: ${String(error)}`)
      })
    }
    await check()
    say(`${broken === 0 ? 'held  ' : 'BROKEN'} due work: ${deaths} deaths among ${calls} port calls, ${broken} broken`)
  } finally {
    await till.close()
    await new Promise((resolve) => site.close(resolve))
  }
  return broken
}

async function oneLife(till: TillFixture, env: Record<string, string>, plan?: KillPlan): Promise<number> {
  const house = housesOf.shops
  const start = () =>
    till.startAnother({ ownShops: house.ownShops, shops: house.shops(), env: { ...env, BASE_URL: till.node.url } })
  await setSwitch(till.db.owner, { name: 'payouts', on: true, reason: 'preparing', by: 'kill points' })
  const before = await start()
  const { payee, paymentId } = await makeDebts(till, before.address)
  await before.stop()
  await requestRefund(till.db.database, { paymentId, reason: 'kill points', by: 'kill points' })
  await setSwitch(till.db.owner, { name: 'payouts', on: false, reason: 'prepared', by: 'kill points' })
  const doomed = await startDoomed(till, { house: 'shops', jobs: true, env, ...(plan === undefined ? {} : { plan }) })
  if (plan === undefined) {
    await untilPaid(till, payee, paymentId)
    const calls = (await doomed.seen()).length
    await doomed.stop()
    return calls
  }
  // It may have had fewer calls to make this time: then it is ended where it is.
  await Promise.race([doomed.ended, new Promise((resolve) => setTimeout(resolve, 20_000))])
  await doomed.stop()
  const next = await start()
  try {
    await untilPaid(till, payee, paymentId)
  } finally {
    await next.stop()
  }
  return 0
}

/** A sale to be refunded, and a subscription that an affiliate brought; all of it final. */
async function makeDebts(till: TillFixture, origin: string) {
  const buyer = await till.newBuyer(600_000_000n)
  const payee = (await till.newBuyer(0n)).address.toLowerCase()
  const paid = async (path: string, init: RequestInit = {}) => {
    const response = await buy(buyer, `${origin}${path}`, {}, init)
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  await paid('/test/small')
  await paid(`/matrix/subscribe/standard?aff=${payee}`)
  await paid('/v1/cite/attest', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source_url: `http://${siteHost}/page`, agent_wallet: buyer.address }),
  })
  await until('final', async () => {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from payment where payer = $1 and not final`,
      [buyer.address.toLowerCase()],
    )
    return rows[0]?.n === 0n
  })
  await until('payable', async () => {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from ledger_balance b join ledger_account a on a.id = b.account_id where a.name like $1 and b.owed_micro > 0`,
      [`payable:affiliate:${payee}%`],
    )
    return rows[0]?.n === 1n
  })
  const { rows } = await till.db.owner.query<{ id: string }>(
    `select id from payment where payer = $1 and route_id = 'test.small'`,
    [buyer.address.toLowerCase()],
  )
  return { payee, paymentId: rows[0]?.id ?? '' }
}

/** Both are paid, each by one payout and one transfer that the chain shows. */
async function untilPaid(till: TillFixture, payee: string, paymentId: string): Promise<void> {
  const read = async () => {
    const { rows } = await till.db.owner.query<{ state: string; transaction: string | null }>(
      `select o.state, o.transaction from payout o where o.payee = $1 or o.subject = $2`,
      [payee, paymentId],
    )
    return rows
  }
  await until('paid', async () => {
    await till.base.control.mine(1)
    const rows = await read()
    return rows.length >= 2 && rows.every(({ state }) => state === 'paid')
  })
  const rows = await read()
  if (rows.length !== 2) throw new Error(`${rows.length} payouts instead of two`)
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + patienceMs; Date.now() < giveUpAt; ) {
    if (await look()) return
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`never came about: ${what}`)
}
