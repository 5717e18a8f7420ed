import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { accountOf, type PayoutLeaf, type PayoutTree, payoutTree } from '@assay/protocol/payout-tree'
import { type Devnet, demoAccount, demoIssuer, demoMover } from '@assay/till/devnet'
import { clients, settler, usdcAbi, usdcBalance } from '@assay/till/devnet/test-chain.fixture'
import { createCustodyKey } from '@assay/till/payouts'
import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import artifact from '../../../../../../contracts/artifacts/CreatorDistributor.json' with { type: 'json' }
import { distributorAbi } from './contracts.ts'
import { createMoverKey } from './mover-key.ts'

export const custody = createCustodyKey(demoAccount('custody').privateKey)
export const mover = createMoverKey(demoMover.privateKey)
export const validBefore = 4_000_000_000n
export const claimDelay = 1_000
export const moveDelay = 10_000

export const leafOf = (wallet: Address, micro: bigint, domain = 'a.test'): PayoutLeaf => ({
  account: accountOf(domain),
  wallet,
  micro,
})

export const claimOf = (tree: PayoutTree, epoch: bigint, leaf: PayoutLeaf) => {
  const at = tree.leaves.findIndex(({ account, wallet }) => account === leaf.account && wallet === leaf.wallet)
  return { epoch, amount: leaf.micro, proof: tree.proofs[at] ?? [] }
}

/** A new contract on a chain of the test. */
export async function openDistributor(devnet: Devnet) {
  const { wallet, reader } = clients(devnet)
  const nonce = await reader.getTransactionCount({ address: settler.address })
  const contract = getContractAddress({ from: settler.address, nonce: BigInt(nonce) }).toLowerCase() as Address
  await wallet.sendTransaction({
    data: encodeDeployData({
      abi: distributorAbi,
      bytecode: artifact.bytecode as Hex,
      args: [devnet.usdc, custody.address, mover.address, BigInt(claimDelay), BigInt(moveDelay)],
    }),
  })
  return distributorAt(devnet, contract)
}

/** A contract with everything its callers could do to it. */
export function distributorAt(devnet: Devnet, contract: Address) {
  const { wallet, reader, tester } = clients(devnet)
  const network = networkOf(devnet)
  const read = <T>(functionName: string, args: unknown[] = []) =>
    reader.readContract({ address: contract, abi: distributorAbi, functionName, args }) as Promise<T>
  /** Simulated first: a call that reverts throws here, with its reason. */
  const send = async (functionName: string, args: unknown[], from: Hex | undefined = undefined): Promise<bigint> => {
    const data = encodeFunctionData({ abi: distributorAbi, functionName, args })
    const sender = from === undefined ? settler : privateKeyToAccount(from)
    if (from !== undefined) await devnet.control.fund(sender.address.toLowerCase() as Address, { microUsdc: 0n })
    await reader.simulateContract({
      address: contract,
      abi: distributorAbi,
      functionName,
      args,
      account: sender.address,
    })
    const hash = await wallet.sendTransaction({ account: sender, to: contract, data, gas: 25_000_000n })
    return (await reader.waitForTransactionReceipt({ hash })).gasUsed
  }
  const epoch = async () => BigInt(await read<bigint>('epoch'))
  const balance = (of: Address) => usdcBalance(devnet, of)
  /** What the books are compared with. */
  const state = async () => ({
    epoch: await epoch(),
    totalMicro: await read<bigint>('total'),
    claimedMicro: await read<bigint>('claimedTotal'),
    balanceMicro: await balance(contract),
  })
  const treeFor = (leaves: readonly PayoutLeaf[], at: bigint) =>
    payoutTree({ chainId: devnet.chainId, contract, epoch: at }, leaves)
  const sign = (nonce: Uint8Array, value: bigint) =>
    custody.authorizeReceipt(network, {
      from: custody.address,
      to: contract,
      value,
      validAfter: 0n,
      validBefore,
      nonce: toHex(nonce),
    })
  const given = (leaves: readonly PayoutLeaf[]) =>
    leaves.map(({ account, wallet, micro }) => ({ account, wallet, amount: micro }))
  const advance = async (leaves: readonly PayoutLeaf[]) => {
    const tree = treeFor(leaves, (await epoch()) + 1n)
    const gas = await send('advance', [given(tree.leaves), validBefore, await sign(tree.root, tree.potMicro)])
    return { tree, gas, epoch: await epoch() }
  }
  const move = (leaf: PayoutLeaf, to: Address, key = mover) =>
    send('requestMove', [
      leaf.account,
      leaf.wallet,
      to,
      validBefore,
      key.sign({ chainId: devnet.chainId, contract }, { ...leaf, to, validBefore }),
    ])
  const pass = async (seconds: number) => {
    await tester.increaseTime({ seconds })
    await devnet.control.mine(1)
  }
  const claim = (tree: PayoutTree, at: bigint, leaf: PayoutLeaf, from?: Hex) =>
    send('claimMany', [leaf.account, leaf.wallet, [claimOf(tree, at, leaf)]], from)
  return {
    ...{
      devnet,
      network,
      contract,
      read,
      send,
      epoch,
      treeFor,
      sign,
      given,
      advance,
      move,
      pass,
      claim,
      balance,
      state,
    },
    block: (blocked: Address) => blockWallet(devnet, blocked),
  }
}

const networkOf = ({ chainId, usdc: address }: Devnet) =>
  ({ chainId, caip2: `eip155:${chainId}`, usdc: { address, name: 'USD Coin', version: '2' } }) as never

/** The issuer of the dollar refuses transfers to this wallet from now on. */
async function blockWallet(devnet: Devnet, blocked: Address): Promise<void> {
  const issuer = privateKeyToAccount(demoIssuer(devnet.chainId).privateKey)
  await devnet.control.fund(issuer.address.toLowerCase() as Address, { microUsdc: 0n })
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'blacklist', args: [blocked] })
  await clients(devnet).wallet.sendTransaction({ account: issuer, to: devnet.usdc, data, gas: 200_000n })
}

export type OpenDistributor = ReturnType<typeof distributorAt>
