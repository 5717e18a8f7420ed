import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'

/** An EVM test chain with the test USDC: all that an adversary needs of it. */
export type TestChain = Pick<Devnet, 'chainId' | 'usdc' | 'request'>

export type Transaction = {
  /** Undefined deploys `data`. */
  to?: Address
  data: Hex
  gas?: bigint
  /** EIP-7702: the account is delegated to this contract by the same transaction. */
  delegateTo?: Address
}

/** Signs and sends with a gas limit that is given, so that a call that reverts is mined too. Resolves with its hash. */
export async function sendTransaction(
  chain: TestChain,
  account: PrivateKeyAccount,
  { to, data, gas = 250_000n, delegateTo }: Transaction,
): Promise<Hex> {
  const { chainId } = chain
  const nonce = Number(await chain.request('eth_getTransactionCount', [account.address, 'pending']))
  const gasPrice = BigInt((await chain.request('eth_gasPrice', [])) as string) * 2n
  const fees = { gas, maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice / 2n }
  const call = { chainId, nonce, data, ...fees, ...(to === undefined ? {} : { to }) }
  const raw =
    delegateTo === undefined
      ? await account.signTransaction({ type: 'eip1559', ...call })
      : await account.signTransaction({
          type: 'eip7702',
          ...call,
          // Its own transaction has raised the nonce by the time the delegation is read.
          authorizationList: [
            await account.signAuthorization({ contractAddress: delegateTo, chainId, nonce: nonce + 1 }),
          ],
        })
  return (await chain.request('eth_sendRawTransaction', [raw])) as Hex
}
