import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { channelContract } from '../packages/protocol/src/typed-data/channel.ts'
import { accounts, balanceOf } from '../packages/till/src/ledger/index.ts'
import {
  channelBuyer,
  channelCall,
  channelOf,
  channelTerms,
  depositPayload,
  type VoucherOptions,
  voucherPayload,
} from './harness/channel-client.ts'
import { cheapPrice as price } from './harness/cheap-shop.ts'
import { spentOnChain } from './harness/invariants.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { decodeHeader, type PaymentRequired, send, type TillFixture } from './harness/till-fixture.ts'
import { useChannels } from './harness/use-channels.ts'

const network = 'eip155:8453'
const folder = mkdtempSync(join(tmpdir(), 'assay-channels-'))
afterAll(() => rmSync(folder, { recursive: true }))
const { shop, jobs, till, url, opened, channelRow, afterRecovery } = useChannels()
const listFile = join(folder, 'list.txt')
const list = (...accounts: PrivateKeyAccount[]) =>
  writeFileSync(listFile, [`0x${'99'.repeat(20)}`, ...accounts.map(({ address }) => address)].join('\n'))
/** A second process, which knows of the first only what the database says; its limits of refunds are the usual ones. */
let other: Awaited<ReturnType<TillFixture['startAnother']>>
beforeAll(async () => {
  await jobs.run(['payments.reconcile'])
  list()
  other = await till.startAnother({
    ...{ ownShops: 'till', shops: [shop.open], jobs: false },
    env: { BASE_URL: till.node.url, SCREENING_LIST: listFile },
    channels: { unclaimedPerChannelMicro: 6n * price },
  })
})

type Payer = { account: PrivateKeyAccount; required: PaymentRequired }
async function pay({ account, required }: Payer, to: string, options: VoucherOptions) {
  const answer = await send(to, { ...(await voucherPayload(account, required, options)), resource: undefined })
  return { status: answer.status, body: (await answer.json()) as { made?: number; code?: string }, answer }
}
const extraOf = (answer: Response) =>
  decodeHeader<{ extra: { chargedAmount: string; channelState: { chargedCumulativeAmount: string } } }>(
    answer.headers.get('payment-response'),
  ).extra

const change = (account: PrivateKeyAccount, set: string) =>
  till.db.owner.query(`update channel set ${set} where payer = $1`, [account.address.toLowerCase()])
const makeDue = (account: PrivateKeyAccount) => change(account, `unclaimed_since = now() - interval '1 day'`)
async function claimed(account: PrivateKeyAccount, micro: bigint): Promise<void> {
  await makeDue(account)
  await jobs.run(['channels.claim'])
  expect(await channelRow(account)).toMatchObject({ claimed: micro })
}
/** The answer of the newest sale never reached its buyer, as another process finds it. */
const loseNewest = (account: PrivateKeyAccount) =>
  till.db.owner.query(
    `update channel_sale s set delivered_at = null from channel c
     where c.payer = $1 and s.channel_id = c.id and s.sequence = c.sequence`,
    [account.address.toLowerCase()],
  )
const delivered = (account: PrivateKeyAccount) =>
  expect
    .poll(async () => {
      const { rows } = await till.db.owner.query<{ n: bigint }>(
        `select count(*) as n from channel_sale where payer = $1 and delivered_at is null`,
        [account.address.toLowerCase()],
      )
      return rows[0]?.n
    })
    .toBe(0n)

describe('stored answers', () => {
  test('a channel that only names a payer does not open what that payer bought', async () => {
    const victim = await opened()
    const identifier = 'purchase_of_the_victim'
    const bought = await pay(victim, url('?n=secret'), { max: 2n * price, identifier })
    expect(bought.status).toBe(200)
    const thief = await till.newBuyer()
    const stolen = await pay(victim, url('?n=secret'), {
      ...{ max: price, identifier, signer: thief },
      config: { payerAuthorizer: thief.address.toLowerCase() as Address },
    })
    expect([stolen.status, stolen.body.made]).toEqual([409, undefined])
  })

  test('an identifier opens its answer for a voucher that nobody else can know, uncharged', async () => {
    const payer = await opened()
    const identifier = 'purchase_that_was_claimed'
    const bought = await pay(payer, url('?n=id1'), { max: 2n * price, identifier })
    await claimed(payer.account, 2n * price)
    const withPublic = await pay(payer, url('?n=id1'), { max: 2n * price, identifier })
    expect([withPublic.status, withPublic.body.made]).toEqual([402, undefined])
    const withFresh = await pay(payer, url('?n=id1'), { max: 3n * price, identifier })
    expect([withFresh.status, withFresh.body.made]).toEqual([200, bought.body.made])
    expect(extraOf(withFresh.answer)).toMatchObject({
      ...{ chargedAmount: '0', channelState: { chargedCumulativeAmount: (2n * price).toString() } },
    })
    expect(await channelRow(payer.account)).toMatchObject({ charged: 2n * price, sequence: 2n })
  })

  test('a lost answer is given once more for a fresh voucher, uncharged, and is then delivered', async () => {
    const payer = await opened()
    const bought = await pay(payer, url('?n=lost'), { max: 2n * price })
    await delivered(payer.account)
    await loseNewest(payer.account)
    const again = await pay(payer, url('?n=lost', other.address), { max: 3n * price })
    expect([again.status, again.body.made]).toEqual([200, bought.body.made])
    expect(extraOf(again.answer).chargedAmount).toBe('0')
    expect(await channelRow(payer.account)).toMatchObject({ charged: 2n * price, sequence: 2n })
    await delivered(payer.account)
    const next = await pay(payer, url('?n=lost', other.address), { max: 3n * price })
    expect(next.status).toBe(200)
    expect(next.body.made).not.toBe(bought.body.made)
    expect(await channelRow(payer.account)).toMatchObject({ charged: 3n * price, sequence: 3n })
  })

  test('an answer that is no longer kept is not sold a second time to its own voucher', async () => {
    const payer = await opened()
    const identifier = 'purchase_of_long_ago'
    expect((await pay(payer, url('?n=old'), { max: 2n * price, identifier })).status).toBe(200)
    await till.db.owner.query('delete from call_answer where account = $1', [payer.account.address.toLowerCase()])
    for (const again of [{ max: 2n * price }, { max: 3n * price, identifier }]) {
      const { status, body } = await pay(payer, url('?n=old', other.address), again)
      expect([status, body.code]).toEqual([409, 'payment_used'])
    }
    expect(await channelRow(payer.account)).toMatchObject({ charged: 2n * price, sequence: 2n })
  })

  test('a lost answer is given again by another process, whose copy of the channel is older', async () => {
    const payer = await opened()
    expect((await pay(payer, url('?n=p1', other.address), { max: 2n * price })).status).toBe(200)
    const lost = await pay(payer, url('?n=p2'), { max: 3n * price })
    const again = await pay(payer, url('?n=p2', other.address), { max: 3n * price })
    expect([lost.status, again.status, again.body.made]).toEqual([200, 200, lost.body.made])
    // For another request the same voucher is a wrong base.
    expect((await pay(payer, url('?n=p3', other.address), { max: 3n * price })).status).toBe(402)
    expect(await channelRow(payer.account)).toMatchObject({ charged: 3n * price, sequence: 3n })
  })

  test('a voucher that a claim made public opens no stored answer, in this process or another', async () => {
    const payer = await opened()
    const bought = await pay(payer, url('?n=c1', other.address), { max: 2n * price })
    expect(bought.status).toBe(200)
    await claimed(payer.account, 2n * price)
    for (const origin of [other.address, till.node.url])
      expect((await pay(payer, url('?n=c1', origin), { max: 2n * price })).status).toBe(402)
    // One that was charged nothing continues the channel, and is public all the same.
    await pay(payer, url('?n=c2&charge=100'), { max: 3n * price })
    const free = await pay(payer, url('?n=c3&charge=0'), { max: 3n * price + 100n })
    expect(free.status).toBe(200)
    await claimed(payer.account, 2n * price + 100n)
    await delivered(payer.account)
    await loseNewest(payer.account)
    const shown = await pay(payer, url('?n=c3&charge=0', other.address), { max: 3n * price + 100n })
    expect(shown.body.made).not.toBe(free.body.made)
  })

  test('one identifier on two channels of a payer buys once', async () => {
    const payer = await opened()
    const salt = `0x${'2'.repeat(64)}` as const
    expect((await channelBuyer(till.base, payer.account, fetch, salt).fetch(url())).status).toBe(200)
    const identifier = 'purchase_on_two_channels'
    let waiting = 0
    shop.whilePreparing = async () => {
      waiting += 1
      await expect.poll(() => waiting).toBe(2)
    }
    const both = await Promise.all([
      pay(payer, url('?n=t'), { max: 2n * price, identifier }),
      pay(payer, url('?n=t'), { max: 2n * price, identifier, config: { salt } }),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const { rows } = await till.db.owner.query(
      `select sum(charged_micro)::bigint as charged from channel where payer = $1`,
      [payer.account.address.toLowerCase()],
    )
    expect(rows).toEqual([{ charged: 3n * price }])
  })
})

describe('what two processes know', () => {
  test('a claim of one makes room in the other', async () => {
    const payer = await opened()
    for (let n = 2n; n <= 6n; n += 1n)
      expect((await pay(payer, url(`?n=${n}`, other.address), { max: n * price })).status).toBe(200)
    expect((await pay(payer, url('?n=7', other.address), { max: 7n * price })).body.code).toBe('exposure_limit')
    await claimed(payer.account, 6n * price)
    expect((await pay(payer, url('?n=7', other.address), { max: 7n * price })).status).toBe(200)
  })
})

describe('deposits and refunds whose end is not known', () => {
  test('no second deposit and no refund while the first deposit is not known', async () => {
    const { account, required, id } = await opened()
    await till.db.owner.query(
      `insert into channel_deposit (network, payer, nonce, channel_id, amount_micro, valid_before, state, sent_at)
       values ($1, $2, $3, $4, 1000, 4000000000, 'sending', now())`,
      [network, account.address.toLowerCase(), Buffer.alloc(32, 7), Buffer.from(id.slice(2), 'hex')],
    )
    await change(account, 'balance_micro = charged_micro')
    const voucherOf = (max: bigint) => voucherPayload(account, required, { max, type: 'refund' })
    const refund = await send(url(), await voucherOf(price))
    expect([refund.status, ((await refund.json()) as { code: string }).code]).toEqual([503, 'settlement_unknown'])
    const fresh = await till.newBuyer()
    const deposit = { ...(await depositPayload(fresh, required, { amount: 20n * price })), resource: undefined }
    await till.db.owner.query(
      `insert into channel_deposit (network, payer, nonce, channel_id, amount_micro, valid_before, state, sent_at)
       values ($1, $2, $3, $4, 1000, 4000000000, 'sending', now())`,
      [
        ...[network, fresh.address.toLowerCase(), Buffer.alloc(32, 7)],
        Buffer.from(channelOf(fresh, channelTerms(required)).id.slice(2), 'hex'),
      ],
    )
    const second = await send(url('?n=second'), deposit)
    expect([second.status, ((await second.json()) as { code: string }).code]).toEqual([503, 'settlement_unknown'])
    expect(await spentOnChain(till, 'base', fresh.address)).toBe(0n)
    await till.db.owner.query(`delete from channel_deposit where nonce = $1`, [Buffer.alloc(32, 7)])
    expect((await send(url('?n=second'), deposit)).status).toBe(200)
  })

  test('a channel is not sold by while its refund may be on its way, and a dead refund opens it again', async () => {
    const payer = await opened()
    const { account, required } = payer
    await till.base.control.holdMining()
    const refunding = send(url(), await voucherPayload(account, required, { max: price, type: 'refund' }))
    await expect
      .poll(async () => {
        const { rows } = await till.db.owner.query<{ state: string }>(
          `select state from settlement_transaction where purpose = 'channels.refund' order by signed_at desc limit 1`,
        )
        return rows[0]?.state
      })
      .toBe('broadcast')
    await change(account, `refund_at = date_trunc('second', now() - interval '1 hour')`)
    await jobs.run(['channels.recover'])
    expect(await channelRow(account)).toMatchObject({ state: 'refunding' })
    expect((await pay(payer, url('?n=r', other.address), { max: 2n * price })).body.code).toBe('payment_in_flight')
    const second = await send(
      url('', other.address),
      await voucherPayload(account, required, { max: price, type: 'refund' }),
    )
    expect(((await second.json()) as { code: string }).code).toBe('payment_in_flight')
    await till.base.control.releaseMining()
    expect((await refunding).status).toBe(200)
    expect(await spentOnChain(till, 'base', account.address)).toBe(price)
    await afterRecovery(account).toMatchObject({ state: 'open', balance: price, claimed: price })
    expect((await payer.buyer.fetch(url('?n=after'))).status).toBe(200)
  })

  test('a refund and a deposit that are not worth their transactions are refused', async () => {
    const { account, required } = await opened()
    const payload = await voucherPayload(account, required, { max: price, type: 'refund' })
    const little = { ...payload, payload: { ...payload.payload, amount: '9999' } }
    expect((await send(url(), little)).status).toBe(402)
    expect(await spentOnChain(till, 'base', account.address)).toBe(3_000_000n)
    const fresh = await till.newBuyer()
    const small = await send(url(), await depositPayload(fresh, required, { amount: 19_999n }))
    expect([small.status, ((await small.json()) as { reason: string }).reason]).toEqual([
      402,
      'invalid_batch_settlement_evm_deposit_below_min_deposit',
    ])
    expect(await spentOnChain(till, 'base', fresh.address)).toBe(0n)
  })
})

describe('refunds cost the node gas and the payer nothing', () => {
  const refund = async ({ account, required }: Payer, max: bigint, config: VoucherOptions['config'] = {}) => {
    const payload = await voucherPayload(account, required, { max, type: 'refund', config })
    const answer = await send(url('', other.address), payload)
    return { status: answer.status, code: ((await answer.json()) as { code?: string }).code, answer }
  }

  test('one for each payer and hour, also through another channel', async () => {
    const payer = await opened()
    const salt = `0x${'05'.repeat(32)}` as const
    const second = channelBuyer(till.base, payer.account, fetch, salt)
    expect((await second.fetch(url())).status).toBe(200)
    expect((await refund(payer, price)).status).toBe(200)
    const refused = await refund(payer, price, { salt })
    expect([refused.status, refused.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.answer.headers.get('retry-after'))).toBeGreaterThan(60)
    await change(payer.account, `refund_at = now() - interval '61 minutes'`)
    expect((await refund(payer, price, { salt })).status).toBe(200)
  })

  test('one that was never sent is not counted', async () => {
    const payer = await opened()
    const { account } = payer
    // What is claimed with it was never signed, so its simulation fails.
    await change(account, `signed_micro = signed_micro + 1, signature = decode(repeat('11', 65), 'hex')`)
    expect((await refund(payer, price)).status).toBe(402)
    expect((await refund(payer, price)).code).not.toBe('rate_limited')
  })

  test('nothing is sent to a payer that is listed or held; the money stays in the channel', async () => {
    const payer = await opened()
    const { account } = payer
    const key = [network, account.address.toLowerCase()]
    await till.db.owner.query(
      `insert into payout_hold (network, payee, reason, held_by) values ($1, $2, 'x', 'x')`,
      key,
    )
    expect((await refund(payer, price)).code).toBe('payer_refused')
    await till.db.owner.query(`delete from payout_hold where network = $1 and payee = $2`, key)
    list(account)
    // The file is read again after a second; a voucher for nothing that was charged moves nothing.
    await expect.poll(async () => (await refund(payer, 0n)).code, { timeout: 10_000 }).toBe('payer_refused')
    expect((await refund(payer, price)).code).toBe('payer_refused')
    expect(await channelRow(account)).toMatchObject({ balance: 3_000_000n, state: 'open' })
    expect(await spentOnChain(till, 'base', account.address)).toBe(3_000_000n)
    list()
    await expect.poll(async () => (await refund(payer, price)).status, { timeout: 10_000 }).toBe(200)
  })
})

test('a withdrawal that is seen while the answer is made stops the sale', async () => {
  const payer = await opened()
  const { account, config } = payer
  await till.base.control.fund(config.payer, { microUsdc: 0n })
  shop.whilePreparing = async () => {
    shop.whilePreparing = undefined
    await sendTransaction(till.base, account, {
      ...{ to: channelContract, data: channelCall('initiateWithdraw', [config, 2_000_000n]) },
    })
    await expect
      .poll(async () => {
        await jobs.run(['channels.claim'])
        return (await channelRow(account)).claimed
      })
      .toBe(price)
  }
  expect((await pay(payer, url('?n=w'), { max: 2n * price })).status).toBe(402)
  expect(await channelRow(account)).toMatchObject({ charged: price, sequence: 1n, claimed: price })
})

describe('the chain knows more, or less', () => {
  test('a deposit that a reorganisation took away buys nothing more once that is seen', async () => {
    const payer = await opened()
    const { account } = payer
    // As after a second deposit, the first one being used up.
    const used = 3_000_000n
    await change(
      account,
      `charged_micro = ${used}, signed_micro = ${used}, claimed_micro = ${used}, posted_micro = ${used}`,
    )
    await change(account, `balance_micro = ${2n * used}`)
    expect((await pay(payer, url('?n=unseen'), { max: used + price })).status).toBe(200)
    await expect
      .poll(
        async () => {
          await jobs.run(['payments.reconcile'])
          return channelRow(account)
        },
        { timeout: 10_000 },
      )
      .toMatchObject({ balance: used })
    expect((await pay(payer, url('?n=seen'), { max: used + 2n * price })).status).toBe(402)
  })

  test('claims that a restored database has lost are what the channel was charged', async () => {
    const { account, buyer, required } = await opened()
    const before = await till.db.owner.query(`select signed_micro as micro, signature from channel where payer = $1`, [
      account.address.toLowerCase(),
    ])
    for (let n = 2; n <= 3; n += 1) expect((await buyer.fetch(url(`?n=${n}`))).status).toBe(200)
    await claimed(account, 3n * price)
    await till.db.owner.query(
      `update channel set charged_micro = $2, signed_micro = $2, signature = $3, sequence = 1, claimed_micro = 0,
         public_micro = 0 where payer = $1`,
      [account.address.toLowerCase(), price, before.rows[0]?.['signature']],
    )
    await till.db.owner.query(`delete from channel_sale where payer = $1 and sequence > 1`, [
      account.address.toLowerCase(),
    ])
    const gap = () => balanceOf(till.db.owner, accounts.restoreGap(network, 'pay_to'))
    const gapBefore = await gap()
    const corrected = async () => {
      const { answer } = await pay({ account, required }, url('?n=a'), { max: 6n * price })
      return decodeHeader<{ accepts: { extra: { channelState: object; voucherState?: object } }[] }>(
        answer.headers.get('payment-required'),
      ).accepts[1]?.extra
    }
    await expect
      .poll(async () => (await corrected())?.channelState)
      .toMatchObject({ chargedCumulativeAmount: (3n * price).toString() })
    // It has no voucher for that amount: the client goes by the chain.
    expect(await corrected()).not.toHaveProperty('voucherState')
    expect(await gap()).toBe(gapBefore - 2n * price)
    expect((await buyer.fetch(url('?n=4'))).status).toBe(200)
    expect(await channelRow(account)).toMatchObject({ charged: 4n * price, claimed: 3n * price })
  })

  test('a claim that a reorganisation took away is made again', async () => {
    const { account } = await opened()
    await claimed(account, price)
    await till.base.control.reorg(1, { transactions: 'drop' })
    await till.base.control.mine(3)
    await expect
      .poll(
        async () => {
          await jobs.run(['payments.reconcile'])
          return (await channelRow(account)).claimed
        },
        { timeout: 10_000 },
      )
      .toBe(0n)
    await expect
      .poll(
        async () => {
          await jobs.run(['channels.claim', 'payments.reconcile'])
          return (await channelRow(account)).posted
        },
        { timeout: 15_000 },
      )
      .toBe(price)
  })
})
