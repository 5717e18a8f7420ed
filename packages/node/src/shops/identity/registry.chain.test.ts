import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { createRpc, RpcRefusal } from '@assay/till/chain'
import { clients, settler, startTestChain } from '@assay/till/devnet/test-chain.fixture'
import { systemClock } from '@assay/till/kernel/clock'
import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import artifact from '../../../../../contracts/artifacts/AgentRegistry.json' with { type: 'json' }
import { createRegistries } from './registry.ts'

const network = 'eip155:8453'
const lower = (address: string) => address.toLowerCase() as Address

/** A registry on a real EVM, and a node that reads it; `later` lets what was kept run out. */
async function openRegistry() {
  const devnet = await startTestChain()
  const { wallet, reader } = clients(devnet)
  const nonce = await reader.getTransactionCount({ address: settler.address })
  const address = lower(getContractAddress({ from: settler.address, nonce: BigInt(nonce) }))
  const endpoint = {
    name: 'devnet',
    send: (calls: readonly { method: string; params: readonly unknown[] }[]) =>
      Promise.all(
        calls.map(({ method, params }) =>
          devnet.request(method, params).catch((error: { code?: number; message: string; data?: unknown }) => {
            throw new RpcRefusal(error.code ?? -32603, error.message, error.data)
          }),
        ),
      ),
  }
  let passedMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
  const rpc = createRpc([endpoint], { clock: systemClock })
  const { abi } = artifact
  return {
    address,
    registries: createRegistries({
      rpcs: new Map([[network, rpc]]),
      registries: new Map([[network, address]]),
      clock,
    }),
    later: () => {
      passedMs += 61_000
    },
    deploy: () =>
      wallet.sendTransaction({ data: encodeDeployData({ abi, bytecode: artifact.bytecode as Hex, args: [] }) }),
    send: async (functionName: string, args: unknown[]) => {
      const data = encodeFunctionData({ abi, functionName, args })
      await reader.call({ account: settler.address, to: address, data })
      await wallet.sendTransaction({ to: address, data, gas: 500_000n })
    },
  }
}

test('an agent of a real registry is spoken for by its wallet, and after a transfer by its owner', async () => {
  const { registries, address, later, deploy, send } = await openRegistry()
  expect(await registries.registryOn(network)).toBeUndefined()
  await deploy()
  later()
  expect((await registries.registryOn(network))?.toLowerCase()).toBe(`${network}:${address}`)
  // Nobody has this number yet: the contract reverts, and that is no outage.
  expect(await registries.walletOf(network, '0')).toBeUndefined()
  await send('register', ['https://agent.example.org/registration.json'])
  later()
  expect(await registries.walletOf(network, '0')).toBe(lower(settler.address))

  const agent = privateKeyToAccount(generatePrivateKey())
  const deadline = 4_000_000_000n
  const signature = await agent.signTypedData({
    domain: { name: 'ERC8004IdentityRegistry', version: '1', chainId: 8453, verifyingContract: address },
    types: {
      AgentWalletSet: [
        { name: 'agentId', type: 'uint256' },
        { name: 'newWallet', type: 'address' },
        { name: 'owner', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'AgentWalletSet',
    message: { agentId: 0n, newWallet: agent.address, owner: settler.address, deadline },
  })
  await send('setAgentWallet', [0n, agent.address, deadline, signature])
  later()
  expect(await registries.walletOf(network, '0')).toBe(lower(agent.address))

  const heir = privateKeyToAccount(generatePrivateKey())
  await send('transferFrom', [settler.address, heir.address, 0n])
  later()
  expect(await registries.walletOf(network, '0')).toBe(lower(heir.address))
})
