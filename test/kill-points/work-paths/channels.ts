import type { PrivateKeyAccount } from 'viem/accounts'
import { balanceOf } from '../../../packages/till/src/ledger/index.ts'
import { channelAccounts } from '../../../packages/till/src/schemes/batch-settlement/accounts.ts'
import { Broken, requireExactly } from '../../harness/broken.ts'
import { channelBuyer, voucherPayload } from '../../harness/channel-client.ts'
import { quote, send } from '../../harness/till-fixture.ts'
import type { WorkPath } from '../die-at-work.ts'
import type { JobHarness } from '../job-harness.ts'
import { balanceOn, network, rowOf } from './support.ts'

const path = '/test/small'
const price = 1_500n
const calls = 2n
const funded = 10_000_000n
const jobs = ['channels.recover', 'channels.claim', 'payments.reconcile']

type Channel = Record<'charged' | 'claimed' | 'posted' | 'lost' | 'balance', bigint> & { state: string }

const channelOf = (harness: JobHarness, payer: PrivateKeyAccount) =>
  rowOf<Channel>(
    harness,
    `select charged_micro as charged, claimed_micro as claimed, posted_micro as posted, lost_micro as lost,
       balance_micro as balance, state from channel where payer = $1`,
    [payer.address.toLowerCase()],
  )

/** Opened by the stock client, with so many calls that nobody has claimed. */
async function openChannel({ till }: JobHarness): Promise<PrivateKeyAccount> {
  const payer = await till.newBuyer(funded)
  const buyer = channelBuyer(till.base, payer)
  for (let n = 0n; n < calls; n += 1n) {
    const { status } = await buyer.fetch(`${till.node.url}${path}`)
    if (status !== 200) throw new Error(`a call of the channel: ${status}`)
  }
  return payer
}

/** All that was charged is claimed, once, and the books say so. */
async function expectClaimed(harness: JobHarness, payer: PrivateKeyAccount, gained: bigint): Promise<void> {
  const channel = await channelOf(harness, payer)
  const charged = calls * price
  for (const [name, expected] of Object.entries({ charged, claimed: charged, posted: charged, lost: 0n }))
    requireExactly(name, channel?.[name as 'charged'] ?? -1n, expected)
  requireExactly('received', gained, charged)
  const open = await rowOf<{ micro: bigint }>(
    harness,
    'select coalesce(sum(charged_micro - posted_micro - lost_micro), 0)::bigint as micro from channel',
    [],
  )
  const { owner } = harness.till.db
  requireExactly('vouchers', await balanceOf(owner, channelAccounts.vouchers(network)), open?.micro ?? 0n)
  requireExactly('claimed and not received', await balanceOf(owner, channelAccounts.claimed(network)), 0n)
}

/** Hours pass: the vouchers of a channel fall due. */
const channelClaim: WorkPath = {
  name: 'claim of vouchers',
  variant: 'shops',
  jobs,
  owe: async (harness) => {
    const payer = await openChannel(harness)
    const { payTo } = harness.till.node.config
    const before = await balanceOn(harness, payTo)
    await harness.till.db.owner.query(`update channel set unclaimed_since = 'epoch' where payer = $1`, [
      payer.address.toLowerCase(),
    ])
    return {
      done: async () => {
        const channel = await channelOf(harness, payer)
        return channel !== undefined && channel.posted === channel.charged
      },
      check: async () => expectClaimed(harness, payer, (await balanceOn(harness, payTo)) - before),
    }
  },
}

/** What was not charged goes back to its payer, and what was charged is claimed with it. */
const channelRefund: WorkPath = {
  name: 'refund of a channel',
  variant: 'shops',
  jobs,
  owe: async (harness) => {
    const { till } = harness
    const payer = await openChannel(harness)
    const { payTo } = till.node.config
    const before = await balanceOn(harness, payTo)
    const required = await quote(`${till.node.url}${path}`)
    const payload = await voucherPayload(payer, required, { max: calls * price, type: 'refund' })
    const isRefunded = async () => (await balanceOn(harness, payer.address)) === funded - calls * price
    return {
      ask: async (origin) => {
        const answer = await send(`${origin}${path}`, payload)
        if (answer.status === 200 || (await isRefunded())) return
        // An hour passes: what the dead process began is ended by the next round.
        await till.db.owner.query(
          `update channel set refund_at = refund_at - interval '61 minutes' where payer = $1 and state = 'refunding'`,
          [payer.address.toLowerCase()],
        )
        await harness.run('channels.recover')
        throw new Error(`the refund was answered ${answer.status} ${await answer.text()}`)
      },
      done: async () => {
        const channel = await channelOf(harness, payer)
        if (channel?.state === 'refunding')
          await till.db.owner.query(
            `update channel set refund_at = refund_at - interval '61 minutes' where payer = $1 and state = 'refunding'`,
            [payer.address.toLowerCase()],
          )
        return channel?.state === 'open' && channel.posted === channel.charged
      },
      check: async () => {
        if (!(await isRefunded())) throw new Broken('lost', 'the refund did not arrive, or arrived twice')
        const { balance } = (await channelOf(harness, payer)) as Channel
        requireExactly('left in the channel', balance, calls * price)
        await expectClaimed(harness, payer, (await balanceOn(harness, payTo)) - before)
      },
    }
  },
}

export const channelPaths: readonly WorkPath[] = [channelClaim, channelRefund]
