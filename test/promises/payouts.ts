import { setTimeout as sleep } from 'node:timers/promises'
import { balanceDifferences, trialBalance } from '../../packages/till/src/ledger/index.ts'
import { openPayoutWorld, type PayoutWorld } from './payout-world.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'

const payeesPerRound = 20
const endsWithinMs = 60_000

const payoutFaults = ['none', 'crash', 'crash', 'stuck', 'dropped', 'replaced', 'two workers', 'reorg'] as const
type PayoutFault = (typeof payoutFaults)[number]

/**
 * Payouts exactly once: processes die at any port call, transactions are stuck, replaced, dropped and reorganised away,
 * two workers pay at once. `count` is debts; each is one intent and must be one transfer.
 */
export const provePayouts: Proof = async ({ count, say }) => {
  const world = await openPayoutWorld()
  const faults = createFaults()
  const dice = createDice(Date.now() % 1_000_000)
  const had = new Map<PayoutFault, number>()
  const progress = createProgress(say, count, 'payouts')
  try {
    let paid = 0
    for (let round = 0; paid < count; round += 1) {
      // A reorg makes the chain again from its first block, so only a young chain has them.
      const trouble =
        world.devnet.control.head().number < 400 ? dice.pick(payoutFaults) : dice.pick(payoutFaults.slice(0, -1))
      had.set(trouble, (had.get(trouble) ?? 0) + 1)
      const payees = await world.owe(Math.min(payeesPerRound, count - paid))
      await inject[trouble](world, dice)
      await untilPaid(world, `round ${round}, ${trouble}`, faults)
      await checkReceived(world, payees, `round ${round}, ${trouble}`, faults)
      paid += payees.length
      progress(paid)
    }
    await checkAll(world, paid, faults)
    const details = [...had].map(([trouble, n]) => `${n} x ${trouble}`).join(', ')
    return {
      seen: `${plain(paid)} intents, one transfer each, no gap in the nonces of ${world.lives()} processes (${details}); ${faults.count()} wrong`,
      faults: faults.all(),
    }
  } finally {
    await world.close()
  }
}

const inject: Record<PayoutFault, (world: PayoutWorld, dice: Dice) => Promise<void>> = {
  none: (world) => world.run(),
  crash: async (world, dice) => {
    world.dieAt(1 + dice.below(40), dice.below(2) === 0 ? 'before' : 'after')
    await world.run()
    await world.restart()
  },
  stuck: async (world) => {
    await world.devnet.control.holdMining()
    await world.run()
    // Long enough to be replaced by fee, once or twice.
    await sleep(250)
    await world.devnet.control.releaseMining()
  },
  dropped: async (world) => {
    await world.devnet.control.holdMining()
    await world.run()
    for (const hash of await world.pending()) await world.devnet.control.dropTransaction(hash)
    await world.devnet.control.releaseMining()
  },
  replaced: async (world) => {
    await world.devnet.control.holdMining()
    await world.run()
    await sleep(200)
    // The first one is mined after all, although another took its place.
    const [original] = world.sent()
    for (const hash of await world.pending()) await world.devnet.control.dropTransaction(hash)
    if (original) await world.devnet.request('eth_sendRawTransaction', [original]).catch(() => {})
    await world.devnet.control.releaseMining()
  },
  'two workers': async (world) => {
    const other = await world.secondWorker()
    await Promise.all([world.run(), other.run(), world.run()])
    await other.end()
  },
  reorg: async (world, dice) => {
    await world.run()
    await world.devnet.control.reorg(1 + dice.below(2), {
      transactions: dice.pick(['drop', 'return_to_mempool', 'reinclude']),
    })
  },
}

export async function untilPaid(world: PayoutWorld, name: string, faults: Faults): Promise<void> {
  const giveUpAtMs = performance.now() + endsWithinMs
  for (;;) {
    await world.run()
    const open = await world.unpaid()
    if (open.length === 0) return
    if (performance.now() > giveUpAtMs) return faults.note(`${name}: ${open.length} unpaid, the first ${open[0]}`)
    await world.devnet.control.mine(1)
    await sleep(10)
  }
}

export async function checkReceived(
  world: PayoutWorld,
  payees: readonly { address: string; micro: bigint }[],
  name: string,
  faults: Faults,
) {
  for (const { address, micro } of payees) {
    const received = await world.received(address)
    if (received !== micro) faults.note(`${name}: ${address} is owed ${micro} and received ${received}`)
  }
}

export async function checkAll(world: PayoutWorld, intents: number, faults: Faults): Promise<void> {
  await world.devnet.control.mine(3)
  const transfers = await world.transfersOut()
  if (transfers !== intents) faults.note(`${transfers} transfers left custody for ${intents} intents`)
  const { rows } = await world.db.owner.query<{ n: bigint }>(`select count(*) as n from payout where state = 'paid'`)
  if (rows[0]?.n !== BigInt(intents)) faults.note(`${rows[0]?.n} payouts are called paid`)
  for (const gap of await world.nonceGaps()) faults.note(gap)
  for (const [unit, sum] of Object.entries((await trialBalance(world.db.database)).sumByUnit))
    if (sum !== 0n) faults.note(`${unit} sums to ${sum}`)
  for (const { name } of await balanceDifferences(world.db.database)) faults.note(`${name} differs from its entries`)
}
