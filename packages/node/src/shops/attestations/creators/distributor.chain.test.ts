import type { Address } from '@assay/till/kernel/address'
import { type Hex, toHex } from '@assay/till/kernel/bytes'
import { createCustodyKey } from '@assay/till/payouts'
import fc from 'fast-check'
import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { expect, test } from 'vitest'
import artifact from '../../../../../../contracts/artifacts/CreatorDistributor.json' with { type: 'json' }
import { demoAccount } from '../../../devnet/index.ts'
import { clients, settler, startTestChain, usdcBalance } from '../../../devnet/test-chain.ts'
import { distributorAbi } from './contracts.ts'
import { payoutTree } from './payout-tree.ts'
import { rootNonce } from './sign-root.ts'

const custody = demoAccount('custody')
const key = createCustodyKey(custody.privateKey)
const creatorAt = (n: number): Address => `0x${(0xc0de_0000 + n).toString(16).padStart(40, '0')}`
const validBefore = 4_000_000_000n

async function openDistributor() {
  const devnet = await startTestChain()
  const { wallet, reader } = clients(devnet)
  const nonce = await reader.getTransactionCount({ address: settler.address })
  const contract = getContractAddress({ from: settler.address, nonce: BigInt(nonce) }).toLowerCase() as Address
  await wallet.sendTransaction({
    data: encodeDeployData({
      abi: distributorAbi,
      bytecode: artifact.bytecode as Hex,
      args: [devnet.usdc, custody.address],
    }),
  })
  const network = {
    chainId: devnet.chainId,
    caip2: `eip155:${devnet.chainId}`,
    usdc: { address: devnet.usdc, name: 'USD Coin', version: '2' },
  } as never
  const place = { network, distributor: { address: contract, initCode: '0x' } } as never
  const read = (functionName: string, args: unknown[] = []) =>
    reader.readContract({ address: contract, abi: distributorAbi, functionName, args }) as Promise<never>
  const send = async (functionName: string, args: unknown[]) => {
    const data = encodeFunctionData({ abi: distributorAbi, functionName, args })
    // Simulated first: a call that reverts throws here, with its reason.
    await reader.call({ account: settler.address, to: contract, data })
    await wallet.sendTransaction({ to: contract, data, gas: 500_000n })
  }
  const state = async () => ({
    root: Buffer.from(((await read('root')) as Hex).slice(2), 'hex'),
    epoch: BigInt(await read('epoch')),
    total: BigInt(await read('total')),
    claimed: BigInt(await read('claimedTotal')),
  })
  const treeOf = (sums: ReadonlyMap<Address, bigint>) =>
    payoutTree(
      { chainId: devnet.chainId, contract },
      [...sums].map(([wallet, cumulativeMicro]) => ({ wallet, cumulativeMicro })),
    )
  const sign = async (root: Buffer, total: bigint, value?: bigint) => {
    const now = await state()
    return key.authorizeReceipt(network, {
      from: custody.address,
      to: contract,
      value: value ?? total - now.total,
      validAfter: 0n,
      validBefore,
      nonce: rootNonce(place, now.epoch, now.root, root, total),
    })
  }
  const advance = async (sums: ReadonlyMap<Address, bigint>) => {
    const tree = treeOf(sums)
    await send('advance', [toHex(tree.root), tree.totalMicro, validBefore, await sign(tree.root, tree.totalMicro)])
    return tree
  }
  return {
    devnet,
    contract,
    read,
    send,
    state,
    treeOf,
    sign,
    advance,
    balance: (of: Address) => usdcBalance(devnet, of),
  }
}

test('a root is backed in the call that sets it, and pays each creator what it says, once', async () => {
  const it = await openDistributor()
  const [a, b] = [creatorAt(1), creatorAt(2)]
  const first = await it.advance(
    new Map([
      [a, 4_500n],
      [b, 9_000n],
    ]),
  )
  expect(await it.balance(it.contract)).toBe(13_500n)
  await it.send('claimFor', [a, 4_500n, first.proofOf(a)])
  expect(await it.balance(a)).toBe(4_500n)
  await expect(it.send('claimFor', [a, 4_500n, first.proofOf(a)])).rejects.toThrow(/NothingToClaim|reverted/)
  const second = await it.advance(
    new Map([
      [a, 6_000n],
      [b, 9_000n],
    ]),
  )
  // What b left unclaimed in the first root is in the second; the old proof no longer fits.
  await expect(it.send('claimFor', [b, 9_000n, first.proofOf(b)])).rejects.toThrow()
  await it.send('claimFor', [b, 9_000n, second.proofOf(b)])
  await it.send('claimFor', [a, 6_000n, second.proofOf(a)])
  expect(await it.balance(a)).toBe(6_000n)
  expect(await it.balance(b)).toBe(9_000n)
  expect(await it.balance(it.contract)).toBe(0n)
})

test('nothing but the very root that the treasurer signed for can be set, and never twice', async () => {
  const it = await openDistributor()
  const tree = it.treeOf(new Map([[creatorAt(1), 5_000n]]))
  const other = it.treeOf(new Map([[creatorAt(9), 5_000n]]))
  const signature = await it.sign(tree.root, 5_000n)
  await expect(it.send('advance', [toHex(other.root), 5_000n, validBefore, signature])).rejects.toThrow()
  await expect(it.send('advance', [toHex(tree.root), 6_000n, validBefore, signature])).rejects.toThrow()
  const tooLittle = await it.sign(tree.root, 5_000n, 4_999n)
  await expect(it.send('advance', [toHex(tree.root), 5_000n, validBefore, tooLittle])).rejects.toThrow()
  await it.send('advance', [toHex(tree.root), 5_000n, validBefore, signature])
  await expect(it.send('advance', [toHex(tree.root), 5_000n, validBefore, signature])).rejects.toThrow(
    /NothingAdded|reverted/,
  )
  expect((await it.state()).epoch).toBe(1n)
})

test('claims that exceed, bend or borrow a proof are refused', async () => {
  const it = await openDistributor()
  const sums = new Map([1, 2, 3, 4, 5].map((n) => [creatorAt(n), BigInt(n) * 1_000n]))
  const tree = await it.advance(sums)
  const proof = tree.proofOf(creatorAt(3)) as Hex[]
  for (const args of [
    [creatorAt(3), 3_001n, proof],
    [creatorAt(4), 3_000n, proof],
    [creatorAt(3), 3_000n, proof.slice(1)],
    [creatorAt(3), 3_000n, [...proof, toHex(tree.root)]],
    [creatorAt(3), 3_000n, []],
  ])
    await expect(it.send('claimFor', args)).rejects.toThrow()
  await it.send('claimFor', [creatorAt(3), 3_000n, proof])
})

type Step = { kind: 'earn'; gains: [number, number][] } | { kind: 'claim'; who: number }

test('whatever is earned and claimed, in any order: paid + held = committed, and nobody gets more than earned', async () => {
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('earn' as const),
        gains: fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: 1, max: 100_000 })), {
          minLength: 1,
          maxLength: 5,
        }),
      }),
      fc.record({ kind: fc.constant('claim' as const), who: fc.nat({ max: 6 }) }),
    ),
    { minLength: 3, maxLength: 10 },
  )
  const it = await openDistributor()
  let offset = 0
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      // Creators of their own for each run, on one contract: its sums go on from run to run.
      offset += 10
      const start = await it.state()
      const base = creatorAt(1_000_000 + offset)
      const sums = new Map<Address, bigint>(start.total === 0n ? [] : [[base, start.total]])
      const claimed = new Map<Address, bigint>()
      let tree = it.treeOf(sums)
      for (const step of list) {
        if (step.kind === 'earn') {
          for (const [n, micro] of step.gains) {
            const wallet = creatorAt(2_000_000 + offset * 10 + n)
            sums.set(wallet, (sums.get(wallet) ?? 0n) + BigInt(micro))
          }
          tree = await it.advance(sums)
          continue
        }
        const wallet = creatorAt(2_000_000 + offset * 10 + step.who)
        const due = sums.get(wallet) ?? 0n
        const proof = tree.proofOf(wallet) ?? []
        if (due > (claimed.get(wallet) ?? 0n)) {
          await it.send('claimFor', [wallet, due, proof])
          claimed.set(wallet, due)
        } else await expect(it.send('claimFor', [wallet, due, proof])).rejects.toThrow()
        expect(await it.balance(wallet)).toBe(claimed.get(wallet) ?? 0n)
      }
      const end = await it.state()
      expect(await it.balance(it.contract)).toBe(end.total - end.claimed)
      expect(end.claimed - start.claimed).toBe([...claimed.values()].reduce((sum, micro) => sum + micro, 0n))
    }),
    { numRuns: 8 },
  )
})
