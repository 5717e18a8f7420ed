import type { Address } from '@assay/protocol/address'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reversalLines } from '../../gate/reversal-lines.ts'
import { systemClock } from '../../kernel/clock.ts'
import { createIds } from '../../kernel/ids.ts'
import { silentLog } from '../../kernel/log.ts'
import { Problem } from '../../kernel/problem.ts'
import { systemRng } from '../../kernel/random.ts'
import { externalAccount } from '../../ledger/accounts.fixture.ts'
import { accounts, balanceDifferences, balanceOf, heldOf, owedTo, post, trialBalance } from '../../ledger/index.ts'
import { useTestDatabase } from '../../store/use-database.fixture.ts'
import { base, insertTestMandate, mandateCounters, openTestCredit, randomWallet } from '../credit.fixture.ts'
import { creditLines, heldDifferences } from '../credit-balance.ts'
import { refundCredit } from '../credit-refund.ts'
import { lockBondOf } from './lock-bond.ts'
import { askRelease, releaseDue } from './release-bond.ts'
import { slashBond } from './slash-bond.ts'

const db = await useTestDatabase({ poolSize: 12 })

const custody = externalAccount(base)
let promised = 0
const ids = createIds(systemClock, systemRng)
const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 3 * 86_400_000 }
const caps = { call: 400n, day: 900n, total: 1_200n }

type Command =
  | { kind: 'topup' | 'refund' | 'bond'; micro: bigint }
  | { kind: 'draw' | 'mandated'; micro: bigint; end: 'capture' | 'void' | 'leave' }
  | { kind: 'slash'; micro: bigint }
  | { kind: 'release' | 'due' | 'revoke' | 'reorg' | 'recover' }

// A wallet with a large balance draws small amounts with the answer; large amounts are held first.
const micro = fc.oneof(fc.bigInt({ min: 1n, max: 25n }), fc.bigInt({ min: 1n, max: 600n }))
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constantFrom('topup' as const, 'refund' as const, 'bond' as const), micro }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('draw' as const, 'mandated' as const),
      micro,
      end: fc.constantFrom('capture' as const, 'void' as const, 'leave' as const),
    }),
  },
  fc.record({ kind: fc.constant('slash' as const), micro }),
  fc.record({
    kind: fc.constantFrom(
      'release' as const,
      'due' as const,
      'revoke' as const,
      'reorg' as const,
      'reorg' as const,
      'recover' as const,
    ),
  }),
)

/** One wallet, one mandate of it, and what is known to have gone in and out. */
function openWallet(owner: Address, delegate: Address, mandate: string) {
  const testCredit = openTestCredit(db, { chargesAfterPrepare: true })
  const landed: { id: string; micro: bigint }[] = []
  const sums = { inMicro: 0n, drawnMicro: 0n, refundedMicro: 0n, slashedMicro: 0n }
  const bonds: string[] = []
  let revoked = false
  let rulings = 0

  async function draw(command: Extract<Command, { kind: 'draw' | 'mandated' }>): Promise<void> {
    const asked =
      command.kind === 'draw' ? { by: owner, micro: command.micro } : { by: delegate, micro: command.micro, mandate }
    const wasRevoked = revoked
    const held = await testCredit.hold(asked)
    if (held.status !== 'held') return
    if (held.chargeAfterPrepare) {
      if ((await testCredit.capture(held, asked)) !== 'captured') return
      sums.drawnMicro += command.micro
      promised += 1
    }
    expect(command.kind === 'mandated' && wasRevoked, 'drawn under a revoked mandate').toBe(false)
    if (held.chargeAfterPrepare) return
    if (command.end === 'void') await testCredit.port.release(held.holdId)
    if (command.end !== 'capture') return
    const taken = await testCredit.capture(held, asked).then(
      () => true,
      (error: Error) => {
        if (!error.message.includes('no longer held')) throw error
        return false
      },
    )
    if (taken) sums.drawnMicro += command.micro
  }

  /** A payment that tops credit up, as its sale posts it. */
  async function land(amountMicro: bigint): Promise<void> {
    const id = ids.next('pay')
    await db.database.transaction(async (tx) =>
      post(tx, [
        {
          reference: `topup:${id}`,
          kind: 'topup',
          paymentId: id,
          lines: [{ account: custody, amount: amountMicro }, ...(await creditLines(tx, base, owner, amountMicro))],
        },
      ]),
    )
    sums.inMicro += amountMicro
    landed.push({ id, micro: amountMicro })
  }

  async function reorg(): Promise<void> {
    const gone = landed.pop()
    if (!gone) return
    await db.database.transaction(async (tx) =>
      post(tx, [
        {
          reference: `reorg:${gone.id}`,
          kind: 'reorg',
          paymentId: gone.id,
          lines: [
            ...(await reversalLines(tx, { id: gone.id, network: base, amountMicro: gone.micro }, gone.micro)),
            { account: custody, amount: -gone.micro },
          ],
        },
      ]),
    )
    sums.inMicro -= gone.micro
  }

  async function refund(amountMicro: bigint): Promise<void> {
    const done = await db.database.transaction((tx) =>
      refundCredit(tx, {
        nextId: () => ids.next('po'),
        wallet: owner,
        network: base,
        amountMicro,
        costMicro: 5n,
        approvalMicro: 1_000_000n,
        nowMs: systemClock.nowMs(),
      }),
    )
    for (const { refundedMicro } of done) sums.refundedMicro += refundedMicro
  }

  const run: { [K in Command['kind']]: (command: Extract<Command, { kind: K }>) => Promise<void> } = {
    topup: ({ micro }) => land(micro),
    reorg,
    recover: () => openTestCredit(db, { clock: later }).port.recover(),
    draw,
    mandated: draw,
    refund: ({ micro }) => refund(micro),
    bond: async ({ micro }) => {
      const deps = { database: db.database, clock: systemClock, ids, releaseDelaySeconds: 3_600 }
      bonds.push((await lockBondOf(deps, { wallet: owner, network: base, micro, days: 1 })).id)
    },
    slash: async ({ micro }) => {
      rulings += 1
      const ruling = `${owner} ${rulings}`
      const order = { ruling, reason: 'test', by: 'test', micro, nowMs: systemClock.nowMs() }
      const outcome = await slashBond(db.database, { ...order, bondId: bonds.at(-1) ?? 'none' }, async () => true)
      if (outcome.status === 'slashed') sums.slashedMicro += outcome.micro
    },
    release: async () => {
      const id = bonds.at(0)
      const asker = { address: owner, onlyNetwork: undefined }
      if (id !== undefined) await askRelease({ database: db.database, clock: systemClock }, asker, id)
    },
    due: async () => {
      await releaseDue({ database: db.database, clock: later, log: silentLog })
    },
    revoke: async () => {
      await db.database.query('update mandate set revoked_at = now() where id = $1', [mandate])
      revoked = true
    },
  }
  return {
    sums,
    run: (command: Command) =>
      run[command.kind](command as never).catch((error: unknown) => {
        // Refusals are part of the game; anything else is not.
        if (!(error instanceof Problem)) throw error
      }),
  }
}

async function checkWallet(
  owner: Address,
  mandate: string,
  sums: ReturnType<typeof openWallet>['sums'],
): Promise<void> {
  const credit = accounts.credit(base, owner)
  const inside =
    (await owedTo(db.database, credit)) +
    (await heldOf(db.database, credit)) +
    (await owedTo(db.database, accounts.creditBonded(base, owner)))
  const debtMicro = await balanceOf(db.database, accounts.receivable(base, owner, 'credit'))
  expect(inside + sums.drawnMicro + sums.refundedMicro + sums.slashedMicro).toBe(sums.inMicro + debtMicro)
  expect(debtMicro).toBeGreaterThanOrEqual(0n)
  // What is owed since a reorg leaves nothing free to be drawn a second time.
  if (debtMicro > 0n) expect(await owedTo(db.database, credit)).toBe(0n)
  const counters = await mandateCounters(db, mandate)
  const { rows } = await db.database.query<{ micro: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as micro from entitled_call where mandate_id = $1 and state <> 'released'`,
    [mandate],
  )
  expect(counters?.total_micro).toBe(rows[0]?.micro)
  expect(counters?.total_micro).toBeLessThanOrEqual(caps.total)
  expect(counters?.day_micro).toBeLessThanOrEqual(caps.day)
}

test('whatever happens at once, no money is made or lost and no cap is passed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyCommand, { minLength: 2, maxLength: 10 }), { minLength: 1, maxLength: 4 }),
      async (waves) => {
        const [owner, delegate] = [randomWallet(), randomWallet()]
        const mandate = await insertTestMandate(db, { owner, delegate, ...caps })
        const wallet = openWallet(owner, delegate, mandate)
        await wallet.run({ kind: 'topup', micro: 1_500n })
        // From now on it is known to have plenty.
        for (let n = 0; n < 2; n += 1) await wallet.run({ kind: 'draw', micro: 1n, end: 'capture' })
        for (const wave of waves) {
          await Promise.all(wave.map(wallet.run))
          await checkWallet(owner, mandate, wallet.sums)
        }
      },
    ),
    { numRuns: 20 },
  )
  expect(promised).toBeGreaterThan(0)
  expect(await balanceDifferences(db.database)).toEqual([])
  expect(await heldDifferences(db.database)).toEqual([])
  for (const sum of Object.values((await trialBalance(db.database)).sumByUnit)) expect(sum).toBe(0n)
})
