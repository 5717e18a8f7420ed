import type { ProofMethod } from '../proof/check-claim.ts'
import { metaName, txtName, wellKnownPath } from '../proof/instructions.ts'
import type { ClaimRow, SourceRow } from './records.ts'

export type Step = {
  step: 'prove_domain' | 'prove_wallet' | 'be_crawled' | 'raise_score'
  state: 'done' | 'missing' | 'waiting'
  fix: string
}

export type StepFacts = {
  source: SourceRow
  holder: ClaimRow | undefined
  claim: ClaimRow | undefined
  crawl: {
    pages: number
    finishedAt: string | null
    problem: string | null
    homeProblem: string | null
    findings: { robots?: { status: string } }
  }
  advice: readonly { advice: string; points: number }[]
}

/** At each step what is missing and how to fix it, in one sentence. */
export function nextSteps(facts: StepFacts): Step[] {
  return [domainStep(facts), walletStep(facts), crawlStep(facts), scoreStep(facts)]
}

function domainStep({ source, holder, claim }: StepFacts): Step {
  const step = 'prove_domain'
  const mine = claim ?? holder
  if (source.state === 'held' || source.state === 'refused') return { step, state: 'missing', fix: source.state_reason }
  if (mine?.state === 'proven')
    return {
      step,
      state: 'done',
      fix: `Proven by ${mine.method ?? 'proof'}; keep it published, it is checked every week.`,
    }
  if (mine?.state === 'waiting')
    return {
      step,
      state: 'waiting',
      fix: `Your proof was found; it takes effect on ${mine.takes_over_at?.toISOString() ?? 'the next check'} if it is still published then and no newer DNS proof wins.`,
    }
  if (!claim)
    return {
      step,
      state: 'missing',
      fix: `Nobody has proven this domain; register it with your wallet to get the values to publish.${lastCheck(source)}`.slice(
        0,
        900,
      ),
    }
  const said = (Object.entries(claim.report?.notes ?? {}) as [ProofMethod, string][])
    .map(([, note]) => note)
    .filter(Boolean)
  const ask = `publish the TXT record at ${txtName(source.domain)}, or ${wellKnownPath}, or the ${metaName} tag, and POST to the verify link`
  return {
    step,
    state: 'missing',
    fix:
      claim.report === null
        ? `To prove the domain, ${ask}.`
        : `Not proven yet; ${ask}. Last check: ${said.join(' ')}`.slice(0, 900),
  }
}

function lastCheck({ last_check: check }: SourceRow): string {
  const notes = check ? [check.dns, check.file, check.meta].flatMap(({ note }) => note ?? []) : []
  return notes.length === 0 ? '' : ` Last check: ${notes.join(' ')}`
}

function walletStep({ holder, claim }: StepFacts): Step {
  const step = 'prove_wallet'
  const mine = claim ?? holder
  if (mine?.wallet_proven_at) return { step, state: 'done', fix: 'The payout wallet has signed.' }
  return {
    step,
    state: 'missing',
    fix: 'With the domain proven, sign wallet_statement with the payout wallet and send it as wallet_signature to the verify link; earnings are kept until then.',
  }
}

function crawlStep({ crawl }: StepFacts): Step {
  const step = 'be_crawled'
  if (crawl.pages > 0) return { step, state: 'done', fix: `${crawl.pages} pages are indexed.` }
  if (crawl.problem !== null)
    return {
      step,
      state: 'missing',
      fix: `The site cannot be read: ${crawl.problem}; make it answer over https and verify again.`,
    }
  if (crawl.findings.robots?.status === 'broken')
    return { step, state: 'missing', fix: 'robots.txt fails, so nothing may be read; make it answer 200 or 404.' }
  if (crawl.finishedAt === null)
    return { step, state: 'waiting', fix: 'The first visit is under way; look again in a moment.' }
  if (crawl.homeProblem?.startsWith('leads to '))
    return {
      step,
      state: 'missing',
      fix: `The home page ${crawl.homeProblem}, which is its own source; register that name, or serve the pages here.`,
    }
  if (crawl.homeProblem !== null && crawl.homeProblem !== 'robots.txt forbids it')
    return {
      step,
      state: 'missing',
      fix: `The home page cannot be read: ${crawl.homeProblem}; fix it and verify again.`,
    }
  return {
    step,
    state: 'missing',
    fix: 'No page could be read; allow AssayBot in robots.txt and link your articles from the home page or a sitemap.',
  }
}

function scoreStep({ advice, crawl }: StepFacts): Step {
  const step = 'raise_score'
  const [first] = advice.filter(
    (entry) => !entry.advice.startsWith('Be cited') && !entry.advice.startsWith('Keep cited'),
  )
  if (crawl.pages === 0) return { step, state: 'waiting', fix: 'Advice follows the first visit.' }
  return first && first.points >= 0.5
    ? { step, state: 'missing', fix: `${first.advice} (up to ${first.points} points)` }
    : { step, state: 'done', fix: 'The site itself leaves little to improve; usage decides from here.' }
}
