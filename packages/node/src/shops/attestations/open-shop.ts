import type { Address } from '@assay/till/kernel/address'
import { royaltyBps, type Shop, type ShopContext } from '../../http/index.ts'
import { anchorCheckpoint } from '../../tlog/anchor-checkpoint.ts'
import { collectCosignatures, logOrigin, logPath, logRoutes, openLog } from '../../tlog/index.ts'
import { openWitnesses } from '../../tlog/open-witnesses.ts'
import { findMatched } from '../match/index.ts'
import { relatedParties } from '../ports.ts'
import { createMayRead, type SourceDeps } from '../sources/index.ts'
import { createCitationAttester } from './attest/attester.ts'
import { foldAttestations } from './attest/fold-attestations.ts'
import { createHostTurns } from './attest/host-turns.ts'
import { openPageThreads } from './attest/page-threads-adapter.ts'
import { attestRoutes } from './attest/routes.ts'
import { createSnapshots } from './attest/snapshots.ts'
import { pruneSnapshots } from './attest/store-snapshots.ts'
import { mayBackRoot } from './creators/adopt-root.ts'
import type { CreatorDeps } from './creators/deps.ts'
import { reverseAccruals } from './creators/reverse-accruals.ts'
import { creatorRoutes } from './creators/routes.ts'
import { followAllChains, runCreators } from './creators/run-creators.ts'
import { fundingClusters, fundingJobs } from './funding/index.ts'
import { parseMarketSettings } from './settings.ts'

export type MarketOptions = {
  market?: Record<string, unknown>
  royalty: { recipient: Address; licence: string }
}

/** Attestations, the log they are in, and the creators they pay. */
export async function openMarket(
  context: ShopContext,
  sources: SourceDeps,
  options: MarketOptions,
): Promise<Shop & { jobs: NonNullable<Shop['jobs']>; stop(): Promise<void> }> {
  const { database, clock, ids, log, metrics, keyring, jws, proofs, apiUrl, base } = context
  context.ports.offer(relatedParties, fundingClusters)
  const settings = parseMarketSettings(options.market, context.mode === 'demo')
  const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
  const tree = openLog({ database, clock, metrics, keyring, origin })
  const witnesses = await openWitnesses(context, tree, settings)
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
  }
  const creators: CreatorDeps = {
    database,
    clock,
    log,
    metrics,
    settings: settings.creators,
    challengeMs: settings.attest.challengeMs,
    payees: context.payees,
    payouts: context.payouts,
  }
  const networks = [base, context.polygon].map((network) => ({
    network,
    custody: context.payees.custody[network.caip2] as Address,
  }))
  return {
    stop: threads.stop,
    routes: [
      ...attestRoutes(attest),
      ...creatorRoutes({
        database,
        networks,
        thresholdMicro: settings.creators.thresholdMicro,
        nowMs: clock.nowMs,
        proofs,
        clock,
      }),
      ...logRoutes({ database, tree, witnesses, apiUrl }),
    ],
    reversalHooks: [reverseAccruals],
    beforeReconcile: () => followAllChains(creators),
    booksOutbound: async (transfer) => mayBackRoot(creators, transfer),
    jobs: [
      ...fundingJobs(context, sources, settings),
      { name: 'citations.prune', intervalMs: 86_400_000, work: () => pruneSnapshots(database) },
      { name: 'citations.fold', intervalMs: 5_000, work: () => foldAttestations(sources) },
      {
        name: 'citations.anchor',
        intervalMs: settings.anchorMs,
        work: async () => {
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
          await collectCosignatures({ database, log, metrics, tree }, witnesses)
        },
      },
    ],
  }
}
