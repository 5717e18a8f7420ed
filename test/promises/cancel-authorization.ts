import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Devnet, demoAccount, devnetTransport } from '../../packages/node/src/devnet/index.ts'
import type { Payload } from '../support/till-fixture.ts'

const abi = parseAbi(['function cancelAuthorization(address,bytes32,bytes)'])

/** The payer takes an authorization back on the chain; somebody else carries it there. */
export async function cancelAuthorization(devnet: Devnet, payload: Payload, payer: PrivateKeyAccount): Promise<void> {
  const accepted = payload.accepted as { asset: Hex; extra: { name: string; version: string } }
  const nonce = payload.payload.authorization['nonce'] as Hex
  const signature = await payer.signTypedData({
    domain: { ...accepted.extra, chainId: devnet.chainId, verifyingContract: accepted.asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  })
  const account = privateKeyToAccount(demoAccount('affiliate').privateKey)
  const client = createWalletClient({ account, transport: devnetTransport(devnet) })
  const data = encodeFunctionData({ abi, functionName: 'cancelAuthorization', args: [payer.address, nonce, signature] })
  await client.sendTransaction({ chain: null, to: devnet.usdc, data, gas: 150_000n })
}
