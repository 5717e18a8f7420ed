import { checksumAddress } from '@assay/protocol/address'
import { describe, expect, it } from 'vitest'
import { knownNetworks, type Network } from '../../chain/index.ts'
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import type { FacilitatorPayment, SettleOutcome, VerifyOutcome } from '../../contract/facilitator.ts'
import { systemClock } from '../../kernel/clock.ts'
import { createIds } from '../../kernel/ids.ts'
import { systemRng } from '../../kernel/random.ts'
import { useTestDatabase } from '../../store/use-database.fixture.ts'
import { cdpFeeMicro, countSettlement } from '../cdp/facilitator-usage.ts'
import { facilitatorBody } from '../http/payment-wire.ts'
import { paymentOf, shopAddress } from '../local/local.fixture.ts'
import type { LocalFacilitator } from '../local/local-facilitator.ts'
import { defaultFacilitatorBudget, deleteBudgets } from './facilitator-budget.ts'
import {
  type FacilitatorServiceDeps,
  settleForOthers,
  supportedForOthers,
  verifyForOthers,
} from './facilitator-service.ts'
import { facilitatorRequestSchema } from './service-schemas.ts'

const network = knownNetworks[0] as Network
const token = 'a-token-that-only-the-operator-and-its-friends-know'
const hash = `0x${'ef'.repeat(32)}` as const

const store = await useTestDatabase({ poolSize: 4 })

let seen: FacilitatorPayment[] = []
function service(
  outcome: SettleOutcome | VerifyOutcome,
  overrides: Partial<FacilitatorServiceDeps> = {},
): FacilitatorServiceDeps {
  seen = []
  const answer = async (payment: FacilitatorPayment) => {
    seen.push(payment)
    return outcome as never
  }
  const facilitator: LocalFacilitator = {
    name: 'local',
    carries: () => true,
    pending: () => 0,
    verify: answer,
    settle: answer,
    supported: async () => ({
      kinds: [{ x402Version: 2, scheme: 'exact', network: network.caip2 }],
      signers: { 'eip155:*': ['0x1'] },
    }),
  }
  return {
    facilitator,
    networks: [network],
    ownPayees: new Set(),
    ownWallets: new Set(),
    token,
    budget: defaultFacilitatorBudget,
    sql: store.database,
    clock: systemClock,
    ids: createIds(systemClock, systemRng),
    isPaused: () => false,
    ...overrides,
  }
}

const caller = (authorization: string | undefined = `Bearer ${token}`) => ({
  authorization,
  remoteAddress: '192.0.2.1',
  signal: new AbortController().signal,
})
const requestOf = (payment: FacilitatorPayment) => facilitatorRequestSchema.parse(JSON.parse(facilitatorBody(payment)))
const fresh = () => paymentOf(network, testPayer(Buffer.from(systemRng.bytes(8)).toString('hex')))
const submitted: SettleOutcome = { status: 'submitted', transaction: hash, feeMicro: 0n, gasGwei: 5n }

describe('settling for others', () => {
  it('hands the bare authorization to the wallet and answers as x402 says', async () => {
    const costs: unknown[] = []
    const payment = fresh()
    const deps = service(submitted, { onGas: async (cost) => void costs.push(cost) })
    expect(await settleForOthers(deps, caller(), requestOf(payment))).toEqual({
      success: true,
      payer: checksumAddress(payment.authorization.from),
      transaction: hash,
      network: network.caip2,
      amount: '1000',
    })
    const wire = (one: FacilitatorPayment | undefined) => one && JSON.parse(facilitatorBody(one))
    expect(wire(seen[0])).toEqual(wire(payment))
    expect(costs).toEqual([{ id: seen[0]?.paymentId, network: network.caip2, gasGwei: 5n }])
  })

  it.each([
    [undefined],
    ['Bearer wrong'],
    [`Basic ${token}`],
    [`Bearer ${token}x`],
    ['Bearer '],
    [`Bearer ${'x'.repeat(10_000)}`],
  ])('asks for the token: %s', async (authorization) => {
    const deps = service(submitted)
    await expect(settleForOthers(deps, { ...caller(), authorization }, requestOf(fresh()))).rejects.toMatchObject({
      code: 'proof_required',
    })
    expect(seen).toEqual([])
  })

  it('stops when the operator has switched it off', async () => {
    await expect(
      settleForOthers(service(submitted, { isPaused: () => true }), caller(), requestOf(fresh())),
    ).rejects.toMatchObject({ code: 'not_available' })
  })

  it('never settles to the addresses of this node', async () => {
    for (const overrides of [{ ownPayees: new Set([shopAddress]) }, { ownWallets: new Set([shopAddress]) }]) {
      const answer = await settleForOthers(service(submitted, overrides), caller(), requestOf(fresh()))
      expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment_requirements' })
      expect(seen).toEqual([])
    }
  })

  it.each([
    ['another asset', { asset: '0x1111111111111111111111111111111111111111' as const }, 'invalid_payment_requirements'],
    ['another network', { network: 'eip155:1' }, 'invalid_network'],
  ])('refuses %s', async (_, change, reason) => {
    const answer = await settleForOthers(service(submitted), caller(), requestOf({ ...fresh(), ...change }))
    expect(answer).toMatchObject({ success: false, errorReason: reason, transaction: '' })
    expect(seen).toEqual([])
  })

  it('refuses another scheme', async () => {
    const request = requestOf(fresh())
    request.paymentRequirements.scheme = 'upto'
    expect(await settleForOthers(service(submitted), caller(), request)).toMatchObject({
      errorReason: 'unsupported_scheme',
    })
  })

  it('reports what is not known as pending, with the hash', async () => {
    const deps = service({ status: 'unknown', reason: 'timeout', transaction: hash })
    expect(await settleForOthers(deps, caller(), requestOf(fresh()))).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: hash,
    })
  })

  it('limits each payer and each caller, over all processes', async () => {
    const budget = { ...defaultFacilitatorBudget, settlesPerPayerPerHour: 2 }
    const payment = fresh()
    const settle = () =>
      settleForOthers(service(submitted, { budget }), { ...caller(), remoteAddress: '192.0.2.7' }, requestOf(payment))
    await settle()
    await settle()
    await expect(settle()).rejects.toMatchObject({ code: 'rate_limited' })
    const perAddress = { ...defaultFacilitatorBudget, settlesPerAddressPerHour: 1 }
    const from = { ...caller(), remoteAddress: '192.0.2.8' }
    await settleForOthers(service(submitted, { budget: perAddress }), from, requestOf(fresh()))
    await expect(
      settleForOthers(service(submitted, { budget: perAddress }), from, requestOf(fresh())),
    ).rejects.toMatchObject({ code: 'rate_limited' })
  })

  it('limits the gas that failed settlements of a payer may cost', async () => {
    const budget = { ...defaultFacilitatorBudget, lostGweiPerHour: 10n }
    const payment = fresh()
    const from = { ...caller(), remoteAddress: '192.0.2.9' }
    const failing = service(
      { status: 'refused', reason: 'insufficient_funds', payloadSent: false, gasGwei: 10n },
      { budget },
    )
    expect(await settleForOthers(failing, from, requestOf(payment))).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
    })
    await expect(settleForOthers(failing, from, requestOf(payment))).rejects.toMatchObject({ code: 'rate_limited' })
    await deleteBudgets(store.database, systemClock.nowMs() + 2 * 86_400_000)
    expect(await settleForOthers(failing, from, requestOf(payment))).toMatchObject({ success: false })
  })
})

describe('verifying for others', () => {
  it.each([
    [{ status: 'valid' }, { isValid: true }],
    [
      { status: 'invalid', reason: 'insufficient_funds' },
      { isValid: false, invalidReason: 'insufficient_funds' },
    ],
  ] as const)('answers %o', async (outcome, answer) => {
    expect(await verifyForOthers(service(outcome), caller(), requestOf(fresh()))).toMatchObject(answer)
  })

  it('is 503 when it could not check', async () => {
    const deps = service({ status: 'could_not_check', reason: 'rpc' })
    await expect(verifyForOthers(deps, caller(), requestOf(fresh()))).rejects.toMatchObject({ status: 503 })
  })
})

describe('the request of others', () => {
  it('is cut to what is known, and refused where a value has not the right form', () => {
    const good = JSON.parse(facilitatorBody(fresh()))
    const parsed = facilitatorRequestSchema.parse({
      ...good,
      paymentPayload: { ...good.paymentPayload, extensions: { evil: 1 } },
    })
    expect(JSON.stringify(parsed)).not.toContain('evil')
    for (const amount of ['0', '-1', '1.5', '1e3', '٣', '99999999999999999999', 5])
      expect(
        facilitatorRequestSchema.safeParse({ ...good, paymentRequirements: { ...good.paymentRequirements, amount } })
          .success,
      ).toBe(false)
    expect(facilitatorRequestSchema.safeParse({ ...good, x402Version: 1 }).success).toBe(false)
  })

  it('learns what is supported', async () => {
    expect(await supportedForOthers(service(submitted), new AbortController().signal)).toMatchObject({
      extensions: [],
      kinds: [{ scheme: 'exact' }],
    })
  })
})

describe('settlements of a month', () => {
  it('are counted per facilitator and month, exactly under concurrency', async () => {
    const january = { ...systemClock, nowMs: () => Date.UTC(2030, 0, 31, 23, 59) }
    const numbers = await Promise.all(Array.from({ length: 20 }, () => countSettlement(store.database, 'cdp', january)))
    expect(numbers.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    const february = { ...systemClock, nowMs: () => Date.UTC(2030, 1, 1) }
    expect(await countSettlement(store.database, 'cdp', february)).toBe(1n)
    expect(await countSettlement(store.database, 'other', january)).toBe(1n)
  })

  it('cost from the one after the free allowance on', () => {
    expect([1_000n, 1_001n].map((number) => cdpFeeMicro(number, 1_000n))).toEqual([0n, 1_000n])
  })
})
