import type { Address } from '@assay/protocol/address'
import type { PayoutLeaf, PayoutTree } from '@assay/protocol/payout-tree'
import { testKey } from '@assay/till/chain/wallet/wallet.fixture'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  claimDelay,
  claimOf,
  leafOf,
  moveDelay,
  type OpenDistributor,
  openDistributor,
  validBefore,
} from './distributor.fixture.ts'

/** Wallets with keys, so that they can redirect, refuse and claim themselves; new ones for each run. */
const walletsOf = (run: number) => [0, 1, 2].map((n) => testKey(`fuzzed creator ${run} ${n}`))
const domains = ['a.test', 'b.test']

type Command =
  | { kind: 'advance'; leaves: [number, number, number][] }
  | { kind: 'claim'; epoch: number; leaf: number; own: boolean }
  | { kind: 'claimAll'; who: number; domain: number }
  | { kind: 'redirect'; who: number; to: number }
  | { kind: 'move'; who: number; domain: number; to: number }
  | { kind: 'refuse'; who: number; domain: number }
  | { kind: 'pass'; long: boolean }
  | { kind: 'steal'; how: number }

const who = fc.nat({ max: 2 })
const domain = fc.nat({ max: 1 })
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('advance' as const),
    leaves: fc.uniqueArray(fc.tuple(who, domain, fc.integer({ min: 1, max: 9_999 })), {
      minLength: 1,
      maxLength: 5,
      selector: ([w, d]) => `${w} ${d}`,
    }),
  }),
  fc.record({ kind: fc.constant('claim' as const), epoch: fc.nat({ max: 5 }), leaf: fc.nat(), own: fc.boolean() }),
  fc.record({ kind: fc.constant('claimAll' as const), who, domain }),
  fc.record({ kind: fc.constant('redirect' as const), who, to: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('move' as const), who, domain, to: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('refuse' as const), who, domain }),
  fc.record({ kind: fc.constant('pass' as const), long: fc.boolean() }),
  fc.record({ kind: fc.constant('steal' as const), how: fc.nat() }),
)

type Made = { epoch: bigint; tree: PayoutTree; opensAt: number; claimed: Set<number> }
type Moved = { to: Address; until: bigint; readyAt: number }

/** What the contract should do, in a few lines: the chain is compared with it after every command. */
function createModel(it: OpenDistributor, run: number) {
  const wallets = walletsOf(run)
  const [targets, thief] = [[0, 1].map((n) => testKey(`target ${run} ${n}`).address), testKey(`thief ${run}`).address]
  const made: Made[] = []
  const paid = new Map<Address, bigint>()
  const redirected = new Map<Address, Address>()
  const moves = new Map<string, Moved | 'refused'>()
  const now = () => it.devnet.control.head().timestamp
  const keyOf = ({ account, wallet }: Pick<PayoutLeaf, 'account' | 'wallet'>) => account + wallet
  const leafAt = (w: number, d: number, micro = 1n) =>
    leafOf((wallets[w] as (typeof wallets)[number]).address, micro, domains[d] as string)
  const moveOf = (leaf: PayoutLeaf, epoch: bigint) => {
    const move = moves.get(keyOf(leaf))
    return move === undefined || move === 'refused' || epoch > move.until ? undefined : move
  }
  const payeeOf = (leaf: PayoutLeaf, epoch: bigint) => {
    const move = moveOf(leaf, epoch)
    const payee = move && now() >= move.readyAt ? move.to : leaf.wallet
    return redirected.get(payee) ?? payee
  }
  const isPending = (leaf: PayoutLeaf, epoch: bigint) => now() < (moveOf(leaf, epoch)?.readyAt ?? 0)
  const expectOutcome = (work: Promise<unknown>, passes: boolean) =>
    passes ? work : expect(work).rejects.toThrow(/revert/)
  const pay = (one: Made, at: number) => {
    const leaf = one.tree.leaves[at] as PayoutLeaf
    one.claimed.add(at)
    const payee = payeeOf(leaf, one.epoch)
    paid.set(payee, (paid.get(payee) ?? 0n) + leaf.micro)
  }
  const execute = async (command: Command): Promise<void> => {
    if (command.kind === 'pass') return it.pass(command.long ? moveDelay : claimDelay)
    if (command.kind === 'advance') {
      const { tree, epoch } = await it.advance(command.leaves.map(([w, d, micro]) => leafAt(w, d, BigInt(micro))))
      made.push({ epoch, tree, opensAt: now() + claimDelay, claimed: new Set() })
      return
    }
    if (command.kind === 'redirect') {
      const from = wallets[command.who] as (typeof wallets)[number]
      const to = targets[command.to]
      await it.send('redirect', [to ?? `0x${'00'.repeat(20)}`], from.privateKey)
      if (to) redirected.set(from.address, to)
      else redirected.delete(from.address)
      return
    }
    if (command.kind === 'move') {
      const leaf = leafAt(command.who, command.domain)
      const to = targets[command.to] ?? thief
      const passes = !moves.has(keyOf(leaf))
      await expectOutcome(it.move(leaf, to), passes)
      if (passes) moves.set(keyOf(leaf), { to, until: await it.epoch(), readyAt: now() + moveDelay })
      return
    }
    if (command.kind === 'refuse') {
      const leaf = leafAt(command.who, command.domain)
      const move = moves.get(keyOf(leaf))
      const passes = move === undefined || move === 'refused' || now() < move.readyAt
      const { privateKey } = wallets[command.who] as (typeof wallets)[number]
      await expectOutcome(it.send('refuseMoves', [[leaf.account]], privateKey), passes)
      if (passes) moves.set(keyOf(leaf), 'refused')
      return
    }
    if (command.kind === 'steal') return steal(command.how)
    if (command.kind === 'claim') {
      const one = made[command.epoch % Math.max(1, made.length)]
      if (!one) return
      const at = command.leaf % one.tree.leaves.length
      const leaf = one.tree.leaves[at] as PayoutLeaf
      const key = command.own ? wallets.find(({ address }) => address === leaf.wallet)?.privateKey : undefined
      const free = command.own || !isPending(leaf, one.epoch)
      const passes = now() >= one.opensAt && !one.claimed.has(at) && free
      await expectOutcome(it.claim(one.tree, one.epoch, leaf, key), passes)
      if (passes) pay(one, at)
      return
    }
    await claimAll(leafAt(command.who, command.domain))
  }
  const claimAll = async (key: PayoutLeaf) => {
    const open = made
      .filter(({ opensAt }) => now() >= opensAt)
      .flatMap((one) => {
        const at = one.tree.leaves.findIndex((leaf) => keyOf(leaf) === keyOf(key))
        return at < 0 ? [] : [{ one, at, leaf: one.tree.leaves[at] as PayoutLeaf }]
      })
    const fresh = open.filter(({ one, at }) => !one.claimed.has(at))
    const sole = new Set(open.map(({ one, leaf }) => payeeOf(leaf, one.epoch))).size === 1
    const free = open.every(({ one, leaf }) => !isPending(leaf, one.epoch))
    const passes = fresh.length > 0 && sole && free
    const claims = open.map(({ one, leaf }) => claimOf(one.tree, one.epoch, leaf))
    await expectOutcome(it.send('claimMany', [key.account, key.wallet, claims]), passes)
    if (passes) for (const { one, at } of fresh) pay(one, at)
  }
  /** With the custody key: nothing of this may pay the thief out of another epoch. */
  const steal = async (how: number) => {
    const one = made[how % Math.max(1, made.length)]
    const next = (await it.epoch()) + 1n
    const stolen = leafOf(thief, one?.tree.potMicro ?? 1n)
    const attempts: (() => Promise<unknown>)[] = [
      // A root without a pot, and one with a pot below its leaves.
      async () => it.send('advance', [[], validBefore, await it.sign(it.treeFor([stolen], next).root, 0n)]),
      async () => {
        const { root } = it.treeFor([leafOf(thief, 9_999n)], next)
        return it.send('advance', [it.given([leafOf(thief, 9_999n)]), validBefore, await it.sign(root, 1n)])
      },
      // A tree of the thief's own against an epoch that is there.
      () => it.claim(it.treeFor([stolen], one?.epoch ?? 1n), one?.epoch ?? 1n, stolen),
      () => it.claim(it.treeFor([stolen], next), next, stolen),
    ]
    await expectOutcome((attempts[how % attempts.length] as () => Promise<unknown>)(), false)
  }
  const check = async (before: { total: bigint; claimed: bigint }) => {
    const all = made.reduce((sum, { tree }) => sum + tree.potMicro, 0n)
    let unclaimed = 0n
    for (const { epoch, tree, claimed } of made) {
      const left = tree.leaves.reduce((sum, { micro }, at) => (claimed.has(at) ? sum : sum + micro), 0n)
      unclaimed += left
      const pot = (await it.read<readonly [string, bigint, bigint]>('epochs', [epoch]))[1]
      expect(pot, 'an epoch has the pot of its leaves').toBe(tree.potMicro)
      expect(left).toBeGreaterThanOrEqual(0n)
    }
    const out = [...paid.values()].reduce((sum, micro) => sum + micro, 0n)
    expect(out + unclaimed, 'paid and unclaimed are what was allotted').toBe(all)
    expect((await it.read<bigint>('total')) - before.total).toBe(all)
    expect((await it.read<bigint>('claimedTotal')) - before.claimed).toBe(out)
    for (const address of [...wallets.map((wallet) => wallet.address), ...targets, thief])
      expect(await it.balance(address), `what ${address} got`).toBe(paid.get(address) ?? 0n)
  }
  /** In the end everybody gets everything: no order of commands has made anything unclaimable. */
  const settle = async () => {
    await it.pass(moveDelay)
    for (const one of made)
      for (const [at, leaf] of one.tree.leaves.entries())
        if (!one.claimed.has(at)) {
          await it.claim(one.tree, one.epoch, leaf)
          pay(one, at)
        }
  }
  return { execute, check, settle }
}

test('whatever is allotted, claimed, redirected, moved, refused and tried with a stolen key: each epoch pays its own pot', async () => {
  const it = await openDistributor(await startTestChain())
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { minLength: 6, maxLength: 22 }), async (commands) => {
      run += 1
      const before = { total: await it.read<bigint>('total'), claimed: await it.read<bigint>('claimedTotal') }
      const held = await it.balance(it.contract)
      const model = createModel(it, run)
      for (const command of commands) {
        await model.execute(command)
        await model.check(before)
      }
      await model.settle()
      await model.check(before)
      expect(await it.balance(it.contract)).toBe(held)
    }),
    { numRuns: Number(process.env['DISTRIBUTOR_RUNS'] ?? 12) },
  )
}, 900_000)
