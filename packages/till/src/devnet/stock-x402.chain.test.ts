import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as ExactClient } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { createWalletClient, publicActions } from 'viem'
import { expect, test } from 'vitest'
import { devnetTransport } from './index.ts'
import { buyer, operator, settler, startTestChain, usdcBalance, viemChain } from './test-chain.fixture.ts'

test.each([8453, 137])('the stock x402 client and facilitator pay with our dollar on %i', async (chainId) => {
  const devnet = await startTestChain({ chainId })
  const network = `eip155:${chainId}` as const
  const requirements = {
    scheme: 'exact',
    network,
    asset: devnet.usdc,
    amount: '20000',
    payTo: operator,
    maxTimeoutSeconds: 60,
    extra: { name: 'USD Coin', version: '2' },
  }
  const signed = await new ExactClient(buyer).createPaymentPayload(2, requirements)
  const payload = {
    ...signed,
    resource: { url: 'http://127.0.0.1/x', description: '', mimeType: '' },
    accepted: requirements,
  }
  const client = createWalletClient({
    account: settler,
    chain: viemChain(devnet),
    transport: devnetTransport(devnet),
  }).extend(publicActions)
  const facilitator = new ExactFacilitator(
    toFacilitatorEvmSigner({ ...client, address: settler.address } as unknown as Parameters<
      typeof toFacilitatorEvmSigner
    >[0]),
  )
  const before = await usdcBalance(devnet, operator)
  expect(await facilitator.verify(payload, requirements)).toMatchObject({ isValid: true })
  expect(await facilitator.settle(payload, requirements)).toMatchObject({ success: true, network })
  expect(await usdcBalance(devnet, operator)).toBe(before + 20_000n)
  expect(await facilitator.verify(payload, requirements)).toMatchObject({ isValid: false })
})
