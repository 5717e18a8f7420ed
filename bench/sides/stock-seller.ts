// What the stock sellers share: @x402/core with the stock facilitator in the same process.
import { x402Facilitator } from '@x402/core/facilitator'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { registerExactEvmScheme as registerFacilitatorScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import type { BenchTerms } from '../load/sign-payments.ts'

type Route = { path: string; accepts: (BenchTerms['accepted'] & { network: `${string}:${string}` })[] }

export const route = JSON.parse(process.env['ROUTE'] ?? '') as Route
const settlesAtPort = process.env['SETTLE_AT'] === 'port'
const networks = route.accepts.map((accept) => accept.network)

const facilitator = registerFacilitatorScheme(new x402Facilitator(), {
  networks,
  signer: {
    getAddresses: () => ['0x1111111111111111111111111111111111111111'],
    // Simulation passes, the payer has no code, transactions are in a block at once. Signatures are really verified.
    readContract: async () => undefined,
    getCode: async ({ address }) => (route.accepts.some((accept) => accept.asset === address) ? '0x60' : undefined),
    verifyTypedData: async () => {
      throw new Error('not used by this version')
    },
    writeContract: async ({ args }) => args[5] as `0x${string}`,
    sendTransaction: async () => {
      throw new Error('nothing is sent')
    },
    waitForTransactionReceipt: async () => ({ status: 'success' }),
  },
})

const client: FacilitatorClient = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: settlesAtPort
    ? async (payload, { network }) => {
        const { from, nonce } = (payload.payload as { authorization: { from: string; nonce: string } }).authorization
        return { success: true, transaction: nonce, network, payer: from }
      }
    : (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>,
}

export const resourceServer = new x402ResourceServer(client)
for (const network of networks) resourceServer.register(network, new ExactEvmScheme())

/** The one paid route, as the stock middleware takes it. */
export const routes = {
  [`GET ${route.path}`]: {
    description: 'Echo a text, to try paying',
    mimeType: 'application/json',
    accepts: route.accepts.map(({ network, payTo, amount, asset, extra, maxTimeoutSeconds }) => ({
      scheme: 'exact',
      network,
      payTo,
      maxTimeoutSeconds,
      price: { amount, asset, extra },
    })),
  },
}
