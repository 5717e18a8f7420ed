import { createTill, local } from '@assay/till'
import { demoAccount } from '@assay/till/devnet/accounts'
import { silentLog } from '@assay/till/kernel/log'
import { testNetwork } from '@assay/till/testing'
import { createJobsByHand } from './jobs-by-hand.ts'
import type { KillPoints } from './kill-points.ts'
import { type HttpAdapter, type Seller, startSeller } from './sellers.ts'

export type CrashSellerOptions = {
  adapter: HttpAdapter
  databaseUrl: string | undefined
  rpcUrl: string
  port?: number
  withJobs?: boolean
}

/** A seller built with the till, whose port calls are counted, and which may die at one of them. */
export async function startCrashSeller(points: KillPoints, options: CrashSellerOptions): Promise<Seller> {
  const { adapter, databaseUrl, rpcUrl, port = 0, withJobs = false } = options
  const till = await createTill({
    database: databaseUrl,
    // Where its address does not matter, one for all processes, as behind a load balancer.
    publicUrl: port === 0 ? 'http://seller.test' : `http://127.0.0.1:${port}`,
    demo: true,
    networks: { base: testNetwork([rpcUrl]) },
    facilitator: local({ keys: [demoAccount('settler').privateKey] }),
    log: silentLog,
    intercept: { ...points.intercept, ...(withJobs ? {} : { job: createJobsByHand().intercept }) },
  })
  const { url, close } = await startSeller(adapter, till, undefined, port)
  return {
    url,
    close: async () => {
      await close()
      await till.close()
    },
  }
}
