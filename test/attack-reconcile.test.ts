import { randomBytes } from 'node:crypto'
import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoAccount, devnetTransport } from '../packages/node/src/devnet/index.ts'
import {
  type ChainPort,
  ChainUnreadable,
  createChain,
  createRpc,
  type Network,
} from '../packages/till/src/chain/index.ts'
import { type ReconcileReport, reconcileBooks } from '../packages/till/src/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { createIds } from '../packages/till/src/kernel/ids.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { schemes } from '../packages/till/src/schemes/exact/schemes.fixture.ts'
import { carryAuthorization } from './adversary/wallets.ts'
import { expectSoundBooks } from './harness/invariants.ts'
import { buy, echoPath, openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'

let till: TillFixture
let chain: ChainPort
let fails: { balance: boolean } = { balance: false }

beforeAll(async () => {
  // No jobs: what a test leaves in the middle must stay there until the test looks.
  till = await openTill({ ownShops: 'till', jobs: false })
  const given = till.node.config.networks[0] as Network
  const rpc = createRpc([
    {
      name: 'test',
      send: (calls) => Promise.all(calls.map((call) => till.base.request(call.method, [...call.params]))),
    },
  ])
  const real = createChain({
    network: { ...given, usdc: { ...given.usdc, address: till.base.usdc } },
    rpc,
    clock: systemClock,
    checkContractSignature: async () => 'invalid',
    headAgeMsMax: 0,
  })
  chain = {
    ...real,
    usdcBalance: (owner, block) =>
      fails.balance ? Promise.reject(new ChainUnreadable('away')) : real.usdcBalance(owner, block),
  }
})
beforeEach(() => {
  fails = { balance: false }
})
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
})

const reconcile = async (): Promise<ReconcileReport | undefined> => {
  const ids = createIds(systemClock, systemRng)
  const deps = { database: till.db.database, clock: systemClock, ids, log: silentLog, metrics: silentMetrics, schemes }
  const [report] = await reconcileBooks(deps, [{ chain, payee: 'pay_to', address: till.node.config.payTo }])
  return report
}

const abi = parseAbi([
  'function transfer(address,uint256) returns (bool)',
  'function transferFrom(address,address,uint256) returns (bool)',
])

async function callUsdc(key: Hex, functionName: string, args: readonly unknown[]): Promise<void> {
  const client = createWalletClient({ account: privateKeyToAccount(key), transport: devnetTransport(till.base) })
  const data = encodeFunctionData({ abi, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  await client.sendTransaction({ chain: null, to: till.base.usdc, data })
}

const stakeOf = async () => {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(sum(e.amount_micro), 0)::bigint as micro from ledger_entry e
     join ledger_account a on a.id = e.account_id where a.name = 'operator:usdc@eip155:8453'`,
  )
  return rows[0]?.micro ?? 0n
}
const withdraw = (micro: bigint) =>
  callUsdc(demoAccount('operator').privateKey, 'transfer', [demoAccount('creator').address, micro])

test('money that came before the first claim is not counted twice when the books are opened', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${till.node.url}${echoPath}`))
  await carryAuthorization(till.base, payload)
  await till.base.control.mine(2)
  // Credited from a block that lies before the head of its claim.
  expect((await send(`${till.node.url}${echoPath}`, payload)).status).toBe(409)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('transfers of nothing, plain or authorized, neither stop the comparison nor fill the review queue', async () => {
  const stranger = await till.newBuyer()
  const offer = await quote(`${till.node.url}${echoPath}`)
  await carryAuthorization(till.base, await signPayment(stranger, offer, { value: 0n }))
  await callUsdc(demoAccount('affiliate').privateKey, 'transferFrom', [stranger.address, till.node.config.payTo, 0n])
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n, unexplained: 0 })
  const { rows } = await till.db.owner.query(`select 1 from inbound_review where amount_micro = 0`)
  expect(rows).toEqual([])
  expect((await buy(stranger, `${till.node.url}${echoPath}`)).status).toBe(200)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
})

test('a withdrawal is booked once although a transfer beside it still waits for its claim to end', async () => {
  const buyer = await till.newBuyer()
  const payload = await signPayment(buyer, await quote(`${till.node.url}${echoPath}`))
  await till.db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block)
     values ('exact', 1000, 'pay_stuck', 'unknown', 'eip155:8453', $1, $2, $3, $4, 'pay_to', 1000, 0, 'sandbox.echo.get', '', $5, false, 0, now(), now(), $6)`,
    [
      till.base.usdc,
      buyer.address.toLowerCase(),
      Buffer.from((payload.payload.authorization['nonce'] as string).slice(2), 'hex'),
      till.node.config.payTo,
      randomBytes(32),
      (await chain.head()).number,
    ],
  )
  await till.db.owner.query(`insert into payer_flight values ('eip155:8453', $1, 1, 1000)`, [
    buyer.address.toLowerCase(),
  ])
  await carryAuthorization(till.base, payload)
  const before = await stakeOf()
  await withdraw(300n)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  await till.base.control.mine(1)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  await till.db.owner.query(`update payment set state = 'failed' where id = 'pay_stuck'`)
  await till.db.owner.query(`update payer_flight set in_flight = 0, in_flight_micro = 0 where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  await till.base.control.mine(1)
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  expect((await stakeOf()) - before).toBe(300n)
})

test('a withdrawal is booked once although the comparison broke off in the middle', async () => {
  const before = await stakeOf()
  await withdraw(400n)
  fails.balance = true
  expect(await reconcile()).toBeUndefined()
  await till.base.control.mine(1)
  fails.balance = false
  expect(await reconcile()).toMatchObject({ differenceMicro: 0n })
  expect((await stakeOf()) - before).toBe(400n)
})
