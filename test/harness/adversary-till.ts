import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect } from 'vitest'
import type { FacilitatorFault } from '../../packages/conformance/src/facilitator/index.ts'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type Devnet, demoAccount } from '../../packages/till/src/devnet/index.ts'
import { type Clock, systemClock } from '../../packages/till/src/kernel/clock.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createChainRecord, scanTransfers } from './chain-transfers.ts'
import { checkTransfers, checkTransfersWhenIdle } from './check-transfers.ts'
import { hostileFacilitator } from './hostile-facilitator.ts'
import { creditOf, expectSoundBooks } from './invariants.ts'
import { createTestShop, type TestShop } from './test-shop.ts'
import {
  type FixtureOptions,
  openTill,
  type Payload,
  quote,
  type SignOptions,
  send,
  signPayment,
  type TillFixture,
} from './till-fixture.ts'
import { transferPlainly } from './wallets.ts'

type JobName = 'payments.recover' | 'payments.finality' | 'payments.reconcile'

/** A node whose facilitator and buyers are hostile. Its jobs run only when a test asks, in the time the test sets. */
export type AdversaryTill = {
  till: TillFixture
  shop: TestShop
  /** For the next settlements, one each. */
  faults: FacilitatorFault[]
  /** Runs while the next settlement is under way, before the facilitator does anything. */
  whileSettling(work: () => Promise<unknown>): void
  /** Settles what the facilitator postponed. */
  settleLate(): Promise<void>
  at(path: string): string
  sign(buyer: PrivateKeyAccount, path: string, options?: SignOptions): Promise<Payload>
  buy(buyer: PrivateKeyAccount, path: string): Promise<Response>
  /** So much time passes on the chain and for the node, and a block is mined. */
  pass(seconds: number): Promise<void>
  /** Runs these jobs once each, in order; without names recovery, finality and reconciliation. */
  work(...names: JobName[]): Promise<void>
  /** The payments of a wallet, oldest first. */
  paymentsOf(payer: string): Promise<{ id: string; state: string; reason: string | null }[]>
  creditOf(payer: string): Promise<bigint>
  alarms(): Promise<Record<string, number>>
}

const allJobs: readonly JobName[] = ['payments.recover', 'payments.finality', 'payments.reconcile']

/** At the end everything reaches its own end; then books and chain must agree, transfer by transfer. */
export async function useAdversaryTill(
  options: Pick<FixtureOptions, 'env'> & Interceptors = {},
): Promise<AdversaryTill> {
  const { env, ...intercept } = options
  const shop = createTestShop()
  let aheadMs = 0
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  }
  const rounds = new Map<string, () => Promise<void>>()
  const hostile = createFacilitatorFaults(() => till.base)
  const record = createChainRecord()
  const till: TillFixture = await openTill({
    ownShops: 'till',
    shops: [shop.open],
    clock,
    ...(env === undefined ? {} : { env }),
    intercept: {
      ...intercept,
      job: (name, round) => {
        rounds.set(name, round)
        return async () => {}
      },
      facilitator: hostile.facilitator,
    },
  })
  const books = { sql: till.db.owner, chains: [till.base, till.polygon], record }
  const at = (path: string) => `${till.node.url}${path}`
  const sign: AdversaryTill['sign'] = async (buyer, path, given = {}) => {
    const validBefore = BigInt(Math.floor(clock.nowMs() / 1_000) + 55)
    return signPayment(buyer, await quote(at(path)), { validBefore, ...given })
  }
  const pass = async (seconds: number) => {
    await scanTransfers(books.chains, record)
    aheadMs += seconds * 1_000
    for (const { control } of [till.base, till.polygon]) {
      control.advanceTime(seconds)
      await control.mine(1)
    }
  }
  const work = async (...names: JobName[]) => {
    for (const name of names.length === 0 ? allJobs : names) {
      // What was read recently is remembered for less than this.
      await pass(1)
      await rounds.get(name)?.()
    }
  }
  const self: AdversaryTill = {
    ...{ till, shop, at, sign, pass, work },
    ...{ faults: hostile.faults, whileSettling: hostile.whileSettling, settleLate: hostile.settleLate },
    buy: async (buyer, path) => send(at(path), await sign(buyer, path)),
    ...readsOf(till),
  }
  afterAll(async () => {
    await resumeMining(till)
    await pass(700)
    for (let round = 0; round < 3; round += 1) await work()
    await checkTransfersWhenIdle(books)
    await expectSoundBooks(till)
    await till.close()
  })
  // The books are opened before anybody moves money.
  await work('payments.reconcile')
  await checkTransfers(books)
  return self
}

async function resumeMining({ base, polygon }: TillFixture): Promise<void> {
  for (const { control } of [base, polygon]) {
    control.setFinalityLag(0)
    await control.releaseMining()
  }
}

/** A payment that was claimed and released, for its answer could not be made. */
export async function releasedPayment(given: AdversaryTill, path: string) {
  const buyer = await given.till.newBuyer()
  const payload = await given.sign(buyer, path)
  given.shop.prepareFails = new Error('the answer cannot be made')
  await send(given.at(path), payload)
  given.shop.prepareFails = undefined
  return { buyer, payload }
}

/** A facilitator with set faults, and what happens while it settles. */
function createFacilitatorFaults(base: () => Devnet) {
  const faults: FacilitatorFault[] = []
  const postponed: (() => Promise<void>)[] = []
  let meanwhile: (() => Promise<unknown>) | undefined
  const facilitator: NonNullable<Interceptors['facilitator']> = (real) => {
    const hostile = hostileFacilitator(real, {
      faults,
      rng: systemRng,
      hang: () => new Promise(() => {}),
      late: (settle) => void postponed.push(settle),
      sendReverting: () =>
        transferPlainly(base(), privateKeyToAccount(demoAccount('affiliate').privateKey), base().usdc, 10n ** 30n),
    })
    return {
      ...hostile,
      settle: async (payment, signal) => {
        const work = meanwhile
        meanwhile = undefined
        await work?.()
        return hostile.settle(payment, signal)
      },
    }
  }
  return {
    faults,
    facilitator,
    whileSettling: (work: () => Promise<unknown>) => {
      meanwhile = work
    },
    settleLate: async () => {
      for (const settle of postponed.splice(0)) await settle()
    },
  }
}

const readsOf = (till: TillFixture): Pick<AdversaryTill, 'paymentsOf' | 'creditOf' | 'alarms'> => ({
  paymentsOf: async (payer) => {
    const { rows } = await till.db.owner.query<{ id: string; state: string; reason: string | null }>(
      `select id, state, reason from payment where payer = $1 order by claimed_at, id`,
      [payer.toLowerCase()],
    )
    return rows
  },
  creditOf: (payer) => creditOf(till, payer),
  alarms: async () => {
    const text = await (await fetch(`${till.node.address}/metrics`)).text()
    const found = [...text.matchAll(/^\w*alarms\w*\{[^}]*alarm="(\w+)"[^}]*\} (\d+)/gm)]
    return Object.fromEntries(found.map(([, name, count]) => [name, Number(count)]))
  },
})

export const nonceOf = (payload: Payload): Hex => payload.payload.authorization['nonce'] as Hex
export const lower = (account: PrivateKeyAccount): Address => account.address.toLowerCase() as Address

/** The counters of alarms that `work` raised. */
export async function alarmsRaised(till: AdversaryTill, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await till.alarms()
  await work()
  const after = await till.alarms()
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, count]) => {
      const raised = count - (before[name] ?? 0)
      return raised > 0 ? [[name, raised]] : []
    }),
  )
}

/** Status and problem code of an answer; a problem about a payment that is known names where it can be followed. */
export async function expectAnswer(
  response: Response,
  status: number,
  code?: string,
): Promise<{ status_url?: string }> {
  const body = (await response.json()) as { code?: string; status_url?: string }
  expect([response.status, body.code]).toEqual([status, code])
  return body
}
