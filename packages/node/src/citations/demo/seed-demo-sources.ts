import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { demoAccount } from '../../devnet/accounts.ts'
import { statementTypedData } from '../../proofs/index.ts'
import { runCrawler } from '../crawl/run-crawler.ts'
import type { SourceDeps } from '../deps.ts'
import { walletStatement } from '../proof/wallet-statement.ts'
import { scoreSources } from '../score/score-sources.ts'
import { liveClaims } from '../sources/records.ts'
import { registerSource } from '../sources/register-source.ts'
import { proveWallet, termsOf, verifySource } from '../sources/verify-source.ts'
import type { DemoSites } from './open-demo-sites.ts'

/** The demo's own sites go the way of every source: registered, proven, crawled, scored. Done once for a database. */
export async function seedDemoSources(deps: SourceDeps, sites: DemoSites): Promise<void> {
  const creator = demoAccount('creator')
  await Promise.all(sites.list.map(({ domain }) => seedOne(deps, sites, domain, creator.address)))
  await runCrawler(deps, { forMs: 10_000 })
  while ((await scoreSources(deps)) > 0);
}

async function seedOne(deps: SourceDeps, sites: DemoSites, domain: string, wallet: `0x${string}`): Promise<void> {
  const { claimId } = await registerSource(deps, { domain, wallet, synthetic: true })
  const claim = (await liveClaims(deps.database, domain)).find((one) => one.id === claimId)
  if (!claim) return
  sites.publish(termsOf(claim))
  if (claim.state === 'open') await verifySource(deps, domain)
  if (claim.wallet_proven_at === null) await proveWallet(deps, claim, await signAsCreator(deps, termsOf(claim)))
}

function signAsCreator(deps: SourceDeps, terms: Parameters<typeof walletStatement>[0]) {
  const typedData = statementTypedData(walletStatement(terms), deps.apiUrl, deps.base.chainId) as TypedDataDefinition
  return privateKeyToAccount(demoAccount('creator').privateKey).signTypedData(typedData)
}
