import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { demoAccount, devnetTransport } from '../../packages/node/src/devnet/index.ts'
import type { Payload, TillFixture } from './till-fixture.ts'

const abi = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'])

/** Anybody can bring an authorization to the chain. */
export async function carryAuthorization({ base }: Pick<TillFixture, 'base'>, { payload }: Payload): Promise<void> {
  const told = payload.authorization as Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', Hex>
  const carrier = createWalletClient({
    account: privateKeyToAccount(demoAccount('affiliate').privateKey),
    transport: devnetTransport(base),
  })
  const data = encodeFunctionData({
    abi,
    functionName: 'transferWithAuthorization',
    args: [
      told.from,
      told.to,
      BigInt(told.value),
      BigInt(told.validAfter),
      BigInt(told.validBefore),
      told.nonce,
      payload.signature,
    ],
  })
  await carrier.sendTransaction({ chain: null, to: base.usdc, data, gas: 200_000n })
}
