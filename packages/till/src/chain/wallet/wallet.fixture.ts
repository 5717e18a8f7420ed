import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import * as curve from 'tiny-secp256k1'
import { type Devnet, demoAccount } from '../../devnet/index.ts'
import { fromHex, sha256 } from '../../kernel/bytes.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { hashTransferAuthorization, usdcDomainSeparator } from '../../kernel/eip3009.ts'
import { silentLog } from '../../kernel/log.ts'
import { type Metrics, silentMetrics } from '../../kernel/metrics.ts'
import { systemRng } from '../../kernel/random.ts'
import type { Database } from '../../store/database.ts'
import type { ChainPort } from '../chain-port.ts'
import { createChain } from '../create-chain.ts'
import { createRpc } from '../create-rpc.ts'
import { knownNetworks, type Network } from '../network.ts'
import { type Rpc, type RpcCall, type RpcEndpoint, RpcRefusal } from '../rpc.ts'
import type { WalletLimits } from './leased-wallet-state.ts'
import { createSettlementWallets, type SettlementWallets } from './settlement-wallets.ts'
import { createWalletKey } from './wallet-key.ts'

/** The embedded chain as an endpoint, without a socket between. */
export function devnetEndpoint(devnet: Pick<Devnet, 'request'>, name = 'devnet'): RpcEndpoint {
  return {
    name,
    send: (calls: readonly RpcCall[]) =>
      Promise.all(
        calls.map(({ method, params }) =>
          devnet.request(method, params).catch((error: { code?: number; message: string; data?: unknown }) => {
            throw new RpcRefusal(error.code ?? -32603, error.message, error.data)
          }),
        ),
      ),
  }
}

export function demoNetwork(devnet: Pick<Devnet, 'chainId' | 'usdc'>): Network {
  const known = knownNetworks.find((network) => network.chainId === devnet.chainId)
  if (!known) throw new Error('no such network')
  return { ...known, usdc: { ...known.usdc, address: devnet.usdc } }
}

/** Whose newest block may be of any age, and where no contract signs. */
export const testChain = (network: Network, rpc: Rpc): ChainPort =>
  createChain({ network, rpc, clock: systemClock, checkContractSignature: async () => 'invalid', headAgeMsMax: 0 })

/** Puts the name of every alarm into the list. */
export const alarmsInto = (alarms: string[]): Metrics => ({
  ...silentMetrics,
  count: (_name, labels) => {
    if (labels?.['alarm']) alarms.push(labels['alarm'])
  },
})

export type TestPayer = {
  address: Address
  authorize(network: Network, terms: Partial<TransferAuthorization> & { to: Address }): SignedAuthorization
}
export type SignedAuthorization = { authorization: TransferAuthorization; signature: Hex }

/** A wallet made from a name; the same name is the same wallet. */
export function testKey(name: string): { privateKey: Hex; address: Address } {
  const privateKey = toHex(sha256(`test wallet ${name}`))
  return { privateKey, address: createWalletKey(privateKey).address }
}

export function testPayer(name: string, from = testKey(name).address): TestPayer {
  const secret = fromHex(testKey(name).privateKey)
  return {
    address: from,
    authorize(network, terms) {
      const authorization: TransferAuthorization = {
        from,
        value: 1_000n,
        validAfter: 0n,
        validBefore: BigInt(Math.floor(systemClock.nowMs() / 1000) + 90),
        nonce: toHex(systemRng.bytes(32)),
        ...terms,
      }
      const digest = hashTransferAuthorization(
        usdcDomainSeparator({ ...network.usdc, chainId: network.chainId }),
        authorization,
      )
      const { signature, recoveryId } = curve.signRecoverable(digest, secret)
      return { authorization, signature: toHex(Buffer.concat([signature, Buffer.from([27 + recoveryId])])) }
    },
  }
}

/** A process as the wallets know it, and the way to kill it. */
export async function testHolder(database: Database) {
  const id = Buffer.from(systemRng.bytes(8)).readBigUInt64BE() >> 2n
  const lock = await database.holdLock(id)
  const killed = new AbortController()
  return {
    id,
    lost: killed.signal,
    /** As kill -9 does it: the server drops the lock, nothing is given back. */
    async die() {
      killed.abort()
      await lock.release()
    },
  }
}
export type TestHolder = Awaited<ReturnType<typeof testHolder>>

/** Quick enough for tests on a chain that makes blocks at once. */
export const testLimits: Partial<WalletLimits> = {
  pollMs: 20,
  rebroadcastMs: 150,
  stuckMs: 300,
  idleMs: 200,
  waitForWalletMs: 4_000,
  reorgCheckMs: 0,
}

export function testWallets(options: {
  network: Network
  endpoints: readonly RpcEndpoint[]
  database: Database
  holder: TestHolder
  keys?: readonly Hex[]
  clock?: Clock
  limits?: Partial<WalletLimits>
  metrics?: Metrics
}): SettlementWallets {
  return createSettlementWallets({
    network: options.network,
    rpc: createRpc(options.endpoints, { clock: systemClock, quorum: 1 }),
    endpoints: options.endpoints,
    database: options.database,
    holder: options.holder,
    keys: (options.keys ?? [demoAccount('settler').privateKey]).map(createWalletKey),
    clock: options.clock ?? systemClock,
    log: silentLog,
    metrics: options.metrics ?? silentMetrics,
    limits: { ...testLimits, ...options.limits },
  })
}
