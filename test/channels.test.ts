import type { PrivateKeyAccount } from 'viem/accounts'
import { afterEach, describe, expect, test } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { channelContract } from '../packages/protocol/src/typed-data/channel.ts'
import { accounts, balanceOf } from '../packages/till/src/ledger/index.ts'
import { channelAccounts } from '../packages/till/src/schemes/batch-settlement/accounts.ts'
import { channelBuyer, channelCall, channelOf, channelTerms, voucherPayload } from './harness/channel-client.ts'
import { cheapPath, cheapPrice as price } from './harness/cheap-shop.ts'
import { spentOnChain } from './harness/invariants.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { decodeHeader, quote, send } from './harness/till-fixture.ts'
import { tokenBalance } from './harness/token-balance.ts'
import { useChannels } from './harness/use-channels.ts'

const network = 'eip155:8453'
/** `CHANNEL_CALLS=1000` for the whole length; npm test buys fewer. */
const calls = Number(process.env['CHANNEL_CALLS'] ?? 40)

const { shop, jobs, till } = useChannels({ unclaimedPerChannelMicro: 5_000_000n })
afterEach(() => {
  shop.prepareFails = undefined
})

const url = (n?: string | number) => `${till.node.url}${cheapPath}${n === undefined ? '' : `?n=${n}`}`
const buyerOf = (account: PrivateKeyAccount, fetchWith?: typeof fetch) => channelBuyer(till.base, account, fetchWith)
const response = (answer: Response) =>
  decodeHeader<{ transaction: string; amount: string; extra: { chargedAmount: string; channelState: State } }>(
    answer.headers.get('payment-response'),
  )
type State = { balance: string; chargedCumulativeAmount: string; totalClaimed: string }
type Row = { charged: bigint; sequence: bigint; claimed: bigint; posted: bigint; lost: bigint; balance: bigint }

async function channelRow(account: PrivateKeyAccount): Promise<Row | undefined> {
  const { rows } = await till.db.owner.query<Row>(
    `select charged_micro as charged, sequence, claimed_micro as claimed, posted_micro as posted, lost_micro as lost,
       balance_micro as balance from channel where payer = $1`,
    [account.address.toLowerCase()],
  )
  return rows[0]
}
const salesOf = async (account: PrivateKeyAccount) =>
  (
    await till.db.owner.query<{ charge: bigint }>(
      `select charge_micro as charge from channel_sale where payer = $1 order by sequence`,
      [account.address.toLowerCase()],
    )
  ).rows.map(({ charge }) => charge)
/** Runs jobs until the row is so: a head is shared for half a second. */
const until = (account: PrivateKeyAccount, names: string[], row: Partial<Row>) =>
  expect
    .poll(
      async () => {
        await jobs.run(names)
        return channelRow(account)
      },
      { timeout: 10_000 },
    )
    .toMatchObject(row)
const ledger = (account: { name: string }) => balanceOf(till.db.owner, account)
const spent = (account: PrivateKeyAccount) => spentOnChain(till, 'base', account.address)
const gasFor = (account: PrivateKeyAccount) =>
  till.base.control.fund(account.address.toLowerCase() as Address, { microUsdc: 0n })

/** The channel of the stock client, opened by its first call. */
async function opened() {
  const account = await till.newBuyer()
  const buyer = buyerOf(account)
  expect((await buyer.fetch(url())).status).toBe(200)
  const required = await quote(url())
  return { account, buyer, required, ...channelOf(account, channelTerms(required)) }
}

test('exact comes first, channels and credit follow, and the headers stay within their limits', async () => {
  const answer = await fetch(url())
  const required = answer.headers.get('payment-required') ?? ''
  const { accepts } = decodeHeader<{ accepts: { scheme: string; extra: object }[] }>(required)
  expect(accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'batch-settlement', 'credit'])
  expect(accepts[1]?.extra).toMatchObject({
    withdrawDelay: 86_400,
    minDeposit: '3000000',
    assetTransferMethod: 'eip3009',
  })
  expect(required.length).toBeLessThan(3_072)
  expect(required.length + (answer.headers.get('www-authenticate') ?? '').length).toBeLessThan(5_120)
  const dear = decodeHeader<{ accepts: { scheme: string }[] }>(
    (await fetch(`${till.node.url}/v1/sandbox/meter`)).headers.get('payment-required'),
  )
  expect(dear.accepts.map(({ scheme }) => scheme)).not.toContain('batch-settlement')
})

describe('an unmodified client of @x402/evm', () => {
  test('pays many calls through one deposit, is refunded, and the books equal the chain', {
    timeout: 180_000,
  }, async () => {
    const account = await till.newBuyer()
    const buyer = buyerOf(account)
    const first = await buyer.fetch(url())
    expect([first.status, await first.json()]).toEqual([200, { n: '', made: expect.any(Number) }])
    expect(response(first)).toMatchObject({
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: '3000000',
      extra: { chargedAmount: '1500', channelState: { balance: '3000000', chargedCumulativeAmount: '1500' } },
    })
    for (let n = 1; n < calls; n += 1) {
      const answer = await buyer.fetch(url(n))
      expect(answer.status).toBe(200)
      expect(response(answer)).toMatchObject({ transaction: '', amount: '' })
    }
    const charged = price * BigInt(calls)
    expect(await channelRow(account)).toMatchObject({ charged, sequence: BigInt(calls), claimed: 0n })
    expect(await salesOf(account)).toEqual(Array.from({ length: calls }, () => price))
    expect(await spent(account)).toBe(3_000_000n)
    await jobs.run(['payments.reconcile'])
    expect(await ledger(channelAccounts.vouchers(network))).toBe(charged)
    if (calls === 2_000) {
      // The whole deposit is used: it is claimed when its time has come.
      await till.db.owner.query(`update channel set unclaimed_since = 'epoch' where payer = $1`, [
        account.address.toLowerCase(),
      ])
    } else {
      const refund = await buyer.scheme.refund(url())
      expect(refund).toMatchObject({ success: true, amount: (3_000_000n - charged).toString() })
      expect(await spent(account)).toBe(charged)
    }
    await jobs.run(['channels.claim', 'payments.reconcile'])
    const sent = await till.db.owner.query<{ purpose: string; n: bigint }>(
      `select purpose, count(*) as n from settlement_transaction where purpose like 'channels.%' group by purpose`,
    )
    const transactions = sent.rows.map(({ purpose, n }) => `${n} ${purpose}`).join(', ')
    // The deposit, and the refund with its claim.
    expect(sent.rows.reduce((sum, { n }) => sum + n, 0n)).toBeLessThanOrEqual(BigInt(Math.max(2, calls / 1_000)))
    console.log(`${calls} calls through one deposit of 3 USDC; transactions: ${transactions}`)
  })

  test('what was claimed is in the books, and what was sent to us is no money without a name', async () => {
    const { account, config } = await opened()
    await till.db.owner.query(`update channel set unclaimed_since = now() - interval '1 day' where payer = $1`, [
      account.address.toLowerCase(),
    ])
    const before = await tokenBalance(till.base, config.receiver)
    await jobs.run(['payments.reconcile', 'channels.claim'])
    expect(await channelRow(account)).toMatchObject({ claimed: price, posted: 0n })
    expect(await tokenBalance(till.base, config.receiver)).toBeGreaterThanOrEqual(before + price)
    await until(account, ['payments.reconcile'], { posted: price })
    expect(await ledger(channelAccounts.claimed(network))).toBe(0n)
    expect(await ledger(accounts.unmatched(network, 'pay_to'))).toBe(0n)
    const { rows } = await till.db.owner.query<{ vouchers: bigint }>(
      `select sum(charged_micro - posted_micro - lost_micro)::bigint as vouchers from channel`,
    )
    expect(await ledger(channelAccounts.vouchers(network))).toBe(rows[0]?.vouchers)
  })

  test('gets a lost answer again: by the same request, or later by a fresh voucher that is not charged', async () => {
    const account = await till.newBuyer()
    let lose = false
    const losing: typeof fetch = async (input, init) => {
      const answer = await fetch(input as string, init)
      const paid = new Headers((input as Request).headers ?? init?.headers).has('payment-signature')
      if (!lose || !paid) return answer
      lose = false
      throw new TypeError('the network is gone')
    }
    const buyer = buyerOf(account, losing)
    expect((await buyer.fetch(url())).status).toBe(200)
    lose = true
    await expect(buyer.fetch(url('lost1'))).rejects.toThrow('the network is gone')
    const again = await buyer.fetch(url('lost1'))
    expect(again.status).toBe(200)
    expect(response(again).extra.channelState.chargedCumulativeAmount).toBe('3000')
    expect(await channelRow(account)).toMatchObject({ charged: 2n * price, sequence: 2n })

    lose = true
    await expect(buyer.fetch(url('lost2'))).rejects.toThrow('the network is gone')
    // The next request carries the same voucher: corrected by a 402, then served.
    expect((await buyer.fetch(url('other1'))).status).toBe(200)
    expect(await channelRow(account)).toMatchObject({ charged: 4n * price, sequence: 4n })
    await buyer.fetch(url('another1'))
    expect(await salesOf(account)).toHaveLength(5)
  })

  test('sends calls side by side on one channel', { timeout: 60_000 }, async () => {
    const { account, buyer } = await opened()
    const side = 8
    const answers = await Promise.all(Array.from({ length: side }, (_, n) => buyer.fetch(url(n))))
    const served = answers.filter(({ status }) => status === 200).length
    console.log(`${served} of ${side} parallel calls of one stock client were served`)
    expect(served).toBeGreaterThanOrEqual(2)
    expect(await channelRow(account)).toMatchObject({ charged: price * BigInt(served + 1) })
    expect(await salesOf(account)).toHaveLength(served + 1)
  })
})

describe('thieves', () => {
  const status = async (payload: object) => (await send(url('x'), { ...payload, resource: undefined })).status

  test('vouchers of another channel, payer, chain or contract buy nothing', async () => {
    const { account, required } = await opened()
    const other = await till.newBuyer()
    const max = 2n * price
    const high = (signature: `0x${string}`): `0x${string}` => {
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
      const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
      return `0x${signature.slice(2, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
    }
    for (const options of [
      { signer: other },
      { chainId: 137 },
      { contract: other.address.toLowerCase() as Address },
      { channelId: `0x${'7'.repeat(64)}` as const },
      { config: { receiver: other.address.toLowerCase() as Address } },
      { config: { receiverAuthorizer: other.address.toLowerCase() as Address } },
      { config: { token: other.address.toLowerCase() as Address } },
      { config: { withdrawDelay: 900 } },
      { config: { payerAuthorizer: `0x${'0'.repeat(40)}` as const } },
      { config: { salt: `0x${'1'.repeat(64)}` as const } },
      { signature: high },
    ])
      expect(
        await status(await voucherPayload(account, required, { max, ...options })),
        Object.keys(options).join(),
      ).toBe(402)
    expect(await channelRow(account)).toMatchObject({ charged: price, sequence: 1n })
    expect((await send(url('x'), await voucherPayload(account, required, { max }))).status).toBe(409)
    expect(await status(await voucherPayload(account, required, { max }))).toBe(200)
  })

  test('lower, skipped and repeated amounts are corrected, and amounts beyond the deposit', async () => {
    const { account, required } = await opened()
    for (const max of [0n, 1n, price, price + 1n, 3n * price, 2_000_000n]) {
      const answer = await send(url('y1'), {
        ...(await voucherPayload(account, required, { max })),
        resource: undefined,
      })
      expect([max, answer.status]).toEqual([max, 402])
      const { error, accepts } = decodeHeader<{ error: string; accepts: { extra: Record<string, object> }[] }>(
        answer.headers.get('payment-required'),
      )
      expect(error).toBe('invalid_batch_settlement_evm_cumulative_amount_mismatch')
      expect(accepts[1]?.extra['channelState']).toMatchObject({ chargedCumulativeAmount: '1500' })
      expect(answer.headers.get('payment-response')).toBeNull()
      expect((answer.headers.get('payment-required') ?? '').length).toBeLessThan(3_072)
    }
    expect(await salesOf(account)).toEqual([price])
  })

  test('copies of one voucher that arrive together buy once', async () => {
    const { account, required } = await opened()
    const payload = { ...(await voucherPayload(account, required, { max: 2n * price })), resource: undefined }
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => send(url(n), payload)))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(await salesOf(account)).toEqual([price, price])
  })

  test('the newest voucher opens the stored answer while nobody else can know it, and never afterwards', async () => {
    const { account, required } = await opened()
    const payload = { ...(await voucherPayload(account, required, { max: 2n * price })), resource: undefined }
    const [one, two] = [await send(url('s1'), payload), await send(url('s1'), payload)]
    expect([one.status, two.status]).toEqual([200, 200])
    expect(two.headers.get('payment-response')).toBe(one.headers.get('payment-response'))
    expect((await send(url('s2'), payload)).status).toBe(402)
    // That correction showed the voucher.
    expect((await send(url('s1'), payload)).status).toBe(402)
    expect(await salesOf(account)).toEqual([price, price])
  })

  test('an identifier names one purchase', async () => {
    const { account, required } = await opened()
    const identifier = 'purchase_0123456789'
    const voucher = (max: bigint) => voucherPayload(account, required, { max, identifier })
    const named = async (max: bigint, query: string) =>
      (await send(url(query), { ...(await voucher(max)), resource: undefined })).status
    expect(await named(2n * price, 'i1')).toBe(200)
    expect(await named(3n * price, 'i1')).toBe(200)
    expect(await named(3n * price, 'i2')).toBe(409)
    expect(await salesOf(account)).toEqual([price, price])
  })

  test('a charge is nobody’s when the answer could not be made', async () => {
    const { account, required } = await opened()
    shop.prepareFails = new Error('no answer')
    const payload = { ...(await voucherPayload(account, required, { max: 2n * price })), resource: undefined }
    expect((await send(url('f1'), payload)).status).toBe(500)
    shop.prepareFails = undefined
    // Nor when more would be charged than was quoted, or less than nothing.
    for (const charge of [price + 1n, -1n]) expect((await send(url(`f1&charge=${charge}`), payload)).status).toBe(500)
    expect(await channelRow(account)).toMatchObject({ charged: price, sequence: 1n })
    expect((await send(url('f1'), payload)).status).toBe(200)
  })

  test('a refund takes nothing that was charged, and races with a sale', async () => {
    const { account, buyer, required } = await opened()
    const refund = await voucherPayload(account, required, { max: price, type: 'refund' })
    const voucher = { ...(await voucherPayload(account, required, { max: 2n * price })), resource: undefined }
    const answers = await Promise.all([send(url(), refund), send(url('r1'), voucher)])
    const row = await channelRow(account)
    expect([answers[0]?.status, answers[1]?.status].filter((one) => one === 200).length).toBeGreaterThanOrEqual(1)
    expect(row?.balance).toBeGreaterThanOrEqual(row?.charged ?? 0n)
    await jobs.run(['channels.claim', 'payments.reconcile'])
    expect(await channelRow(account)).toMatchObject({ lost: 0n })
    expect((await buyer.fetch(url('again1'))).status).toBe(200)
  })
})

// The last one, for it moves the time of the chain by a day.
test('a payer withdraws after the delay: what it owes is claimed first', async () => {
  const { account, buyer, config } = await opened()
  await gasFor(account)
  await sendTransaction(till.base, account, {
    to: channelContract,
    data: channelCall('initiateWithdraw', [config, 2_998_500n]),
  })
  await until(account, ['channels.claim'], { claimed: price })
  const refused = await buyer.fetch(url('late1'))
  expect(refused.status).toBe(402)
  till.base.control.advanceTime(86_400)
  await sendTransaction(till.base, account, { to: channelContract, data: channelCall('finalizeWithdraw', [config]) })
  expect(await spent(account)).toBe(price)
  await until(account, ['channels.claim', 'payments.reconcile'], { posted: price, lost: 0n, balance: price })
})
