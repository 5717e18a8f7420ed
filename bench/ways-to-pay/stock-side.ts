// The stock seller of payment channels: @x402/hono with the channel storage of @x402/evm, as files.

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/server'
import { FileChannelStorage } from '@x402/evm/batch-settlement/server/file-storage'
import { paymentMiddleware } from '@x402/hono'
import { Hono } from 'hono'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../../packages/protocol/src/bytes.ts'
import type { ChannelConfig } from '../../packages/protocol/src/typed-data/channel.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import type { ChannelTerms } from './sign-vouchers.ts'

const accepted = JSON.parse(process.env['ACCEPTED'] ?? '') as ChannelTerms['accepted']
const network = accepted.network as `${string}:${string}`
const path = '/test/cheap'
const storage = new FileChannelStorage({ directory: process.env['ASSAY_HOME'] ?? '' })
const authorizer = privateKeyToAccount(generatePrivateKey())

/** Channels are known and fresh, so nobody is asked; vouchers are verified in this process. */
const notAsked = async (): Promise<never> => {
  throw new Error('the facilitator was asked')
}
const client: FacilitatorClient = {
  verify: notAsked,
  settle: notAsked,
  getSupported: async () => ({
    kinds: [{ x402Version: 2, scheme: 'batch-settlement', network }],
    extensions: [],
    signers: {},
  }),
}
const server = new x402ResourceServer(client)
server.register(
  network,
  new BatchSettlementEvmScheme(accepted.payTo, {
    storage,
    receiverAuthorizerSigner: authorizer,
    withdrawDelay: accepted.extra.withdrawDelay,
    onchainStateTtlMs: 3_600_000,
  }),
)
const { amount, asset, payTo, maxTimeoutSeconds, extra } = accepted
const price = { amount, asset, extra: { name: extra.name, version: extra.version } }
const app = new Hono()
app.use(
  paymentMiddleware(
    {
      [`GET ${path}`]: {
        ...{ description: 'A cheap test route', mimeType: 'application/json' },
        accepts: [{ scheme: 'batch-settlement', network, payTo, maxTimeoutSeconds, price }],
      },
    },
    server,
  ),
)
let made = 0
app.get(path, (context) => {
  made += 1
  return context.json({ n: '', made })
})
const listening = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })

async function putChannel({ id, config }: { id: Hex; config: ChannelConfig }): Promise<void> {
  await storage.updateChannel(id, () => ({
    ...{ channelId: id, channelConfig: config, chargedCumulativeAmount: '0', signedMaxClaimable: '0' },
    ...{ signature: '0x', balance: '1000000000', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: 0 },
    ...{ onchainSyncedAt: Date.now(), lastRequestTimestamp: Date.now() },
  }))
}

answerCommands(
  {
    port: () => (listening.address() as AddressInfo).port,
    cpu: cpuMicros,
    database_cpu: () => 0,
    log_bytes: () => 0,
    channels: async (channels: readonly { id: Hex; config: ChannelConfig }[]) => {
      for (const channel of channels) await putChannel(channel)
    },
  },
  async () => {
    listening.close()
  },
)
