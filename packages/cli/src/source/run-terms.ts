import { formatUsd } from '@assay/protocol/money'
import { readSourceTerms, ruleInput, type SourceRules, type SourceTerms, setSourceTerms } from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'

export type TermsOptions = {
  path?: string
  crawl?: boolean
  snippet?: boolean
  attest?: boolean
  attestUsd?: string
  contentUsd?: string
  remove?: string
}

/** Without --path and --remove only shows them. */
export async function runTerms(
  { terminal }: CommandContext,
  node: string,
  domain: string,
  options: TermsOptions & WalletOptions & { json?: boolean },
) {
  const client = freeClient()
  const { path, remove } = options
  const known = await readSourceTerms(client, node, domain)
  const others = known.rules.filter((rule) => rule.path !== path && rule.path !== remove)
  if (remove !== undefined && others.length === known.rules.length) throw usageError(`${remove} has no rule`)
  const rules = [...others.map(ruleInput), ...(path === undefined ? [] : [ruleOf(path, options)])]
  const changes = path !== undefined || remove !== undefined
  const terms = changes
    ? await setSourceTerms(client, node, {
        domain,
        rules,
        account: (await chooseWallet(node, options, terminal)).account,
      })
    : known
  printResult(terminal, options.json, terms, () => termsText(terms))
}

/** What is left open follows from what is forbidden. */
function ruleOf(path: string, { crawl, snippet, attest, attestUsd, contentUsd }: TermsOptions): SourceRules[number] {
  const reads = crawl !== false
  return {
    path,
    crawl: reads,
    snippet: reads && snippet !== false,
    attest: reads && attest !== false,
    ...(attestUsd === undefined ? {} : { attest_usd: attestUsd }),
    ...(contentUsd === undefined ? {} : { content: true, content_usd: contentUsd }),
  }
}

const usdOf = (micro: string) => formatUsd(BigInt(micro))

function termsText({ rules, robots_line, history }: SourceTerms): string {
  if (rules.length === 0) return 'No rule is set: what the site itself says decides.'
  const yes = (allowed: boolean) => (allowed ? 'yes' : 'no')
  return [
    table(rules, [
      { title: 'path', of: ({ path }) => path },
      { title: 'crawl', of: ({ crawl }) => yes(crawl) },
      { title: 'snippet', of: ({ snippet }) => yes(snippet) },
      { title: 'stamp', of: ({ attest, attest_micro }) => (attest ? `${usdOf(attest_micro)} USD` : 'no'), right: true },
      {
        title: 'whole text',
        of: ({ content_micro }) => (content_micro === null ? 'no' : `${usdOf(content_micro)} USD`),
        right: true,
      },
    ]),
    '',
    `Set ${history[0]?.set_at} by ${history[0]?.set_by}. For robots.txt:`,
    robots_line,
  ].join('\n')
}
