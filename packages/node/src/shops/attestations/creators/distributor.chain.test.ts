import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { testKey } from '@assay/till/chain/wallet/wallet.fixture'
import { demoAccount } from '@assay/till/devnet'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import { createCustodyKey } from '@assay/till/payouts'
import { expect, test } from 'vitest'
import { claimDelay, claimOf, leafOf, moveDelay, mover, openDistributor, validBefore } from './distributor.fixture.ts'
import { createMoverKey } from './mover-key.ts'

const creatorAt = (n: number): Address => `0x${(0xc0de_0000 + n).toString(16).padStart(40, '0')}`
const open = async () => openDistributor(await startTestChain())

test('an epoch is backed in the call that sets it, and pays each creator what it says, once and for ever', async () => {
  const it = await open()
  const [a, b] = [leafOf(creatorAt(1), 4_500n), leafOf(creatorAt(2), 9_000n)]
  const first = await it.advance([a, b])
  expect(await it.balance(it.contract)).toBe(13_500n)
  await expect(it.claim(first.tree, 1n, a)).rejects.toThrow(/NotOpen/)
  await it.pass(claimDelay)
  await it.claim(first.tree, 1n, a)
  expect(await it.balance(a.wallet)).toBe(4_500n)
  await expect(it.claim(first.tree, 1n, a)).rejects.toThrow(/NothingToClaim/)
  const more = leafOf(a.wallet, 1_500n)
  const second = await it.advance([more])
  await it.pass(claimDelay)
  // What b left in the first epoch is still there, however many follow.
  await it.claim(first.tree, 1n, b)
  await it.claim(second.tree, 2n, more)
  expect(await it.balance(a.wallet)).toBe(6_000n)
  expect(await it.balance(b.wallet)).toBe(9_000n)
  expect(await it.balance(it.contract)).toBe(0n)
})

test('nothing but the very leaves that the treasurer signed for can be set, and never twice', async () => {
  const it = await open()
  const leaves = [leafOf(creatorAt(1), 5_000n)]
  const tree = it.treeFor(leaves, 1n)
  const signature = await it.sign(tree.root, 5_000n)
  const set = (other: typeof leaves, by = signature) => it.send('advance', [it.given(other), validBefore, by])
  await expect(set([leafOf(creatorAt(9), 5_000n)])).rejects.toThrow()
  await expect(set([leafOf(creatorAt(1), 6_000n)])).rejects.toThrow()
  await expect(set([leafOf(creatorAt(1), 5_000n, 'b.test')])).rejects.toThrow()
  await expect(set(leaves, await it.sign(tree.root, 4_999n))).rejects.toThrow()
  await expect(set([])).rejects.toThrow(/NothingAdded/)
  await expect(set([leafOf(creatorAt(1), 0n)])).rejects.toThrow(/NothingAdded/)
  await expect(set([...leaves, ...leaves])).rejects.toThrow(/NotAscending/)
  await set(leaves)
  await expect(set(leaves)).rejects.toThrow()
  expect(await it.epoch()).toBe(1n)
})

test('claims that exceed, alter or borrow a proof are refused', async () => {
  const it = await open()
  const leaves = [1, 2, 3, 4, 5].map((n) => leafOf(creatorAt(n), BigInt(n) * 1_000n))
  const { tree } = await it.advance(leaves)
  await it.advance(leaves)
  await it.pass(claimDelay)
  const leaf = leaves[2] as (typeof leaves)[number]
  const { proof } = claimOf(tree, 1n, leaf)
  const args = (changes: Partial<{ epoch: bigint; account: Hex; wallet: Address; amount: bigint; proof: Hex[] }>) => {
    const all = { epoch: 1n, account: leaf.account, wallet: leaf.wallet, amount: leaf.micro, proof, ...changes }
    return [all.epoch, all.account, all.wallet, all.amount, all.proof]
  }
  for (const changes of [
    { amount: 3_001n },
    { wallet: creatorAt(4) },
    { account: toHex(tree.root) },
    { epoch: 2n },
    { epoch: 3n },
    { proof: proof.slice(1) },
    { proof: [...proof, toHex(tree.root)] },
    { proof: [] },
  ])
    await expect(it.send('claimFor', args(changes))).rejects.toThrow(/NotInRoot/)
  await it.send('claimFor', args({}))
})

test('one call claims many epochs, and leaves out what somebody claimed before', async () => {
  const it = await open()
  const leaf = leafOf(creatorAt(1), 10n)
  const made: { tree: Awaited<ReturnType<typeof it.advance>>['tree']; epoch: bigint }[] = []
  for (let n = 0; n < 40; n += 1)
    made.push(await it.advance([leaf, leafOf(creatorAt(2), 5n), leafOf(creatorAt(3), 1n)]))
  await it.pass(claimDelay)
  const claims = made.map(({ tree, epoch }) => claimOf(tree, epoch, leaf))
  await it.send('claimMany', [leaf.account, leaf.wallet, claims.slice(7, 8)])
  const few = await it.send('claimMany', [leaf.account, leaf.wallet, claims.slice(0, 10)])
  expect(await it.balance(leaf.wallet)).toBe(100n)
  const many = await it.send('claimMany', [leaf.account, leaf.wallet, claims])
  expect(await it.balance(leaf.wallet)).toBe(400n)
  await expect(it.send('claimMany', [leaf.account, leaf.wallet, claims])).rejects.toThrow(/NothingToClaim/)
  // A further epoch costs the creator a fraction of what the first one does.
  expect((many - few) / 20n).toBeLessThan(few / 3n)
})

test('a wallet that cannot receive keeps its money, and can name another one', async () => {
  const it = await open()
  const blocked = testKey('blocked creator')
  const leaf = leafOf(blocked.address, 700n)
  const { tree } = await it.advance([leaf])
  await it.pass(claimDelay)
  await it.block(blocked.address)
  await expect(it.claim(tree, 1n, leaf)).rejects.toThrow()
  expect(await it.read('isClaimed', [1n, leaf.account, leaf.wallet])).toBe(false)
  await it.send('redirect', [creatorAt(7)], blocked.privateKey)
  await it.claim(tree, 1n, leaf)
  expect(await it.balance(creatorAt(7))).toBe(700n)
})

test('a lost wallet’s money moves after a delay; meanwhile only that wallet can claim, and later epochs stay its own', async () => {
  const it = await open()
  const leaf = leafOf(creatorAt(1), 700n)
  const other = leafOf(creatorAt(1), 30n, 'b.test')
  const first = await it.advance([leaf, other])
  await it.pass(claimDelay)
  await it.move(leaf, creatorAt(5))
  await expect(it.claim(first.tree, 1n, leaf)).rejects.toThrow(/MovePending/)
  await it.claim(first.tree, 1n, other)
  await expect(it.move(leaf, creatorAt(6))).rejects.toThrow(/MoveNotPossible/)
  const second = await it.advance([leaf])
  await it.pass(moveDelay)
  const both = [claimOf(first.tree, 1n, leaf), claimOf(second.tree, 2n, leaf)]
  await expect(it.send('claimMany', [leaf.account, leaf.wallet, both])).rejects.toThrow(/DifferentPayees/)
  await it.claim(first.tree, 1n, leaf)
  await it.claim(second.tree, 2n, leaf)
  expect(await it.balance(creatorAt(5))).toBe(700n)
  expect(await it.balance(creatorAt(1))).toBe(730n)
})

test('the wallet refuses a move with one transaction, for good, and can claim while it is pending', async () => {
  const it = await open()
  const creator = testKey('refusing creator')
  const [leaf, kept] = [leafOf(creator.address, 700n), leafOf(creator.address, 40n, 'b.test')]
  const { tree } = await it.advance([leaf, kept])
  await it.pass(claimDelay)
  await it.move(leaf, creatorAt(5))
  await it.move(kept, creatorAt(5))
  await it.claim(tree, 1n, kept, creator.privateKey)
  expect(await it.balance(creator.address)).toBe(40n)
  await it.send('refuseMoves', [[leaf.account]], creator.privateKey)
  await it.pass(moveDelay)
  await expect(it.move(leaf, creatorAt(6))).rejects.toThrow(/MoveNotPossible/)
  await expect(it.send('refuseMoves', [[kept.account]], creator.privateKey)).rejects.toThrow(/MoveNotPossible/)
  await it.claim(tree, 1n, leaf)
  expect(await it.balance(creator.address)).toBe(740n)
  expect(await it.balance(creatorAt(5))).toBe(0n)
})

test('a move needs the mover: no other key, no other move, no other contract', async () => {
  const it = await open()
  const other = await openDistributor(it.devnet)
  const leaf = leafOf(creatorAt(1), 700n)
  await it.advance([leaf])
  const request = { ...leaf, to: creatorAt(5), validBefore }
  const place = { chainId: it.devnet.chainId, contract: it.contract }
  const thief = createMoverKey(demoAccount('custody').privateKey)
  expect(thief.address).toBe(createCustodyKey(demoAccount('custody').privateKey).address)
  for (const signature of [
    thief.sign(place, request),
    mover.sign({ ...place, contract: other.contract }, request),
    mover.sign(place, { ...request, to: creatorAt(6) }),
    `0x${'00'.repeat(65)}` as Hex,
    '0x' as Hex,
  ])
    await expect(
      it.send('requestMove', [leaf.account, leaf.wallet, creatorAt(5), validBefore, signature]),
    ).rejects.toThrow(/BadSignature/)
})
