// npx tsx bench/creators/main.ts: what an epoch costs the node and a claim costs a creator, in gas, and how long a tree takes.

import {
  claimDelay,
  claimOf,
  leafOf,
  openDistributor,
} from '../../packages/node/src/shops/attestations/creators/distributor.fixture.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { payoutTree } from '../../packages/protocol/src/payout-tree.ts'
import { startDevnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'

const creatorAt = (n: number): Address => `0x${(0xc0de_0000 + n).toString(16).padStart(40, '0')}`
const leavesOf = (count: number) => Array.from({ length: count }, (_, n) => leafOf(creatorAt(n), BigInt(50_000 + n)))
const plain = (value: bigint | number) => value.toLocaleString('en-US')

const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
try {
  const it = await openDistributor(devnet)
  const gas = new Map<number, bigint>()
  for (const count of [1, 100, 500, 1_000]) gas.set(count, (await it.advance(leavesOf(count))).gas)
  for (const [count, used] of gas) console.log(`advance with ${plain(count)} leaves: ${plain(used)} gas`)
  console.log(`a further leaf: ${plain(((gas.get(1_000) ?? 0n) - (gas.get(500) ?? 0n)) / 500n)} gas`)

  const leaf = leavesOf(1)[0] as ReturnType<typeof leafOf>
  const epochs: { tree: ReturnType<typeof payoutTree>; epoch: bigint }[] = []
  for (let n = 0; n < 300; n += 1) epochs.push(await it.advance(leavesOf(64)))
  await it.pass(claimDelay)
  const claims = epochs.map(({ tree, epoch }) => claimOf(tree, epoch, leaf))
  const one = await it.send('claimMany', [leaf.account, leaf.wallet, claims.slice(0, 1)])
  const many = await it.send('claimMany', [leaf.account, leaf.wallet, claims.slice(1)])
  console.log(`claim of 1 epoch of 64 creators: ${plain(one)} gas`)
  console.log(`claim of 299 epochs in one call: ${plain(many)} gas, ${plain(many / 299n)} each`)

  const place = { chainId: 8453, contract: it.contract, epoch: 1n }
  payoutTree(place, leavesOf(100))
  const startedMs = performance.now()
  payoutTree(place, leavesOf(1_000))
  console.log(`tree of 1,000 leaves with all proofs: ${Math.round(performance.now() - startedMs)} ms`)
} finally {
  await devnet.stop()
}
