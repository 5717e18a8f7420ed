import { type Address, zeroAddress } from '@assay/protocol/address'
import { createRpc } from '@assay/till/chain'
import {
  alarmsInto,
  demoNetwork,
  devnetEndpoint,
  testChain,
  testHolder,
  testKey,
  testWallets,
} from '@assay/till/chain/wallet/wallet.fixture'
import { startDevnet } from '@assay/till/devnet'
import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { accounts, mergeLines, post } from '@assay/till/ledger'
import { createCustodyKey, type PayoutDeps, parsePayoutPolicy } from '@assay/till/payouts'
import type { TestDatabase } from '@assay/till/store/testing'
import { accrueShares } from './accrue.ts'
import { distributorFor } from './contracts.ts'
import type { CreatorDeps } from './deps.ts'
import { readDistributor } from './read-distributor.ts'
import { runCreators } from './run-creators.ts'

export const caip2 = 'eip155:8453'
export const terms = { mover: zeroAddress, claimDelaySeconds: 0, moveDelaySeconds: 1 }
export const custody = createCustodyKey(testKey('custody of roots').privateKey)
const settler = testKey('settler of roots')

export type CreatorLife = {
  deps: CreatorDeps
  alarms: string[]
  run(database?: CreatorDeps['database']): Promise<void>
}

/** A chain with a custody wallet, on which the creators of any database are paid by the jobs of a node. */
export async function openCreatorWorld() {
  const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
  await devnet.control.fund(custody.address, { microUsdc: 1_000_000n, wei: 0n })
  await devnet.control.fund(settler.address, { microUsdc: 0n })
  const rpc = createRpc([devnetEndpoint(devnet)], { clock: systemClock })
  const chain = testChain(demoNetwork(devnet), rpc)
  const { address: contract } = distributorFor(chain.network, custody.address, terms)
  let sales = 0
  return {
    devnet,
    chain,
    rpc,
    contract,
    onChain: async () => {
      const { number } = await chain.finalizedBlock()
      return readDistributor(rpc, contract, chain.network.usdc.address, number)
    },
    sell: ({ database }: TestDatabase, wallet: Address, micro: bigint) => {
      sales += 1
      return sell(database, wallet, micro, sales)
    },
    /** A process as long as `work` lasts. */
    live: async <T>(db: TestDatabase, work: (life: CreatorLife) => Promise<T>): Promise<T> => {
      const holder = await testHolder(db.database)
      const wallets = testWallets({
        network: chain.network,
        endpoints: [devnetEndpoint(devnet)],
        database: db.database,
        holder,
        keys: [settler.privateKey],
      })
      const alarms: string[] = []
      const deps = lifeDeps(db, { chain, rpc, key: custody, wallets }, alarms)
      try {
        return await work({ deps, alarms, run: (database = db.database) => runCreators({ ...deps, database }) })
      } finally {
        await wallets.stop()
        await holder.die()
      }
    },
  }
}

async function sell(database: TestDatabase['database'], wallet: Address, micro: bigint, n: number): Promise<void> {
  const paymentId = `pay_roots_${n}`
  const payee = {
    ...{ domain: 'a.test', registrable: 'a.test', wallet, claimId: 'c', citeScore: null, synthetic: false },
    reason: 'proven' as const,
  }
  const sale = {
    paymentId,
    network: caip2,
    payer: custody.address,
    round: 0,
    source: 'credit' as const,
    settledAtMs: 0,
  }
  await database.transaction(async (tx) => {
    const lines = await accrueShares(tx, sale, `att_roots_${n}`, [{ payee, micro, held: undefined }])
    const taken = { account: accounts.onchain(caip2, 'custody'), amount: micro }
    await post(tx, [
      { reference: `split:${paymentId}`, kind: 'opening', paymentId, lines: mergeLines([taken, ...lines]) },
    ])
  })
}

function lifeDeps({ database }: TestDatabase, place: PayoutDeps['chains'][number], alarms: string[]): CreatorDeps {
  const ports = {
    database,
    clock: systemClock,
    log: silentLog,
    metrics: alarmsInto(alarms),
  }
  const payouts: PayoutDeps = {
    ...ports,
    ids: createIds(systemClock, systemRng),
    policy: parsePayoutPolicy(),
    chains: [place],
    purposes: [],
    isPaused: async () => false,
  }
  return {
    ...ports,
    settings: {
      rootMs: 0,
      rootMinimumMicro: 1n,
      leafMinimumMicro: 1n,
      leafWaitMs: 0,
      thresholdMicro: 1n,
      waitMs: 10 ** 12,
      releaseMs: 0,
    },
    terms,
    mover: undefined,
    challengeMs: 0,
    payees: { custody: { [caip2]: custody.address } },
    custody: payouts,
  } as unknown as CreatorDeps
}
