import type { Hex } from 'viem'
import type { Devnet } from '../../packages/node/src/devnet/index.ts'
import type { Address } from '../../packages/node/src/kernel/address.ts'
import type { World } from './world.ts'

/** A transaction of a buyer's own. What the chain refuses has not happened, and nobody minds. */
export async function sendAs(world: World, chain: Devnet, buyer: number, to: Address, data: Hex): Promise<void> {
  const account = world.buyers[buyer]
  if (!account) return
  const nonce = Number(await chain.request('eth_getTransactionCount', [account.address, 'pending']))
  const gasPrice = BigInt((await chain.request('eth_gasPrice', [])) as string) * 2n
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    to,
    nonce,
    gas: 250_000n,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice / 2n,
    data,
  })
  await chain.request('eth_sendRawTransaction', [raw]).catch(() => {})
}
