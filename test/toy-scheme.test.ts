import { randomBytes } from 'node:crypto'
import { concatHex, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { OpenShop } from '../packages/node/src/http/index.ts'
import { type Address, parseAddress } from '../packages/protocol/src/address.ts'
import { isHex } from '../packages/protocol/src/bytes.ts'
import type { ChainPort, ChainTransfer, SettlementEvidence } from '../packages/till/src/chain/index.ts'
import type { ClaimedTransfer, ClaimKey, Scheme } from '../packages/till/src/contract/scheme.ts'
import { fromHex } from '../packages/till/src/kernel/bytes.ts'
import { keccak256 } from '../packages/till/src/kernel/keccak.ts'
import { recoverAddress } from '../packages/till/src/kernel/secp256k1.ts'
import { termsForAmount } from '../packages/till/src/schemes/match-offer.ts'
import { own, uint } from '../packages/till/src/schemes/read-fields.ts'
import type { Database, HeldLock } from '../packages/till/src/store/database.ts'
import { StoreUnavailable } from '../packages/till/src/store/errors.ts'
import { authorizationSecondsMax } from '../packages/till/src/store/restore.ts'
import { expectSoundBooks, spentOnChain } from './harness/invariants.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import {
  buy,
  decodeHeader,
  type FixtureOptions,
  openTill,
  type PaymentRequired,
  quote,
  send,
  type TillFixture,
} from './harness/till-fixture.ts'

/**
 * A payment scheme in one file, registered by one line. The payer approves the collector once, and for each purchase
 * signs a key, a maximum and the request; the collector then pulls what the answer costs with `transferFrom` and writes
 * the key behind the call. (The token does not guard the key, so this is nothing for real money.)
 */
type Pull = { maximum: bigint; signature: Hex }
type Request = (method: string, params: unknown[]) => Promise<unknown>

const abi = parseAbi([
  'function approve(address,uint256)',
  'function transferFrom(address,address,uint256)',
  'function allowance(address,address) view returns (uint256)',
])
const collector = privateKeyToAccount(generatePrivateKey())
const keyLength = 64
const callLength = 2 + 8 + 3 * 64

const digestOf = (parts: readonly (string | bigint)[]) => keccak256(Buffer.from(parts.join('\n')))
const invalid = (reason: string, detail = reason) => ({ status: 'invalid', reason, detail }) as const

function createPullScheme(request: Request, collect: (data: Hex) => Promise<Hex>): Scheme<Pull> {
  /** What stands behind the arguments of the call that made a transfer. */
  const keyIn = async (transaction: Hex): Promise<Hex | undefined> => {
    const { input = '0x' } = ((await request('eth_getTransactionByHash', [transaction])) ?? {}) as { input?: Hex }
    return input.length === callLength + keyLength ? `0x${input.slice(-keyLength)}` : undefined
  }
  const carriedIn = async (chain: ChainPort, { payer, paymentKey }: ClaimKey, transaction: Hex) =>
    (await keyIn(transaction)) === paymentKey
      ? (await chain.transfersIn(transaction).catch(() => [])).find(({ sender }) => sender === payer)
      : undefined
  const search = async (chain: ChainPort, key: ClaimKey, from: bigint, to: bigint) => {
    for (const { transaction } of await chain.transferLogs(key.payer, from, to)) {
      const transfer = await carriedIn(chain, key, transaction)
      if (transfer) return transfer
    }
    return undefined
  }
  const judge = (claim: ClaimedTransfer, transfer: ChainTransfer): SettlementEvidence =>
    transfer.recipient === claim.payTo && transfer.amountMicro === claim.amountMicro
      ? { ...transfer, status: 'confirmed', gasGwei: 0n }
      : { status: 'used_otherwise', transfer }
  const headOf = async (chain: ChainPort) => (await chain.head()).number
  const isUsed: Scheme['evidence']['isUsed'] = async (chain, key, at) =>
    (await search(chain, key, 0n, at === 'latest' ? await headOf(chain) : at)) !== undefined
  return {
    id: 'pull',
    name: 'pull',
    chargesLess: true,
    takes: (network) => network === 'eip155:8453',
    offer: ({ network, asset, payTo, amountMicro, maxTimeoutSeconds }) => ({
      scheme: 'pull',
      network: network.caip2,
      amount: amountMicro.toString(),
      asset,
      payTo,
      maxTimeoutSeconds,
      extra: { collector: collector.address },
    }),
    decode(envelope) {
      const { payload, payTo, network } = envelope
      const payer = parseAddress(own(payload, 'payer'))
      const [key, signature] = [own(payload, 'key'), own(payload, 'signature')]
      const [maximum, validBefore] = [uint(own(payload, 'maximum')), uint(own(payload, 'validBefore'))]
      if (!payer || !payTo || !isHex(key, 32) || !isHex(signature, 65))
        return { status: 'malformed', detail: 'payload' }
      if (maximum === undefined || validBefore === undefined) return { status: 'malformed', detail: 'amounts' }
      return {
        status: 'ok',
        payment: { envelope, network, payer, paymentKey: key, payTo, validBefore, signed: { maximum, signature } },
      }
    },
    match({ envelope, network, payTo, signed }, call, current, offers) {
      const terms = current.find((one) => one.network.caip2 === network && one.payTo === payTo)
      const priced = terms && termsForAmount(envelope, call, terms, offers)
      if (!priced || signed.maximum !== priced.amountMicro) return invalid('pull_terms')
      if (envelope.resourceUrl === undefined) return invalid('pull_resource', 'The payment must name its resource.')
      return { status: 'ok', terms: priced }
    },
    // However long it is valid: the gate has a limit for every scheme.
    checkWindow: ({ validBefore }, _terms, now) =>
      validBefore > BigInt(now + 5) ? { status: 'valid' } : invalid('pull_window'),
    async checkSignature({ envelope, network, payer, paymentKey, payTo, validBefore, signed }) {
      const digest = digestOf([network, payTo, signed.maximum, validBefore, paymentKey, envelope.resourceUrl ?? ''])
      return recoverAddress(digest, fromHex(signed.signature)) === payer
        ? { status: 'valid', by: 'key', digest }
        : invalid('pull_signature')
    },
    async readFunds({ payment }, chain) {
      const { payer } = payment
      const data = encodeFunctionData({ abi, functionName: 'allowance', args: [payer, collector.address] })
      const allowed = BigInt((await request('eth_call', [{ to: chain.network.usdc.address, data }, 'latest'])) as Hex)
      const balance = await chain.usdcBalance(payer)
      return {
        status: 'ok',
        balanceMicro: allowed < balance ? allowed : balance,
        used: await isUsed(chain, payment, 'latest'),
        payerIsKey: true,
      }
    },
    checkAgain: async ({ payment }, _chain, now) =>
      payment.validBefore > BigInt(now) ? { status: 'valid' } : { ...invalid('pull_window'), released: 'pull_late' },
    async settle(_verified, { payer, payTo, amountMicro, paymentKey }) {
      const args = [payer, payTo, amountMicro] as const
      const call = encodeFunctionData({ abi, functionName: 'transferFrom', args })
      return { status: 'submitted', transaction: await collect(concatHex([call, paymentKey])), feeMicro: 0n }
    },
    confirmsRefusal: async () => false,
    evidence: {
      isUsed,
      async byTransaction(chain, claim, transaction) {
        const transfer = await carriedIn(chain, claim, transaction)
        return transfer ? judge(claim, transfer) : { status: 'absent' }
      },
      async byKey(chain, claim, fromBlock) {
        const transfer = await search(chain, claim, fromBlock, await headOf(chain))
        return transfer ? judge(claim, transfer) : { status: 'absent' }
      },
      async useOf(chain, key, fromBlock) {
        const transfer = await search(chain, key, fromBlock, await headOf(chain))
        return transfer ? { status: 'transfer', transfer } : { status: 'absent' }
      },
      keyOf: ({ transaction }) => keyIn(transaction),
    },
    words: {
      reused: 'payment_used',
      usedBefore: 'pull_used',
      usedUp: 'The key is used up.',
      usedOtherwise: 'The key was used for something else.',
      usedForDust: 'The key was used for less than 0.001 USDC.',
      elsewhere: { reason: 'pull_elsewhere', detail: 'The key was used elsewhere.' },
      canceled: { reason: 'pull_canceled', detail: 'The key was cancelled.' },
      expired: 'pull_expired',
    },
  }
}

const quoted = 5_000n
const used = 1_200n
const path = '/test/metered'
const network = 'eip155:8453'
let prepared = 0

/** Quotes a maximum and charges what was used. */
const openMeteredShop: OpenShop = () => ({
  routes: [
    {
      id: 'test.metered',
      area: 'core',
      method: 'GET',
      path,
      summary: 'A test route that is metered',
      query: z.strictObject({ whole: z.string().optional() }),
      output: z.strictObject({ ok: z.boolean() }),
      example: { output: { ok: true } },
      next: '/',
      access: {
        kind: 'paid',
        price: { kind: 'fixed', micro: quoted },
        networks: [network],
        payee: 'pay_to',
        revocable: false,
        prepare: async ({ query }: { query: { whole?: string } }) => {
          prepared += 1
          return {
            answer: { status: 200, contentType: 'application/json', body: '{"ok":true}' },
            ...(query.whole === undefined ? { chargeMicro: used } : {}),
          }
        },
      },
    },
  ],
})

let till: TillFixture
const pull = createPullScheme(
  (method, params) => till.base.request(method, params),
  (data) => sendTransaction(till.base, collector, { to: till.base.usdc, data }),
)
const open: FixtureOptions = { ownShops: 'till', jobs: false, shops: [openMeteredShop], schemes: [pull] }

beforeAll(async () => {
  till = await openTill(open)
  await till.base.control.fund(collector.address.toLowerCase() as Address, { microUsdc: 0n })
})
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

async function newPayer(): Promise<PrivateKeyAccount> {
  const payer = await till.newBuyer()
  await till.base.control.fund(payer.address.toLowerCase() as Address, { microUsdc: 0n })
  const data = encodeFunctionData({ abi, functionName: 'approve', args: [collector.address, 1_000_000n] })
  await sendTransaction(till.base, payer, { to: till.base.usdc, data })
  return payer
}

async function signPull(payer: PrivateKeyAccount, offer: PaymentRequired, identifier?: string, seconds = 60) {
  const accepted = offer.accepts.find(({ scheme }) => scheme === 'pull')
  if (!accepted) throw new Error('the scheme is not offered')
  const key: Hex = `0x${randomBytes(32).toString('hex')}`
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + seconds)
  const { payTo, amount } = accepted
  const digest = digestOf([network, payTo.toLowerCase(), BigInt(amount), validBefore, key, offer.resource.url])
  const signature = await payer.sign({ hash: `0x${digest.toString('hex')}` })
  return {
    x402Version: 2,
    resource: offer.resource,
    accepted,
    payload: { payer: payer.address, key, maximum: amount, validBefore: validBefore.toString(), signature },
    ...(identifier === undefined ? {} : { extensions: { 'payment-identifier': { info: { id: identifier } } } }),
  }
}

const at = (query = '', node = till.node) => `${node.url}${path}${query}`

async function paymentsOf(payer: PrivateKeyAccount) {
  const { rows } = await till.db.owner.query(
    `select scheme, state, quoted_micro as quoted, amount_micro as charged from payment where payer = $1 order by claimed_at`,
    [payer.address.toLowerCase()],
  )
  return rows
}

async function transfersOf(payer: PrivateKeyAccount) {
  const { rows } = await till.db.owner.query(
    'select booked_as, tries > 0 as tried from transfer where sender = $1 and recipient = $2',
    [payer.address.toLowerCase(), till.node.config.payTo],
  )
  return rows
}

async function revenue(): Promise<bigint> {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(-sum(e.amount_micro), 0)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id
     where a.name = 'revenue:test.metered@eip155:8453'`,
  )
  return rows[0]?.micro ?? 0n
}

test('the 402 offers both schemes, exact first, and a signed offer for each', async () => {
  const response = await fetch(at())
  const header = response.headers.get('payment-required')
  const offer = decodeHeader<PaymentRequired>(header)
  expect(offer.accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'pull', 'credit'])
  expect(((await response.json()) as { offers: unknown[] }).offers).toHaveLength(2)
  expect(header?.length).toBeLessThan(3_072)
})

test('a purchase is served once; a copy of it gets nothing, here or for another request', async () => {
  const payer = await newPayer()
  const payload = await signPull(payer, await quote(at('?whole=1')))
  const before = prepared
  const answers = await Promise.all([1, 2, 3].map(() => send(at('?whole=1'), payload)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.any(Number), expect.any(Number)])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await send(at('?whole=1'), payload)).status).toBe(409)
  expect((await send(at('?whole=2'), payload)).status).toBe(409)
  expect(prepared).toBe(before + 1)
  expect(await paymentsOf(payer)).toEqual([{ scheme: 'pull', state: 'served', quoted, charged: quoted }])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(quoted)
})

test('a charge below the quote takes and books only the charge; exact takes what was quoted', async () => {
  const payer = await newPayer()
  const before = await revenue()
  const response = await send(at(), await signPull(payer, await quote(at())))
  expect(response.status).toBe(200)
  expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ amount: used.toString() })
  expect(await paymentsOf(payer)).toEqual([{ scheme: 'pull', state: 'served', quoted, charged: used }])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  expect((await revenue()) - before).toBe(used)
  const other = await till.newBuyer()
  expect((await buy(other, at())).status).toBe(200)
  expect(await spentOnChain(till, 'base', other.address)).toBe(quoted)
  expect((await revenue()) - before).toBe(used + quoted)
})

test('a signature for other terms, another payer or another request buys nothing', async () => {
  const payer = await newPayer()
  const offer = await quote(at())
  const payload = await signPull(payer, offer)
  const changed = (change: object) => ({ ...payload, payload: { ...payload.payload, ...change } })
  expect((await send(at(), changed({ maximum: '4999' }))).status).toBe(402)
  expect((await send(at(), changed({ payer: collector.address }))).status).toBe(402)
  expect((await send(at('?whole=1'), payload)).status).toBe(409)
  expect((await send(at(), changed({ key: '0x00' }))).status).toBe(400)
  expect(await paymentsOf(payer)).toEqual([])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(0n)
})

test('no scheme takes a payment that can be carried for longer than nothing is credited after a restore', async () => {
  const payer = await newPayer()
  const answer = await send(at(), await signPull(payer, await quote(at()), undefined, authorizationSecondsMax + 60))
  expect([answer.status, await paymentsOf(payer)]).toEqual([402, []])
})

test('a process that dies between settling and serving is recovered, and the books equal the chain', async () => {
  const payer = await newPayer()
  let dead = false
  const locks: HeldLock[] = []
  const dies = () => (dead ? Promise.reject(new StoreUnavailable('the process is dead')) : undefined)
  const database = (real: Database): Database => ({
    ...real,
    query: async (...given) => dies() ?? real.query(...given),
    transaction: async (...given) => dies() ?? real.transaction(...given),
    holdLock: async (key) => {
      const lock = await real.holdLock(key)
      locks.push(lock)
      return lock
    },
  })
  const dying: Scheme<Pull> = {
    ...pull,
    settle: async (...given) => {
      const outcome = await pull.settle(...given)
      dead = true
      return outcome
    },
  }
  const first = await till.startAnother({ ...open, schemes: [dying as Scheme], intercept: { database } })
  const identifier = `toy_${randomBytes(12).toString('hex')}`
  const payload = await signPull(payer, await quote(at('', first)), identifier)
  expect((await send(at('', first), payload)).status).toBe(503)
  expect(await paymentsOf(payer)).toMatchObject([{ state: 'settling', charged: used }])
  // Another process sees the transfer before anybody takes the payment over, and leaves it to the claim.
  await till.startAnother({ ...open, jobs: true })
  await vi.waitFor(async () => expect(await transfersOf(payer)).toEqual([{ booked_as: null, tried: true }]), 60_000)
  expect(await paymentsOf(payer)).toMatchObject([{ state: 'settling' }])
  // PostgreSQL drops the locks of a process that died.
  for (const lock of locks) await lock.release()
  await vi.waitFor(async () => expect(await paymentsOf(payer)).toMatchObject([{ state: 'served' }]), 60_000)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  // At the same address, for the resource that was paid for has it.
  await first.stop()
  const again = await till.startAnother({ ...open, env: { PORT: new URL(first.url).port } })
  expect((await send(at('', again), payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(used)
  await vi.waitFor(async () => {
    const { rows } = await till.db.owner.query<{ open: bigint }>(
      `select count(*) as open from transfer where recipient = $1 and (booked_as <> 'payment' or not final)`,
      [till.node.config.payTo],
    )
    expect(rows[0]?.open).toBe(0n)
  }, 60_000)
})
