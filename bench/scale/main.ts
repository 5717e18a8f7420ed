// npm run scale: several processes of one node on one database, one JetStream and one pair of chains, all real.
// Exit code 1 when a payment is served or charged more than once, or lost.
import { parseArgs } from 'node:util'
import { readOrigin } from '../record.ts'
import { takeReported } from '../report-figures.ts'
import { type ClusterOptions, openCluster } from './cluster.ts'
import { compareWithWorkers } from './cores.ts'
import { failOver } from './failover.ts'
import { readWithHistory, sizeOfHistory } from './history.ts'
import { watchIdleNodes } from './idle.ts'
import { sendOnePayment } from './one-payment.ts'
import { recordRun } from './recorded.ts'
import { restartUnderLoad } from './rolling-restart.ts'
import { workThroughPooler } from './through-pooler.ts'
import { measureThroughput } from './throughput.ts'
import { migrateUnderLoad } from './upgrade.ts'
import { tell, type Verdict } from './verdict.ts'

const usage = `npm run scale [-- <part> ...] [-- --quick] [-- --restarts N] [-- --record] [-- --no-install]
  parts     payment     one payment sent to four processes at once
            restart     rolling restarts under load
            throughput  1, 2 and 4 processes, and what bounds them
            cores       one process beside PROCESSES=auto
            pooler      two processes through PgBouncer in transaction mode
            upgrade     a newer version migrates while two processes sell
            history     what jobs and routes read with 10,000 payments and with many more; not among the others
            idle        what nodes cost that nobody calls, 20 minutes after their start; not among the others
            failover    the leader of a Patroni cluster is killed, cut off and filled under purchases; not among the others
  --rows N      sales of the longest history (100000); five postings each, a stamped citation for every second one
  --filled N    sales in the database before the upgrade begins
  --wallets N   wallets of the longest history (a tenth of the sales)
  --size        writes the longest history at once and says how large each table is
  --count N     kills of the leader (20)
  --minutes N   until the nodes are idle (20)
  --quick       fewer copies, restarts and purchases
  --record      writes what each part measured into the table of docs/scale.md; not with --quick
  --no-install  leaves missing servers missing; else apt-get installs them, if we are root
`

const names = ['payment', 'restart', 'throughput', 'cores', 'pooler', 'upgrade', 'history', 'idle', 'failover'] as const
/** They take long. */
const onRequest: readonly string[] = ['history', 'idle', 'failover']
type Part = (typeof names)[number]

const payers = 200
const say = (text: string) => process.stderr.write(`${text}\n`)

export async function runScale(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      /** What happens anyway; it once had to be asked for. */
      install: { type: 'boolean', default: true },
      'no-install': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      restarts: { type: 'string' },
      rows: { type: 'string', default: '100000' },
      wallets: { type: 'string' },
      size: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      filled: { type: 'string' },
      count: { type: 'string' },
      minutes: { type: 'string', default: '20' },
    },
  })
  const chosen: readonly string[] =
    positionals.length === 0 ? names.filter((name) => !onRequest.includes(name)) : positionals
  const isUnknown = chosen.some((name) => !names.includes(name as Part))
  if (values.help || isUnknown || (values.record && values.quick)) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  const restarts = Number(values.restarts ?? (values.quick ? 4 : 12))
  const install = !values['no-install']
  const options = { payers, settlers: 4, install, say }
  const parts: Record<Part, () => Promise<Verdict[]>> = {
    payment: () => onCluster(options, (cluster) => sendOnePayment(cluster, 4, values.quick ? 1_000 : 10_000)),
    restart: () => onCluster(options, (cluster) => restartUnderLoad(cluster, 4, restarts, payers, say)),
    throughput: () =>
      onCluster(options, (cluster) => measureThroughput(cluster, [1, 2, 4], values.quick ? 600 : 3_000, say)),
    cores: () =>
      onCluster({ ...options, payers: 1_000 }, (cluster) =>
        compareWithWorkers(cluster, values.quick ? 300 : 1_000, say),
      ),
    pooler: () => onCluster(options, (cluster) => workThroughPooler(cluster, values.quick ? 20 : 100, install, say)),
    upgrade: () =>
      onCluster(options, (cluster) =>
        migrateUnderLoad(
          cluster,
          payers,
          values.quick ? 4 : 12,
          values.filled ? pastOf({ rows: values.filled }) : undefined,
        ),
      ),
    failover: async () => [await failOver(options, Number(values.count ?? (values.quick ? 3 : 20)))],
    idle: () => watchIdleNodes(Number(values.minutes), say),
    history: async () => [await (values.size ? sizeOfHistory : readWithHistory)(pastOf(values), say)],
  }
  // Which sizes a figure is of is said by its own words; the command says how to have it again.
  const sizes = args.filter((arg) => !names.includes(arg as Part) && !['--record', '--no-install'].includes(arg))
  const origin = readOrigin()
  let fine = true
  for (const name of names.filter((known) => chosen.includes(known))) {
    say(`${name} ...`)
    for (const verdict of await parts[name]()) {
      tell(verdict)
      fine &&= verdict.faults.length === 0
    }
    const run = [name, ...sizes].join(' ')
    const rows = takeReported().filter(({ measured }) => !measured.startsWith('left out'))
    if (values.record && rows.length > 0) recordRun(run, { command: `npm run scale -- ${run}`, ...origin, rows })
  }
  return fine ? 0 : 1
}

const pastOf = ({ rows, wallets }: { rows: string; wallets?: string }) => ({
  sales: Number(rows),
  wallets: Number(wallets ?? Math.ceil(Number(rows) / 10)),
})

/** Each part on its own database: what one leaves behind does not colour the next. */
async function onCluster(
  options: ClusterOptions,
  work: (cluster: Awaited<ReturnType<typeof openCluster>>) => Promise<Verdict>,
): Promise<Verdict[]> {
  const cluster = await openCluster(options)
  try {
    const verdict = await work(cluster)
    return [{ ...verdict, measured: `${verdict.measured}; bus: ${cluster.bus}` }]
  } finally {
    await cluster.close()
  }
}
