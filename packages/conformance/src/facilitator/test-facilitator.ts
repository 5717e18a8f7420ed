import type { Address } from 'viem'
import { newAccount } from '../seller/sign-payment.ts'
import { systemTime, type Time } from '../time.ts'
import { type RunningFacilitator, serveFacilitator } from './serve-facilitator.ts'

export type TestFacilitatorOptions = {
  port?: number
  chainPort?: number
  hangMs?: number
  slowMs?: number
  /** The clock of the facilitator and of its chain. */
  time?: Pick<Time, 'nowMs'>
}
export type TestFacilitator = RunningFacilitator & {
  rpc: string
  network: string
  asset: Address
  /** The wallet that settles, in lower case. */
  settler: Address
}

export class MissingTestChain extends Error {}

const chainId = 8453

/** The facilitator with its own test chain, in this process: nothing real is moved. */
export async function startTestFacilitator(options: TestFacilitatorOptions = {}): Promise<TestFacilitator> {
  const { startDevnet } = await import('@assay/till/devnet').catch((error: unknown) => {
    throw new MissingTestChain(
      'The test chain needs two more packages: npm install --save-dev @assay/till @nomicfoundation/edr',
      { cause: error },
    )
  })
  const { systemClock } = await import('@assay/till/kernel/clock')
  const { silentLog } = await import('@assay/till/kernel/log')
  const { time = systemTime } = options
  const chain = await startDevnet({
    chainId,
    port: options.chainPort ?? 0,
    clock: { ...systemClock, ...time },
    log: silentLog,
  })
  const rpc = chain.url ?? ''
  const network = `eip155:${chainId}`
  const asset = chain.usdc
  // Its own wallet: a seller under test may have one of the demo accounts.
  const account = newAccount()
  await chain.control.fund(account.address.toLowerCase() as Address, { microUsdc: 0n })
  const facilitator = await serveFacilitator({
    ...options,
    ...{ rpc, network, asset, account, time },
    fund: (address) => chain.control.fund(address.toLowerCase() as Address),
    advanceTime: (seconds) => chain.control.advanceTime(seconds),
    reorg: async (depth) => {
      await chain.control.reorg(depth, { transactions: 'drop' })
    },
  })
  return {
    ...{ url: facilitator.url, rpc, network, asset, settler: account.address.toLowerCase() as Address },
    stop: async () => {
      await facilitator.stop()
      await chain.stop()
    },
  }
}
