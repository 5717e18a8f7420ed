import { askCreatorMove, readSource, registerSource, type Source, verifySource } from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { walletArgument } from '../commerce/node-url.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'

type Common = { wallet?: string; json?: boolean }

export async function runRegister(
  { terminal }: CommandContext,
  node: string,
  options: Common & { domain: string; wallet: string; contact?: string; sitemap?: string },
) {
  const source = await registerSource(freeClient(), node, {
    domain: options.domain,
    wallet: options.wallet,
    ...(options.contact === undefined ? {} : { contact: options.contact }),
    ...(options.sitemap === undefined ? {} : { sitemap: options.sitemap }),
  })
  printResult(terminal, options.json, source, () => [statusText(source), '', proveText(source)].join('\n'))
}

export async function runMove(
  { terminal }: CommandContext,
  node: string,
  domain: string,
  options: WalletOptions & { from: string; json?: boolean },
) {
  const { account } = await chooseWallet(node, options, terminal)
  const asked = await askCreatorMove(freeClient(), node, { account, domain, from: options.from })
  printResult(terminal, options.json, asked, () =>
    asked.moves.map(({ network, state, note }) => `${network}  ${state}: ${note}`).join('\n'),
  )
}

export async function runVerify(
  { terminal }: CommandContext,
  node: string,
  domain: string,
  options: Common & WalletOptions & { sign?: boolean },
) {
  const account = options.sign ? (await chooseWallet(node, options, terminal)).account : undefined
  const source = await verifySource(freeClient(), node, domain, {
    ...(options.wallet === undefined ? {} : { wallet: walletArgument(options.wallet) }),
    ...(account === undefined ? {} : { account }),
  })
  printResult(terminal, options.json, source, () => statusText(source))
}

export async function runStatus({ terminal }: CommandContext, node: string, domain: string, options: Common) {
  const source = await readSource(
    freeClient(),
    node,
    domain,
    options.wallet === undefined ? undefined : walletArgument(options.wallet),
  )
  printResult(terminal, options.json, source, () =>
    [statusText(source), '', scoreText(source), ...(source.claim ? ['', proveText(source)] : [])].join('\n'),
  )
}

const marks = { done: 'done   ', missing: 'missing', waiting: 'waiting' }

function statusText(source: Source): string {
  return [
    `${source.display}  ${source.state}${source.synthetic ? '  (demo)' : ''}`,
    `CiteScore  ${source.cite_score ?? 'not yet'}${source.confidence === null ? '' : `, confidence ${source.confidence}`}`,
    `payout     ${source.payout.state}${source.payout.wallet === null ? '' : ` ${source.payout.wallet}`}`,
    ...source.next_steps.map((step) => `${marks[step.state]}  ${step.fix}`),
  ].join('\n')
}

function scoreText({ score }: Source): string {
  if (score === null) return 'no score yet'
  const parts = table(score.components, [
    { title: 'part', of: (part) => part.id },
    { title: 'value', of: (part) => part.value.toFixed(2), right: true },
    { title: 'weight', of: (part) => part.weight.toFixed(2), right: true },
    { title: 'known', of: (part) => part.known.toFixed(2), right: true },
  ])
  const seen = score.components.flatMap(evidenceLines)
  const advice = score.advice.slice(0, 5).map((entry) => `+${entry.points.toFixed(1).padStart(4)}  ${entry.advice}`)
  return [
    parts,
    ...(score.gate.value === 1 ? [] : [`times ${score.gate.value}: ${score.gate.reason}`]),
    ...(seen.length === 0 ? [] : ['', 'seen', ...seen]),
    '',
    'what would raise it',
    ...advice,
  ].join('\n')
}

const evidenceMax = 3

function evidenceLines(part: NonNullable<Source['score']>['components'][number]): string[] {
  const lines = part.evidence
    .slice(0, evidenceMax)
    .map(
      ({ what, url, sha256, checked_at }) =>
        `${part.id}: ${what}  ${url}${sha256 === null ? '' : `  sha256 ${sha256.slice(0, 12)}…`}${checked_at === null ? '' : `  ${checked_at}`}`,
    )
  const more = part.evidence.length - lines.length
  return more > 0 ? [...lines, `${part.id}: and ${more} more, with --json`] : lines
}

function proveText({ claim }: Source): string {
  if (claim === null) return ''
  const { dns, file, meta } = claim.prove
  return [
    'Publish one of these, then run `assay source verify`; with --sign the payout wallet signs for its payouts too:',
    `DNS   ${dns.name}  TXT  "${dns.value}"`,
    `file  ${file.url}`,
    `      ${JSON.stringify(file.content)}`,
    `meta  ${meta.html}`,
    ...(claim.token_expires_at === null ? [] : [`The values expire at ${claim.token_expires_at}.`]),
  ].join('\n')
}
