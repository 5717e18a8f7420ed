// The chains of idle.ts, in a separate process: what they cost is not the node's.
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { answerCommands } from '../process/commands.ts'

const ports = { port: 0, clock: systemClock, log: silentLog }
const chains = [
  // Older than the first block that the token index reads.
  await startChain({ chainId: 8453, emptyBlocks: 53_000_000, ...ports }),
  await startChain({ chainId: 137, ...ports }),
]

answerCommands(
  { urls: () => chains.map(({ url }) => url) },
  async () => void (await Promise.all(chains.map((chain) => chain.stop()))),
)
