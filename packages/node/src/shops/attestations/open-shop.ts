import { type Address, zeroAddress } from '@assay/till/kernel/address'
import type { Hex } from '@assay/till/kernel/bytes'
import { introduceLogKey } from '@assay/till/signing'
import { monitorPath, openMonitor } from '../../faces/tlog/open-monitor.ts'
import { openWitnessing } from '../../faces/tlog/open-witnessing.ts'
import { royaltyBps, type Shop, type ShopContext } from '../../http/index.ts'
import { anchorCheckpoint } from '../../tlog/anchor-checkpoint.ts'
import { anchoredHeads } from '../../tlog/anchored-heads.ts'
import {
  checkOutside,
  collectCosignatures,
  logOrigin,
  logPath,
  logRoutes,
  openGuard,
  openLog,
  repairedChannel,
} from '../../tlog/index.ts'
import { openWitnesses } from '../../tlog/open-witnesses.ts'
import { type OutsideSource, witnessSources } from '../../tlog/outside-heads.ts'
import { noPeers, type PeerLogs, peerHeads } from '../../tlog/peers/index.ts'
import { pruneHeads } from '../../tlog/prune-heads.ts'
import { findMatched } from '../match/find-matched.ts'
import { createMayRead } from '../sources/crawl/may-read.ts'
import type { SourceDeps } from '../sources/deps.ts'
import { createCitationAttester } from './attest/attester.ts'
import { foldAttestations } from './attest/fold-attestations.ts'
import { createHostTurns } from './attest/host-turns.ts'
import { openPageThreads } from './attest/page-threads-adapter.ts'
import { attestRoutes } from './attest/routes.ts'
import { createSnapshots } from './attest/snapshots.ts'
import { pruneSnapshots } from './attest/store-snapshots.ts'
import { mayBackRoot } from './creators/adopt-root.ts'
import type { CreatorDeps } from './creators/deps.ts'
import { createMoverKey } from './creators/mover-key.ts'
import { reverseAccruals } from './creators/reverse-accruals.ts'
import { creatorRoutes } from './creators/routes.ts'
import { followAllChains, runCreators } from './creators/run-creators.ts'
import { fundingJobs } from './funding/index.ts'
import { parseMarketSettings } from './settings.ts'

export type MarketOptions = {
  market?: Record<string, unknown>
  moverKey?: Hex | undefined
  royalty: { recipient: Address; licence: string }
  /** Who else may hold tree heads of this log, such as mirrors. */
  outside?: readonly OutsideSource[]
  /** Logs and witnesses of mesh peers; a node without a mesh has none. */
  peers?(context: ShopContext): PeerLogs
}

/** Attestations, the log they are in, and the creators they pay. */
export async function openMarket(
  context: ShopContext,
  sources: SourceDeps,
  options: MarketOptions,
): Promise<Shop & { jobs: NonNullable<Shop['jobs']>; stop(): Promise<void> }> {
  const { database, clock, ids, log, metrics, keyring, jws, proofs, apiUrl, base } = context
  const settings = parseMarketSettings(options.market, context.mode === 'demo')
  const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
  const { logKeyring } = context
  const identity = { node: context.baseUrl, chainId: base.chainId }
  await introduceLogKey({ database, keyring, logKeyring, identity }, origin)
  const tree = openLog({ database, clock, metrics, keyring: logKeyring, origin })
  const witnesses = await openWitnesses(context, tree, settings)
  const peers = options.peers?.(context) ?? noPeers
  const outside = [
    ...witnessSources({ database, log, metrics, tree }, witnesses),
    ...anchorsOf(context, origin),
    { name: 'mesh peers', seesEveryHead: false, outsideHeads: () => peerHeads(peers, tree) },
    ...(options.outside ?? []),
  ]
  const compare = () => checkOutside({ database, log, metrics, tree }, outside)
  // Before the first head is signed: what others hold of this log decides whether it may go on.
  await compare()
  const guard = await openGuard({ database, clock, origin })
  const stopListening = await database.listen(repairedChannel, tree.forget, tree.forget)
  const witnessing = await openWitnessing(context, peers, tree, witnesses, settings)
  const monitor = openMonitor(
    context,
    settings.monitorMs,
    witnesses.map(({ key }) => key.vkey),
  )
  const threads = openPageThreads({ clock, log })
  const attest = {
    database,
    clock,
    ids,
    log,
    metrics,
    outbound: sources.outbound,
    proofs,
    domains: sources.domains,
    snapshots: createSnapshots({
      database,
      outbound: sources.outbound,
      clock,
      mayRead: createMayRead({ outbound: sources.outbound, clock }),
      turns: createHostTurns({ clock, pauseMs: sources.settings.crawl.hostDelayMs }),
      threads,
      freshMs: settings.attest.snapshotMs,
    }),
    threads,
    tree,
    attester: createCitationAttester({ keyring, jws, node: apiUrl, chainId: base.chainId }),
    apiUrl,
    chainId: base.chainId,
    network: base.caip2,
    royalty: { ...options.royalty, bps: royaltyBps },
    settings: settings.attest,
    findMatched: (queryId: string, url: string) => findMatched(database, queryId, url),
    witnessKeys: () => witnesses.map(({ key }) => key.vkey),
    requireLogOpen: guard.requireOpen,
  }
  const mover = options.moverKey === undefined ? undefined : createMoverKey(options.moverKey)
  const terms = { mover: mover?.address ?? zeroAddress, ...settings.delays }
  const creators: CreatorDeps = {
    database,
    clock,
    log,
    metrics,
    settings: settings.creators,
    challengeMs: settings.attest.challengeMs,
    payees: context.payees,
    terms,
    mover,
    payouts: context.payouts,
  }
  const networks = [base, context.polygon].map((network) => ({
    network,
    custody: context.payees.custody[network.caip2] as Address,
  }))
  return {
    stop: async () => {
      await threads.stop()
      await stopListening()
    },
    readiness: [
      { name: 'transparency log', check: async () => (await guard.stop()) === undefined },
      { name: 'log key', check: async () => logKeyring.complete() },
    ],
    routes: [
      ...attestRoutes(attest),
      ...creatorRoutes({
        database,
        networks,
        terms,
        thresholdMicro: settings.creators.thresholdMicro,
        nowMs: clock.nowMs,
        proofs,
        clock,
        sources,
        releaseMs: settings.creators.releaseMs,
        canMove: mover !== undefined,
      }),
      ...logRoutes({ database, tree, guard, witnesses, apiUrl }),
      ...witnessing.routes,
      ...monitor.routes,
    ],
    announces: witnessing.announces,
    ...(settings.monitorMs > 0 ? { demo: () => ({ log_monitor: `${apiUrl}${monitorPath}` }) } : {}),
    reversalHooks: [reverseAccruals],
    beforeReconcile: () => followAllChains(creators),
    booksOutbound: async (transfer) => mayBackRoot(creators, transfer),
    jobs: [
      ...fundingJobs(context, sources, settings, terms),
      ...witnessing.jobs,
      ...monitor.jobs,
      { name: 'citations.prune', intervalMs: 86_400_000, work: () => pruneSnapshots(database) },
      { name: 'citations.heads', intervalMs: 3_600_000, work: () => pruneHeads(database, clock.nowMs()) },
      { name: 'citations.fold', intervalMs: 5_000, work: () => foldAttestations(sources) },
      {
        name: 'citations.anchor',
        intervalMs: settings.anchorMs,
        work: async () => {
          if (await guard.stop()) return
          for (const { chain, rpc, wallets } of context.payouts()?.chains ?? [])
            if (wallets && chain.network.caip2 === base.caip2)
              await anchorCheckpoint({ database, clock, log, tree }, { network: chain.network, chain, rpc, wallets })
        },
      },
      {
        name: 'citations.creators',
        intervalMs: context.mode === 'demo' ? 2_000 : 10_000,
        work: () => runCreators(creators),
      },
      {
        name: 'citations.log',
        intervalMs: 1_000,
        work: async () => {
          await tree.integrate()
          if (await guard.stop()) return
          const answers = await collectCosignatures({ database, log, metrics, tree }, witnesses)
          if (answers.some(({ outcome }) => outcome === 'contradicted')) await compare()
        },
      },
      {
        name: 'citations.outside',
        intervalMs: context.mode === 'demo' ? 5_000 : 30_000,
        work: async () => {
          await compare()
          await guard.stop()
        },
      },
    ],
  }
}

/** Heads are anchored on Base, and read there whether or not this process may send. */
function anchorsOf({ database, chains, rpcs, base }: ShopContext, origin: string): OutsideSource[] {
  const [chain, rpc] = [chains.get(base.caip2), rpcs.get(base.caip2)]
  return chain && rpc ? [anchoredHeads({ database, chain, rpc, origin })] : []
}
