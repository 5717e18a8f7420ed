import type { Interceptors } from '../../packages/node/src/compose/ground.ts'
import { createChain, createRpc, httpEndpoint, knownNetworks } from '../../packages/till/src/chain/index.ts'
import { createSettlementWallets, createWalletKey } from '../../packages/till/src/chain/wallet/index.ts'
import type { Address } from '../../packages/till/src/kernel/address.ts'
import { sha256, toHex } from '../../packages/till/src/kernel/bytes.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createCustodyKey, parsePayoutPolicy, runPayouts } from '../../packages/till/src/payouts/index.ts'
import { appRole } from '../../packages/till/src/store/app-role.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'

// Fixtures that bring the embedded chain along would be most of the start of each process that is killed here.
function keyOf(name: string) {
  const privateKey = toHex(sha256(`kill points ${name}`))
  return { privateKey, address: createWalletKey(privateKey).address }
}

export const purpose = 'affiliate'
export const custodyKey = keyOf('custody')
export const senderKey = keyOf('sender')
export const payees: readonly Address[] = ['first', 'second'].map((name) => keyOf(`${name} payee`).address)

export type Place = { databaseUrl: string; rpcUrl: string; usdc: Address }

/** One process' worth of payouts: a pool, a lane holder, a sending wallet and the custody key, on given ports. */
export async function openPayoutDesk({ databaseUrl, rpcUrl, usdc }: Place, intercept: Interceptors = {}) {
  const ports = { clock: systemClock, log: silentLog, rng: systemRng }
  const pool = createDatabase({ target: { url: databaseUrl }, role: appRole, poolSize: 4, ...ports })
  // As a process is known to the others: by a lock that the server drops when the process dies.
  const id = Buffer.from(systemRng.bytes(8)).readBigUInt64BE() >> 2n
  const lock = await pool.holdLock(id)
  const ended = new AbortController()
  const database = intercept.database?.(pool) ?? pool
  const base = knownNetworks.find(({ chainId }) => chainId === 8453)
  if (!base) throw new Error('Base is not known')
  const network = { ...base, usdc: { ...base.usdc, address: usdc } }
  const plain = httpEndpoint(rpcUrl)
  const endpoint = intercept.rpc?.(plain) ?? plain
  const rpc = createRpc([endpoint])
  const checkContractSignature = async () => 'invalid' as const
  const chain = createChain({ network, rpc, clock: systemClock, checkContractSignature, headAgeMsMax: 0 })
  const wallets = createSettlementWallets({
    network,
    rpc,
    endpoints: [endpoint],
    database,
    ...ports,
    metrics: silentMetrics,
    keys: [createWalletKey(senderKey.privateKey)],
    holder: { id, lost: ended.signal },
    // Blocks are made at once here.
    limits: { pollMs: 20, rebroadcastMs: 150, stuckMs: 300, idleMs: 200, waitForWalletMs: 4_000 },
  })
  const deps = {
    ...ports,
    database,
    ids: createIds(systemClock, systemRng),
    metrics: silentMetrics,
    policy: parsePayoutPolicy(),
    chains: [{ chain, rpc, key: createCustodyKey(custodyKey.privateKey), wallets }],
    purposes: [{ purpose }],
    isPaused: async () => false,
  }
  return {
    run: () => runPayouts(deps),
    close: async () => {
      await wallets.stop()
      ended.abort()
      await lock.release()
      await pool.close()
    },
  }
}
