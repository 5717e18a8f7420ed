import type { Address } from '../../packages/protocol/src/address.ts'
import type { Hex } from '../../packages/protocol/src/bytes.ts'
import { createRpc, type RpcEndpoint, topicAddress, topics } from '../../packages/till/src/chain/index.ts'
import {
  demoNetwork,
  devnetEndpoint,
  testChain,
  testHolder,
  testKey,
  testWallets,
} from '../../packages/till/src/chain/wallet/wallet.fixture.ts'
import { type Devnet, startDevnet } from '../../packages/till/src/devnet/index.ts'
import { type Clock, systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { accounts, credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import { createCustodyKey } from '../../packages/till/src/payouts/custody-key.ts'
import { type PayoutDeps, parsePayoutPolicy, runPayouts } from '../../packages/till/src/payouts/index.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import { tokenBalance } from '../harness/token-balance.ts'
import { createLife, type Life } from './payout-life.ts'

const purpose = 'proof'
const network8453 = 'eip155:8453'
const finalityLagBlocks = 2
/** A wallet that is quick to lose patience, on a chain that makes blocks at once. */
const limits = { pollMs: 10, rebroadcastMs: 40, stuckMs: 80, idleMs: 100, waitForWalletMs: 2_000 }

export type PayoutWorld = Awaited<ReturnType<typeof openPayoutWorld>>

/** The payouts of a node with real wallets, books and chain, and processes that die on request. */
export async function openPayoutWorld() {
  const db = await openTestDatabase()
  await db.owner.query('insert into ledger_purpose (purpose, paid_out) values ($1, true)', [purpose])
  const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
  const custody = testKey('custody of proofs')
  const settlers = [testKey('settler of proofs 1'), testKey('settler of proofs 2')]
  await devnet.control.fund(custody.address, { microUsdc: 10n ** 15n, wei: 0n })
  for (const { address } of settlers) await devnet.control.fund(address, { microUsdc: 0n })
  devnet.control.setFinalityLag(finalityLagBlocks)
  await devnet.control.mine(finalityLagBlocks + 1)
  const broadcast: Hex[] = []
  const start = () =>
    startProcess(
      db,
      devnet,
      custody.privateKey,
      settlers.map((one) => one.privateKey),
      broadcast,
    )
  let current = await start()
  let lives = 1
  let number = 0
  return {
    db,
    devnet,
    lives: () => lives,
    run: () => current.run(),
    dieAt: (call: number, when: 'before' | 'after') => current.life.dieAt(call, when),
    dieOn: (call: RegExp, when: 'before' | 'after') => current.life.dieOn(call, when),
    restart: async () => {
      await current.bury()
      current = await start()
      lives += 1
    },
    secondWorker: async () => {
      const other = await start()
      lives += 1
      return { run: other.run, end: other.bury }
    },
    /** New payees, each owed something. */
    owe: async (count: number) => {
      broadcast.length = 0
      const payees = Array.from({ length: count }, () => {
        number += 1
        return { address: testKey(`payee of proofs ${number}`).address, micro: BigInt(1_000 + number) }
      })
      await post(
        db.database,
        payees.map(({ address, micro }) => ({
          reference: `owe:${address}`,
          kind: 'opening',
          lines: [
            debit(accounts.onchain(network8453, 'custody'), micro),
            credit(accounts.payable(network8453, address, purpose), micro),
          ],
        })),
      )
      return payees
    },
    unpaid: async () => {
      const { rows } = await db.owner.query<{ what: string }>(
        `select a.name as what from ledger_account a join ledger_balance b on b.account_id = a.id
         where a.name like 'payable:${purpose}:%' and b.owed_micro > 0
         union all select id || ' ' || state || ' ' || coalesce(reason, '') from payout where state <> 'paid'`,
      )
      return rows.map(({ what }) => what)
    },
    sent: () => [...broadcast],
    pending: async () => {
      const block = (await devnet.request('eth_getBlockByNumber', ['pending', false]).catch(() => null)) as {
        transactions: Hex[]
      } | null
      return block?.transactions ?? []
    },
    received: (address: string) => tokenBalance(devnet, address),
    transfersOut: () => countTransfers(devnet, custody.address),
    nonceGaps: () =>
      findGaps(
        db,
        devnet,
        settlers.map((one) => one.address),
      ),
    close: async () => {
      await current.bury()
      await devnet.stop()
      await db.close()
    },
  }
}

/** One process: what it holds is gone when it dies, and whatever it still tries fails. */
async function startProcess(
  db: TestDatabase,
  devnet: Devnet,
  custodyKey: Hex,
  settlers: readonly Hex[],
  broadcast: Hex[],
) {
  const life: Life = createLife()
  const database = life.crashableDatabase(db.database)
  const real = devnetEndpoint(devnet)
  const endpoint: RpcEndpoint = {
    name: real.name,
    send: (calls) => {
      for (const call of calls) if (call.method === 'eth_sendRawTransaction') broadcast.push(call.params[0] as Hex)
      return life.pass(`rpc ${calls.map(({ method }) => method).join('+')}`, () => real.send(calls))
    },
  }
  const network = demoNetwork(devnet)
  const holder = await testHolder(db.database)
  const wallets = testWallets({ network, endpoints: [endpoint], database, holder, keys: settlers, limits })
  const rpc = createRpc([endpoint], { clock: systemClock })
  const shortened: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 60), signal) }
  const chain = testChain(network, rpc)
  const deps: PayoutDeps = {
    database,
    clock: shortened,
    ids: createIds(systemClock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    policy: parsePayoutPolicy({ daily_limit_usd: '1000000' }),
    chains: [{ chain, rpc, key: createCustodyKey(custodyKey), wallets }],
    purposes: [{ purpose, minimumMicro: 1n }],
    isPaused: async () => false,
  }
  return {
    life,
    run: () => runPayouts(deps).catch(() => {}),
    bury: async () => {
      life.end()
      await holder.die()
      await wallets.stop().catch(() => {})
    },
  }
}

async function countTransfers(devnet: Devnet, from: Address): Promise<number> {
  const head = devnet.control.head().number
  let count = 0
  for (let start = 0; start <= head; start += 500) {
    const range = { fromBlock: `0x${start.toString(16)}`, toBlock: `0x${Math.min(head, start + 499).toString(16)}` }
    const logs = (await devnet.request('eth_getLogs', [
      { address: devnet.usdc, ...range, topics: [topics.transfer] },
    ])) as {
      topics: string[]
    }[]
    count += logs.filter((log) => topicAddress(log.topics[1] ?? '') === from).length
  }
  return count
}

/** Every nonce a wallet was given is on the chain, and none beyond. */
async function findGaps(db: TestDatabase, devnet: Devnet, wallets: readonly Address[]): Promise<string[]> {
  const gaps: string[] = []
  for (const wallet of wallets) {
    const mined = Number(await devnet.request('eth_getTransactionCount', [wallet, 'latest']))
    const { rows } = await db.owner.query<{ n: bigint; newest: bigint | null }>(
      'select count(distinct nonce) as n, max(nonce) as newest from settlement_transaction where wallet = $1',
      [wallet],
    )
    const next = Number(rows[0]?.newest ?? -1n) + 1
    if (Number(rows[0]?.n) !== next) gaps.push(`${wallet}: ${rows[0]?.n} nonces up to ${next}`)
    if (mined !== next) gaps.push(`${wallet}: ${next} nonces given out, ${mined} on the chain`)
  }
  return gaps
}
