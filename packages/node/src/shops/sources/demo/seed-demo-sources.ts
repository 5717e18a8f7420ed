import { demoAccount } from '@assay/till/devnet/accounts'
import { statementTypedData } from '@assay/till/proofs'
import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { runCrawler } from '../crawl/run-crawler.ts'
import type { SourceDeps } from '../deps.ts'
import { freshTerms } from '../proof/claim-token.ts'
import { walletStatement } from '../proof/wallet-statement.ts'
import { registerSource } from '../register/register-source.ts'
import { claimOfWallet, proveWallet, termsOf, verifySource } from '../register/verify-source.ts'
import { scoreSources } from '../score/score-sources.ts'
import type { DemoSites } from './open-demo-sites.ts'

/** The demo's own sites go the way of every source: registered, proven, crawled, scored. Done once for a database. */
export async function seedDemoSources(deps: SourceDeps, sites: DemoSites): Promise<void> {
  const creator = demoAccount('creator')
  await Promise.all(sites.list.map(({ domain }) => seedOne(deps, sites, domain, creator.address)))
  await runCrawler(deps, { forMs: 10_000 })
  while ((await scoreSources(deps)) > 0);
}

async function seedOne(deps: SourceDeps, sites: DemoSites, domain: string, wallet: `0x${string}`): Promise<void> {
  await registerSource(deps, { domain, wallet, synthetic: true })
  const known = await claimOfWallet(deps, domain, wallet)
  const terms = known ? termsOf(known) : freshTerms(deps.claimSecret, domain, wallet, deps.clock.nowMs())[0]
  sites.publish(terms)
  if (!known) await verifySource(deps, domain)
  if (!known?.wallet_proven_at) await proveWallet(deps, { domain, wallet }, await signAsCreator(deps, terms))
}

function signAsCreator(deps: SourceDeps, terms: Parameters<typeof walletStatement>[0]) {
  const typedData = statementTypedData(walletStatement(terms), deps.apiUrl, deps.base.chainId) as TypedDataDefinition
  return privateKeyToAccount(demoAccount('creator').privateKey).signTypedData(typedData)
}
