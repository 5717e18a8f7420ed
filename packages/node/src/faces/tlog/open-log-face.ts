import type { Clock } from '@assay/till/kernel/clock'
import { introduceLogKey } from '@assay/till/signing'
import type { Unavailable } from '../../http/index.ts'
import { peerLogs, transparencyLog } from '../../shops/ports.ts'
import { declareShop, type OpenShop, type Shop, type ShopContext } from '../../shops/shop.ts'
import { anchorCheckpoint } from '../../tlog/anchor-checkpoint.ts'
import { anchoredHeads } from '../../tlog/anchored-heads.ts'
import type { LogGuard } from '../../tlog/guard.ts'
import { openHeadFile } from '../../tlog/head-file-adapter.ts'
import {
  collectCosignatures,
  compareWithWitnesses,
  type LogSettings,
  logOrigin,
  logPath,
  openGuard,
  openLog,
  openWitnesses,
  parseLogSettings,
  repairedChannel,
  statementLog,
  type TransparencyLog,
  type WitnessPeer,
} from '../../tlog/index.ts'
import { type HeadSource, witnessSources } from '../../tlog/outside-heads.ts'
import { noPeers, peerHeads } from '../../tlog/peers/index.ts'
import { pruneHeads } from '../../tlog/prune-heads.ts'
import type { LogStop } from '../../tlog/reason-not-to-sign.ts'
import { logRetention } from '../../tlog/retention.ts'
import { databaseTime, newestCheckpoint, recentPeerKeys } from '../../tlog/store.ts'
import { monitorPath, openMonitor } from './open-monitor.ts'
import { openWitnessing } from './open-witnessing.ts'
import { logRoutes } from './routes.ts'
import { logVariables } from './settings.ts'

export type LogFaceOptions = {
  settings?: LogSettings
  /** Who else may hold tree heads of this log, such as mirrors. */
  outside?: readonly HeadSource[]
}

export const logFace = declareShop({
  name: 'log',
  variables: logVariables,
  retention: logRetention,
  configure: ({ TLOG }, { demo }) => openLogFace({ settings: parseLogSettings(TLOG, demo) }),
})

/** The transparency log of the node: opened after the mesh, whose peers witness it, and before the shops that write to it. */
export function openLogFace(options: LogFaceOptions = {}): OpenShop {
  return async (context) => {
    const { database, clock, log, metrics, keyring, logKeyring, apiUrl, base } = context
    const settings = options.settings ?? parseLogSettings({}, context.mode === 'demo')
    const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
    const identity = { node: context.baseUrl, api: apiUrl, chainId: base.chainId }
    await introduceLogKey({ database, keyring, logKeyring, identity, statementLog }, origin)
    // Those that the settings name are outside; the demo's own go back with the database.
    const confirmAfter = settings.witnesses.length > 0 ? await databaseTime(database) : undefined
    const tree = openLog({ database, clock, metrics, keyring: logKeyring, origin, confirmAfter })
    const witnesses = await openWitnesses(context, tree, settings)
    const peers = context.ports.find(peerLogs) ?? noPeers
    const headFile = openHeadFile(context.home)
    const outside = [
      ...witnessSources({ database, log, metrics, tree }, witnesses),
      ...anchorsOf(context, origin),
      {
        name: 'mesh peers',
        seesEveryHead: false,
        outsideHeads: async () => peerHeads(peers, tree, await recentPeerKeys(database)),
      },
      headFile,
      ...(options.outside ?? []),
    ]
    const compare = () => compareWithWitnesses({ database, log, metrics, tree, confirmAfter }, outside)
    // Before the first head is signed: what others hold of this log decides whether it may go on.
    await compare()
    const guard = await openGuard({ database, clock, origin, confirmAfter })
    const stopListening = await database.listen(repairedChannel, tree.reset, tree.reset)
    const witnessKeys = () => witnesses.map(({ key }) => key.vkey)
    const witnessing = await openWitnessing(context, peers, tree, witnesses, settings)
    const monitor = openMonitor(context, settings.monitorMs, witnessKeys())
    context.ports.offer(transparencyLog, { tree, witnessKeys, unavailable: () => whileStopped(guard.stopped(), clock) })
    return {
      stop: stopListening,
      readiness: [
        { name: 'transparency log', check: async () => (await guard.stop()) === undefined },
        { name: 'log key', check: async () => logKeyring.complete() },
      ],
      routes: [...logRoutes({ database, tree, guard, witnesses, apiUrl }), ...witnessing.routes, ...monitor.routes],
      announces: witnessing.announces,
      ...(settings.monitorMs > 0 ? { demo: () => ({ log_monitor: `${apiUrl}${monitorPath}` }) } : {}),
      jobs: [
        ...witnessing.jobs,
        ...monitor.jobs,
        ...logJobs(context, settings.anchorMs, { tree, guard, witnesses, headFile, compare, confirmAfter }),
      ],
    }
  }
}

type LogWork = {
  tree: TransparencyLog
  guard: LogGuard
  witnesses: readonly WitnessPeer[]
  headFile: ReturnType<typeof openHeadFile>
  compare(): Promise<unknown>
  confirmAfter: Date | undefined
}

/** Whether an entry waits, a witness has not signed the newest head, or nobody has confirmed it; and the newest head. */
function integrateDueSql(witnesses: readonly WitnessPeer[], confirmAfter: Date | undefined): string {
  const names = witnesses.map(({ key }) => quoteLiteral(key.name))
  const unconfirmed = `checked_at is null or checked_at < '${confirmAfter?.toISOString()}'`
  return `case when exists (select from log_entry where leaf_index is null)
      or exists (select from unnest(array[${names.join()}]::text[]) as w (name) where (select max(size) from log_checkpoint)
        > (select coalesce(max(c.size), 0) from log_cosignature c where c.witness = w.name))
      ${confirmAfter === undefined ? '' : `or exists (select from log_tree where ${unconfirmed})`}
    then 'true' else (select max(size) from log_checkpoint)::text end`
}

const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`

function logJobs(context: ShopContext, anchorMs: number, work: LogWork): NonNullable<Shop['jobs']> {
  const { database, clock, log, metrics, base } = context
  const { tree, guard, witnesses, headFile, compare, confirmAfter } = work
  const confirmSoon = eachPowerOfTwo(compare)
  const anchor = async () => {
    if (await guard.stop()) return
    for (const { chain, rpc, wallets } of context.custody?.chains ?? [])
      if (wallets && chain.network.caip2 === base.caip2)
        await anchorCheckpoint({ database, clock, log, tree }, { network: chain.network, chain, rpc, wallets })
  }
  const integrate = async () => {
    await tree.integrate()
    const stop = await guard.stop()
    // While the node started there was nobody whom a witness could ask about a new key of the log.
    if (stop?.reason === 'unconfirmed') await confirmSoon()
    if (stop) return
    const newest = await newestCheckpoint(database)
    const unkept = newest && (await headFile.keep(newest.note))
    if (unkept) log.warn({ reason: unkept }, 'the head of the log cannot be kept in the data folder')
    const answers = await collectCosignatures({ database, log, metrics, tree }, witnesses)
    if (answers.some(({ outcome }) => outcome === 'contradicted')) await compare()
  }
  const pollOutside = async () => {
    await compare()
    await guard.stop()
  }
  return [
    { name: 'log.heads', intervalMs: 3_600_000, work: () => pruneHeads(database, clock.nowMs()) },
    { name: 'log.anchor', intervalMs: anchorMs, work: anchor },
    { name: 'log.integrate', intervalMs: 1_000, work: integrate, due: integrateDueSql(witnesses, confirmAfter) },
    {
      name: 'log.outside',
      intervalMs: context.mode === 'demo' ? 5_000 : 30_000,
      work: pollOutside,
      // A new head of ours is compared soon; what others hold changes without our knowing.
      due: '(select max(size) from log_checkpoint)',
      idleMs: context.mode === 'demo' ? 15_000 : 30_000,
    },
  ]
}

/** Does the work the first time it is asked to, and then ever more seldom. */
function eachPowerOfTwo(work: () => Promise<unknown>): () => Promise<void> {
  let times = 0
  return async () => {
    times += 1
    if (Number.isInteger(Math.log2(times))) await work()
  }
}

/** Heads are anchored on Base, and read there whether or not this process may send. */
function anchorsOf({ database, chains, rpcs, base }: ShopContext, origin: string): HeadSource[] {
  const [chain, rpc] = [chains.get(base.caip2), rpcs.get(base.caip2)]
  return chain && rpc ? [anchoredHeads({ database, chain, rpc, origin })] : []
}

/** Nothing is sold that needs a place in a log which cannot give one. */
function whileStopped(stopped: LogStop | undefined, clock: Clock): Unavailable | undefined {
  if (!stopped) return undefined
  const sinceMs = stopped.since?.getTime() ?? clock.nowMs()
  return { why: 'log_stopped', detail: stopped.detail, sinceMs, extra: { reason: stopped.reason } }
}
