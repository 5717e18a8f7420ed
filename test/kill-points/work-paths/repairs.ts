import type { Hex } from 'viem'
import { Broken, requireExactly } from '../../harness/broken.ts'
import { startCrashChild } from '../../harness/crash-child.ts'
import { quote, send, signPayment } from '../../harness/till-fixture.ts'
import { submitAuthorization } from '../../harness/wallets.ts'
import type { WorkPath } from '../die-at-work.ts'
import { finalityLag, type JobHarness } from '../job-harness.ts'
import { balanceOn, countOf, creditOf, rowOf } from './support.ts'

const fundedMicro = 600_000_000n
const subscriptionMicro = 250_000_000n

/** An authorization on chain that we never claimed: its payer is given credit for it, once. */
const unclaimed: WorkPath = {
  name: 'transfer nobody claimed',
  variant: 'shops',
  jobs: ['payments.reconcile'],
  owe: async (harness) => {
    const { till } = harness
    const buyer = await till.newBuyer(10_000_000n)
    // An address is checked from its first comparison on.
    await harness.run('payments.reconcile')
    await submitAuthorization(till.base, await signPayment(buyer, await quote(`${till.node.address}/test/small`)))
    await harness.mine()
    const payer = buyer.address.toLowerCase()
    return {
      done: async () => (await creditOf(harness, payer)) > 0n,
      check: async () => {
        requireExactly('credit', await creditOf(harness, payer), 1_500n)
        requireExactly('claims', await countOf(harness, 'payment where payer = $1', [payer]), 1)
      },
    }
  },
}

/** A reorg takes a subscription's payment away, and it lands again: undone once, and sold again once. */
const reorg: WorkPath = {
  name: 'sale undone by a reorg',
  variant: 'shops',
  jobs: ['payments.finality', 'payments.recover'],
  owe: async (harness) => {
    const { till } = harness
    const { control } = till.base
    const buyer = await till.newBuyer(fundedMicro)
    const payer = buyer.address.toLowerCase()
    const url = `${till.node.address}/matrix/subscribe/standard`
    const payload = await signPayment(buyer, await quote(url))
    control.setFinalityLag(10)
    const bought = await send(url, payload)
    const answer = await bought.text()
    if (bought.status !== 200) throw new Error(`the sale was answered with ${bought.status}: ${answer}`)
    const sale = await rowOf<{ id: string; transaction: Hex }>(
      harness,
      `select id, '0x' || encode(transaction, 'hex') as transaction from payment where payer = $1`,
      [payer],
    )
    // Nothing is mined until it was seen to be gone: our own transaction is sent again and would land at once.
    await control.holdMining()
    await control.reorg(2, { drop: [sale?.transaction as Hex] })
    control.setFinalityLag(0)
    const postings = async () => {
      const { rows } = await till.db.owner.query<{ kind: string }>(
        `select kind from ledger_transaction where payment_id = $1 and kind in ('sale', 'reorg') order by id`,
        [sale?.id],
      )
      return rows.map(({ kind }) => kind).join(' ')
    }
    let landedAgain = false
    return {
      done: async () => {
        if (!landedAgain && (await postings()) === 'sale reorg') {
          landedAgain = true
          control.setFinalityLag(finalityLag)
          await control.releaseMining()
          await submitAuthorization(till.base, payload).catch(() => {})
          await harness.mine()
        }
        return landedAgain && (await countOf(harness, 'payment where id = $1 and final', [sale?.id])) > 0
      },
      check: async () => {
        const seen = await postings()
        if (seen !== 'sale reorg sale') throw new Broken('doubled', `posted: ${seen}`)
        requireExactly('paid', fundedMicro - (await balanceOn(harness, payer)), subscriptionMicro)
        const periods = 'subscription_purchase where wallet = $1 and revoked_at is null'
        requireExactly('periods', await countOf(harness, periods, [payer]), 1)
      },
    }
  },
}

/** Where in a sale its money has just been taken, by the calls of one that nobody disturbs. */
let callOfSettlement: Promise<number> | undefined

async function findSettlement(harness: JobHarness): Promise<number> {
  const calm = await startCrashChild(harness.till, { variant: 'shops', env: harness.env })
  const buyer = await harness.till.newBuyer(10_000_000n)
  const payload = await signPayment(buyer, await quote(`${calm.url}/test/small`))
  await calm.arm()
  await (await send(`${calm.url}/test/small`, payload)).arrayBuffer()
  const at = (await calm.seen()).indexOf('facilitator settle') + 1
  await calm.stop()
  if (at === 0) throw new Error('a sale settles nothing')
  return at
}

/** The seller died with the money and without the answer; the process that finishes the sale dies, too. */
const recovery: WorkPath = {
  name: 'recovery of a sale',
  variant: 'shops',
  jobs: ['payments.recover'],
  owe: async (harness) => {
    const { till, env } = harness
    callOfSettlement ??= findSettlement(harness)
    const plan = { at: await callOfSettlement, when: 'after' } as const
    const seller = await startCrashChild(till, { variant: 'shops', env, plan })
    const buyer = await till.newBuyer(10_000_000n)
    const payer = buyer.address.toLowerCase()
    const offer = await quote(`${seller.url}/test/small`)
    await seller.arm()
    const first = await send(`${seller.url}/test/small`, await signPayment(buyer, offer)).catch(() => undefined)
    if (first) throw new Error(`the dead seller answered with ${first.status}`)
    await harness.mine()
    const open = `payment where payer = $1 and state in ('claimed', 'settling', 'unknown', 'settled')`
    return {
      done: async () => (await countOf(harness, open, [payer])) === 0,
      check: async () => {
        // Anyone who paid and got nothing asks again with a new payment: it gets the answer, and the new one is not used.
        const again = await send(`${till.node.address}/test/small`, await signPayment(buyer, offer))
        await again.arrayBuffer()
        if (again.status !== 200) throw new Broken('lost', `asked again, it was answered with ${again.status}`)
        requireExactly('paid', 10_000_000n - (await balanceOn(harness, payer)), 1_500n)
      },
    }
  },
}

export const repairPaths: readonly WorkPath[] = [recovery, unclaimed, reorg]
