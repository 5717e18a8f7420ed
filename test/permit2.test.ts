import { randomBytes } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { permit2Address, permit2Proxies } from '../packages/protocol/src/typed-data/permit2.ts'
import { permit2Call } from '../packages/till/src/facilitators/local/settle-permit2.ts'
import { isPermit2, permit2Payment } from '../packages/till/src/facilitators/permit2-payment.ts'
import type { Facilitator } from '../packages/till/src/index.ts'
import { accounts, owedTo } from '../packages/till/src/ledger/index.ts'
import { createDyingDatabase } from './harness/dying-database.ts'
import { spentOnChain } from './harness/invariants.ts'
import {
  approvePermit2,
  cancelPermit,
  type PermitOptions,
  permit2Buyer,
  readingSigner,
  signPermit,
  transferOf,
} from './harness/permit2-client.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { decodeHeader, echoPath, encodePayload, type FixtureOptions, quote, send } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

let beforeSettling: ((payment: Parameters<Facilitator['settle']>[0]) => Promise<unknown>) | undefined
/** The facilitator of the first node, whose database knows what it sends. */
let carrier: Facilitator | undefined
const interrupted = (real: Facilitator): Facilitator => {
  carrier ??= real
  return {
    ...real,
    settle: async (payment, signal) => {
      await beforeSettling?.(payment)
      return real.settle(payment, signal)
    },
  }
}
const options: FixtureOptions = { ownShops: 'till', jobs: false, intercept: { facilitator: interrupted } }
const till = useTill(options)
afterEach(() => {
  beforeSettling = undefined
})

const meter = (text = '', node = till.node) => `${node.url}/v1/sandbox/meter${text === '' ? '' : `?text=${text}`}`
const echo = (message: string) => `${till.node.url}${echoPath}?message=${message}`

async function newPayer(allowed = 10_000_000n): Promise<PrivateKeyAccount> {
  const payer = await till.newBuyer()
  await till.base.control.fund(payer.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, payer, { to: till.base.usdc, data: approvePermit2(allowed) })
  return payer
}

async function rowsOf(payer: PrivateKeyAccount) {
  const { rows } = await till.db.owner.query(
    `select scheme, state, quoted_micro as quoted, amount_micro as charged from payment where payer = $1 order by claimed_at`,
    [payer.address.toLowerCase()],
  )
  return rows
}
/** A signed permit, for a facilitator that carries it. */
function carriedPermit(
  { payload }: Awaited<ReturnType<typeof signPermit>>,
  scheme: 'exact' | 'upto',
  amountMicro: bigint,
) {
  const { permit2Authorization: permit, signature } = payload
  const { facilitator, to } = permit.witness as { to: Address; facilitator?: Address }
  const [network] = till.node.config.networks
  return permit2Payment({
    ...{ paymentId: 'pay_later', scheme, network: 'eip155:8453', amountMicro, maxTimeoutSeconds: 60 },
    resource: { url: echo('') },
    asset: { address: till.base.usdc, name: network?.usdc.name ?? '', version: network?.usdc.version ?? '' },
    permit2: {
      transfer: {
        ...{ from: permit.from.toLowerCase() as Address, token: till.base.usdc, to: to.toLowerCase() as Address },
        ...{ amount: BigInt(permit.permitted.amount), nonce: BigInt(permit.nonce), deadline: BigInt(permit.deadline) },
        validAfter: 0n,
        ...(facilitator === undefined ? {} : { facilitator: facilitator.toLowerCase() as Address }),
      },
      signature,
    },
  })
}
const spent = (payer: PrivateKeyAccount) => spentOnChain(till, 'base', payer.address)
const statuses = (answers: readonly Response[]) => answers.map(({ status }) => status)

describe('a wallet that has approved nothing and has no gas', () => {
  const editing =
    (change: (sponsoring: Record<string, unknown>) => Record<string, unknown>): typeof fetch =>
    (input, init) => {
      const request = new Request(input, init)
      const header = request.headers.get('payment-signature')
      if (header === null) return fetch(request)
      const sent = decodeHeader<Record<string, never>>(header) as Record<string, Record<string, unknown>>
      const named = sent['extensions']?.['eip2612GasSponsoring'] as { info: Record<string, unknown> }
      const extensions = { ...sent['extensions'], eip2612GasSponsoring: { info: change(named.info) } }
      request.headers.set('payment-signature', encodePayload({ ...sent, extensions } as never))
      return fetch(request)
    }

  const topUp = () => `${till.node.url}/v1/credit/topup?usd=1`

  test('pays by exact with a permit that the node carries, for this payment only', async () => {
    const payer = await till.newBuyer()
    const response = await permit2Buyer(readingSigner(payer, till.base))(topUp())
    expect(response.status).toBe(200)
    expect(await spent(payer)).toBe(1_000_000n)
    const again = await permit2Buyer(payer)(topUp())
    expect([again.status, await again.json()]).toMatchObject([402, { reason: 'permit2_allowance_required' }])
  })

  test('a metered answer still needs an approval, and the 402 does not say otherwise', async () => {
    const payer = await till.newBuyer()
    expect((await quote(meter('hello'))).extensions).not.toHaveProperty('eip2612GasSponsoring')
    const response = await permit2Buyer(readingSigner(payer, till.base))(meter('hello'))
    expect([response.status, await response.json()]).toMatchObject([402, { reason: 'permit2_allowance_required' }])
  })

  test.each([
    ['for more', 400, (info: Record<string, unknown>) => ({ ...info, amount: '1000001' })],
    ['of somebody else', 400, (info: Record<string, unknown>) => ({ ...info, from: till.base.usdc })],
    ['for another spender', 400, (info: Record<string, unknown>) => ({ ...info, spender: till.base.usdc })],
    ['that says nothing', 402, () => ({})],
    ['signed by another key', 402, (info: Record<string, unknown>) => ({ ...info, signature: `0x${'11'.repeat(65)}` })],
    ['with another nonce', 402, (info: Record<string, unknown>) => ({ ...info, nonce: '7' })],
  ] as const)('a permit %s is refused, and nothing is taken', async (_what, status, change) => {
    const payer = await till.newBuyer()
    const response = await permit2Buyer(readingSigner(payer, till.base), editing(change))(topUp())
    expect(response.status).toBe(status)
    expect(await spent(payer)).toBe(0n)
  })
})

describe('unmodified clients of @x402/evm', () => {
  test('upto pays what was used, of the maximum that was quoted', async () => {
    const payer = await newPayer()
    const response = await permit2Buyer(payer)(meter('hello'))
    expect([response.status, await response.json()]).toEqual([200, { characters: 5, charge_micro: '500' }])
    expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ success: true, amount: '500' })
    expect(await rowsOf(payer)).toEqual([{ scheme: 'upto', state: 'served', quoted: 20_000n, charged: 500n }])
    expect(await spent(payer)).toBe(500n)
  })

  test('upto pays nothing where nothing was used, without a transaction', async () => {
    const payer = await newPayer()
    const response = await permit2Buyer(payer)(meter())
    expect([response.status, await response.json()]).toEqual([200, { characters: 0, charge_micro: '0' }])
    expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ amount: '0', transaction: '' })
    expect(await rowsOf(payer)).toEqual([{ scheme: 'upto', state: 'served', quoted: 20_000n, charged: 0n }])
    expect(await spent(payer)).toBe(0n)
  })

  test('exact by Permit2 pays the very amount', async () => {
    const payer = await newPayer()
    const response = await permit2Buyer(payer)(`${till.node.url}/v1/credit/topup?usd=1`)
    expect(response.status).toBe(200)
    expect(await rowsOf(payer)).toMatchObject([{ scheme: 'exact-permit2', state: 'served', charged: 1_000_000n }])
    expect(await spent(payer)).toBe(1_000_000n)
  })
})

test('exact comes first, upto and credit follow, and the headers stay within their limits', async () => {
  const response = await fetch(meter('x'))
  const required = response.headers.get('payment-required') ?? ''
  const { accepts } = decodeHeader<{ accepts: { scheme: string }[] }>(required)
  expect(accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'upto', 'credit'])
  expect(required.length).toBeLessThan(3_072)
  expect(required.length + (response.headers.get('www-authenticate') ?? '').length).toBeLessThan(5_120)
})

describe('one permit, one serve', () => {
  test.each(['exact', 'upto'] as const)('copies of %s that arrive together buy once', async (scheme) => {
    const payer = await newPayer()
    const url = scheme === 'upto' ? meter('abc') : echo('abc')
    const payload = await signPermit(payer, await quote(url), { scheme })
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(url, payload)))
    expect(statuses(answers).filter((status) => status === 200)).toHaveLength(1)
    expect((await send(url, payload)).status).toBe(409)
    expect(
      (await send(scheme === 'upto' ? meter('abcd') : echo('x'), { ...payload, resource: undefined })).status,
    ).toBe(409)
    expect(await spent(payer)).toBe(scheme === 'upto' ? 300n : 1_000n)
  })

  test('a permit that was charged nothing is spent all the same', async () => {
    const payer = await newPayer()
    const identifier = `free_${randomBytes(12).toString('hex')}`
    const payload = await signPermit(payer, await quote(meter()), { identifier })
    expect((await send(meter(), payload)).status).toBe(200)
    expect((await send(meter(), payload)).status).toBe(200)
    expect((await send(meter(), { ...payload, extensions: {} })).status).toBe(409)
    expect((await send(meter('abc'), { ...payload, resource: undefined })).status).toBe(409)
    expect(await rowsOf(payer)).toHaveLength(1)
    expect(await spent(payer)).toBe(0n)
  })

  test('both proxies share the nonces of a payer', async () => {
    const payer = await newPayer()
    const nonce = 7n
    expect((await send(meter('a'), await signPermit(payer, await quote(meter('a')), { nonce }))).status).toBe(200)
    const again = await signPermit(payer, await quote(echo('a')), { nonce, scheme: 'exact' })
    expect((await send(echo('a'), again)).status).toBe(409)
    expect(await spent(payer)).toBe(100n)
  })
})

describe('a permit for something else buys nothing', () => {
  const stranger = privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Address
  const now = () => BigInt(Math.floor(Date.now() / 1000))
  test.each<[string, () => PermitOptions, number]>([
    ['a lower maximum', () => ({ amount: 19_999n }), 402],
    ['a higher maximum', () => ({ amount: 20_001n }), 402],
    ['another recipient', () => ({ to: stranger }), 402],
    ['another token', () => ({ token: stranger }), 402],
    ['another facilitator', () => ({ facilitator: stranger }), 402],
    ['another spender', () => ({ spender: permit2Proxies.exact }), 400],
    ['another chain', () => ({ chainId: 137 }), 402],
    ['a broken signature', () => ({ signature: () => `0x${'22'.repeat(65)}` }), 402],
    ['past its deadline', () => ({ deadline: now() - 1n }), 402],
    ['valid for too long', () => ({ deadline: now() + 3_600n }), 402],
    ['not valid yet', () => ({ validAfter: now() + 60n }), 402],
  ])('%s', async (_what, made, status) => {
    const payer = await newPayer()
    const answer = await send(meter('abc'), await signPermit(payer, await quote(meter('abc')), made()))
    expect(answer.status).toBe(status)
    expect(await rowsOf(payer)).toEqual([])
    expect(await spent(payer)).toBe(0n)
  })

  test('without an allowance the buyer learns what is missing', async () => {
    const payer = await newPayer(19_999n)
    const answer = await send(meter('abc'), await signPermit(payer, await quote(meter('abc'))))
    expect([answer.status, await answer.json()]).toMatchObject([402, { reason: 'permit2_allowance_required' }])
    expect(await rowsOf(payer)).toEqual([])
  })
})

describe('between verification and settlement', () => {
  test('an allowance that is taken away buys nothing and costs nothing', async () => {
    const payer = await newPayer()
    beforeSettling = () => sendTransaction(till.base, payer, { to: till.base.usdc, data: approvePermit2(0n) })
    const answer = await send(meter('abc'), await signPermit(payer, await quote(meter('abc'))))
    expect(answer.status).toBe(402)
    expect(await rowsOf(payer)).toMatchObject([{ state: 'failed' }])
    expect(await spent(payer)).toBe(0n)
  })

  test('a permit that is cancelled buys nothing', async () => {
    const payer = await newPayer()
    const nonce = BigInt(`0x${randomBytes(32).toString('hex')}`)
    beforeSettling = () => sendTransaction(till.base, payer, { to: permit2Address, data: cancelPermit(nonce) })
    const answer = await send(meter('abc'), await signPermit(payer, await quote(meter('abc')), { nonce }))
    expect([402, 503]).toContain(answer.status)
    expect(await answer.text()).not.toContain('characters')
    expect(await spent(payer)).toBe(0n)
  })

  test('a permit that is cancelled in a block with another transfer of its payer comes to an end', async () => {
    const payer = await newPayer()
    const nonce = BigInt(`0x${randomBytes(32).toString('hex')}`)
    beforeSettling = async () => {
      await till.base.control.holdMining()
      await sendTransaction(till.base, payer, { to: permit2Address, data: cancelPermit(nonce) })
      await sendTransaction(till.base, payer, { to: till.base.usdc, data: transferOf(permit2Address, 300n) })
      await till.base.control.releaseMining()
    }
    const answer = await send(meter('abc'), await signPermit(payer, await quote(meter('abc')), { nonce }))
    expect([402, 503]).toContain(answer.status)
    const jobs = await till.startAnother({ ...options, jobs: true })
    await vi.waitFor(async () => expect(await rowsOf(payer)).toMatchObject([{ state: 'failed' }]), 60_000)
    await jobs.stop()
    expect(await spent(payer)).toBe(300n)
  })

  test('a permit of exact that a stranger carries is the payment all the same', async () => {
    const payer = await newPayer()
    const stranger = await newPayer(0n)
    beforeSettling = async (payment) => {
      if (!isPermit2(payment)) throw new Error('not a permit')
      return sendTransaction(till.base, stranger, { to: permit2Proxies.exact, data: permit2Call(payment) })
    }
    const payload = await signPermit(payer, await quote(echo('carried')), { scheme: 'exact' })
    expect((await send(echo('carried'), payload)).status).toBe(200)
    expect(await rowsOf(payer)).toMatchObject([{ state: 'served', charged: 1_000n }])
    expect(await spent(payer)).toBe(1_000n)
  })

  test('permits that were carried without a sale are credit: of exact before it came, of upto that was charged nothing', async () => {
    const [payer, free] = [await newPayer(), await newPayer()]
    const stranger = await newPayer(0n)
    const url = echo('before')
    const payload = await signPermit(payer, await quote(url), { scheme: 'exact' })
    const call = permit2Call(carriedPermit(payload, 'exact', 1_000n))
    await sendTransaction(till.base, stranger, { to: permit2Proxies.exact, data: call })
    expect((await send(url, payload)).status).toBe(409)
    const unused = await signPermit(free, await quote(meter()))
    expect((await send(meter(), unused)).status).toBe(200)
    // By the facilitator that it names, until its deadline.
    const later = await carrier?.settle(carriedPermit(unused, 'upto', 5_000n), new AbortController().signal)
    expect([later?.status, await spent(free)]).toEqual(['submitted', 5_000n])
    const jobs = await till.startAnother({ ...options, jobs: true })
    await vi.waitFor(async () => expect(await rowsOf(payer)).toMatchObject([{ state: 'credited' }]), 60_000)
    const credit = accounts.credit('eip155:8453', free.address.toLowerCase() as Address)
    await vi.waitFor(async () => expect(await owedTo(till.db.owner, credit)).toBe(5_000n), 60_000)
    await jobs.stop()
    expect((await send(url, payload)).status).toBe(409)
    expect((await send(meter(), unused)).status).toBe(409)
    expect([await spent(payer), await spent(free)]).toEqual([1_000n, 5_000n])
  })

  test('nobody but the wallet of the quote can carry a permit of upto', async () => {
    const payer = await newPayer()
    const stranger = await newPayer(0n)
    beforeSettling = async (payment) => {
      if (!isPermit2(payment)) throw new Error('not a permit')
      return sendTransaction(till.base, stranger, { to: permit2Proxies.upto, data: permit2Call(payment) })
    }
    const payload = await signPermit(payer, await quote(meter('abc')))
    expect((await send(meter('abc'), payload)).status).toBe(200)
    expect(await spent(payer)).toBe(300n)
  })
})

test.each(['exact', 'upto'] as const)(
  'a process that dies between settling %s and serving is recovered, and the books equal the chain',
  async (scheme) => {
    const payer = await newPayer()
    const dyingDatabase = createDyingDatabase()
    const facilitator = (real: Facilitator): Facilitator => ({
      ...real,
      settle: async (...given) => {
        const outcome = await real.settle(...given)
        dyingDatabase.die()
        return outcome
      },
    })
    const first = await till.startAnother({ ...options, intercept: { database: dyingDatabase.intercept, facilitator } })
    const url = scheme === 'upto' ? meter('abc', first) : `${first.url}${echoPath}?message=dies`
    const charged = scheme === 'upto' ? 300n : 1_000n
    expect((await send(url, await signPermit(payer, await quote(url), { scheme }))).status).toBe(503)
    expect(await rowsOf(payer)).toMatchObject([{ state: 'settling', charged }])
    await dyingDatabase.dropLocks()
    const jobs = await till.startAnother({ ...options, jobs: true })
    await vi.waitFor(async () => expect(await rowsOf(payer)).toMatchObject([{ state: 'served', charged }]), 60_000)
    expect(await spent(payer)).toBe(charged)
    await vi.waitFor(async () => {
      const { rows } = await till.db.owner.query(
        `select posted_as, final from transfer where sender = $1 and recipient = $2`,
        [payer.address.toLowerCase(), till.node.config.payTo],
      )
      expect(rows).toEqual([{ posted_as: 'payment', final: true }])
    }, 60_000)
    await jobs.stop()
  },
)
