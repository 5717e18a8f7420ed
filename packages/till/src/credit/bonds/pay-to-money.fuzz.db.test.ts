import { randomBytes } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { insertCredited } from '../../gate/credit-payment.ts'
import { systemClock } from '../../kernel/clock.ts'
import { createIds } from '../../kernel/ids.ts'
import { silentLog } from '../../kernel/log.ts'
import { Problem } from '../../kernel/problem.ts'
import { systemRng } from '../../kernel/random.ts'
import { accounts, post } from '../../ledger/index.ts'
import { creditRefundPurpose, payToRefundPurpose } from '../../payouts/index.ts'
import { useTestDatabase } from '../../store/use-database.fixture.ts'
import { type Asked, base, openTestCredit, randomWallet } from '../credit.fixture.ts'
import { refundCredit } from '../credit-refund.ts'
import { lockBondOf } from './lock-bond.ts'
import { askRelease, releaseDue } from './release-bond.ts'

const db = await useTestDatabase()

const ids = createIds(systemClock, systemRng)
const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 30 * 86_400_000 }
const hash = () => toHex(randomBytes(32))

type Command =
  | { kind: 'pay'; payee: 'pay_to' | 'custody'; micro: bigint }
  | { kind: 'draw'; shared: boolean; micro: bigint; end: 'capture' | 'leave' }
  | { kind: 'refund'; micro: bigint | undefined }
  | { kind: 'bond'; micro: bigint }
  | { kind: 'release' | 'paid' | 'capture' | 'age' }

const micro = fc.bigInt({ min: 1n, max: 300n })
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('pay' as const),
    payee: fc.constantFrom('pay_to' as const, 'custody' as const),
    micro,
  }),
  fc.record({
    kind: fc.constant('draw' as const),
    shared: fc.boolean(),
    micro,
    end: fc.constantFrom('capture' as const, 'leave' as const),
  }),
  fc.record({ kind: fc.constant('refund' as const), micro: fc.option(micro, { nil: undefined }) }),
  fc.record({ kind: fc.constant('bond' as const), micro }),
  fc.record({ kind: fc.constantFrom('release' as const, 'paid' as const, 'capture' as const, 'age' as const) }),
)

/** One wallet with money at both addresses. */
function openWallet() {
  const wallet = randomWallet()
  const creator = randomWallet()
  const testCredit = openTestCredit(db)
  const came = { pay_to: 0n, custody: 0n }
  const bonds: string[] = []
  const held: (() => Promise<void>)[] = []
  /** Came in since the last time everything grew old. */
  let recentMicro = 0n
  let hasOld = false

  async function pay(payee: 'pay_to' | 'custody', amountMicro: bigint): Promise<void> {
    const payTo: Address = `0x${(payee === 'pay_to' ? 'aa' : 'bb').repeat(20)}`
    const paymentKey = hash()
    const claim = {
      id: ids.next('pay'),
      network: base,
      asset: `${base}/erc20:${payTo}` as const,
      payer: wallet,
      scheme: 'exact',
      paymentKey,
      payTo,
      payee,
      amountMicro,
      validBefore: 0n,
      routeId: 'inbound',
      resource: '',
      fingerprint: Buffer.alloc(32),
      ref: null,
      aff: null,
      headBlock: 1n,
    }
    const place = { transaction: hash(), blockNumber: 1n, blockHash: hash(), position: 0, logIndex: 0 }
    const evidence = {
      status: 'confirmed',
      ...place,
      sender: wallet,
      recipient: payTo,
      amountMicro,
      paymentKey,
      gasGwei: 0n,
    }
    await insertCredited({ database: db.database, clock: systemClock }, claim, evidence as never)
    await db.owner.query('update payment set final = true where id = $1', [claim.id])
    await db.owner.query('update transfer set final = true where sender = $1', [wallet])
    came[payee] += amountMicro
    recentMicro += amountMicro
  }

  /** The price of a shared call is divided: four fifths are a creator's, to be paid from custody. */
  async function draw({ shared, micro: amount, end }: Extract<Command, { kind: 'draw' }>): Promise<void> {
    const route = shared ? { id: 'test.shared', payee: 'custody' as const, commit: async () => undefined } : {}
    const asked: Asked = { by: wallet, micro: amount, route: route as NonNullable<Asked['route']> }
    const hold = await testCredit.hold(asked)
    if (hold.status !== 'held') return
    const capture = async () => {
      await testCredit.capture(hold, asked)
      const share = (amount * 4n) / 5n
      if (!shared) return
      await post(db.database, [
        {
          reference: `share:${hold.holdId}`,
          kind: 'share',
          lines: [
            { account: accounts.clearingPayments(base), amount },
            ...(share > 0n ? [{ account: accounts.payable(base, creator, 'creator'), amount: -share }] : []),
            { account: accounts.revenue(base, 'test.shared'), amount: share - amount },
          ],
        },
      ])
    }
    if (end === 'capture') await capture()
    else held.push(capture)
  }

  const refund = (amountMicro: bigint | undefined) =>
    db.database.transaction((tx) =>
      refundCredit(tx, {
        nextId: () => ids.next('po'),
        wallet,
        network: base,
        amountMicro,
        costMicro: 0n,
        approvalMicro: 1_000_000n,
        nowMs: systemClock.nowMs(),
      }),
    )

  async function run(command: Command): Promise<void> {
    if (command.kind === 'pay') await pay(command.payee, command.micro)
    if (command.kind === 'draw') await draw(command)
    if (command.kind === 'refund') await refund(command.micro)
    if (command.kind === 'capture') await held.shift()?.()
    if (command.kind === 'paid')
      await db.owner.query(`update payout set state = 'paid', spent = true where payee = $1`, [wallet])
    if (command.kind === 'age') {
      await db.owner.query(`update payment set ended_at = ended_at - interval '40 days' where payer = $1`, [wallet])
      await db.owner.query(`update payout set created_at = created_at - interval '40 days' where payee = $1`, [wallet])
      await db.owner.query(`update entitled_call set ended_at = ended_at - interval '40 days' where account = $1`, [
        wallet,
      ])
      recentMicro = 0n
      hasOld = true
    }
    if (command.kind === 'bond') {
      const deps = { database: db.database, clock: systemClock, ids, releaseDelaySeconds: 0 }
      bonds.push((await lockBondOf(deps, { wallet, network: base, micro: command.micro, days: 1 })).id)
    }
    const bond = command.kind === 'release' ? bonds.shift() : undefined
    if (bond !== undefined) {
      await askRelease({ database: db.database, clock: systemClock }, { address: wallet, onlyNetwork: undefined }, bond)
      await releaseDue({ database: db.database, clock: later, log: silentLog })
    }
  }

  async function check(): Promise<void> {
    const { rows } = await db.owner.query<{ at_custody: bigint; at_pay_to: bigint }>(
      `select coalesce(sum(b.owed_micro - b.pay_to_micro), 0)::bigint as at_custody,
         coalesce(sum(b.pay_to_micro), 0)::bigint as at_pay_to
       from ledger_account a join ledger_balance b on b.account_id = a.id where a.name like any($1)`,
      [[`%${wallet}@%`, `%${creator}@%`]],
    )
    const { rows: payouts } = await db.owner.query<{ purpose: string; amount: bigint; free: bigint; isOld: boolean }>(
      `select purpose, amount_micro as amount, uncounted_micro as free, created_at < now() - interval '20 days' as "isOld"
       from payout where payee = $1`,
      [wallet],
    )
    const sent = (purpose: string) =>
      payouts.filter((payout) => payout.purpose === purpose).reduce((sum, { amount }) => sum + amount, 0n)
    // What custody owes is there, whatever was drawn, locked or asked back in which order.
    expect(came.custody - sent(creditRefundPurpose)).toBeGreaterThanOrEqual(rows[0]?.at_custody ?? 0n)
    expect(came.pay_to - sent(payToRefundPurpose)).toBeGreaterThanOrEqual(rows[0]?.at_pay_to ?? 0n)
    // Only as much as came in recently goes out beside the daily limit, and all of it does.
    const free = payouts.filter(({ isOld }) => !isOld).reduce((sum, payout) => sum + payout.free, 0n)
    expect(free).toBeLessThanOrEqual(recentMicro)
    if (!hasOld) expect(payouts.every((payout) => payout.free === payout.amount)).toBe(true)
  }
  return { run, check }
}

test('custody never owes more than arrived there, and the daily limit is used up by old or used money only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { minLength: 4, maxLength: 25 }), async (commands) => {
      const wallet = openWallet()
      for (const command of commands) {
        await wallet.run(command).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error
        })
        await wallet.check()
      }
    }),
    { numRuns: Number(process.env['MONEY_RUNS'] ?? 12) },
  )
}, 120_000)
