import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress, type Hex, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { type Config, readConfig } from '../../packages/node/src/config/load-config.ts'
import { type NodeOptions, type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { shopList } from '../../packages/node/src/shop-list.ts'
import type { ShopDeclaration } from '../../packages/node/src/shops/shop.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { authorizationTypes } from '../../packages/protocol/src/typed-data/transfer-authorization.ts'
import type { RpcProxy } from '../../packages/till/src/chain/rpc-proxy.fixture.ts'
import { demoUsdcAddress } from '../../packages/till/src/devnet/accounts.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { type Clock, systemClock } from '../../packages/till/src/kernel/clock.ts'
import { type Log, silentLog } from '../../packages/till/src/kernel/log.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'

import { openRpcProxies } from './rpc-proxies.ts'
import { startChain } from './start-chain.ts'

export const echoPath = '/v1/sandbox/echo'

export type TillFixture = {
  node: RunningNode
  base: Devnet
  polygon: Devnet
  /** Chains beside these two, as asked for. */
  further: readonly Devnet[]
  /** Of Base, with `providers`. */
  providers: readonly RpcProxy[]
  db: TestDatabase
  /** A new wallet with test USDC and nothing else. */
  newBuyer(microUsdc?: bigint): Promise<PrivateKeyAccount>
  /** A second process' worth of node on the same database and chains. */
  startAnother(options?: FixtureOptions): Promise<RunningNode>
  close(): Promise<void>
}

export type FixtureOptions = {
  env?: Record<string, string>
  /** Another database than that of the fixture. */
  databaseUrl?: string
  /** Declared shops beside those of the list, or instead of them. */
  list?: readonly ShopDeclaration[]
  intercept?: Interceptors
  log?: Log
  clock?: Clock
  shops?: NonNullable<NodeOptions['shops']>
  schemes?: NodeOptions['schemes']
  channels?: NodeOptions['channels']
  jobs?: boolean
  /** Most tests are about the till alone and start faster without the other shops. */
  ownShops?: NodeOptions['ownShops']
  /** Asks the chains over HTTP, each at three providers, and not in this process. */
  providers?: boolean
  /** Names and ids of further chains. */
  chains?: Record<string, number>
}

/** A whole node on a real database and real chains, in this process, with everything in memory or thrown away after. */
export async function openTill(options: FixtureOptions = {}): Promise<TillFixture> {
  const db = await openTestDatabase()
  const ports = { clock: systemClock, log: silentLog }
  const base = await startChain({ chainId: 8453, port: 0, ...ports })
  const polygon = await startChain({ chainId: 137, port: 0, ...ports })
  const further = await Promise.all(
    Object.values(options.chains ?? {}).map((chainId) => startChain({ chainId, port: 0, ...ports })),
  )
  const devnets = [base, polygon, ...further]
  const providers = options.providers ? await openRpcProxies(base, polygon) : undefined
  const home = await mkdtemp(join(tmpdir(), 'assay-till-'))
  const nodes: RunningNode[] = []
  const start = async (given: FixtureOptions) => {
    const node = await startNode(
      configFor(
        given.databaseUrl ?? db.databaseUrl,
        devnets,
        home,
        { ...chainsIn(options.chains, further), ...providers?.env, ...given.env },
        given.list,
      ),
      {
        ...(providers ? {} : { devnets }),
        log: given.log ?? silentLog,
        ...(given.clock === undefined ? {} : { clock: given.clock }),
        ...(given.intercept === undefined ? {} : { intercept: given.intercept }),
        ...(given.shops === undefined ? {} : { shops: given.shops }),
        ...(given.schemes === undefined ? {} : { schemes: given.schemes }),
        ...(given.channels === undefined ? {} : { channels: given.channels }),
        ...(given.jobs === undefined ? {} : { jobs: given.jobs }),
        ownShops: given.ownShops ?? options.ownShops ?? 'all',
        // As in production: test/hostile-input.test.ts checks the examples of all routes.
        trustExamples: true,
      },
    )
    nodes.push(node)
    return node
  }
  return {
    node: await start(options),
    base,
    polygon,
    further,
    providers: providers?.base ?? [],
    db,
    newBuyer: async (microUsdc = 10_000_000n) => {
      const account = privateKeyToAccount(generatePrivateKey())
      const address = account.address.toLowerCase() as Address
      for (const devnet of devnets) await devnet.control.fund(address, { microUsdc, wei: 0n })
      return account
    },
    startAnother: (given = {}) => start(given),
    close: async () => {
      for (const node of nodes) await node.stop()
      await providers?.close()
      await Promise.all(devnets.map((devnet) => devnet.stop()))
      await db.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function chainsIn(chains: FixtureOptions['chains'] = {}, devnets: readonly Devnet[]): Record<string, string> {
  const entries = Object.entries(chains).map(([name, chain_id], index) => {
    const rpc_urls = [devnets[index]?.url ?? '']
    return [name, { chain_id, rpc_urls, usdc: getAddress(demoUsdcAddress(chain_id)) }]
  })
  return entries.length === 0 ? {} : { CHAINS: JSON.stringify(Object.fromEntries(entries)) }
}

function configFor(
  databaseUrl: string,
  [base, polygon]: readonly Devnet[],
  home: string,
  env: Record<string, string> = {},
  list: readonly ShopDeclaration[] = shopList,
): Config {
  const all = {
    PORT: '0',
    ASSAY_HOME: home,
    DATABASE_URL: databaseUrl,
    BASE_RPC_URLS: base?.url ?? '',
    POLYGON_RPC_URLS: polygon?.url ?? '',
    LOG_LEVEL: 'silent',
    // Demo data cost seconds of work that few tests need.
    MATRIX: '{"demo":"off"}',
    INTENTS: '{"demo":"off"}',
    ...env,
  }
  return readConfig(all, list)
}

export type Requirements = {
  scheme: string
  network: string
  amount: string
  asset: Address
  payTo: Address
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}

export type PaymentRequired = {
  x402Version: number
  resource: { url: string }
  accepts: Requirements[]
  extensions: Record<string, { info: Record<string, unknown> }>
}

export function decodeHeader<T>(header: string | null): T {
  if (header === null) throw new Error('the header is missing')
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as T
}

export async function quote(url: string, init?: RequestInit): Promise<PaymentRequired> {
  const response = await fetch(url, init)
  if (response.status !== 402) throw new Error(`expected 402, got ${response.status}: ${await response.text()}`)
  return decodeHeader<PaymentRequired>(response.headers.get('payment-required'))
}

export type SignOptions = {
  network?: string
  nonce?: Hex
  value?: bigint
  to?: Address
  validAfter?: bigint
  validBefore?: bigint
  chainId?: number
  extensions?: Record<string, unknown>
  resource?: unknown
  accepted?: Partial<Record<keyof Requirements, unknown>>
  /** Replaces the signature after signing. */
  signature?(signature: Hex): Hex
  identifier?: string
}

export type Payload = {
  x402Version: number
  resource?: unknown
  accepted: Record<string, unknown>
  payload: { signature: Hex; authorization: Record<string, string> }
  extensions?: Record<string, unknown>
}

/** Signs a payment as a client would, with every part open to being altered. */
export async function signPayment(
  account: PrivateKeyAccount,
  offer: PaymentRequired,
  options: SignOptions = {},
): Promise<Payload> {
  const accepted =
    offer.accepts.find((accept) => accept.network === (options.network ?? 'eip155:8453')) ?? offer.accepts[0]
  if (!accepted) throw new Error('nothing is offered')
  const nowSeconds = BigInt(Math.floor(Date.now() / 1000))
  const message = {
    from: account.address,
    to: options.to ?? accepted.payTo,
    value: options.value ?? BigInt(accepted.amount),
    validAfter: options.validAfter ?? 0n,
    validBefore: options.validBefore ?? nowSeconds + BigInt(accepted.maxTimeoutSeconds),
    nonce: options.nonce ?? toHex(randomBytes(32)),
  }
  const signature = await account.signTypedData({
    domain: {
      name: accepted.extra.name,
      version: accepted.extra.version,
      chainId: options.chainId ?? Number(accepted.network.split(':')[1]),
      verifyingContract: accepted.asset,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const extensions = {
    ...(options.identifier === undefined
      ? {}
      : { 'payment-identifier': { info: { required: false, id: options.identifier } } }),
    ...options.extensions,
  }
  return {
    x402Version: 2,
    resource: 'resource' in options ? options.resource : offer.resource,
    accepted: { ...accepted, ...options.accepted },
    payload: {
      signature: options.signature ? options.signature(signature) : signature,
      authorization: Object.fromEntries(Object.entries(message).map(([key, value]) => [key, String(value)])),
    },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  }
}

export const encodePayload = (payload: unknown): string => Buffer.from(JSON.stringify(payload)).toString('base64')

export async function send(url: string, payload: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(init.headers as Record<string, string> | undefined),
    'payment-signature': typeof payload === 'string' ? payload : encodePayload(payload),
  }
  return fetch(url, { ...init, headers })
}

/** Quote, sign, send: an honest purchase. */
export async function buy(
  account: PrivateKeyAccount,
  url: string,
  options: SignOptions = {},
  init: RequestInit = {},
): Promise<Response> {
  const offer = await quote(url, init)
  return send(url, await signPayment(account, offer, options), init)
}
