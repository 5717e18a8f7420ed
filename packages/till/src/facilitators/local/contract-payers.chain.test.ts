import type { Address } from '@assay/protocol/address'
import { encodeFunctionData, serializeErc6492Signature, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import gasBurning from '../../../../../contracts/artifacts/GasBurningWallet.json' with { type: 'json' }
import switchWallet from '../../../../../contracts/artifacts/SwitchWallet.json' with { type: 'json' }
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import type { SettleOutcome } from '../../contract/facilitator.ts'
import { type ContractArtifact, contractArtifacts } from '../../devnet/index.ts'
import { paymentOf } from './local.fixture.ts'
import { alive, client, deploy, local, payer, transactionOf, useLocalChain, world } from './use-local-chain.fixture.ts'

useLocalChain()

describe('contract wallets', () => {
  const owner = testPayer('wallet owner')

  it('pay with the signature of their owner, alone and under a gas limit', async () => {
    const wallet = await deploy(contractArtifacts.smartWallet, [owner.address])
    await world.devnet.control.fund(wallet)
    const facilitator = local()
    const outcomes = await Promise.all(
      [testPayer('wallet owner', wallet), payer(28), payer(29)].map((one) =>
        facilitator.settle(paymentOf(world.network, one), alive()),
      ),
    )
    expect(outcomes.every((outcome) => outcome.status === 'submitted')).toBe(true)
    expect(transactionOf(outcomes[0] as SettleOutcome)).not.toBe(transactionOf(outcomes[1] as SettleOutcome))
    expect(transactionOf(outcomes[1] as SettleOutcome)).toBe(transactionOf(outcomes[2] as SettleOutcome))
  })

  it('that burn all gas are refused in the simulation', async () => {
    const wallet = await deploy(gasBurning as ContractArtifact)
    await world.devnet.control.fund(wallet)
    const outcome = await local().settle(paymentOf(world.network, testPayer('x', wallet)), alive())
    expect(outcome.status).toBe('refused')
    expect(world.methods).not.toContain('eth_sendRawTransaction')
  })

  it('that change their mind in the block cost one capped transaction and harm nobody else', async () => {
    const wallet = await deploy(switchWallet as ContractArtifact)
    await world.devnet.control.fund(wallet)
    await world.devnet.control.holdMining()
    const abi = (switchWallet as ContractArtifact).abi
    await client().writeContract({ address: wallet, abi, functionName: 'setValid', args: [false], gas: 100_000n })
    const settling = local().settle(paymentOf(world.network, testPayer('x', wallet)), alive())
    await expect.poll(() => world.methods.includes('eth_sendRawTransaction')).toBe(true)
    await world.devnet.control.releaseMining()
    expect(await settling).toMatchObject({ status: 'refused', reason: 'invalid_exact_evm_payload_signature' })
  })

  it('that are not deployed yet pay only through a factory on the list', async () => {
    const factory = await deploy(contractArtifacts.smartWalletFactory)
    const abi = contractArtifacts.smartWalletFactory.abi
    const args = [owner.address, toHex(7, { size: 32 })] as const
    const answer = (await world.devnet.request('eth_call', [
      { to: factory, data: encodeFunctionData({ abi, functionName: 'walletAddress', args }) },
      'latest',
    ])) as string
    const address = `0x${answer.slice(-40)}` as Address
    await world.devnet.control.fund(address)
    const plain = paymentOf(world.network, testPayer('wallet owner', address))
    const data = encodeFunctionData({ abi, functionName: 'createWallet', args })
    const payment = {
      ...plain,
      signature: serializeErc6492Signature({ address: factory, data, signature: plain.signature }),
    }
    expect(await local().settle(payment, alive())).toMatchObject({
      status: 'refused',
      reason: 'eip6492_factory_not_allowed',
    })
    expect(await local({ factories: [factory] }).settle(payment, alive())).toMatchObject({ status: 'submitted' })
    const again = paymentOf(world.network, testPayer('wallet owner', address))
    const wrapped = {
      ...again,
      signature: serializeErc6492Signature({ address: factory, data, signature: again.signature }),
    }
    expect(await local().settle(wrapped, alive())).toMatchObject({ status: 'submitted' })
  })
})
