import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import {
  type MeshShopOptions,
  meshSettings,
  openMeshShop,
  parseMeshPeers,
} from '../../packages/node/src/shops/mesh/index.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import { startChain } from './start-chain.ts'

/** Short times, and every port of this machine: test nodes pick theirs freely. */
export const quickMesh = {
  visit_ms: 1_000,
  // Long for a busy machine: a process that is blocked for a moment must not lose its peers. One that is gone refuses at once.
  timeout_ms: 8_000,
  dead_after_ms: 5_000,
  announce_ms: 1_000,
  price_check_ms: 2_000,
  loopback_ports: '1024-65535',
}

export type MeshMember = { node: RunningNode; db: TestDatabase; stop(): Promise<void> }

export type MeshFixture = {
  base: Devnet
  polygon: Devnet
  start(options?: StartOptions): Promise<MeshMember>
  newBuyer(microUsdc?: bigint): Promise<PrivateKeyAccount>
  /** Ends one; the others have not seen it for as long as makes them give it up once it has missed two visits. */
  end(member: MeshMember): Promise<void>
  close(): Promise<void>
}

export type StartOptions = {
  peers?: readonly string[]
  ownShops?: 'all' | 'till' | readonly string[]
  env?: Record<string, string>
  settings?: Record<string, unknown>
  intercept?: NonNullable<MeshShopOptions['intercept']>
}

/** Nodes of different operators in one process: a database, a payee and a settling wallet each, one pair of chains. */
export async function openMesh(): Promise<MeshFixture> {
  const ports = { clock: systemClock, log: silentLog }
  const base = await startChain({ chainId: 8453, port: 0, ...ports })
  const polygon = await startChain({ chainId: 137, port: 0, ...ports })
  const members: MeshMember[] = []
  const fund = async (address: string, amount: { microUsdc: bigint; wei: bigint }) => {
    for (const devnet of [base, polygon]) await devnet.control.fund(address.toLowerCase() as Address, amount)
  }
  return {
    base,
    polygon,
    start: async (options = {}) => {
      const db = await openTestDatabase()
      const home = await mkdtemp(join(tmpdir(), 'assay-mesh-'))
      const settler = generatePrivateKey()
      await fund(privateKeyToAccount(settler).address, { microUsdc: 0n, wei: 10n ** 18n })
      const config = parseConfig({
        PORT: '0',
        ASSAY_HOME: home,
        DATABASE_URL: db.databaseUrl,
        BASE_RPC_URLS: base.url ?? '',
        POLYGON_RPC_URLS: polygon.url ?? '',
        LOG_LEVEL: 'silent',
        MATRIX: '{"demo":"off"}',
        INTENTS: '{"demo":"off"}',
        SETTLER_KEYS: settler,
        PAY_TO: newAddress(),
        MESH: JSON.stringify({ ...quickMesh, ...options.settings }),
        MESH_PEERS: (options.peers ?? []).join(','),
        ...options.env,
      })
      const own = options.ownShops ?? 'till'
      const mesh = openMeshShop({
        peers: parseMeshPeers(options.peers ?? [], 'demo'),
        settings: meshSettings(config.values['MESH'], 'demo'),
        demoHosts: config.demoHosts,
        dnsServers: config.dnsServers,
        contactEmail: config.contactEmail,
        ...(options.intercept === undefined ? {} : { intercept: options.intercept }),
      })
      const node = await startNode(config, {
        devnets: [base, polygon],
        log: silentLog,
        trustExamples: true,
        ownShops: own,
        // Otherwise the mesh is among its own shops.
        ...(own === 'till' ? { shops: [mesh] } : {}),
      })
      let stopped: Promise<void> | undefined
      const stop = () => {
        stopped ??= (async () => {
          await node.stop()
          await db.close()
          await rm(home, { recursive: true, force: true })
        })()
        return stopped
      }
      const member = { node, db, stop }
      members.push(member)
      return member
    },
    newBuyer: async (microUsdc = 10_000_000n) => {
      const account = privateKeyToAccount(generatePrivateKey())
      await fund(account.address, { microUsdc, wei: 0n })
      return account
    },
    end: async (gone) => {
      await gone.stop()
      members.splice(members.indexOf(gone), 1)
      for (const { db } of members)
        await db.database.query(
          `update mesh_peer set last_seen_at = last_seen_at - $2 * interval '1 millisecond' where address = $1`,
          [gone.node.url, quickMesh.dead_after_ms],
        )
    },
    close: async () => {
      await Promise.all(members.map((member) => member.stop()))
      await Promise.all([base.stop(), polygon.stop()])
    },
  }
}

const newAddress = () => getAddress(privateKeyToAccount(generatePrivateKey()).address)

export type MeshDocument = {
  node: { did: string; statement: string; sequence: number }
  peers: {
    did: string
    address: string
    state: string
    health: number
    recommended: boolean
    price_mismatch: boolean
    price_mismatches: { capability: string; reason: string }[]
    statement: string
    resources: Record<string, { url: string; price_micro: string }[]>
  }[]
  signature: { kid: string; value: string }
}

export async function readMesh(url: string): Promise<MeshDocument> {
  const response = await fetch(`${url}/x402/mesh`)
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`)
  return (await response.json()) as MeshDocument
}

export const peerUrls = async (url: string) => (await readMesh(url)).peers.map((peer) => peer.address).sort()
