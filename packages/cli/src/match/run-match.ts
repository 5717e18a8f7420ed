import { createAssayClient, type Match, type MatchedPage, type MatchRequest, matchSources } from '@assay/sdk'
import { type AgreeOptions, agreeTo, unlessDryRun } from '../buy/agree.ts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { defaultNode } from '../find-node.ts'
import { printResult } from '../output.ts'

export type MatchOptions = WalletOptions &
  AgreeOptions & {
    url: string
    limit: string
    minScore?: string
    licence?: string
    language?: string
    maxAgeDays?: string
    since?: string
    until?: string
    domains?: string
    explain?: boolean
    maxAmount: string
  }

export async function runMatch({ terminal }: CommandContext, query: string, options: MatchOptions): Promise<void> {
  if (!URL.canParse(options.url)) throw usageError(`--url: not a URL: ${options.url}`)
  const request = requestOf(query, options)
  const wallet = await chooseWallet(options.url, options, terminal)
  const client = createAssayClient({
    account: wallet.account,
    baseUrl: options.url,
    maxPerCallUsd: options.maxAmount,
    networks: wallet.networks,
    confirm: agreeTo(terminal, options),
  })
  const match = await unlessDryRun(terminal, options, () => matchSources(client, request))
  if (match !== undefined) printResult(terminal, options.json, match, () => matchText(match, options))
}

function requestOf(query: string, options: MatchOptions): MatchRequest {
  const number = (name: string, text: string): number => {
    if (!/^\d{1,6}$/.test(text)) throw usageError(`--${name}: must be a whole number`)
    return Number(text)
  }
  return {
    query,
    limit: number('limit', options.limit),
    ...(options.minScore === undefined ? {} : { min_score: number('min-score', options.minScore) }),
    ...(options.licence === undefined ? {} : { licence: options.licence }),
    ...(options.language === undefined ? {} : { language: options.language }),
    ...(options.maxAgeDays === undefined ? {} : { max_age_days: number('max-age-days', options.maxAgeDays) }),
    ...(options.domains === undefined ? {} : { domains: options.domains.split(',').map((name) => name.trim()) }),
    ...(options.since === undefined ? {} : { since: options.since }),
    ...(options.until === undefined ? {} : { until: options.until }),
  }
}

function matchText(match: Match, options: MatchOptions): string {
  const unknown = match.understood.unknown.map((word) => {
    const near = match.understood.suggestions[word]
    return `"${word}" is in no page${near === undefined ? '' : `; did you mean "${near}"?`}`
  })
  return [
    ...unknown,
    ...match.data.map((page) => pageText(page, options.explain === true)),
    ...citeHint(match, options),
  ].join('\n')
}

/** The command that cites the first of them, ready to be run. */
function citeHint(match: Match, options: MatchOptions): string[] {
  const [first] = match.data
  if (!first) return []
  const where = options.url === defaultNode ? '' : ` --url ${options.url}`
  const who = options.demo ? ' --demo' : ''
  return [
    `Cite one of them${match.synthetic ? ' (demo pages, invented)' : ''}; 0.005 USD, of which its creator gets nine tenths:`,
    `  assay cite ${first.url} --query-id ${match.query_id} --out attestation.json${where}${who}`,
  ]
}

function pageText(page: MatchedPage, explain: boolean): string {
  const facts = [
    `CiteScore ${page.cite_score ?? 'none yet'}`,
    page.licence?.name ?? page.licence?.url ?? 'no licence found',
    `relevance ${page.relevance.toFixed(3)}`,
  ]
  const parts = explain
    ? [
        `   ${Object.entries(page.parts)
          .map(([name, value]) => `${name} ${value.toFixed(3)}`)
          .join(', ')}`,
      ]
    : []
  return [
    `${page.rank}. ${page.title}`,
    `   ${page.url}`,
    `   ${facts.join(', ')}`,
    ...parts,
    page.snippet === null ? `   no quote: ${page.terms.reason}` : `   "${page.snippet}"`,
    '',
  ].join('\n')
}
