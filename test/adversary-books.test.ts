import { encodeFunctionData, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, test } from 'vitest'
import {
  type ChainPort,
  createChain,
  createRpc,
  type RpcCall,
  type RpcEndpoint,
} from '../packages/till/src/chain/index.ts'
import { demoAccount, multicall3Address } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { createIds } from '../packages/till/src/kernel/ids.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { reconcileBooks } from '../packages/till/src/recovery/reconcile.ts'
import { schemes } from '../packages/till/src/schemes/exact/schemes.fixture.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'
import { alarmsRaised, expectAnswer, lower, nonceOf, useAdversaryTill } from './harness/adversary-till.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { signAgain, submitAuthorization, transferPlainly } from './harness/wallets.ts'

/** What outsiders can do to the books by sending money, and what one endpoint can do by lying. */
let chain: ChainPort
let receiptsRead = 0
/** What the first endpoint of three makes of a balance. */
let lie = (balance: bigint): bigint => balance

const isBalance = ({ method, params }: RpcCall) =>
  method === 'eth_call' && (params[0] as { data: string }).data.startsWith('0x70a08231')

function lying(honest: RpcEndpoint): RpcEndpoint {
  return {
    name: 'lying',
    send: async (calls) => {
      receiptsRead += calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
      const answers = await honest.send(calls)
      return answers.map((answer, index) =>
        isBalance(calls[index] as RpcCall)
          ? `0x${lie(BigInt(answer as string))
              .toString(16)
              .padStart(64, '0')}`
          : answer,
      )
    },
  }
}

let honest: RpcEndpoint | undefined
const given = await useAdversaryTill({
  env: { EXPOSURE_CAP_USD: '1' },
  rpc: (endpoint) => {
    if (endpoint.name.endsWith('8453')) honest = endpoint
    return endpoint
  },
  chain: (real) => {
    if (real.network.chainId !== 8453 || !honest) return real
    const { network, checkContractSignature } = real
    const rpc = createRpc(
      [lying(honest), honest, honest].map((endpoint, index) => ({ ...endpoint, name: `operator ${index}` })),
      { clock: systemClock },
    )
    chain = createChain({ network, rpc, clock: systemClock, checkContractSignature, headAgeMsMax: 0 })
    return chain
  },
})
beforeEach(() => {
  lie = (balance) => balance
})

const payTo = () => given.till.node.config.payTo
const richInGas = async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  await given.till.base.control.fund(lower(account), { microUsdc: 1_000_000n })
  return account
}
const countOf = async (text: string, values: readonly unknown[] = []) => {
  const { rows } = await given.till.db.owner.query<{ n: bigint }>(text, values)
  return Number(rows[0]?.n)
}

test('a flood of dust costs no read each and does not stop the cursor', async () => {
  const { base, db } = given.till
  const senders = await Promise.all(Array.from({ length: 4 }, richInGas))
  for (let sent = 0; sent < 60; sent += 1)
    await transferPlainly(base, senders[sent % 4] as (typeof senders)[0], payTo(), BigInt(1 + (sent % 900)))
  expect((await given.buy(await given.till.newBuyer(), '/test/small')).status).toBe(200)
  receiptsRead = 0
  await given.work('payments.reconcile')
  expect(receiptsRead).toBeLessThan(5)
  const { rows } = await db.owner.query<{ posted_for: string }>(
    `select posted_for from transfer where posted_as = 'dust' and recipient = $1`,
    [payTo()],
  )
  expect(rows.reduce((sum, row) => sum + Number(row.posted_for), 0)).toBe(60)
  const behind = await countOf(
    `select $1 - min(block_number) as n from reconcile_cursor where network = 'eip155:8453'`,
    [base.control.head().number],
  )
  expect(behind).toBe(0)
})

/** Plain transfers from a contract, all in one transaction. */
async function transferTogether(transfers: readonly (readonly [to: `0x${string}`, micro: bigint])[]): Promise<string> {
  const { base } = given.till
  await base.control.fund(multicall3Address, { wei: 0n, microUsdc: 20_000n })
  const calls = transfers.map((args) => ({
    target: base.usdc,
    allowFailure: false,
    callData: encodeFunctionData({
      abi: parseAbi(['function transfer(address,uint256)']),
      functionName: 'transfer',
      args: [...args],
    }),
  }))
  const data = encodeFunctionData({
    abi: parseAbi(['function aggregate3((address target, bool allowFailure, bytes callData)[])']),
    functionName: 'aggregate3',
    args: [calls],
  })
  return sendTransaction(base, privateKeyToAccount(demoAccount('affiliate').privateKey), {
    to: multicall3Address,
    data,
  })
}

test('plain transfers from a contract, two in one transaction, go to review once each', async () => {
  const hash = await transferTogether([
    [payTo(), 6_000n],
    [payTo(), 6_000n],
  ])
  for (let round = 0; round < 3; round += 1) await given.work()
  expect(
    await countOf(
      `select count(*) as n from transfer where transaction = decode(substr($1, 3), 'hex') and posted_as = 'review'`,
      [hash],
    ),
  ).toBe(2)
  expect(await given.creditOf(multicall3Address)).toBe(0n)
})

test('dust beside a larger transfer in one transaction was posted twice, which stopped payouts', async () => {
  const custody = given.till.node.config.networks[0]?.custody as `0x${string}`
  const raised = await alarmsRaised(given, async () => {
    await transferTogether([
      [custody, 1_000n],
      [custody, 999n],
      [payTo(), 999n],
      [custody, 1n],
    ])
    for (let round = 0; round < 3; round += 1) await given.work()
  })
  expect(raised).toEqual({})
})

test('dust that the operator moved between PAY_TO and CUSTODY was posted twice', async () => {
  const custody = given.till.node.config.networks[0]?.custody as `0x${string}`
  const raised = await alarmsRaised(given, async () => {
    await transferPlainly(given.till.base, privateKeyToAccount(demoAccount('operator').privateKey), custody, 7n)
    for (let round = 0; round < 3; round += 1) await given.work()
  })
  expect(raised).toEqual({})
})

test('plain dust of a payer with a claim filled the review queue, one entry each', async () => {
  const { base, newBuyer } = given.till
  const buyer = await newBuyer()
  await base.control.fund(lower(buyer), {})
  expect((await given.buy(buyer, '/test/small')).status).toBe(200)
  for (let sent = 0; sent < 5; sent += 1) await transferPlainly(base, buyer, payTo(), 1n)
  // A nonce that was used for dust is still posted for its payer.
  const payload = await given.sign(buyer, '/test/small')
  await submitAuthorization(base, await signAgain(base, buyer, payload, { value: 3n }))
  for (let round = 0; round < 3; round += 1) await given.work()
  expect(
    await countOf(`select count(*) as n from transfer where posted_as = 'review' and sender = $1`, [lower(buyer)]),
  ).toBe(0)
  expect(await given.creditOf(buyer.address)).toBe(3n)
})

test('a sale below the limit for dust, recorded more than a day later, was posted as dust too', async () => {
  const { db, newBuyer } = given.till
  const buyer = await newBuyer()
  given.shop.priceMicro = 500n
  expect((await given.buy(buyer, '/test/priced')).status).toBe(200)
  await db.owner.query(`update payment set claimed_at = claimed_at - interval '2 days' where payer = $1`, [
    lower(buyer),
  ])
  const raised = await alarmsRaised(given, async () => {
    for (let round = 0; round < 2; round += 1) await given.work('payments.reconcile')
  })
  expect(raised).toEqual({})
})

test('one endpoint that lies about balances neither makes the books differ nor pays for anybody', async () => {
  for (const reported of [0n, 10n ** 15n]) {
    lie = () => reported
    const raised = await alarmsRaised(given, async () => {
      await given.work('payments.reconcile')
      await given.work('payments.reconcile')
    })
    expect(raised).toEqual({})
  }
  // Nor does it turn away somebody who can pay.
  lie = () => 0n
  const rich = await given.till.newBuyer()
  expect((await given.buy(rich, '/test/small')).status).toBe(200)
  lie = () => 10n ** 15n
  const poor = await given.till.newBuyer(1n)
  const answer = await given.buy(poor, '/test/small')
  expect(answer.status).toBe(402)
  expect(await given.paymentsOf(poor.address)).not.toContainEqual(expect.objectContaining({ state: 'served' }))
})

test('a payee that two databases share: what the other one sold, and what nobody claimed, goes to review', async () => {
  const other = await openTestDatabase()
  try {
    const deps = {
      database: other.database,
      clock: systemClock,
      ids: createIds(systemClock, systemRng),
      schemes,
      log: silentLog,
      metrics: silentMetrics,
    }
    const target = { chain, payee: 'pay_to', address: payTo(), exclusive: false } as const
    await reconcileBooks(deps, [target])
    const buyer = await given.till.newBuyer()
    expect((await given.buy(buyer, '/test/small')).status).toBe(200)
    const carried = await given.sign(buyer, '/test/small')
    // Claimed here and released again, it may have been sold by the other one all the same.
    await other.owner.query(
      `with taken as (
         insert into claim (payer, network, payment_key, payment_id) values ($2, 'eip155:8453', $3, 'pay_released'))
       insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
         fingerprint, revocable, owner, lease_until, claimed_at, head_block)
       values ('exact', 1500, 'pay_released', 'released', 'eip155:8453', 'eip155:8453/erc20:' || $1, $2, $3, $4, 'pay_to', 1500, 0, 'test.small', '', sha256('x'), false, 0,
         now(), now(), 0)`,
      [given.till.base.usdc, lower(buyer), Buffer.from(nonceOf(carried).slice(2), 'hex'), payTo()],
    )
    await submitAuthorization(given.till.base, carried)
    for (let round = 0; round < 2; round += 1) await reconcileBooks(deps, [target])
    const { rows } = await other.owner.query(`select posted_as, amount_micro from transfer where sender = $1`, [
      lower(buyer),
    ])
    expect(rows).toEqual([
      { posted_as: 'review', amount_micro: 1_500n },
      { posted_as: 'review', amount_micro: 1_500n },
    ])
    const { rows: credit } = await other.owner.query(`select name from ledger_account where name like 'credit:%'`)
    expect(credit).toEqual([])
  } finally {
    await other.close()
  }
})

test('money that came before a lost payout was credited before the restore was noticed', async () => {
  const { base, newBuyer } = given.till
  const [paidTo, custody] = [await richInGas(), await richInGas()]
  const restored = await openTestDatabase()
  try {
    let gap: bigint | undefined
    const deps = {
      database: restored.database,
      clock: systemClock,
      ids: createIds(systemClock, systemRng),
      schemes,
      log: silentLog,
      metrics: silentMetrics,
      explainsOutbound: [
        async () => {
          gap = BigInt(base.control.head().number)
          return true
        },
      ],
      gapUntil: async () => gap,
    }
    const targets = [
      { chain, payee: 'pay_to', address: lower(paidTo) },
      { chain, payee: 'custody', address: lower(custody) },
    ] as const
    await reconcileBooks(deps, targets)
    const buyer = await newBuyer()
    const payload = await given.sign(buyer, '/test/small')
    await submitAuthorization(base, await signAgain(base, buyer, payload, { to: lower(paidTo) }))
    await transferPlainly(base, custody, lower(buyer), 5_000n)
    await reconcileBooks(deps, targets)
    const { rows } = await restored.owner.query(`select posted_as from transfer where sender = $1`, [lower(buyer)])
    expect(rows).toEqual([{ posted_as: 'gap' }])
  } finally {
    await restored.close()
  }
})

test('a thousand fresh wallets cannot stop a sale of 0.05 USD to a payer who paid before', async () => {
  const { db, newBuyer, base } = given.till
  const known = await newBuyer()
  expect((await given.buy(known, '/test/small')).status).toBe(200)
  await given.work()
  given.shop.priceMicro = 50_000n
  const insert = async (state: string, micro: number) => {
    await db.owner.query(
      `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
         fingerprint, revocable, owner, lease_until, claimed_at, head_block)
       select 'exact', $4, 'pay_fresh_' || $1 || n, $1, 'eip155:8453', 'eip155:8453/erc20:' || $2, '0x' || lpad(to_hex(n), 40, '0'), sha256(($1 || n)::bytea), $3, 'pay_to', $4,
         extract(epoch from now())::bigint + 36000, 'test.small', '', sha256('x'), false, 0, now() + interval '1 hour', now(), 0
       from generate_series(1, 1000) n`,
      [state, base.usdc, payTo(), micro],
    )
    await given.pass(1)
  }
  // Outcomes that are unknown have given nothing away.
  await insert('unknown', 500_000)
  expect((await given.buy(await newBuyer(), '/test/priced')).status).toBe(200)
  // What fresh wallets can have served and settling is half of the cap.
  await insert('served', 400)
  await insert('settling', 100)
  await expectAnswer(await given.buy(await newBuyer(), '/test/priced'), 503, 'exposure_limit')
  expect((await given.buy(known, '/test/priced')).status).toBe(200)
  await db.owner.query(`delete from payment where id like 'pay_fresh_%'`)
})

test('recovery gives nothing to fresh wallets of the half of the cap that is kept for known payers', async () => {
  const { db, newBuyer, base } = given.till
  const [known, fresh] = [await newBuyer(), await newBuyer()]
  // What counts against the cap is read again after a second.
  await given.pass(1)
  expect((await given.buy(known, '/test/small')).status).toBe(200)
  await given.work()
  base.control.setFinalityLag(20)
  given.shop.commitFails = new Error('the shop is broken')
  for (const buyer of [known, fresh]) {
    expect((await given.buy(buyer, '/test/small')).status).toBe(503)
    // Written behind the answer: recovery resumes what is unknown.
    await expect.poll(async () => (await given.paymentsOf(buyer.address)).at(-1)?.state).toBe('unknown')
  }
  given.shop.commitFails = undefined
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block)
     values ('exact', 499500, 'pay_fresh_half', 'served', 'eip155:8453', 'eip155:8453/erc20:' || $1, $1, sha256('half'), $2, 'pay_to', 499500,
       extract(epoch from now())::bigint + 36000, 'test.small', '', sha256('x'), false, 0, now() + interval '1 hour', now(), 0)`,
    [base.usdc, payTo()],
  )
  await given.work('payments.recover')
  expect(await given.paymentsOf(fresh.address)).toMatchObject([{ state: 'settled' }])
  expect(await given.paymentsOf(known.address)).toMatchObject([{ state: 'served' }, { state: 'served' }])
  await db.owner.query(`delete from payment where id = 'pay_fresh_half'`)
  base.control.setFinalityLag(0)
})
