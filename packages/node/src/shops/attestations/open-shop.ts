import { type Address, checksumAddress, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { demoAccount } from '@assay/till/devnet/accounts'
import { royaltyBps } from '../../http/index.ts'
import { notifications } from '../../notifications/index.ts'
import {
  creatorShares,
  matchedPages,
  type OpenedLog,
  ownCitations,
  relatedParties,
  saleShares,
  transparencyLog,
} from '../ports.ts'
import { declareShop, type OpenShop, type Shop, type ShopContext } from '../shop.ts'
import { createMayRead, type SourceDeps, sourcesMigrations, sourcesPort } from '../sources/index.ts'
import { aggregateAttestations } from './attest/aggregate-attestations.ts'
import { readTogether, termsIn } from './attest/attest-price.ts'
import { createCitationAttester } from './attest/attester.ts'
import { createHostTurns } from './attest/host-turns.ts'
import { keepTerms } from './attest/keep-terms.ts'
import { markOwn } from './attest/mark-own.ts'
import { openPageThreads } from './attest/page-threads-adapter.ts'
import { attestRoutes } from './attest/routes.ts'
import { exampleWallet } from './attest/schemas.ts'
import { shares } from './attest/shares-sql.ts'
import { createSnapshots } from './attest/snapshots.ts'
import { pruneSnapshots } from './attest/store-snapshots.ts'
import { citePrompt } from './cite-prompt.ts'
import { mayBackRoot } from './creators/adopt-root.ts'
import { distributorFor } from './creators/contracts.ts'
import type { CreatorDeps } from './creators/deps.ts'
import { proposeDistributor, readDistributors } from './creators/distributors.ts'
import { earningsTopic, publishEarnings } from './creators/earnings-events.ts'
import { createMoverKey } from './creators/mover-key.ts'
import { reverseAccruals } from './creators/reverse-accruals.ts'
import { creatorRoutes } from './creators/routes.ts'
import { followAllChains, runCreators } from './creators/run-creators.ts'
import { shareSale } from './creators/share-sale.ts'
import { fundingClusters, fundingJobs } from './funding/index.ts'
import { attestationsRetention } from './retention.ts'
import { attestationsVariables, type MarketSettings, parseMarketSettings, parseMoverKey } from './settings.ts'

export type AttestationsShopOptions = {
  settings: MarketSettings
  /** Signs moves of creators' money to another wallet; without it nothing is moved. */
  moverKey?: Hex | undefined
  /** The terms that every attestation names. */
  royalty: { recipient: Address; licence: string }
}

export const attestationsMigrations = [sourcesMigrations, new URL('./migrations/', import.meta.url)]

export const attestationsShop = declareShop({
  name: 'attestations',
  variables: attestationsVariables,
  migrations: attestationsMigrations,
  topics: [earningsTopic],
  retention: attestationsRetention,
  logEntries: [
    { type: 'assay.citation/v1', kind: 'citation' },
    { type: 'assay.claim/v1', kind: 'claim' },
  ],
  configure: ({ CITATIONS, MOVER_KEY, MOVER_KEY_FILE }, node) =>
    openAttestationsShop({
      settings: parseMarketSettings(CITATIONS, node.demo),
      moverKey: parseMoverKey(MOVER_KEY, MOVER_KEY_FILE, node),
      royalty: { recipient: node.royaltyRecipient, licence: node.contentLicense },
    }),
})

/** Area C: stamps that pay creators. Nothing can be stamped where no sources are known. */
export function openAttestationsShop(options: AttestationsShopOptions): OpenShop {
  return async (context) => {
    const sources = context.ports.find(sourcesPort)
    const opened = context.ports.find(transparencyLog)
    return sources && opened ? openAttestations(context, sources, opened, options) : { routes: [] }
  }
}

/** Attestations, the log they are in, and the creators they pay. */
async function openAttestations(
  context: ShopContext,
  sources: SourceDeps,
  opened: OpenedLog,
  options: AttestationsShopOptions,
): Promise<Shop> {
  const { database, clock, log, metrics, proofs } = context
  context.ports.offer(relatedParties, fundingClusters)
  context.ports.offer(saleShares, shares)
  context.ports.offer(ownCitations, markOwn)
  context.ports.offer(creatorShares, shareSale)
  const { settings } = options
  const threads = openPageThreads({ clock, log })
  const attest = attestDeps(context, sources, opened, options, threads)
  const mover = options.moverKey === undefined ? undefined : createMoverKey(options.moverKey)
  const terms = { mover: mover?.address ?? zeroAddress, ...settings.delays }
  const creators: CreatorDeps = {
    ...{ database, clock, log, metrics, terms, mover },
    settings: settings.creators,
    challengeMs: settings.attest.challengeMs,
    payees: context.payees,
    custody: context.custody,
  }
  const networks = context.networks.map((network) => ({
    network,
    custody: context.payees.custody[network.caip2] as Address,
  }))
  for (const { network, custody } of networks)
    await proposeDistributor(database, {
      network: network.caip2,
      contract: distributorFor(network, custody, terms).address,
      treasurer: custody,
      terms,
    })
  const distributors = (await readDistributors(database)).map(({ contract }) => contract)
  return {
    stop: threads.stop,
    prompts: [citePrompt],
    // Anyone who sends an example of a demo node has the buyer's wallet.
    examples: { [exampleWallet]: checksumAddress(demoAccount('buyer').address) },
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
        mover: mover?.address,
      }),
    ],
    reversalHooks: [reverseAccruals],
    beforeReconcile: () => followAllChains(creators),
    explainsOutbound: (transfer) => mayBackRoot(creators, transfer),
    jobs: [
      ...fundingJobs(context, sources, settings, distributors),
      { name: 'citations.prune', intervalMs: 86_400_000, work: () => pruneSnapshots(database) },
      ...earningsJobs(context),
      {
        name: 'citations.aggregate',
        intervalMs: 5_000,
        work: () => aggregateAttestations(sources),
        due: 'exists (select from attestation where aggregated_at is null and checked_at is not null)',
      },
      {
        name: 'citations.creators',
        intervalMs: context.mode === 'demo' ? 2_000 : 10_000,
        work: () => runCreators(creators),
        // Nothing is on a chain before the first root.
        due: 'exists (select from creator_accrual) or exists (select from creator_root)',
        // Reconciliation follows the chains too.
        idleMs: 300_000,
      },
    ],
  }
}

/** None on a node without notifications. */
function earningsJobs({ ports, database, clock }: ShopContext): NonNullable<Shop['jobs']> {
  const events = ports.find(notifications)
  if (!events) return []
  const work = async () => {
    await publishEarnings({ database, clock, events })
  }
  return [{ name: 'citations.earnings', intervalMs: 300_000, work }]
}

/** What a stamp is made with. */
function attestDeps(
  context: ShopContext,
  sources: SourceDeps,
  { tree, witnessKeys, unavailable }: OpenedLog,
  { settings, royalty }: AttestationsShopOptions,
  threads: ReturnType<typeof openPageThreads>,
): Parameters<typeof attestRoutes>[0] {
  const { database, clock, ids, log, metrics, keyring, jws, proofs, apiUrl, base } = context
  const { outbound, domains, termsChanges } = sources
  const currentTerms = readTogether(termsIn(database))
  return {
    ...{ termsChanges, currentTerms, keptTerms: keepTerms(currentTerms, { clock, changes: termsChanges }) },
    ...{ database, clock, ids, log, metrics, outbound, proofs, domains, threads, tree, apiUrl, witnessKeys },
    snapshots: createSnapshots({
      ...{ database, outbound, clock, threads },
      mayRead: createMayRead({ outbound, clock }),
      renderPage: sources.renderPage,
      turns: createHostTurns({ clock, pauseMs: sources.settings.crawl.hostDelayMs }),
      freshMs: settings.attest.snapshotMs,
    }),
    attester: createCitationAttester({ keyring, jws, node: apiUrl, chainId: base.chainId }),
    chainId: base.chainId,
    network: base.caip2,
    royalty: { ...royalty, bps: royaltyBps },
    settings: settings.attest,
    findMatched: async (queryId, url) => context.ports.find(matchedPages)?.(queryId, url),
    logUnavailable: unavailable,
  }
}
