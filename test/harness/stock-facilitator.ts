import { createServer } from 'node:http'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { UptoEvmScheme } from '@x402/evm/upto/facilitator'
import { createWalletClient, defineChain, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type Devnet, devnetTransport } from '../../packages/till/src/devnet/index.ts'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are handed on as they came
type Body = any
export type StockFacilitator = { url: string; wallet: Address; settled: Body[]; close(): Promise<void> }

/** The facilitator of @x402/evm behind HTTP, with its own wallet. `schemes`: what it says it supports. */
export async function startStockFacilitator(
  devnet: Devnet,
  schemes: readonly ('exact' | 'upto')[],
): Promise<StockFacilitator> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = account.address.toLowerCase() as Address
  await devnet.control.fund(wallet, { microUsdc: 0n })
  const network = `eip155:${devnet.chainId}`
  const chain = defineChain({
    id: devnet.chainId,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  const client = createWalletClient({ account, chain, transport: devnetTransport(devnet) }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as never)
  const made = { exact: new ExactEvmScheme(signer), upto: new UptoEvmScheme(signer) }
  const settled: Body[] = []
  const answer = async (path: string, body: Body): Promise<unknown> => {
    if (path.endsWith('/supported')) {
      const kinds = schemes.map((scheme) => ({
        x402Version: 2,
        ...{ scheme, network, extra: scheme === 'upto' ? made.upto.getExtra(network) : undefined },
      }))
      return { kinds, signers: { 'eip155:*': [account.address] }, extensions: [] }
    }
    const { paymentPayload, paymentRequirements } = body
    const scheme = made[paymentRequirements.scheme as 'exact' | 'upto']
    if (path.endsWith('/verify')) return scheme.verify(paymentPayload, paymentRequirements)
    settled.push(body)
    return scheme.settle(paymentPayload, paymentRequirements)
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const said = await answer(request.url ?? '', text === '' ? undefined : JSON.parse(text)).catch(
      (error: unknown) => ({
        success: false,
        errorReason: 'unexpected_settle_error',
        errorMessage: String(error),
      }),
    )
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  const { url, close } = await onLoopback(server)
  return { url, wallet, settled, close }
}
