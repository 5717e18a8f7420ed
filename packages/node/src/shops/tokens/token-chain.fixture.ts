import { type Devnet, startDevnet } from '@assay/till/devnet'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { extendWithB20 } from './demo/b20-chain.ts'

/** An embedded chain with B20. */
export const startTokenChain = (options: { port?: number } = {}): Promise<Devnet> =>
  startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, extensions: [extendWithB20], ...options })
