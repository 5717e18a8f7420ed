import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, concat, getAddress, keccak256, numberToHex, pad } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openConsoleShop } from '../../packages/node/src/faces/console/index.ts'
import { type NodeOptions, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import { openTokensShop, tokensShop } from '../../packages/node/src/shops/tokens/index.ts'
import { knownNetworks } from '../../packages/till/src/chain/network.ts'
import { contractArtifacts } from '../../packages/till/src/devnet/artifacts.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import type { Clock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startTestServer } from '../../packages/till/src/store/testing.ts'

export const productionOrigin = 'https://node.test'

export type ProductionNode = {
  /** Where it listens; buyers know it as `productionOrigin`. */
  address: string
  databaseUrl: string
  payTo: Address
  /** Funds an account at the address of the real USDC. */
  fund(account: Address, microUsdc: bigint): Promise<void>
  stop(): Promise<void>
}

/**
 * A node in production mode, checks and all: only the chains behind its RPC URLs are embedded ones, onto which the code
 * of a USDC is put at the address of the real one.
 */
export async function startProductionNode(
  chains: readonly [Devnet, Devnet],
  changes: {
    env?: Record<string, string>
    ownShops?: NodeOptions['ownShops']
    shops?: NodeOptions['shops']
    clock?: Clock
  } = {},
): Promise<ProductionNode> {
  const [base, polygon] = chains
  for (const chain of chains)
    await chain.request('hardhat_setCode', [usdcOf(chain), contractArtifacts.testUsdc.deployedBytecode])
  const server = await startTestServer({ durable: true })
  const folder = await mkdtemp(join(tmpdir(), 'assay-production-'))
  const signingKey = join(folder, 'signing.pem')
  const { privateKey } = generateKeyPairSync('ed25519')
  await writeFile(signingKey, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  const logKey = join(folder, 'log.pem')
  const log = generateKeyPairSync('ed25519').privateKey
  await writeFile(logKey, log.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  const [payTo, custody, settler] = [newWallet(), newWallet(), newWallet()]
  for (const chain of chains) await chain.control.fund(settler.address, { microUsdc: 0n, wei: 10n ** 18n })
  const config = parseConfig({
    ASSAY_MODE: 'production',
    PORT: '0',
    ASSAY_HOME: folder,
    DATABASE_URL: server.url,
    BASE_RPC_URLS: base.url ?? '',
    POLYGON_RPC_URLS: polygon.url ?? '',
    PAY_TO: getAddress(payTo.address),
    CUSTODY: getAddress(custody.address),
    CUSTODY_KEYS: custody.key,
    SETTLER_KEYS: settler.key,
    BASE_URL: productionOrigin,
    API_URL: productionOrigin,
    SIGNING_KEY_FILE: signingKey,
    LOG_KEY_FILE: logKey,
    FACILITATOR: 'local',
    CONTACT_EMAIL: 'ops@node.test',
    LOG_LEVEL: 'silent',
    // No test asks the publishers.
    MATRIX: '{"fetch":[]}',
    ...changes.env,
  })
  const node = await startNode(config, {
    log: silentLog,
    trustExamples: true,
    ...(changes.clock ? { clock: changes.clock } : {}),
    ownShops: changes.ownShops ?? 'till',
    ...(changes.ownShops === 'all'
      ? {}
      : {
          shops: changes.shops ?? [
            { ...tokensShop, open: tokensOnYoungChain },
            openConsoleShop({ operators: [], withdrawals: { destinations: [], minimumMicro: 0n } }),
          ],
        }),
  })
  return {
    address: node.address,
    databaseUrl: server.url,
    payTo: getAddress(payTo.address),
    fund: async (account, microUsdc) => {
      const slot = keccak256(concat([pad(account), pad(numberToHex(balancesSlot))]))
      for (const chain of chains)
        await chain.request('hardhat_setStorageAt', [usdcOf(chain), slot, pad(numberToHex(microUsdc))])
    },
    stop: async () => {
      await node.stop()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** In production the shop looks for tokens from the first B20 block of Base on, which an embedded chain never reaches. */
const tokensOnYoungChain: OpenShop = (context) => openTokensShop()({ ...context, mode: 'rehearsal' as never })

/** Of contracts/TestUsdc.sol: owner and pause share the slot before. */
const balancesSlot = 2

const usdcOf = ({ chainId }: Devnet): Address => {
  const network = knownNetworks.find((known) => known.chainId === chainId)
  if (network === undefined) throw new Error(`no such network: ${chainId}`)
  return network.usdc.address
}

function newWallet() {
  const key = generatePrivateKey()
  return { key, address: privateKeyToAccount(key).address.toLowerCase() as Address }
}
