import { applyClusters } from './apply-clusters.ts'
import { checkCitations, type FlowsSeen, seeFlows } from './check-citations.ts'
import type { FundingDeps } from './deps.ts'
import { readFunding } from './read-funding.ts'

/** Reads who funded whom, makes clusters of it, and checks the citations that wait for it. */
export function createFundingWork(deps: FundingDeps): () => Promise<void> {
  let flows: FlowsSeen | undefined
  let first = true
  return async () => {
    const known = await readChain(deps, first)
    if (known) first = false
    flows = await seeFlows(deps, flows)
    const upToMs = deps.clock.nowMs() - (known ? 0 : deps.settings.patienceMs)
    for (;;) {
      const { checked, washTraded } = await checkCitations(deps, flows, upToMs)
      if (washTraded > 0) deps.log.info({ checked, washTraded }, 'citations were found to be wash-traded')
      if (checked === 0) return
    }
  }
}

async function readChain(deps: FundingDeps, first: boolean): Promise<boolean> {
  try {
    if ((await readFunding(deps)) || first) await applyClusters(deps)
    return true
  } catch (error) {
    deps.log.warn({ error: String(error) }, 'funders could not be read from the chain; citations wait for it a while')
    return false
  }
}
