import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { encodeFunctionData, serializeErc6492Signature, toHex, verifyTypedData as verifyWithKey } from 'viem'
import { expect, test } from 'vitest'
import gasBurning from '../../../../contracts/artifacts/GasBurningWallet.json' with { type: 'json' }
import switchWallet from '../../../../contracts/artifacts/SwitchWallet.json' with { type: 'json' }
import yesWallet from '../../../../contracts/artifacts/YesWallet.json' with { type: 'json' }
import { type ContractArtifact, contractArtifacts, type Devnet } from './index.ts'
import {
  authorization,
  buyer,
  clients,
  signAuthorization,
  startTestChain,
  transferCall,
  usdcDomain,
} from './test-chain.fixture.ts'

async function deploy(devnet: Devnet, artifact: ContractArtifact, args: readonly unknown[] = []): Promise<Address> {
  const { reader, wallet } = clients(devnet)
  const hash = await wallet.deployContract({ abi: artifact.abi, bytecode: artifact.bytecode, args })
  const { contractAddress } = await reader.getTransactionReceipt({ hash })
  return (contractAddress ?? '').toLowerCase() as Address
}

const pay = (devnet: Devnet, data: Hex) => {
  const { reader, wallet } = clients(devnet)
  return {
    simulate: () => reader.call({ to: devnet.usdc, data, account: wallet.account, gas: 1_000_000n }),
    settle: async () =>
      reader.getTransactionReceipt({ hash: await wallet.sendTransaction({ to: devnet.usdc, data, gas: 300_000n }) }),
  }
}

test('a contract wallet pays with the signature of its owner', async () => {
  const devnet = await startTestChain()
  const wallet = await deploy(devnet, contractArtifacts.smartWallet, [buyer.address])
  await devnet.control.fund(wallet)
  const message = authorization({ from: wallet })
  const receipt = await pay(devnet, transferCall(message, await signAuthorization(devnet, message))).settle()
  expect(receipt.status).toBe('success')
  const foreign = authorization({ from: wallet })
  await expect(pay(devnet, transferCall(foreign, `0x${'11'.repeat(65)}`)).simulate()).rejects.toThrow(
    'invalid signature',
  )
})

test('a wallet that does not exist yet is verified by ERC-6492, then deployed and charged', async () => {
  const devnet = await startTestChain()
  const { reader, wallet: client } = clients(devnet)
  const factory = await deploy(devnet, contractArtifacts.smartWalletFactory)
  const salt = toHex(1, { size: 32 })
  const abi = contractArtifacts.smartWalletFactory.abi
  const args = [buyer.address, salt] as const
  const address = (await reader.readContract({ address: factory, abi, functionName: 'walletAddress', args })) as Address
  const from = address.toLowerCase() as Address
  await devnet.control.fund(from)
  const message = authorization({ from })
  const signature = await signAuthorization(devnet, message)
  const typed = {
    domain: usdcDomain(devnet),
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization' as const,
    message,
  }
  const data = encodeFunctionData({ abi, functionName: 'createWallet', args })
  const wrapped = serializeErc6492Signature({ address: factory, data, signature })
  expect(await verifyWithKey({ ...typed, address: from, signature })).toBe(false)
  expect(await reader.verifyTypedData({ ...typed, address: from, signature: wrapped })).toBe(true)
  for (let time = 0; time < 2; time += 1) await client.sendTransaction({ to: factory, data })
  expect((await pay(devnet, transferCall(message, signature)).settle()).status).toBe('success')
})

test('hostile wallets: one burns all gas, one says yes to everything, one changes its mind', async () => {
  const devnet = await startTestChain()
  const { wallet: client } = clients(devnet)
  const junk: Hex = `0x${'22'.repeat(65)}`
  const addressOf = async (artifact: unknown) => {
    const address = await deploy(devnet, artifact as ContractArtifact)
    await devnet.control.fund(address)
    return address
  }
  const burning = await addressOf(gasBurning)
  await expect(pay(devnet, transferCall(authorization({ from: burning }), junk)).simulate()).rejects.toThrow()

  const yes = await addressOf(yesWallet)
  expect((await pay(devnet, transferCall(authorization({ from: yes }), junk)).settle()).status).toBe('success')

  const switching = await addressOf(switchWallet)
  const payment = pay(devnet, transferCall(authorization({ from: switching }), junk))
  await payment.simulate()
  await client.writeContract({
    address: switching,
    abi: (switchWallet as ContractArtifact).abi,
    functionName: 'setValid',
    args: [false],
  })
  expect((await payment.settle()).status).toBe('reverted')
})
