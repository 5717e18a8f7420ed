import type { Address } from '@assay/protocol/address'
import { afterEach, beforeEach, expect } from 'vitest'
import { type ChainPort, createRpc, type Rpc } from '../chain/index.ts'
import type { SettlementWallets } from '../chain/wallet/index.ts'
import { open, useWallets, world } from '../chain/wallet/use-wallets.fixture.ts'
import { alarmsInto, testChain, testKey } from '../chain/wallet/wallet.fixture.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, credit, debit, post, trialBalance } from '../ledger/index.ts'
import type { TestDatabase } from '../store/testing.ts'
import { createCustodyKey } from './custody-key.ts'
import { type PayoutDeps, parsePayoutPolicy } from './index.ts'

export const base = 'eip155:8453'
export const ids = createIds(systemClock, systemRng)

/** One chain and one database for a file; a custody wallet, payees and its own purpose for each test in it. */
export const books = {} as {
  number: number
  custody: ReturnType<typeof createCustodyKey>
  chain: ChainPort
  rpc: Rpc
  wallets: SettlementWallets
  payees: Address[]
  purpose: string
  /** Alarms since the test began. */
  alarms: string[]
}

export function usePayouts(): void {
  useWallets()
  books.number = 0
  beforeEach(async () => {
    books.number += 1
    // Its own purpose per test keeps their debts apart on the shared books.
    books.purpose = `share${books.number}`
    await declarePurpose(world.store, books.purpose)
    await declarePurpose(world.store, `${books.purpose}b`)
    books.alarms = []
    books.custody = createCustodyKey(testKey(`custody ${books.number}`).privateKey)
    books.rpc = createRpc([world.endpoint], { clock: systemClock })
    books.chain = testChain(world.network, books.rpc)
    books.wallets = open()
    await world.devnet.control.fund(books.custody.address, { microUsdc: 1_000_000_000n, wei: 0n })
    books.payees = Array.from({ length: 3 }, (_, index) => testKey(`payee ${books.number} ${index}`).address)
  })
  afterEach(async () => {
    world.devnet.control.setFinalityLag(0)
    await world.store.owner.query(`update restore_gap set reconciled_at = now() where reconciled_at is null`)
    await world.store.owner.query(`delete from custody_difference`)
    // What a test left open would be worked on in the next.
    await world.store.owner.query(`update payout set state = 'returned' where state not in ('paid', 'returned')`)
    const { sumByUnit } = await trialBalance(world.store.database)
    for (const sum of Object.values(sumByUnit)) expect(sum).toBe(0n)
  })
}

/** What the migration of a shop does for the purposes that it pays out. */
export async function declarePurpose({ owner }: Pick<TestDatabase, 'owner'>, purpose: string): Promise<void> {
  await owner.query('insert into ledger_purpose (purpose, paid_out) values ($1, true) on conflict do nothing', [
    purpose,
  ])
}

export function payouts(changes: Partial<PayoutDeps> = {}, sender: SettlementWallets = books.wallets): PayoutDeps {
  const { alarms, chain, rpc, custody, purpose } = books
  return {
    database: world.store.database,
    clock: systemClock,
    ids,
    log: silentLog,
    metrics: alarmsInto(alarms),
    policy: parsePayoutPolicy(),
    chains: [{ chain, rpc, key: custody, wallets: sender }],
    purposes: [{ purpose }],
    isPaused: async () => false,
    ...changes,
  }
}

/** A debt to a payee, with the money for it at the custody wallet from the start. */
export async function owe(payee: Address, micro: bigint, purpose = books.purpose): Promise<void> {
  await post(world.store.database, [
    {
      reference: `owe:${purpose}:${payee}:${ids.next('t')}`,
      kind: 'opening',
      lines: [debit(accounts.onchain(base, 'custody'), micro), credit(accounts.payable(base, payee, purpose), micro)],
    },
  ])
}

export const received = async (payee: Address) => books.chain.usdcBalance(payee)
export const states = async () => {
  const { rows } = await world.store.database.query<{ state: string; reason: string | null }>(
    `select state, reason from payout where purpose = $1 order by created_at, payee`,
    [books.purpose],
  )
  return rows
}
export const paidCount = async () => (await states()).filter(({ state }) => state === 'paid').length
export const transactions = async () => {
  const { rows } = await world.store.database.query<{ n: bigint }>(
    `select count(distinct transaction) as n from payout where purpose = $1 and state = 'paid'`,
    [books.purpose],
  )
  return rows[0]?.n
}
