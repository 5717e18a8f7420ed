import { creatorAccounts } from '../../packages/node/src/shops/attestations/accounts.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { accounts, credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'
import { answerCommands, type Commands, cpuMicros } from '../process/commands.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { startStubbedNode } from './stubbed-node.ts'

type Beside = { database: Database; databaseCpuMicros(): number }

/** In a child: a node with settlement stubbed, and what a bench asks of each of them; `more` adds what one bench needs. */
export async function serveNode(
  options: Parameters<typeof startStubbedNode>[0] = {},
  more: (beside: Beside) => Commands | Promise<Commands> = () => ({}),
): Promise<void> {
  const node = await startStubbedNode(options)
  const databaseCpu = await openDatabaseCpu(node.databaseUrl)
  const ports = { clock: systemClock, rng: systemRng, log: silentLog }
  const database = createDatabase({ target: { url: node.databaseUrl }, poolSize: 2, ...ports })
  const commands = {
    url: () => node.url,
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    database_cpu: databaseCpu.micros,
    ...(await more({ database, databaseCpuMicros: databaseCpu.micros })),
  }
  answerCommands(commands, async () => {
    await database.close()
    await databaseCpu.close()
    await node.stop()
  })
}

const network = 'eip155:8453'

/** Credit for each of these wallets, as if it had been paid in. */
export const addCredit = async (database: Database, wallets: readonly Address[], micro: bigint): Promise<void> => {
  await post(
    database,
    wallets.map((wallet) => ({
      reference: `bench:${wallet}`,
      kind: 'topup',
      lines: [debit(creatorAccounts.distributor(network), micro), credit(accounts.credit(network, wallet), micro)],
    })),
  )
}
