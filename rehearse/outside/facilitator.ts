// A facilitator with the interface of CDP: every call needs a token of the operator's key for exactly its method and path,
// and settlements are transactions of its own wallet.
import { createPublicKey, randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, defineChain, http, publicActions } from 'viem'
import { nonceManager, privateKeyToAccount } from 'viem/accounts'
import { answerCommands } from '../../bench/process/commands.ts'
import { tokenProblem } from '../../packages/till/src/facilitators/http/contract-server.fixture.ts'
import { hosts } from './names.ts'

type Setup = {
  cert: string
  key: string
  walletKey: `0x${string}`
  apiKeyId: string
  apiPublicKey: string
  chains: { chainId: number; url: string }[]
}
type Fault = 'none' | 'down' | 'hangs' | 'moves_nothing'
type Terms = { network: string }

const { cert, key, walletKey, apiKeyId, apiPublicKey, chains } = JSON.parse(
  process.env['REHEARSAL_SETUP'] ?? '',
) as Setup
const apiKey = { id: apiKeyId, algorithm: 'EdDSA', publicKey: createPublicKey(apiPublicKey) }
const schemes = new Map(chains.map(({ chainId, url }) => [`eip155:${chainId}`, schemeFor(chainId, url)]))
let fault: Fault = 'none'
const seen = { refused_tokens: 0, verified: 0, settled: 0 }

function schemeFor(chainId: number, url: string) {
  const account = privateKeyToAccount(walletKey, { nonceManager })
  const chain = defineChain({
    id: chainId,
    name: String(chainId),
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const client = createWalletClient({ account, chain, transport: http(url), pollingInterval: 100 } as never).extend(
    publicActions as never,
  )
  return new ExactEvmScheme(toFacilitatorEvmSigner({ ...(client as object), address: account.address } as never))
}

async function settle(payload: unknown, terms: Terms): Promise<unknown> {
  if (fault === 'moves_nothing')
    return { success: true, transaction: `0x${randomBytes(32).toString('hex')}`, network: terms.network }
  seen.settled += 1
  return schemes.get(terms.network)?.settle(payload as never, terms as never)
}

async function answer(path: string, body: { paymentPayload: unknown; paymentRequirements: Terms }): Promise<unknown> {
  const { paymentPayload, paymentRequirements } = body
  if (path.endsWith('/supported'))
    return {
      kinds: [...schemes.keys()].map((network) => ({ x402Version: 2, scheme: 'exact', network })),
      extensions: [],
      signers: {},
    }
  if (path.endsWith('/settle')) return settle(paymentPayload, paymentRequirements)
  seen.verified += 1
  return schemes.get(paymentRequirements.network)?.verify(paymentPayload as never, paymentRequirements as never)
}

const server = createServer({ cert, key }, async (request, response) => {
  const reply = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (fault === 'hangs') return
  if (fault === 'down') return reply(503, { errorType: 'service_unavailable', errorMessage: 'The service is down.' })
  const text = Buffer.concat(chunks).toString('utf8')
  const path = request.url ?? ''
  const call = { method: request.method ?? '', path, headers: request.headers, body: undefined }
  const problem = await tokenProblem(call, apiKey, hosts.cdp)
  if (problem) {
    seen.refused_tokens += 1
    return reply(401, { errorType: 'unauthorized', errorMessage: problem })
  }
  try {
    return reply(200, await answer(path, text === '' ? {} : JSON.parse(text)))
  } catch (error) {
    return reply(500, { errorType: 'internal_server_error', errorMessage: String(error).slice(0, 200) })
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

answerCommands(
  {
    port: () => (server.address() as AddressInfo).port,
    fault: (wanted: Fault) => {
      fault = wanted
    },
    seen: () => ({ ...seen }),
  },
  () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
)
