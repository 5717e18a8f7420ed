import type { PrivateKeyAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { channelContract } from '../packages/protocol/src/typed-data/channel.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { accounts, balanceOf } from '../packages/till/src/ledger/index.ts'
import { channelAccounts } from '../packages/till/src/schemes/batch-settlement/accounts.ts'
import { channelCall, depositPayload, voucherPayload } from './harness/channel-client.ts'
import { cheapPath, cheapPrice as price } from './harness/cheap-shop.ts'
import { spentOnChain } from './harness/invariants.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { decodeHeader, quote, send } from './harness/till-fixture.ts'
import { useChannels } from './harness/use-channels.ts'

const network = 'eip155:8453'
const { shop, jobs, till, url, opened, channelRow, afterRecovery } = useChannels()
beforeAll(() => jobs.run(['payments.reconcile']))

const ledger = (account: { name: string }) => balanceOf(till.db.owner, account)

const makeDue = (account: PrivateKeyAccount) =>
  till.db.owner.query(`update channel set unclaimed_since = now() - interval '1 day' where payer = $1`, [
    account.address.toLowerCase(),
  ])
/** Vouchers that are neither claimed nor lost, by the channels themselves. */
async function openVouchers(): Promise<bigint> {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(sum(charged_micro - posted_micro - lost_micro), 0)::bigint as micro from channel`,
  )
  return rows[0]?.micro ?? 0n
}

test('a call that was charged nothing has its number, and equal vouchers after it are two sales', async () => {
  const { account, buyer, required } = await opened()
  const free = await buyer.fetch(url('?charge=0'))
  expect(free.status).toBe(200)
  expect(decodeHeader(free.headers.get('payment-response'))).toMatchObject({ extra: { chargedAmount: '0' } })
  expect(await channelRow(account)).toMatchObject({ charged: price, sequence: 2n, signed: 2n * price })
  // The same voucher again, for another request: it continues the channel as before.
  const again = { ...(await voucherPayload(account, required, { max: 2n * price })), resource: undefined }
  expect((await send(url('?n=2&charge=700'), again)).status).toBe(200)
  expect(await channelRow(account)).toMatchObject({ charged: price + 700n, sequence: 3n })
  expect((await buyer.fetch(url('?n=3'))).status).toBe(200)
  expect(await channelRow(account)).toMatchObject({ charged: 2n * price + 700n, sequence: 4n })
})

test('two processes sell by one channel, one call after the other', async () => {
  const { account, required } = await opened()
  const other = await till.startAnother({
    ownShops: 'till',
    shops: [shop.open],
    jobs: false,
  })
  for (let n = 2n; n <= 5n; n += 1n) {
    const payload = { ...(await voucherPayload(account, required, { max: n * price })), resource: undefined }
    const origin = n % 2n === 0n ? other.url : till.node.url
    expect([n, (await send(`${origin}${cheapPath}?n=${n}`, payload)).status]).toEqual([n, 200])
  }
  const both = { ...(await voucherPayload(account, required, { max: 6n * price })), resource: undefined }
  const answers = await Promise.all(
    [till.node.url, other.url].map((origin, n) => send(`${origin}${cheapPath}?n=b${n}`, both)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402])
  expect(await channelRow(account)).toMatchObject({ charged: 6n * price, sequence: 6n })
})

test('a second deposit waits while the first is not known, and the first is not made twice', async () => {
  const account = await till.newBuyer()
  const required = await quote(url())
  const payload = async () => ({
    ...(await depositPayload(account, required, { amount: 20n * price })),
    resource: undefined,
  })
  const first = await payload()
  await till.base.control.holdMining()
  const waiting = send(url('?n=a'), first)
  await expect
    .poll(async () => (await till.db.owner.query(`select from channel_deposit where state = 'sending'`)).rowCount)
    .toBe(1)
  const second = send(url('?n=b'), await payload())
  await till.base.control.releaseMining()
  expect((await waiting).status).toBe(200)
  // It waited for its turn; the channel is another one by then.
  expect((await second).status).toBe(402)
  expect(await spentOnChain(till, 'base', account.address)).toBe(20n * price)
  expect(await channelRow(account)).toMatchObject({ charged: price, balance: 20n * price })
})

test('a deposit whose process died is found by its key', async () => {
  const { account } = await opened()
  await till.db.owner.query(`update channel set balance_micro = 0 where payer = $1`, [account.address.toLowerCase()])
  await till.db.owner.query(
    `update channel_deposit set state = 'sending', sent_at = now() - interval '1 minute' where payer = $1`,
    [account.address.toLowerCase()],
  )
  await afterRecovery(account).toMatchObject({ balance: 3_000_000n })
  const { rows } = await till.db.owner.query(`select state from channel_deposit where payer = $1`, [
    account.address.toLowerCase(),
  ])
  expect(rows).toEqual([{ state: 'done' }])
})

test('what is not claimed is capped for each channel, and a claim makes room', async () => {
  const { account, buyer } = await opened()
  for (let n = 2; n <= 6; n += 1) expect((await buyer.fetch(url(`?n=${n}`))).status).toBe(200)
  const full = await buyer.fetch(url('?n=7'))
  expect([full.status, (await full.json()) as object]).toEqual([
    503,
    expect.objectContaining({ code: 'exposure_limit' }),
  ])
  await makeDue(account)
  await jobs.run(['channels.claim'])
  expect((await buyer.fetch(url('?n=7'))).status).toBe(200)
})

test('the gas of a deposit and a claim was posted twice, with different lines: it is once, from final blocks', async () => {
  const { account } = await opened()
  await makeDue(account)
  await jobs.run(['channels.claim'])
  await till.base.control.mine(60)
  for (const purpose of ['deposit', 'claim'])
    await expect
      .poll(async () => {
        await jobs.run(['wallets.gas'])
        return ledger(accounts.gasSpent(network, `node.channels.${purpose}`))
      })
      .toBeGreaterThan(0n)
})

test('no vouchers are taken while claims have failed for a third of the delay', async () => {
  const { account, buyer } = await opened()
  await till.db.owner.query(`update channel set claim_failing_since = now() - interval '9 hours' where payer = $1`, [
    account.address.toLowerCase(),
  ])
  // Its wallet is not ours any more, as far as the node knows: the row is read again for a stale voucher.
  await voucherPayload(account, await quote(url()), { max: 9n * price }).then((payload) =>
    send(url('?n=stale'), { ...payload, resource: undefined }),
  )
  expect((await buyer.fetch(url('?n=2'))).status).toBe(503)
})

test('strangers who claim and settle are posted like ourselves', async () => {
  const { account, config } = await opened()
  const { signed, signature, charged } = await channelRow(account)
  const operator = privateKeyToAccount(demoAccount('operator').privateKey)
  expect(operator.address.toLowerCase()).toBe(config.receiver)
  const claim = { voucher: { channel: config, maxClaimableAmount: signed }, signature, totalClaimed: charged }
  await sendTransaction(till.base, operator, { to: channelContract, data: channelCall('claim', [[claim]]) })
  const stranger = privateKeyToAccount(demoAccount('creator').privateKey)
  await sendTransaction(till.base, stranger, {
    to: channelContract,
    data: channelCall('settle', [config.receiver, config.token]),
  })
  await expect
    .poll(
      async () => {
        await jobs.run(['payments.reconcile'])
        return (await channelRow(account)).posted
      },
      { timeout: 10_000 },
    )
    .toBe(price)
  await jobs.run(['payments.reconcile'])
  expect(await ledger(channelAccounts.claimed(network))).toBe(0n)
  expect(await ledger(accounts.unmatched(network, 'pay_to'))).toBe(0n)
  expect(await ledger(channelAccounts.vouchers(network))).toBe(await openVouchers())
})

// The last one, for it moves the time of the chain by a day.
test('one channel that was emptied does not keep others from being claimed, and its loss is posted', async () => {
  const [emptied, good] = [await opened(), await opened()]
  const withdraw = async (functionName: string, args: unknown[]) =>
    sendTransaction(till.base, emptied.account, { to: channelContract, data: channelCall(functionName, args) })
  await till.base.control.fund(emptied.config.payer, { microUsdc: 0n })
  await withdraw('initiateWithdraw', [emptied.config, 3_000_000n])
  till.base.control.advanceTime(86_400)
  await withdraw('finalizeWithdraw', [emptied.config])
  await makeDue(emptied.account)
  await makeDue(good.account)
  await expect
    .poll(
      async () => {
        await jobs.run(['channels.claim', 'payments.reconcile'])
        return [(await channelRow(emptied.account)).lost, (await channelRow(good.account)).posted]
      },
      { timeout: 10_000 },
    )
    .toEqual([price, price])
  expect(await channelRow(emptied.account)).toMatchObject({ claimed: 0n, posted: 0n })
  expect(await ledger(channelAccounts.loss(network))).toBe(price)
  expect(await ledger(channelAccounts.vouchers(network))).toBe(await openVouchers())
})
